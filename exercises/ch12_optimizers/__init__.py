"""Exercises to chapter 12: optimizers."""
