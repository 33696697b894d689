"""Exercises to chapter 5: the graph."""
