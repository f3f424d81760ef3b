"""What a bound or a method may know about a problem: never the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsco_core.errors import require
from dpsco_core.privacy.budget import (
    Budget,
    concentrated_rho,
    gaussian_allowance,
    pure_epsilon,
)


@dataclass(frozen=True, kw_only=True)
class Constants:
    r"""Certified constants of a problem; for mean estimation the "gradients" are the records X.

    All moments are of order p = ``Setting.moment_order``. A constant that a problem cannot
    certify is infinite, and a bound that needs it fails its hypotheses by name.

    Parameters
    ----------
    coordinate_moment : float
        Bound on the central moment :math:`E|X_j - \mu_j|^p` of every coordinate: the moment
        itself, not its root (Kamath et al. 2022, Definition 2.11; the catalogue scales it to 1).
    directional_moment : float
        Bound M on the raw directional moment :math:`(E|\langle u, X\rangle|^p)^{1/p}` over unit
        vectors u: the root (Zhao et al. 2024, Assumption 1(c)).
    variance_trace : float
        Bound on the trace of Cov(X).
    mean_gradient_bound : float
        Public bound on :math:`\|\mu\|_2` (the papers' R), which methods may use.
    """

    coordinate_moment: float
    directional_moment: float
    variance_trace: float
    mean_gradient_bound: float


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
        Items a user; 1 at item level.
    moment_order : float
        The tail index p: the order of the moment that is bounded; at least 2.
    budget : PureDP, ZCDP or ApproxDP
        The privacy budget. Neighbours differ by replacing one record.
    constants : Constants
        Certified constants of the problem.
    spike_probability : float or None
        On a hard instance, the probability at which its prior is drawn.
    """

    n: int
    d: int
    m: int = 1
    moment_order: float
    budget: Budget
    constants: Constants
    spike_probability: float | None = None

    def __post_init__(self) -> None:
        for name in ("n", "d", "m"):
            value = getattr(self, name)
            require(isinstance(value, int) and value >= 1, name, "a positive integer", value)
        p = self.moment_order
        require(2 <= p < math.inf, "p", "a number of at least 2", p)

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
