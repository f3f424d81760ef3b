"""Methods, bounds and laws written by users: how they are loaded, and how their errors are met."""
