"""Exercises to chapter 5: the autograd engine."""
