"""Bounds of two classes are never mixed unmarked: the bounds of one class never contradict each
other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from dpsco_app.front.bound_lines import bound_line, short_name
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.shown_bounds import shown
from dpsco_core import catalogue
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.results.report import Evaluation, evaluate
from dpsco_core.scenario import Scenario

# The number of settings in all, the number in one test, and the number of tests that are not marked
# slow.
SETTINGS, BATCH, DEFAULT = 20_000, 100, 1
VIEWS = ("lower bounds", "upper bounds")
D3 = {
    "n": "20000",
    "d": "75",
    "p": "2",
    "epsilon": "0.2",
    "delta": "0.0001",
    "diameter": "1",
    "offset": "0.3",
    "methods": "mean.sample,mean.clipped",
    "axis": "n",
    "grid": "2000,5000,10000,20000",
}


Curve = list[Evaluation]
Names = Callable[[Curve], str]


def drawn_curves(scenario: Scenario) -> list[Curve]:
    """Return the curves of the bounds that a scenario's figure can draw."""
    curves_by_slug: dict[str, Curve] = {}
    for e in evaluations(scenario, shown(scenario, VIEWS)):
        if 0 < e.value < math.inf:
            curves_by_slug.setdefault(e.bound.card.slug, []).append(e)
    return list(curves_by_slug.values())


def find_contradictions(curves: list[Curve]) -> list[tuple[str, str, float, float]]:
    """Return the upper bounds that are below a lower bound of the same class."""
    all_evaluations = [e for curve in curves for e in curve if not e.failures and e.applies]
    return [
        (u.bound.card.slug, low.bound.card.slug, u.value, low.value)
        for u in all_evaluations
        for low in all_evaluations
        if u.x == low.x
        and u.bound.card.is_comparable_with(low.bound.card, u.covers)
        and u.value < low.value * (1 - 1e-9)
    ]


def find_unmarked_bounds(
    curves: list[Curve], names: Names = lambda curve: bound_line(curve).name
) -> list[str]:
    """Return the proven upper bounds whose names hide that they hold for another class of data.

    Floors that hold only on the chosen data say so in their names.
    """
    floors = [
        card
        for card in (curve[0].bound.card for curve in curves)
        if (card.kind, card.constant) == ("lower", "explicit")
    ]
    floor_laws = {card.laws for card in floors if not card.of_law}
    hidden = []
    for curve in curves:
        card = curve[0].bound.card
        if (card.kind, card.constant) != ("upper", "explicit"):
            continue
        holds = all(floor_laws <= set(e.covers) for e in curve)
        if not holds and card.laws.short not in names(curve):
            hidden.append(card.slug)
    return hidden


def random_scenario(seed: int) -> Scenario | None:
    """Return a random sweep of one point; None where such a setting does not exist."""
    rng = np.random.default_rng([31, 7, seed])
    problem = "mean" if rng.random() < 0.7 else str(rng.choice(catalogue.PROBLEM_SLUGS))
    diameter = float(np.exp(rng.uniform(np.log(0.3), np.log(20))))
    budget = {"epsilon": float(np.exp(rng.uniform(np.log(0.1), np.log(8)))), "delta": 1e-5}
    if rng.random() < 0.25:
        budget = {"epsilon": None, "delta": None, "rho": float(np.exp(rng.uniform(-7, 2)))}
    elif rng.random() < 0.2:
        budget["delta"] = 0.0
    methods = catalogue.methods_for(problem, "item")
    n = int(np.exp(rng.uniform(np.log(100), np.log(1e5))))
    fields = {
        "problem": problem,
        "distribution": str(rng.choice(catalogue.distributions_for(problem))),
        "methods": tuple(
            str(m) for m in rng.choice(methods, size=min(3, len(methods)), replace=False)
        ),
        "n": n,
        "d": int(np.exp(rng.uniform(0, np.log(150)))),
        "p": float(rng.choice([2.0, 2.0, 2.5, 3.0, 5.0, 20.0])),
        "diameter": diameter,
        "offset": diameter / 2 * float(rng.uniform()),
        "axis": "n",
        "grid": (n,),
        **budget,
    }
    try:
        return Scenario(**fields).validate()
    except InvalidInput:
        return None


@pytest.mark.parametrize(
    "batch",
    [
        pytest.param(k, marks=[pytest.mark.slow] if k >= DEFAULT else [])
        for k in range(SETTINGS // BATCH)
    ],
)
def test_no_upper_bound_is_below_a_lower_one_of_its_class_in_what_a_figure_draws(
    batch: int,
) -> None:
    """A bound of another class says which class that is."""
    count_upper = 0
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        scenario = random_scenario(seed)
        if scenario is None:
            continue
        curves = drawn_curves(scenario)
        assert find_contradictions(curves) == [], scenario
        assert find_unmarked_bounds(curves) == [], scenario
        count_upper += any(curve[0].bound.card.kind == "upper" for curve in curves)
    # Many settings have infinite variance, for which only some problems have an upper bound.
    assert count_upper >= 0.4 * BATCH


def test_the_address_of_the_review_draws_no_upper_bound_below_a_lower_one() -> None:
    """Simple clipping has 0.347 for the moments of these data in every direction; a floor is
    0.375.
    """
    scenario = Scenario.from_query(D3).validate()
    directional, coordinate, floor = (
        evaluate(scenario.at(20_000), catalogue.bound(slug), 20_000)
        for slug in (
            "upper.mean.clipped-expected",
            "upper.mean.clipped-expected-coordinate",
            "lower.mean.rate-distortion-cdp",
        )
    )
    assert directional.value == pytest.approx(0.3474, abs=1e-4)
    assert floor.value == pytest.approx(0.3753, abs=1e-4)
    assert not directional.bound.card.is_comparable_with(floor.bound.card, directional.covers)
    assert coordinate.bound.card.is_comparable_with(floor.bound.card, coordinate.covers)
    assert coordinate.value > floor.value
    curves = drawn_curves(scenario)
    assert find_contradictions(curves) == find_unmarked_bounds(curves) == []
    uppers = [e for curve in curves for e in curve if e.bound.card.method == "mean.clipped"]
    assert len(uppers) == 4 and all(COORDINATE in e.covers for e in uppers)
    assert floor.bound.card.slug in {curve[0].bound.card.slug for curve in curves}


def test_a_bound_labelled_with_another_class_is_detected() -> None:
    """The planted fault is the bound for these data's moments, labelled as one for the coordinates'
    class.
    """
    scenario = Scenario.from_query(D3).validate()
    moment_bound = catalogue.bound("upper.mean.clipped-expected")
    wrong = replace(moment_bound, card=replace(moment_bound.card, law_class=COORDINATE))
    curves = drawn_curves(scenario)
    planted = evaluate(scenario.at(20_000), wrong, 20_000)
    assert find_contradictions([*curves, [planted]]) != []
    honest = evaluate(scenario.at(20_000), moment_bound, 20_000)
    assert find_unmarked_bounds([*curves, [honest]]) == []
    nameless = find_unmarked_bounds(
        [*curves, [honest]], lambda curve: short_name(curve[0].bound.card)
    )
    assert nameless == [moment_bound.card.slug]


def test_a_bound_for_fewer_laws_is_drawn_and_labelled_if_a_method_has_no_other() -> None:
    scenario = Scenario(problem="linear", methods=("sco.sgd",), axis="n", grid=(1000, 10_000))
    (curve,) = [c for c in drawn_curves(scenario) if c[0].bound.card.kind == "upper"]
    line = bound_line(curve)
    assert line.name.endswith(", for this variance")
    assert "holds for all distributions with this variance" in line.hover[0]


def test_the_hover_text_names_the_algorithms_and_the_class_of_a_lower_bound() -> None:
    line = bound_line([evaluate(Scenario(), catalogue.bound("lower.mean.tracing-cdp"))])
    (hover,) = line.hover
    assert "binds every zCDP algorithm (ρ = 0.02801), in the worst case over all" in hover
    assert "distributions with these moments in every coordinate" in hover


def test_a_rate_is_dashed_and_says_that_its_constant_is_one() -> None:
    rate, proven = (
        bound_line([evaluate(Scenario(), catalogue.bound(slug))])
        for slug in ("upper.mean.clipped", "upper.mean.clipped-expected")
    )
    assert (rate.dash, proven.dash) == ("dash", "solid")
    assert "a rate, drawn with constant 1" in rate.hover[0]
    assert "constant 1" not in proven.hover[0]


def test_a_bound_whose_hypothesis_fails_is_faded_and_names_the_hypothesis() -> None:
    good = evaluate(Scenario(), catalogue.bound("upper.mean.clipped"))
    failing = bound_line([replace(good, failures=("n is too small.",))])
    assert failing.opacity < bound_line([good]).opacity == 1
    assert "⚠ n is too small." in failing.hover[0]


def test_no_bound_has_the_name_of_a_method() -> None:
    names = {catalogue.method_card(m).name for m in catalogue.METHOD_SLUGS}
    assert names.isdisjoint(short_name(b.card) for b in catalogue.BOUNDS)
