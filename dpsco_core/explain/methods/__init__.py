"""A single method: where it runs, its code, and its work."""
