"""Lower bounds that are proven with the loss of one problem, on instances of its own model."""
