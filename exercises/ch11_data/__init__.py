"""Exercises to chapter 11: data."""
