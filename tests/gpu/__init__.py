"""Tests that need a real GPU (marker `gpu`), and `python -m tests.gpu.measure`."""
