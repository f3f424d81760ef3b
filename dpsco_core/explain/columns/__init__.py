"""Columns of numbers in a stranger's file: its text, its cells, its table."""
