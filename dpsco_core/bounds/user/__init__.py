"""Bounds at user level."""
