"""Formulas under Explore's figure: every legend explains a letter as its own formula uses it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dpsco_app.pages.explore.formulas import defined_in, legend
from dpsco_app.parts.options import short_text
from dpsco_app.parts.presets import DEFAULT
from dpsco_core.catalogue import BOUNDS, bound, default_methods
from dpsco_core.results.report import evaluate
from dpsco_core.scenario import Scenario
from tests.app.pages import open_page, written_text

POINT = replace(DEFAULT.scenario, axis=None, grid=())


def legend_of(point: Scenario, slug: str) -> str:
    """Return the legend of symbols of a bound's formula at a point."""
    return legend(point, evaluate(point, bound(slug)))


def test_the_page_gives_the_rho_that_its_values_use_and_calls_q_a_probability() -> None:
    page = open_page(show="lower bounds,rates,upper bounds", epsilon="1", delta="1e-6")
    written = written_text(page)
    assert f"ρ = {POINT.setting.gaussian_rho:.3g} is the most that Gaussian noise" in written
    assert "0.0244" not in written, "that is the rho at which every zCDP algorithm meets the budget"
    assert "exponent of the norm" not in written
    assert "$q$: spike probability" in written


@pytest.mark.parametrize("slug", ["lower.mean.fano-cdp", "upper.mean.clipped-expected"])
def test_a_legend_has_the_rho_of_its_bound(slug: str) -> None:
    rho = POINT.setting.gaussian_rho
    assert rf"$\rho$ = {short_text(rho)}" in legend_of(POINT, slug)


def test_q_is_a_probability_in_one_formula_and_an_exponent_in_another() -> None:
    assert "$q$: spike probability" in legend_of(POINT, "lower.mean.hypercube-cdp")
    sets = Scenario(problem="logistic", methods=("sco.erm",), geometry="lq", q=1.5)
    assert "$q$ = 1.5: exponent" in legend_of(sets, "upper.lp.shuffled-mirror-descent")


def test_a_letter_defined_in_a_formula_has_no_other_meaning_in_its_legend() -> None:
    assert r"\kappa" not in legend_of(POINT, "upper.mean.clipped-expected")
    assert defined_in(bound("upper.mean.clipped-expected").card.latex) == {r"\kappa"}
    users = Scenario(problem="quadratic", methods=("sco.erm",), m=10, diameter=4)
    assert "$D$ = 2: radius" in legend_of(users, "upper.user.clipped-means-explicit")
    assert "strong convexity" not in legend_of(users, "upper.user.clipped-means-explicit")
    steps = Scenario(problem="logistic", methods=("sco.erm",))
    assert "$m$: number of gradient steps" in legend_of(
        steps, "upper.lp.noisy-mirror-descent-explicit"
    )


def test_no_legend_explains_a_letter_twice() -> None:
    for theorem in BOUNDS:
        problem = theorem.card.problems[0]
        level = theorem.card.level
        point = Scenario(
            problem=problem,
            methods=default_methods(problem, level),
            m=10 if level == "user" else 1,
        )
        letters = re.findall(r"(?:^|; )(\$[^$]+\$)", legend_of(point, theorem.card.slug))
        assert len(letters) == len(set(letters)), theorem.card.slug
