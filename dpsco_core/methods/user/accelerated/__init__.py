"""Accelerated user-level ERM."""
