"""Outcomes as tables, slopes, reports, scripts and notebooks."""
