"""Where the hard instances are hardest: the best spike probability of each private lower bound."""

from __future__ import annotations

import math
from typing import Literal

from dpsco_core.bounds import hypercube, spikes
from dpsco_core.errors import require

SpikeBound = Literal["fano-cdp", "fano-pure", "hypercube-cdp", "hypercube-pure"]
SPIKE_BOUNDS: tuple[SpikeBound, ...] = (
    "fano-cdp",
    "fano-pure",
    "hypercube-cdp",
    "hypercube-pure",
)


def largest_spike_probability(
    instance: Literal["spike", "hypercube"], d: int, moment_order: float, mean_bound: float
) -> float:
    r"""Return the largest p whose instance has mean norm at most `mean_bound`.

    :math:`\min(1,(R/\sqrt w)^{1/a})` with :math:`w=\lfloor d/2\rfloor` for the packing and w = d
    for the hypercube. Note to Kamath et al. (2022), sections 4.1 and 8 (row 35).

    Parameters
    ----------
    instance : {"spike", "hypercube"}
    d : int
    moment_order : float
        k >= 2.
    mean_bound : float
        R >= 0; may be infinite.
    """
    require(mean_bound >= 0, "mean_bound", "at least 0", mean_bound)
    weight = d if instance == "hypercube" else d // 2
    if mean_bound**2 >= weight:
        return 1.0
    return math.pow(mean_bound / math.sqrt(weight), 1 / spikes.spike_exponent(moment_order))


def best_spike_probability(
    kind: str,
    n: int,
    d: int,
    moment_order: float,
    rho_or_epsilon: float,
    mean_bound: float = math.inf,
) -> tuple[float, float]:
    r"""Return the spike probability at which a lower bound is largest, and the bound there.

    Parameters
    ----------
    kind : {"fano-cdp", "fano-pure", "hypercube-cdp", "hypercube-pure"}
        The bound of slug ``lower.mean.<kind>``.
    n, d : int
    moment_order : float
        k >= 2.
    rho_or_epsilon : float
        rho for the ``-cdp`` kinds, epsilon for the ``-pure`` ones.
    mean_bound : float
        R: only instances whose mean has norm at most R are allowed.

    Returns
    -------
    p : float
        In (0, 1]; 0 only if `mean_bound` is 0.
    value : float
        The bound on the expected l2 error at p, for moments scaled to 1.

    Examples
    --------
    >>> p, value = best_spike_probability("hypercube-cdp", 10_000, 200, 4, 0.5)
    >>> round(value, 6)
    0.031848
    """
    require(kind in SPIKE_BOUNDS, "kind", "one of " + ", ".join(SPIKE_BOUNDS), kind)
    require(n >= 1, "n", "a positive integer", n)
    require(d >= 1, "d", "a positive integer", d)
    name = "epsilon" if kind.endswith("pure") else "rho"
    require(0 < rho_or_epsilon < math.inf, name, "positive", rho_or_epsilon)
    instance: Literal["spike", "hypercube"] = "spike" if kind.startswith("fano") else "hypercube"
    largest = largest_spike_probability(instance, d, moment_order, mean_bound)
    if largest == 0:
        return 0.0, 0.0
    if kind == "fano-cdp":
        p = spikes.best_cdp(n, d, moment_order, rho_or_epsilon, largest)
        return p, spikes.spike_fano_cdp(p, n, d, moment_order, rho_or_epsilon)
    if kind == "fano-pure":
        p = spikes.best_pure(n, d, moment_order, rho_or_epsilon, largest)
        return p, spikes.spike_pure(p, n, d, moment_order, rho_or_epsilon)
    if kind == "hypercube-cdp":
        p = hypercube.best_cdp(n, d, moment_order, rho_or_epsilon, largest)
        return p, hypercube.hypercube_cdp(p, n, d, moment_order, rho_or_epsilon)
    p = hypercube.best_pure(n, d, moment_order, rho_or_epsilon, largest)
    return p, hypercube.hypercube_pure(p, n, d, moment_order, rho_or_epsilon)
