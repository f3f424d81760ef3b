"""Findings of a sweep: the records that halve an error, and the same study with the other tail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.results.findings import (
    times_to_halve,
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


def test_the_other_tail_is_the_same_study_on_the_same_trials() -> None:
    assert with_other_tail(SWEEP) == replace(SWEEP, p=10)
    light = with_other_tail(replace(SWEEP, p=10))
    assert light is not None and light.p == 2


@pytest.mark.parametrize(
    "change",
    [
        {"axis": "p", "grid": (2, 4, 8)},
        {"distribution": "hypercube"},
    ],
)
def test_a_study_that_ignores_the_tail_has_no_other_tail(change: dict[str, object]) -> None:
    assert with_other_tail(replace(SWEEP, **change)) is None  # type: ignore[arg-type]


def test_half_the_width_of_an_interval_is_students() -> None:
    assert interval_half_width(1.0, 10) == pytest.approx(2.262, abs=1e-3)
    assert interval_half_width(float("nan"), 1) == 0
