"""Exercises to chapter 16: tensors between processes, and when memory is freed."""
