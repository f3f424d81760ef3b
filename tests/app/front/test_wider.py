"""A lower bound that holds only over a wider class of losses is a thin line with its name.

Every problem of the catalogue has a bound of its own on every set; here the geometric median is
shown without the bounds of its own loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from dpsco_app.figure.colours import IMPOSSIBLE
from dpsco_app.figure.values import Figure
from dpsco_app.front.bound_lines import WIDER_NOTE
from dpsco_app.front.figure import front_figure
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_app.pages.bounds import words
from dpsco_app.pages.bounds.figure import bounds_figure
from dpsco_app.pages.bounds.state import fitting_table, with_fitting_methods
from dpsco_app.parts import evaluations
from dpsco_app.parts.evaluations import limit_of_wider_losses
from dpsco_core.base.cards import Level
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import PROBLEM_SLUGS, bound, bounds_for, default_methods
from dpsco_core.explain.tables.best import comparable
from dpsco_core.explain.tables.matrix import BUDGETS, cell, scenario_of
from dpsco_core.explain.tables.table import canonical_point, rows
from dpsco_core.geometry.geometries import GEOMETRIES
from dpsco_core.results.report import evaluate
from dpsco_core.scenario import Scenario

NAME = "lower bound for smooth convex losses"
MEDIAN = Scenario(
    problem="geometric-median",
    geometry="l1",
    methods=("sco.clipped", "sco.sgd"),
    axis="n",
    grid=(1000, 10_000),
)


@pytest.fixture
def without_median_bounds(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hide the bounds that are proven on hard instances of the geometric median."""

    def bounds_without_median(problem: str, level: Level = "item") -> tuple[Bound, ...]:
        """Return the bounds for a problem, except those proven with the loss of the geometric
        median.
        """
        rows = bounds_for(problem, level)
        return tuple(b for b in rows if b.card.instance_problem != MEDIAN.problem)

    caches = (
        evaluations._of_wider_losses,
        evaluations._of_the_class,
        evaluations._missing_of_the_class,
        evaluations.hardest,
        evaluations._sharpest,
        cell,
    )
    for module in ("tables.wider", "window", "hardest", "tables.matrix"):
        monkeypatch.setattr(f"dpsco_core.explain.{module}.bounds_for", bounds_without_median)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def figure_of(scenario: Scenario, **view: str) -> Figure:
    """Return the front figure of a scenario of which nothing has run."""
    return front_figure([Study(scenario=scenario)], View(**view))


@pytest.mark.usefixtures("without_median_bounds")
def test_the_median_off_the_ball_has_a_thin_line_with_the_name_of_the_class_and_no_region() -> None:
    figure = figure_of(MEDIAN)
    (panel,) = figure.panels
    (line,) = [line for line in panel.lines if line.name == NAME]
    assert line.width < 1 and line.colour == IMPOSSIBLE.edge
    assert not panel.regions
    card = bound(line.key).card
    assert str(card.loss_class) in NAME and card.kind == "lower"
    values = [evaluate(p, bound(line.key)).value for _, p in MEDIAN.points()]
    assert list(line.y) == pytest.approx(values)
    assert all(WIDER_NOTE in text for text in line.hover)
    (row,) = [row for row in figure.ladder.rows if row.key == line.key]
    assert row.note == WIDER_NOTE
    assert figure.ruler is not None
    (rung,) = [rung for rung in figure.ruler.rungs if rung.key == line.key]
    assert rung.name == f"L{NAME[1:]}" and not rung.is_tick


@pytest.mark.usefixtures("without_median_bounds")
def test_a_bound_that_is_also_requested_by_name_is_drawn_once() -> None:
    (limit, *_) = limit_of_wider_losses(MEDIAN)
    (panel,) = figure_of(MEDIAN, bound=limit.bound.card.slug).panels
    assert [line.name for line in panel.lines].count(NAME) == 1
    assert [line.key for line in panel.lines].count(limit.bound.card.slug) == 1


@pytest.mark.parametrize("problem", ["mean", "linear", "geometric-median", "hinge"])
def test_a_problem_with_its_own_lower_bound_has_no_line_of_a_wider_class(problem: str) -> None:
    scenario = Scenario(problem=problem, methods=default_methods(problem))
    assert limit_of_wider_losses(scenario) == ()


@pytest.mark.usefixtures("without_median_bounds")
def test_the_line_appears_exactly_where_only_a_wider_class_has_a_bound() -> None:
    for problem, geometry in (
        ("geometric-median", "linf"),
        ("geometric-median", "l2"),
        ("huber", "simplex"),
    ):
        for budget in BUDGETS:
            for m in (1, 16):
                entry = cell(problem, geometry, budget, m)
                assert entry is not None
                point = scenario_of(problem, geometry, budget, m)
                assert point is not None
                limit = limit_of_wider_losses(point)
                assert bool(limit) == bool(entry.wider and not entry.lowers)
                assert {e.bound.card.slug for e in limit} <= set(entry.wider)
                assert all(e.value == max_of(point, entry.wider) for e in limit)


def max_of(point: Scenario, slugs: tuple[str, ...]) -> float:
    """Return the largest value of some bounds at a point."""
    return max(evaluate(point, bound(slug)).value for slug in slugs)


@pytest.mark.usefixtures("without_median_bounds")
def test_the_page_bounds_draws_a_wider_class_as_a_thin_upright_line_named_in_the_headline() -> None:
    point = canonical_point(with_fitting_methods(replace(MEDIAN, axis=None, grid=())))
    table = comparable(rows(point, fitting_table(point).slugs), "excess risk")
    in_table = [row for row in table if row.bound.card.instance_problem != MEDIAN.problem]
    (wider,) = limit_of_wider_losses(point)
    figure = bounds_figure(in_table, "axis", "", wider=wider)
    (line,) = [line for line in figure.panels[0].lines if line.label == NAME]
    assert line.width < 1 and list(line.x) == [wider.value] * 2
    headline = words.title(in_table, wider)
    assert f"at least {words.in_digits(wider.value)} for every (ε, δ)-DP algorithm" in headline
    assert headline.endswith("on some smooth convex loss, a wider class")
    assert "wider" not in words.title(in_table)
    lines = bounds_figure(in_table, "axis", "").panels[0].lines
    assert not any(line.label == NAME for line in lines)
    (row,) = [r for r in in_table if r.bound == wider.bound]
    assert words.marked(row).endswith(", for smooth convex losses")


@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_no_problem_of_the_catalogue_needs_the_line_on_any_set(problem: str) -> None:
    for geometry in GEOMETRIES:
        point = scenario_of(problem, geometry, "approx", 1)
        assert point is None or limit_of_wider_losses(point) == ()
