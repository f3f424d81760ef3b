"""The page Lower bounds."""
