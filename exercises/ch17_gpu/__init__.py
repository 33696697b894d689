"""Exercises to chapter 17: kernels for a GPU."""
