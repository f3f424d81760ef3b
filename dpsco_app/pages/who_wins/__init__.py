"""The page Regimes."""
