"""A private mean: the picture of how one is made, for the scenario of the visit."""
