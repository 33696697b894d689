"""Exercises to chapter 14: streams, events, races, and how to measure them."""
