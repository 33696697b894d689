"""Utilities around the engine."""
