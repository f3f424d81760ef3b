"""Excess risk of objective perturbation: Su et al. (2023), Theorems 2 and 4."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import SCO_PROBLEMS, SU_2023, BoundCard
from dpsco_core.bounds.base import Bound, Hypothesis, Letter
from dpsco_core.bounds.euclidean import objective_formulas as sco_objective
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    KNOWN_HESSIANS,
    LIPSCHITZ,
    SAMPLE_SMOOTH,
    SAMPLE_STRONGLY_CONVEX,
    STRONG_PROBLEMS,
    TWICE_DIFFERENTIABLE,
    approximate,
    named,
)
from dpsco_core.bounds.euclidean.objective_formulas import Objective
from dpsco_core.bounds.lq.conditions import SYMMETRIC, finite_set, is_symmetric
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting


def objective(setting: Setting) -> Objective | None:
    """Return what the formulas need, or None without an (epsilon, delta) budget."""
    budget = setting.budget
    c = setting.constants
    if not isinstance(budget, ApproxDP):
        return None
    return Objective(
        n=setting.n,
        epsilon=budget.epsilon,
        delta=budget.delta,
        lipschitz=c.lipschitz,
        diameter=c.diameter,
        width=width(setting),
        inradius=inradius(setting),
    )


def width(setting: Setting) -> float:
    """The Gaussian width of the set, or an upper bound of it; infinite for the whole space."""
    return setting.body.gaussian_width().upper if finite_set(setting) else math.inf


def inradius(setting: Setting) -> float:
    """The least norm of a boundary point of a symmetric set; 0 where there is none."""
    return setting.body.inradius if finite_set(setting) and is_symmetric(setting) else 0.0


def hessian_rank(setting: Setting) -> int:
    """Return the rank of the part of the Hessian that depends on the record."""
    structure = setting.constants.structure
    if structure in ("mean", "linear"):
        return 0
    return 1 if structure == "linear-model" else setting.d


def _with(
    size: int, formula: Callable[[Objective, Setting], tuple[float, ...]]
) -> Callable[[Setting], tuple[float, ...]]:
    def terms(setting: Setting) -> tuple[float, ...]:
        at = objective(setting)
        if at is None or at.lipschitz == 0:
            return (math.inf,) * size
        return formula(at, setting)

    return terms


def _rate(at: Objective, setting: Setting) -> tuple[float, ...]:
    return sco_objective.rate(at)


def _explicit(printed: bool) -> Callable[[Objective, Setting], tuple[float, ...]]:
    def formula(at: Objective, setting: Setting) -> tuple[float, ...]:
        smoothness = setting.constants.sample_smoothness
        return sco_objective.explicit(at, smoothness, hessian_rank(setting), printed=printed)

    return formula


def modulus(setting: Setting) -> float:
    """Delta, in the norm of a symmetric set: the l2 modulus times the squared inradius, or 0."""
    return setting.constants.sample_strong_convexity * inradius(setting) ** 2


def _rate_strong(printed: bool) -> Callable[[Objective, Setting], tuple[float, ...]]:
    def formula(at: Objective, setting: Setting) -> tuple[float, ...]:
        delta = modulus(setting)
        if delta == 0:
            return math.inf, math.inf
        return sco_objective.rate_strong(at, delta, printed=printed)

    return formula


def _explicit_strong(at: Objective, setting: Setting) -> tuple[float, ...]:
    c = setting.constants
    if modulus(setting) == 0:
        return (math.inf,) * 5
    rank = 0 if c.structure == "mean" else setting.d
    return sco_objective.explicit_strong(at, c.sample_smoothness, c.sample_strong_convexity, rank)


def _paper_rank(setting: Setting) -> int:
    """The r of Algorithm 1: min(d, 2 rank), of the whole Hessian."""
    ranks = {"linear": 0, "linear-model": 1}
    return min(setting.d, 2 * ranks.get(setting.constants.structure, setting.d))


def _records(text: str, least: Callable[[Objective, Setting], float]) -> Hypothesis:
    def check(setting: Setting) -> str:
        at = objective(setting)
        if at is None:
            return ""
        number = least(at, setting)
        if not math.isfinite(number) or setting.n >= number:
            return ""
        return (
            f"The statement needs n >= {text} = {number:.4g} up to a constant, and n={setting.n}."
        )

    return Hypothesis(text=f"n >= {text}", check=check)


def _by_noise(at: Objective, setting: Setting) -> float:
    return math.sqrt(setting.d * at.log_delta) / at.epsilon


def _by_hessian(at: Objective, setting: Setting) -> float:
    c = setting.constants
    if at.lipschitz == 0 or not math.isfinite(at.lipschitz * at.diameter * c.sample_smoothness):
        return math.nan
    needed = _paper_rank(setting) * c.sample_smoothness * at.diameter
    return (needed / (at.epsilon * at.lipschitz)) ** 2


def _by_modulus(at: Objective, setting: Setting) -> float:
    delta = modulus(setting)
    if not 0 < delta < math.inf or math.isinf(at.lipschitz):
        return math.nan
    return (at.lipschitz * at.diameter / delta) ** 2


_NOISE_SIZE = _records("sqrt(d ln(1/delta))/epsilon", _by_noise)
_HESSIAN_SIZE = _records("(r beta D / (epsilon L))^2", _by_hessian)
_A1 = (approximate(below=True), LIPSCHITZ, DIAMETER, SAMPLE_SMOOTH, TWICE_DIFFERENTIABLE)
_NEEDS = ("lipschitz", "diameter", "sample_smoothness")
_STRONG_NEEDS = (*_NEEDS, "sample_strong_convexity")
_RATE_TERMS = ("sampling", "privacy")
_B_TERMS = ("objective noise", "regulariser", "stability", "optimiser", "output noise")
_WIDTH = r"G=E\max_{w\in C}\langle\xi,w\rangle"
_NOISES = (
    r"\sigma_1^2=\frac{128L^2\ln(2.5/\delta)}{\varepsilon^2},\ "
    r"\sigma_2^2=\frac{64\alpha\ln(2.5/\delta)}{\lambda\varepsilon^2}"
)
_B1 = (
    r"\frac{\sigma_1G}n+\frac{\lambda D^2}4+\frac{L^2}{\lambda n}+L\sqrt{\tfrac\alpha\lambda}+"
    r"L\sqrt{2\sigma_2G},\ " + _NOISES + r",\ \alpha=\frac{LD}{n^{3/2}}\min\Big\{1,"
    r"\frac{\varepsilon^2D^2}{G^2\ln(1/\delta)%s}\Big\},\ \lambda=\max\Big\{\frac L{\sqrt nD},"
    r"\frac\beta{2n(e^{\varepsilon/(4k)}-1)}\Big\},\ k\text{ the rank of a Hessian},\ " + _WIDTH
)
_CARD = BoundCard(
    slug="upper.sco.objective-perturbation",
    name="Objective perturbation, rate",
    paper=SU_2023,
    statement="Theorem 2, with the accuracy of its Remark 1; Table 1",
    summary="The rate of adding a random linear term to the empirical risk, with the Gaussian "
    "width of the set; it needs a minimiser more accurate than the theorem prints. Constants "
    "are set to 1.",
    kind="upper",
    quantity="excess risk",
    constant="rate",
    latex=r"\frac{LD}{\sqrt n}+\frac{L\,G\sqrt{\ln(1/\delta)}}{\varepsilon n},\ " + _WIDTH,
    privacy="approx",
    method="sco.objective-perturbation",
    loss_class=classes.SMOOTH_LIPSCHITZ,
    problems=SCO_PROBLEMS,
)
_STRONG_CARD = replace(
    _CARD,
    slug="upper.sco.objective-perturbation-strong",
    name="Objective perturbation, strongly convex, rate",
    statement="Theorem 4 without its stray epsilon; Table 1",
    summary="The rate of objective perturbation on strongly convex losses, with the Gaussian "
    "width of the set; constants are set to 1.",
    latex=r"\frac{L^2D^2}{\Delta n}+\frac{L^2G^2\ln(1/\delta)}{\Delta n^2\varepsilon^2},\ "
    + _WIDTH
    + r",\ \Delta=\lambda C_{\min}^2",
    method="sco.objective-perturbation-strong",
    loss_class=classes.SMOOTH_LIPSCHITZ_STRONG,
    problems=STRONG_PROBLEMS,
)
_STRONG_RATE_CONDITIONS = (
    *_A1,
    SYMMETRIC,
    SAMPLE_STRONGLY_CONVEX,
    KNOWN_HESSIANS,
    _records("(L D / Delta)^2", _by_modulus),
    _HESSIAN_SIZE,
    _NOISE_SIZE,
)
_LETTERS = (
    Letter(r"\lambda", "weight of the regulariser, or the strong convexity"),
    Letter(r"\alpha", "accuracy of the solver"),
    Letter("k", "rank of a record's Hessian"),
)
OBJECTIVE_RISKS: tuple[Bound, ...] = (
    Bound(
        card=_CARD,
        evaluate=named(_RATE_TERMS, ("lipschitz", "diameter"), _with(2, _rate)),
        hypotheses=(*_A1, KNOWN_HESSIANS, _HESSIAN_SIZE, _NOISE_SIZE),
    ),
    Bound(
        card=replace(
            _CARD,
            slug="upper.sco.objective-perturbation-explicit",
            name="Objective perturbation, proven",
            statement="Algorithm 1, explicit bound with the corrected accuracy",
            summary="The mean excess risk with every constant proven, for a minimiser as accurate "
            "as the rate needs; rounding may keep a run from that accuracy, and its noise grows "
            "with it.",
            constant="explicit",
            latex=_B1 % r"\,n",
        ),
        evaluate=named(_B_TERMS, _NEEDS, _with(5, _explicit(printed=False))),
        letters=_LETTERS,
        hypotheses=(*_A1, KNOWN_HESSIANS),
    ),
    Bound(
        card=replace(
            _CARD,
            slug="upper.sco.objective-perturbation-paper",
            name="Objective perturbation, proven, printed accuracy",
            statement="Algorithm 1, explicit bound with the accuracy that Theorem 2 prints",
            summary="What the algorithm's constants add up to at the accuracy that the theorem "
            "prints: its output noise does not fall as fast as the claimed rate.",
            constant="explicit",
            latex=_B1 % "",
        ),
        evaluate=named(_B_TERMS, _NEEDS, _with(5, _explicit(printed=True))),
        letters=_LETTERS,
        hypotheses=(*_A1, KNOWN_HESSIANS),
    ),
    Bound(
        card=_STRONG_CARD,
        evaluate=named(
            _RATE_TERMS,
            ("lipschitz", "diameter", "sample_strong_convexity"),
            _with(2, _rate_strong(printed=False)),
        ),
        hypotheses=_STRONG_RATE_CONDITIONS,
    ),
    Bound(
        card=replace(
            _STRONG_CARD,
            slug="upper.sco.objective-perturbation-strong-paper",
            name="Objective perturbation, strongly convex, printed rate",
            statement="Theorem 4",
            summary="The theorem as printed, with an epsilon in the first denominator that the "
            "introduction and Table 1 do not have; constants are set to 1.",
            latex=r"\frac{L^2D^2}{\Delta n\varepsilon}+"
            r"\frac{L^2G^2\ln(1/\delta)}{\Delta n^2\varepsilon^2},\ "
            + _WIDTH
            + r",\ \Delta=\lambda C_{\min}^2",
        ),
        evaluate=named(
            _RATE_TERMS,
            ("lipschitz", "diameter", "sample_strong_convexity"),
            _with(2, _rate_strong(printed=True)),
        ),
        hypotheses=_STRONG_RATE_CONDITIONS,
    ),
    Bound(
        card=replace(
            _STRONG_CARD,
            slug="upper.sco.objective-perturbation-strong-explicit",
            name="Objective perturbation, strongly convex, proven",
            statement="Algorithm 2, explicit bound at the accuracy of Theorem 4",
            summary="The mean excess risk with every constant proven, for a minimiser as accurate "
            "as the theorem asks; rounding may keep a run from that accuracy, and its noise grows "
            "with it.",
            constant="explicit",
            latex=r"\frac{\sigma_1^2(G^2+\frac{D^2}4)}{2\Delta n^2}+\frac{\lambda'D^2}4+"
            r"\frac{L^2D^2}{2\Delta n}+\frac{LD}2\sqrt{\tfrac{2\alpha}\Delta}+L\sqrt{2\sigma_2G},\ "
            r"\sigma_1^2=\frac{128L^2\ln(2.5/\delta)}{\varepsilon^2},\ "
            r"\sigma_2^2=\frac{64\alpha D^2\ln(2.5/\delta)}{\Delta\varepsilon^2},\ "
            r"\alpha=\frac{L^2D^2}{\Delta n^2}\min\Big\{1,"
            r"\frac{L^2D^4\varepsilon^2}{\Delta^2n^2G^2\ln(1/\delta)}\Big\},\ "
            r"\lambda'=\max\Big\{0,\frac12\Big(\frac{\beta-\lambda}{n(e^{\varepsilon/(4d)}-1)}"
            r"-\lambda\Big)\Big\},\text{ 0 for the quadratic loss},\ "
            + _WIDTH
            + r",\ \Delta=\lambda C_{\min}^2",
        ),
        evaluate=named(_B_TERMS, _STRONG_NEEDS, _with(5, _explicit_strong)),
        letters=_LETTERS,
        hypotheses=(*_A1, SYMMETRIC, SAMPLE_STRONGLY_CONVEX, KNOWN_HESSIANS),
    ),
)
