r"""Linear losses on l_q balls with 1 < q < 2, by bounds that are proven on the l2 ball.

The words are all sign vectors, as in `hypercube`. With :math:`m_j=E[\nu_j\mid O]` the least loss on
the l_q ball is :math:`d^{1/q'}-E\|m\|_{q'}`, and on the l2 ball :math:`\sqrt d-E\|m\|_2`. Because
:math:`|m_j|\le1` and :math:`q'\ge2`, :math:`\|m\|_{q'}\le\|m\|_2^{2/q'}`, which is concave in
:math:`\|m\|_2`: a loss of at least L that remains on the l2 ball leaves at least
:math:`d^{1/q'}-(\sqrt d-L)^{2/q'}` on the l_q ball. See theory/bounds-everywhere.md, 2.3 and 2.6.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.bounds.instances import assouad, distance, hypercube, two_sided
from dpsco_core.bounds.instances.binomial import Floats
from dpsco_core.bounds.instances.fano import LOG_2
from dpsco_core.bounds.instances.groups import Falling
from dpsco_core.bounds.instances.level import Level, epsilon_delta, rho_of
from dpsco_core.bounds.instances.packing import products
from dpsco_core.bounds.instances.words import Argument, WordPrior, tabulated


@dataclass(frozen=True)
class SignWords(WordPrior):
    """All sign vectors as the hidden words, for linear losses on an l_q ball of radius 1.

    Examples
    --------
    >>> round(SignWords(d=8, exponent=1.5).start, 12)
    2.0
    """

    d: int  # the dimension, at least 1
    exponent: float  # the exponent q of the ball, above 1 and below 2

    def __post_init__(self) -> None:
        """Refuse a dimension below 1, and an exponent outside (1, 2)."""
        require(self.d >= 1, "d", "a positive integer", self.d)
        require(1 < self.exponent < 2, "q", "above 1 and below 2", self.exponent)

    @property
    def weight(self) -> int:
        """The number of nonzero entries of a word: all d of them."""
        return self.d

    @property
    def power(self) -> float:
        """The inverse of the dual exponent, 1 - 1/q."""
        return 1 - 1 / self.exponent

    @property
    def start(self) -> float:
        r"""The least mean loss of an answer that ignores the data, :math:`d^{1/q'}`."""
        return math.pow(self.d, self.power)

    def carry_to_lq_ball(self, loss: Floats) -> Floats:
        """Return the loss that remains on the l_q ball if at least `loss` does on the l2 ball."""
        gain = np.maximum(math.sqrt(self.d) - loss, 0.0)
        return np.asarray(self.start - gain ** (2 * self.power))

    def remaining_loss(self, argument: Argument, level: Level) -> Falling:
        """Return the mean loss that remains, as a function of the number of spikes."""
        d = self.d
        if argument in ("two-sided", "fano"):
            rho = rho_of(level)
            if argument == "two-sided":
                return self._loss_by_two_sided_information(rho)
            largest_count = math.sqrt((1.5 * d * LOG_2 + 4) / rho)

            def by_distance(count: Floats) -> Floats:
                """Return the loss that remains by Fano's argument, at each number of spikes."""
                left = distance.remaining(rho * count**2, d, "linear")
                return self.carry_to_lq_ball(np.where(count > 0, left, math.sqrt(d)))

            return tabulated(largest_count, by_distance)
        epsilon, delta = epsilon_delta(level)
        # At a larger epsilon a single spike makes the bound vanish.
        epsilon = min(epsilon, 600.0)
        packed = products("linear", d, epsilon, delta)

        def by_groups(count: Floats) -> Floats:
            """Return the loss that remains by group privacy, at each number of spikes."""
            pairs = math.sqrt(d) * assouad.share_left("linear", count, epsilon, delta)
            left_on_ball = np.maximum(packed(count), pairs)
            if delta == 0:
                wrong = 2 * hypercube.wrong_sign_fraction(d, epsilon * count)
                signs = math.sqrt(d) * (1 - np.sqrt(np.maximum(0.0, 1 - wrong)))
                left_on_ball = np.maximum(left_on_ball, signs)
            return self.carry_to_lq_ball(left_on_ball)

        return tabulated(max(packed.last_count, 60 / epsilon), by_groups)

    def _loss_by_two_sided_information(self, rho: float) -> Falling:
        r"""Return the loss that remains by two-sided information, for rho-zCDP.

        It is the larger of the l2 ball's loss, transferred, and of
        :math:`d^{1/q'}(1-(2\kappa/d)^{1/q'})`, which follows from :math:`\sum E m_j^2\le2\kappa`
        and :math:`|m_j|^{q'}\le m_j^2`.
        """
        least_loss = two_sided.curve(self.d, "linear")
        rate = rho * -math.expm1(-self.d * LOG_2)
        largest_count = math.sqrt(max(least_loss.end / rate, self.d / 2 / rho))

        def loss_at(count: Floats) -> Floats:
            """Return the loss that remains at each number of spikes."""
            kappa = rho * count**2
            closed = self.start * (1 - (2 * kappa / self.d) ** self.power)
            return np.maximum(self.carry_to_lq_ball(least_loss.value_at(rate * count**2)), closed)

        return tabulated(largest_count, loss_at)
