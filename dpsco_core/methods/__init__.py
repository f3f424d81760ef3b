"""Every algorithm, a file each, its schedule beside it."""
