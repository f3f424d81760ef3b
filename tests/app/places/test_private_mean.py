"""A private mean: the picture for the scenario of the visit."""

from __future__ import annotations

from typing import Any

from tests.app.places.test_one_run import open_at


def caption(app: Any) -> str:
    assert not app.exception
    (text,) = (c.value for c in app.main.caption if "The picture starts at" in c.value)
    return str(text)


def test_the_picture_starts_nearest_to_the_scenario() -> None:
    app = open_at("private_mean", n="150", epsilon="2", p="4")
    assert "n = 200, ε = 2 and p = 4" in caption(app)
    assert "n = 500, ε = 1 and p = 2" in caption(open_at("private_mean"))


def test_a_scenario_about_an_optimiser_gives_way_to_the_mean() -> None:
    app = open_at("private_mean", problem="huber")
    assert caption(app)
    assert any("The picture is about a mean" in m.value for m in app.markdown)
