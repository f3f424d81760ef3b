"""One method: who runs where, its code, its work."""
