"""Which part of a drawn bound governs where: the rows below Explore's figure."""

from __future__ import annotations

import pytest

from dpsco_app.pages.explore.hand import parts_of_line
from dpsco_app.parts.look import Look
from dpsco_app.parts.options import VIEWS
from dpsco_app.parts.running import evaluations
from dpsco_app.parts.shown_bounds import shown
from dpsco_app.parts.traces import BoundLine, bound_name, lines_of
from dpsco_core.scenario import Scenario
from tests.app.pages import open_page, result

SWEPT = {
    "n": (100, 1000, 10_000, 1_000_000),
    "d": (1, 5, 50, 500),
    "epsilon": (0.05, 0.5, 5.0, 50.0),
    "p": (2.0, 3.0, 6.0),
}


def drawn(axis: str) -> list[BoundLine]:
    """Return the lines of the bounds in the figure of the default scenario, swept."""
    scenario = Scenario(axis=axis, grid=SWEPT[axis]).validate()
    return lines_of(evaluations(scenario, shown(scenario, VIEWS)), scenario)


@pytest.mark.parametrize("axis", SWEPT)
def test_the_part_of_a_stretch_is_the_largest_at_its_points(axis: str) -> None:
    counted = 0
    for line in drawn(axis):
        asked = parts_of_line(line, axis, Look(dark=False))
        if not asked.parts:
            assert len(line.curve[0].terms) == 1 and not line.of
            continue
        for e in line.curve:
            values = e.terms
            if line.of:
                at = [other for curve in line.of for other in curve if other.x == e.x]
                values = {bound_name(other.bound.card): other.value for other in at}
                assert e.value == max(values.values())
            here = [
                part.name for part in asked.parts if any(a <= e.x <= b for a, b in part.stretches)
            ]
            assert [values[name] for name in here] == [max(values.values())]
            counted += 1
        for part in asked.parts:
            assert ("nowhere" in part.says) == (not part.stretches)
    assert counted > 20


def test_a_part_says_from_where_to_where_it_governs() -> None:
    rows = [parts_of_line(line, "epsilon", Look(dark=False)) for line in drawn("epsilon")]
    row = next(row for row in rows if row.name.startswith("Coordinate-wise, Gaussian, proven"))
    noise = next(part for part in row.parts if part.name == "privacy noise")
    [(start, stop)] = noise.stretches
    assert start == 0.05 < stop < 50.0
    assert noise.says == (
        f"Privacy noise is the largest part of “{row.name}” from ε = 0.05 to {stop:.3g}."
    )


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
