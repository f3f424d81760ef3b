"""Fixtures of the browser tests, for the attack that needs a browser."""

from tests.browser.conftest import browser_context_args, browser_type_launch_args, ready

__all__ = ["browser_context_args", "browser_type_launch_args", "ready"]
