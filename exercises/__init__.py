"""Exercises to the chapters, and the grader that runs them in a watched process."""
