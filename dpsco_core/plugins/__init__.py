"""Rows of the catalogue that others have written: how they come in, and what they cannot end."""
