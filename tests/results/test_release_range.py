"""A release with a public range of the records: clamped, with noise for the width of the range."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsco_core import InvalidInput, Ledger, plan_release, release
from dpsco_core.cli.main import main
from dpsco_core.privacy import ZCDP
from dpsco_core.results.release.arrays import RecordShape, read_records
from dpsco_core.results.release.planned import plan_for
from dpsco_core.results.release.statements import Statements

RHO: dict[str, Any] = {"epsilon": None, "delta": None, "rho": 0.5}
RNG = np.random.default_rng(0)
AGES = RNG.uniform(18, 80, size=400)
PAIRS = np.column_stack([AGES, RNG.exponential(1000.0, size=400)])
ENDS = {"lower": [0.0, 0.0], "upper": [100.0, 5000.0]}


def test_the_noise_is_that_of_the_width_over_n() -> None:
    answer = release(AGES, lower=0.0, upper=100.0, **RHO)
    assert answer.method == "mean.clipped" and answer.spent == ZCDP(rho=0.5)
    [entry] = answer.ledger.entries
    # At rho = 1/2 the standard deviation is the sensitivity, (upper - lower)/n.
    assert answer.noise == pytest.approx([100.0 / 400])
    assert entry.sensitivity == pytest.approx(2 / 400)  # over half of the width
    assert answer.rows_interval == pytest.approx(1.959964 * answer.noise)
    of_two_columns = release(PAIRS, **ENDS, **RHO)
    assert of_two_columns.noise == pytest.approx(math.sqrt(2) * np.array([100.0, 5000.0]) / 400)


def test_the_answer_is_the_clamped_mean_plus_the_recorded_noise() -> None:
    values, interval = [], None
    wild = PAIRS.copy()
    wild[0], wild[1] = [1e300, -np.inf], [-50.0, 9000.0]
    clamped = np.clip(wild, [0.0, 0.0], [100.0, 5000.0]).mean(axis=0)
    plan = plan_release(PAIRS.shape, **ENDS, **RHO, trials=1)
    for seed in range(2000):
        answer = plan.release(wild, rng=np.random.default_rng(seed))
        values.append(answer.value)
        interval = answer.rows_interval
    errors = np.array(values) - clamped
    assert plan.noise is not None and interval is not None
    # Means and standard deviations of 2,000 runs, each within five of its standard errors.
    assert (np.abs(errors.mean(axis=0)) < 5 * plan.noise / math.sqrt(2000)).all()
    assert errors.std(axis=0) == pytest.approx(plan.noise, rel=5 / math.sqrt(4000))
    share = float((np.abs(errors) <= interval).all(axis=1).mean())
    assert 0.95 - 5 * math.sqrt(0.95 * 0.05 / 2000) < share < 0.975


def test_no_replacement_moves_the_released_statistic_by_more_than_the_sensitivity() -> None:
    prepared = plan_for(RecordShape(n=5, d=2), Statements(**ENDS, **RHO))
    extremes = [[0.0, 0.0], [100.0, 5000.0], [1e300, -1e300], [np.nan, 1.0], [np.inf, np.inf]]
    means = []
    for extreme in extremes:
        rows = PAIRS[:5].copy()
        rows[-1] = extreme
        ledger = Ledger(prepared.point.budget)
        result = prepared.run(read_records(rows), ledger, np.random.default_rng(1))
        means.append(result.value)
    [entry] = ledger.entries
    moves = [float(np.linalg.norm(a - b)) for a in means for b in means]
    # Opposite corners of the range are as far apart as the ledger allows.
    assert max(moves) == pytest.approx(entry.sensitivity) == pytest.approx(2 * math.sqrt(2) / 5)


def test_the_interval_for_a_population_adds_hoeffdings_bound() -> None:
    answer = release(AGES, lower=0.0, upper=100.0, **RHO)
    assert answer.noise is not None
    hoeffding = 100 * math.sqrt(math.log(2 / 0.04) / (2 * 400))
    assert answer.interval == pytest.approx(hoeffding + 2.575829 * answer.noise)
    misses = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        answer = release(100.0 * (rng.random(400) < 0.5), lower=0.0, upper=100.0, rng=rng, **RHO)
        misses += abs(answer.value[0] - 50.0) > answer.interval[0]  # type: ignore[index]
    assert misses <= 15


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "bound must be given, a public bound on the answer; or, for a mean of records, lower"),
        ({"lower": 0.0}, "upper must be given beside lower"),
        ({"upper": 0.0}, "lower must be given beside upper"),
        ({"lower": 1.0, "upper": 1.0}, "lower must be below upper"),
        ({"lower": [0.0, 1.0, 2.0], "upper": 9.0}, "lower must be a finite number, or 2 of them"),
        ({"lower": 0.0, "upper": math.inf}, "upper must be a finite number"),
        ({**ENDS, "bound": 1.0}, "bound must be left out beside lower and upper"),
        ({**ENDS, "unit": 1.0}, "unit must be left out"),
        ({**ENDS, "centre": 1.0}, "centre must be left out"),
        ({**ENDS, "p": 3.0}, "p must be 2"),
        ({**ENDS, "method": "mean.adaptive"}, "method must be mean.clipped with a range"),
        ({**ENDS, "problem": "geometric-median"}, "lower must be left out for a loss"),
        ({**ENDS, "delta": 0.0}, "delta must be above 0 beside lower and upper"),
    ],
)
def test_a_wrong_range_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(PAIRS, **options)
    with pytest.raises(InvalidInput, match=message):
        plan_release(PAIRS.shape, **options)


def test_a_range_is_for_records_without_targets_and_users() -> None:
    with pytest.raises(InvalidInput, match="left out for a loss, which needs a bound"):
        release((PAIRS, AGES), **ENDS)
    with pytest.raises(InvalidInput, match="release each user's mean as a record"):
        release(PAIRS.reshape(100, 4, 2), **ENDS)


def test_a_plan_with_a_range_says_what_the_release_does() -> None:
    plan = plan_release((400, 2), **ENDS, **RHO)
    answer = plan.release(PAIRS)
    assert np.array_equal(plan.noise, answer.noise)  # type: ignore[arg-type]
    assert np.array_equal(plan.rows_interval, answer.rows_interval)  # type: ignore[arg-type]
    assert plan.bounds == () and "uniform in the range" in plan.law
    # The error of a uniform sample is its sampling error and the noise.
    expected = math.sqrt(2 * (1 / 3 / 400 + 2 * (2 / 400) ** 2))
    assert 0.5 * expected < plan.predicted_error < 1.5 * expected


def test_the_command_takes_a_range(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    lines = ["age,pay", *(f"{age:.6f},{pay:.6f}" for age, pay in PAIRS)]
    path.write_text("\n".join(lines), encoding="utf-8")
    ends = ["--lower", "0", "--upper", "100", "--upper", "5000"]
    words = ["release", str(path), "--column", "age", "--column", "pay", *ends]
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["noise"][1] == pytest.approx(50 * document["noise"][0])
    assert document["rows_interval"][0] < document["interval"][0]
    assert "bound" not in document["defaults"] and "unit" not in document["defaults"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "95 %, these rows" in text and "95 %, population" in text
    assert main([*words[:4], "--lower", "0"]) == 2
    assert "upper must be given beside lower" in capsys.readouterr().err
