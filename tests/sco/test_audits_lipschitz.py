r"""Empirical audits of the Lipschitz methods: worst neighbours, many runs, an event that tells.

Of a statistic of what is released, every event {statistic > t} and {statistic <= t}, in both
directions, must keep :math:`P[M(X)] \le e^\varepsilon P[M(X')] + \delta`. The thresholds are the
quantiles of a first part of the runs; on the rest Clopper and Pearson's bounds are taken at a level
that adds up to a false-alarm rate of 1e-6 over all events. Deliberate faults must be flagged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from dpsco_core.mean.base import Release
from dpsco_core.privacy import ApproxDP, Ledger, shuffle_steps
from dpsco_core.sco import lipschitz, objective_plan, phased_sgd, private_sgd
from dpsco_core.sco.noisy_gd import NoisyGradientDescent
from dpsco_core.sco.objective_perturbation import ObjectivePerturbation
from dpsco_core.sco.phased_sgd import PhasedSgd
from dpsco_core.sco.private_sgd import PrivateSgd
from dpsco_core.sco.tuning import Descent
from tests.sco.losses import FALSE_ALARM, Array, sample, setting

CLAIM = ApproxDP(epsilon=1.0, delta=0.05)
RUNS, PILOT, THRESHOLDS = 3000, 300, 15
FAR = 1e6  # a record that is shrunk to 1


@dataclass(frozen=True, kw_only=True)
class Audit:
    """A method, a pair of data sets in one dimension, and a statistic of the release."""

    method: Any
    kind: str
    n: int
    radius: float
    statistic: Callable[[Release], float]
    sign: float = 1.0  # of the other records, against the first one of the first data set


def end(release: Release) -> float:
    return float(release.value[0])


def first_end(release: Release) -> float:
    """Of a phased run: what its first phase released."""
    assert release.iterates is not None
    return float(release.iterates[1, 0])


def likeliest(release: Release) -> float:
    """Of private SGD: which of the steps leant towards the record, by the likelihood ratio."""
    assert release.iterates is not None
    steps = -np.diff(release.iterates[:, 0]) / release.diagnostics["step_size"]
    variance = release.diagnostics["noise_std"] ** 2
    centred = steps + 1  # the gradients of the others are -1
    return float(np.exp(np.minimum(2 * centred / variance - 2 / variance, 500)).sum())


AUDITS = {
    "noisy-gd": Audit(
        method=NoisyGradientDescent(descent=Descent(steps=3, step_size=1.0)),
        kind="linear",
        n=2,
        radius=1e3,
        statistic=end,
    ),
    "phased": Audit(
        method=PhasedSgd(tuning="theory"), kind="linear", n=40, radius=1e3, statistic=first_end
    ),
    "phased, mean": Audit(
        method=PhasedSgd(tuning="theory"), kind="mean", n=60, radius=0.5, statistic=first_end
    ),
    "private-sgd, n=1": Audit(
        method=PrivateSgd(), kind="linear", n=1, radius=1.0, statistic=end
    ),
    "private-sgd, n=3": Audit(
        method=PrivateSgd(tuning="theory"), kind="linear", n=3, radius=1.0, statistic=likeliest
    ),
    "objective, mean": Audit(
        method=ObjectivePerturbation(), kind="mean", n=1, radius=100.0, statistic=end
    ),
    "objective, logistic": Audit(
        method=ObjectivePerturbation(), kind="logistic", n=1, radius=100.0, statistic=end
    ),
}
# A record moves a phase's average by a little less than 2 L eta (its own step is not averaged),
# and two of three records are used at n = 3.
SHARP = ("noisy-gd", "phased", "private-sgd, n=1", "objective, mean")


def statistics(audit: Audit, first: float, runs: int, seed: int) -> Array:
    """Return the statistic of `runs` runs on the data set whose first record is `first`."""
    where = setting(audit.kind, audit.n, 1, CLAIM, radius=audit.radius)
    x = np.full((audit.n, 1), audit.sign)
    x[0] = first
    losses = sample(audit.kind, x, np.zeros(audit.n), radius=audit.radius)
    rng = np.random.default_rng(seed)
    return np.array(
        [
            audit.statistic(audit.method.release(losses, where, Ledger(CLAIM), rng))
            for _ in range(runs)
        ]
    )


def excess(one: Array, two: Array, claim: ApproxDP, thresholds: int = THRESHOLDS) -> float:
    """Return the largest certified P - e^epsilon Q - delta; above 0 the claim is refuted."""
    pilot = np.concatenate([one[:PILOT], two[:PILOT]])
    cuts = np.unique(np.quantile(pilot, np.linspace(0, 1, thresholds + 2)[1:-1]))
    one, two = one[PILOT:], two[PILOT:]
    level = FALSE_ALARM / (2 * 4 * thresholds)
    worst = -math.inf
    for cut in cuts:
        for p, q in (
            ((one > cut).sum(), (two > cut).sum()),
            ((one <= cut).sum(), (two <= cut).sum()),
            ((two > cut).sum(), (one > cut).sum()),
            ((two <= cut).sum(), (one <= cut).sum()),
        ):
            low = 0.0 if p == 0 else float(stats.beta.ppf(level, p, len(one) - p + 1))
            high = 1.0 if q == len(two) else float(stats.beta.isf(level, q + 1, len(two) - q))
            worst = max(worst, low - math.exp(claim.epsilon) * high - claim.delta)
    return worst


def audited(audit: Audit, runs: int = RUNS) -> float:
    return excess(
        statistics(audit, FAR, runs, seed=1), statistics(audit, -FAR, runs, seed=2), CLAIM
    )


@pytest.mark.parametrize("name", AUDITS)
def test_the_claim_is_not_refuted(name: str) -> None:
    assert audited(AUDITS[name]) <= 0


def no_clip(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lipschitz.Losses, "of", lambda self, s: s)
    patch.setattr(private_sgd, "clipped_gradient", lambda s, w, i, limit: s.gradient(w, i))
    patch.setattr(phased_sgd, "clipped_gradient", lambda s, w, i, limit: s.gradient(w, i))
    patch.setattr(
        "dpsco_core.mean.base.clip_to_ball", lambda block, radius: (block, np.ones(len(block)))
    )


def half_the_noise(patch: pytest.MonkeyPatch) -> None:
    draw = np.random.Generator.normal
    for module in ("steps", "ledger"):
        patch.setattr(
            f"dpsco_core.privacy.{module}.gaussian_noise",
            lambda shape, std, rng: draw(rng, scale=std / 2, size=shape),
        )
    patch.setattr(
        "dpsco_core.privacy.ledger.add_gaussian_noise",
        lambda value, std, rng: value + draw(rng, scale=std / 2, size=value.shape),
    )


def sensitivity_of_one_gradient(patch: pytest.MonkeyPatch) -> None:
    """Noise for L in place of 2 L, in every release of the ledger."""
    honest = Ledger.gaussian
    patch.setattr(
        Ledger,
        "gaussian",
        lambda self, value, *, l2_sensitivity, **rest: honest(
            self, value, l2_sensitivity=l2_sensitivity / 2, **rest
        ),
    )
    plan = PrivateSgd.plan
    patch.setattr(
        PrivateSgd,
        "plan",
        lambda self, s: (lambda p: replace(p, l2_sensitivity=p.l2_sensitivity / 2))(plan(self, s)),
    )


@pytest.mark.parametrize("name", [name for name in AUDITS if "logistic" not in name])
def test_a_missing_clip_is_flagged(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    no_clip(monkeypatch)
    assert audited(AUDITS[name], runs=1000) > 0


@pytest.mark.parametrize("fault", [half_the_noise, sensitivity_of_one_gradient])
@pytest.mark.parametrize("name", SHARP)
def test_too_little_noise_is_flagged(
    fault: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert audited(AUDITS[name], runs=2000) > 0
