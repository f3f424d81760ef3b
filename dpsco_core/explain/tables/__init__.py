"""The papers' tables at one scenario."""
