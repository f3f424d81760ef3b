"""Linear regression with the squared loss."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, ProblemCard
from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import STRONG
from dpsco_core.problems.base import Constants, ExcessRisk
from dpsco_core.problems.laws import centring_factor
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.problems.links import SquaredLink


@dataclass(frozen=True, kw_only=True)
class LeastSquares(LinearModelProblem):
    r"""Linear regression: :math:`\ell(w; x, y) = \frac12(\langle x,w\rangle - y)^2`.

    :math:`Y = \langle X, w^*\rangle + N` with independent noise N of the features' family (normal
    on a hard instance) and mean 0. A gradient is a product of two heavy-tailed factors,

    .. math:: g = A - B,\qquad A = \langle X, v\rangle X,\quad B = N X,\quad v = w-w^*,
        \quad \|v\| \le r = \mathrm{reach}.

    **The features' law must have moment order 2p** (`feature_order`), at least 4: then features and
    noise have 2p-th coordinate moment 1, and the gradients' order is p. With
    :math:`D_k = \sup_u(E|\langle u,X\rangle|^k)^{1/k}`, Cauchy and Schwarz give

    - :math:`\|A_j\|_p \le r D_{2p}\|X_j\|_{2p}` and :math:`\|B_j\|_p = \|N\|_p\|X_j\|_p`
      (for independent coordinates less, see `_product_norm`);
    - in a direction u, :math:`\|A_u\|_p \le r D_{2p}^2` and :math:`\|B_u\|_p \le \|N\|_p D_p`.

    As :math:`E[B \mid X] = 0`, the sum is at most :math:`\|A\|+\|B\|` and at most
    :math:`(\|A\|^2+(p-1)\|B\|^2)^{1/2}` (Rio 2009; see `centred_direction_bound`). Centring
    multiplies :math:`\|A_j\|_p^p` alone, by `centring_factor`, since B has mean 0.

    The excess :math:`\frac12 v^\top E XX^\top v` is exact, the trace of the covariance is exact at
    the worst w (`_trace`), :math:`\nabla F = E XX^\top v`, and smoothness and strong
    convexity are the extreme eigenvalues of :math:`E XX^\top`.
    """

    exact_risk = True
    card = ProblemCard(
        slug="least-squares",
        name="Least squares",
        paper=FOLKLORE,
        statement="Squared loss",
        summary="Fit a linear model to heavy-tailed data with the squared loss.",
        loss_class=STRONG,
    )
    link = SquaredLink()
    gradient_units = ("features", "targets")

    def __post_init__(self) -> None:
        """Refuse features of a moment order below 4."""
        super().__post_init__()
        order = self.features.moment_order
        require(order >= 4, "features", "a law of moment order 2p, at least 4", f"order {order:g}")

    @staticmethod
    def feature_order(p: float) -> float:
        """Return 2p: the p-th moment of a product needs both factors' moments of order 2p."""
        return 2 * p

    @property
    def moment_order(self) -> float:
        """The order p of the gradients' moments: half of the features' order."""
        return 0.5 * self.features.moment_order

    def targets(self, margins: Vector, rng: np.random.Generator) -> Vector:
        """Return the true margins plus noise."""
        noise: Vector = self.features.noise_law.sample(len(margins), rng).x[:, 0]
        return margins + noise

    def conditional_excess(self, margins: Vector, truth: Vector) -> Vector:
        """Return half the squared difference of margins and true margins, shape (rows,)."""
        difference = margins - truth
        return 0.5 * difference * difference

    def excess_risk(self, w: Vector) -> ExcessRisk:
        """Return the exact excess risk of w."""
        step = w - self.minimiser
        two_point = self.features.two_point
        if two_point is not None:
            reach = float(two_point.spike @ step)
            return ExcessRisk(value=0.5 * two_point.spike_probability * reach * reach)
        return ExcessRisk(value=0.5 * self.features.squared_margin(step))

    @property
    def constants(self) -> Constants:
        """The certified constants, from the moments of the features and of the noise."""
        law, p, reach = self.features, self.moment_order, self.reach
        noise = math.pow(law.noise_law.moment(p), 1 / p)
        direction = law.raw_direction(2 * p)
        signal = reach * self._product_norm() * math.pow(centring_factor(p), 1 / p)
        coordinate = _with_noise(signal, noise * math.pow(law.raw_coordinate(p), 1 / p), p)
        smoothness = law.largest_second_moment
        return Constants(
            coordinate_moment=math.pow(coordinate, p),
            directional_moment=_with_noise(
                reach * direction * direction, noise * law.raw_direction(p), p
            ),
            variance_trace=self._trace(reach),
            minimum_variance=self._trace(0.0),
            mean_gradient_bound=smoothness * reach,
            diameter=2 * self.l2_radius,
            smoothness=smoothness,
            sample_smoothness=law.record_norm**2,
            strong_convexity=law.smallest_second_moment,
            lipschitz_second=self._lipschitz_moment(2.0),
            lipschitz_moment=self._lipschitz_moment(p),
            minimum_interior=True,
            nonnegative=True,
            twice_differentiable=True,
            linear_model=self.linear_model,
            structure="linear-model",
        )

    def _lipschitz_moment(self, k: float) -> float:
        r"""Return a bound on the root of the k-th moment of a record's Lipschitz constant.

        With the noise N independent of X it is at most
        :math:`(\text{reach}\,\|X\|+|N|)\|X\|`, where the reach bounds :math:`\|w-w^*\|`.
        """
        law = self.features
        noise = math.pow(law.noise_law.moment(k), 1 / k)
        return self.reach * law.record_moment(2 * k) ** 2 + noise * law.record_moment(k)

    def _product_norm(self) -> float:
        r"""Return a bound on :math:`\|\langle X,v\rangle X_j\|_p` over unit vectors v.

        One bound follows from the Cauchy-Schwarz inequality. For independent centred coordinates
        there is another: with :math:`a = \|X_j\|_{2p}^2` and :math:`b = \|X_j\|_p D_p`, the terms
        :math:`v_jX_j^2` and :math:`X_j\sum_{k\ne j}v_kX_k` have norms at most :math:`|v_j|a` and
        :math:`(1-v_j^2)^{1/2}b`. Given the first term the second has mean 0, so that their sum is
        at most :math:`(a^2+b^2)^{1/2}` and at most :math:`\max(a, (p-1)^{1/2}b)`.
        """
        law, p = self.features, self.moment_order
        bound = law.raw_direction(2 * p) * math.pow(law.raw_coordinate(2 * p), 0.5 / p)
        if not law.independent:
            return bound
        a = math.pow(law.moment(2 * p), 1 / p)
        b = math.pow(law.moment(p), 1 / p) * law.raw_direction(p)
        return min(bound, math.hypot(a, b), max(a, math.sqrt(p - 1) * b))

    def _trace(self, reach: float) -> float:
        r"""Return the trace of Cov(g), exactly, at the worst distance v = w - w* of norm `reach`.

        It is :math:`\mathrm{tr\,Cov}(A) + E N^2\,E\|X\|^2`. The first term is `fourth_moment_trace`
        less :math:`\|E XX^\top v\|^2`, and both are largest for the same v. This also holds for
        unequal scales: along an axis whose squared scale is t the difference is
        :math:`t(dm_2^2-ct)` with :math:`c = 2m_2^2-m_4 \le m_2^2`, which is largest at the largest
        t, since the squared scales of any two axes add up to at most d.
        """
        law = self.features
        noise = law.noise_law.moment(2) * law.second_moment_trace
        return reach**2 * (law.fourth_moment_trace - law.largest_second_moment**2) + noise


def _with_noise(signal: float, noise: float, p: float) -> float:
    """Bound the p-norm of A - B, where E[B | A] = 0; A has p-norm `signal` and B p-norm `noise`."""
    return min(signal + noise, math.sqrt(signal**2 + (p - 1) * noise**2))
