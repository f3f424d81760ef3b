"""The answers of `dpsco audit`, `need` and `budget` are those of functions of the library."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

import dpsco_core
from dpsco_core import FunctionAudit, InvalidInput, Scenario, audit_function, audit_method, budget
from dpsco_core import need as solve
from dpsco_core.cli.main import main


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """Return what a command prints as JSON."""
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "options",
    [
        {"fault": "half-noise"},
        {"epsilon": 0.5, "delta": 0.1, "n": 20, "seed": 3},
        {"rho": 0.3, "at_delta": 0.1},
        {"fault": "printed-constant", "method": "mean.smoothed"},
    ],
)
def test_an_audit_in_python_is_that_of_the_command(
    options: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"method": "mean.clipped", "trials": 2000} | options
    words = [w for k, v in options.items() for w in (f"--{k.replace('_', '-')}", str(v))]
    judged, row = audit_method(**options), printed(["audit", *words], capsys)
    assert judged.verdict == row["verdict"] and judged.grounds == row["grounds"]
    assert judged.result.epsilon_lower_bound == row["epsilon_lower_bound"]
    assert judged.result.claimed_epsilon == row["claimed_epsilon"]
    assert judged.attack.false_alarms == row["attack"]["false_alarms"]


def test_a_function_is_audited_in_python() -> None:
    def exact_mean(records: Any) -> Any:
        return np.clip(records, -1, 1).mean()

    judged = audit_function(FunctionAudit(function=exact_mean, epsilon=1.0, runs=200))
    assert judged.verdict == "refuted"
    tried, own = judged.notes
    assert "pairs of neighbours were tried" in tried and "a generator of its own" in own
    seeded = audit_function(
        FunctionAudit(function=lambda records, rng: rng.normal(), epsilon=1.0, runs=200)
    )
    assert seeded.notes == (tried,)


@pytest.mark.parametrize("unit", ["moment", "sd"])
def test_a_need_in_python_is_that_of_the_command(
    unit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "need",
        "--n",
        "1000",
        "--d",
        "2",
        "--offset",
        "0",
        "--seed",
        "4",
        "--method",
        "mean.clipped",
        "--error",
        "0.3",
    ]
    document = printed([*words, "--error-unit", unit], capsys)
    scenario = Scenario(n=1000, d=2, offset=0.0, seed=4, methods=("mean.clipped",))
    answer, [row] = solve(scenario, "mean.clipped", 0.3, error_unit=unit), document["needs"]
    for name in ("value", "low", "high", "target", "trials", "slope"):
        assert getattr(answer, name) == row[name], name
    assert [floor.value for floor in answer.floors] == [floor["value"] for floor in row["floors"]]


BATCHES = {"releases": 100, "sampling": "poisson", "batch": 600, "records": 60_000}


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 0.5},
        {"epsilon": 2.0, "delta": 1e-7, "releases": 20},
        {"epsilon": 0.5, "delta": 0, "releases": 30},
        {"rho": 0.2, "releases": 3},
        {"epsilon": 2.0} | BATCHES,
        {"epsilon": 2.0} | BATCHES | {"sampling": "fixed"},
        {"noise_multiplier": 1.5} | BATCHES,
        {"noise_multiplier": 1.5, "epochs": 0.051, "batch": 600, "records": 60_000},
        {"epsilon": 2.0, "epochs": 3, "batch": 600, "records": 60_000, "sampling": "fixed"},
        {"noise_multiplier": 3.0, "releases": 7, "neighbours": "add-remove"},
    ],
)
def test_a_budget_in_python_is_that_of_the_command(
    options: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [w for k, v in options.items() for w in (f"--{k.replace('_', '-')}", str(v))]
    answer, document = budget(**options), printed(["budget", *words], capsys)
    if answer.budget is not None:
        rows = [(c.name, c.rho, c.epsilon) for c in answer.conversions]
        expected = [(c["conversion"], c["rho"], c["epsilon"]) for c in document["conversions"]]
        assert rows == expected
    share = None if answer.share is None else dataclasses.asdict(answer.share)
    assert share == document.get("share")
    if answer.composition is not None:
        for row in document["composition"]:
            assert getattr(answer.composition, row["accounting"]) == row["epsilon"]
    assert (answer.composition is None) == ("composition" not in document)
    assert (answer.noise is None) == ("noise" not in document)
    if answer.noise is not None:
        noise = answer.noise.to_dict()
        shared = {k for k in noise if k in document["noise"]} - {"neighbours"}
        assert {"epsilon", "releases", "sampling"} <= shared
        assert {k: noise[k] for k in shared} == {k: document["noise"][k] for k in shared}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": -1.0}, "epsilon must be at least 1e-06"),
        ({"epsilon": "a"}, "epsilon must be"),
        ({"delta": 2.0}, "delta must be"),
        ({"rho": 0.0}, "rho must be"),
        ({"epsilon": 1.0, "rho": 1.0}, "epsilon must be left out beside rho, got epsilon=1.0"),
        ({"epsilon": 1.0, "noise_multiplier": 1.0}, "epsilon must be left out beside noise_mult"),
        ({"noise_multiplier": 1.0, "delta": 0}, "delta must be above 0 beside noise_multiplier"),
        ({"releases": 0}, "releases must be"),
        ({"batch": 5}, "sampling must be fixed or poisson with batch or records"),
        ({"sampling": "poisson"}, "batch and records must be given with sampling=poisson"),
        ({"sampling": "none of these"}, "sampling must be one of"),
        ({"rho": 0.1, "sampling": "poisson"}, "sampling must be left out of a zcdp budget"),
        ({"neighbours": "add-remove"}, "neighbours must be left out without noise_multiplier"),
    ],
)
def test_a_wrong_budget_is_refused_in_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        budget(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"epochs": 5},
        {"epochs": 5, "batch": 600},
        {"epochs": 5, "releases": 3, "batch": 600, "records": 60_000},
        {"epochs": 5, "sampling": "none", "batch": 600, "records": 60_000},
        {"epochs": 0, "batch": 600, "records": 60_000},
        {"epochs": 1e300, "batch": 600, "records": 60_000},
        {"epochs": 5, "batch": 0, "records": 60_000},
    ],
)
def test_wrong_epochs_are_refused_in_the_words_of_the_command(
    options: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        budget(**options)
    words = [w for k, v in options.items() for w in (f"--{k}", str(v))]
    assert main(["budget", *words]) == 2
    text = " ".join(capsys.readouterr().err.split())
    condition = str(refusal.value).split(", got ")[0]
    assert condition in text


def test_a_wrong_audit_or_need_is_refused_in_one_sentence() -> None:
    for options, message in (
        ({"method": "mean.sample"}, "private"),
        ({"fault": "none of these"}, "fault must be one of"),
        ({"trials": 101}, "trials must be even"),
        ({"at_delta": 0.1}, "at-delta must be left out unless the budget is a rho"),
        ({"confidence": 2.0}, "confidence must be"),
    ):
        with pytest.raises(InvalidInput, match=message):
            audit_method(**options)
    for target in (0.0, float("nan"), "a"):
        with pytest.raises(InvalidInput, match="error must be finite and above 0"):
            solve(Scenario(), "mean.clipped", target)
    with pytest.raises(InvalidInput, match="error-unit must be one of"):
        solve(Scenario(), "mean.clipped", 0.1, error_unit="metres")


def test_results_are_frozen_and_the_functions_are_public_names() -> None:
    for result in (dpsco_core.BudgetAnswer, dpsco_core.Need, dpsco_core.Judged):
        assert dataclasses.is_dataclass(result) and result.__dataclass_params__.frozen  # type: ignore[attr-defined]
    for name in ("audit_method", "audit_function", "need", "budget"):
        assert name in dpsco_core.__all__ and callable(getattr(dpsco_core, name))
