"""The view One run."""
