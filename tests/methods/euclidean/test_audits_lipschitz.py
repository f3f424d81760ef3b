"""Empirical audits of the Lipschitz methods: worst neighbours, many runs, a revealing event.

See `tests.methods.euclidean.audit_helpers`. Deliberate faults must be flagged.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from dpsco_core.methods.base import Release
from dpsco_core.methods.euclidean import lipschitz, phased_sgd, private_sgd
from dpsco_core.methods.euclidean.noisy_gd import NoisyGradientDescent
from dpsco_core.methods.euclidean.perturbation.objective import ObjectivePerturbation
from dpsco_core.methods.euclidean.phased_sgd import PhasedSgd
from dpsco_core.methods.euclidean.private_sgd import PrivateSgd
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy import ApproxDP, Ledger, shuffle_steps
from tests.folded import crossed, one_in
from tests.methods.euclidean.audit_helpers import certified_excess, is_flagged
from tests.methods.euclidean.losses import Array, make_setting, sample
from tests.trust.mean_faults import half_the_sensitivity

CLAIM = ApproxDP(epsilon=1.0, delta=0.05)
RUNS = 2000
OUTLIER = 1e6  # This record is shrunk to norm 1.
Pair = tuple[float, float]  # A pair is a record of a logistic loss: its feature and its label.


@dataclass(frozen=True, kw_only=True)
class Audit:
    """A method, a pair of one-dimensional data sets, and a statistic of the release."""

    method: Any
    kind: str
    n: int
    radius: float
    statistic: Callable[[Release], float]
    ordinary: float = 1.0  # The value of all other records.


def end(release: Release) -> float:
    """Return the last point of the path, or the result where a run has no path."""
    assert release.iterates is not None
    return float(release.iterates[-1, 0])


def first_end(release: Release) -> float:
    """Return the release of a phased run's first phase."""
    assert release.iterates is not None
    return float(release.iterates[1, 0])


def likeliest_step(release: Release) -> float:
    """Return the log likelihood that some step of private SGD used the record."""
    assert release.iterates is not None
    steps = -np.diff(release.iterates[:, 0]) / release.diagnostics["step_size"]
    variance = release.diagnostics["noise_std"] ** 2
    # The gradients of the other records are -1, so these steps are centred at 0.
    centred = steps + 1
    return float(np.exp(np.minimum(2 * centred / variance - 2 / variance, 500)).sum())


AUDITS = {
    "noisy-gd": Audit(
        method=NoisyGradientDescent(descent=Descent(steps=2, step_size=1.0)),
        kind="linear",
        n=2,
        radius=1e3,
        statistic=end,
    ),
    "phased": Audit(
        method=PhasedSgd(tuning="theory"),
        kind="linear",
        n=16,
        radius=1e3,
        statistic=first_end,
        ordinary=0.0,
    ),
    "phased, mean": Audit(
        method=PhasedSgd(tuning="theory"),
        kind="mean",
        n=12,
        radius=0.5,
        statistic=first_end,
        ordinary=0.0,
    ),
    "private-sgd, n=1": Audit(method=PrivateSgd(), kind="linear", n=1, radius=1.0, statistic=end),
    "private-sgd, n=3": Audit(
        method=PrivateSgd(tuning="theory"), kind="linear", n=3, radius=1.0, statistic=likeliest_step
    ),
    "objective, mean": Audit(
        method=ObjectivePerturbation(), kind="mean", n=1, radius=100.0, statistic=end
    ),
    "objective, logistic": Audit(
        method=ObjectivePerturbation(), kind="logistic", n=1, radius=100.0, statistic=end
    ),
}
# A record moves a phase's average by a little less than 2 L eta (its own step is not averaged), and
# two of three records are used at n = 3.
SHARP = ("noisy-gd", "phased", "private-sgd, n=1", "objective, mean")


def sample_statistics(audit: Audit, outlier: float, runs: int, rng: np.random.Generator) -> Array:
    """Return the statistic of `runs` runs on the data set whose first record is `outlier`."""
    setting = make_setting(audit.kind, audit.n, 1, CLAIM, radius=audit.radius)
    x = np.full((audit.n, 1), audit.ordinary)
    x[0] = outlier
    losses = sample(audit.kind, x, np.zeros(audit.n), radius=audit.radius)
    plan = audit.method.plan(setting)
    return np.array(
        [
            audit.statistic(audit.method.release(losses, plan, Ledger(CLAIM), rng))
            for _ in range(runs)
        ]
    )


def draws(audit: Audit) -> list[Callable[[int], Array]]:
    """Return two functions that draw the statistic on either data set."""
    return [
        partial(sample_statistics, audit, outlier, rng=np.random.default_rng(seed))
        for outlier, seed in ((OUTLIER, 1), (-OUTLIER, 2))
    ]


# These audits take seconds each, and resemble others that are quick.
LONG = ("phased", "phased, mean", "private-sgd, n=3", "objective, logistic")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in AUDITS]
)
def test_the_claim_is_not_refuted(name: str) -> None:
    sample, neighbour_sample = (draw(RUNS) for draw in draws(AUDITS[name]))
    assert certified_excess(sample, neighbour_sample, CLAIM) <= 0


def no_clip(patch: pytest.MonkeyPatch) -> None:
    """Take every clip of records and gradients away."""
    patch.setattr(lipschitz.Losses, "of", lambda self, s: s)
    patch.setattr(private_sgd, "clipped_gradient", lambda s, w, i, limit: s.gradient(w, i))
    patch.setattr(phased_sgd, "clipped_gradient", lambda s, w, i, limit: s.gradient(w, i))
    patch.setattr(
        "dpsco_core.methods.records.base.clip_to_ball",
        lambda block, radius: (block, np.ones(len(block))),
    )


def half_the_noise(patch: pytest.MonkeyPatch) -> None:
    """Halve every Gaussian noise."""
    draw = np.random.Generator.normal
    for module in ("steps", "objective"):
        patch.setattr(
            f"dpsco_core.privacy.mechanisms.{module}.gaussian_noise",
            lambda shape, std, rng: draw(rng, scale=std / 2, size=shape),
        )
    patch.setattr(
        "dpsco_core.privacy.mechanisms.gaussian.add_gaussian_noise",
        lambda value, std, rng: value + draw(rng, scale=std / 2, size=value.shape),
    )


def sensitivity_of_one_gradient(patch: pytest.MonkeyPatch) -> None:
    """Use noise for a sensitivity of L in place of 2L in every release of the ledger."""
    half_the_sensitivity(patch)
    plan = PrivateSgd.plan
    patch.setattr(
        PrivateSgd,
        "plan",
        lambda self, s: (lambda p: replace(p, l2_sensitivity=p.l2_sensitivity / 2))(plan(self, s)),
    )


@pytest.mark.parametrize("name", one_in(2, [name for name in AUDITS if "logistic" not in name]))
def test_a_missing_clip_is_flagged(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    no_clip(monkeypatch)
    assert is_flagged(*draws(AUDITS[name]), CLAIM, runs=800)


@pytest.mark.parametrize(
    ("fault", "name"), crossed(3, [half_the_noise, sensitivity_of_one_gradient], SHARP)
)
def test_too_little_noise_is_flagged(
    fault: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert is_flagged(*draws(AUDITS[name]), CLAIM, runs=1800)


def transcripts(plan: Any, n: int, runs: int, seed: int, *, shuffled: bool) -> tuple[Array, Array]:
    """Return steps of private SGD on linear losses, less the others' gradients, for both data sets.

    On one data set a record shifts its step by the sensitivity; on the other no record does.
    """
    rng = np.random.default_rng(seed)
    shape = (runs, plan.gradient_calls)
    noise, neighbour_noise = (rng.normal(scale=plan.noise_std, size=shape) for _ in range(2))
    for row in noise:
        order = private_sgd.fresh_order(n, plan, rng)[0] if shuffled else np.arange(shape[1])
        row[np.flatnonzero(order == 0)] += plan.l2_sensitivity
    return noise, neighbour_noise


@pytest.mark.parametrize("shuffled", [True, False])
def test_the_shuffled_noise_satisfies_the_claim_in_secret_order_only(shuffled: bool) -> None:
    """In known order the first step refutes the claim
    (theory/arora-marinov-ullah.md, 7, item 33).
    """
    n, runs = 300, 20_000
    claim = ApproxDP(epsilon=0.3, delta=1e-2)
    plan = PrivateSgd().plan(make_setting("linear", n, 1, claim))
    assert shuffle_steps(n, claim.epsilon, claim.delta).amplified
    leaning = transcripts(plan, n, runs, 5, shuffled=shuffled)
    shift, variance = plan.l2_sensitivity, plan.noise_std**2
    if shuffled:
        sample, neighbour_sample = (
            np.exp((x * shift - shift**2 / 2) / variance).sum(axis=1) for x in leaning
        )
    else:
        sample, neighbour_sample = (x[:, 0] for x in leaning)
    assert (certified_excess(sample, neighbour_sample, claim) > 0) is not shuffled


def exact_divergence(
    plan: Any, n: int, radius: float, old_record: Pair, new_record: Pair, scale: float
) -> float:
    """Return the divergence of the exact minimisers on two data sets, for a logistic objective in
    one dimension, by quadrature.

    The minimiser is theta where G is -n times the gradient; the ends of the ball have atoms.
    """
    std = plan.linear_std * scale

    def gradient(theta: Array, record: Pair) -> tuple[Array, Array]:
        """Return the gradient of a record's loss and its derivative, at each theta."""
        x, y = record
        slope = expit(x * theta)
        rest = 2 * n * plan.ridge
        return x * (slope - y) + rest * theta, x * x * slope * (1 - slope) + rest

    theta = np.linspace(-radius, radius, 20_001)
    laws = []
    for record in (old_record, new_record):
        tilt, curvature = gradient(theta, record)
        density = stats.norm.pdf(tilt / std) * curvature / std
        atoms = (stats.norm.sf(-tilt[0] / std), stats.norm.sf(tilt[-1] / std))
        laws.append((density, atoms))
    (f, p), (g, q) = laws
    grown = math.exp(plan.epsilon + plan.jacobian_epsilon)
    interior = float(integrate.trapezoid(np.maximum(f - grown * g, 0), theta))
    return interior + sum(max(a - grown * b, 0.0) for a, b in zip(p, q, strict=True))


RECORDS: tuple[Pair, ...] = ((1.0, 0.0), (1.0, 1.0), (-1.0, 0.0), (0.0, 0.0), (1.0, 0.5))


@pytest.mark.parametrize("tuning", one_in(2, ["practical", "theory"]))
def test_the_exact_minimiser_of_a_logistic_objective_satisfies_its_share(tuning: Any) -> None:
    """All pairs of extreme records are tried beside uninformative ones; a tenth
    of the noise fails.

    In one dimension a pair moves the gradient by L, not by the 2L of two nearly opposite features.
    """
    faulty = []
    for n, radius, epsilon in itertools.product((1, 2, 3), (1.0, 30.0), (0.1, 1.0, 5.0)):
        setting = make_setting(
            "logistic", n, 1, ApproxDP(epsilon=epsilon, delta=0.05), radius=radius
        )
        plan = ObjectivePerturbation(tuning=tuning).plan(setting)
        pairs = list(itertools.permutations(RECORDS, 2))
        honest = max(exact_divergence(plan, n, radius, a, b, 1.0) for a, b in pairs)
        assert honest <= plan.delta
        faulty.append(max(exact_divergence(plan, n, radius, a, b, 0.1) for a, b in pairs[:4]))
    assert max(faulty) > 0.05
