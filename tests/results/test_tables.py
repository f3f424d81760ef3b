"""Frames and summaries: exact arithmetic, whatever the order of the cells."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpsco_core.catalogue import method_card, methods_for
from dpsco_core.privacy import ZCDP, ApproxDP, PureDP
from dpsco_core.results.exact import with_exact_errors
from dpsco_core.results.intervals import run_json
from dpsco_core.results.measured import measured
from dpsco_core.results.tables import (
    COLUMNS,
    QUANTILES,
    SUMMARY_COLUMNS,
    frame,
    summary,
)
from dpsco_core.runs.store import budget_fields
from dpsco_core.runs.study import Outcome, study
from dpsco_core.scenario import Scenario

SMALL = Scenario(n=200, d=3, trials=7, seed=2)


def outcome(error: float, *, trial: int = 0, x: float | None = None, **fields: object) -> Outcome:
    """Return the outcome of one trial with this error."""
    filled = {"method": "mean.sample", "seconds": 0.5, "spent": None} | fields
    return Outcome(error=error, trial=trial, x=x, **filled)  # type: ignore[arg-type]


def test_a_frame_has_one_row_per_cell() -> None:
    scenario = replace(SMALL, axis="n", grid=(50, 60), trials=2)
    outcomes = list(study(scenario))
    cells = frame(outcomes)
    assert tuple(cells.columns) == COLUMNS
    assert len(cells) == scenario.cells
    assert list(cells["error"]) == [o.error for o in outcomes]
    assert list(cells["x"].unique()) == [50.0, 60.0]
    names = dict(zip(cells["method"], cells["name"], strict=True))
    assert names == {m: method_card(m).name for m in scenario.methods}
    assert set(cells[cells["method"] == "mean.clipped"]["spent"]) == {"(1, 1e-06)-DP"}
    assert set(cells[cells["method"] == "mean.sample"]["spent"]) == {""}


def test_no_outcomes_make_empty_tables() -> None:
    cells = frame([])
    assert list(cells.columns) == list(COLUMNS)
    assert list(summary(cells).columns) == SUMMARY_COLUMNS
    assert len(cells) == len(summary(cells)) == 0


def test_a_summary_agrees_with_numpy() -> None:
    errors = np.random.default_rng(0).lognormal(size=37)
    table = summary(frame(outcome(e, trial=i) for i, e in enumerate(errors)))
    (row,) = table.to_dict("records")
    assert row["trials"] == 37
    assert row["mean_error"] == pytest.approx(errors.mean(), rel=1e-14)
    assert row["median_error"] == pytest.approx(np.median(errors), rel=1e-14)
    assert row["standard_error"] == pytest.approx(errors.std(ddof=1) / math.sqrt(37), rel=1e-12)
    for level, name in zip(QUANTILES, ("q10", "q25", "q75", "q90"), strict=True):
        assert row[name] == pytest.approx(np.quantile(errors, level), rel=1e-14)
    assert row["seconds"] == 0.5


def test_one_trial_has_no_standard_error() -> None:
    (row,) = summary(frame([outcome(2.0)])).to_dict("records")
    assert math.isnan(row["standard_error"])
    assert row["mean_error"] == row["q10"] == row["q90"] == 2.0


def test_the_numbers_do_not_depend_on_the_order_of_the_cells() -> None:
    chosen = replace(SMALL, methods=methods_for("mean"), axis="d", grid=(2, 3, 4), trials=5)
    outcomes = list(study(chosen))
    table = summary(frame(outcomes)).set_index(["method", "x"])
    shuffled = [outcomes[i] for i in np.random.default_rng(0).permutation(len(outcomes))]
    shuffled_summary = summary(frame(shuffled)).set_index(["method", "x"])
    pd.testing.assert_frame_equal(shuffled_summary.loc[table.index], table, check_exact=True)


def test_a_method_that_does_not_apply_keeps_its_reason() -> None:
    scenario = replace(SMALL, delta=0.0, methods=("mean.clipped", "mean.cwme-pure"))
    refused, measured_row = summary(frame(study(scenario))).to_dict("records")
    assert refused["trials"] == 0
    assert math.isnan(refused["mean_error"])
    assert "cannot give pure DP" in refused["not_applicable"]
    assert measured_row["trials"] == 7
    assert measured_row["not_applicable"] == ""


def test_rows_keep_the_order_in_which_the_methods_were_chosen() -> None:
    chosen = ("mean.smoothed", "mean.sample", "mean.clipped")
    table = summary(frame(study(replace(SMALL, methods=chosen, trials=1))))
    assert tuple(table["method"]) == chosen


@pytest.mark.parametrize(
    ("budget", "fields"),
    [
        (None, None),
        (ZCDP(rho=0.5), {"kind": "zcdp", "rho": 0.5}),
        (PureDP(epsilon=2.0), {"kind": "pure", "epsilon": 2.0}),
        (ApproxDP(epsilon=2.0, delta=0.1), {"kind": "approx", "epsilon": 2.0, "delta": 0.1}),
    ],
)
def test_a_budget_states_its_kind(budget: object, fields: object) -> None:
    assert budget_fields(budget) == fields  # type: ignore[arg-type]


def test_the_expected_error_is_in_the_summary_and_in_the_json() -> None:
    """One function computes the expected error for the figure too, and without a scenario the
    trials are averaged.
    """
    hard = Scenario(
        problem="linear",
        distribution="hypercube",
        methods=("sco.erm", "sco.clipped"),
        axis="n",
        grid=(1000, 2000),
        d=5,
        trials=3,
    )
    outcomes = list(study(hard))
    table = with_exact_errors(measured(outcomes), hard)
    rows = summary(frame(outcomes), hard).to_dict("records")
    results = run_json(hard, outcomes)["results"]
    by_trials = summary(frame(outcomes))
    assert not by_trials["exact"].any()
    for i, row in enumerate(rows):
        expected = table[row["method"], row["x"]]
        (json_row,) = [r for r in results if (r["method"], r["x"]) == (row["method"], row["x"])]
        public = row["method"] == "sco.erm"
        assert row["exact"] is json_row["exact"] is expected.exact is public
        assert row["mean_error"] == json_row["mean_error"] == expected.mean
        assert row["standard_error"] == json_row["standard_error"] == expected.standard_error
        assert (by_trials["mean_error"][i] == expected.mean) is not public
        if expected.price is not None:
            assert row["price"] == json_row["price"] == expected.price.value
    assert sum(row["exact"] for row in rows) == 2
