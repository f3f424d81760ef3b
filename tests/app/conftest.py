"""What folds away on a page is open in these tests, but where a test says otherwise."""

from __future__ import annotations

import pytest

from dpsco_app.parts import folding
from dpsco_app.session.cells import forget_outcomes
from tests.app import quick as quick


@pytest.fixture(autouse=True)
def unfolded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill every expander and popover, as for a visitor who has opened them all.

    A test marked ``folded`` sees the page as it comes.
    """
    if "folded" not in request.keywords:
        monkeypatch.setattr(folding, "is_open", lambda _: True)


@pytest.fixture(autouse=True)
def nothing_has_run() -> None:
    """Let no page know what pages of other tests have run: what is known is drawn at once."""
    forget_outcomes()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold nothing back, and wait for no browser: there is none that draws a figure first."""

    for module, name, value in quick.AT_ONCE:
        monkeypatch.setattr(module, name, value)
