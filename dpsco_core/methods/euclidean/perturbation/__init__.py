"""Optimisers that add noise to the objective, or to its minimiser."""
