"""Bounds in l_q geometries."""
