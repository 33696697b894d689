"""Exercises to chapter 8: gradcheck."""
