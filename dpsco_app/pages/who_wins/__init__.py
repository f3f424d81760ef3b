"""The view Who wins."""
