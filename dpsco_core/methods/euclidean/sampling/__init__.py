"""Private SGD whose records are sampled at random, in secret: each in one step, or in some."""
