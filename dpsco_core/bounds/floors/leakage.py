r"""How much the output may reveal of one record's score: kappa of theory/instance-floors.md, 2.

Given all other records, the output O is that of a channel from one record x. With s the score of
the record, which tells of a shift of the law, and :math:`\lambda` its information, privacy ensures

.. math:: \big|E\langle h(O),s(x)\rangle\big|\le\kappa\sqrt\lambda\,\big(E\|h(O)\|^2\big)^{1/2}
    \qquad\text{for every square-integrable }h.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

from dpsco_core.data.shifts import Shifts
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget

# Each triple (u, b, w) is a certificate of an upper bound, (u/4)(e^(2 rho) - 1) + w (e^(b(b-1) rho)
# - 1), on the squared difference of a channel's densities at mirrored records. It holds because L^2
# q <= u L q/(1-q) + w [L^b g_b(q) - 1 - b(L-1)] for L >= 0 and 0 <= q < 1, with g_b(q) = ((1 + sqrt
# q)^b + (1 - sqrt q)^b)/2. See theory/instance-floors.md, 2.
CERTIFICATES = (
    (1.00371, 220, 1.92e-8),
    (1.00698, 126, 9.59e-8),
    (1.01183, 72, 5.36e-7),
    (1.02134, 40, 3.2e-6),
    (1.0336, 22, 2.26e-5),
    (1.055, 12, 1.64e-4),
    (1.0763, 9, 4.07e-4),
    (1.0782, 7, 1.06e-3),
    (1.0837, 5, 3.77e-3),
    (1.0762, 4, 9.25e-3),
    (1.0098, 3, 3.4e-2),
)


def _expm1(exponent: float) -> float:
    """Return e^x - 1; infinite if it exceeds the range of a float."""
    return math.expm1(exponent) if exponent < 700 else math.inf


@lru_cache(maxsize=1024)
def certified(rho: float) -> float:
    r"""Return an upper bound on a squared difference of densities under rho-zCDP.

    The densities are those of a channel's output at two mirrored records, and the bound is the
    least of all `CERTIFICATES`. As rho goes to 0 the best possible bound is :math:`\rho/2`.

    Examples
    --------
    >>> [round(certified(rho) / rho, 6) for rho in (1e-6, 0.028014, 0.5)]
    [0.502803, 0.63937, 2.165377]
    """
    return min(u / 4 * _expm1(2 * rho) + w * _expm1(b * (b - 1) * rho) for u, b, w in CERTIFICATES)


def concentrated(rho: float, law: Shifts) -> float:
    """Return the leakage kappa of rho-zCDP algorithms; see theory/instance-floors.md, 2.1."""
    squares = [_expm1(2 * rho), 2 * rho * law.spread]
    if law.symmetric:
        squares += [certified(rho), 0.5 * (_expm1(2 * rho) - math.expm1(-rho))]
    else:
        squares.append(2 * certified(rho))
    return math.sqrt(min(squares))


def pure(epsilon: float, law: Shifts) -> float:
    """Return the leakage kappa of epsilon-DP algorithms; see theory/instance-floors.md, 2.2."""
    if not law.symmetric:
        square = math.sinh(epsilon / 2) ** 2 if epsilon < 700 else math.inf
    elif epsilon <= math.log(3):
        square = math.tanh(epsilon / 2) ** 2
    else:
        square = _expm1(epsilon) / 8
    # With z = epsilon/(1 - exp(-epsilon)) the excess is z - 1, and the gain z - 1 - ln z, which is
    # at most (z - 1)^2/2.
    excess = epsilon / -math.expm1(-epsilon) - 1
    gain = excess - math.log1p(excess) if excess > 1e-6 else excess**2 / 2
    return math.sqrt(min(square, 2 * law.spread * gain))


def approximate(epsilon: float, delta: float, law: Shifts) -> float:
    """Return the leakage kappa of (epsilon, delta)-DP algorithms, with delta > 0.

    It is infinite for a law without cuts of its score; see theory/instance-floors.md, 2.3.
    """
    return min(
        (
            rate + weight * cut.size + cut.rest
            for rate, weight in _information_rates(epsilon, delta, law)
            for cut in law.cuts
        ),
        default=math.inf,
    )


def _information_rates(epsilon: float, delta: float, law: Shifts) -> Iterator[tuple[float, float]]:
    """Yield pairs (a, b) such that scores of size at most c have a leakage of at most a + b c.

    The first number is that at delta = 0; see theory/instance-floors.md, 2.3.
    """
    grown = _expm1(epsilon)
    rate = grown / math.sqrt(2 * (grown + 2)) if grown < math.inf else math.inf
    if law.symmetric:
        yield rate, math.sqrt(2 * delta)
    else:
        yield math.sqrt(2) * rate, 2 * math.sqrt(2 * delta)
    if epsilon >= 0.5:
        yield math.sqrt(2 * epsilon * law.spread), math.sqrt(delta)


def leakage(budget: Budget, law: Shifts) -> float:
    """Return the leakage kappa, without unit, of all algorithms with a budget, on shifts of a law.

    See the module's formula. An (epsilon, 0) budget counts as a pure one.
    """
    if isinstance(budget, ZCDP):
        return concentrated(budget.rho, law)
    if isinstance(budget, ApproxDP) and budget.delta > 0:
        return approximate(budget.epsilon, budget.delta, law)
    return pure(budget.epsilon, law)
