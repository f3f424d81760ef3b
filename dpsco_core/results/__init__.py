"""What is made of the outcomes of runs: tables, slopes, reports, scripts and notebooks."""
