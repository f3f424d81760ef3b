"""Which part of a drawn bound governs where: the rows below Explore's figure."""

from __future__ import annotations

import json
import math

import pytest

from dpsco_app.pages.explore import governing
from dpsco_app.pages.explore.governing import BoundParts, parts_of
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.options import VIEWS
from dpsco_app.parts.shown_bounds import shown
from dpsco_core.results.report import Evaluation
from dpsco_core.scenario import Scenario
from tests.app.pages import open_page, result, texts

SWEPT = {
    "n": (100, 1000, 10_000, 1_000_000),
    "d": (1, 5, 50, 500),
    "epsilon": (0.05, 0.5, 5.0, 50.0),
    "p": (2.0, 3.0, 6.0),
}


def drawn(axis: str) -> list[list[Evaluation]]:
    """Return the bounds that a figure of the default scenario can draw, swept."""
    scenario = Scenario(axis=axis, grid=SWEPT[axis]).validate()
    return [evaluations(scenario, (slug,)) for slug in shown(scenario, VIEWS)]


@pytest.fixture(autouse=True)
def _light(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsco_app.pages.explore.governing.is_dark", lambda: False)


@pytest.mark.parametrize("axis", SWEPT)
def test_the_part_of_a_stretch_is_the_largest_at_its_points(axis: str) -> None:
    counted = 0
    for curve in drawn(axis):
        asked = parts_of(curve, axis)
        if not asked.parts:
            assert len(curve[0].terms) == 1
            continue
        for e in curve:
            here = [
                part.name for part in asked.parts if any(a <= e.x <= b for a, b in part.stretches)
            ]
            assert [e.terms[name] for name in here] == [max(e.terms.values())]
            counted += 1
        for part in asked.parts:
            assert ("nowhere" in part.says) == (not part.stretches)
    assert counted > 20


def test_a_part_says_from_where_to_where_it_governs() -> None:
    rows: list[BoundParts] = [parts_of(curve, "epsilon") for curve in drawn("epsilon")]
    row = next(row for row in rows if row.name.startswith("Coordinate-wise, proven"))
    noise = next(part for part in row.parts if part.name == "privacy noise")
    [(start, stop)] = noise.stretches
    assert start == 0.05 < stop < 50.0
    assert noise.says == (
        f"Privacy noise is the largest part of “{row.name}” from ε = 0.05 to {stop:.3g}."
    )


def test_the_parts_stand_below_the_figure_once_bounds_are_asked_for() -> None:
    words = "**Which part of a bound is the largest**"
    assert words not in texts(open_page(trials="1"))
    assert words in texts(open_page(trials="1", show="upper bounds"))


@pytest.mark.parametrize(("q", "hands"), [("1.5", 1), ("inf", 0)])
def test_a_value_without_a_place_on_the_axis_has_no_handle(q: str, hands: int) -> None:
    page = open_page(
        problem="logistic",
        methods="sco.objective-perturbation",
        geometry="lq",
        q=q,
        axis="q",
        grid="1.25,1.5",
        n="200",
        d="2",
        trials="1",
        against="none",
    )
    drawn = [str(component.proto) for component in page.get("bidi_component")]
    assert result(page).scenario.q == float(q)
    assert sum("dpsco_touch_hand" in text for text in drawn) == hands


def test_what_is_sent_to_the_browser_is_json_where_a_bound_is_infinite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At a pure budget bounds of Gaussian noise are."""
    sent: list[object] = []
    monkeypatch.setattr(governing, "component", lambda *_: lambda **given: sent.append(given))
    page = open_page(delta="0", show="lower bounds,rates,upper bounds")
    scenario = result(page).scenario
    values = [e.value for s in shown(scenario, VIEWS) for e in evaluations(scenario, (s,))]
    assert math.inf in values
    (given,) = sent
    json.dumps(given, allow_nan=False)
