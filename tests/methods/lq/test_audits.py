"""Empirical audits of the l_q methods: worst neighbours, many runs, a revealing event.

See `tests.methods.euclidean.audit_helpers`. The noisy values that steered a run are read off its
path; the statistic is their likelihood ratio for the two data sets, or a monotone function of it.
Deliberate faults must be flagged.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpsco_core.geometry.mirror import PowerMirror
from dpsco_core.geometry.norms import dual_exponent, lq_norm, row_norms
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.base import Release
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.lq import mirror as lp_mirror
from dpsco_core.methods.lq.mirror import TruncatedMeans
from dpsco_core.methods.lq.noisy import NoisyMirrorDescent
from dpsco_core.methods.lq.phased import UnconstrainedPhasedSgd
from dpsco_core.methods.lq.regularized import RegularizedMirrorDescent, RegularizedSteps
from dpsco_core.privacy import ApproxDP, Ledger
from dpsco_core.privacy.mechanisms import noise as draws
from dpsco_core.problems.base import Setting
from tests.methods.euclidean.audit_helpers import certified_excess, is_flagged
from tests.methods.euclidean.losses import Array, sample
from tests.methods.lq import mirror_helpers
from tests.methods.lq.helpers import L1, geometric_setting, lq_geometry, place_on
from tests.methods.lq.mirror_helpers import BATCHED, GG, REDUCED, SHUFFLED

CLAIM, SMALL_CLAIM = ApproxDP(epsilon=1.0, delta=0.05), ApproxDP(epsilon=0.3, delta=0.02)
RUNS, FAULTY_RUNS, SHUFFLED_RUNS = 1000, 1300, 6000
OUTLIER = 1e6  # A record of this size is shrunk, and a target of this size has slope 1.
# A record of this share of the level is just below it, above which a record becomes 0.
INNER_SHARE = 1 - 1e-9


@dataclass(frozen=True, kw_only=True)
class Audit:
    """A method at a setting, two neighbouring samples, and a statistic of the release."""

    method: Any
    setting: Setting
    pair: tuple[Any, Any]
    statistic: Callable[[Release], float]


def steered(plan: Any, **changes: Any) -> Any:
    """Return the plan with other steps; each step's share of the budget follows their number."""
    if not isinstance(plan, DescentPlan):
        return replace(plan, **changes)
    if not isinstance(plan.descent, RegularizedSteps):
        return mirror_helpers.changed_plan(plan, **changes)
    descent = replace(plan.descent, **changes)
    return replace(plan, descent=descent, rho_step=plan.rho / descent.steps)


def replanned(method: Any, setting: Setting, **changes: Any) -> tuple[Any, Any]:
    """Return the method with other steps, and its plan, on whose noise they have no effect."""
    plan_changed = steered(method.plan(setting), **changes)

    class Replanned(type(method)):  # type: ignore[misc]
        def plan(self, setting: Setting) -> Any:
            """Return the plan that was changed."""
            return plan_changed

    fields = {f.name: getattr(method, f.name) for f in dataclasses.fields(method)}
    return Replanned(**fields), plan_changed


def lean(noisy: Array, pull: Array, noise: str, exponent: float) -> Array:
    """Return half the difference of the squared distances of noisy values from -pull and +pull.

    Divided by the squared scale of the noise, this is the logarithm of the likelihood ratio.
    """
    if noise != GG:
        return np.asarray(2 * noisy @ pull)
    distance, mirrored_distance = (
        row_norms(noisy - pull, exponent),
        row_norms(noisy + pull, exponent),
    )
    return (mirrored_distance**2 - distance**2) / 2


def unit(d: int, dual: float) -> Array:
    """Return the direction with the largest l2 norm at dual norm 1."""
    return np.ones(d) / lq_norm(np.ones(d), dual)


def truncated(
    method: Any,
    q: float,
    d: int,
    n: int,
    steps: int,
    *,
    scale: float = INNER_SHARE,
    claim: ApproxDP = CLAIM,
    first_step: int | None = 1,
    batch_size: int | None = None,
    mixed: bool = False,
) -> Audit:
    """Return an audit of truncated mirror descent: record 0 is at the level, and the others are 0.

    The statistic is of one batch, or of all batches if `mixed`, where any may contain record 0. The
    steps are so small that the set has no effect.
    """
    setting = mirror_helpers.make_setting(q, n, d, claim, kind="linear")
    changes = {"steps": steps, "batch_size": batch_size or n // steps, "step_weight": 1e6}
    method, plan = replanned(method, setting, **changes)
    pull = plan.statistic.threshold * unit(d, mirror_helpers.exponent_of(method, setting))
    mirror = PowerMirror.for_space(plan.descent.space)

    def statistic(release: Release) -> float:
        """Return the sum, over steps, of how far the noisy gradients point towards the record."""
        assert release.iterates is not None
        points = release.iterates if first_step is None else release.iterates[: first_step + 1]
        duals = np.array([mirror.gradient(w) for w in points])
        noisy = -np.diff(duals, axis=0) * plan.descent.weight * plan.access.size
        leaning = lean(noisy, pull, plan.statistic.draw.noise, plan.descent.space.smooth_exponent)
        if mixed:
            leaning = np.sinh(np.clip(leaning / plan.statistic.draw.noise_scale**2 / 2, -500, 500))
        return float(leaning.sum())

    def records(sign: float) -> Any:
        """Return a sample whose only nonzero record pulls in this direction."""
        x = np.zeros((n, d))
        x[0] = -sign * scale * pull  # The gradient is the opposite of the record.
        return mirror_helpers.sample(setting, "linear", x)

    return Audit(
        method=method, setting=setting, pair=(records(1), records(-1)), statistic=statistic
    )


def steep(setting: Setting, geometry: Any, sign: float) -> Any:
    """Return Huber losses that have slope `sign` everywhere for the far record 0, and slope 0 for
    the others.
    """
    x, y = np.zeros((setting.n, setting.d)), np.zeros(setting.n)
    x[0], y[0] = OUTLIER, -sign * OUTLIER**20
    return place_on(geometry, sample("huber", x, y))


def regularized(q: float, d: int, noise: Any, *, steps: int = 2) -> Audit:
    """Return an audit of regularised mirror descent on the full gradients of three records."""
    geometry = lq_geometry(q)
    setting = geometric_setting("huber", geometry, 3, d, CLAIM)
    method, plan = replanned(RegularizedMirrorDescent(noise=noise), setting, steps=steps)
    pull = plan.statistic.dual_sensitivity / 2 * unit(d, dual_exponent(q))
    mirror = PowerMirror.for_space(plan.descent.space)

    def statistic(release: Release) -> float:
        """Return the sum, over steps, of how far the noisy gradients point towards the record."""
        assert release.iterates is not None
        u = np.array([mirror.gradient(w) for w in release.iterates])
        steps = plan.descent
        noisy = steps.proximal * u[:-1] - (steps.proximal + steps.regulariser) * u[1:]
        return float(lean(noisy, pull, noise, plan.descent.space.smooth_exponent).sum())

    pair = (steep(setting, geometry, 1), steep(setting, geometry, -1))
    return Audit(method=method, setting=setting, pair=pair, statistic=statistic)


def phased() -> Audit:
    """Return an audit of phased SGD, whose first phase has eight records with record 0 at the
    front.
    """
    geometry, d = lq_geometry(4.0), 2
    setting = geometric_setting("huber", geometry, 16, d, CLAIM)

    def statistic(release: Release) -> float:
        """Return the sum of the coordinates after the first phase."""
        assert release.iterates is not None
        return float(release.iterates[1].sum())

    pair = (steep(setting, geometry, 1), steep(setting, geometry, -1))
    method, _ = replanned(UnconstrainedPhasedSgd(tuning="theory"), setting)
    return Audit(method=method, setting=setting, pair=pair, statistic=statistic)


def noisy(n: int, batch: int = 1) -> Audit:
    """Return an audit of noisy mirror descent that guesses the step of record 0 by likelihood;
    other gradients are 0.

    The set is the l1 ball, with the potential of its own norm, and steps are so small that the set
    has no effect.
    """
    d = 2
    setting = geometric_setting("linear", L1, n, d, CLAIM)
    idle = {} if batch == 1 else {"idle": False}
    changes = {"step_size": 1e-6, "batch": batch} | idle
    method, plan = replanned(NoisyMirrorDescent(tuning="theory"), setting, **changes)
    mirror, direction = plan.potential.mirror, np.ones(d) / math.sqrt(d)
    assert mirror.exponent < 2
    shift = plan.l2_sensitivity / 2 / batch
    variance = plan.noise_std**2 / batch

    def statistic(release: Release) -> float:
        """Return the sum over steps of the likelihood's odd part, along the record."""
        assert release.iterates is not None
        u = np.array([mirror.gradient(w) for w in release.iterates])
        projections = -np.diff(u, axis=0) @ direction / plan.step_size
        return float(np.sinh(np.clip(projections * shift / variance, -500, 500)).sum())

    def records(sign: float) -> Any:
        """Return a sample with one outlier of this sign."""
        x = np.zeros((n, d))
        x[0] = -sign * OUTLIER
        return place_on(L1, sample("linear", x))

    return Audit(
        method=method, setting=setting, pair=(records(1), records(-1)), statistic=statistic
    )


AUDITS: dict[str, Callable[[], Audit]] = {
    "batched": lambda: truncated(BATCHED(), 1.0, 4, 4, 2),
    "batched, generalized": lambda: truncated(BATCHED(noise=GG), 1.2, 2, 4, 2),
    "batched, both batches": lambda: truncated(BATCHED(), 1.5, 1, 4, 2, first_step=None),
    "shuffled, few records": lambda: truncated(SHUFFLED(), 1.5, 2, 4, 2),
    "reduction": lambda: truncated(REDUCED(), 4.0, 2, 4, 2),
    "regularised": lambda: regularized(1.0, 4, "gaussian"),
    "regularised, generalized": lambda: regularized(1.2, 2, GG),
    "phased": phased,
    "noisy, n=1": lambda: noisy(1),
    "noisy, n=3": lambda: noisy(3),
    "noisy, averages": lambda: noisy(5, batch=3),
}
# These audits attain less than the budget: of three records two are used at n = 3, at n = 5 a mean
# holds one of three, and a batch without the record adds its noise.
SHARP = [n for n in AUDITS if n not in ("noisy, n=3", "noisy, averages", "batched, both batches")]


def statistics(audit: Audit, side: int, runs: int, rng: np.random.Generator) -> Array:
    """Return the audit's statistic of independent runs on one of the two neighbours."""
    budget, plan = audit.setting.budget, audit.method.plan(audit.setting)
    return np.array(
        [
            audit.statistic(audit.method.release(audit.pair[side], plan, Ledger(budget), rng))
            for _ in range(runs)
        ]
    )


def audited(audit: Audit, runs: int) -> float:
    """Return the certified excess of an audit over the budget; a positive value refutes
    the claim.
    """
    sample, neighbour_sample = (
        statistics(audit, k, runs, np.random.default_rng(seed)) for k, seed in ((0, 1), (1, 2))
    )
    assert isinstance(audit.setting.budget, ApproxDP)
    return certified_excess(sample, neighbour_sample, audit.setting.budget)


def caught(audit: Audit, runs: int, generator: Any = np.random.Generator) -> bool:
    """Return whether an audit flags the method."""
    draws = [
        partial(statistics, audit, k, rng=generator(np.random.PCG64(seed)))
        for k, seed in ((0, 1), (1, 2))
    ]
    assert isinstance(audit.setting.budget, ApproxDP)
    return is_flagged(*draws, audit.setting.budget, runs)


# These are one audit of a batch in either noise, and one of a step; the others take seconds each.
QUICK_AUDITS = ("reduction", "batched, generalized", "noisy, n=1")


def quick(names: Iterable[str], chosen: Container[str] = QUICK_AUDITS) -> list[Any]:
    """Return the names as parameters, of which all but the `chosen` ones are marked slow."""
    return [pytest.param(n, marks=[pytest.mark.slow] * (n not in chosen)) for n in names]


@pytest.mark.parametrize("name", quick(AUDITS))
def test_the_claim_is_not_refuted(name: str) -> None:
    assert audited(AUDITS[name](), RUNS) <= 0


def fraction_of_the_noise(patch: pytest.MonkeyPatch, fraction: float) -> None:
    """Let every mechanism add this fraction of its noise."""
    for module, name in (
        ("steps", "gaussian_noise"),
        ("steps", "generalized_gaussian_noise"),
        ("gaussian", "add_gaussian_noise"),
        ("shaped", "add_gaussian_noise"),
        ("shaped", "generalized_gaussian_noise"),
    ):
        honest = getattr(draws, name)
        patch.setattr(
            f"dpsco_core.privacy.mechanisms.{module}.{name}",
            lambda *a, honest=honest: honest(*a[:-2], fraction * a[-2], a[-1]),
        )


@pytest.mark.parametrize("name", quick(SHARP, QUICK_AUDITS[:2]))
def test_too_little_noise_is_flagged(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault is half of the noise, or a third where the guarantee is loose."""
    fraction_of_the_noise(monkeypatch, 1 / 3 if "generalized" in name else 1 / 2)
    assert caught(AUDITS[name](), FAULTY_RUNS)


def no_truncation(patch: pytest.MonkeyPatch) -> Audit:
    """Take the truncation of long gradients away; return the audit that should show it."""
    honest = lp_mirror.truncated_sum
    patch.setattr(
        lp_mirror,
        "truncated_sum",
        lambda rows, batch, level, *rest: honest(rows, batch, 1e9, *rest),
    )
    return truncated(BATCHED(), 1.5, 2, 4, 2, scale=3.0)


def a_record_in_every_batch(patch: pytest.MonkeyPatch) -> Audit:
    """Put record 0 into every batch; return the audit that should show it."""
    honest = lp_mirror.truncated_sum
    patch.setattr(
        lp_mirror,
        "truncated_sum",
        lambda rows, batch, *rest: honest(rows, np.union1d(batch, [0]), *rest),
    )
    return truncated(BATCHED(), 1.5, 1, 4, 4, first_step=None)


def a_dual_sensitivity_in_l2(patch: pytest.MonkeyPatch) -> Audit:
    """Use the dual sensitivity as that in l2; return the audit that should show it."""
    patch.setattr(RegularSpace, "l2_ratio", 1.0)
    return AUDITS["batched"]()


def the_same_in_the_full_gradients(patch: pytest.MonkeyPatch) -> Audit:
    """Use the dual sensitivity of full gradients as that in l2; return their audit."""
    patch.setattr(RegularSpace, "l2_ratio", 1.0)
    return AUDITS["regularised"]()


def features_as_they_are(patch: pytest.MonkeyPatch) -> Audit:
    """Take the shrinking of features away; return the audit that should show it."""
    patch.setattr("dpsco_core.methods.lq.losses.DualLosses.of", lambda self, s: s)
    return AUDITS["regularised, generalized"]()


def the_whole_budget_in_every_step(patch: pytest.MonkeyPatch) -> Audit:
    """Spend the whole budget in each step; return the audit that should show it."""
    honest = RegularizedMirrorDescent.release

    def lavish(self: Any, sample: Any, plan: DescentPlan, *rest: Any) -> Release:
        """Release with the whole budget in each step."""
        return honest(self, sample, replace(plan, rho_step=plan.rho), *rest)

    patch.setattr(RegularizedMirrorDescent, "release", lavish)
    patch.setattr("dpsco_core.privacy.ledger.fits", lambda total, budget: True)
    return regularized(1.0, 4, "gaussian", steps=4)


def no_clip_in_the_noisy_steps(patch: pytest.MonkeyPatch) -> Audit:
    """Take the clips of the noisy steps away; return the audit that should show it."""
    patch.setattr("dpsco_core.methods.euclidean.lipschitz.Losses.of", lambda self, s: s)
    name = "dpsco_core.methods.euclidean.private_sgd.clipped_gradient"
    patch.setattr(name, lambda s, w, i, limit: s.gradient(w, i))
    return AUDITS["noisy, averages"]()


FAULTS = [
    no_truncation,
    features_as_they_are,
    no_clip_in_the_noisy_steps,
    *(
        pytest.param(fault, marks=pytest.mark.slow)
        for fault in (
            a_record_in_every_batch,
            a_dual_sensitivity_in_l2,
            the_same_in_the_full_gradients,
            the_whole_budget_in_every_step,
        )
    ),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_deliberate_fault_is_flagged(
    fault: Callable[[pytest.MonkeyPatch], Audit], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert caught(fault(monkeypatch), FAULTY_RUNS)


# These runs shuffle 300 records; the noise of each record alone would refute the claim in known
# order.


class InOrder(np.random.Generator):
    """A generator whose permutations are not secret."""

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Return the indices in their order."""
        return np.arange(x)


def shuffled(steps: int, batch: int) -> Audit:
    """Return a plan with the given steps and batches of the 300 records, at the shuffled noise."""
    setting = mirror_helpers.make_setting(1.5, 300, 1, SMALL_CLAIM, kind="linear")
    with mirror_helpers.forced("shuffled"):
        method, plan = replanned(SHUFFLED(), setting)
    assert plan.statistic.certificate is not None
    return truncated(method, 1.5, 1, 300, steps, claim=SMALL_CLAIM, batch_size=batch)


@pytest.mark.slow
def test_the_summed_noise_of_a_batch_hides_one_record_and_a_single_draw_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All 300 records form one batch: the sum of their noises satisfies the claim, one draw does
    not.
    """
    assert audited(shuffled(1, 300), RUNS) <= 0
    monkeypatch.setattr(TruncatedMeans, "draws", lambda self, batch: 1)
    assert caught(shuffled(1, 300), SHUFFLED_RUNS)


@pytest.mark.slow
def test_a_single_step_is_private_in_secret_order_only() -> None:
    """One record makes the only step, and 299 are left out; in known order it is record 0."""
    assert audited(shuffled(1, 1), RUNS) <= 0
    assert caught(shuffled(1, 1), SHUFFLED_RUNS, InOrder)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["gaussian", GG])
def test_all_steps_of_a_shuffled_run_may_be_released(noise: Any) -> None:
    """Every record is a step, in secret order; the statistic is the likelihood of all noisy
    gradients.
    """
    n, setting = 150, mirror_helpers.make_setting(1.5, 150, 2, SMALL_CLAIM, kind="linear")
    with mirror_helpers.forced("shuffled"):
        method, plan = replanned(SHUFFLED(noise=noise), setting)
    assert plan.statistic.certificate is not None
    audit = truncated(method, 1.5, 2, n, n, claim=SMALL_CLAIM, first_step=None, mixed=True)
    assert audited(audit, 1500) <= 0
