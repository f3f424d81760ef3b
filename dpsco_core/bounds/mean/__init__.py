"""Bounds on mean estimation."""
