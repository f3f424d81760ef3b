"""Navigation, the address, the server."""
