r"""Factors that shrink rare spikes until their central p-th moment is at most 1, for p below 2.

A coordinate that is :math:`q^{-1/p}` with probability q, otherwise 0, has raw p-th moment 1. Its
central one is :math:`m(q)=(1-q)\big[q^{p-1}+(1-q)^{p-1}\big]`: at most 1 for :math:`p\ge2`, and
above 1 for small q below. Records are then shrunk by :math:`m(q)^{-1/p}`.
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def central_spike_moment(q: Floats, moment_order: float) -> Floats:
    """Return m(q), the central p-th moment of a spike of raw moment 1; q in [0, 1].

    Examples
    --------
    >>> central_spike_moment(np.array([0.001, 0.5, 1.0]), 1.5).round(6).tolist()
    [1.030092, 0.707107, 0.0]
    """
    power = moment_order - 1
    return np.asarray((1 - q) * (q**power + (1 - q) ** power))


def spike_shrink(q: Floats, moment_order: float) -> Floats:
    r"""Return :math:`\max\{1,m(q)\}^{-1/p}`, by which spikes are shrunk; 1 for p of at least 2.

    Examples
    --------
    >>> spike_shrink(np.array([0.001, 0.5]), 1.5).round(6).tolist()
    [0.980429, 1.0]
    """
    if moment_order >= 2:
        return np.ones_like(q)
    return np.asarray(np.maximum(1.0, central_spike_moment(q, moment_order)) ** (-1 / moment_order))


def centring_shrink(moment_order: float) -> float:
    """Return the factor that keeps central moments at most 1: :math:`2^{1-2/p}` for p < 2, else 1.

    A variable of raw p-th moment 1, times this, has a central p-th moment of at most 1: the map
    that subtracts the mean has norm at most 2 on :math:`L^1` and 1 on :math:`L^2`, and therefore
    at most :math:`2^{2/p-1}` on :math:`L^p` (Riesz and Thorin).

    Examples
    --------
    >>> round(centring_shrink(1.5), 6), centring_shrink(3.0)
    (0.793701, 1.0)
    """
    return math.pow(2.0, min(0.0, 1 - 2 / moment_order))
