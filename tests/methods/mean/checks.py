"""Privacy checks of mean estimators, shared by the tests and the mutation tests.

Every check raises AssertionError on a fault. Statistical checks have a false-alarm rate of 1e-6 and
a fixed seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import DenseRows
from dpsco_core.methods.base import Release
from dpsco_core.methods.mean import CoordinatewiseCDP, CoordinatewisePure, IterativeUpdating
from dpsco_core.privacy import ZCDP, ApproxDP, Budget, Ledger, PureDP
from dpsco_core.problems.base import Constants, Setting
from tests.methods.mean.formulas import FAMILIES, expected_noise, share

Array = NDArray[np.float64]

FALSE_ALARM = 1e-6
PURE, CONCENTRATED, APPROXIMATE = (
    PureDP(epsilon=1.0),
    ZCDP(rho=0.5),
    ApproxDP(epsilon=1, delta=1e-6),
)


def make_setting(
    n: int = 100,
    d: int = 3,
    order: float = 3.0,
    budget: Budget = CONCENTRATED,
    *,
    coordinate_moment: float = 1.0,
    directional_moment: float = 2.0,
    mean_bound: float = 1.0,
) -> Setting:
    """Return a setting with unit moments, unless overridden."""
    return Setting(
        n=n,
        d=d,
        moment_order=order,
        budget=budget,
        constants=Constants(
            coordinate_moment=coordinate_moment,
            directional_moment=directional_moment,
            variance_trace=d * coordinate_moment ** (2 / order),
            mean_gradient_bound=mean_bound,
        ),
    )


# Estimators whose noise has a formula here; `tests/trust` checks every estimator of the catalogue.
PRIVATE = FAMILIES
GAUSSIAN = tuple(m for m in PRIVATE if m.card.privacy == "zcdp")


@dataclass
class Recorder(Ledger):
    """A ledger that also remembers the exact statistic and the noisy one of every release."""

    exact: list[Array] = field(default_factory=list)
    noisy: list[Array] = field(default_factory=list)

    def release(self, mechanism: Any, value: Array, rng: Any, *, label: str = "") -> Any:
        """Release a value, and record it with and without its noise."""
        released = super().release(mechanism, value, rng, label=label)
        self.exact.append(np.array(value))
        self.noisy.append(np.array(released))
        return released


def run(method: Any, setting: Setting, x: Array, seed: int | np.random.Generator = 0) -> Recorder:
    """Release once and return the recorder, after checking that it is one finite release."""
    ledger = Recorder(setting.budget)
    try:
        result: Release = method.release(
            DenseRows(x), method.plan(setting), ledger, np.random.default_rng(seed)
        )
    except InvalidInput as refusal:
        raise AssertionError(f"refused because of a record: {refusal}") from refusal
    assert result.ledger is ledger
    assert len(ledger.entries) == len(ledger.exact) == 1, "one release goes through the ledger"
    assert np.isfinite(result.value).all()
    assert result.value.shape == (setting.d,)
    return ledger


def change_of_statistic(
    method: Any, setting: Setting, x: Array, neighbour: Array, seed: int = 0
) -> Array:
    """Return the difference of the exact statistics of two data sets under the same split."""
    return run(method, setting, x, seed).exact[0] - run(method, setting, neighbour, seed).exact[0]


def sensitivity_norm(method: Any, difference: Array) -> float:
    """Return the norm that the method's noise is calibrated to: l1 (Laplace) or l2."""
    if isinstance(method, CoordinatewisePure):
        return float(np.abs(difference).sum())
    scale = float(np.abs(difference).max())
    return scale * float(np.linalg.norm(difference / scale)) if scale > 0 else 0.0


def check_sensitivity(
    method: Any,
    setting: Setting,
    x: Array,
    neighbour: Array,
    *,
    attained: bool = False,
    seed: int = 0,
) -> None:
    """Check that one replaced record moves the statistic by at most the sensitivity of its
    noise.
    """
    assert np.sum(~np.all((x == neighbour) | (np.isnan(x) & np.isnan(neighbour)), axis=1)) <= 1
    recorder, neighbour_recorder = (
        run(method, setting, x, seed),
        run(method, setting, neighbour, seed),
    )
    entry = recorder.entries[0]
    difference = recorder.exact[0] - neighbour_recorder.exact[0]
    distance = sensitivity_norm(method, difference)
    allowed = entry.proven_sensitivity if entry.flawed else entry.sensitivity
    # Sums of n clipped records have a relative rounding error of at most n 2^-53.
    assert distance <= allowed * (1 + 1e-9), f"moved by {distance}, calibrated to {allowed}"
    if isinstance(method, IterativeUpdating):
        assert np.sum(np.any(difference != 0, axis=1)) <= 1, "a record is in one group"
    if attained:
        assert math.isclose(distance, allowed, rel_tol=1e-6), (
            f"{distance} does not attain {allowed}"
        )


def worst_neighbours(method: Any, setting: Setting) -> tuple[Array, Array]:
    """Return two data sets on which the sensitivity is attained.

    See theory/kamath-liu-zhang.md, 7, item 2.
    """
    x = np.zeros((setting.n, setting.d))
    if isinstance(method, (CoordinatewiseCDP, CoordinatewisePure)):
        parts = method.plan(setting).statistic
        size = setting.n // parts.blocks
        whole_blocks = parts.blocks - 1
        for i in range(2 * ((whole_blocks - (whole_blocks % 2)) // 2)):
            low = (i + 1) * size
            x[low : low + size] = (-1) ** i * 3 * parts.threshold
    neighbour = x.copy()
    x[0], neighbour[0] = 1e9, -1e9
    return x, neighbour


def check_noise(method: Any, setting: Setting, x: Array, seed: int = 0) -> None:
    """Check by an exact test that the noise has the printed or the proven scale.

    Sums of squares over the variance are chi-square (Gaussian noise); sums of absolute values over
    the scale are gamma (Laplace noise). Either number of draws is so large that 5 % too little
    noise is 6 standard deviations off.
    """
    draws = 16_000 if isinstance(method, CoordinatewisePure) else 8_000
    rng, noise = np.random.default_rng(seed), np.empty(0)
    while noise.size < draws:
        ledger = run(method, setting, x, rng)
        noise = np.concatenate([noise, (ledger.noisy[0] - ledger.exact[0]).ravel()])
    scale = expected_noise(method, setting)
    assert math.isclose(ledger.entries[0].noise, scale, rel_tol=1e-9), "the ledger's own scale"
    if isinstance(method, CoordinatewisePure):
        law, total, power = stats.gamma(noise.size), float(np.abs(noise / scale).sum()), 1.0
    else:
        law, total, power = stats.chi2(noise.size), float(np.square(noise / scale).sum()), 0.5
    chance = 2 * min(law.cdf(total), law.sf(total))
    ratio = (total / noise.size) ** power
    assert chance > FALSE_ALARM, f"noise {ratio:.4f} times what is expected"
    middle = stats.norm.isf(FALSE_ALARM / 2) * math.sqrt(2 / noise.size)
    assert abs(float(np.mean(noise / scale))) < middle, "the noise is centred"


def check_split_is_fresh(method: IterativeUpdating, setting: Setting, seed: int = 0) -> None:
    """Check that record 0 is in a uniformly random group, redrawn at every release.

    Only record 0 is not zero, so the group with a nonzero exact mean contains it. Chi-square at
    `FALSE_ALARM`; the last cell counts the releases that leave it out.
    """
    x = np.zeros((setting.n, setting.d))
    x[0] = 1e9
    groups, releases, rng = method.plan(setting).statistic.groups, 600, np.random.default_rng(seed)
    counts = np.zeros(groups + 1)
    for _ in range(releases):
        means = run(method, setting, x, rng).exact[0]
        groups_with_it = np.flatnonzero(means.any(axis=1))
        assert len(groups_with_it) <= 1
        counts[groups_with_it[0] if len(groups_with_it) else groups] += 1
    used_share = (setting.n // groups) / setting.n
    expected = releases * np.array([used_share] * groups + [1 - used_share * groups])
    if expected[-1] < 1e-9:
        assert counts[-1] == 0
        counts, expected = counts[:-1], expected[:-1]
    assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > FALSE_ALARM


def check_ledger_equals_budget(method: Any, setting: Setting, x: Array) -> None:
    """Check that one entry spends the budget, or less where a paper's conversion is loose."""
    ledger = run(method, setting, x)
    spent, budget = ledger.spent(), setting.budget
    loose = (
        method.calibration == "paper"
        and isinstance(budget, ApproxDP)
        and ledger.entries[0].mechanism == "gaussian"
    )
    if ledger.entries[0].mechanism == "laplace" and isinstance(budget, ApproxDP):
        assert spent == PureDP(epsilon=budget.epsilon), "Laplace noise spends no delta"
        return
    if not loose:
        assert spent == budget
        return
    assert isinstance(spent, ApproxDP)
    assert isinstance(budget, ApproxDP)
    assert spent.delta == budget.delta
    assert 0.5 * budget.epsilon < spent.epsilon < budget.epsilon
    assert math.isclose(ledger.entries[0].rho, share(method, budget), rel_tol=1e-12)
