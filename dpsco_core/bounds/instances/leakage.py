"""Leakage: how much a tracing test may learn of one record from the output of a private algorithm.

A lower bound by tracing compares the leakage with what an accurate answer must reveal.
See theory/approx-lower-bounds.md, 2, and theory/sharper-approx-bounds.md, 5.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

from dpsco_core.base.errors import require
from dpsco_core.base.root import find_root

# Under (epsilon, delta)-DP with a small delta, this spread of the prior gives the largest bounds.
FULL = 1.0
# This is the largest spread at which every coordinate of the anti-copy has variance proxy 32/27.
# The catalogue's data have this spread, so that the bounds for both privacy notions apply to them.
CONCENTRATED = math.sqrt(1 - (1 - 2 * math.sqrt(2) / 3) ** 2)


@dataclass(frozen=True, kw_only=True)
class Leakage:
    r"""Upper bounds on the mean :math:`E_PZ` of a tracing test Z of one record.

    The output is f. See Lemmas A and B of theory/approx-lower-bounds.md, 2.
    """

    spread: float  # the spread r of the prior for which the leakage is bounded
    # For each pair (c, e), :math:`E_PZ\le c\sqrt{E\|f\|^2}+e\sqrt dF` if :math:`\|f\|\le F`.
    pairs: tuple[tuple[float, float], ...]
    # This is one more bound on :math:`E_PZ` for :math:`\|f\|\le1`, besides those of the pairs.
    capped: float = math.inf

    def kappa(self, d: int) -> float:
        r"""Return the least bound on the test's mean in dimension d, for outputs of norm <= 1."""
        return min(self.capped, *(c + e * math.sqrt(d) for c, e in self.pairs))


def approximate_leakage(epsilon: float, delta: float, d: int, spread: float = FULL) -> Leakage:
    r"""Return the leakage of (epsilon, delta)-DP algorithms in dimension d; delta may be 0.

    The first two pairs are Lemma A of theory/approx-lower-bounds.md, 2; the second is taken at
    epsilon = 1/2 if epsilon is smaller, since the algorithm is (1/2, delta)-DP as well. The third
    is Lemma A' of theory/sharper-approx-bounds.md, 5.

    Examples
    --------
    >>> [round(approximate_leakage(e, 1e-6, 20).kappa(20), 6) for e in (0.1, 1, 3)]
    [0.050421, 0.521134, 1.44368]
    """
    require(epsilon > 0, "epsilon", "positive", epsilon)
    require(0 <= delta < 1, "delta", "at least 0 and below 1", delta)
    square = spread * spread
    peak = (2 - math.sqrt(4 - 3 * square)) / 3
    # Lemma A calls this deviation M.
    deviation = (square - peak * peak) / math.sqrt(1 - peak)
    # Lemma A calls this reach zeta; it is 2 (1 - sqrt(1 - r^2)) at spread r.
    reach = 2 * square / (1 + math.sqrt(1 - square))
    fresh = (math.sqrt(2 * max(epsilon, 0.5)) * square, delta * reach)
    if epsilon > 600:
        return Leakage(spread=spread, pairs=(fresh,))
    growth = math.expm1(epsilon)
    swapped = (growth / math.sqrt(2 * (growth + 2)) * deviation, 2 * delta * reach)
    c = max(expectile(epsilon), math.sqrt(delta * d))
    sharp = (c * square, delta * math.sqrt(d) / c * square)
    return Leakage(spread=spread, pairs=(swapped, fresh, sharp))


@lru_cache(maxsize=256)
def expectile(epsilon: float) -> float:
    r"""Return :math:`c_\varepsilon`, the largest expectile of a test Z of unit variance and proxy.

    It is the least t for which :math:`(e^\varepsilon-1)E(Z-t)_+\le t` is proven of all of these.
    See theory/sharper-approx-bounds.md, 5.

    Examples
    --------
    >>> [round(expectile(e), 5) for e in (0.1, 0.5, 1, 2, 4)]
    [0.05002, 0.25261, 0.5211, 1.02461, 1.82281]
    """
    log_growth = epsilon + math.log(-math.expm1(-epsilon))

    def excess(t: float) -> float:
        """Return the log ratio of the two sides of the expectile's inequality at t."""
        rate = (t + math.sqrt(t * t + 4)) / 2
        return log_growth + rate * rate / 2 - rate * t - 1 - math.log(rate) - math.log(t)

    low, high = 1e-12, 2 * math.sqrt(2 * max(epsilon, 0.1)) + 2
    root = find_root(excess, low, high, xtol=1e-15) if excess(low) > 0 else low
    return float(min(math.sinh(min(epsilon, 100.0) / 2), root * (1 + 1e-12)))


def concentrated_leakage(rho: float) -> Leakage:
    """Return the leakage of rho-zCDP algorithms, for a prior of spread `CONCENTRATED`.

    It is Lemma B of theory/approx-lower-bounds.md, 2.
    """
    require(rho > 0, "rho", "positive", rho)
    root = math.sqrt(2 * rho) * CONCENTRATED**2
    capped = math.sqrt(16 / 27 * rho * moment_factor(0.75 * rho))
    return Leakage(spread=CONCENTRATED, pairs=((root, 0.0),), capped=capped)


def moment_factor(x: float) -> float:
    r"""Return the K >= 1 with :math:`K-1-\ln K=2x`, which Lemma B of `concentrated_leakage` needs.

    Newton's method approaches the root from above.

    Examples
    --------
    >>> [round(moment_factor(x), 6) for x in (0.01, 0.375, 1.0)]
    [1.21355, 2.768196, 4.505241]
    """
    if x <= 0:
        return 1.0
    y = 2 * x + 2 * math.sqrt(x)
    for _ in range(60):
        step = (y - math.log1p(y) - 2 * x) * (1 + y) / y
        y -= step
        if abs(step) <= 1e-15 * y:
            break
    return 1 + y
