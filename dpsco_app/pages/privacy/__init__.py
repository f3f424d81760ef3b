"""The page Privacy."""
