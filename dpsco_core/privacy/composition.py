"""What private releases guarantee together: entries, their composition, and what fits a budget."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dpsco_core.base.errors import require
from dpsco_core.privacy.budget import (
    EPSILON_MAX,
    RHO_MAX,
    ZCDP,
    ApproxDP,
    Budget,
    PureDP,
    gaussian_allowance,
    gaussian_epsilon,
    zcdp_epsilon,
    zcdp_rho,
)
from dpsco_core.privacy.mechanisms import gaussian_noise_std

# What may be lost to rounding when shares such as rho/T are summed.
ROUNDING = 1e-12

# rho, pure epsilon, epsilon and delta of approximate releases, and rho of noise that is shaped.
Shares = tuple[float, float, float, float, float]
NOTHING: Shares = (0.0, 0.0, 0.0, 0.0, 0.0)


Mechanism = Literal[
    "gaussian",
    "laplace",
    "shuffled gaussian",
    "objective perturbation",
    "generalized gaussian",
    "shuffled generalized gaussian",
    "noisy test",
    "tested gaussian",
]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One private release.

    Parameters
    ----------
    mechanism : str
        One of `Mechanism`.
    label : str
        What was released, in words.
    sensitivity : float
        The l2 (Gaussian), l1 (Laplace) or dual-norm (generalized Gaussian) sensitivity that the
        noise was calibrated to.
    proven_sensitivity : float
        The one that is proven. Larger than `sensitivity` only where a paper's own constant is
        too small; the release is then less private than it claims.
    noise : float
        Standard deviation (Gaussian) or scale (Laplace) per coordinate; the scale sigma of a
        generalized Gaussian, whose norm is sigma times a chi variable.
    size : int
        Number of noisy coordinates.
    rho, epsilon, delta : float
        The share, in the notion of the mechanism; 0 where it does not apply.
    disjoint_blocks : int
        More than 1 where the value is one statistic for each of so many disjoint blocks, of
        which a neighbour changes one (parallel composition).
    part : tuple of two int, optional
        The number of a partition of the records, and of the block of it that the release looks
        at: see `Ledger.disjoint`.
    """

    mechanism: Mechanism
    label: str
    sensitivity: float
    proven_sensitivity: float
    noise: float
    size: int
    rho: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
    disjoint_blocks: int = 1
    part: tuple[int, int] | None = None

    @property
    def flawed(self) -> bool:
        """Whether the noise is too small for the share that the release claims."""
        return self.proven_sensitivity > self.sensitivity * (1 + ROUNDING)

    @property
    def flaw(self) -> str:
        """A sentence on by how much the noise is too small; for an entry that is `flawed`."""
        return (
            f"{self.label}: calibrated to sensitivity {self.sensitivity:.4g}, but "
            f"{self.proven_sensitivity:.4g} is proven, so it is "
            f"{(self.proven_sensitivity / self.sensitivity) ** 2:.3g} times less private than "
            "claimed"
        )


PURE = ("laplace",)
# (epsilon, delta)-DP as a whole. A noisy test, pure of itself, is a part of such a whole: disjoint
# users may divide epsilon between tests and noise as they like, and the dearest whole counts.
APPROXIMATE = (
    "shuffled gaussian",
    "shuffled generalized gaussian",
    "objective perturbation",
    "noisy test",
    "tested gaussian",
)
# What has a zCDP guarantee of its own; pure releases are left out, see `Ledger.bound_by`.
CONCENTRATED = {"gaussian", "generalized gaussian"}


def gaussian_entry(
    label: str, l2_sensitivity: float, rho: float, size: int, disjoint_blocks: int
) -> Entry:
    """Return what is recorded of Gaussian noise that makes one value rho-zCDP, or each of some."""
    return Entry(
        mechanism="gaussian",
        label=label,
        sensitivity=l2_sensitivity,
        proven_sensitivity=l2_sensitivity,
        noise=gaussian_noise_std(l2_sensitivity, rho),
        size=size,
        rho=rho,
        disjoint_blocks=disjoint_blocks,
    )


def over_budget(entries: tuple[Entry, ...], budget: Budget) -> str:
    """Say that `entries` do not fit into `budget`."""
    rho, epsilon, delta = (
        sum(getattr(entry, share) for entry in entries) for share in ("rho", "epsilon", "delta")
    )
    return (
        f"{entries[0].label}: a share of rho={rho:.6g}, epsilon={epsilon:.6g}, "
        f"delta={delta:.6g} does not fit into what is left of {budget}"
    )


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The shares of some entries: rho, pure epsilon, and epsilon and delta of approximate ones.

    `rho` is that of Gaussian noise, whose exact curve is known; `other_rho` that of other
    concentrated releases, of which only the zCDP guarantee is.
    """

    rho: float = 0.0
    pure: float = 0.0
    approximate_epsilon: float = 0.0
    approximate_delta: float = 0.0
    other_rho: float = 0.0


def _share(entry: Entry) -> Shares:
    approximate = entry.mechanism in APPROXIMATE
    other = entry.mechanism == "generalized gaussian"
    return (
        0.0 if other else entry.rho,
        entry.epsilon if entry.mechanism in PURE else 0.0,
        entry.epsilon if approximate else 0.0,
        entry.delta if approximate else 0.0,
        entry.rho if other else 0.0,
    )


class Tally:
    """A running composition: one entry at a time, in constant time.

    Releases of different blocks of one partition of the records compose in parallel: a neighbour
    changes one block, so that the partition costs what its dearest block costs, share by share.
    The sums are compensated (Neumaier 1974), so that rounding does not grow with their number.
    """

    def __init__(self) -> None:
        self._sums: list[_Sum] = [_Sum() for _ in NOTHING]
        self._blocks: dict[tuple[int, int], list[_Sum]] = {}
        self._dearest: dict[int, Shares] = {}

    def totals(self, *entries: Entry) -> Totals:
        """Return the totals so far, with `entries` added, which are all of the same part."""
        extra = self._growth(*entries) if entries else NOTHING
        values = [s.value(x) for s, x in zip(self._sums, extra, strict=True)]
        return Totals(
            rho=values[0],
            pure=values[1],
            approximate_epsilon=values[2],
            approximate_delta=values[3],
            other_rho=values[4],
        )

    def add(self, entry: Entry) -> None:
        """Add `entry`."""
        growth = self._growth(entry)
        for total, x in zip(self._sums, growth, strict=True):
            total.add(x)
        if entry.part is not None:
            block = self._blocks.setdefault(entry.part, [_Sum() for _ in NOTHING])
            for total, x in zip(block, _share(entry), strict=True):
                total.add(x)
            partition = entry.part[0]
            dearest = self._dearest.get(partition, NOTHING)
            self._dearest[partition] = _largest(dearest, tuple(t.value() for t in block))

    def _growth(self, *entries: Entry) -> Shares:
        """By how much `entries`, all of the same part, would raise each total."""
        share, part = _share(entries[0]), entries[0].part
        for entry in entries[1:]:
            a, b, c, d, e = (x + y for x, y in zip(share, _share(entry), strict=True))
            share = (a, b, c, d, e)
        if part is None:
            return share
        dearest = self._dearest.get(part[0], NOTHING)
        block = self._blocks.get(part)
        own = (
            share if block is None else tuple(t.value(x) for t, x in zip(block, share, strict=True))
        )
        new = _largest(dearest, own)
        a, b, c, d, e = (x - y for x, y in zip(new, dearest, strict=True))
        return (a, b, c, d, e)


class _Sum:
    """A compensated sum."""

    def __init__(self) -> None:
        self._total = self._lost = 0.0

    def value(self, extra: float = 0.0) -> float:
        return math.fsum((self._total, self._lost, extra))

    def add(self, x: float) -> None:
        total = self._total + x
        larger, smaller = (self._total, x) if abs(self._total) >= abs(x) else (x, self._total)
        self._lost += (larger - total) + smaller
        self._total = total


def _largest(a: Shares, b: tuple[float, ...]) -> Shares:
    v, w, x, y, z = (max(p, q) for p, q in zip(a, b, strict=True))
    return (v, w, x, y, z)


def tally(entries: Iterable[Entry]) -> Totals:
    """Return the totals of `entries`."""
    running = Tally()
    for entry in entries:
        running.add(entry)
    return running.totals()


def fits(total: Totals, budget: Budget) -> bool:
    """Whether releases with these totals meet `budget`, up to rounding."""
    slack = 1 + ROUNDING
    approximate = bool(total.approximate_epsilon or total.approximate_delta)  # or NaN
    match budget:
        case PureDP(epsilon=epsilon):
            only_pure = not total.rho and not total.other_rho and not approximate
            return only_pure and total.pure <= epsilon * slack
        case ZCDP(rho=limit):
            return not approximate and _concentrated(total) <= limit * slack
        case ApproxDP(epsilon=epsilon, delta=delta):
            if not total.pure and not approximate:
                allowed = (
                    zcdp_rho(epsilon, delta) if total.other_rho else gaussian_allowance(budget)
                )
                return total.rho + total.other_rho <= allowed * slack
            fits_delta = total.approximate_delta <= delta * slack
            return fits_delta and _approximate(total, delta) <= epsilon * slack


def compose(entries: tuple[Entry, ...], budget: Budget) -> Budget:
    r"""Return what `entries` guarantee together, in the notion of `budget`.

    Pure shares add in epsilon, and Gaussian shares in rho (adaptive composition, Bun and Steinke
    2016, Lemma 2.3). In an (epsilon, delta) budget the latter have the exact Gaussian curve, unless
    other concentrated releases are among them, of which the rho is all that is known. Mixed
    releases of such a budget use the better of basic composition and of zCDP with
    :math:`\varepsilon^2/2` for the pure part. Pure releases alone leave its delta unspent: together
    they are pure.

    Raises
    ------
    InvalidInput
        If an entry has no guarantee in that notion, or all of them together have none.
    """
    total = tally(entries)
    only_pure = not total.rho and not total.other_rho and not total.approximate_epsilon
    no_delta = only_pure and not total.approximate_delta
    match budget:
        case PureDP():
            require(only_pure, "entries", "pure releases under a pure budget", str(total))
            return PureDP(epsilon=_at_most(total.pure, EPSILON_MAX))
        case ZCDP():
            concentrated = not total.approximate_epsilon
            require(
                concentrated, "entries", "concentrated releases under a zCDP budget", str(total)
            )
            return ZCDP(rho=_at_most(_concentrated(total), RHO_MAX))
        case ApproxDP() if no_delta and total.pure:
            return PureDP(epsilon=_at_most(total.pure, EPSILON_MAX))
        case ApproxDP(delta=delta):
            epsilon = max(_at_most(_approximate(total, delta), EPSILON_MAX), 1e-300)
            alone = total.approximate_delta and not total.rho and not total.other_rho
            return ApproxDP(epsilon=epsilon, delta=total.approximate_delta if alone else delta)


def _concentrated(total: Totals) -> float:
    return total.rho + total.other_rho + total.pure**2 / 2


def _approximate(total: Totals, delta: float) -> float:
    """Return the epsilon at `delta`; infinite where the approximate releases leave no delta."""
    rho = total.rho + total.other_rho
    if not rho:
        return total.approximate_epsilon + total.pure
    rest = delta - total.approximate_delta
    if rest <= 0:
        return math.inf
    own = zcdp_epsilon(rho, rest) if total.other_rho else gaussian_epsilon(rho, rest)
    own += total.pure
    if total.pure:
        own = min(own, zcdp_epsilon(_concentrated(total), rest))
    return total.approximate_epsilon + own


def _at_most(value: float, largest: float) -> float:
    """Return `largest` where `value` exceeds it by rounding only."""
    return min(value, largest) if value <= largest * (1 + ROUNDING) else value


def snap(spent: Budget, budget: Budget) -> Budget:
    """Return `budget` itself where `spent` differs from it by rounding only.

    Pure releases under an (epsilon, delta) budget have its epsilon then, and no delta.
    """
    if isinstance(spent, PureDP) and isinstance(budget, ApproxDP):
        same = math.isclose(spent.epsilon, budget.epsilon, rel_tol=10 * ROUNDING)
        return PureDP(epsilon=budget.epsilon) if same else spent
    pairs = [(getattr(spent, name), getattr(budget, name)) for name in spent.__dataclass_fields__]
    # The exact Gaussian curve is inverted numerically: its round trip is good to 1e-9.
    tolerance = 1e-9 if isinstance(budget, ApproxDP) else 10 * ROUNDING
    same = all(math.isclose(a, b, rel_tol=tolerance) for a, b in pairs)
    return budget if same or _same_rho(spent, budget) else spent


def _same_rho(spent: Budget, budget: Budget) -> bool:
    """Whether two approximate budgets of one delta stand for the same rho, to rounding.

    Where delta pays for nearly all of it, a tiny epsilon turns on the last digits of rho.
    """
    if not (isinstance(spent, ApproxDP) and isinstance(budget, ApproxDP)):
        return False
    if spent.delta != budget.delta or not 0.5 < spent.epsilon / budget.epsilon < 2:
        return False
    one, two = gaussian_allowance(spent), gaussian_allowance(budget)
    return math.isclose(one, two, rel_tol=10 * ROUNDING)
