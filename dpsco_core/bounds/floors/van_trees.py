r"""A van Trees inequality under privacy: what sampling and privacy cost add.

.. math:: \sup_\mu E\|\hat\mu-\mu\| \ge \frac{C_d}{\sqrt{G+J}},\qquad
    \frac1G = \frac1{n^2\kappa^2\lambda}+\frac{n-1}{n^2d\lambda},\quad
    J=\frac{4j_{d/2-1,1}^2}{R^2}.

See theory/instance-floors.md, 1, 3 and 4.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

from scipy.special import jv

from dpsco_core.base.root import find_root

# These are the constants C_1 to C_10 of theory/instance-floors.md, 1, rounded down: 4/(3 sqrt 3)
# E^(3/2), where E is the ground state energy of -Laplace + |x|.
_CONSTANTS = (
    0.791602,
    1.762623,
    2.752167,
    3.746941,
    4.743841,
    5.741799,
    6.740355,
    7.739282,
    8.738453,
    9.737794,
)


def mean_constant(d: int) -> float:
    """Return C_d, the constant of the van Trees inequality for the mean l2 error.

    Above dimension 10 it is the lower bound d - 1/2. (The root mean square error has d.)
    """
    return _CONSTANTS[d - 1] if d <= len(_CONSTANTS) else d - 0.5


@lru_cache(maxsize=4096)
def bessel_zero(order: float) -> float:
    """Return the first positive zero of the Bessel function of an order of at least -1/2.

    Examples
    --------
    >>> [round(bessel_zero(order), 6) for order in (-0.5, 0, 0.5, 1, 9)]
    [1.570796, 2.404826, 3.141593, 3.831706, 13.3543]
    """
    zeros = {-0.5: math.pi / 2, 0.0: 2.404825557695773, 0.5: math.pi}
    if order in zeros:
        return zeros[order]
    # Qu and Wong (1999) bound the zero from both sides. If the search fails, the right end is the
    # safe choice, because a larger zero makes J larger.
    root = order ** (1 / 3)
    low = order + 1.8557571 * root
    high = low + 1.0332 / root
    if jv(order, low) * jv(order, high) >= 0:
        return float(high)
    return float(find_root(lambda x: float(jv(order, x)), low, high, xtol=1e-12))


def prior_information(d: int, radius: float) -> float:
    """Return J, the information of the best prior on a ball; 0 if the radius is infinite."""
    return (2 * bessel_zero(d / 2 - 1) / radius) ** 2


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What sampling, privacy and the prior cost: squared errors over the squared constant C_d."""

    sampling: float  # the part of 1/G that is left without privacy
    privacy: float  # the part of 1/G that privacy adds
    prior: float  # the inverse 1/J, which is the squared error of an answer that ignores the data

    @property
    def information(self) -> float:
        """The total information G + J of the output and the prior."""
        learnt = self.sampling + self.privacy
        prior_part = 1 / self.prior if self.prior > 0 else math.inf
        return (1 / learnt if learnt > 0 else math.inf) + prior_part


def costs(n: int, rank: float, information: float, kappa: float, prior: float, m: int = 1) -> Costs:
    r"""Return the costs of n records with m values each in the module's inequality.

    Parameters
    ----------
    n, m : int
        The numbers of records, and of values in a record: a user's items.
    rank : float
        The trace of the information of the weighted score, over its largest eigenvalue. At equal
        scales it is the dimension.
    information : float
        The Fisher information lambda of one value.
    kappa : float
        The leakage of a record, whose score has information m lambda.
    prior : float
        The information J of the prior.

    Examples
    --------
    >>> parts = costs(10_000, 20, 3.18182, 0.133833, prior_information(20, 2.0))
    >>> round(mean_constant(20) / math.sqrt(parts.information), 6)
    0.025768
    """
    single = m * information
    # This is the tau of Lemma 3, by which 1/G is `sampling` plus `privacy`, and at least 1/(n tau),
    # its value without privacy.
    whole = rank * single
    privacy = 1 / n / kappa / n / kappa / single if kappa > 0 else math.inf
    sampling = max((n - 1) / n / n / whole, 1 / n / whole - privacy)
    return Costs(sampling=sampling, privacy=privacy, prior=1 / prior if prior > 0 else math.inf)
