"""What everything stands on: errors, cards, array types, text, limits, seeds."""
