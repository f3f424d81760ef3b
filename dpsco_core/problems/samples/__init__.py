"""Records with their loss: what an optimiser sees."""
