"""Capturing functions as graphs and running them as fused kernels: torch.compile."""
