"""Floors on the data at hand: what no private algorithm can do, even one told the shape."""
