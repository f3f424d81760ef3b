"""The sentence: its numbers are the table's, and it never claims too much."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsco_app.pages.explore.details import numbers
from dpsco_app.pages.explore.figure import statement
from dpsco_app.pages.explore.presets import PRESETS
from dpsco_app.parts.words import Statement, state, times
from dpsco_core.results.report import evaluate_all
from dpsco_core.scenario import Scenario
from tests.app.pages import numbers_in
from tests.app.results import FLOORS, SWEEP, bounds, run, table

CDP = {"mean.clipped": ("zcdp",), "mean.cwme-cdp": ("zcdp",)}


def say(scenario: Scenario, shrink: float = 1.0) -> Statement:
    """Return the statement, with all errors multiplied by a factor."""
    errors = table(scenario)
    errors[["mean_error", "median_error"]] *= shrink
    return state(scenario, errors, bounds(scenario, *FLOORS), CDP)


def test_the_sentences_numbers_are_those_of_the_table() -> None:
    said = say(SWEEP)
    rows = numbers(run(SWEEP)).query("n == 10000").set_index("Estimator")["Mean error"]
    best = rows.drop("Sample mean").min()
    floor = max(e.value for e in bounds(SWEEP, *FLOORS) if e.x == 10_000)
    expected = [best, best / rows["Sample mean"], best / floor]
    assert numbers_in(said.sentence) == [float(f"{v:.2g}") for v in expected]
    assert f"({floor:.2g})" in said.sentence
    assert rows.drop("Sample mean").idxmin() == "Simple clipping"
    assert said.sentence.startswith("At n = 10,000, **simple clipping** has error")
    assert said.headline.startswith("Simple clipping has 2.1 times the error of")
    assert "at n = 10,000" in said.headline


def test_a_value_off_the_grid_is_answered_at_the_nearest_point_and_said() -> None:
    said = say(replace(SWEEP, n=40_000))
    assert said.sentence.startswith("At n = 50,000 (the point nearest to the chosen 40,000),")


def test_below_a_lower_bound_ordinary_data_are_easier_than_the_worst() -> None:
    said = say(SWEEP, shrink=0.01)
    least = "below 0.075, the least that any zCDP algorithm can guarantee in the worst case"
    assert least in said.sentence
    assert said.sentence.endswith("these data are easier than that.")


@pytest.mark.parametrize("shrink", [1.0, 0.01])
def test_the_hard_data_of_a_bound_are_never_called_easier(shrink: float) -> None:
    said = say(replace(SWEEP, distribution="hypercube"), shrink)
    assert "easier" not in said.sentence
    assert "can guarantee on these data" in said.sentence
    if shrink < 1:
        assert "by the luck of 5 trials: the bound is on the mean error" in said.sentence


def test_names_keep_their_capitals_inside_the_sentence() -> None:
    scenario = replace(SWEEP, methods=("mean.cwme-pure",), delta=0.0)
    said = state(scenario, table(scenario), [], {})
    assert "**coordinate-wise, Laplace** has error" in said.sentence


def test_a_bound_that_does_not_bind_the_best_method_or_fails_is_not_mentioned() -> None:
    assert "guarantee" not in state(SWEEP, table(SWEEP), bounds(SWEEP, *FLOORS), {}).sentence
    failing = [replace(e, failures=("No.",)) for e in bounds(SWEEP, *FLOORS)]
    assert "guarantee" not in state(SWEEP, table(SWEEP), failing, CDP).sentence


def test_without_private_results_it_says_what_is_missing() -> None:
    running = state(SWEEP, table(SWEEP).head(0), [], {})
    assert running == Statement(headline="The first cells are running.", sentence="")
    open_ones = replace(SWEEP, methods=("mean.sample", "mean.median-of-means"))
    said = state(open_ones, table(open_ones), [], {})
    assert said.sentence == "Choose a private estimator to see what privacy costs."


def test_only_refused_estimators_leave_the_one_that_ran() -> None:
    scenario = replace(SWEEP, delta=0.0, methods=("mean.clipped", "mean.cwme-pure"))
    said = state(scenario, table(scenario), [], {})
    assert "**coordinate-wise, Laplace**" in said.sentence
    nobody = replace(SWEEP, delta=0.0, methods=("mean.clipped",))
    said = state(nobody, table(nobody), [], {})
    assert said.headline == "No chosen estimator can run here"
    half = replace(SWEEP, delta=0.0, methods=("mean.sample", "mean.clipped"))
    said = state(half, table(half), [], {})
    assert said.headline == "No chosen private estimator can run here"


def test_a_single_point_and_an_axis_whose_chosen_value_is_off() -> None:
    point = replace(SWEEP, axis=None, grid=())
    assert say(point).sentence.startswith("At n = 10,000, ")


def test_a_ratio_is_written_with_two_digits() -> None:
    ratios = (0.534, 0.97, 0.996, 1.04, 2.0, 9.94, 12.3, 1234.0)
    assert [times(r) for r in ratios] == [
        "0.53", "0.97", "1.0", "1.0", "2.0", "9.9", "12", "1,200",
    ]  # fmt: skip


def test_the_sentence_has_the_largest_floor_that_binds_the_method_sampling_included() -> None:
    scenario = replace(
        PRESETS[-1].scenario, grid=(10,), m=10, methods=("user.clipped-means",), trials=1
    )
    floors = [
        e
        for e in evaluate_all(scenario)
        if e.bound.card.kind == "lower"
        and e.bound.card.constant == "explicit"
        and e.bound.card.problems == ("quadratic", "least-squares")
        and e.bound.card.privacy in ("none", "zcdp")
        and not e.failures
    ]
    largest = max(floors, key=lambda e: e.value)
    private = max(e.value for e in floors if e.bound.card.privacy == "zcdp")
    assert largest.bound.card.slug == "lower.sco-strong.sampling-signs"
    assert largest.value > 2 * private, "what privacy alone proves is far from what binds"
    said = statement(run(scenario))
    worst = (
        "the least that any algorithm can guarantee in the worst case over strongly convex losses"
    )
    assert f"{worst} ({largest.value:.2g})" in said.sentence


def test_where_no_private_method_can_run_nobody_is_asked_to_choose_one() -> None:
    scenario = replace(
        Scenario(problem="logistic", methods=("sco.erm",), delta=0.0, n=200, d=2), trials=1
    )
    said = state(scenario, table(scenario), [], {})
    assert said.sentence.startswith("No private optimiser of the catalogue can run")
    approx = replace(scenario, delta=1e-6)
    assert state(approx, table(approx), [], {}).sentence.startswith("Choose a private optimiser")
