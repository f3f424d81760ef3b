"""The page Theory."""
