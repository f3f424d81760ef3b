"""The common base of all packages: errors, cards, array types, text, limits, seeds."""
