"""Exercises to chapter 6: leaves, versions, and how long things live."""
