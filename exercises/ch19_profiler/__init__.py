"""Exercises to chapter 15: the caching allocator."""
