"""Upper bounds of the clipped median of means: Kamath et al. (2022), Algorithm 3."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base.cards import KAMATH_2022, BoundCard
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Terms, lettered
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    MEAN_BOUND,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.mean import coordinatewise_formulas as upper_coordinatewise
from dpsco_core.bounds.mean import rates
from dpsco_core.bounds.mean.coordinatewise_formulas import Noise, Parts
from dpsco_core.bounds.tools import (
    BETA,
    HINGE,
    PAPER_BETA,
    SMALL_MEAN,
    enough_records,
    root_sum_square,
    sum_terms,
)
from dpsco_core.problems.base import Setting


def _level(setting: Setting, noise: Noise) -> float:
    return setting.gaussian_rho if noise == "gaussian" else setting.pure_epsilon


def _printed_threshold(noise: Noise) -> Hypothesis:
    power = "sqrt(d/rho)" if noise == "gaussian" else "d/epsilon"

    def check(setting: Setting) -> str:
        level = _level(setting, noise)
        order = setting.moment_order
        tau = upper_coordinatewise.printed_threshold(setting.n, setting.d, order, level, noise)
        if level <= 0 or tau >= 10:
            return ""
        return (
            f"The statement needs tau >= 10, that is n >= 10^{order:g} {power}, "
            f"and tau={tau:.3g} at n={setting.n}."
        )

    return Hypothesis(text=f"n >= 10^p {power}", check=check)


def _paper_blocks(setting: Setting) -> int:
    return math.ceil(4 * math.log(2 * setting.d / PAPER_BETA))


_PAPER_BLOCKS = enough_records("m = 4 ln(2d/0.1)", _paper_blocks)
_EVEN_BLOCKS = enough_records(
    "m = 4 ln(2d/0.05), rounded up to even",
    lambda setting: upper_coordinatewise.even_blocks(setting.d, BETA),
)


def _coordinatewise(noise: Noise) -> tuple[Bound, ...]:
    """Return the five bounds of Algorithm 3 with Gaussian or with Laplace noise."""
    private = noise == "gaussian"
    slug = "mean.cwme-cdp" if private else "mean.cwme-pure"
    title = "Coordinate-wise, Gaussian" if private else "Coordinate-wise, Laplace"
    algorithm = "CDPCWME" if private else "DPCWME"
    budget = (GAUSSIAN_BUDGET,) if private else ()
    bracket = r"\frac{\sqrt d}{\sqrt\rho\,n}" if private else r"\frac d{\varepsilon n}"
    noise_text = (
        r"\sigma\big(\sqrt d+\sqrt{2\ln\tfrac2\beta}\big),\ \sigma^2=\frac{9\,\tau^2d}{2\rho b^2}"
        if private
        else r"s\sqrt d\ln\tfrac{2d}\beta,\ s=\frac{3\,\tau d}{\varepsilon b}"
    )
    log_noise = (
        r"\frac{\tau\ln(d/\beta)\sqrt d}{\sqrt\rho\,n}\big(\sqrt d+\sqrt{\ln\tfrac1\beta}\big)"
        if private
        else r"\frac{\tau d^{3/2}\ln^2(d/\beta)}{\varepsilon n}"
    )
    printed_noise = (
        r"2\sigma\big(\sqrt d+\sqrt{\ln\tfrac1\beta}\big),\ "
        r"\sigma^2=\frac{1152\,\tau^2d\ln^2(2d/\beta)}{\rho n^2}"
        if private
        else r"\frac{48\,\tau d^{3/2}}{\varepsilon n}\ln^2\tfrac{2d}\beta"
    )
    energy = (
        r"d\sigma^2},\ \sigma^2=\frac{18\,\tau^2d}{\rho n^2}"
        if private
        else r"2ds^2},\ s=\frac{6\,\tau d}{\varepsilon n}"
    )
    level_text = r",\ \tau=\Big(" + (
        r"\frac{\sqrt\rho\,n}{\sqrt d}" if private else r"\frac{\varepsilon n}d"
    )
    level_text += r"\Big)^{1/p}"

    def rate_terms(setting: Setting) -> Terms:
        rate = rates.mean_rate_cdp if private else rates.mean_rate_pure
        level = _level(setting, noise)
        sampling, privacy = rate(setting.n, setting.d, setting.moment_order, level)
        scale = moment_scale(setting)
        return {"sampling": scale * sampling, "privacy": scale * privacy}

    def at_paper(
        formula: Callable[[int, int, float, float, Noise, float], Parts],
    ) -> Callable[[Setting], Terms]:
        def terms(setting: Setting) -> Terms:
            parts = formula(
                setting.n,
                setting.d,
                setting.moment_order,
                _level(setting, noise),
                noise,
                PAPER_BETA,
            )
            return sum_terms(parts.scaled(moment_scale(setting)))

        return terms

    def probability_terms(setting: Setting) -> Terms:
        parts = upper_coordinatewise.high_probability(
            setting.n,
            setting.d,
            setting.moment_order,
            scaled_mean_bound(setting),
            _level(setting, noise),
            noise,
            BETA,
        )
        return sum_terms(parts.scaled(moment_scale(setting)))

    def expected_terms(setting: Setting) -> Terms:
        parts = upper_coordinatewise.mean_square(
            setting.n,
            setting.d,
            setting.moment_order,
            scaled_mean_bound(setting),
            _level(setting, noise),
            noise,
        )
        return sum_terms(parts.scaled(moment_scale(setting)))

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
        latex=r"\sqrt{\frac dn}+\sqrt d\Big(" + bracket + r"\Big)^{1-1/p}",
        privacy="zcdp" if private else "pure",
        method=slug,
    )
    paper_conditions = (
        *budget,
        COORDINATE_MOMENT,
        SMALL_MEAN,
        _printed_threshold(noise),
        _PAPER_BLOCKS,
    )
    explicit_conditions = (*budget, COORDINATE_MOMENT, MEAN_BOUND)
    return (
        Bound(card=rate_card, evaluate=rate_terms, hypotheses=paper_conditions),
        Bound(
            card=replace(
                rate_card,
                slug=f"upper.{slug}-logs",
                name=f"{title}, rate with logarithms",
                statement=f"Theorem 4.1 ({algorithm}) at the tau of Corollary 4.2",
                summary="The theorem's three terms with their logarithms; constants set to 1.",
                latex=r"\sqrt d\Big(\sqrt{\frac{\ln(d/\beta)}n}+\tau^{1-p}\Big)+"
                + log_noise
                + level_text,
            ),
            evaluate=at_paper(upper_coordinatewise.with_logarithms),
            hypotheses=paper_conditions,
        ),
        Bound(
            card=replace(
                rate_card,
                slug=f"upper.{slug}-paper",
                name=f"{title}, printed constants",
                statement=f"Theorem 4.1 ({algorithm}), constants of its proof, C = 14",
                summary="What the paper's own constants add up to: a bias constant of 14 to the "
                "power p-1, and noise for a sensitivity several times too large.",
                constant="explicit",
                latex=r"\sqrt d\Big(10\sqrt{\tfrac mn}+3\big(\tfrac{14}\tau\big)^{p-1}\Big)+"
                + printed_noise
                + r",\ m=4\ln\tfrac{2d}\beta"
                + level_text,
            ),
            evaluate=at_paper(upper_coordinatewise.printed),
            hypotheses=paper_conditions,
        ),
        Bound(
            card=replace(
                rate_card,
                slug=f"upper.{slug}-probability",
                name=f"{title}, proven at 95 %",
                statement=f"Theorem 4.1 ({algorithm}), proof with sharp bias and exact noise",
                summary="An error that is exceeded in at most 5 of 100 runs, with every constant "
                "proven, for an even number of blocks and at the clipping level that makes this "
                "bound smallest. The method's own tunings take others, and may err more.",
                constant="explicit",
                guarantee="probability 0.95",
                latex=r"\min_\tau\sqrt d\Big(\frac{10}{\sqrt b}+h_p(3\tau-R)\Big)+"
                + noise_text
                + r",\ b=\lfloor n/m\rfloor,\ m=2\lceil2\ln\tfrac{2d}\beta\rceil,\ "
                + HINGE,
            ),
            evaluate=probability_terms,
            hypotheses=(*explicit_conditions, _EVEN_BLOCKS),
        ),
        Bound(
            card=replace(
                rate_card,
                slug=f"upper.{slug}-expected",
                name=f"{title}, proven mean error",
                statement=f"Algorithm 3 ({algorithm}) with m = 1: mean square error",
                summary="The mean error of the clipped average with the tight noise, with every "
                "constant proven, at the clipping level that makes this bound smallest; for the "
                "mean error one block is best, and more blocks buy reliability only.",
                constant="explicit",
                guarantee="expectation",
                latex=r"\min_\tau\sqrt{\frac dn+d\,h_p(3\tau-R)^2+" + energy + r",\ " + HINGE,
            ),
            evaluate=expected_terms,
            combine=root_sum_square,
            hypotheses=explicit_conditions,
        ),
    )


_COORDINATEWISE_BOUNDS: tuple[Bound, ...] = (
    *_coordinatewise("gaussian"),
    *_coordinatewise("laplace"),
)
COORDINATEWISE_BOUNDS = lettered(letters.BLOCKS, _COORDINATEWISE_BOUNDS)
