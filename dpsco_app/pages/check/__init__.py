"""The page Check a claim."""
