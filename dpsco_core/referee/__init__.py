"""The referee: it takes a claim and tries to break it, and never says that it is right."""
