r"""Clipped median of means, coordinate by coordinate: Kamath et al. (2022), Algorithm 3.

For laws whose coordinates have central k-th moments at most 1 and whose mean has norm at most R.
Entries are clipped to :math:`[-3\tau,3\tau]`, averaged in m blocks of :math:`b=\lfloor n/m\rfloor`,
and the median of the block means is released with noise. Clipping moves a mean by at most
`hinge_bias` of :math:`3\tau-R` (the sharp form of Lemma B.1). See theory/kamath-liu-zhang.md, 2.2,
3.2 and 3.3.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base.cards import KAMATH_2022, BoundCard
from dpsco_core.base.errors import require
from dpsco_core.base.valley import lowest_between
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, bound_like, set_letters
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    MEAN_BOUND,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.mean.rates import CDP, PURE
from dpsco_core.bounds.rate import bound_at_rate
from dpsco_core.bounds.tools import (
    BETA,
    HINGE,
    PAPER_BETA,
    SMALL_MEAN,
    Parts,
    check_beta,
    enough_records,
    joint_bias,
    root_sum_square,
    terms_of,
    void,
)
from dpsco_core.methods.records.base import hinge_bias, median_sensitivity
from dpsco_core.problems.base import Setting
from dpsco_core.statements.kamath import (
    LEMMA_B1_CONSTANT,
    Noise,
    algorithm_3_blocks,
    corollary_4_2_threshold,
)


def even_blocks(d: int, beta: float) -> int:
    r"""Return the least even number m of blocks with :math:`m\ge4\ln(2d/\beta)`.

    Theorem 4.1 then holds with probability :math:`1-\beta`, and the median of an even number of
    blocks has half the sensitivity.
    """
    check_beta(beta)
    return 2 * math.ceil(algorithm_3_blocks(d, beta) / 2)


def level_of(setting: Setting, noise: Noise) -> float:
    """Return the budget that noise may spend: rho for Gaussian, epsilon for Laplace noise."""
    return setting.gaussian_rho if noise == "gaussian" else setting.laplace_epsilon


def noise_level(setting: Setting, tau: float, noise: Noise, blocks: int) -> float:
    r"""Return the size of the noise per coordinate, in the tight calibration.

    It is a standard deviation for Gaussian and a scale for Laplace noise, in the unit of `tau`. A
    coordinate's median has sensitivity :math:`3\tau/b` for an even number of blocks of b records,
    and :math:`6\tau/b` for an odd one. The noise is infinite without a budget.
    """
    d, level = setting.d, level_of(setting, noise)
    if level <= 0:
        return math.inf
    sensitivity = median_sensitivity(tau, blocks, setting.n // blocks)
    if noise == "gaussian":
        return sensitivity * math.sqrt(d / (2 * level))
    return d * sensitivity / level


def high_probability(
    setting: Setting, noise: Noise, beta: float, *, tau: float | None = None
) -> Parts:
    r"""Return the parts of an explicit bound on the l2 error.

    Their sum bounds it with probability :math:`1-\beta`, by the proof of Theorem 4.1 with an even
    number m of blocks, the noise that the sensitivity needs, and the sharp bias. `tau` is in moment
    units; None is the one that minimises the bound. The bound is infinite for n < m or 3 tau <= R.
    """
    n, d, mean_bound = setting.n, setting.d, scaled_mean_bound(setting)
    blocks = even_blocks(d, beta)
    if n < blocks:
        return void(math.inf)
    unit, root = noise_level(setting, 1.0, noise, blocks), math.sqrt(d)
    # The l2 norm of the noise is below this multiple of tau with probability 1 - beta/2.
    if noise == "gaussian":
        unit *= root + math.sqrt(2 * math.log(2 / beta))
    else:
        unit = unit * root * math.log(2 * d / beta)
    sampling = 10 * root / math.sqrt(n // blocks)
    if math.isinf(mean_bound) or math.isinf(unit):
        return void(sampling * moment_scale(setting))

    def parts(threshold: float) -> Parts:
        """Return the parts of the bound at a threshold."""
        bias = root * hinge_bias(3 * threshold - mean_bound, setting.moment_order)
        return Parts(sampling=sampling, bias=bias, noise=unit * threshold)

    return _parts_at_threshold(parts, lambda threshold: parts(threshold).total(), setting, tau)


def mean_square(
    setting: Setting, noise: Noise, *, blocks: int = 1, tau: float | None = None
) -> Parts:
    r"""Return an explicit bound on :math:`(E\|\tilde\mu-\mu\|^2)^{1/2}`, with the tight noise.

    .. math::
        m\le2:\ \frac d{mb}+\text{bias}^2+d\sigma^2,\qquad
        m\ge3:\ \Big(\sqrt{d\kappa_m/b}+\text{bias}\Big)^2+d\sigma^2,\quad
        \kappa_m=\frac m{\lceil m/2\rceil-1}

    These are the squares of the bound, the root sum square of the parts, for m = `blocks`. The bias
    is `joint_bias`. The bound is smallest at m = 1, the clipped mean: more blocks raise the
    sampling term and the sensitivity. See theory/kamath-liu-zhang.md, 3.2. For m >= 3 the returned
    sampling and bias parts are scaled by a common factor, so that their squares add up to the
    squared sum above.
    """
    require(blocks >= 1, "blocks", "a positive integer", blocks)
    n, d, mean_bound = setting.n, setting.d, scaled_mean_bound(setting)
    if n < blocks:
        return void(math.inf)
    size = n // blocks
    per_unit = noise_level(setting, 1.0, noise, blocks)
    unit = per_unit * math.sqrt(d) * (1.0 if noise == "gaussian" else math.sqrt(2))
    spread = _sampling_root(d, blocks, size)
    if math.isinf(mean_bound) or math.isinf(unit):
        return void(spread * moment_scale(setting))

    def parts(threshold: float) -> Parts:
        """Return the parts of the bound at a threshold."""
        return squared_parts(setting, blocks, size, threshold, unit * threshold)

    order = setting.moment_order

    def size_at(threshold: float) -> float:
        """Return the root mean square error at a threshold."""
        bias = joint_bias(3 * threshold, mean_bound, d, order)
        if blocks <= 2:
            return math.hypot(spread, bias, unit * threshold)
        return math.hypot(spread + bias, unit * threshold)

    return _parts_at_threshold(parts, size_at, setting, tau)


def _sampling_root(d: int, blocks: int, size: int) -> float:
    """Return the sampling part of `mean_square` in moment units, for `blocks` of `size` records."""
    if blocks <= 2:
        return math.sqrt(d / (blocks * size))
    return math.sqrt(d * blocks / (math.ceil(blocks / 2) - 1) / size)


def squared_parts(
    setting: Setting, blocks: int, size: int, threshold: float, noise: float
) -> Parts:
    """Return the parts of `mean_square`, in moment units.

    `size` is the number of records in a block, and `noise` the root mean square of the noise.
    """
    spread = _sampling_root(setting.d, blocks, size)
    bias = joint_bias(3 * threshold, scaled_mean_bound(setting), setting.d, setting.moment_order)
    # For three or more blocks both parts are scaled so that their squares add up to
    # (spread + bias)^2.
    share = 1.0 if blocks <= 2 or math.isinf(bias) else (spread + bias) / math.hypot(spread, bias)
    return Parts(sampling=share * spread, bias=share * bias, noise=noise)


def printed(setting: Setting, noise: Noise, beta: float) -> Parts:
    r"""Return the parts of Theorem 4.1's error bound with the constants of its printed proof.

    tau is that of Corollary 4.2, but at least 10. The bias has the constant C = 14, the noise 1152
    (Gaussian) or 48 (Laplace). The number m of blocks is not rounded, as in the paper.
    """
    n, d, level = setting.n, setting.d, level_of(setting, noise)
    if level <= 0:
        return void(math.inf)
    log_size = math.log(2 * d / beta)
    tau = max(10.0, printed_threshold(setting, noise))
    if noise == "gaussian":
        std = math.sqrt(1152 / level) * tau * math.sqrt(d) * log_size / n
        size = 2 * std * (math.sqrt(d) + math.sqrt(-math.log(beta)))
    else:
        size = 48 * tau * d**1.5 / (level * n) * log_size**2
    sampling = math.sqrt(d) * 10 * math.sqrt(4 * log_size / n)
    bias = math.sqrt(d) * 3 * (LEMMA_B1_CONSTANT / tau) ** (setting.moment_order - 1)
    return Parts(sampling=sampling, bias=bias, noise=size).scaled(moment_scale(setting))


def with_logarithms(setting: Setting, noise: Noise, beta: float) -> Parts:
    r"""Return Theorem 4.1's rate with its logarithms and constants 1, at Corollary 4.2's tau.

    The factor :math:`C^{k-1}` of the bias is among the hidden constants.
    """
    n, d, level = setting.n, setting.d, level_of(setting, noise)
    if level <= 0:
        return void(math.inf)
    log_size = math.log(d / beta)
    tau = printed_threshold(setting, noise)
    if noise == "gaussian":
        tail = math.sqrt(d) + math.sqrt(-math.log(beta))
        size = tau * log_size * math.sqrt(d) / (math.sqrt(level) * n) * tail
    else:
        size = tau * d**1.5 * log_size**2 / (level * n)
    bias = math.sqrt(d) * tau ** (1 - setting.moment_order)
    parts = Parts(sampling=math.sqrt(d * log_size / n), bias=bias, noise=size)
    return parts.scaled(moment_scale(setting))


def printed_threshold(setting: Setting, noise: Noise) -> float:
    """Return the threshold tau of Corollary 4.2, in moment units; 0 without a budget."""
    level, order = level_of(setting, noise), setting.moment_order
    if level <= 0:
        return 0.0
    return corollary_4_2_threshold(setting.n, setting.d, level, noise, order)


def _parts_at_threshold(
    parts_at: Callable[[float], Parts],
    size_at: Callable[[float], float],
    setting: Setting,
    tau: float | None,
) -> Parts:
    """Return the parts of a bound at the threshold `tau`, in the unit of the records.

    None takes the threshold above R/3 with the smallest bound. `parts_at` and `size_at` return the
    parts and the bound at a threshold, all in moment units.
    """
    mean_bound = scaled_mean_bound(setting)
    if tau is None:
        place, _ = lowest_between(
            lambda log_distance: size_at((mean_bound + math.exp(log_distance)) / 3),
            # Closer to R/3 than this the bias would exceed the range of floats.
            -min(14.0, 600 / setting.moment_order),
            35.0,
            tolerance=1e-7,
        )
        tau = (mean_bound + math.exp(place)) / 3
    require(tau > 0, "tau", "positive", tau)
    return parts_at(tau).scaled(moment_scale(setting))


def _condition_on_threshold(noise: Noise) -> Hypothesis:
    """Return the condition that Corollary 4.2's threshold is at least 10, as Theorem 4.1 asks."""
    power = "sqrt(d/rho)" if noise == "gaussian" else "d/epsilon"

    def check(setting: Setting) -> str:
        """Return the reason why the threshold is below 10; empty if it is not."""
        tau = printed_threshold(setting, noise)
        if level_of(setting, noise) <= 0 or tau >= 10:
            return ""
        return (
            f"The statement needs tau >= 10, that is n >= 10^{setting.moment_order:g} {power}, "
            f"and tau={tau:.3g} at n={setting.n}."
        )

    return Hypothesis(text=f"n >= 10^p {power}", check=check)


_PAPER_BLOCKS = enough_records(
    "m = 4 ln(2d/0.1)", lambda setting: math.ceil(algorithm_3_blocks(setting.d, PAPER_BETA))
)
_EVEN_BLOCKS = enough_records(
    "m = 4 ln(2d/0.05), rounded up to even", lambda setting: even_blocks(setting.d, BETA)
)
# Gaussian and Laplace bounds differ in this LaTeX: the ratio inside the threshold tau, and the
# noise term of the proven bound, of the rate with logarithms, of the printed and the squared bound.
_GAUSSIAN_LATEX = (
    r"\frac{\sqrt\rho\,n}{\sqrt d}",
    r"\sigma\big(\sqrt d+\sqrt{2\ln\tfrac2\beta}\big),\ \sigma^2=\frac{9\,\tau^2d}{2\rho b^2}",
    r"\frac{\tau\ln(d/\beta)\sqrt d}{\sqrt\rho\,n}\big(\sqrt d+\sqrt{\ln\tfrac1\beta}\big)",
    r"2\sigma\big(\sqrt d+\sqrt{\ln\tfrac1\beta}\big),\ "
    r"\sigma^2=\frac{1152\,\tau^2d\ln^2(2d/\beta)}{\rho n^2}",
    r"d\sigma^2},\ \sigma^2=\frac{18\,\tau^2d}{\rho n^2}",
)
_LAPLACE_LATEX = (
    r"\frac{\varepsilon n}d",
    r"s\sqrt d\ln\tfrac{2d}\beta,\ s=\frac{3\,\tau d}{\varepsilon b}",
    r"\frac{\tau d^{3/2}\ln^2(d/\beta)}{\varepsilon n}",
    r"\frac{48\,\tau d^{3/2}}{\varepsilon n}\ln^2\tfrac{2d}\beta",
    r"2ds^2},\ s=\frac{6\,\tau d}{\varepsilon n}",
)


def _bounds_of_noise(noise: Noise) -> tuple[Bound, ...]:
    """Return the five upper bounds on Algorithm 3's error, with Gaussian or with Laplace noise."""
    private = noise == "gaussian"
    slug = "mean.cwme-cdp" if private else "mean.cwme-pure"
    title = f"Coordinate-wise, {noise.capitalize()}"
    algorithm = "CDPCWME" if private else "DPCWME"
    budget = (GAUSSIAN_BUDGET,) if private else ()
    latex = _GAUSSIAN_LATEX if private else _LAPLACE_LATEX
    signal, noise_text, log_noise, printed_noise, energy = latex
    level_text = r",\ \tau=\Big(" + signal + r"\Big)^{1/p}"
    # Theorem 4.1 holds at every tau >= 10, and at no smaller tau.
    printed_level = r",\ \tau=\max\Big\{10,\Big(" + signal + r"\Big)^{1/p}\Big\}"
    rate = replace(CDP if private else PURE, scale=moment_scale)
    rate_card = BoundCard(
        slug=f"upper.{slug}",
        name=f"{title}, rate",
        paper=KAMATH_2022,
        statement=f"Corollary 4.2 ({algorithm})",
        summary="The rate of clipping each coordinate and taking medians of block averages; "
        "logarithms and constants are set to 1.",
        kind="upper",
        constant="rate",
        guarantee="probability 0.9",
        latex=rate.latex,
        privacy="zcdp" if private else "pure",
        method=slug,
    )
    level = _condition_on_threshold(noise)
    paper_conditions = (*budget, COORDINATE_MOMENT, SMALL_MEAN, level, _PAPER_BLOCKS)
    explicit_conditions = (*budget, COORDINATE_MOMENT, MEAN_BOUND)
    return (
        bound_at_rate(rate_card, rate, paper_conditions),
        bound_like(
            rate_card,
            slug=f"upper.{slug}-logs",
            name=f"{title}, rate with logarithms",
            statement=f"Theorem 4.1 ({algorithm}) at the tau of Corollary 4.2",
            summary="The theorem's three terms with their logarithms; constants set to 1.",
            latex=r"\sqrt d\Big(\sqrt{\frac{\ln(d/\beta)}n}+\tau^{1-p}\Big)+"
            + log_noise
            + level_text,
            evaluate=terms_of(lambda s: with_logarithms(s, noise, PAPER_BETA)),
            hypotheses=paper_conditions,
        ),
        bound_like(
            rate_card,
            slug=f"upper.{slug}-paper",
            name=f"{title}, printed constants",
            statement=f"Theorem 4.1 ({algorithm}), constants of its proof, C = 14",
            printing="printed",
            summary="What the paper's own constants add up to: a bias constant of 14 to the "
            "power p-1, and noise for a sensitivity several times too large.",
            constant="explicit",
            latex=r"\sqrt d\Big(10\sqrt{\tfrac mn}+3\big(\tfrac{14}\tau\big)^{p-1}\Big)+"
            + printed_noise
            + r",\ m=4\ln\tfrac{2d}\beta"
            + printed_level,
            evaluate=terms_of(lambda s: printed(s, noise, PAPER_BETA)),
            hypotheses=paper_conditions,
        ),
        bound_like(
            rate_card,
            slug=f"upper.{slug}-probability",
            name=f"{title}, proven at 95 %",
            statement=f"Theorem 4.1 ({algorithm}), proof with sharp bias and exact noise",
            summary="An error that is exceeded in at most 5 of 100 runs, with every constant "
            "proven, for an even number of blocks and at the clipping level that makes this "
            "bound smallest. The method's own tunings take others, and may have a larger error.",
            constant="explicit",
            guarantee="probability 0.95",
            latex=r"\min_\tau\sqrt d\Big(\frac{10}{\sqrt b}+h_p(3\tau-R)\Big)+"
            + noise_text
            + r",\ b=\lfloor n/m\rfloor,\ m=2\lceil2\ln\tfrac{2d}\beta\rceil,\ "
            + HINGE,
            evaluate=terms_of(lambda s: high_probability(s, noise, BETA)),
            hypotheses=(*explicit_conditions, _EVEN_BLOCKS),
        ),
        bound_like(
            rate_card,
            slug=f"upper.{slug}-expected",
            name=f"{title}, proven mean error",
            statement=f"Algorithm 3 ({algorithm}) with m = 1: mean square error",
            summary="The mean error of the clipped average with the tight noise, with every "
            "constant proven, at the clipping level that makes this bound smallest; for the "
            "mean error one block is best, and more blocks buy reliability only.",
            constant="explicit",
            guarantee="expectation",
            latex=r"\min_\tau\sqrt{\frac dn+(d-1)\psi(0)+\psi(R)+(\sqrt d-1)R\psi'(0)+"
            + energy
            + r",\ \psi(t)=h_p(3\tau-t)^2,\ "
            + HINGE,
            evaluate=terms_of(lambda s: mean_square(s, noise)),
            combine=root_sum_square,
            hypotheses=explicit_conditions,
        ),
    )


COORDINATEWISE_BOUNDS = set_letters(
    letters.BLOCKS, (*_bounds_of_noise("gaussian"), *_bounds_of_noise("laplace"))
)
