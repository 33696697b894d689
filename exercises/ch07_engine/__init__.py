"""Exercises to chapter 7: the autograd engine."""
