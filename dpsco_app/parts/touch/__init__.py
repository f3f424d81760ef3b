"""Figures that a hand can move: small ES modules in the browser, numbers from Python."""
