"""An audit as an attack: a claim is refuted only by a whole box in the impossible region."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from dpsco_core.audit.attacks import Judged, attack, judge, measured
from dpsco_core.audit.engine import PAIRS, Audit, AuditFindings, Fault, run_audit
from dpsco_core.audit.stages import stage
from dpsco_core.audit.statistics import proportion_high
from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.tradeoff import gaussian_curve

COUNTS: dict[str, Any] = {"negatives": 1000, "positives": 1000, "confidence": 0.95}
MU_ONE = gaussian_curve(0.5)


def audit_stage(
    method: str, fault: Fault = "none", runs: int = 20_000, **budget: Any
) -> AuditFindings:
    """Audit a method at its own stage; return the findings after the last run."""
    point = replace(stage(method), **budget)
    *_, result = run_audit(Audit(point=point, runs=runs, fault=fault, looks=False))
    return result


def test_the_box_of_both_error_rates_has_two_exact_intervals_as_sides() -> None:
    refuted = measured(MU_ONE, false_alarms=10, misses=500, **COUNTS)
    assert refuted.alarm_interval[1] == pytest.approx(0.019633, abs=5e-7)
    assert refuted.miss_interval[1] == pytest.approx(0.535885, abs=5e-7)
    assert refuted.refutes
    for count, interval in ((10, refuted.alarm_interval), (500, refuted.miss_interval)):
        exact = binomtest(count, 1000).proportion_ci(confidence_level=0.975, method="exact")
        assert interval == pytest.approx((exact.low, exact.high), rel=1e-9)


def test_only_the_upper_right_corner_refutes() -> None:
    """The point and the lower left corner of this box are in the impossible region already."""
    crossing = measured(MU_ONE, false_alarms=10, misses=890, **COUNTS)
    assert crossing.miss_share < MU_ONE.misses(np.array(crossing.alarm_share))
    lower_left = np.array(crossing.alarm_interval[0])
    assert crossing.miss_interval[0] < MU_ONE.misses(lower_left)
    assert not crossing.refutes
    harmless = measured(MU_ONE, false_alarms=10, misses=950, **COUNTS)
    assert harmless.miss_interval[1] == pytest.approx(0.964249, abs=5e-7)
    assert not harmless.refutes


@pytest.mark.parametrize(
    "budget",
    [
        {"epsilon": 1.0, "delta": 1e-6, "rho": None},
        {"epsilon": None, "delta": None, "rho": 0.5},
        {"epsilon": 1.0, "delta": 0.0, "rho": None},
    ],
    ids=["approximate", "zcdp", "pure"],
)
@pytest.mark.parametrize("method", ["mean.clipped", "mean.cwme-pure"])
def test_half_the_noise_is_caught_and_an_honest_run_is_not(
    method: str, budget: dict[str, Any]
) -> None:
    if method == "mean.clipped" and budget["delta"] == 0:
        return
    curve, honest = attack(audit_stage(method, **budget), 0.999)
    assert not honest.refutes
    assert (curve.mu is None) == (method == "mean.cwme-pure")
    _, broken = attack(audit_stage(method, "half-noise", **budget), 0.999)
    assert broken.refutes


def test_the_curve_sees_half_the_noise_where_epsilon_at_a_small_delta_does_not() -> None:
    result = audit_stage("mean.clipped", "half-noise", epsilon=1.0, delta=1e-6)
    assert result.bound_verdict == "not refuted"
    assert attack(result, 0.999)[1].refutes


def test_one_test_of_two_is_enough_to_refute() -> None:
    """The parts disagree in both directions, and the joint verdict says which one refutes."""
    judged = judge(audit_stage("mean.clipped", "half-noise", epsilon=1.0, delta=1e-6), 0.999)
    assert judged.result.bound_verdict == "not refuted" and judged.attack.refutes
    assert judged.verdict == "refuted"
    assert judged.grounds == (
        "by the trade-off curve of its ledger (the (epsilon, delta) bound alone does not refute it)"
    )
    caught = audit_stage("mean.clipped", "half-noise")
    assert caught.bound_verdict == "refuted"
    honest_attack = replace(judged.attack, miss_interval=(0.9, 1.0))
    by_bound = Judged(result=caught, curve=judged.curve, attack=honest_attack)
    assert by_bound.verdict == "refuted" and "ledger alone does not refute it" in by_bound.grounds
    by_none = Judged(result=judged.result, curve=judged.curve, attack=honest_attack)
    assert by_none.verdict == "not refuted" and by_none.grounds.startswith("neither by")


def test_the_two_tests_share_the_failure_probability() -> None:
    """The bounds of all looks and pairs use one half of beta = 0.1, and the upper ends the other
    half.
    """
    point = replace(stage("mean.clipped"), epsilon=1.0, delta=1e-6)
    task = Audit(point=point, runs=200, confidence=0.9)
    *_, result = run_audit(task)
    spent_by_bounds = 2 * sum(1 - look.confidence for look in result.evidence)
    judged = judge(result, task.confidence)
    one_end = (1 - judged.attack.confidence) / PAIRS / 4
    assert spent_by_bounds == pytest.approx(0.05)
    assert 2 * 2 * one_end == pytest.approx(0.05)
    exact = proportion_high(judged.attack.misses, judged.attack.positives, one_end)
    assert judged.attack.miss_interval[1] == pytest.approx(float(exact), rel=1e-12)


def test_a_ledger_that_varies_between_runs_is_held_to_its_budget_alone() -> None:
    """The curve of a ledger is for shares that are fixed in advance."""
    result = audit_stage("mean.clipped", epsilon=1.0, delta=1e-6)
    assert result.has_fixed_shares and judge(result, 0.999).curve.mu is not None
    varied = judge(replace(result, has_fixed_shares=False), 0.999).curve
    assert varied.mu is None and varied.epsilon(1e-6) == pytest.approx(1.0)


def test_a_method_without_its_clip_is_caught_at_once() -> None:
    result = audit_stage("mean.clipped", "no-clipping", runs=200, epsilon=1.0, delta=1e-6)
    _, broken = attack(result, 0.999)
    assert (broken.false_alarms, broken.misses, broken.refutes) == (0, 0, True)


def fake_findings(mu: float, runs: int, rng: np.random.Generator) -> AuditFindings:
    """Return the findings of an audit of two unit Gaussians at a distance of mu that are claimed to
    be at a distance of 1.
    """
    entry = Entry(
        mechanism="gaussian",
        label="release",
        sensitivity=1.0,
        proven_sensitivity=1.0,
        noise=1.0,
        size=1,
        rho=0.5,
    )
    outputs = rng.standard_normal((2, runs, 1)) + np.array([mu, 0.0])[:, None, None]
    example = audit_stage("mean.clipped", runs=200, rho=0.5, epsilon=None, delta=None)
    return replace(example, entries=(entry,), outputs=outputs[0], neighbour_outputs=outputs[1])


def test_an_honest_mechanism_is_refuted_no_more_often_than_the_confidence_says() -> None:
    """The confidence is 80 %, and the claim is exact, which is the hardest claim that is true."""
    rng = np.random.default_rng(5)
    honest = fake_findings(1.0, 400, rng)
    wrong = 0
    for _ in range(300):
        outputs = rng.standard_normal((2, 400, 1)) + np.array([1.0, 0.0])[:, None, None]
        result = replace(honest, outputs=outputs[0], neighbour_outputs=outputs[1])
        wrong += attack(result, 0.8)[1].refutes
    assert wrong <= 300 * 0.2
    assert attack(fake_findings(1.5, 20_000, rng), 0.999)[1].refutes


def test_either_order_of_the_neighbours_can_attack() -> None:
    """One pair's larger output belongs to the data set itself, and in another pair one law is far
    more spread out.
    """
    rng = np.random.default_rng(6)
    lower = fake_findings(-1.6, 20_000, rng)
    assert attack(lower, 0.999)[1].refutes
    wide = replace(lower, outputs=10 * rng.standard_normal((20_000, 1)))
    assert attack(wide, 0.999)[1].refutes
    swapped = replace(wide, outputs=wide.neighbour_outputs, neighbour_outputs=wide.outputs)
    assert attack(swapped, 0.999)[1].refutes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"false_alarms": -1}, "false_alarms must be from 0 to 1000"),
        ({"misses": 1001}, "misses must be from 0 to 1000"),
        ({"negatives": 0}, "runs must be a positive integer"),
        ({"confidence": 1.0}, "confidence must be above 0 and below 1"),
    ],
)
def test_impossible_counts_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        measured(MU_ONE, **{"false_alarms": 1, "misses": 1} | COUNTS | changes)


def test_the_command_prints_the_attack(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["audit", "--method", "mean.clipped", "--trials", "20000", "--fault", "half-noise"]
    words += ["--epsilon", "1", "--delta", "1e-6"]
    assert main([*words, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["verdict"], printed["bound_verdict"]) == ("refuted", "not refuted")
    achieved = printed["attack"]
    assert achieved["verdict"] == "refuted"
    assert achieved["miss_interval"][1] < achieved["least_misses"]
    assert achieved["negatives"] == achieved["positives"] == 5000
    share = achieved["false_alarms"] / achieved["negatives"]
    assert achieved["false_alarm_interval"][0] < share < achieved["false_alarm_interval"][1]
    assert main(words) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "Audited at n = 8, d = 1, (1, 1e-06)-DP; other settings: --n, --d, --epsilon, --delta."
    ) in text
    assert main([*words, "--fail-if-refuted"]) == 1
    assert main(["audit", "--trials", "200", "--fail-if-refuted"]) == 0
    capsys.readouterr()
    assert main(["audit", "--method", "user.mean-clipped", "--rho", "0.5", "--trials", "200"]) == 0
    assert "d = 1, m = 4, 0.5-zCDP; other settings: --n, --d, --m, --rho." in (
        " ".join(capsys.readouterr().out.split())
    )
    assert "As an attack:" in text and "not refuted" not in text
    claim = (
        "The claim, epsilon = 1 at delta = 1e-06 and the trade-off curve of its ledger, is refuted"
    )
    assert f"{claim} after 20,000 runs, with confidence 99.9 %: {printed['grounds']}." in text
    assert printed["curve"] == "ledger" and "has not been shown" in text
