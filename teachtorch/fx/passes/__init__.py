"""Passes: functions that look at a graph or change it."""
