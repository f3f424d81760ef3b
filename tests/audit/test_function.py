"""The audit of any Python function of records, in the library and by `dpsco audit --function`."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from dpsco_core.audit.function import FunctionAudit, audit_function, takes_generator
from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import CodeFailed, InvalidInput
from dpsco_core.cli.main import main

FILE_TEXT = """
import numpy as np

def noisy(records, rng, factor=2):
    return np.clip(records, -1, 1).mean(axis=0) + rng.laplace(scale=factor / len(records), size=1)

def half(records, rng):
    return noisy(records, rng, factor=1)

def alone(records):
    return noisy(records, np.random.default_rng()).sum()

def broken(records, rng):
    return {}["missing"]

def changing(records, rng):
    return np.zeros(1 + (rng.random() < 0.5))

def infinite(records):
    return np.inf
"""


def laplace_mean(records: Vector, rng: np.random.Generator) -> Vector:
    """Return a mean of records clipped at 1 that is 1-DP: replacing one moves it by 2/n."""
    mean: Vector = np.clip(records, -1, 1).mean(axis=0)
    return mean + rng.laplace(scale=2 / len(records), size=mean.shape)


def half_noise(records: Vector, rng: np.random.Generator) -> Vector:
    """Release the mean of clipped records with half the Laplace noise that epsilon 1 needs."""
    mean: Vector = np.clip(records, -1, 1).mean(axis=0)
    return mean + rng.laplace(scale=1 / len(records), size=mean.shape)


def unclipped(records: Vector, rng: np.random.Generator) -> Vector:
    """Release the mean of records with the noise of clipped ones, but without a clip."""
    mean: Vector = records.mean(axis=0)
    return mean + rng.laplace(scale=2 / len(records), size=mean.shape)


def gaussian_mean(records: Vector, rng: np.random.Generator) -> float:
    """Return a mean with the noise of the classical proof for (1, 0.05)-DP."""
    scale = math.sqrt(2 * math.log(1.25 / 0.05)) * 2 / len(records)
    return float(np.clip(records, -1, 1).mean() + rng.normal(scale=scale))


def test_a_private_function_passes_and_a_broken_one_is_refuted() -> None:
    honest = audit_function(FunctionAudit(function=laplace_mean, epsilon=1.0, delta=0.0))
    assert honest.verdict == "not refuted" and 0.5 < honest.epsilon_lower_bound <= 1.0
    for function in (half_noise, unclipped):
        broken = audit_function(FunctionAudit(function=function, epsilon=1.0, delta=0.0))
        assert broken.verdict == "refuted"
    # Noise for half of the sensitivity is 2-DP and no more.
    task = FunctionAudit(function=half_noise, epsilon=2.0, delta=0.0)
    assert audit_function(task).verdict == "not refuted"
    gaussian = FunctionAudit(function=gaussian_mean, epsilon=1.0, delta=0.05)
    assert audit_function(gaussian).verdict == "not refuted"


def test_a_true_claim_is_rarely_refuted() -> None:
    """At a confidence of 80 %, at most about 20 of 100 audits of an exact claim may refute it."""
    refuted = sum(
        audit_function(
            FunctionAudit(
                function=laplace_mean, epsilon=1.0, delta=0.0, runs=200, confidence=0.8, seed=seed
            )
        ).verdict
        == "refuted"
        for seed in range(100)
    )
    assert refuted <= 20


def test_the_same_seed_gives_the_same_findings() -> None:
    task = FunctionAudit(function=laplace_mean, epsilon=1.0, delta=0.0, runs=400, d=3)
    assert audit_function(task) == audit_function(task)
    assert takes_generator(laplace_mean) and not takes_generator(np.mean)


def test_a_function_that_changes_its_records_changes_only_a_copy() -> None:
    def destructive(records: Vector, rng: np.random.Generator) -> Vector:
        """Return the private mean of the records, and overwrite the records."""
        answer = laplace_mean(records, rng)
        records[:] = 7.0
        return answer

    tasks = [
        FunctionAudit(function=f, epsilon=1.0, delta=0.0, runs=400)
        for f in (laplace_mean, destructive)
    ]
    assert audit_function(tasks[0]) == audit_function(tasks[1])


def test_an_answer_is_copied_before_the_function_reuses_its_buffer() -> None:
    buffer = np.zeros(1)

    def in_place(records: Vector, rng: np.random.Generator) -> Vector:
        """Write a release into one shared buffer, and return that buffer at every call."""
        buffer[:] = half_noise(records, rng)
        return buffer

    tasks = [
        FunctionAudit(function=f, epsilon=1.0, delta=0.0, runs=2000) for f in (half_noise, in_place)
    ]
    assert audit_function(tasks[0]) == audit_function(tasks[1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"delta": 1.0}, "delta must be at least 0 and below 1"),
        ({"n": 0}, "n must be"),
        ({"runs": 41}, "trials must be even"),
        ({"far_value": math.nan}, "far-value must be"),
        ({"confidence": 0.2}, "confidence must be"),
    ],
)
def test_a_wrong_audit_is_refused(changes: dict[str, float], message: str) -> None:
    task = FunctionAudit(**({"function": laplace_mean, "epsilon": 1.0} | changes))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=message):
        audit_function(task)


@pytest.fixture
def own_file(tmp_path: Path) -> str:
    """Write the file of a user; return its path."""
    path = tmp_path / "own.py"
    path.write_text(FILE_TEXT, encoding="utf-8")
    return str(path)


def test_the_command_audits_a_function_of_a_file(
    own_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--epsilon", "1", "--delta", "0", "--trials", "4000", "--fail-if-refuted"]
    assert main(["audit", "--function", f"{own_file}:noisy", *words]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "The claim, 1-DP, is not refuted by 4,000 runs, with confidence 99.9 %" in text
    assert "generator of its own" not in text
    assert main(["audit", "--function", f"{own_file}:half", *words, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "refuted" and 1 < document["epsilon_lower_bound"] <= 2
    assert main(["audit", "--function", f"{own_file}:alone", *words]) == 0
    assert "generator of its own" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        (
            ":broken",
            ("--epsilon", "1"),
            "function=broken of own.py (KeyError in line 14:",
        ),
        (":changing", ("--epsilon", "1"), " numbers, and then "),
        (":infinite", ("--epsilon", "1"), "it returned a number that is not finite"),
        (":other", ("--epsilon", "1"), "function must be FILE:NAME with a function of that name"),
        ("", ("--epsilon", "1"), "function must be FILE:NAME, got"),
        (":noisy", (), "epsilon must be given beside function"),
        (":noisy", ("--epsilon", "1", "--p", "3"), "p must be left out beside function"),
        (":noisy", ("--epsilon", "1", "--method", "mean.clipped"), "methods must be left out"),
        (":noisy", ("--epsilon", "1", "--fault", "half-noise"), "fault must be left out"),
    ],
)
def test_the_command_refuses_in_one_sentence(
    own_file: str,
    name: str,
    words: tuple[str, ...],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = own_file if name else Path(own_file).name
    assert main(["audit", "--function", f"{file}{name}", *words]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_the_error_of_a_failing_function_names_its_code() -> None:
    def failing(records: Vector) -> float:
        """Raise a RuntimeError, whatever the records are."""
        raise RuntimeError("no")

    with pytest.raises(CodeFailed, match="RuntimeError"):
        audit_function(FunctionAudit(function=failing, epsilon=1.0))


def test_only_the_audit_of_a_function_takes_a_far_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--far-value", "3"]) == 2
    assert "far-value must be left out without function" in capsys.readouterr().err


def quantile_clip(records: Vector, rng: np.random.Generator) -> float:
    """Release a mean with noise for its clip, which is a quantile of the records themselves."""
    radius = np.quantile(np.abs(records), 0.9)
    mean = float(np.clip(records, -radius, radius).mean())
    return mean + float(rng.laplace(scale=2 * radius / len(records)))


@pytest.mark.parametrize("n", [8, 100, 1000])
def test_a_clip_at_a_quantile_of_the_records_is_refuted(n: int) -> None:
    task = FunctionAudit(function=quantile_clip, epsilon=1.0, delta=1e-6, n=n, runs=4000)
    findings = audit_function(task)
    assert findings.verdict == "refuted" and findings.pairs > 20
    if n > 10:  # Beside zeros the clip is 0 whatever the changed record is.
        assert findings.pair.shared_records != "are 0"
    fixed = FunctionAudit(function=laplace_mean, epsilon=1.0, delta=1e-6, n=n, runs=4000)
    assert audit_function(fixed).verdict == "not refuted"


def test_a_function_that_does_not_react_is_warned_about() -> None:
    def constant(records: Vector, rng: np.random.Generator) -> float:
        """Release noise alone."""
        return float(rng.laplace())

    def always_one(records: Vector) -> float:
        """Release a constant."""
        return 1.0

    findings = [
        audit_function(FunctionAudit(function=f, epsilon=1.0, runs=2000))
        for f in (constant, always_one, laplace_mean)
    ]
    assert [f.verdict for f in findings] == ["not refuted"] * 3
    assert [f.reacts for f in findings] == [False, False, True]
    assert "the output did not react to the record that was changed" in findings[0].warning
    assert "cannot find a fault it cannot see" in findings[1].warning and not findings[2].warning
