"""Audits: empirical lower bounds on epsilon."""
