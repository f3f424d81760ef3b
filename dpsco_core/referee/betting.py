r"""A test of a bound on a mean by betting, which may be looked at after every trial.

Under the claim :math:`E X\le c` of an error :math:`X\ge0` the wealth

.. math:: W_t=\frac1K\sum_{k=1}^K\prod_{i\le t}\Big(1+\lambda_k\big(\tfrac{X_i}c-1\big)\Big),
   \quad 0<\lambda_k<1,

of independent trials is a non-negative supermartingale that starts at 1, so that it ever reaches
:math:`1/\alpha` with probability at most :math:`\alpha` (Ville's inequality). Every factor is
positive because :math:`X\ge0` and :math:`\lambda_k<1`, and has a mean of at most 1 given the past
because :math:`E X\le c`. No moment of the errors is assumed beyond the claim, which matters where
their tails are heavy, and stopping early costs nothing.
"""

import math
from dataclasses import dataclass, field

SHARES = (
    0.02,
    0.05,
    0.1,
    0.2,
    0.4,
    0.7,
)  # the shares lambda of the wealth that are bet, side by side


@dataclass
class Wealth:
    """The wealth of bets against the claim that the mean of non-negative values is at most `claim`.

    Examples
    --------
    >>> wealth = Wealth(claim=1.0)
    >>> for _ in range(30):
    ...     wealth.add(2.0)
    >>> wealth.refutes(0.001)
    True
    """

    claim: float  # the claimed mean, positive
    _logs: list[float] = field(default_factory=lambda: [0.0] * len(SHARES))

    def add(self, value: float) -> None:
        """Bet on one more value, which must be at least 0."""
        for place, share in enumerate(SHARES):
            self._logs[place] += math.log1p(share * (value / self.claim - 1))

    @property
    def log_value(self) -> float:
        """The logarithm of the mean wealth over the candidate shares."""
        largest = max(self._logs)
        total = sum(math.exp(value - largest) for value in self._logs)
        return largest + math.log(total / len(SHARES))

    def refutes(self, level: float) -> bool:
        """Return whether the wealth has reached 1/`level`, which refutes the claim at that level.

        A claim that holds is ever refuted with probability at most `level`.
        """
        return self.log_value >= -math.log(level)
