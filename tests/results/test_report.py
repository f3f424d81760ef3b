"""The JSON that the command line prints: its keys, its nulls, and numbers that repeat."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import (
    BOUND_SLUGS,
    METHOD_SLUGS,
    PROBLEM_SLUGS,
    bound,
    bounds_for,
    method_card,
    methods_for,
)
from dpsco_core.results.intervals import run_json
from dpsco_core.results.report import (
    bound_setting,
    bounds_json,
    catalogue_json,
    evaluate,
    evaluate_all,
    finite_or_none,
)
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.cost import cost, machine_speed, too_large
from dpsco_core.runs.study import planned, study
from dpsco_core.scenario import Scenario
from tests.folded import each

OTHER_SETS = (("l1", None), ("group-l1", None), ("simplex", None), ("lq", 1.5))
SMALL = Scenario(
    n=200, d=4, trials=5, seed=3, methods=("mean.sample", "mean.clipped", "mean.cwme-cdp")
)
SMALL_RISK = Scenario(
    problem="logistic", n=100, d=3, trials=3, seed=3, methods=("sco.erm", "sco.clipped")
)
MEAN_METHODS = methods_for("mean")
MEAN_BOUNDS = [b.card.slug for b in bounds_for("mean")]

RESULT_KEYS = {
    "method",
    "x",
    "trials",
    "mean_error",
    "median_error",
    "standard_error",
    "evaluation_standard_error",
    "quantiles",
    "seconds",
    "spent",
    "not_applicable",
}
BOUND_KEYS = {"slug", "kind", "quantity", "constant", "value", "terms", "failures"}
COMMON_KEYS = {"slug", "name", "paper", "statement"}


def parse_strictly(value: object) -> Any:
    """Return `value` as a reader of its JSON sees it; NaN and infinities are refused."""
    return json.loads(json.dumps(value, allow_nan=False))


def run(scenario: Scenario) -> dict[str, Any]:
    """Run a scenario; return its report as strict JSON."""
    result: dict[str, Any] = parse_strictly(run_json(scenario, list(study(scenario))))
    return result


def test_the_catalogue_has_the_stated_keys() -> None:
    document = parse_strictly(catalogue_json())
    assert list(document) == ["methods", "problems", "distributions", "bounds"]
    for rows in document.values():
        assert rows
        assert all(row.keys() >= COMMON_KEYS for row in rows)
    for row in document["methods"]:
        assert row.keys() >= {"privacy", "geometry", "level", "problems"}
        assert row["problems"]
        assert set(row["problems"]) <= set(PROBLEM_SLUGS)
        assert row["problems"] == list(method_card(row["slug"]).problems)
    assert [row["slug"] for row in document["problems"]] == list(PROBLEM_SLUGS)
    for row in document["bounds"]:
        assert row.keys() >= {"kind", "quantity", "constant", "latex", "level", "problems"}
        assert row["problems"]
        assert set(row["problems"]) <= set(PROBLEM_SLUGS)
        of_risks = row["quantity"] in ("excess risk", "item gradients")
        assert of_risks == ("mean" not in row["problems"])
        assert row["quantity"] != "item gradients" or row["level"] == "user"
        assert row["kind"] in ("upper", "lower")
        assert row["constant"] in ("explicit", "rate")
        assert row["method"] is None or row["method"] in METHOD_SLUGS
    assert [row["slug"] for row in document["methods"]] == list(METHOD_SLUGS)
    assert [row["slug"] for row in document["bounds"]] == list(BOUND_SLUGS)


def test_bounds_have_the_stated_keys() -> None:
    document = parse_strictly(bounds_json(SMALL))
    assert list(document) == ["scenario", "bounds"]
    assert Scenario.from_dict(document["scenario"]) == SMALL
    assert [row["slug"] for row in document["bounds"]] == MEAN_BOUNDS
    for row in document["bounds"]:
        assert row.keys() >= BOUND_KEYS
        assert row["x"] is None
        assert all(isinstance(sentence, str) for sentence in row["failures"])
        assert row["value"] is None or row["value"] >= 0


def test_a_bound_names_the_algorithms_class_and_statement_to_which_it_applies() -> None:
    """At n = 4,000 and d = 1,000 the largest bound that applies is for pure DP alone,
    and says so.
    """
    point = Scenario(n=4000, d=1000, p=20.0, delta=1e-3, methods=())
    rows = {row["slug"]: row for row in bounds_json(point)["bounds"]}
    lower = [r for r in rows.values() if r["kind"] == "lower" and not r["failures"]]
    kind = ("explicit", "l2 error", "coordinate moments")
    proven = [r for r in lower if (r["constant"], r["quantity"], r["laws"]) == kind]
    largest = max(proven, key=lambda r: r["value"])
    assert largest["binds"] == "every pure DP algorithm (epsilon=1)"
    approx = rows["lower.mean.approx-tracing"]
    assert approx["binds"] == "every (epsilon, delta)-DP algorithm"
    assert approx["class"] == "coordinate moments; mean estimation"
    assert approx["statement"].startswith("DP-SCO Explorer, approx-lower-bounds, section 3, (T1)")
    assert approx["value"] < largest["value"]
    clipped = rows["upper.mean.clipped-expected"]
    assert (clipped["binds"], clipped["laws"]) == (None, "directional moments")
    swept = bounds_json(replace(point, axis="epsilon", grid=(0.5, 1.0)))["bounds"]
    pure = [r["binds"] for r in swept if r["slug"] == "lower.mean.fano-pure"]
    assert pure == [f"every pure DP algorithm (epsilon={e})" for e in ("0.5", "1")]
    risks = bounds_json(Scenario(problem="linear", methods=()))["bounds"]
    classes = {r["slug"]: r["class"] for r in risks}
    assert classes["upper.sco.sgd"] == "variance; convex losses"
    assert classes["upper.sco.private-sgd"] == "bounded gradients; Lipschitz convex losses"


def test_every_point_of_a_grid_has_every_bound() -> None:
    swept = replace(SMALL, axis="n", grid=(100, np.float64(200)))
    rows = parse_strictly(bounds_json(swept))["bounds"]
    assert [row["x"] for row in rows] == [100] * len(MEAN_BOUNDS) + [200] * len(MEAN_BOUNDS)
    single_point = parse_strictly(bounds_json(replace(SMALL, n=100)))["bounds"]
    assert [row["value"] for row in rows[: len(MEAN_BOUNDS)]] == [
        row["value"] for row in single_point
    ]


@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_a_problem_lists_exactly_the_bounds_that_are_drawn_beside_it(problem: str) -> None:
    scenario = replace(SMALL_RISK, problem=problem, methods=())
    rows = parse_strictly(bounds_json(scenario))["bounds"]
    chosen = {
        row["slug"]
        for row in parse_strictly(catalogue_json())["bounds"]
        if problem in row["problems"] and row["level"] == "item"
    }
    assert chosen
    assert [row["slug"] for row in rows] == [b.card.slug for b in bounds_for(problem)]
    assert {row["slug"] for row in rows} == chosen
    quantity = {row["quantity"] for row in rows}
    assert quantity == ({"l2 error", "squared l2 error"} if problem == "mean" else {"excess risk"})
    assert all(row["value"] is None or row["value"] >= 0 for row in rows)
    assert all(row["failures"] for row in rows if row["value"] is None)


def test_users_with_several_items_have_the_bounds_of_their_level() -> None:
    scenario = replace(SMALL_RISK, problem="logistic", methods=("sco.sgd",), m=50)
    rows = parse_strictly(bounds_json(scenario))["bounds"]
    slugs = {b.card.slug for b in bounds_for("logistic", "user")}
    assert {row["slug"] for row in rows} == slugs
    assert {row["quantity"] for row in rows} == {"excess risk", "item gradients"}
    # A bound for records counts all n m items.
    pooled = parse_strictly(bounds_json(replace(scenario, n=50 * scenario.n, m=1)))["bounds"]
    values = {row["slug"]: row["value"] for row in pooled}
    shared = [row for row in rows if row["slug"] in values]
    assert {row["kind"] for row in shared} == {"upper", "lower"}
    assert all(row["value"] == values[row["slug"]] for row in shared)


def test_a_bound_that_is_void_is_null() -> None:
    pure = parse_strictly(bounds_json(replace(SMALL, delta=0.0)))["bounds"]
    void = [row for row in pure if row["value"] is None]
    assert void
    assert all(row["failures"] for row in void)
    assert (finite_or_none(math.inf), finite_or_none(math.nan), finite_or_none(0.5)) == (
        None,
        None,
        0.5,
    )


@each("slug", BOUND_SLUGS)
def test_an_evaluation_is_the_value_of_the_bound_and_of_its_terms(slug: str) -> None:
    row = bound(slug)
    scenario = replace(SMALL, problem=row.card.problems[0], methods=())
    if row.refusal(bound_setting(scenario, row)):  # The bound is about other sets.
        assert math.isnan(evaluate(scenario, row).value)
        on_sets = (replace(scenario, d=10, geometry=kind, q=q) for kind, q in OTHER_SETS)
        scenario = next(at for at in on_sets if not row.refusal(bound_setting(at, row)))
    evaluation = evaluate(scenario, row, x=7.0)
    setting = bound_setting(scenario, row)
    assert (setting.law is not None) == row.card.of_law
    plan = None
    if row.parameters == "run" and not evaluation.failures:
        plan = planned(scenario, row.card.method)
    if row.parameters != "run" or plan is not None:
        assert evaluation.value == row.value(setting, plan)
        assert evaluation.terms == row.terms(setting, plan)
    assert evaluation.x == 7.0
    assert [e.bound.card.slug for e in evaluate_all(scenario, [slug])] == [slug]


def test_a_bound_is_evaluated_at_its_own_instance_only() -> None:
    hard = replace(SMALL, distribution="hypercube")
    fitting, unfitting = bound("lower.mean.hypercube-cdp"), bound("lower.mean.fano-cdp")
    probability = hard.setting.spike_probability
    assert probability is not None
    assert bound_setting(hard, fitting).spike_probability == probability
    assert bound_setting(hard, unfitting).spike_probability is None
    assert bound_setting(SMALL, fitting).spike_probability is None


@pytest.mark.parametrize(
    ("problem", "fitting", "unfitting"),
    [
        (
            "linear",
            "lower.sco.hypercube-cdp",
            ("lower.sco.fano-cdp", "lower.sco-strong.hypercube-cdp", "lower.mean.hypercube-cdp"),
        ),
        (
            "quadratic",
            "lower.sco-strong.hypercube-cdp",
            ("lower.sco.hypercube-cdp", "lower.mean.hypercube-cdp"),
        ),
        ("huber", None, ("lower.sco.hypercube-cdp", "lower.sco-strong.hypercube-cdp")),
    ],
)
def test_a_bound_on_a_risk_is_evaluated_at_the_instance_of_its_own_problem_only(
    problem: str, fitting: str | None, unfitting: tuple[str, ...]
) -> None:
    hard = replace(SMALL_RISK, problem=problem, distribution="hypercube", methods=())
    probability = hard.setting.spike_probability
    assert probability is not None
    if fitting is not None:
        assert bound_setting(hard, bound(fitting)).spike_probability == probability
    for slug in unfitting:
        assert bound_setting(hard, bound(slug)).spike_probability is None


def test_an_unknown_bound_is_refused() -> None:
    with pytest.raises(InvalidInput, match="bound must be one of"):
        evaluate_all(SMALL, ["lower.mean.none"])


def test_a_run_has_the_stated_keys() -> None:
    scenario = replace(SMALL, methods=MEAN_METHODS)
    document = run(scenario)
    assert set(document) == {"scenario", "results", "bounds"}
    assert Scenario.from_dict(document["scenario"]) == scenario
    assert document["bounds"] == parse_strictly(bounds_json(scenario))["bounds"]
    assert [row["method"] for row in document["results"]] == list(MEAN_METHODS)
    for row in document["results"]:
        assert row.keys() >= RESULT_KEYS
        assert list(row["quantiles"]) == ["0.1", "0.25", "0.75", "0.9"]
        assert row["x"] is None
        assert row["not_applicable"] is None
        assert row["trials"] == 5
        assert row["evaluation_standard_error"] == 0
        low, *_, high = row["quantiles"].values()
        assert low <= row["median_error"] <= high
    spent = {row["method"]: row["spent"] for row in document["results"]}
    assert spent["mean.sample"] is None
    assert spent["mean.clipped"] == {"kind": "approx", "epsilon": 1, "delta": 1e-6}


@pytest.mark.parametrize("problem", [p for p in PROBLEM_SLUGS if p != "mean"])
def test_a_run_of_optimisers_has_the_stated_keys(problem: str) -> None:
    scenario = replace(SMALL_RISK, problem=problem)
    outcomes = list(study(scenario))
    document = parse_strictly(run_json(scenario, outcomes))
    assert set(document) == {"scenario", "results", "bounds"}
    assert Scenario.from_dict(document["scenario"]) == scenario
    assert document["bounds"] == parse_strictly(bounds_json(scenario))["bounds"]
    assert [row["method"] for row in document["results"]] == list(scenario.methods)
    largest = {
        m: max(o.error_uncertainty for o in outcomes if o.method == m) for m in SMALL_RISK.methods
    }
    for row in document["results"]:
        assert row.keys() >= RESULT_KEYS
        assert row["evaluation_standard_error"] == largest[row["method"]]
        assert row["not_applicable"] is None
        assert row["trials"] == 3
        assert 0 < row["mean_error"] < 10
        assert row["diagnostics"]
    plain_run, private = document["results"]
    assert plain_run["spent"] is None
    assert private["spent"] == {"kind": "approx", "epsilon": 1, "delta": 1e-6}
    assert private["bound_by"] == ["zcdp", "approx"]


def test_an_optimiser_that_does_not_apply_has_nulls_and_its_reason() -> None:
    (row,) = run(replace(SMALL_RISK, methods=("sco.cwme-strong",)))["results"]
    assert "strongly convex" in row["not_applicable"]
    assert row["mean_error"] is row["median_error"] is row["standard_error"] is row["spent"] is None
    assert row["trials"] == row["evaluation_standard_error"] == 0


def test_a_run_reports_the_numbers_of_the_summary() -> None:
    outcomes = list(study(SMALL))
    table = summary(frame(outcomes)).to_dict("records")
    for row, measurement in zip(run_json(SMALL, outcomes)["results"], table, strict=True):
        for name in ("method", "trials", "mean_error", "median_error", "standard_error"):
            assert row[name] == measurement[name]
        assert list(row["quantiles"].values()) == [measurement[f"q{q}"] for q in (10, 25, 75, 90)]


def test_a_method_that_does_not_apply_has_nulls_and_its_reason() -> None:
    (row,) = run(replace(SMALL, delta=0.0, methods=("mean.clipped",)))["results"]
    assert row["trials"] == 0
    assert "cannot give pure DP" in row["not_applicable"]
    assert row["mean_error"] is row["median_error"] is row["standard_error"] is None
    assert set(row["quantiles"].values()) == {None}
    assert row["spent"] is None


def test_one_trial_has_no_standard_error() -> None:
    for row in run(replace(SMALL, trials=1))["results"]:
        assert row["standard_error"] is None
        assert row["mean_error"] == row["median_error"]


def test_a_run_does_not_depend_on_the_order_of_its_outcomes() -> None:
    scenario = replace(SMALL, axis="n", grid=(50, 60, 70))
    outcomes = list(study(scenario))
    shuffled = [outcomes[i] for i in np.random.default_rng(0).permutation(len(outcomes))]
    assert json.dumps(run_json(scenario, shuffled)) == json.dumps(run_json(scenario, outcomes))
    pairs = [(row["x"], row["method"]) for row in run_json(scenario, shuffled)["results"]]
    assert pairs == [(x, method) for x in scenario.grid for method in scenario.methods]


def test_a_part_of_a_run_reports_the_trials_that_it_has() -> None:
    outcomes = list(study(SMALL))[:4]
    results = run_json(SMALL, outcomes)["results"]
    assert [row["trials"] for row in results] == [2, 1, 1]
    assert run_json(SMALL, [])["results"] == []


def test_a_run_repeats_itself_apart_from_its_seconds() -> None:
    def timeless(document: dict[str, Any]) -> dict[str, Any]:
        """Return the report without running times."""
        rows = [{k: v for k, v in row.items() if k != "seconds"} for row in document["results"]]
        return document | {"results": rows}

    assert timeless(run(SMALL)) == timeless(run(SMALL))
    assert timeless(run(SMALL_RISK)) == timeless(run(SMALL_RISK))


def test_the_cost_grows_with_the_work() -> None:
    small, large = cost(SMALL), cost(replace(SMALL, n=20_000, trials=10))
    assert small.cells == SMALL.cells == 15
    assert 0 < small.largest_cell < small.seconds < large.seconds
    assert cost(replace(SMALL, trials=10)).seconds == pytest.approx(2 * small.seconds)
    swept = cost(replace(SMALL, axis="n", grid=(200, 20_000)))
    single = cost(replace(SMALL, n=20_000))
    assert swept.seconds == pytest.approx(small.seconds + single.seconds)
    assert swept.largest_cell == single.largest_cell
    assert machine_speed() > 0


def test_work_above_a_limit_is_refused_with_what_would_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dpsco_core.runs.cost.machine_speed", lambda: 1.0)
    assert too_large(SMALL, DASHBOARD) == ""
    heavy = replace(SMALL, n=1_000_000, d=2, trials=200, methods=MEAN_METHODS)
    allowed = replace(DASHBOARD, seconds=cost(heavy).seconds / 10.5)
    sentence = too_large(heavy, allowed)
    assert "the dashboard allows" in sentence
    assert "use at most 19 trials, a smaller n or d, or the command line." in sentence
    assert too_large(replace(heavy, trials=19), allowed) == ""
    single_trial = replace(heavy, trials=1)
    single = too_large(single_trial, replace(DASHBOARD, seconds=cost(single_trial).seconds / 2))
    assert "trials" not in single
    assert single.endswith("use a smaller n or d, or the command line.")
