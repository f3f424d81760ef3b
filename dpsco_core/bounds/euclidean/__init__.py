"""Bounds on the excess population risk."""
