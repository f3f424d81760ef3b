"""The robust mean filter of user-level privacy."""
