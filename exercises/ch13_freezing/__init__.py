"""Exercises to chapter 13: freezing, and what still moves."""
