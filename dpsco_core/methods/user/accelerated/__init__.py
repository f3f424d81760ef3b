"""Filtered gradients: accelerated user-level ERM."""
