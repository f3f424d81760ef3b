"""Who is best over users and items."""
