"""Frames, summaries and slopes: exact arithmetic, and intervals that cover."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, linregress

from dpsco_core.catalogue import bound, method_card, methods_for
from dpsco_core.privacy import ZCDP, ApproxDP, PureDP
from dpsco_core.results.tables import (
    COLUMNS,
    QUANTILES,
    SLOPE_COLUMNS,
    SUMMARY_COLUMNS,
    fit_slope,
    frame,
    slopes,
    summary,
)
from dpsco_core.runs.store import budget_fields
from dpsco_core.runs.study import Outcome, study
from dpsco_core.scenario import Scenario

SMALL = Scenario(n=200, d=3, trials=7, seed=2)


def outcome(error: float, *, trial: int = 0, x: float | None = None, **more: object) -> Outcome:
    filled = {"method": "mean.sample", "seconds": 0.5, "spent": None} | more
    return Outcome(error=error, trial=trial, x=x, **filled)  # type: ignore[arg-type]


def power_law(
    scenario: Scenario, exponent: float, noise: float = 0.0, seed: int = 0
) -> pd.DataFrame:
    """Cells whose median errors follow a power of the axis, with log-normal noise."""
    rng = np.random.default_rng(seed)
    return frame(
        outcome(3 * x**exponent * math.exp(noise * rng.standard_normal()), x=x)
        for x in scenario.grid
    )


# -- frames ---------------------------------------------------------------------------------------


def test_a_frame_has_one_row_a_cell() -> None:
    scenario = replace(SMALL, axis="n", grid=(50, 60), trials=2)
    outcomes = list(study(scenario))
    cells = frame(outcomes)
    assert tuple(cells.columns) == COLUMNS
    assert len(cells) == scenario.cells
    assert list(cells["error"]) == [o.error for o in outcomes]
    assert list(cells["x"].unique()) == [50.0, 60.0]
    named = dict(zip(cells["method"], cells["name"], strict=True))
    assert named == {m: method_card(m).name for m in scenario.methods}
    assert set(cells[cells["method"] == "mean.clipped"]["spent"]) == {"(1, 1e-06)-DP"}
    assert set(cells[cells["method"] == "mean.sample"]["spent"]) == {""}


def test_no_outcomes_make_empty_tables() -> None:
    cells = frame([])
    assert list(cells.columns) == list(COLUMNS)
    assert list(summary(cells).columns) == SUMMARY_COLUMNS
    assert list(slopes(SMALL, cells).columns) == SLOPE_COLUMNS
    assert len(cells) == len(summary(cells)) == len(slopes(SMALL, cells)) == 0


# -- summaries ------------------------------------------------------------------------------------


def test_a_summary_is_what_numpy_says() -> None:
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
    again = summary(frame(shuffled)).set_index(["method", "x"])
    pd.testing.assert_frame_equal(again.loc[table.index], table, check_exact=True)


def test_a_method_that_does_not_apply_keeps_its_reason() -> None:
    scenario = replace(SMALL, delta=0.0, methods=("mean.clipped", "mean.cwme-pure"))
    refused, ran = summary(frame(study(scenario))).to_dict("records")
    assert refused["trials"] == 0
    assert math.isnan(refused["mean_error"])
    assert "cannot give pure DP" in refused["not_applicable"]
    assert ran["trials"] == 7
    assert ran["not_applicable"] == ""


def test_rows_keep_the_order_in_which_the_methods_were_chosen() -> None:
    chosen = ("mean.smoothed", "mean.sample", "mean.clipped")
    table = summary(frame(study(replace(SMALL, methods=chosen, trials=1))))
    assert tuple(table["method"]) == chosen


# -- slopes ---------------------------------------------------------------------------------------

SWEPT = Scenario(axis="n", grid=(100, 300, 1000, 3000, 10_000), methods=("mean.sample",))


@pytest.mark.parametrize("exponent", [-1.0, -0.5, 0.0, 0.75])
def test_the_exponent_of_a_power_law_is_recovered(exponent: float) -> None:
    (row,) = slopes(SWEPT, power_law(SWEPT, exponent)).to_dict("records")
    assert row["fitted"] == pytest.approx(exponent, abs=1e-12)
    assert row["low"] == pytest.approx(exponent, abs=1e-10)
    assert row["high"] == pytest.approx(exponent, abs=1e-10)
    assert row["points"] == 5


def test_the_fit_agrees_with_scipy() -> None:
    rng = np.random.default_rng(3)
    x, y = np.sort(rng.uniform(1, 100, 9)), rng.lognormal(size=9)
    slope, low, high = fit_slope(x, y)
    other = linregress(np.log(x), np.log(y))
    assert slope == pytest.approx(other.slope, rel=1e-12)
    assert (high - low) / 2 == pytest.approx(2.364624251592785 * other.stderr, rel=1e-9)  # t, 7
    assert low < slope < high


def test_intervals_cover_the_exponent_in_95_of_100_cases() -> None:
    x, repeats = np.array(SWEPT.grid), 4000
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(repeats):
        _, low, high = fit_slope(x, x**-0.5 * np.exp(0.1 * rng.standard_normal(len(x))))
        covered += low <= -0.5 <= high
    # Both tails of the exact binomial law, one in a million together.
    least, most = binom.ppf([5e-7, 1 - 5e-7], repeats, 0.95)
    assert least <= covered <= most


@pytest.mark.parametrize(
    ("axis", "grid", "expected"),
    [("n", (100, 1000, 10_000), -0.5), ("d", (2, 8, 32), 0.5), ("epsilon", (0.1, 1, 10), 0.0)],
)
def test_the_prediction_is_the_exponent_of_the_rate(
    axis: str, grid: tuple[float, ...], expected: float
) -> None:
    scenario = replace(SWEPT, axis=axis, grid=grid)  # type: ignore[arg-type]
    (row,) = slopes(scenario, power_law(scenario, -0.3)).to_dict("records")
    assert row["predicted"] == pytest.approx(expected, abs=1e-9)
    assert row["bound"] == "upper.mean.sample"


def test_the_prediction_of_a_private_method_is_that_of_its_own_rate() -> None:
    scenario = replace(SWEPT, methods=("mean.cwme-cdp",), p=4)
    cells = frame(outcome(x**-0.7, x=x, method="mean.cwme-cdp") for x in scenario.grid)
    (row,) = slopes(scenario, cells).to_dict("records")
    card = method_card("mean.cwme-cdp")
    rate = [bound(card.rate).value(scenario.at(x).setting) for x in scenario.grid]
    expected = np.polyfit(np.log(scenario.grid), np.log(rate), 1)[0]
    assert row["predicted"] == pytest.approx(expected, rel=1e-9)
    assert -0.75 <= row["predicted"] <= -0.5  # between the terms n^-(1-1/p) and n^-1/2
    assert row["bound"] == card.rate


def test_the_slope_does_not_depend_on_the_order_of_the_points() -> None:
    cells = power_law(SWEPT, -0.4, noise=0.2)
    one, other = slopes(SWEPT, cells), slopes(SWEPT, cells.iloc[::-1])
    pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_fewer_than_three_points_have_no_slope() -> None:
    two = replace(SWEPT, grid=(100, 300))
    assert len(slopes(two, power_law(two, -0.5))) == 0
    assert len(slopes(SMALL, frame(study(replace(SMALL, trials=1))))) == 0


def test_points_where_a_method_does_not_run_or_errs_by_zero_are_left_out() -> None:
    errors = (1.0, 0.0, 0.1, math.nan, 0.01)
    cells = frame(
        outcome(e, x=x, not_applicable="No." if math.isnan(e) else None)
        for x, e in zip(SWEPT.grid, errors, strict=True)
    )
    (row,) = slopes(SWEPT, cells).to_dict("records")
    assert row["points"] == 3
    assert row["fitted"] == pytest.approx(-1.0, abs=1e-12)


def test_the_sample_mean_of_a_real_study_falls_like_one_over_the_root_of_n() -> None:
    scenario = replace(SWEPT, distribution="gaussian", trials=200, d=4, seed=1)
    (row,) = slopes(scenario, frame(study(scenario))).to_dict("records")
    # Medians of 200 errors vary by about 3 %; over four units of log n the slope by about 0.01.
    assert row["fitted"] == pytest.approx(-0.5, abs=0.05)


# -- budgets --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "fields"),
    [
        (None, None),
        (ZCDP(rho=0.5), {"kind": "zcdp", "rho": 0.5}),
        (PureDP(epsilon=2.0), {"kind": "pure", "epsilon": 2.0}),
        (ApproxDP(epsilon=2.0, delta=0.1), {"kind": "approx", "epsilon": 2.0, "delta": 0.1}),
    ],
)
def test_a_budget_says_its_kind(budget: object, fields: object) -> None:
    assert budget_fields(budget) == fields  # type: ignore[arg-type]


@pytest.mark.parametrize(("axis", "grid"), [("p", (2, 3, 4)), ("q", (1.5, 2, 3))])
def test_an_error_is_no_power_of_an_exponent(axis: Any, grid: tuple[float, ...]) -> None:
    geometry = "lq" if axis == "q" else "l2"
    swept = replace(SWEPT, axis=axis, grid=grid, geometry=geometry, q=1.5 if axis == "q" else None)
    assert len(slopes(swept, power_law(swept, -0.5))) == 0
