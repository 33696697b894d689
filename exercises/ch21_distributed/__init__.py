"""Exercises to chapter 21: many processes."""
