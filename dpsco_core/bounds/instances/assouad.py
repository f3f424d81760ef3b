r"""A private Assouad argument on the sign hypercube: it binds every (epsilon, delta)-DP algorithm.

After Acharya, Sun and Zhang (2021), with the exact binomial law of the number of spikes. The
instance is that of `hypercube`; flipping one sign changes the B spiked records, so that the two
outputs are :math:`(B\varepsilon,\delta_B)`-close. See theory/approx-lower-bounds.md, 4.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpsco_core.base.errors import require
from dpsco_core.bounds.instances.binomial import Floats, expectation, maximise, search_range
from dpsco_core.bounds.instances.spikes import spike_exponent

Count = Callable[[Floats], Floats]


def _common(count: Floats, epsilon: float, delta: float) -> tuple[Floats, Floats]:
    r"""Return :math:`\gamma_b` and :math:`e^{-\varepsilon b}`."""
    x = np.minimum(epsilon * count, 700.0)
    with np.errstate(over="ignore"):
        lost = delta * np.expm1(x) / math.expm1(min(epsilon, 700.0))
    return np.maximum(0.0, 1 - lost), np.exp(-x)


def overlap(count: Floats, epsilon: float, delta: float) -> Floats:
    r"""Return :math:`\frac{2\gamma_b}{1+e^{\varepsilon b}}`, a bound on the common mass."""
    mass, small = _common(count, epsilon, delta)
    return np.asarray(2 * mass * small / (1 + small))


def harmonic(count: Floats, epsilon: float, delta: float) -> Floats:
    r"""Return :math:`\tau_b=\gamma_b\,\mathrm{sech}^2(\varepsilon b/2)`."""
    mass, small = _common(count, epsilon, delta)
    return np.asarray(4 * mass * small / (1 + small) ** 2)


def _missed(count: Floats, epsilon: float, delta: float) -> Floats:
    r"""Return :math:`1-\sqrt{1-\tau_b}`."""
    tau = harmonic(count, epsilon, delta)
    return np.asarray(tau / (1 + np.sqrt(np.maximum(0.0, 1 - tau))))


def _mean(
    form: Callable[[Floats, float, float], Floats],
    q: Floats,
    n: int,
    epsilon: float,
    delta: float,
    fine: bool,
) -> Floats:
    require(n >= 1, "n", "a positive integer", n)
    require(epsilon > 0, "epsilon", "positive", epsilon)
    require(0 <= delta < 1, "delta", "at least 0 and below 1", delta)
    # Beyond 60/epsilon the terms are below 1e-26, and may be dropped.
    return expectation(
        lambda count: form(count, epsilon, delta),
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


def assouad_l2(
    q: float, n: int, d: int, moment_order: float, epsilon: float, delta: float
) -> float:
    r"""Return the bound on the mean l2 error at q.

    :math:`\sqrt d\,q^aE[2\gamma_B/(1+e^{\varepsilon B})]`.

    Examples
    --------
    >>> round(assouad_l2(0.001, 1000, 20, 2, 1.0, 1e-6), 7)
    0.0871086
    """
    mean = float(_mean(overlap, np.array([q]), n, epsilon, delta, True)[0])
    return math.sqrt(d) * math.pow(q, spike_exponent(moment_order)) * mean


def assouad_squared(
    q: float, n: int, d: int, moment_order: float, epsilon: float, delta: float
) -> float:
    r"""Return the bound on the mean squared error at q, :math:`d\,q^{2a}E\tau_B`."""
    mean = float(_mean(harmonic, np.array([q]), n, epsilon, delta, True)[0])
    return d * math.pow(q, 2 * spike_exponent(moment_order)) * mean


def assouad_linear(
    q: float, n: int, d: int, moment_order: float, epsilon: float, delta: float
) -> float:
    r"""Return the bound on the excess risk of linear losses on the unit ball at q.

    :math:`\sqrt d\,q^aE[1-\sqrt{1-\tau_B}]`.
    """
    mean = float(_mean(_missed, np.array([q]), n, epsilon, delta, True)[0])
    return math.sqrt(d) * math.pow(q, spike_exponent(moment_order)) * mean


@lru_cache(maxsize=4096)
def best_l2(n: int, moment_order: float, epsilon: float, delta: float, largest: float) -> float:
    """Return the q in (0, largest] that maximises `assouad_l2`; it does not depend on d."""
    return _best(overlap, 1, n, moment_order, epsilon, delta, largest)


@lru_cache(maxsize=4096)
def best_squared(
    n: int, moment_order: float, epsilon: float, delta: float, largest: float
) -> float:
    """Return the q in (0, largest] that maximises `assouad_squared`."""
    return _best(harmonic, 2, n, moment_order, epsilon, delta, largest)


@lru_cache(maxsize=4096)
def best_linear(n: int, moment_order: float, epsilon: float, delta: float, largest: float) -> float:
    """Return the q in (0, largest] that maximises `assouad_linear`."""
    return _best(_missed, 1, n, moment_order, epsilon, delta, largest)


def _best(
    form: Callable[[Floats, float, float], Floats],
    power: int,
    n: int,
    moment_order: float,
    epsilon: float,
    delta: float,
    largest: float,
) -> float:
    exponent = power * spike_exponent(moment_order)
    low, high = search_range(_spikes(epsilon, delta), n, largest)

    def values(q: Floats) -> Floats:
        return np.asarray(q**exponent * _mean(form, q, n, epsilon, delta, False))

    return maximise(values, low, high)
