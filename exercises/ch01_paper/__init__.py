"""Exercises to chapter 1: the paper."""
