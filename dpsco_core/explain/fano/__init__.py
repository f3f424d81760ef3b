"""The proof of Fano's inequality, number by number."""
