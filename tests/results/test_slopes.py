"""Slopes of errors: intervals that cover, and verdicts that accept every sum of a rate's terms.

Coverage is counted over 600 simulated fits with fixed seeds; a count is outside its limits with
probability 1e-6 where the coverage is what the test states.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, linregress

import dpsco_core
from dpsco_core.catalogue import METHODS, bound, method_card
from dpsco_core.results import tables
from dpsco_core.results.slopes import (
    COLUMNS,
    CONSISTENT,
    CONSISTENT_UPPER_BOUND,
    CONTRADICTED,
    TOO_FEW,
    TOO_WIDE,
    FittedSlope,
    Verdict,
    fit_errors,
    line_slope,
    rate_range,
    slopes,
    verdict,
)
from dpsco_core.results.tables import frame
from dpsco_core.runs.study import Outcome, study
from dpsco_core.scenario import Scenario

Array = NDArray[np.float64]
FITS = 600
SWEPT = Scenario(axis="n", grid=(100, 300, 1000, 3000, 10_000), methods=("mean.sample",))
GRID = (500, 1000, 5000)


def cells_of(errors: Array, grid: tuple[float, ...], method: str = "mean.sample") -> pd.DataFrame:
    """Return cells of a method from an array of errors with one row per trial."""
    rows = [
        {"method": method, "name": "", "x": float(x), "trial": trial, "error": error}
        for trial, row in enumerate(errors)
        for x, error in zip(grid, row, strict=True)
    ]
    return pd.DataFrame(rows)


def power_law(
    scenario: Scenario, exponent: float, noise: float = 0.0, trials: int = 4
) -> pd.DataFrame:
    """Return cells whose errors follow a power of the axis, with log-normal noise."""
    rng = np.random.default_rng(0)
    x = np.array(scenario.grid)
    return cells_of(
        3 * x**exponent * np.exp(noise * rng.standard_normal((trials, len(x)))),
        scenario.grid,
        scenario.methods[0],
    )


@pytest.mark.parametrize("exponent", [-1.0, -0.5, 0.0, 0.75])
def test_the_exponent_of_a_power_law_is_recovered(exponent: float) -> None:
    (row,) = slopes(SWEPT, power_law(SWEPT, exponent)).to_dict("records")
    assert row["fitted"] == pytest.approx(exponent, abs=1e-12)
    assert row["low"] == pytest.approx(exponent, abs=1e-10) == pytest.approx(row["high"])
    assert row["points"] == 5


def test_the_fit_is_the_least_squares_line_through_the_means() -> None:
    rng = np.random.default_rng(3)
    x, errors = np.sort(rng.uniform(1, 100, 9)), rng.lognormal(size=(20, 9))
    expected = linregress(np.log(x), np.log(errors.mean(axis=0))).slope
    assert line_slope(x, errors.mean(axis=0)) == pytest.approx(expected, rel=1e-12)
    assert fit_errors(x, errors).fitted == pytest.approx(expected, rel=1e-12)


def draw_mean_errors(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Draw errors of a normal mean in three dimensions, divided by their expectation, of the given
    shape.
    """
    lengths: Array = np.linalg.norm(rng.standard_normal((*shape, 3)), axis=2) / math.sqrt(
        8 / math.pi
    )
    return lengths


def draw_heavy_errors(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Draw errors with tail index 2.5, divided by their expectation, of the given shape."""
    return (1 + rng.pareto(2.5, shape)) / (2.5 / 1.5)


def draw_excess_risks(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Draw excess risks with expectation 1, squared lengths in four dimensions, of the
    given shape.
    """
    return rng.gamma(2, 0.5, shape)


def draw_paired_errors(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Draw errors whose trials (rows) share one data set at all points (columns), as along the
    budget, with similar noise.
    """
    method_errors = rng.lognormal(-0.08, 0.4, (shape[0], 1)) * rng.lognormal(-0.005, 0.1, shape)
    return np.asarray(method_errors)


@pytest.mark.parametrize(
    "law", [draw_mean_errors, draw_heavy_errors, draw_excess_risks, draw_paired_errors]
)
@pytest.mark.parametrize(("grid", "trials"), [(GRID, 5), (GRID, 20), (SWEPT.grid, 20)])
def test_the_interval_covers_the_true_slope_in_600_fits_even_with_three_points(
    law: Callable[[np.random.Generator, tuple[int, int]], Array],
    grid: tuple[int, ...],
    trials: int,
) -> None:
    rng = np.random.default_rng(0)
    x = np.array(grid, dtype=float)
    covered = 0
    for _ in range(FITS):
        errors = x**-0.5 * law(rng, (trials, len(x)))
        fit = fit_errors(x, errors)
        covered += fit.low <= -0.5 <= fit.high
    # The coverage is 95 %, or at least 91 % given the skewness of few errors. Fewer than 506
    # covered fits have probability 1e-6 at 91 %, more than 593 at 95 %.
    assert binom.ppf(1e-6, FITS, 0.91) <= covered <= binom.ppf(1 - 1e-6, FITS, 0.95)


def test_the_interval_comes_from_the_trials_and_not_from_the_straightness_of_the_curve() -> None:
    """With three points a line leaves one degree of freedom, so intervals by straightness were
    random.
    """
    rng = np.random.default_rng(1)
    x = np.array(GRID, dtype=float)
    straight = x**-0.5 * draw_mean_errors(rng, (50, 3))
    bent = straight * np.array([1.0, 1.3, 1.0])
    widths = []
    for errors in (straight, bent):
        fit = fit_errors(x, errors)
        widths.append(fit.high - fit.low)
    assert widths[1] == pytest.approx(widths[0], rel=1e-9) and widths[0] < 0.2
    repeated = fit_errors(x, np.tile(straight, (4, 1)))
    assert repeated.high - repeated.low == pytest.approx(widths[0] / 2, rel=0.05)


def test_trials_that_share_their_data_are_treated_jointly() -> None:
    """Along the budget every point has the same records, so the errors' shared part is no noise."""
    rng = np.random.default_rng(2)
    x = np.array(GRID, dtype=float)
    errors = x**-0.5 * rng.lognormal(0, 0.5, (30, 1)) * np.ones(3)
    fit = fit_errors(x, errors)
    assert fit.high - fit.low < 1e-9
    unpaired = np.column_stack([rng.permutation(column) for column in errors.T])
    unpaired_fit = fit_errors(x, unpaired)
    assert unpaired_fit.high - unpaired_fit.low > 0.1


def test_one_trial_has_no_interval_and_no_verdict_of_its_own() -> None:
    (row,) = slopes(SWEPT, power_law(SWEPT, -0.4, trials=1)).to_dict("records")
    assert row["fitted"] == pytest.approx(-0.4) and math.isnan(row["low"])
    assert row["verdict"] == TOO_WIDE


def test_the_slope_does_not_depend_on_the_order_of_the_points() -> None:
    cells = power_law(SWEPT, -0.4, noise=0.2)
    table, reversed_table = slopes(SWEPT, cells), slopes(SWEPT, cells.iloc[::-1])
    pd.testing.assert_frame_equal(table, reversed_table, check_exact=True)


def test_a_trial_that_is_not_done_and_a_point_without_errors_are_left_out() -> None:
    cells = power_law(SWEPT, -1.0)
    cells = cells[(cells["trial"] < 3) | (cells["x"] < 1000)]  # The last trial is still running.
    cells.loc[cells["x"] == 300, "error"] = 0.0
    cells.loc[cells["x"] == 3000, "error"] = math.nan  # The method was refused at this point.
    (row,) = slopes(SWEPT, cells).to_dict("records")
    assert row["points"] == 3 and row["fitted"] == pytest.approx(-1.0, abs=1e-12)


def test_the_sample_mean_of_a_real_study_falls_like_one_over_the_root_of_n() -> None:
    scenario = replace(SWEPT, distribution="gaussian", trials=200, d=4, seed=1)
    (row,) = slopes(scenario, frame(study(scenario))).to_dict("records")
    assert row["fitted"] == pytest.approx(-0.5, abs=0.05)
    assert row["low"] < -0.5 < row["high"] < row["low"] + 0.1
    assert row["verdict"] == CONSISTENT


def terms_of(scenario: Scenario, slug: str) -> Array:
    """Return the values of a bound's terms along the axis, one term a row."""
    terms_at = [bound(slug).terms(scenario.at(x).setting) for x in scenario.grid]
    return np.array([[t[name] for t in terms_at] for name in terms_at[0]])


@pytest.mark.parametrize(
    ("axis", "grid", "expected"),
    [
        ("n", (100, 1000, 10_000), (-1 + 1 / 4, -0.5)),
        ("d", (5, 20, 50), (0.5, 1 - 1 / 8)),
        ("epsilon", (0.1, 0.3, 1), (-1 + 1 / 4, 0.0)),
    ],
)
def test_the_prediction_is_the_range_of_the_slopes_of_the_terms(
    axis: Any, grid: tuple[float, ...], expected: tuple[float, float]
) -> None:
    """At p = 4 coordinate-wise clipping has the term sqrt(d/n) by sampling, and sqrt(d) (sqrt(d)/(n
    eps))^(3/4) by privacy.
    """
    scenario = replace(SWEPT, axis=axis, grid=grid, methods=("mean.cwme-cdp",), p=4)
    (row,) = slopes(scenario, power_law(scenario, -0.3)).to_dict("records")
    assert row["bound"] == "upper.mean.cwme-cdp"
    # The privacy term contains a logarithm, and a budget's rho is not quite a power of epsilon.
    term_slopes = [line_slope(np.array(grid), t) for t in terms_of(scenario, row["bound"])]
    assert (row["predicted_low"], row["predicted_high"]) == pytest.approx(
        (min(term_slopes), max(term_slopes)), abs=1e-9
    )
    assert (min(term_slopes), max(term_slopes)) == pytest.approx(expected, abs=0.06)


RATES = [m.card for m in METHODS if m.card.rate]


@pytest.mark.parametrize("card", RATES, ids=lambda c: c.slug)
def test_no_sum_of_a_rates_terms_lies_outside_its_range_whatever_the_constants(card: Any) -> None:
    rng = np.random.default_rng(0)
    for axis, grid in (("n", (300, 1000, 5000, 50_000)), ("d", (4, 16, 64)), ("epsilon", GRID)):
        scenario = Scenario(
            problem=card.problems[0],
            methods=(card.slug,),
            m=10 if card.level == "user" else 1,
            axis=axis,  # type: ignore[arg-type]
            grid=tuple(x / 1000 for x in grid) if axis == "epsilon" else grid,
        )
        x = np.array(scenario.grid, dtype=float)
        low, high = rate_range(scenario, card.rate, x)
        terms = terms_of(scenario, card.rate)
        if not np.isfinite(terms).all():
            assert math.isnan(low)
            continue
        for share in rng.lognormal(0, 3, (20, len(terms))):
            for whole in (share @ terms, np.max(share[:, None] * terms, axis=0)):
                assert low - 1e-9 <= line_slope(x, whole) <= high + 1e-9


def test_a_rate_that_is_void_or_not_published_predicts_nothing() -> None:
    void = replace(SWEPT, methods=("mean.coinpress",))
    (row,) = slopes(void, power_law(void, -0.5)).to_dict("records")
    assert row["verdict"] == "" and math.isnan(row["predicted_low"]) and row["bound"] == ""
    assert math.isnan(rate_range(SWEPT, "upper.sco.phased-sgd", np.array(SWEPT.grid))[0])


def fit(low: float, high: float, points: int = 3) -> FittedSlope:
    """Return a fitted slope with this interval."""
    return FittedSlope(fitted=(low + high) / 2, low=low, high=high, points=points)


def test_every_verdict_has_its_case_and_no_theorem_fails() -> None:
    assert set(get_args(Verdict)) == {
        "consistent with the rate",
        "consistent with an upper bound",
        "contradicts the rate if it persists",
        "too few points to say",
        "more trials would tell",
        "an error of 0 has no slope",
        "without points of error 0",
    }
    assert verdict(fit(-0.8, -0.7), -0.75, -0.5) == CONSISTENT
    assert verdict(fit(-0.6, -0.55), -0.75, -0.5) == CONSISTENT
    assert verdict(fit(-0.9, -0.8), -0.75, -0.5) == CONSISTENT_UPPER_BOUND
    assert verdict(fit(-0.4, -0.1), -0.75, -0.5) == CONTRADICTED
    assert verdict(fit(1.1, 1.2), 0.5, 1) == CONTRADICTED
    assert verdict(fit(0.1, 0.2), 0.5, 1) == CONSISTENT_UPPER_BOUND
    assert verdict(fit(-1.24, -0.08), -0.75, -0.5) == TOO_WIDE
    assert verdict(fit(-0.6, -0.5, points=2), -0.75, -0.5) == TOO_FEW
    assert verdict(fit(-0.6, -0.5), math.nan, math.nan) is None


def test_a_verdict_never_contradicts_the_digits_beside_it() -> None:
    """The sample mean at -0.51 (-0.51 to -0.50) is not called steeper than -0.50."""
    assert verdict(fit(-0.514, -0.5024), -0.5, -0.5) == CONSISTENT
    assert verdict(fit(-0.524, -0.512), -0.5, -0.5) == CONSISTENT_UPPER_BOUND


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_a_sum_of_the_terms_is_rejected_in_at_most_5_of_100_fits(
    share: float,
) -> None:
    """The 600 simulated sweeps have true means that are mixtures of the terms of the rate."""
    rng = np.random.default_rng(4)
    scenario = replace(SWEPT, grid=GRID, methods=("mean.cwme-cdp",), p=4)
    x = np.array(GRID, dtype=float)
    low, high = rate_range(scenario, "upper.mean.cwme-cdp", x)
    sampling, privacy = terms_of(scenario, "upper.mean.cwme-cdp")
    mix = (1 - share) * sampling + share * privacy
    alarms = 0
    for _ in range(FITS):
        fitted = fit_errors(x, mix * draw_mean_errors(rng, (20, 3)))
        alarms += verdict(fitted, low, high) in (CONSISTENT_UPPER_BOUND, CONTRADICTED)
    # More than 58 of 600 have probability 1e-6 at the 5 % that the interval allows.
    assert alarms <= binom.ppf(1 - 1e-6, FITS, 0.05)


def test_a_slope_of_no_mix_of_the_terms_is_rejected() -> None:
    rng = np.random.default_rng(5)
    x = np.array(SWEPT.grid, dtype=float)
    verdict_counts = {CONSISTENT_UPPER_BOUND: 0, CONTRADICTED: 0}
    for exponent, expected in ((-0.7, CONSISTENT_UPPER_BOUND), (-0.3, CONTRADICTED)):
        for _ in range(100):
            cells = cells_of(x**exponent * draw_mean_errors(rng, (20, len(x))), SWEPT.grid)
            verdict_counts[expected] += slopes(SWEPT, cells)["verdict"].iloc[0] == expected
    assert min(verdict_counts.values()) == 100


@pytest.mark.parametrize(
    ("axis", "grid", "shape"),
    [
        ("d", (5, 20, 50), {"p": 50, "n": 40_000, "epsilon": 0.1}),
        ("epsilon", (0.05, 0.1, 0.2, 0.4), {"p": 50, "n": 40_000, "d": 20}),
    ],
)
def test_coordinate_wise_clipping_is_not_reported_to_break_its_rate(
    axis: Any, grid: tuple[float, ...], shape: dict[str, Any]
) -> None:
    """Gaussian data at p = 50 fit 1.00 in d and -0.9 in epsilon, like the privacy term alone."""
    scenario = Scenario(
        distribution="gaussian",
        methods=("mean.cwme-cdp",),
        axis=axis,
        grid=grid,
        trials=20,
        **shape,
    )
    (row,) = slopes(scenario, frame(study(scenario))).to_dict("records")
    assert row["verdict"] == CONSISTENT
    middle = (row["predicted_low"] + row["predicted_high"]) / 2
    assert abs(row["fitted"]) > abs(middle)  # A single slope for the whole rate would be `middle`.


def test_fewer_than_three_points_are_too_few_to_say() -> None:
    two_points = replace(SWEPT, grid=(100, 300))
    (row,) = slopes(two_points, power_law(two_points, -0.5)).to_dict("records")
    assert math.isnan(row["fitted"]) and row["points"] == 2
    single = replace(SWEPT, axis=None, grid=(), trials=1)
    assert len(slopes(single, frame(study(single)))) == 0
    assert list(slopes(SWEPT, frame([])).columns) == COLUMNS


def test_a_method_without_any_error_has_a_row_that_says_why_it_has_no_slope() -> None:
    cells = power_law(SWEPT, -1.0)
    cells["error"] = 0.0
    (row,) = slopes(SWEPT, cells).to_dict("records")
    assert row["verdict"] == "an error of 0 has no slope"
    assert math.isnan(row["fitted"]) and math.isnan(row["low"]) and row["points"] == 0


def test_the_minimiser_without_privacy_is_in_the_table_where_its_risk_is_0() -> None:
    scenario = Scenario(
        problem="linear",
        distribution="hypercube",
        methods=("sco.erm", "sco.clipped"),
        axis="n",
        grid=(1000, 2000, 4000),
        trials=4,
        d=5,
    )
    cells = frame(study(scenario))
    assert (cells.loc[(cells["method"] == "sco.erm") & (cells["x"] == 2000), "error"] == 0).all()
    rows = slopes(scenario, cells).set_index("method")
    assert list(rows.index) == ["sco.erm", "sco.clipped"]
    assert rows.loc["sco.erm", "verdict"] == "too few points to say"


@pytest.mark.parametrize(("axis", "grid"), [("p", (2, 3, 4)), ("q", (1.5, 2, 3))])
def test_an_error_along_the_exponent_has_no_power_law(axis: Any, grid: tuple[float, ...]) -> None:
    geometry = "lq" if axis == "q" else "l2"
    swept = replace(SWEPT, axis=axis, grid=grid, geometry=geometry, q=1.5 if axis == "q" else None)
    assert len(slopes(swept, power_law(swept, -0.5))) == 0


def test_a_method_that_never_runs_has_no_row() -> None:
    refused = Outcome(
        method="mean.sample", x=100.0, trial=0, error=math.nan, seconds=0.0, spent=None,
        not_applicable="No.",
    )  # fmt: skip
    assert len(slopes(SWEPT, frame([refused]))) == 0
    assert method_card("mean.sample").name


def test_the_columns_of_a_summary_are_listed_once() -> None:
    text = Path(tables.__file__).read_text(encoding="utf-8")
    assert text.count("\nSUMMARY_COLUMNS = ") == 1
    assert dpsco_core.slopes is slopes
