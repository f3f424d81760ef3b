"""What makes a gradient-descent method private, as checks that tests and mutation tests share.

Every check raises AssertionError on a fault. Statistical checks have a false-alarm rate of 1e-6
and take a fixed seed.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from dpsco_core.base.errors import InvalidInput
from dpsco_core.methods.euclidean import IterativeDescent, StrongCoordinatewiseDescent
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy import ZCDP, ApproxDP, BudgetExceeded
from dpsco_core.problems.base import Setting
from tests.methods.euclidean.framework.helpers import (
    FALSE_ALARM,
    Array,
    Recorder,
    replaced,
    run,
    step_noise,
    total_rho,
    visiting,
)
from tests.methods.mean.checks import ADVERSARIAL, adversarial

# Features or points with targets, for the one record that a neighbour replaces.
TARGETS = (0.0, 1.0, -1.0, math.nan, math.inf, -1e300, 1e9)
RECORDS = tuple((p, TARGETS[i % len(TARGETS)]) for i, p in enumerate(ADVERSARIAL))


def with_steps(method: Any, steps: int) -> Any:
    """Return the method with a number of steps, and what else it is left to itself."""
    if isinstance(method, StrongCoordinatewiseDescent):
        return replace(method, steps=steps)
    return replace(method, descent=Descent(steps=steps, step_size=0.1))


def check_ledger(method: Any, setting: Setting, sample: Any) -> None:
    """T entries of the same share; together the budget, or what a paper leaves of it."""
    try:
        result, ledger = run(method, setting, sample)
    except BudgetExceeded as error:
        raise AssertionError("more than the budget") from error
    steps, rho = int(result.diagnostics["steps"]), total_rho(method, setting.budget)
    strong = isinstance(method, StrongCoordinatewiseDescent)
    whole = strong and method.calibration == "tight"
    share = rho if whole else rho / steps
    for t, entry in enumerate(ledger.entries):
        assert entry.mechanism == "gaussian"
        assert math.isclose(entry.rho, share, rel_tol=1e-15)
        assert entry.part == ((1, t) if strong else None)
    spent, budget = ledger.spent(), setting.budget
    total = share if strong else rho
    if isinstance(budget, ZCDP):
        assert spent == ZCDP(rho=total)
        return
    assert isinstance(spent, ApproxDP) and isinstance(budget, ApproxDP)
    if method.calibration == "tight":
        assert spent == budget
    else:  # the papers' conversions are loose
        assert spent.delta == budget.delta
        assert spent.epsilon < budget.epsilon


def check_noise(method: Any, setting: Setting, sample: Any, seed: int = 0) -> None:
    """Chi-square: 8,000 draws put 5 % too little noise at 6 standard deviations."""
    stepped, rng, noise = with_steps(method, 4), np.random.default_rng(seed), np.empty(0)
    while noise.size < 8000:
        _, ledger = run(stepped, setting, sample, rng)
        noise_parts = [(b - a).ravel() for a, b in zip(ledger.exact, ledger.noisy, strict=True)]
        noise = np.concatenate([noise, *noise_parts])
    scale = step_noise(stepped, setting)
    assert math.isclose(ledger.entries[0].noise, scale, rel_tol=1e-9), "the ledger's own scale"
    law, total = stats.chi2(noise.size), float(np.square(noise / scale).sum())
    chance = 2 * min(law.cdf(total), law.sf(total))
    assert chance > FALSE_ALARM, f"noise {math.sqrt(total / noise.size):.4f} times the entries'"
    middle = stats.norm.isf(FALSE_ALARM / 2) / math.sqrt(noise.size)
    assert abs(float(np.mean(noise / scale))) < middle, "the noise is centred"


def noise_of(ledger: Recorder) -> Array:
    """All the noise of a run in units of its scale, in order."""
    scales = [entry.noise for entry in ledger.entries]
    parts = zip(ledger.exact, ledger.noisy, scales, strict=True)
    return np.concatenate([((b - a) / s).ravel() for a, b, s in parts])


def check_noise_is_fresh(method: Any, setting: Setting, sample: Any, other_sample: Any) -> None:
    """A generator adds the same noise to any data; no two steps and no two generators do."""
    noise, repeated_noise, fresh_noise = (
        noise_of(run(method, setting, data, seed)[1])
        for data, seed in ((sample, 1), (other_sample, 1), (sample, 2))
    )
    np.testing.assert_allclose(noise, repeated_noise, atol=1e-6)
    assert not np.any(np.abs(noise - fresh_noise) < 1e-12), "fresh noise for every generator"
    assert np.diff(np.sort(noise)).min(initial=1.0) > 1e-14, "fresh noise for every step"


def check_nothing_else_is_read(
    method: Any, setting: Setting, sample: Any, other_sample: Any
) -> None:
    """Where the releases say nothing, the whole result is the same for quite different data.

    So starts, radii, steps, averages and what is reported do not look at a record.
    """
    plan = method.plan(setting)
    runs = [run(method, setting, data, seed=4, blind=True) for data in (sample, other_sample)]
    (result, ledger), (other_result, other_ledger) = runs
    assert ledger.entries == other_ledger.entries
    assert result.diagnostics == other_result.diagnostics
    assert result.notes == other_result.notes
    assert method.plan(setting) == plan
    np.testing.assert_array_equal(result.value, other_result.value)
    np.testing.assert_array_equal(result.iterates, other_result.iterates)
    scale = step_noise(method, setting)
    assert math.isclose(ledger.entries[0].noise, scale, rel_tol=1e-9), "that of the plan"


def statistics(
    method: Any, setting: Setting, sample: Any, points: Array, seed: int = 0
) -> Recorder:
    """The exact statistic of every step, at the given points, whatever is released."""
    ledger = Recorder(setting.budget)
    with visiting(points):
        try:
            method.release(sample, method.plan(setting), ledger, np.random.default_rng(seed))
        except InvalidInput as error:  # the ledger refuses a statistic that is not finite
            raise AssertionError(f"a record reached the ledger: {error}") from error
    return ledger


def check_neighbours(
    method: Any,
    setting: Setting,
    sample: Any,
    neighbour: Any,
    points: Array,
    *,
    attained: bool = False,
) -> None:
    """No step's statistic moves further than its entry says, whatever points are queried."""
    recorder = statistics(method, setting, sample, points)
    neighbour_recorder = statistics(method, setting, neighbour, points)
    assert recorder.entries == neighbour_recorder.entries
    distances = []
    for entry, a, b in zip(recorder.entries, recorder.exact, neighbour_recorder.exact, strict=True):
        gap = a - b
        size = float(np.abs(gap).max())
        distances.append(size * float(np.linalg.norm(gap / size)) if size > 0 else 0.0)
        # Sums of n clipped records are rounded by a relative n 2^-53 at most.
        assert distances[-1] <= entry.sensitivity * (1 + 1e-9), (
            f"{distances[-1]} > {entry.sensitivity}"
        )
        if isinstance(method, IterativeDescent):
            assert np.sum(np.any(gap != 0, axis=1)) <= 1, "a record is in one group"
    if isinstance(method, StrongCoordinatewiseDescent):
        assert np.count_nonzero(distances) <= 1, "a record is in one block"
    if attained:
        assert max(distances) >= recorder.entries[0].sensitivity * (1 - 1e-6), "it is attained"


def check_worst_neighbours(method: Any, setting: Setting, sample: Any, points: Array) -> None:
    """Every record of the list replaces, and is replaced by, an ordinary one and its successor."""
    i = setting.n // 2
    for (old, old_target), (new, new_target) in zip(
        RECORDS, (*RECORDS[1:], RECORDS[0]), strict=True
    ):
        old_sample = replaced(sample, i, adversarial(old, setting.d), old_target)
        new_sample = replaced(sample, i, adversarial(new, setting.d), new_target)
        check_neighbours(method, setting, old_sample, new_sample, points)
        check_neighbours(method, setting, old_sample, sample, points)
