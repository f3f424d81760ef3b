r"""A private Assouad argument on the sign hypercube: it binds every (epsilon, delta)-DP algorithm.

After Acharya, Sun and Zhang (2021), with the exact binomial law of the number of spikes. The
instance is that of `hypercube`; flipping one sign changes the B spiked records, so that the two
outputs are :math:`(B\varepsilon,\delta_B)`-close, and have a mass of :math:`\gamma_B` in common up
to the factor :math:`e^{\varepsilon B}`. See theory/approx-lower-bounds.md, 4.
"""

import math
from functools import lru_cache

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.bounds.instances.binomial import Floats, expectation, maximise, search_range
from dpsco_core.bounds.instances.spikes import spike_exponent
from dpsco_core.bounds.instances.tracing import Form


def _missed(form: Form, count: Floats, epsilon: float, delta: float) -> Floats:
    r"""Return the share of the error at b spikes.

    l2: :math:`\frac{2\gamma_b}{1+e^{\varepsilon b}}`, a bound on the common mass; squared:
    :math:`\tau_b=\gamma_b\,\mathrm{sech}^2(\varepsilon b/2)`; linear: :math:`1-\sqrt{1-\tau_b}`.
    """
    x = np.minimum(epsilon * count, 700.0)
    with np.errstate(over="ignore"):
        lost = delta * np.expm1(x) / math.expm1(min(epsilon, 700.0))
    mass, small = np.maximum(0.0, 1 - lost), np.exp(-x)
    if form == "l2":
        return np.asarray(2 * mass * small / (1 + small))
    tau = np.asarray(4 * mass * small / (1 + small) ** 2)
    return tau if form == "squared" else tau / (1 + np.sqrt(np.maximum(0.0, 1 - tau)))


def _mean(form: Form, q: Floats, n: int, epsilon: float, delta: float, fine: bool) -> Floats:
    require(n >= 1, "n", "a positive integer", n)
    require(epsilon > 0, "epsilon", "positive", epsilon)
    require(0 <= delta < 1, "delta", "at least 0 and below 1", delta)
    # Beyond 60/epsilon the terms are below 1e-26, and may be dropped.
    return expectation(
        lambda count: _missed(form, count, epsilon, delta),
        n,
        q,
        scale=0.7 * _spikes(epsilon, delta),
        largest=math.floor(min(60 / epsilon, 1e300)),
        fine=fine,
    )


def _spikes(epsilon: float, delta: float) -> float:
    r"""Return about how many spikes privacy hides: where :math:`\varepsilon b` or delta_b is 1."""
    if delta == 0:
        return 1 / epsilon
    log_ratio = math.log(-math.expm1(-epsilon)) + epsilon - math.log(delta)
    return min(1.0, float(np.logaddexp(0.0, log_ratio))) / epsilon


def assouad(
    form: Form, q: float, n: int, d: int, moment_order: float, epsilon: float, delta: float
) -> float:
    r"""Return the bound at q on an error, or on the excess risk of linear losses on the unit ball.

    :math:`\sqrt d\,q^a` times the mean share, or its square times that.

    Examples
    --------
    >>> round(assouad("l2", 0.001, 1000, 20, 2, 1.0, 1e-6), 7)
    0.0871086
    """
    mean = float(_mean(form, np.array([q]), n, epsilon, delta, True)[0])
    a = spike_exponent(moment_order)
    return (d * math.pow(q, 2 * a) if form == "squared" else math.sqrt(d) * math.pow(q, a)) * mean


@lru_cache(maxsize=4096)
def best(
    form: Form, n: int, moment_order: float, epsilon: float, delta: float, largest: float
) -> float:
    """Return the q in (0, largest] that maximises `assouad`; it does not depend on d."""
    exponent = (2 if form == "squared" else 1) * spike_exponent(moment_order)
    low, high = search_range(_spikes(epsilon, delta), n, largest)
    return maximise(
        lambda q: np.asarray(q**exponent * _mean(form, q, n, epsilon, delta, False)), low, high
    )
