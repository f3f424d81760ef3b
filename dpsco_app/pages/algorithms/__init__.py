"""The page Algorithms."""
