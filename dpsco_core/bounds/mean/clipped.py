r"""Norm clipping: Zhao et al. (2024), Algorithm 2 and Theorem 2.

Records are projected on the ball of radius R and averaged, with Gaussian noise of standard
deviation :math:`\sqrt2R/(n\sqrt\rho)` per coordinate (theory/zhao-et-al.md, 2.2, 3.1 and 3.2).
Formulas are written in ratios, so that no power overflows at large p, such as 100.
"""

import math
from dataclasses import dataclass

from dpsco_core.base.cards import KAMATH_SINGHAL_ULLMAN_2020, ZHAO_2024, BoundCard
from dpsco_core.base.law_classes import COORDINATE, DIRECTIONAL
from dpsco_core.base.root import find_root
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Frontier, Letter, bound_like, set_letters
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    MEAN_BOUND,
    moment_scale,
)
from dpsco_core.bounds.mean.rates import CDP
from dpsco_core.bounds.rate import Rate, bound_at_rate, two_terms
from dpsco_core.bounds.tools import (
    BETA,
    DIRECTIONAL_CONDITIONS,
    KAPPA,
    Parts,
    check_beta,
    directional_unit,
    root_sum_square,
    terms_of,
    void,
)
from dpsco_core.methods.records.base import hinge_constant
from dpsco_core.problems.base import Setting
from dpsco_core.statements.zhao import (
    equation_14_covering,
    equation_14_slope,
    equation_19_radius,
)


@dataclass(frozen=True)
class ClippingBias:
    r"""A bound on the bias of clipping to radius R, with the R that minimise sums with noise.

    The bound is :math:`\text{constant}\cdot A\,(S/(R-\text{shift}))^{p-1}`.
    """

    constant: float  # the factor in front of the formula
    amplitude: float  # the length A in the formula
    scale: float  # the length S in the formula
    order: float  # the moment order p >= 2
    shift: float = 0.0  # how much longer a record may be than the vector whose moment is bounded

    def at_radius(self, radius: float) -> float:
        """Return the bias at a clip radius R."""
        if radius <= self.shift:
            return math.inf
        room = radius - self.shift
        exponent = (self.order - 1) * math.log(self.scale / room) if self.scale > 0 else -800.0
        return self.constant * self.amplitude * math.exp(exponent) if exponent < 650 else math.inf

    def best_radius(self, slope: float) -> float:
        r"""Return the clip radius R that minimises the bias plus slope R, slope R the noise."""
        ratio = (self.order - 1) * self.constant * self.amplitude / (slope * self.scale)
        return self.shift + self.scale * math.pow(ratio, 1 / self.order)

    def best_radius_squared(self, slope: float) -> float:
        r"""Return the clip radius R that minimises bias^2 + (slope R)^2, slope R the noise.

        Without a shift the minimiser t has a closed form. With a shift a it is
        :math:`a+te^{-v}`, where v solves :math:`e^{(2p-1)v}=e^{-v}+a/t`.
        """
        ratio = self.constant * self.amplitude / (slope * self.scale)
        unshifted = self.scale * math.pow(math.sqrt(self.order - 1) * ratio, 1 / self.order)
        if self.shift == 0:
            return unshifted
        power, share = 2 * self.order - 1, self.shift / unshifted
        low, high = math.log1p(share) / (power + 1), math.log1p(share) / power

        def excess(v: float) -> float:
            """Return the difference of the two sides of the equation for v."""
            return math.exp(power * v) - math.exp(-v) - share

        # If both ends round to the same number, the signs of `excess` are unreliable.
        sure = high > low and excess(low) < 0 < excess(high)
        exponent = find_root(excess, low, high) if sure else high
        return self.shift + unshifted * math.exp(-exponent)


def printed_bias(setting: Setting) -> ClippingBias:
    r"""Return the bias (55) of Zhao et al. (2024): :math:`\frac{d^{p/2}M^p}{p-1}R^{1-p}`."""
    scale = math.sqrt(setting.d) * setting.constants.directional_moment
    order = setting.moment_order
    return ClippingBias(1 / (order - 1), scale, scale, order)


def directional_bias(setting: Setting) -> ClippingBias:
    r"""Return the sharp bias under a directional moment: :math:`\kappa_pd^{(p-1)/2}M^pR^{1-p}`."""
    moment, order = setting.constants.directional_moment, setting.moment_order
    return ClippingBias(hinge_constant(order), moment, math.sqrt(setting.d) * moment, order)


def coordinate_bias(setting: Setting) -> ClippingBias:
    r"""Return the sharp bias under coordinate-wise central moments.

    :math:`\kappa_p(\sqrt d\,g)^p(R-R_0)^{1-p}`, g the root of the moment, :math:`R_0` a bound on
    the mean: a record is longer than R only where it is further than R - R_0 from the mean.
    """
    order, scale = setting.moment_order, math.sqrt(setting.d) * moment_scale(setting)
    shift = setting.constants.mean_gradient_bound
    return ClippingBias(hinge_constant(order), scale, scale, order, shift)


def covering_log(d: int, beta: float, net: float = 6.0) -> float:
    r"""Return the logarithm :math:`\Lambda=\ln(2\,\text{net}^d/\beta)` of a union bound over a net.

    The net of the sphere has :math:`\text{net}^d` points.
    """
    check_beta(beta)
    return equation_14_covering(d, beta, net)


def printed_radius(setting: Setting) -> float:
    """Return the clip radius R of Zhao et al. (2024), equation (19), over the moment root M."""
    return equation_19_radius(setting.n, setting.d, setting.gaussian_rho, setting.moment_order)


def balanced_radius(setting: Setting, beta: float) -> float:
    """Return the clip radius that minimises printed noise plus bias (theory/zhao-et-al.md, 2.2).

    The bound at this radius holds with probability 1 - `beta`.
    """
    size = covering_log(setting.d, beta)
    slope = equation_14_slope(setting.n, setting.gaussian_rho, size)
    return printed_bias(setting).best_radius(slope)


# Theorem 2 of Zhao et al. (2024) has this rate at the balancing radius. Its third term is the
# sub-exponential part of the sampling error.
CLIPPED = Rate(
    terms={**CDP.terms, "sampling tail": "sqrt(d)*(d/n)^(1-1/p)"},
    unit="M",
    letters=letters.CLIPPING,
)
# Kamath, Singhal and Ullman (2020) have this rate for directional moments. Norm clipping attains it
# with the sharp clipping bias (theory/zhao-et-al.md, 3.6).
DIRECTIONAL_RATE = two_terms(
    "sqrt(d/n)", "(d/(sqrt(rho)*n))^(1-1/p)", unit="M", letters=letters.CLIPPING
)


def printed(setting: Setting, beta: float, *, radius: float | None = None) -> Parts:
    r"""Return the terms of the printed bound (14) of Theorem 2 on the l2 error.

    Their sum bounds the error with probability :math:`1-\beta`. A `radius` of None is
    `balanced_radius`. The bound is infinite at rho = 0.
    """
    n, rho, moment = setting.n, setting.gaussian_rho, setting.constants.directional_moment
    size = covering_log(setting.d, beta)
    floor = moment * math.sqrt(12 * size / n)
    if rho <= 0 or math.isinf(moment):
        return void(floor)
    if radius is None:
        radius = balanced_radius(setting, beta)
    return Parts(
        sampling=max(floor, 8 * radius * size / n),
        bias=printed_bias(setting).at_radius(radius),
        noise=4 * radius * math.sqrt(size / rho) / n,
    )


def high_probability(setting: Setting, beta: float) -> Parts:
    r"""Return the terms of a sharper form of Theorem 2, at the clip radius that minimises it.

    Their sum bounds the l2 error with probability :math:`1-\beta`. The net of the proof has
    :math:`5^d` points, the noise has the tail of a Gaussian norm, and the bias is
    `directional_bias`.
    """
    n, d, rho = setting.n, setting.d, setting.gaussian_rho
    size = covering_log(d, beta, 5.0)
    floor = setting.constants.directional_moment * math.sqrt(12 * size / n)
    if rho <= 0 or math.isinf(floor):
        return void(floor)
    bias = directional_bias(setting)
    tail = 8 * size / n
    noise = math.sqrt(2 / rho) / n * (math.sqrt(d) + math.sqrt(2 * math.log(2 / beta)))
    # The sum is convex in R, with one kink where the two sampling terms are equal.
    kink = floor / tail
    radius = min(bias.best_radius(noise), max(kink, bias.best_radius(noise + tail)))
    return Parts(
        sampling=max(floor, tail * radius), bias=bias.at_radius(radius), noise=noise * radius
    )


def mean_square(
    setting: Setting, scale: float, bias: ClippingBias, *, radius: float | None = None
) -> Parts:
    r"""Return the terms of Theorem 2 in mean square, which are infinite at rho = 0.

    Their `Parts.root_sum_square` bounds the mean l2 error. A `radius` of None is the one that
    minimises this bound. The trace of the covariance is at most d times the square of `scale`,
    which is M for directional moments and g for moments of coordinates.
    """
    n, d, rho = setting.n, setting.d, setting.gaussian_rho
    sampling = math.sqrt(d * scale**2 / n)
    if rho <= 0 or math.isinf(bias.scale) or math.isinf(bias.shift):
        return void(sampling)
    slope = math.sqrt(2 * d / rho) / n
    if radius is None:
        radius = bias.best_radius_squared(slope)
    return Parts(sampling=sampling, bias=bias.at_radius(radius), noise=slope * radius)


# Zhao et al. (2024), after Theorem 4: the rate is optimal up to this epsilon.
OPTIMAL = Frontier(text="ε = 1/√d", epsilon=lambda d: 1 / math.sqrt(d))
_OTHER_RADIUS = "The method's own tunings take other radii, and may have a larger error."
_CLIPPED_CARD = BoundCard(
    slug="upper.mean.clipped",
    name="Simple clipping, rate",
    paper=ZHAO_2024,
    statement="Theorem 2 at the balancing radius",
    printing="reworked",
    summary="The rate of clipping each record to a ball; constants set to 1.",
    kind="upper",
    constant="rate",
    guarantee="probability 0.95",
    latex=CLIPPED.latex,
    privacy="zcdp",
    method="mean.clipped",
    law_class=DIRECTIONAL,
)
LETTERS = (
    *letters.CLIPPING,
    letters.SCALE,
    Letter("k", "number of groups"),
    Letter("R_0", "bound on the norm of the mean", lambda s: s.constants.mean_gradient_bound),
)
_CLIPPED_BOUNDS: tuple[Bound, ...] = (
    bound_at_rate(_CLIPPED_CARD, CLIPPED, DIRECTIONAL_CONDITIONS, optimal=OPTIMAL),
    bound_at_rate(
        _CLIPPED_CARD,
        DIRECTIONAL_RATE,
        DIRECTIONAL_CONDITIONS,
        slug="upper.mean.clipped-directional",
        name="Directional moments, rate",
        paper=KAMATH_SINGHAL_ULLMAN_2020,
        statement="Rate under directional moments; attained by clipping with the sharp bias",
        summary="The better rate that holds when moments are bounded in every direction, "
        "which simple clipping attains in mean square; constants set to 1.",
        guarantee="expectation",
    ),
    bound_like(
        _CLIPPED_CARD,
        slug="upper.mean.clipped-paper",
        name="Simple clipping, printed constants",
        statement="Theorem 2, (14), at the radius that balances bias, tail and noise",
        printing="printed",
        summary="The theorem as printed, at the radius of the theory tuning: an error exceeded "
        "in at most 5 of 100 runs.",
        constant="explicit",
        latex=r"\max\Big\{\sqrt{\tfrac{12M^2}n\Lambda},\tfrac{8R}n\Lambda\Big\}+"
        r"\frac{d^{p/2}M^p}{p-1}R^{1-p}+\frac{4R}{n\sqrt\rho}\sqrt\Lambda,\ "
        r"\Lambda=\ln\frac{2\cdot6^d}\beta,\ "
        r"R=\sqrt dM\Big(\frac{4\sqrt\Lambda}{n\sqrt\rho}+\frac{8\Lambda}n\Big)^{-1/p}",
        evaluate=terms_of(lambda setting: printed(setting, BETA)),
        hypotheses=DIRECTIONAL_CONDITIONS,
    ),
    bound_like(
        _CLIPPED_CARD,
        slug="upper.mean.clipped-probability",
        name="Simple clipping, proven at 95 %",
        statement="Theorem 2 with a smaller net, exact noise tail and sharp bias",
        summary="The theorem with its constants sharpened, at the radius that makes this bound "
        "smallest: an error exceeded in at most 5 of 100 runs. " + _OTHER_RADIUS,
        constant="explicit",
        latex=r"\min_R\max\Big\{\sqrt{\tfrac{12M^2}n\Lambda_5},\tfrac{8R}n\Lambda_5\Big\}+"
        r"\kappa_pd^{(p-1)/2}M^pR^{1-p}+\frac{\sqrt2R}{n\sqrt\rho}"
        r"\Big(\sqrt d+\sqrt{2\ln\tfrac2\beta}\Big),\ "
        r"\Lambda_5=\ln\frac{2\cdot5^d}\beta,\ " + KAPPA,
        evaluate=terms_of(lambda setting: high_probability(setting, BETA)),
        hypotheses=DIRECTIONAL_CONDITIONS,
    ),
    bound_like(
        _CLIPPED_CARD,
        slug="upper.mean.clipped-expected",
        name="Simple clipping, proven mean error",
        statement="Theorem 2, second-moment version, directional moments",
        summary="The mean error of simple clipping when moments are bounded in every "
        "direction, with every constant proven, at the radius that makes this bound smallest. "
        + _OTHER_RADIUS,
        constant="explicit",
        guarantee="expectation",
        latex=r"\min_R\Big[\frac{dM^2}n+\big(\kappa_pd^{(p-1)/2}M^pR^{1-p}\big)^2+"
        r"\frac{2dR^2}{\rho n^2}\Big]^{1/2},\ " + KAPPA,
        evaluate=terms_of(lambda s: mean_square(s, directional_unit(s), directional_bias(s))),
        combine=root_sum_square,
        hypotheses=DIRECTIONAL_CONDITIONS,
    ),
    bound_like(
        _CLIPPED_CARD,
        slug="upper.mean.clipped-expected-coordinate",
        name="Simple clipping, proven mean error, coordinate moments",
        statement="Theorem 2, second-moment version, coordinate-wise central moments",
        summary="The mean error of simple clipping over the lower bounds' own class, with "
        "every constant proven, at the radius that makes this bound smallest. " + _OTHER_RADIUS,
        constant="explicit",
        guarantee="expectation",
        law_class=COORDINATE,
        latex=r"\min_R\Big[\frac{dg^2}n+\big(\kappa_p(\sqrt dg)^p(R-R_0)^{1-p}\big)^2+"
        r"\frac{2dR^2}{\rho n^2}\Big]^{1/2},\ " + KAPPA,
        evaluate=terms_of(lambda s: mean_square(s, moment_scale(s), coordinate_bias(s))),
        combine=root_sum_square,
        hypotheses=(GAUSSIAN_BUDGET, COORDINATE_MOMENT, MEAN_BOUND),
    ),
)
CLIPPED_BOUNDS = set_letters(LETTERS, _CLIPPED_BOUNDS)
