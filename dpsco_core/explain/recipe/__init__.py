"""The recipe of a private method: its parameters, its noise and its ledger."""
