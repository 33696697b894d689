"""Exercises to chapter 9: the interface."""
