"""What a bound or a method may know about a problem: never the data."""

import math
from dataclasses import dataclass
from typing import Literal

from dpsco_core.base.errors import require
from dpsco_core.geometry.ball import Ball
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.privacy.budget import Budget, concentrated_rho, gaussian_allowance, pure_epsilon


@dataclass(frozen=True, kw_only=True)
class LinearModel:
    r"""What is certified of a generalised linear loss :math:`\phi(\langle x, w\rangle, y)`."""

    slope: float  # bound on :math:`|\phi'|`, infinite if there is none
    curvature: float  # bound on :math:`\phi''`, infinite for a loss with kinks
    feature_norm: float  # bound on :math:`(E\|x\|_2^2)^{1/2}`


@dataclass(frozen=True, kw_only=True)
class Constants:
    r"""Certified constants of a problem; for mean estimation the "gradients" are the records X.

    The moments are those of the per-sample gradient :math:`g = \nabla\ell(w, Z)`, at every w of the
    constraint set, and of order p = ``Setting.moment_order``. A constant that a problem cannot
    certify is infinite (0 for strong convexity), and a bound that needs it fails its hypotheses by
    name. "Of every record" is what the papers assume of :math:`\ell(\cdot, z)` for every z that the
    sampling law can give.

    Parameters
    ----------
    coordinate_moment : float
        Bound on the central moment :math:`E|g_j - E g_j|^p` of every coordinate: the moment
        itself, not its root (Kamath et al. 2022, Definition 2.11; the catalogue scales it to 1).
    directional_moment : float
        Bound M on the raw directional moment :math:`(E|\langle u, g\rangle|^p)^{1/p}` over unit
        vectors u: the root (Zhao et al. 2024, Assumption 1(c)).
    variance_trace : float
        Bound on the trace of Cov(g).
    minimum_variance : float
        Bound on it at the minimiser, where it grows from there like the square of the distance
        (see `variance_growth`); infinite where that is not certified.
    mean_gradient_bound : float
        Public bound on :math:`\|E g\|_2` (the papers' R), which methods may use.
    diameter : float
        Twice the largest l2 norm of a point of the constraint set: its l2 diameter where it is
        symmetric, at least that otherwise.
    smoothness : float
        Of the population risk: the Lipschitz constant of its gradient.
    sample_smoothness : float
        Of the loss of every record; infinite where features are unbounded.
    strong_convexity : float
        Of the population risk.
    sample_strong_convexity : float
        Of the loss of every record.
    lipschitz : float
        Bound on :math:`\|\nabla\ell(w, z)\|_2` for every record.
    minimum_interior : bool
        Whether the gradient of the population risk vanishes at its minimiser.
    nonnegative : bool
        Whether the loss is at least 0.
    twice_differentiable : bool
        Whether the loss of every record is, in the parameter.
    linear_model : LinearModel or None
        Where the loss is a generalised linear one.
    structure : {"mean", "linear-model", "linear", "other"}
        ``"mean"``: half the squared distance to the record; ``"linear"``: linear in the parameter.
    """

    coordinate_moment: float
    directional_moment: float
    variance_trace: float
    mean_gradient_bound: float
    minimum_variance: float = math.inf
    diameter: float = math.inf
    smoothness: float = math.inf
    sample_smoothness: float = math.inf
    strong_convexity: float = 0.0
    sample_strong_convexity: float = 0.0
    lipschitz: float = math.inf
    minimum_interior: bool = False
    nonnegative: bool = False
    twice_differentiable: bool = False
    linear_model: LinearModel | None = None
    structure: Literal["mean", "linear-model", "linear", "other"] = "other"

    @property
    def variance_growth(self) -> float:
        r"""The K of :math:`\mathrm{tr\,Cov}(g) \le V_* + K\|w-w^*\|^2`; 0 if none is certified.

        :math:`V_*` is `minimum_variance`. `variance_trace` is reached at the largest distance from
        the minimiser, `mean_gradient_bound` over `smoothness`.
        """
        added = self.variance_trace - self.minimum_variance
        if not 0 < added < math.inf:
            return 0.0
        return added * (self.smoothness / self.mean_gradient_bound) ** 2


@dataclass(frozen=True, kw_only=True)
class Setting:
    r"""All that a method or a bound may look at besides the data.

    Parameters
    ----------
    n : int
        Records (or users).
    d : int
        Dimension.
    m : int
        Items per user; 1 at item level.
    moment_order : float
        The tail index p: the order of the moment that is bounded; at least 2.
    budget : PureDP, ZCDP or ApproxDP
        The privacy budget. Neighbours differ by replacing one record.
    constants : Constants
        Certified constants of the problem.
    spike_probability : float or None
        On a hard instance, the probability at which its prior is drawn.
    constraint : ConstraintSet or None
        The constraint set; None stands for the l2 ball of the constants' diameter.
    exponent : float
        q, of the norm of the parameters in which mirror maps measure: at least 1.
    """

    n: int
    d: int
    m: int = 1
    moment_order: float
    budget: Budget
    constants: Constants
    spike_probability: float | None = None
    constraint: ConstraintSet | None = None
    exponent: float = 2.0

    def __post_init__(self) -> None:
        for name in ("n", "d", "m"):
            value = getattr(self, name)
            require(isinstance(value, int) and value >= 1, name, "a positive integer", value)
        p = self.moment_order
        require(2 <= p < math.inf, "p", "a number of at least 2", p)
        require(self.exponent >= 1, "q", "at least 1", self.exponent)

    @property
    def body(self) -> ConstraintSet:
        """The constraint set. It is public; infinite diameters have none."""
        if self.constraint is not None:
            return self.constraint
        return Ball(d=self.d, radius=self.constants.diameter / 2)

    @property
    def rho(self) -> float:
        """The rho of the concentrated lower bounds: see `concentrated_rho`."""
        return concentrated_rho(self.budget)

    @property
    def gaussian_rho(self) -> float:
        """Total rho that Gaussian releases may spend; 0 under a pure budget."""
        return gaussian_allowance(self.budget)

    @property
    def pure_epsilon(self) -> float:
        """Epsilon that pure releases may spend in all."""
        return pure_epsilon(self.budget)


@dataclass(frozen=True, kw_only=True)
class ExcessRisk:
    """The excess population risk of a parameter."""

    value: float  # not negative beyond rounding
    standard_error: float = 0.0  # as an average over an evaluation sample; 0 where it is exact
