"""The hard instances behind the lower bounds."""
