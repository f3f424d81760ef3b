"""Every bound names the one class of laws that its constants describe."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import cache

import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.law_classes import (
    BOUNDED,
    COORDINATE,
    DIRECTIONAL,
    LIPSCHITZ_MOMENTS,
    SHIFTS,
    VARIANCE,
)
from dpsco_core.bounds import Bound
from dpsco_core.bounds.base import TermsOfRun
from dpsco_core.bounds.classes import binding, covered, name_bound_algorithms, of_class
from dpsco_core.catalogue import BOUNDS, bound
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP
from dpsco_core.problems import Setting
from dpsco_core.problems.base import Constants
from dpsco_core.scenario import Scenario
from tests.folded import each

# Constants certified of the records; the others are constants of the loss and of the set.
MOMENTS = (
    "coordinate_moment",
    "directional_moment",
    "variance_trace",
    "mean_gradient_bound",
    "minimum_variance",
    "lipschitz",
    "lipschitz_second",
    "lipschitz_moment",
)


@cache
def heavy_and_bounded_settings(problem: str, geometry: str) -> tuple[Setting, ...]:
    """Return settings of a problem with heavy-tailed data and with bounded gradients."""
    q = 1.5 if geometry == "lq" else None
    point = Scenario(
        problem=problem, methods=(), n=10_000, d=2, epsilon=0.5, geometry=geometry, q=q
    )
    plain = (point, replace(point, p=2.0, distribution="gaussian", n=1_000_000, d=5))
    hard = replace(point, distribution="hypercube", n=1_000_000, m=10 * (problem != "mean") or 1)
    scenarios = (*plain, hard, replace(hard, m=1, delta=0.0))
    return tuple(at.setting for at in scenarios)


def with_foreign_constants(setting: Setting, bound_row: Bound) -> Setting:
    """Return the setting with those constants changed that do not belong to the bound's class of
    laws.
    """
    foreign_constants = set(MOMENTS) - set(bound_row.card.laws.constants)
    changed = {name: 0.8 * getattr(setting.constants, name) for name in foreign_constants}
    return replace(setting, constants=replace(setting.constants, **changed))


@each("bound_row", BOUNDS, ids=lambda bound_row: bound_row.card.slug)
def test_a_bound_depends_only_on_the_constants_of_its_class_of_laws(bound_row: Bound) -> None:
    """A bound that names another class than that of its constants fails here."""
    problems = bound_row.card.problems
    for problem in dict.fromkeys((*problems[:2], problems[-1])):
        for setting in heavy_and_bounded_settings(problem, bound_row.card.geometry):
            original, changed = values_at_both(
                bound_row, setting, with_foreign_constants(setting, bound_row)
            )
            assert original == pytest.approx(changed, rel=1e-9), problem


def values_at_both(bound_row: Bound, setting: Setting, changed: Setting) -> tuple[float, float]:
    """Return a bound's values at two settings; for a bound on a run, both are for the plan of the
    first setting.
    """
    if not isinstance(bound_row.evaluate, TermsOfRun):
        return bound_row.value(setting), bound_row.value(changed)
    try:
        plan = bound_row.evaluate.method.plan(bound_row.setting_of_statement(setting))
    except NotApplicable:
        return math.inf, math.inf
    changed_plan = replace(plan, setting=bound_row.setting_of_statement(changed))
    return bound_row.value(setting, plan), bound_row.value(changed, changed_plan)


def test_the_classes_of_laws_are_those_of_the_papers() -> None:
    for slug, laws in (
        ("upper.mean.sample", VARIANCE),
        ("upper.mean.cwme-cdp-expected", COORDINATE),
        ("upper.mean.clipped-expected", DIRECTIONAL),
        ("upper.mean.clipped-expected-coordinate", COORDINATE),
        ("upper.mean.iterative", DIRECTIONAL),
        ("upper.sco.clipped-explicit", DIRECTIONAL),
        ("upper.sco.sgd", VARIANCE),
        ("upper.sco.private-sgd", BOUNDED),
        ("upper.lp.shuffled-mirror-descent", VARIANCE),
        ("lower.mean.fano-cdp", COORDINATE),
        ("lower.sco.rate-lipschitz", BOUNDED),
        ("upper.sco.prior-asi-liu-tian", LIPSCHITZ_MOMENTS),
        ("lower.sco.lipschitz-moments-cdp", LIPSCHITZ_MOMENTS),
        ("lower.user.rate", BOUNDED),
    ):
        assert bound(slug).card.laws == laws, slug
    worst = {b.card.laws for b in BOUNDS if b.card.kind == "lower" and not b.card.of_law}
    assert worst == {COORDINATE, BOUNDED, LIPSCHITZ_MOMENTS}
    constants = {f.name for f in fields(Constants)}
    assert all(set(b.card.laws.constants) <= constants for b in BOUNDS)


def test_directional_moments_contain_the_coordinate_class_only_if_as_large() -> None:
    """In one dimension a direction is a coordinate; in 75 dimensions these data are easier."""
    card = bound("upper.mean.clipped-expected").card
    line, space = (Scenario(d=d).setting for d in (1, 75))
    assert COORDINATE in covered(card, line)
    assert COORDINATE not in covered(card, space)
    assert COORDINATE in covered(card, of_class(space))
    assert SHIFTS in covered(card, space)  # The set contains every mean within R.


def test_a_variance_contains_the_coordinate_class_where_both_variances_agree() -> None:
    """They agree for a mean; the risk of a linear loss uses the variance of these data."""
    mean, risk = bound("upper.mean.sample").card, bound("upper.sco.sgd").card
    heavy = Scenario(d=5, p=8.0)
    assert COORDINATE in covered(mean, heavy.setting)
    linear = replace(heavy, problem="linear", methods=()).setting
    assert linear.constants.variance_trace < linear.d
    assert COORDINATE not in covered(risk, linear)
    assert SHIFTS not in covered(risk, linear)
    assert COORDINATE in covered(risk, of_class(linear))


def test_a_lower_bound_names_the_algorithms_to_which_it_applies_at_a_budget() -> None:
    approx = ApproxDP(epsilon=1.0, delta=1e-6)
    for slug, budget, words in (
        ("lower.mean.tracing-cdp", approx, "zCDP algorithm (rho=0.02801)"),
        ("lower.mean.tracing-cdp", ZCDP(rho=0.5), "zCDP algorithm (rho=0.5)"),
        ("lower.mean.fano-pure", approx, "pure DP algorithm (epsilon=1)"),
        ("lower.mean.approx-tracing", approx, "(epsilon, delta)-DP algorithm"),
        ("lower.mean.biased-signs", approx, "algorithm"),
    ):
        assert name_bound_algorithms(bound(slug).card, budget) == words
    assert "zcdp" not in binding(approx) and "approx" in binding(approx)
    assert "approx" not in binding(ZCDP(rho=0.5)) and "zcdp" in binding(ZCDP(rho=0.5))
    assert set(binding(PureDP(epsilon=1.0))) == {"none", "approx", "zcdp", "pure"}
