"""The only place in the package that draws noise for privacy.

These functions know nothing of budgets; a `Ledger` calls them through a mechanism, whose cost it
has recorded. The noise is double-precision: see SECURITY.md.
"""

import math

import numpy as np

from dpsco_core.base.arrays import Vector, real_array
from dpsco_core.geometry.norms import row_norms


def gaussian_noise_std(l2_sensitivity: float, rho: float) -> float:
    r"""Return the deviation :math:`\Delta_2/\sqrt{2\rho}` per coordinate that gives rho-zCDP.

    Bun and Steinke (2016), Proposition 1.6.
    """
    return l2_sensitivity / math.sqrt(2 * rho)


def laplace_noise_scale(l1_sensitivity: float, epsilon: float) -> float:
    r"""Return the scale :math:`\Delta_1/\varepsilon` per coordinate that gives epsilon-DP.

    Dwork, McSherry, Nissim and Smith (2006), Proposition 1.
    """
    return l1_sensitivity / epsilon


def gumbel_noise_scale(sensitivity: float, epsilon: float) -> float:
    r"""Return the scale :math:`2\Delta/\varepsilon` of the noise per score that gives epsilon-DP.

    The largest noisy score is then the choice of the exponential mechanism (McSherry and Talwar
    2007, Theorem 6).
    """
    return 2 * sensitivity / epsilon


def generalized_gaussian_noise_scale(sensitivity: float, kappa: float, rho: float) -> float:
    r"""Return the scale :math:`\sigma = s\sqrt{\kappa/(2\rho)}` that gives rho-zCDP.

    For noise of density :math:`\propto e^{-\|z\|_r^2/(2\sigma^2)}`, a sensitivity s in the norm
    whose constant of regularity is :math:`\kappa` (theory/su-zhao-wang.md, 1.8).
    """
    return sensitivity * math.sqrt(kappa / (2 * rho))


def objective_noise_std(l2_sensitivity: float, epsilon: float, delta: float) -> float:
    r"""Return the deviation per coordinate of the linear term of objective perturbation.

    The gradient of n times the objective moves by a vector of norm at most :math:`\Delta` in the
    span of two fixed directions (a generalised linear loss), or along one. Off an event of
    probability :math:`\delta = e^{-t^2/2}` the noise in that plane is at most :math:`t\sigma`,
    :math:`t = \sqrt{2\ln(1/\delta)}`, and the privacy loss at most
    :math:`\Delta t/\sigma + \Delta^2/(2\sigma^2)`; this is the sigma at which that is `epsilon`
    (theory/su-zhao-wang.md, 2.1 (b), whose 2/delta is in terms of twice this delta).
    """
    t = math.sqrt(-2 * math.log(delta))
    # the root x of x t + x^2/2 = epsilon
    ratio = 2 * epsilon / (t + math.sqrt(t * t + 2 * epsilon))
    return l2_sensitivity / ratio


def gaussian_noise(
    shape: int | tuple[int, ...], noise_std: float, rng: np.random.Generator
) -> Vector:
    """Return independent N(0, noise_std^2) entries."""
    return rng.normal(scale=noise_std, size=shape)


def add_gaussian_noise(value: Vector, noise_std: float, rng: np.random.Generator) -> Vector:
    """Return `value` plus independent N(0, noise_std^2) in every entry; any shape."""
    return real_array("value", value) + rng.normal(scale=noise_std, size=value.shape)


def add_laplace_noise(value: Vector, noise_scale: float, rng: np.random.Generator) -> Vector:
    """Return `value` plus independent Laplace(0, noise_scale) in every entry; any shape."""
    return real_array("value", value) + rng.laplace(scale=noise_scale, size=value.shape)


def add_spherical_laplace_noise(
    value: Vector, noise_scale: float, rng: np.random.Generator
) -> Vector:
    r"""Return `value`, shape (d,), plus noise of density :math:`\propto e^{-\|z\|_2/s}`.

    Its norm has a gamma law of shape d, independent of the direction, which is uniform; an entry
    has a variance of (d + 1) s^2.
    """
    direction = rng.standard_normal(len(value))
    length = rng.gamma(len(value), noise_scale)
    return real_array("value", value) + direction * (length / math.hypot(*direction))


def spherical_laplace_reach(size: int, noise_scale: float) -> float:
    r"""Return a norm that `add_spherical_laplace_noise` never exceeds in doubles.

    :math:`s(d + 13\sqrt d + 110)`. The generator makes a gamma variable of shape d > 1 as
    :math:`b(1+x/\sqrt{9b})^3`, b = d - 1/3, of a normal x below 12.4, which is all that its 53 bits
    reach, and one of shape 1 below 45. In exact arithmetic it is exceeded with a probability below
    1e-21.
    """
    return noise_scale * (size + 13 * math.sqrt(size) + 110)


def exponential_choice(log_weights: Vector, rng: np.random.Generator) -> int:
    """Draw an index with probability proportional to the exponential of its log-weight.

    It is the index of the largest log-weight after independent Gumbel noise is added. In doubles
    this noise lies in [-3.7, 36.8], so that a candidate which trails by more than 40.5 is never
    drawn. The largest log-weight is subtracted first.
    """
    shifted = log_weights - log_weights.max()
    return int(np.argmax(shifted + rng.gumbel(size=len(shifted))))


def draw_coins(probabilities: Vector, rng: np.random.Generator) -> Vector:
    """Draw a 0-1 coin for each probability, each from its own uniform number."""
    return np.asarray(rng.random(len(probabilities)) < probabilities, dtype=float)


def generalized_gaussian_noise(
    shape: tuple[int, int],  # the number of vectors, and their dimension d
    exponent: float,  # the r of the norm, in [1, infinity]; 2 gives N(0, sigma^2 I)
    noise_scale: float,
    rng: np.random.Generator,
) -> Vector:
    r"""Draw independent rows of density :math:`\propto e^{-\|z\|_r^2/(2\sigma^2)}`, exactly.

    The norm of a row is sigma times a chi variable, independent of the direction, which follows
    the cone measure: that of a vector with independent entries of density
    :math:`\propto e^{-|y|^r}`, divided by its norm. An entry is
    :math:`\pm\Gamma(1+1/r)^{1/r}U`, U uniform, in which nothing underflows (theory/su-zhao-wang.md,
    1.8).
    """
    sizes = rng.random(shape)
    if math.isfinite(exponent):
        sizes *= rng.gamma(1 + 1 / exponent, size=shape) ** (1 / exponent)
    radii = noise_scale * np.sqrt(rng.chisquare(shape[1], size=shape[0]))
    norms = row_norms(sizes, exponent)
    signs = rng.choice([-1.0, 1.0], size=shape)
    noise: Vector = signs * (sizes / norms[:, None]) * radii[:, None]
    return noise
