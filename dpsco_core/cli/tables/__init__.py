"""The text that commands print for people: tables of at most 100 characters a line, and notes."""
