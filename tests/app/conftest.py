"""What folds away on a page is open in these tests, but where a test says otherwise."""

from __future__ import annotations

from math import inf

import pytest
import streamlit as st

from dpsco_app.pages.explore import page as explore
from dpsco_app.parts import folding
from dpsco_app.session import curves, screen
from dpsco_app.session.cells import forget
from dpsco_app.shell.window import arrive
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
    forget()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold nothing back, and wait for no browser: there is none that draws a figure first."""

    def rerun() -> None:
        arrive()
        st.rerun()

    monkeypatch.setattr(explore, "HOLD_BACK_SECONDS", 0.0)
    monkeypatch.setattr(screen, "LIVE_SECONDS", 0.0)  # every run waits for its button
    monkeypatch.setattr(curves, "BESIDE_SECONDS", inf)  # it brings its second panel, on any machine
    monkeypatch.setattr(explore, "when_there", rerun)
