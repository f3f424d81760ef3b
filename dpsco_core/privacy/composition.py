"""What private releases guarantee together: entries, their composition, and what fits a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from dpsco_core.errors import require
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
)

# What may be lost to rounding when shares such as rho/T are summed.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One private release.

    Parameters
    ----------
    mechanism : {"gaussian", "laplace", "shuffled gaussian"}
    label : str
        What was released, in words.
    sensitivity : float
        The l2 (Gaussian) or l1 (Laplace) sensitivity that the noise was calibrated to.
    proven_sensitivity : float
        The one that is proven. Larger than `sensitivity` only where a paper's own constant is
        too small; the release is then less private than it claims.
    noise : float
        Standard deviation (Gaussian) or scale (Laplace) per coordinate.
    size : int
        Number of noisy coordinates.
    rho, epsilon, delta : float
        The share, in the notion of the mechanism; 0 where it does not apply.
    disjoint_blocks : int
        More than 1 where the value is one statistic for each of so many disjoint blocks, of
        which a neighbour changes one (parallel composition).
    """

    mechanism: Literal["gaussian", "laplace", "shuffled gaussian"]
    label: str
    sensitivity: float
    proven_sensitivity: float
    noise: float
    size: int
    rho: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
    disjoint_blocks: int = 1

    @property
    def flawed(self) -> bool:
        """Whether the noise is too small for the share that the release claims."""
        return self.proven_sensitivity > self.sensitivity * (1 + ROUNDING)


@dataclass(frozen=True, kw_only=True)
class _Totals:
    """The shares of some entries, added up exactly and rounded once."""

    rho: float
    pure: float
    shuffled_epsilon: float
    shuffled_delta: float


def _totals(entries: tuple[Entry, ...]) -> _Totals:
    shuffled = [e for e in entries if e.mechanism == "shuffled gaussian"]
    return _Totals(
        rho=math.fsum(e.rho for e in entries),
        pure=math.fsum(e.epsilon for e in entries if e.mechanism == "laplace"),
        shuffled_epsilon=math.fsum(e.epsilon for e in shuffled),
        shuffled_delta=math.fsum(e.delta for e in shuffled),
    )


def fits(entries: tuple[Entry, ...], budget: Budget) -> bool:
    """Whether the composition of `entries` meets `budget`, up to rounding."""
    slack = 1 + ROUNDING
    total = _totals(entries)
    match budget:
        case PureDP(epsilon=epsilon):
            return not total.rho and not total.shuffled_epsilon and total.pure <= epsilon * slack
        case ZCDP(rho=limit):
            return not total.shuffled_epsilon and _concentrated(total) <= limit * slack
        case ApproxDP(epsilon=epsilon, delta=delta):
            if not total.pure and not total.shuffled_epsilon:
                return total.rho <= gaussian_allowance(budget) * slack
            fits_delta = total.shuffled_delta <= delta * slack
            return fits_delta and _approximate(total, delta) <= epsilon * slack


def compose(entries: tuple[Entry, ...], budget: Budget) -> Budget:
    r"""Return what `entries` guarantee together, in the notion of `budget`.

    Pure shares add in epsilon, and Gaussian shares in rho (adaptive composition, Bun and Steinke
    2016, Lemma 2.3). Mixed releases of an (epsilon, delta) budget use the better of basic
    composition and of zCDP with :math:`\varepsilon^2/2` for the pure part.

    Raises
    ------
    InvalidInput
        If an entry has no guarantee in that notion, or all of them together have none.
    """
    total = _totals(entries)
    only_pure = not total.rho and not total.shuffled_epsilon
    match budget:
        case PureDP():
            require(only_pure, "entries", "pure releases under a pure budget", str(total))
            return PureDP(epsilon=_at_most(total.pure, EPSILON_MAX))
        case ZCDP():
            concentrated = not total.shuffled_epsilon
            require(concentrated, "entries", "not shuffled under a zCDP budget", str(total))
            return ZCDP(rho=_at_most(_concentrated(total), RHO_MAX))
        case ApproxDP(delta=delta):
            epsilon = max(_at_most(_approximate(total, delta), EPSILON_MAX), 1e-300)
            only_shuffled = total.shuffled_delta and not total.rho
            return ApproxDP(epsilon=epsilon, delta=total.shuffled_delta if only_shuffled else delta)


def _concentrated(total: _Totals) -> float:
    return total.rho + total.pure**2 / 2


def _approximate(total: _Totals, delta: float) -> float:
    """Return the epsilon at `delta`; infinite where the shuffled releases leave no delta."""
    if not total.rho:
        return total.shuffled_epsilon + total.pure
    rest = delta - total.shuffled_delta
    if rest <= 0:
        return math.inf
    own = gaussian_epsilon(total.rho, rest) + total.pure
    if total.pure:
        own = min(own, zcdp_epsilon(_concentrated(total), rest))
    return total.shuffled_epsilon + own


def _at_most(value: float, largest: float) -> float:
    """Return `largest` where `value` exceeds it by rounding only."""
    return min(value, largest) if value <= largest * (1 + ROUNDING) else value


def snap(spent: Budget, budget: Budget) -> Budget:
    """Return `budget` itself where `spent` differs from it by rounding only."""
    pairs = [(getattr(spent, name), getattr(budget, name)) for name in spent.__dataclass_fields__]
    # The exact Gaussian curve is inverted numerically: its round trip is good to 1e-9.
    tolerance = 1e-9 if isinstance(budget, ApproxDP) else 10 * ROUNDING
    same = all(math.isclose(a, b, rel_tol=tolerance) for a, b in pairs)
    return budget if same else spent
