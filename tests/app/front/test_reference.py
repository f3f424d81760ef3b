"""A number and its name have one source: every factor is relative to a method that has run."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from dpsco_app.front import links
from dpsco_app.front.answer import TAILS_QUESTION, answer, question
from dpsco_app.front.changes import change_field
from dpsco_app.front.costs import LESS_PREFIX, loose_ends
from dpsco_app.front.figure import front_figure
from dpsco_app.front.panel import FrontPanel
from dpsco_app.front.reference import reference_name, with_article
from dpsco_app.front.study import Study, chosen_point
from dpsco_app.front.titles import ratio_text
from dpsco_app.front.view import View
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import METHODS, PROBLEM_SLUGS, method_card, methods_for
from dpsco_core.results.intervals import run_json
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.allowed import refusal
from dpsco_core.scenario import Scenario
from tests.app.results import run

PUBLIC = [m.card.slug for m in METHODS if m.card.privacy == "none"]
SETS = (("l2", None), ("l1", None), ("lq", 1.5), ("simplex", None))


def random_scenario(seed: int) -> Scenario:
    """Return an allowed small scenario of random methods, of a random loss and set."""
    rng = random.Random(seed)
    while True:
        problem, (kind, q) = rng.choice(PROBLEM_SLUGS), rng.choice(SETS)
        methods_known = methods_for(problem, "item")
        private = [m for m in methods_known if method_card(m).privacy != "none"]
        public = [m for m in methods_known if m in PUBLIC]
        methods = (*rng.sample(public, rng.randint(0, 2)), *rng.sample(private, rng.randint(1, 3)))
        scenario = Scenario(
            problem=problem, geometry=kind, q=q, methods=methods, n=300, d=4, trials=2, seed=seed
        )
        if not refusal(scenario, DASHBOARD):
            return scenario


def run_study(scenario: Scenario) -> Study:
    """Run all cells of a scenario; return them as a study."""
    return Study(scenario=scenario, outcomes=run(scenario).outcomes)


def small_line(study: Study) -> str:
    """Return the small print below the answer to a study."""
    return "".join(text for text, _ in answer([study]).small)


@pytest.mark.parametrize("seed", range(40))
def test_every_method_in_the_answer_has_run_and_the_factor_is_the_ratio_of_their_errors(
    seed: int,
) -> None:
    scenario = random_scenario(seed)
    study = run_study(scenario)
    x, the_answer = chosen_point(scenario), answer([study])
    text = "".join(part for part, _ in the_answer.small).replace("too, for a robust", "")
    public_run = [m for m in scenario.methods if m in PUBLIC and study.row_at(m, x) is not None]
    compared = text.split(" Choose the ")[0]
    names_compared = [
        m for m in PUBLIC if f"against the non-private {reference_name(m)}" in compared
    ]
    assert set(names_compared) <= set(public_run)
    assert {method for _, method in the_answer.small if method} <= set(scenario.methods)
    row = study.row_at(study.lead, x)
    if row is None or row.price is None:
        assert not names_compared
        assert (
            public_run
            or row is None
            or row.mean == 0
            or "there is no price" in text
            or "Choose" in text
        )
        return
    (reference,) = {r.price.reference for r in study.table.values() if r.price is not None}
    assert (
        reference in public_run
        and reference == study.public
        and names_compared in ([], [reference])
    )
    public = study.row_at(reference, x)
    assert public is not None
    # The error is 0, for example, at a corner of a simplex that every sample identifies.
    if public.mean == 0:
        assert math.isinf(row.price.value)
        return
    assert row.price.value == pytest.approx(row.mean / public.mean)
    if the_answer.headline[0].startswith(LESS_PREFIX.capitalize()):
        assert f"than {with_article(reference)}" in the_answer.headline[0]
    (panel,) = front_figure([study], View()).panels
    if panel.gap is not None:
        assert (panel.gap.low, panel.gap.high) == (public.mean, row.mean)
    table = {r.key: r.values for r in front_figure([study], View()).ladder.rows}
    assert table[study.lead][1] == f"{ratio_text(row.price.value)}×" and table[reference][1] == "1×"


REPORTED = (
    Scenario(
        problem="linear", methods=("sco.sgd", "sco.clipped", "sco.cwme"), p=4, n=1000, trials=3
    ),
    Scenario(
        methods=("mean.median-of-means", "mean.adaptive", "mean.clipped"),
        distribution="skewed-pareto",
        p=4,
        n=1000,
        trials=3,
    ),
)


@pytest.mark.parametrize("scenario", REPORTED)
def test_every_text_names_the_reference_method_that_ran(scenario: Scenario) -> None:
    (reference,) = (m for m in scenario.methods if m in PUBLIC)
    study = run_study(scenario)
    all_words = "".join((*answer([study]).headline, small_line(study)))
    assert f"the non-private {reference_name(reference)}" in all_words
    assert "risk minimiser" not in all_words and "non-private sample mean" not in all_words
    panel = FrontPanel(study, View(), [study])
    hovers = "".join(text for line in panel.lines for text in line.hover)
    assert f"times the {method_card(reference).name[0].lower()}" in hovers
    rows = run_json(scenario, study.outcomes)["results"]
    assert {r["price_over"] for r in rows} == {None, reference}
    assert set(summary(frame(study.outcomes), scenario)["price_over"]) == {"", reference}


def test_each_of_two_references_has_its_own_factor() -> None:
    methods = ("mean.sample", "mean.median-of-means", "mean.clipped")
    study = run_study(Scenario(methods=methods, n=1000, trials=5))
    assert "against the non-private sample mean" in small_line(study)
    assert "Against the median of means: " in small_line(study)
    (ratio,) = study.over_others(None).values()
    lead, robust = (study.row_at(m, None) for m in (study.lead, "mean.median-of-means"))
    assert lead is not None and robust is not None
    assert ratio.value == pytest.approx(lead.mean / robust.mean)


def test_without_a_reference_there_is_no_price_and_the_page_says_what_to_choose() -> None:
    study = run_study(Scenario(methods=("mean.clipped",), n=1000, trials=2))
    assert "Choose the sample mean or the median of means, too" in small_line(study)
    (panel,) = front_figure([study], View()).panels
    assert panel.gap is None


def test_the_bracket_and_the_headline_never_place_the_lower_line_above() -> None:
    """A factor that is measured below 1, but within its noise, shows both ends of its interval."""
    study = run_study(Scenario(methods=("mean.sample", "mean.clipped"), n=1000, trials=3))
    public = {o.trial: o.error for o in study.outcomes if o.method == "mean.sample"}
    factors = {0: 0.2, 1: 0.9, 2: 0.5}
    outcomes = tuple(
        replace(o, error=public[o.trial] * factors[o.trial]) if o.method == "mean.clipped" else o
        for o in study.outcomes
    )
    study = replace(study, outcomes=outcomes)
    row = study.row_at("mean.clipped", None)
    assert row is not None and row.price is not None and row.price.value < 1 < row.price.high
    low, high = loose_ends(row.price) or ("", "")
    assert float(low) <= row.price.low + 1e-9 and row.price.value <= float(high)
    opening = answer([study]).headline[0]
    assert opening.startswith(f"Privacy costs between {low} and {high} times")
    ruler = front_figure([study], View()).ruler
    assert ruler is not None
    assert [r.text for r in ruler.rungs if r.bold] == [f"×{low}–{high}"]


def test_the_question_is_about_heavy_tails_only_where_the_data_have_one() -> None:
    heavy = Scenario()
    assert "heavy-tailed" in question([Study(scenario=heavy)])
    for light in (replace(heavy, distribution="gaussian"), replace(heavy, p=20)):
        assert "light-tailed" in question([Study(scenario=light)])
    sweep = Study(scenario=replace(heavy, axis="p", grid=(2, 8)))
    pair = Study(scenario=heavy), Study(scenario=replace(heavy, p=8), role="tail")
    assert question([sweep]) == question(pair) == TAILS_QUESTION


def test_a_sweep_with_many_items_per_user_has_several_points() -> None:
    scenario, problems = links.read({"m": "1000"})
    assert not problems and len(scenario.grid) >= 3 and max(scenario.grid) == 500
    assert links.read({"m": "1000", "grid": "500"})[0].grid == (500,)
    assert links.read(links.query(scenario))[0] == scenario
    items_1 = replace(links.BASE, m=1)
    items_1000, sweep, _ = change_field(items_1, "m", 1000, (items_1.grid, items_1.grid), DASHBOARD)
    assert items_1000.grid == scenario.grid
    assert change_field(items_1000, "m", 1, sweep, DASHBOARD)[0].grid == items_1.grid
