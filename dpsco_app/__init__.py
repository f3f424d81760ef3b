"""The dashboard: widgets, charts and words. The mathematics is in `dpsco_core`."""
