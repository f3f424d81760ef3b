"""Comparisons of methods over the numbers of users and of items."""
