"""Visitors of one server share its processor."""

from __future__ import annotations

import pytest

from dpsco_app.parts import running


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let nobody sleep; what would have been slept."""
    found: list[float] = []
    monkeypatch.setattr(running.time, "sleep", found.append)
    return found


def test_a_run_gives_way_to_whom_waits_but_not_for_ever(waited: list[float]) -> None:
    way = running.GivingWay()
    way.pause()
    assert waited == []
    with running.haste():
        way.pause()
        way.pause()
    assert sum(waited) == pytest.approx(running.MOST_SECONDS)
    with running.haste():
        running.GivingWay().pause()
    assert sum(waited) == pytest.approx(2 * running.MOST_SECONDS)


def test_who_has_gone_holds_nobody_up(waited: list[float]) -> None:
    with pytest.raises(KeyError), running.haste():
        raise KeyError
    running.GivingWay().pause()
    assert waited == []
