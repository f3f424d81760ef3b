"""What bounds and methods may know about a problem, which never includes the data."""

import math
from dataclasses import dataclass
from typing import Literal

from dpsco_core.base.errors import require
from dpsco_core.data.base import Distribution
from dpsco_core.geometry.ball import Ball
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.privacy.budget import (
    Budget,
    concentrated_rho,
    gaussian_allowance,
    laplace_allowance,
    pure_epsilon,
)


@dataclass(frozen=True, kw_only=True)
class LinearModel:
    r"""Certified bounds for a generalised linear loss :math:`\phi(\langle x, w\rangle, y)`."""

    slope: float  # bound on :math:`|\phi'|`, infinite if there is none
    curvature: float  # bound on :math:`\phi''`, infinite for a loss with kinks
    feature_norm: float  # bound on :math:`(E\|x\|_2^2)^{1/2}`


@dataclass(frozen=True, kw_only=True)
class Constants:
    r"""Certified constants of a problem; for mean estimation the "gradients" are the records.

    The moments are those of the per-sample gradient :math:`g = \nabla\ell(w, Z)`, at every w of the
    constraint set, and of order p = ``Setting.moment_order``. A constant that a problem cannot
    certify is infinite (0 for strong convexity), and a bound that needs it names it as a failed
    hypothesis. "Every record" means every z that the sampling law can give, as the papers assume of
    :math:`\ell(\cdot, z)`.
    """

    # Bound on the central moment :math:`E|g_j - E g_j|^p` of every coordinate: the moment itself,
    # not its root (Kamath et al. 2022, Definition 2.11; the catalogue scales it to 1).
    coordinate_moment: float
    # Bound M on the raw directional moment :math:`(E|\langle u, g\rangle|^p)^{1/p}` over unit
    # vectors u: the root (Zhao et al. 2024, Assumption 1(c)).
    directional_moment: float
    variance_trace: float  # bound on the trace of Cov(g)
    # public bound on :math:`\|E g\|_2` (the papers' R), which methods may use
    mean_gradient_bound: float
    # A bound on the trace of Cov(g) at the minimiser, if the trace grows like the square of the
    # distance (see `variance_growth`); infinite if none is certified.
    minimum_variance: float = math.inf
    # twice the largest l2 norm of a point of the constraint set: its l2 diameter if the set is
    # symmetric, otherwise at least the diameter
    diameter: float = math.inf
    smoothness: float = math.inf  # Lipschitz constant of the population risk's gradient
    # smoothness of the loss of every record; infinite if features are unbounded
    sample_smoothness: float = math.inf
    strong_convexity: float = 0.0  # strong convexity of the population risk
    sample_strong_convexity: float = 0.0  # strong convexity of the loss of every record
    lipschitz: float = math.inf  # bound on :math:`\|\nabla\ell(w, z)\|_2` for every record
    # Bound on :math:`(E L_Z^2)^{1/2}`, with :math:`L_z` the Lipschitz constant of the loss of
    # record z on the constraint set (Asi, Liu and Tian 2024).
    lipschitz_second: float = math.inf
    lipschitz_moment: float = math.inf  # bound on :math:`(E L_Z^p)^{1/p}`, for the same :math:`L_z`
    # whether the gradient of the population risk vanishes at its minimiser
    minimum_interior: bool = False
    nonnegative: bool = False  # whether the loss is at least 0
    twice_differentiable: bool = False  # whether every record's loss is twice differentiable
    # the constants of a generalised linear loss; None for other losses
    linear_model: LinearModel | None = None
    # ``"mean"``: half the squared distance to the record; ``"linear"``: linear in the parameter
    structure: Literal["mean", "linear-model", "linear", "other"] = "other"

    @property
    def variance_growth(self) -> float:
        r"""The K in :math:`\mathrm{tr\,Cov}(g) \le V_* + K\|w-w^*\|^2`; 0 if none is certified.

        :math:`V_*` is `minimum_variance`. The bound `variance_trace` is reached at the largest
        distance from the minimiser, which is `mean_gradient_bound` over `smoothness`.
        """
        added = self.variance_trace - self.minimum_variance
        if not 0 < added < math.inf:
            return 0.0
        return added * (self.smoothness / self.mean_gradient_bound) ** 2


@dataclass(frozen=True, kw_only=True)
class Setting:
    r"""Everything that a method or a bound may use besides the data."""

    n: int  # the number of records (or users)
    d: int  # the dimension
    m: int = 1  # items per user; 1 at item level
    # The share of the variance that the items of one user have in common, from 0 (independent
    # items) to 1 (equal items); 0 if users have one item.
    alike: float = 0.0
    moment_order: float  # p > 1, the order of the bounded moment
    budget: Budget  # the privacy budget; neighbours differ by replacing one record
    constants: Constants  # certified constants of the problem
    # The spike probability of the prior on a hard instance; otherwise None.
    spike_probability: float | None = None
    # The constraint set; None stands for the l2 ball whose diameter is `constants.diameter`.
    constraint: ConstraintSet | None = None
    # The distribution of the records, if an l2 ball contains their mean. Only bounds for a single
    # distribution receive it: see `Bound.seen`.
    law: Distribution | None = None
    # The exponent q >= 1 of the parameters' norm in mirror maps.
    exponent: float = 2.0

    def __post_init__(self) -> None:
        """Refuse sizes, an order or an exponent outside their ranges."""
        for name in ("n", "d", "m"):
            value = getattr(self, name)
            require(isinstance(value, int) and value >= 1, name, "a positive integer", value)
        p = self.moment_order
        require(1 < p < math.inf, "p", "a number above 1", p)
        require(self.exponent >= 1, "q", "at least 1", self.exponent)
        require(0 <= self.alike <= 1, "alike", "from 0 to 1", self.alike)

    @property
    def design_effect(self) -> float:
        """The variance of a user's mean over that of m independent items' mean, from 1 to m."""
        return 1 + (self.m - 1) * self.alike

    @property
    def body(self) -> ConstraintSet:
        """The constraint set, which is public; its diameter must be finite."""
        if self.constraint is not None:
            return self.constraint
        return Ball(d=self.d, radius=self.constants.diameter / 2)

    @property
    def rho(self) -> float:
        """The rho of the lower bounds for concentrated DP: see `concentrated_rho`."""
        return concentrated_rho(self.budget)

    @property
    def gaussian_rho(self) -> float:
        """The total rho that Gaussian releases may spend; 0 under a pure budget."""
        return gaussian_allowance(self.budget)

    @property
    def pure_epsilon(self) -> float:
        """The total epsilon that pure releases may spend."""
        return pure_epsilon(self.budget)

    @property
    def laplace_epsilon(self) -> float:
        """The epsilon that one release with Laplace noise may spend."""
        return laplace_allowance(self.budget)


@dataclass(frozen=True, kw_only=True)
class ExcessRisk:
    """The excess population risk of a parameter."""

    value: float  # at least 0, up to rounding
    # The standard error if the value is an average over an evaluation sample; 0 if it is exact.
    standard_error: float = 0.0
