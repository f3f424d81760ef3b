"""The price of privacy: a ratio over the same trials, with an interval, equal in every
interface.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpsco_core.cli.main import main
from dpsco_core.results.intervals import run_json
from dpsco_core.results.price import paired_ratio, prices, ratio, reference_method
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

PRIVATE, PUBLIC = "mean.clipped", "mean.sample"
STUDY = Scenario(
    methods=("mean.sample", "mean.clipped", "mean.cwme-cdp"),
    axis="n",
    grid=(500, 2000),
    d=5,
    trials=6,
)


def cells(private_errors: list[float], public_errors: list[float]) -> pd.DataFrame:
    """Return the table of a private and a public method's errors, trial by trial."""
    rows = [
        {"method": name, "x": 10.0, "trial": i, "error": error}
        for name, errors in ((PRIVATE, private_errors), (PUBLIC, public_errors))
        for i, error in enumerate(errors)
    ]
    return pd.DataFrame(rows)


def test_a_ratio_of_paired_errors_accounts_for_the_noise_of_its_trials() -> None:
    doubled = ratio(cells([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]), PRIVATE, PUBLIC, 10.0)
    assert doubled is not None and doubled.value == pytest.approx(2) and not doubled.within_noise
    assert (
        doubled.low == pytest.approx(2) == pytest.approx(doubled.high)
    )  # The pairs of trials decide clearly.
    close = ratio(cells([1.0, 2.0, 3.3], [1.1, 1.8, 3.3]), PRIVATE, PUBLIC, None)
    assert close is not None and close.within_noise
    assert ratio(cells([1.0], [2.0]), PRIVATE, PUBLIC, 10.0) is None


def test_an_interval_of_a_ratio_holds_the_true_one_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        shared = rng.lognormal(0, 0.3, 20)
        pair = cells(list(2 * shared * rng.lognormal(0, 0.1, 20)), list(shared))
        price = ratio(pair, PRIVATE, PUBLIC, 10.0)
        assert price is not None
        covered += price.low <= 2 * np.exp(0.005) <= price.high
    # A Binomial(400, 0.95) count lies outside with probability 1e-6, and the delta method costs a
    # little.
    assert 352 <= covered <= 399


def test_a_price_over_a_zero_error_is_infinite_and_zero_over_zero_has_none() -> None:
    dear = ratio(cells([0.1, 0.2], [0.0, 0.0]), PRIVATE, PUBLIC, None)
    assert dear is not None and dear.value == dear.low == math.inf and not dear.within_noise
    assert ratio(cells([0.0, 0.0], [0.0, 0.0]), PRIVATE, PUBLIC, None) is None


def test_the_price_is_the_mean_private_error_over_the_mean_error_without_privacy() -> None:
    cells = frame(study(STUDY))
    table = summary(cells).set_index(["method", "x"])
    for (method, x), row in table.iterrows():
        if method == PUBLIC:
            assert math.isnan(row["price"]) and math.isnan(row["price_low"])
            continue
        assert row["price"] == pytest.approx(
            row["mean_error"] / table.loc[(PUBLIC, x), "mean_error"], rel=1e-12
        )
        assert row["price_low"] < row["price"] < row["price_high"]


def test_table_json_and_command_line_have_one_price(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = list(study(STUDY))
    table = summary(frame(outcomes))
    rows = json.loads(json.dumps(run_json(STUDY, outcomes), allow_nan=False))["results"]
    by_row = {(r["method"], r["x"]): r for r in rows}
    for row in table.to_dict("records"):
        for name in ("price", "price_low", "price_high"):
            text = by_row[row["method"], row["x"]][name]
            assert text == row[name] if text is not None else row["method"] == PUBLIC
    words = ["run", "--d", "5", "--n", "500", "--trials", "6"]
    chosen = [part for m in STUDY.methods for part in ("--method", m)]
    assert main([*words, *chosen]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("price of privacy" in line for line in lines)
    single_point = summary(frame(study(replace(STUDY, axis=None, grid=(), n=500))))
    for row in single_point.to_dict("records"):
        if row["method"] != PUBLIC:
            text = f"{row['price']:.3g} ({row['price_low']:.3g} to {row['price_high']:.3g})"
            assert any(line.startswith(row["name"]) and text in line for line in lines)


def test_without_a_method_without_privacy_there_is_no_price() -> None:
    outcomes = list(study(replace(STUDY, methods=("mean.clipped",))))
    assert summary(frame(outcomes))["price"].isna().all()
    assert {row["price"] for row in run_json(STUDY, outcomes)["results"]} == {None}
    refused = list(study(replace(STUDY, delta=0.0, methods=("mean.sample", "mean.clipped"))))
    assert summary(frame(refused))["price"].isna().all()


def test_one_trial_has_a_price_without_an_interval() -> None:
    price = paired_ratio({0: 3.0}, {0: 1.5})
    assert price is not None and price.value == 2
    assert math.isnan(price.low) and math.isnan(price.high) and not price.within_noise
    assert paired_ratio({0: 3.0}, {1: 1.5}) is None


def test_the_price_is_relative_to_the_default_reference_of_a_scenario() -> None:
    assert reference_method(("mean.clipped", "mean.median-of-means")) == "mean.median-of-means"
    assert reference_method(("mean.median-of-means", "mean.sample")) == "mean.sample"
    assert reference_method(("mean.clipped",)) == ""
    errors = {"mean.median-of-means": {0: 4.0}, PUBLIC: {0: 1.0}, PRIVATE: {0: 2.0}}
    assert {m: one.value for m, one in prices(errors).items()} == {PRIVATE: 2.0}
