r"""The geometric median: a Lipschitz loss with a kink at every record.

If the coordinates are independent and equal, it is found by quadrature. They are exchangeable and
the risk is convex, so a minimiser is :math:`c(1,\dots,1)` for a number c. Since
:math:`1/\|y\| = \frac2{\sqrt\pi}\int_0^\infty e^{-u^2\|y\|^2}du`, a coordinate of the gradient of
the risk there is

.. math:: h(c) = E\frac{c-Y_1}{\|c\mathbf 1-Y\|} = \frac2{\sqrt\pi}\int_0^\infty A(u)\,L(u)^{d-1}du,
    \quad A(u) = E\,(c-Y_1)e^{-u^2(c-Y_1)^2},\quad L(u) = E\,e^{-u^2(c-Y_1)^2}.
"""

import math
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, ProblemCard
from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import LIPSCHITZ
from dpsco_core.base.root import find_root
from dpsco_core.data.base import Distribution
from dpsco_core.data.hidden import FarPoints
from dpsco_core.data.scales import least_of_leading
from dpsco_core.data.two_point import TwoPointLaw
from dpsco_core.data.univariate import Univariate
from dpsco_core.geometry.ball import Ball
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.problems.base import Constants, ExcessRisk
from dpsco_core.problems.evaluation import average, evaluation_rows
from dpsco_core.problems.laws import bounded_central_moment, centring_factor, mean_inside
from dpsco_core.problems.noise import missing_density_condition, univariate_of
from dpsco_core.problems.point_losses import Distance
from dpsco_core.problems.points import PointProblem

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
# The logarithms of the distances r = |c - y| at which the panels of quadrature in y end.
_DISTANCES = np.arange(-30.0, 26.0, 0.5)
# The step of log u, and the numbers u, for which integrals are accurate to about 1e-8.
_STEP = 0.1
_INVERSES = np.exp(np.arange(-24.0, 22.0, _STEP))
# Panels become geometrically smaller towards points where the density jumps or is not analytic.
_PANEL_FACTORS = np.concatenate(
    [1 - 0.5 ** np.arange(1, 16), [1.0], 1 + 0.5 ** np.arange(15, 0, -1)]
)


def median_slope(law: Univariate, d: int, c: float) -> float:
    """Return h(c) in [-1, 1], the increasing function whose root is the coordinate median."""
    transform_a, transform_l = _transforms(law, c)
    powers = np.power(transform_l, d - 1)
    # This is the trapezoidal rule in log u, in which du is u times the step.
    return float((transform_a * powers) @ _INVERSES) * _STEP * 2 / math.sqrt(math.pi)


@lru_cache(maxsize=64)
def coordinate_median(law: Univariate, d: int) -> float:
    """Return c, to about 1e-8, for which c(1, ..., 1) is the geometric median of d coordinates.

    The coordinates are independent with the given law. For d = 1 it is the median of the law, and
    for large d it is close to the mean.
    """
    if law.symmetric or d == 1:
        return law.median
    low, high = sorted((law.median, law.mean))
    gap = high - low

    def slope(c: float) -> float:
        """Return h(c), whose root is the median."""
        return median_slope(law, d, c)

    return float(find_root(slope, low - gap, high + gap, xtol=1e-12, rtol=1e-12))


@lru_cache(maxsize=64)
def inverse_distance(law: Univariate, d: int, c: float) -> float:
    r"""Return :math:`E\,1/\|c\mathbf 1-Y\|`, the mean inverse distance, for d >= 2, by quadrature.

    The coordinates of Y are independent.
    """
    _, transform_l = _transforms(law, c)
    return float(np.power(transform_l, d) @ _INVERSES) * _STEP * 2 / math.sqrt(math.pi)


def _transforms(law: Univariate, c: float) -> tuple[Vector, Vector]:
    """Return the integrals A(u) and L(u) of the module's docstring at every u of `_INVERSES`."""
    # Both are computed by Gauss-Legendre quadrature on panels of log r, where r = |c - y|.
    jumps = [np.log(abs(c - jump) * _PANEL_FACTORS) for jump in law.jumps if jump != c]
    edges = np.unique(np.concatenate([_DISTANCES, *jumps]))
    half = 0.5 * np.diff(edges)[:, None]
    r = np.exp((0.5 * (edges[1:] + edges[:-1])[:, None] + half * _NODES).ravel())
    weights = (half * _WEIGHTS).ravel() * r
    right_mass, left_mass = law.density(c + r) * weights, law.density(c - r) * weights
    kernel = np.exp(-np.square(np.outer(_INVERSES, r)))
    return kernel @ (r * (left_mass - right_mass)), kernel @ (left_mass + right_mass)


HALVINGS = 60  # the number of bisection steps for a number between 0 and 1
# A mean this close to the boundary, relative to the set, counts as inside; see `mean_inside`.
ON_BOUNDARY = 1e-12


@dataclass(frozen=True, kw_only=True)
class GeometricMedian(PointProblem):
    r"""The geometric median, :math:`\ell(w, z) = \|w-z\|_2 - \|z\|_2`.

    The ordinary laws with equal scales are exchangeable, with mean :math:`\mu = m\mathbf 1`, and
    permutations (or those of whole blocks) map every constraint set to itself: the minimiser over
    it is :math:`c\mathbf 1`, where c is m for symmetric laws and otherwise the root of
    `median_slope`, moved to the set if it is outside. With unequal scales only symmetric laws are
    allowed, whose minimiser is the mean, which must be in the set. A hard instance, whose record is
    a with probability q and otherwise 0, has a closed form and without a constraint the minimiser 0
    if :math:`q\le\frac12`, else a; for its minimiser in a set see `_two_point_minimiser`.

    The excess is :math:`E\,B(Z) + \langle\nabla F(w^*), w-w^*\rangle`, with
    :math:`B(z) = \ell(w,z)-\ell(w^*,z)-\langle\nabla\ell(w^*,z), w-w^*\rangle \ge 0` averaged over
    the evaluation sample: each term is of the order of :math:`\|w-w^*\|^2`, so that the relative
    error is small. The second summand is 0 inside the set; on its boundary it is exact.

    A gradient is a unit vector: every raw moment in a direction is at most 1, and the central
    coordinate moment at most `bounded_central_moment` and `centring_factor`. The Hessian of the
    risk is at most :math:`E\|w-Z\|^{-1}`, see `_smoothness`.
    """

    card = ProblemCard(
        slug="geometric-median",
        name="Geometric median",
        paper=FOLKLORE,
        statement="Distance loss",
        summary="Find the point with the least expected distance to heavy-tailed records.",
        loss_class=LIPSCHITZ,
    )
    loss = Distance()
    gradient_units = ()
    hideable = ("mean", "median")

    def __post_init__(self) -> None:
        """Refuse a law whose geometric median is not known in closed form."""
        super().__post_init__()
        law = self.distribution
        if law.two_point is not None or self.far_points is not None:
            return
        is_symmetric = univariate_of(law).symmetric
        require(law.mean.min() == law.mean.max(), "distribution", "one with an even mean", law)
        if law.lead > 1:
            condition = "one with symmetric coordinates where their scales differ"
            require(is_symmetric, "distribution", condition, law.card.slug)
            is_inside = mean_inside(law, self.constraint)
            condition = "that of a mean in the set where scales of coordinates differ"
            require(is_inside, "offset", condition, f"{law.mean_norm:g}")
        if not law.independent:
            condition = "one with independent or symmetric coordinates"
            require(is_symmetric, "distribution", condition, law.card.slug)
            can_be_centre = mean_inside(law, self.constraint) or self.geometry.kind == "simplex"
            require(can_be_centre, "offset", "at most diameter/2", f"{law.mean_norm:g}")

    @classmethod
    def allows_unequal_scales(cls, family: type[Distribution]) -> bool:
        """Return whether laws of a class are symmetric, so that the median is the mean.

        For other laws with unequal scales the geometric median is not known.
        """
        return not family.has_prior and univariate_of(family()).symmetric

    @classmethod
    def unmet_condition(cls, family: type[Distribution]) -> str:
        """Return the unmet condition on a law, whose median needs a density; "" if met."""
        return super().unmet_condition(family) or missing_density_condition(family)

    @classmethod
    def mean_parts(
        cls, geometry: Geometry, d: int, offset: float, radius: float
    ) -> tuple[float, float]:
        """Return the mean in every coordinate, and 0 as the addition to the first.

        The minimiser is known only if the mean has equal coordinates.
        """
        return offset * geometry.diagonal(d, 1.0)[1], 0.0

    @property
    def far_points(self) -> FarPoints | None:
        """The distribution of points so far away that distances are linear; otherwise None."""
        return self.distribution if isinstance(self.distribution, FarPoints) else None

    @property
    def minimiser(self) -> Vector:
        """The minimiser of the risk in the set, shape (d,)."""
        law = self.distribution
        if self.far_points is not None:
            return self.far_points.parameter(self.constraint)
        if law.two_point is not None:
            return _two_point_minimiser(self)
        return np.full(law.d, self._coordinate())

    def excess_risk(self, w: Vector) -> ExcessRisk:
        """Return the excess risk of `w`, shape (d,), with its standard error; see the class."""
        if self.far_points is not None:
            return ExcessRisk(value=self.far_points.excess(w, self.constraint))
        law, best = self.distribution, self.minimiser
        step = w - best
        if law.two_point is not None:
            value = _two_point_risk(law.two_point, w) - _two_point_risk(law.two_point, best)
            return ExcessRisk(value=value)
        products, lengths = self._products_and_lengths(step)
        bregman = average(_bregman(lengths, products, float(step @ step)))
        slope = self._boundary_slope() * float(step.sum())
        return ExcessRisk(value=bregman.value + slope, standard_error=bregman.standard_error)

    @property
    def constants(self) -> Constants:
        """The certified constants; every gradient has norm at most 1."""
        p = self.distribution.moment_order
        return Constants(
            coordinate_moment=min(bounded_central_moment(p), centring_factor(p)),
            directional_moment=1.0,
            variance_trace=1.0,
            mean_gradient_bound=1.0,
            diameter=2 * self.l2_radius,
            smoothness=_smoothness(self.distribution),
            lipschitz=1.0,
            lipschitz_second=1.0,
            lipschitz_moment=1.0,
            minimum_interior=self._is_stationary(),
        )

    def _is_stationary(self) -> bool:
        """Return whether the gradient vanishes at the minimiser.

        It does not on a hard instance, whose risk has a kink there, nor for points far away, which
        pull the median to the boundary, nor where the constraint moves the minimiser.
        """
        law = self.distribution
        if law.two_point is not None or self.far_points is not None:
            return False
        shift = abs(self._coordinate() - _free_coordinate(law))
        return shift <= ON_BOUNDARY * self.geometry.diagonal(law.d, self.radius)[1]

    def _coordinate(self) -> float:
        """Return c for the minimiser c(1, ..., 1) in the set, for an ordinary distribution."""
        law = self.distribution
        low, high = self.geometry.diagonal(law.d, self.radius)
        return min(max(_free_coordinate(law), low), high)

    def _boundary_slope(self) -> float:
        """Return a coordinate of the population gradient at the minimiser: 0 in the interior."""
        law = self.distribution
        if self._is_stationary():
            return 0.0
        univariate = univariate_of(law)
        shift = univariate.mean - float(law.mean[0])
        return median_slope(univariate, law.d, self._coordinate() + shift)

    def _products_and_lengths(self, step: Vector) -> tuple[Vector, Vector]:
        """Return <w* - z, step> and |w* - z| of every record z of the evaluation sample."""
        rows = evaluation_rows(self.distribution)
        shift = float(self.minimiser @ step)
        products = np.concatenate([shift - block @ step for block in rows.blocks()])
        return products, _evaluation_lengths(self)


def _smoothness(law: Distribution) -> float:
    r"""Return a bound on :math:`\sup_w E\|w-Z\|^{-1}`; infinite for a hard instance.

    We have :math:`1/\|y\| = \frac2{\sqrt\pi}\int_0^\infty \prod_j e^{-u^2y_j^2}du`, and a symmetric
    unimodal law gives a normal kernel the most mass at its centre (Wintner). So for independent
    symmetric unimodal coordinates and their scale mixtures the supremum is at w = mu. It is found
    by quadrature, or for the elliptical law as :math:`E\,G^{-1}` of a chi times
    :math:`E\chi_\nu/(s\sqrt\nu)`. For any other density of at most f,
    :math:`E e^{-u^2y^2} \le \min(1, f\sqrt\pi/u)`, which gives 2fd/(d-1). For d = 1 the risk's
    second derivative is twice the density. If scales differ, the first k coordinates, of scale at
    least :math:`s_k`, give the bound of k coordinates over :math:`s_k`; the least over k is taken.
    """
    if law.two_point is not None or isinstance(law, FarPoints):
        return math.inf
    univariate, d = univariate_of(law), law.d
    if d == 1:
        return 2 * univariate.peak
    if law.inverse_norm is not None:
        return law.inverse_norm
    if not law.independent:
        return math.inf
    if univariate.unimodal:
        at_mean = partial(inverse_distance, univariate, c=0.0)
        return least_of_leading(law.scales, at_mean) * (1 + 1e-8)
    return least_of_leading(law.scales, lambda k: 2 * univariate.peak * k / (k - 1))


def _bregman(lengths: Vector, products: Vector, square: float) -> Vector:
    r"""Return :math:`\|a+h\|-\|a\|-\langle a,h\rangle/\|a\|` for many a, without cancellation.

    `lengths` are the norms of the vectors a, `products` their products with h, both of shape (n,),
    and `square` is the squared norm of h. With S the sum of the norms it is
    :math:`\|h\|^2/S - \langle a,h\rangle
    (2\langle a,h\rangle+\|h\|^2)/(S^2\|a\|)`, from :math:`\|a+h\|-\|a\| =
    (2\langle a,h\rangle+\|h\|^2)/S` twice.
    """
    change = 2 * products + square
    total = lengths + np.sqrt(np.maximum(lengths * lengths + change, 0.0))
    excess = (square - products * change / (total * lengths)) / total
    return np.maximum(excess, 0.0)


@lru_cache(maxsize=4)
def _evaluation_lengths(problem: GeometricMedian) -> Vector:
    """Return the distances of the evaluation sample to the minimiser; the last few are cached."""
    best = problem.minimiser
    rows = evaluation_rows(problem.distribution)
    lengths = np.concatenate([np.linalg.norm(b - best, axis=1) for b in rows.blocks()])
    lengths.flags.writeable = False
    return lengths.view()


def _free_coordinate(law: Distribution) -> float:
    """Return c for the minimiser c(1, ..., 1) over R^d, for an ordinary distribution."""
    univariate = univariate_of(law)
    mean = float(law.mean[0])
    if univariate.symmetric:
        return mean
    return mean - univariate.mean + coordinate_median(univariate, law.d)


@lru_cache(maxsize=64)
def _two_point_minimiser(problem: GeometricMedian) -> Vector:
    r"""Return the minimiser of :math:`(1-q)\|w\| + q\|w-a\|` over the set, shape (d,), read only.

    Without a constraint it is 0 or the record a, and on the l2 ball its projection. Otherwise the
    quadratics that majorise the two norms at :math:`w_t = \Pi(ta)` are smallest at
    :math:`w_{T(t)}` (Weiszfeld 1937), with

    .. math:: T(t) = \frac{q\|w_t\|}{(1-q)\|w_t-a\| + q\|w_t\|},

    and a fixed point with :math:`0 \ne w_t \ne a` satisfies the first-order conditions. Since
    :math:`w_t` minimises :math:`(1-t)\|w\|^2 + t\|w-a\|^2`, T increases with t, and every interval
    with :math:`T \ge t` at its start and :math:`T \le t` at its end contains one: it is bisected.
    (0 itself is a fixed point, and a trap for the iteration if 0 is in the set but not optimal.)
    """
    law, constraint = problem.distribution.two_point, problem.constraint
    assert law is not None
    q, spike = law.spike_probability, law.spike
    free = np.zeros(len(spike)) if q <= 0.5 else spike
    best = constraint.project(free)
    if not (isinstance(constraint, Ball) or constraint.contains(free, 1e-12)):
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            t = 0.5 * (low + high)
            best = constraint.project(t * spike)
            norm, spike_distance = float(np.linalg.norm(best)), float(np.linalg.norm(best - spike))
            if q * norm > t * ((1 - q) * spike_distance + q * norm):
                low = t
            else:
                high = t
    best.flags.writeable = False
    return best.view()


def _two_point_risk(law: TwoPointLaw, w: Vector) -> float:
    """Return the population risk of w under a law whose records are 0 or one fixed vector."""
    q, spike = law.spike_probability, law.spike
    at_spike = float(Distance().value(w, spike[None, :])[0])
    return (1 - q) * math.sqrt(float(w @ w)) + q * at_spike
