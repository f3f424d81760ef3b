"""The first page of a visit ends before its long run, which waits for the browser."""

from __future__ import annotations

import pytest

from dpsco_app.pages.explore import page as explore
from dpsco_app.session import curves
from dpsco_app.shell.window import ARRIVED
from tests.app.pages import (
    check_page,
    first_figure,
    open_page,
    press_button,
    shown_result,
    status_line,
    trace_names,
)

LONG = {"seed": "771", "trials": "40", "grid": "1000,5000", "methods": "mean.clipped"}


def test_a_long_run_starts_only_when_the_page_has_arrived(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(explore, "when_there", lambda: calls.append(1))
    for name in ("HEAD_START_SECONDS", "AT_ONCE_SECONDS"):
        monkeypatch.setattr(curves, name, 0.0)
    page = open_page(**LONG)
    assert len(calls) == 1
    assert shown_result(page).finished == 1
    assert not shown_result(page).complete
    assert "1 of 80 runs" in status_line(page)
    # The figure has the bounds and the finished part of the curve.
    assert trace_names(first_figure(page))
    assert "Seed" in [control.label for control in page.sidebar.number_input]
    (cancel,) = [b for b in page.button if b.label == "Cancel"]
    assert not cancel.disabled
    page.session_state[ARRIVED] = True  # The browser's message sets this flag.
    check_page(page.run())
    assert shown_result(page).complete
    assert status_line(page).startswith("Measured in 80 runs")
    assert len(calls) == 1


def test_a_run_that_is_cancelled_before_it_starts_does_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explore, "when_there", lambda: None)
    for name in ("HEAD_START_SECONDS", "AT_ONCE_SECONDS"):
        monkeypatch.setattr(curves, name, 0.0)
    page = press_button(open_page(**LONG | {"seed": "772"}), "Cancel")
    assert "Stopped at 1 of 80 runs" in status_line(page)
    check_page(page.run())
    assert shown_result(page).finished == 1
    press_button(page, "Run")  # A visitor who presses Run has received the page.
    assert shown_result(page).complete
