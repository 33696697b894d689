"""Exercises to chapter 3: indexing, gather and scatter, broadcasting."""
