"""Interactive figures: small ES modules in the browser, with numbers from Python."""
