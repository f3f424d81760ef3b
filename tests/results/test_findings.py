"""What a sweep shows: records to halve, verdicts, ratios with their noise, the other tail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpsco_core.results.findings import (
    bend,
    changes,
    method_slope,
    ratio,
    times_to_halve,
    verdict,
    with_other_tail,
)
from dpsco_core.results.tables import interval_half_width
from dpsco_core.scenario import Scenario

SWEEP = Scenario(
    p=2, methods=("mean.sample", "mean.clipped", "mean.cwme-cdp"), axis="n", grid=(500, 1000, 5000)
)


def test_the_records_that_halve_an_error_follow_from_its_slope() -> None:
    assert times_to_halve(-0.5) == 4
    assert times_to_halve(-7 / 8) == pytest.approx(2 ** (8 / 7))
    assert times_to_halve(-0.01) == times_to_halve(0.3) == np.inf


def test_the_other_tail_is_one_private_method_whose_rate_moves_on_the_same_trials() -> None:
    other = with_other_tail(SWEEP)
    assert other == replace(SWEEP, p=8, methods=("mean.cwme-cdp",))
    light = with_other_tail(replace(SWEEP, p=8))
    assert light is not None and light.p == 2


@pytest.mark.parametrize(
    "change",
    [
        {"axis": "p", "grid": (2, 4, 8)},
        {"axis": None, "grid": ()},
        {"distribution": "hypercube"},
        {"methods": ("mean.sample",)},
        {"problem": "quadratic", "methods": ("user.clipped-means",), "m": 10},
    ],
)
def test_where_the_tail_says_nothing_there_is_no_other_one(change: dict[str, object]) -> None:
    assert with_other_tail(replace(SWEEP, **change)) is None  # type: ignore[arg-type]


def test_a_verdict_says_on_which_side_of_the_rate_the_interval_lies() -> None:
    assert verdict(-0.55, -0.45, -0.5) == "consistent"
    assert verdict(-0.9, -0.6, -0.5) == "steeper"
    assert verdict(-0.4, -0.3, -0.5) == "shallower"
    assert verdict(-0.4, -0.3, float("nan")) is None


def cells(first: list[float], second: list[float]) -> pd.DataFrame:
    rows = [
        {"method": name, "x": 10.0, "trial": i, "error": error}
        for name, errors in (("a", first), ("b", second))
        for i, error in enumerate(errors)
    ]
    return pd.DataFrame(rows)


def test_a_ratio_of_paired_errors_knows_the_noise_of_its_trials() -> None:
    twice = ratio(cells([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]), "a", "b", 10.0)
    assert twice is not None and twice.value == pytest.approx(2) and not twice.within_noise
    assert twice.low == pytest.approx(2) == pytest.approx(twice.high)  # the pairs leave no doubt
    close = ratio(cells([1.0, 2.0, 3.3], [1.1, 1.8, 3.3]), "a", "b", None)
    assert close is not None and close.within_noise
    assert ratio(cells([1.0], [2.0]), "a", "b", 10.0) is None


def test_an_interval_of_a_ratio_holds_the_true_one_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        shared = rng.lognormal(0, 0.3, 20)
        pair = cells(list(2 * shared * rng.lognormal(0, 0.1, 20)), list(shared))
        found = ratio(pair, "a", "b", 10.0)
        assert found is not None
        held += found.low <= 2 * np.exp(0.005) <= found.high
    # Binomial(400, 0.95): outside with probability 1e-6; the delta method costs a little.
    assert 352 <= held <= 399


def test_slopes_and_changes_are_of_the_means() -> None:
    table = pd.DataFrame({"method": "a", "x": [1.0, 10.0, 100.0], "mean_error": [1.0, 0.1, 0.01]})
    fitted = method_slope(table, "a")
    assert fitted is not None and fitted[0] == pytest.approx(-1)
    assert method_slope(table.head(2), "a") is None
    assert changes(table, "a") == [(10.0, pytest.approx(0.1)), (100.0, pytest.approx(0.1))]


def test_a_curve_that_bends_has_two_slopes_and_a_straight_one_has_none() -> None:
    x = np.array([500, 1000, 2000, 5000, 10_000, 20_000, 50_000], dtype=float)
    noise = np.random.default_rng(0).normal(0, 0.02, (300, len(x)))

    def found(y: np.ndarray) -> list[object]:
        tables = (pd.DataFrame({"method": "a", "x": x, "mean_error": y * np.exp(e)}) for e in noise)
        return [bend(table, "a") for table in tables]

    kinked = np.where(x < 5000, x**-0.2, 5000**0.6 * x**-0.8)
    seen = [b for b in found(kinked) if b is not None]
    assert len(seen) > 150
    assert all(b.before > -0.45 and b.after < -0.5 for b in seen)  # type: ignore[attr-defined]
    exact = bend(pd.DataFrame({"method": "a", "x": x, "mean_error": kinked}), "a")
    assert exact is not None and exact.at == 5000
    assert (exact.before, exact.after) == (pytest.approx(-0.2), pytest.approx(-0.8))
    straight = sum(b is not None for b in found(x**-0.5))
    assert straight <= 15  # 5 % of the straight lines
    assert bend(pd.DataFrame({"method": "a", "x": x[:4], "mean_error": kinked[:4]}), "a") is None


def test_half_an_interval_is_students() -> None:
    assert interval_half_width(1.0, 10) == pytest.approx(2.262, abs=1e-3)
    assert interval_half_width(float("nan"), 1) == 0
