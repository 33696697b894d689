"""Exercises to chapter 2: storage, sizes, strides."""
