"""What to set to run a private method: its parameters, its noise, and its ledger."""
