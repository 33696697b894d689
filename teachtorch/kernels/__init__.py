"""Loops over NumPy arrays: one-element functions written once, compiled by Numba when an array is large.

Nothing here knows of tensors, and nothing imports Numba before the first large array (or the first fused
kernel).
"""
