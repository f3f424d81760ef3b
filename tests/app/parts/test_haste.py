"""Visitors of one server share its processor."""

from __future__ import annotations

import pytest

from dpsco_app.parts import haste


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let nobody sleep; what would have been slept."""
    found: list[float] = []
    monkeypatch.setattr(haste.time, "sleep", found.append)
    return found


def test_a_run_gives_way_to_whom_waits_but_not_for_ever(waited: list[float]) -> None:
    way = haste.GivingWay()
    way.pause()
    assert waited == []
    with haste.haste():
        way.pause()
        way.pause()
    assert sum(waited) == pytest.approx(haste.MOST_SECONDS)
    with haste.haste():
        haste.GivingWay().pause()
    assert sum(waited) == pytest.approx(2 * haste.MOST_SECONDS)


def test_who_has_gone_holds_nobody_up(waited: list[float]) -> None:
    with pytest.raises(KeyError), haste.haste():
        raise KeyError
    haste.GivingWay().pause()
    assert waited == []
