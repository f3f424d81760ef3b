r"""The geometric median of independent equal coordinates, by quadrature.

The coordinates are exchangeable and the risk is convex, so that a minimiser is :math:`c(1,\dots,1)`
with one number c. Since :math:`1/\|y\| = \frac2{\sqrt\pi}\int_0^\infty e^{-u^2\|y\|^2}du`, and the
coordinates are independent, a coordinate of the gradient of the risk there is

.. math:: h(c) = E\frac{c-Y_1}{\|c\mathbf 1-Y\|} = \frac2{\sqrt\pi}\int_0^\infty A(u)\,L(u)^{d-1}du,
    \quad A(u) = E\,(c-Y_1)e^{-u^2(c-Y_1)^2},\quad L(u) = E\,e^{-u^2(c-Y_1)^2}.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from dpsco_core.base.arrays import Vector
from dpsco_core.problems.univariate import Univariate

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
# Logarithms of the distances r = |c - y|, and of u: integrals are accurate to about 1e-8.
_DISTANCES = np.arange(-30.0, 26.0, 0.5)
_STEP = 0.1
_INVERSES = np.exp(np.arange(-24.0, 22.0, _STEP))
# Where the density jumps, or is not analytic, panels shrink geometrically.
_AROUND = np.concatenate([1 - 0.5 ** np.arange(1, 16), [1.0], 1 + 0.5 ** np.arange(15, 0, -1)])


def median_slope(law: Univariate, d: int, c: float) -> float:
    """Return h(c): increasing in c, in [-1, 1]."""
    first, zeroth = _transforms(law, c)
    powers = np.power(zeroth, d - 1)
    # The trapezoidal rule in log u: du = u dlog u.
    return float((first * powers) @ _INVERSES) * _STEP * 2 / math.sqrt(math.pi)


@lru_cache(maxsize=64)
def coordinate_median(law: Univariate, d: int) -> float:
    """Return the root c of h, to about 1e-8: the median for d = 1, near the mean for large d."""
    if law.symmetric or d == 1:
        return law.median
    gap = abs(law.mean - law.median)

    def slope(c: float) -> float:
        return median_slope(law, d, c)

    return float(brentq(slope, law.median - gap, law.mean + gap, xtol=1e-12, rtol=1e-12))


@lru_cache(maxsize=64)
def inverse_distance(law: Univariate, d: int, c: float) -> float:
    r"""Return :math:`E\,1/\|c\mathbf 1-Y\|` of d >= 2 independent coordinates, by quadrature."""
    _, zeroth = _transforms(law, c)
    return float(np.power(zeroth, d) @ _INVERSES) * _STEP * 2 / math.sqrt(math.pi)


def _transforms(law: Univariate, c: float) -> tuple[Vector, Vector]:
    """Return A and L at every u of `_INVERSES`."""
    # Gauss-Legendre panels in log r.
    jumps = [np.log(abs(c - jump) * _AROUND) for jump in law.jumps if jump != c]
    edges = np.unique(np.concatenate([_DISTANCES, *jumps]))
    half = 0.5 * np.diff(edges)[:, None]
    r = np.exp((0.5 * (edges[1:] + edges[:-1])[:, None] + half * _NODES).ravel())
    weights = (half * _WEIGHTS).ravel() * r
    right, left = law.density(c + r) * weights, law.density(c - r) * weights
    kernel = np.exp(-np.square(np.outer(_INVERSES, r)))
    return kernel @ (r * (left - right)), kernel @ (left + right)
