"""Fixtures of the other folders, for the attacks on pages."""

from tests.app import quick
from tests.browser.conftest import browser_type_launch_args, ready

__all__ = ["browser_type_launch_args", "quick", "ready"]
