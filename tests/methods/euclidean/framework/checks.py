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


def check_ledger(method: Any, where: Setting, sample: Any) -> None:
    """T entries of the same share; together the budget, or what a paper leaves of it."""
    try:
        result, ledger = run(method, where, sample)
    except BudgetExceeded as error:
        raise AssertionError("more than the budget") from error
    steps, rho = int(result.diagnostics["steps"]), total_rho(method, where.budget)
    strong = isinstance(method, StrongCoordinatewiseDescent)
    whole = strong and method.calibration == "tight"
    share = rho if whole else rho / steps
    for t, entry in enumerate(ledger.entries):
        assert entry.mechanism == "gaussian"
        assert math.isclose(entry.rho, share, rel_tol=1e-15)
        assert entry.part == ((1, t) if strong else None)
    spent, budget = ledger.spent(), where.budget
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


def check_noise(method: Any, where: Setting, sample: Any, seed: int = 0) -> None:
    """Chi-square: 8,000 draws put 5 % too little noise at 6 standard deviations."""
    one, rng, noise = with_steps(method, 4), np.random.default_rng(seed), np.empty(0)
    while noise.size < 8000:
        _, ledger = run(one, where, sample, rng)
        drawn = [(b - a).ravel() for a, b in zip(ledger.exact, ledger.noisy, strict=True)]
        noise = np.concatenate([noise, *drawn])
    scale = step_noise(one, where)
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


def check_noise_is_fresh(method: Any, where: Setting, sample: Any, other: Any) -> None:
    """A generator adds the same noise to any data; no two steps and no two generators do."""
    first, same, second = (
        noise_of(run(method, where, data, seed)[1])
        for data, seed in ((sample, 1), (other, 1), (sample, 2))
    )
    np.testing.assert_allclose(first, same, atol=1e-6)
    assert not np.any(np.abs(first - second) < 1e-12), "fresh noise for every generator"
    assert np.diff(np.sort(first)).min(initial=1.0) > 1e-14, "fresh noise for every step"


def check_nothing_else_is_read(method: Any, where: Setting, sample: Any, other: Any) -> None:
    """Where the releases say nothing, the whole result is the same for quite different data.

    So starts, radii, steps, averages and what is reported do not look at a record.
    """
    before = method.plan(where)
    runs = [run(method, where, data, seed=4, blind=True) for data in (sample, other)]
    (one, first), (two, second) = runs
    assert first.entries == second.entries
    assert one.diagnostics == two.diagnostics
    assert one.notes == two.notes
    assert method.plan(where) == before
    np.testing.assert_array_equal(one.value, two.value)
    np.testing.assert_array_equal(one.iterates, two.iterates)
    scale = step_noise(method, where)
    assert math.isclose(first.entries[0].noise, scale, rel_tol=1e-9), "that of the plan"


def statistics(method: Any, where: Setting, sample: Any, points: Array, seed: int = 0) -> Recorder:
    """The exact statistic of every step, at the given points, whatever is released."""
    ledger = Recorder(where.budget)
    with visiting(points):
        try:
            method.release(sample, method.plan(where), ledger, np.random.default_rng(seed))
        except InvalidInput as error:  # the ledger refuses a statistic that is not finite
            raise AssertionError(f"a record reached the ledger: {error}") from error
    return ledger


def check_neighbours(
    method: Any,
    where: Setting,
    sample: Any,
    other: Any,
    points: Array,
    *,
    attained: bool = False,
) -> None:
    """No step's statistic moves further than its entry says, whatever points are queried."""
    first = statistics(method, where, sample, points)
    second = statistics(method, where, other, points)
    assert first.entries == second.entries
    moved = []
    for entry, a, b in zip(first.entries, first.exact, second.exact, strict=True):
        gap = a - b
        size = float(np.abs(gap).max())
        moved.append(size * float(np.linalg.norm(gap / size)) if size > 0 else 0.0)
        # Sums of n clipped records are rounded by a relative n 2^-53 at most.
        assert moved[-1] <= entry.sensitivity * (1 + 1e-9), f"{moved[-1]} > {entry.sensitivity}"
        if isinstance(method, IterativeDescent):
            assert np.sum(np.any(gap != 0, axis=1)) <= 1, "a record is in one group"
    if isinstance(method, StrongCoordinatewiseDescent):
        assert np.count_nonzero(moved) <= 1, "a record is in one block"
    if attained:
        assert max(moved) >= first.entries[0].sensitivity * (1 - 1e-6), "it is attained"


def check_worst_neighbours(method: Any, where: Setting, sample: Any, points: Array) -> None:
    """Every record of the list replaces, and is replaced by, an ordinary one and its successor."""
    i = where.n // 2
    for (old, before), (new, after) in zip(RECORDS, (*RECORDS[1:], RECORDS[0]), strict=True):
        one = replaced(sample, i, adversarial(old, where.d), before)
        two = replaced(sample, i, adversarial(new, where.d), after)
        check_neighbours(method, where, one, two, points)
        check_neighbours(method, where, one, sample, points)
