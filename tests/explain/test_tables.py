"""The tables of the page Theory: bounds, their values, conditions, slopes and symbols."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dpsco_core.base.cards import OWN
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import BOUNDS, bound, method_card
from dpsco_core.explain.tables.left_out import LEFT_OUT, left_out
from dpsco_core.explain.tables.letters import contains, symbols
from dpsco_core.explain.tables.table import (
    SLOPES,
    TABLES,
    canonical_point,
    drawn_scenario,
    paper_table,
    rows,
    slopes,
)
from dpsco_core.results.report import evaluate
from dpsco_core.scenario import Scenario
from tests.golden_sentences import GOLDEN

ALL_SLUGS = tuple(b.card.slug for b in BOUNDS)
MEAN = Scenario(methods=("mean.sample",))
POINT = Scenario(problem="quadratic", methods=("sco.erm",))
LIPSCHITZ = Scenario(problem="geometric-median", methods=("sco.erm",), geometry="lq", q=1.25)
USERS = Scenario(problem="geometric-median", methods=("sco.erm",), m=100)


def test_the_papers_tables_cover_the_catalogue() -> None:
    papers = TABLES[:-1]
    listed = {slug for table in papers for slug in table.slugs}
    assert set(TABLES[-1].slugs) == set(ALL_SLUGS)
    assert not set(ALL_SLUGS) - listed, "no paper's table has them: say one by `tables` of the card"
    for table in TABLES:
        assert len(set(table.slugs)) == len(table.slugs) > 0
    with pytest.raises(InvalidInput, match="table must be one of"):
        paper_table("none")


def test_zhaos_table_is_in_the_order_of_the_paper() -> None:
    slugs = paper_table("zhao").slugs[:7]
    assert set(slugs) == {
        "upper.sco.prior-wang",
        "upper.sco.cwme",
        "upper.sco.smoothed-paper",
        "upper.sco.clipped",
        "upper.sco.iterative",
        "lower.sco.rate-quoted",
        "lower.sco.rate-cdp",
    }


@pytest.mark.parametrize("point", [MEAN, POINT, LIPSCHITZ, USERS], ids=lambda p: p.problem)
def test_every_row_has_the_value_and_the_conditions_of_its_bound(point: Scenario) -> None:
    canonical = canonical_point(point)
    listed = rows(point, ALL_SLUGS)
    assert {r.bound.card.slug for r in listed} == set(ALL_SLUGS)
    for row in listed:
        card = row.bound.card
        if row.is_relevant:
            expected = evaluate(canonical, bound(card.slug))
            assert row.value == pytest.approx(expected.value, rel=0, nan_ok=True)
            assert row.failures == expected.failures
            assert dict(row.terms) == pytest.approx(expected.terms, rel=0, nan_ok=True)
            assert canonical.problem in card.problems
        else:
            assert math.isnan(row.value) and len(row.failures) == 1
        assert row.holds == (row.is_relevant and not row.failures)
    order = [(not r.is_relevant, not r.holds) for r in listed]
    assert order == sorted(order)


def test_a_bound_on_another_quantity_names_that_quantity() -> None:
    by_slug = {r.bound.card.slug: r for r in rows(POINT, ALL_SLUGS)}
    assert "the mean of heavy-tailed records" in by_slug["upper.mean.clipped"].failures[0]
    linear = {r.bound.card.slug: r for r in rows(replace(POINT, problem="huber"), ALL_SLUGS)}
    assert (
        linear["upper.sco.cwme-strong"]
        .failures[0]
        .startswith("It is about smooth strongly convex losses, and the problem here")
    )
    user_rows = {r.bound.card.slug: r for r in rows(USERS, ALL_SLUGS)}
    assert user_rows["upper.sco.clipped"].failures == (GOLDEN["one item of many is hidden"],)
    # Bounds on every algorithm, and bounds at user level, stay in the table.
    for slug in ("upper.sco.sgd", "lower.sco.rate-lipschitz", "upper.user.accelerated"):
        assert user_rows[slug].is_relevant


def test_slopes_are_the_exponents_of_the_formulas() -> None:
    # At this setting the private term is nearly the whole bound.
    canonical = replace(MEAN, n=1000, epsilon=0.01, delta=1e-12, p=4.0)
    exponents = slopes(canonical, "upper.mean.clipped-directional")
    assert exponents["n"] == pytest.approx(-0.75, abs=0.02)
    # The budget rho grows a little more slowly than epsilon squared.
    assert exponents["epsilon"] == pytest.approx(-0.75, abs=0.04)
    free = slopes(canonical, "upper.mean.sample")
    assert free == pytest.approx({"n": -0.5, "d": 0.5, "epsilon": 0.0}, abs=1e-3)
    gradients = slopes(USERS, "upper.user.prior-asi-liu-2024-nonsmooth-gradients")
    assert gradients == pytest.approx({"n": 3.0, "d": 0.0, "epsilon": 0.0}, abs=1e-4)


def test_slopes_exist_for_other_budgets_and_not_without_one() -> None:
    concentrated = replace(MEAN, epsilon=None, delta=None, rho=1e-6)
    exponents = slopes(concentrated, "upper.mean.clipped-directional")
    # The slope in rho is half of that in epsilon.
    assert exponents["epsilon"] == pytest.approx(-1 / 3, abs=0.02)
    without_slope = slopes(POINT, "upper.mean.clipped")
    assert all(math.isnan(without_slope[axis]) for axis in SLOPES)
    slope = slopes(replace(MEAN, d=1), "upper.mean.sample")
    assert slope["d"] == pytest.approx(0.5, abs=1e-6)


def test_explore_has_a_scenario_for_every_bound() -> None:
    for slug in ALL_SLUGS:
        card = bound(slug).card
        scenario_drawn = drawn_scenario(replace(USERS, n=2000, d=5), card)
        scenario_drawn.validate(DASHBOARD, sampling=False)
        assert scenario_drawn.problem in card.problems
        if card.method:
            assert card.method in scenario_drawn.methods
        if card.level == "user":
            assert scenario_drawn.m > 1
        elif card.privacy != "none":
            assert scenario_drawn.m == 1
        assert all(
            scenario_drawn.problem in method_card(m).problems for m in scenario_drawn.methods
        )


def test_every_symbol_is_in_the_formula_and_the_sizes_are_those_of_the_scenario() -> None:
    for slug in ALL_SLUGS:
        row = bound(slug)
        points = (p for p in (POINT, LIPSCHITZ, MEAN) if p.problem in row.card.problems)
        point = next(points, replace(POINT, problem=row.card.problems[0], methods=()))
        canonical = canonical_point(point)
        letters = symbols(canonical, row)
        assert letters
        values = {s.latex: s.value for s in letters}
        for symbol in letters:
            assert contains(row.card.latex, symbol.latex) and symbol.meaning
        for name, size in (("n", canonical.n), ("d", canonical.d)):
            assert values.get(name, size) == size
        # Every letter that is displayed is also explained.
        for letter in ("n", "d", r"\rho", r"\varepsilon"):
            assert (letter in values) == contains(row.card.latex, letter)


def test_letters_are_distinguished_from_commands_and_indices() -> None:
    assert contains(r"\frac{LD}{\sqrt n}", "L") and contains(r"\frac{LD}{\sqrt n}", "D")
    assert not contains(r"\delta+\mathrm{Bin}(1)", "d")
    assert not contains(r"\Lambda_5", r"\Lambda") and contains(r"R_0", "R_0")
    assert not contains(r"R_0", "R")
    assert not contains(r"\rhox", r"\rho")


def test_a_letter_has_the_meaning_of_its_family() -> None:
    clipped = {s.latex: s for s in symbols(canonical_point(MEAN), bound("upper.mean.clipped"))}
    convex = {s.latex: s for s in symbols(canonical_point(POINT), bound("upper.sco.cwme"))}
    assert "moment" in clipped["M"].meaning and "diameter" in convex["M"].meaning
    assert convex["M"].value == POINT.diameter
    assert clipped["M"].value == canonical_point(MEAN).setting.constants.directional_moment
    sure = {s.latex: s for s in symbols(canonical_point(MEAN), bound("upper.mean.cwme-cdp-paper"))}
    assert sure[r"\beta"].value == 0.1


def test_the_letter_of_a_width_states_where_it_is_a_bound_on_the_width() -> None:
    """For sparse vectors two bounds on the width are proven, and for an l_q ball the width is
    exact.
    """
    upper, lower = bound("upper.sco.prior-talwar"), bound("lower.sco-strong.width")
    ends = {}
    for geometry, q in (("sparse", None), ("lq", 1.1)):
        point = replace(POINT, geometry=geometry, q=q, d=20, problem="logistic", offset=0.0)
        point = replace(point, distribution="gaussian")
        width = point.setting.body.gaussian_width()
        (of_upper,) = (s for s in symbols(point, upper) if "width" in s.meaning)
        (of_lower,) = (s for s in symbols(point, lower) if "width" in s.meaning)
        assert (of_upper.value, of_lower.value) == (width.upper, width.lower)
        ends[geometry] = of_upper.meaning, of_lower.meaning
    plain = "Gaussian width of the set"
    assert ends == {
        "sparse": (f"{plain}, upper bound", f"{plain}, lower bound"),
        "lq": (plain, plain),
    }


def test_a_bound_names_its_geometry() -> None:
    assert bound("upper.lp.phased-sgd").card.geometry == "lq"
    assert bound("upper.sco.clipped").card.geometry == "l2"


def test_a_table_that_was_computed_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    point = replace(POINT, n=12_345)
    all_rows = rows(point, ALL_SLUGS)
    monkeypatch.setattr("dpsco_core.explain.tables.table.evaluate", None)
    for table in TABLES:
        assert set(rows(point, table.slugs)) <= set(all_rows)


def test_statements_of_a_paper_without_a_bound_are_listed_beside_its_table() -> None:
    keys = {table.key for table in TABLES}
    assert {entry.table for entry in LEFT_OUT} <= keys
    assert left_out("all") == LEFT_OUT
    texts = {key: " ".join(entry.line for entry in left_out(key)) for key in keys}
    assert "Amid et al." in texts["su-1"] and "ridge" in texts["su-1"]
    assert "Remark 5.3" in texts["kamath"] and "Theorem 4.1" in texts["kamath"]
    assert "section 6" in texts["arora"]
    assert not left_out("zhao")


def test_a_baseline_of_this_library_is_attributed_to_no_paper() -> None:
    assert method_card("user.clipped-means").paper == OWN
    assert bound("upper.user.clipped-means").card.paper == OWN
    assert "upper.user.clipped-means" in paper_table("lowy").slugs


def test_the_table_without_privacy_has_the_bounds_without_their_noise() -> None:
    (entry,) = [e for e in LEFT_OUT if "Theorem 4.1, first display" in e.statement]
    of_theorem = [
        b
        for b in BOUNDS
        if b.card.statement.startswith("Theorem 4.1") and b.card.privacy != "none"
        if b.card.method and "mean" in method_card(b.card.method).problems
    ]
    assert len(of_theorem) >= 4
    for b in of_theorem:
        *without_noise, noise = evaluate(canonical_point(MEAN), b).terms
        assert noise == "privacy noise"
        assert all(f"“{term}”" in entry.reason for term in without_noise), b.card.slug
    assert "median of means" in entry.reason.lower()
