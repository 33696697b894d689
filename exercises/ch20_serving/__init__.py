"""Exercises to chapter 20: graphs captured, rewritten and served."""
