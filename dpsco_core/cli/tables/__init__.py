"""What commands print for people: tables of at most 100 columns, and notes."""
