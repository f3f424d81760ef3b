"""A long run waits for the browser: the first page of a visit is whole, and ends before it."""

from __future__ import annotations

import pytest

from dpsco_app.pages.explore import page as explore
from dpsco_app.session import curves
from dpsco_app.shell.window import ARRIVED
from tests.app.pages import checked, figure, open_page, press, result, status, trace_names

LONG = {"seed": "771", "trials": "40", "grid": "1000,5000", "methods": "mean.clipped"}


def test_a_long_run_starts_when_the_page_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(explore, "when_there", lambda: calls.append(1))
    for name in ("HEAD_START_SECONDS", "AT_ONCE_SECONDS"):
        monkeypatch.setattr(curves, name, 0.0)
    page = open_page(**LONG)
    assert len(calls) == 1
    assert result(page).finished == 1
    assert not result(page).complete
    assert "1 of 80 runs" in status(page)
    assert trace_names(figure(page))  # the bounds, and what is there of the curve
    assert "Seed" in [control.label for control in page.sidebar.number_input]
    (cancel,) = [b for b in page.button if b.label == "Cancel"]
    assert not cancel.disabled
    page.session_state[ARRIVED] = True  # what the browser's message does
    checked(page.run())
    assert result(page).complete
    assert status(page).startswith("Measured in 80 runs")
    assert len(calls) == 1


def test_a_run_that_is_cancelled_before_it_starts_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore, "when_there", lambda: None)
    for name in ("HEAD_START_SECONDS", "AT_ONCE_SECONDS"):
        monkeypatch.setattr(curves, name, 0.0)
    page = press(open_page(**LONG | {"seed": "772"}), "Cancel")
    assert "Stopped at 1 of 80 runs" in status(page)
    checked(page.run())
    assert result(page).finished == 1
    press(page, "Run")  # who presses it is there
    assert result(page).complete
