"""Samples for teachtorch/ops/interchange.py, which declares no operators."""
SAMPLES = {}
