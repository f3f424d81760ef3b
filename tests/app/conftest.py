"""Fixtures of the dashboard's tests: folded parts of pages are open unless a test says
otherwise.
"""

from __future__ import annotations

import pytest

from dpsco_app.parts import folding
from dpsco_app.session.cells import forget_outcomes
from tests.app import quick as quick


@pytest.fixture(autouse=True)
def unfolded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill every expander and popover, as for a visitor who has opened them all.

    A test marked ``folded`` sees the page as a visitor first does.
    """
    if "folded" not in request.keywords:
        monkeypatch.setattr(folding, "is_open", lambda _: True)


@pytest.fixture(autouse=True)
def forget_finished_runs() -> None:
    """Forget all finished runs before a test, since a page draws known results at once."""
    forget_outcomes()


@pytest.fixture(autouse=True)
def remove_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove all delays for a browser, since no browser runs in these tests."""

    for module, name, value in quick.AT_ONCE:
        monkeypatch.setattr(module, name, value)
