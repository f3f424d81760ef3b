r"""Bounds on the excess risk of objective perturbation: Su et al. (2023), Theorems 2 and 4.

The points of the set have norms of at most R = M/2, and the set has the Gaussian width
:math:`G_C`. Theorem 4 is for symmetric sets and losses with a modulus of convexity :math:`\Delta`
in the norm of the set. The explicit bounds are B1 and B2 of theory/su-zhao-wang.md, 3.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import SU_2023, BoundCard
from dpsco_core.base.errors import require
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms, bound_like
from dpsco_core.bounds.conditions import check_sizes
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    KNOWN_HESSIANS,
    LIPSCHITZ,
    SAMPLE_SMOOTH,
    SAMPLE_STRONGLY_CONVEX,
    TWICE_DIFFERENTIABLE,
    approximate,
    name_terms,
)
from dpsco_core.bounds.lq.conditions import SYMMETRIC, finite_set, is_symmetric, width_bounds
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems import SCO_PROBLEMS, STRONG_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.statements import su

_STRONG = "sample_strong_convexity"


@dataclass(frozen=True, kw_only=True)
class Objective:
    """The numbers that the formulas for objective perturbation share."""

    n: int
    epsilon: float  # epsilon of the budget; the theorems are for less than 1
    delta: float
    lipschitz: float  # the Lipschitz constant L
    # This is :math:`\|C\|_2=2R`, twice the largest norm of a point, and the l2 diameter of a
    # symmetric set.
    diameter: float
    width: float  # the Gaussian width :math:`G_C`, or an upper bound on it
    # This is :math:`C_{\min}`, the least norm of a boundary point; 0 if the set is not symmetric.
    inradius: float = 0.0

    def __post_init__(self) -> None:
        """Refuse sizes, an epsilon or a delta outside their ranges."""
        check_sizes(self.n, 1)
        require(self.epsilon > 0, "epsilon", "positive", self.epsilon)
        require(0 < self.delta < 1, "delta", "between 0 and 1", self.delta)

    @property
    def objective_std(self) -> float:
        r"""The deviation of the noise in the objective.

        It is :math:`\sigma_1=L\sqrt{128\ln(2.5/\delta)}/\varepsilon`.
        """
        return su.algorithm_1_noise(self.lipschitz, self.epsilon, self.delta)

    @property
    def log_delta(self) -> float:
        """The logarithm of 1/delta."""
        return -math.log(self.delta)

    def output_std(self, accuracy: float, modulus: float) -> float:
        r"""Return the standard deviation of the output's noise, for a solver of accuracy alpha.

        .. math:: \sigma_2=\sqrt{64\alpha\ln(2.5/\delta)/\lambda}/\varepsilon
        """
        return su.algorithm_1_output_noise(accuracy, modulus, self.epsilon, self.delta)


def objective(setting: Setting) -> Objective | None:
    """Return the numbers that the bounds read off a setting; None if it is no (epsilon, delta)."""
    budget, c = setting.budget, setting.constants
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
    """Return the set's Gaussian width or an upper bound on it; infinite for the whole space."""
    return width_bounds(setting).upper


def inradius(setting: Setting) -> float:
    """Return the least l2 norm of a boundary point of a symmetric set; 0 for another set."""
    return setting.body.inradius if finite_set(setting) and is_symmetric(setting) else 0.0


def hessian_rank(setting: Setting) -> int:
    """Return the rank of the part of the Hessian that depends on the record."""
    return {"mean": 0, "linear": 0, "linear-model": 1}.get(setting.constants.structure, setting.d)


def rate(case: Objective) -> tuple[float, float]:
    """Return the sampling and the private term of Theorem 2, with constants set to 1."""
    private = case.lipschitz * case.width * math.sqrt(case.log_delta) / (case.epsilon * case.n)
    return case.lipschitz * case.diameter / math.sqrt(case.n), private


def _growth_with_rank(case: Objective, rank: int) -> float:
    r"""Return :math:`e^{\varepsilon/(4r)}-1` for a rank r; infinite where it would overflow."""
    exponent = case.epsilon / (4 * rank)
    return math.expm1(exponent) if exponent < 700 else math.inf


def regulariser(case: Objective, smoothness: float, rank: int) -> float:
    r"""Return the weight :math:`\lambda` of Algorithm 1's regulariser.

    It is the larger one of the weight for the best risk and of that which privacy needs, by the
    determinant of the Jacobian (theory/su-zhao-wang.md, 2.1 (d)). `rank` is `hessian_rank`; at rank
    0 privacy needs no weight.
    """
    plain = su.theorem_2_ridge(case.n, case.lipschitz, case.diameter)
    return max(plain, smoothness / (2 * case.n * _growth_with_rank(case, rank))) if rank else plain


def accuracy(case: Objective, *, printed: bool = False) -> float:
    r"""Return the largest accuracy alpha of the solver that Theorem 2 allows.

    `printed` has :math:`n^{3/2}` in the second term, as in the paper, with which the solver is not
    accurate enough for the rate.
    """
    base = case.lipschitz * case.diameter / (case.n * math.sqrt(case.n))
    by_privacy = base * (case.epsilon * case.diameter / case.width) ** 2 / case.log_delta
    return min(base, by_privacy if printed else by_privacy / case.n)


def explicit(
    case: Objective, smoothness: float, rank: int, *, printed: bool = False
) -> tuple[float, ...]:
    """Return the terms of an explicit bound on Algorithm 1's excess risk, named `_B_TERMS`.

    It is B1 of theory/su-zhao-wang.md, 3.1; see `accuracy` for `printed`.
    """
    modulus, alpha = regulariser(case, smoothness, rank), accuracy(case, printed=printed)
    return (
        case.objective_std * case.width / case.n,
        modulus * (case.diameter / 2) ** 2,
        case.lipschitz**2 / (modulus * case.n),
        case.lipschitz * math.sqrt(alpha / modulus),
        case.lipschitz * math.sqrt(2 * case.output_std(alpha, modulus) * case.width),
    )


def rate_strong(case: Objective, modulus: float, *, printed: bool = False) -> tuple[float, float]:
    """Return the sampling and the private term of Theorem 4's rate, for modulus Delta.

    `printed` has the factor 1/epsilon in the first term that the paper prints by mistake.
    """
    sampling = (case.lipschitz * case.diameter) ** 2 / (modulus * case.n)
    ratio = case.lipschitz * case.width / (case.n * case.epsilon)
    private = ratio**2 * case.log_delta / modulus
    return sampling / case.epsilon if printed else sampling, private


def accuracy_strong(case: Objective, modulus: float) -> float:
    """Return the largest accuracy alpha that Theorem 4 allows."""
    by_sampling = (case.lipschitz * case.diameter / case.n) ** 2 / modulus
    ratio = case.lipschitz * case.diameter / (modulus * case.n)
    square = (ratio * case.epsilon * case.diameter / case.width) ** 2
    return min(by_sampling, by_sampling * square / case.log_delta)


def regulariser_strong(
    case: Objective, smoothness: float, strong_convexity: float, rank: int
) -> float:
    r"""Return the weight :math:`\lambda` of Algorithm 2's regulariser, which privacy needs.

    `strong_convexity` is the l2 modulus of every record's loss. `rank` is that of the part of the
    Hessian that depends on the record: 0 for losses of mean type, whose Hessians cancel, and
    otherwise d, because a modulus that is not separable leaves full rank. See
    theory/su-zhao-wang.md, 2.2.
    """
    if rank == 0:
        return 0.0
    need = (smoothness - strong_convexity) / (case.n * _growth_with_rank(case, rank))
    return max(0.0, (need - strong_convexity) / 2)


def explicit_strong(
    case: Objective, smoothness: float, strong_convexity: float, rank: int
) -> tuple[float, ...]:
    r"""Return the terms of an explicit bound on Algorithm 2's excess risk, named `_B_TERMS`.

    It is B2 of theory/su-zhao-wang.md, 3.2, with the modulus :math:`\Delta=\mu C_{\min}^2`. The
    term of the objective's noise has the factor of one half that the proof allows.
    """
    radius, modulus = case.diameter / 2, strong_convexity * case.inradius**2
    alpha = accuracy_strong(case, modulus)
    output = case.output_std(alpha, modulus) * case.diameter
    return (
        (case.objective_std / case.n) ** 2 * (case.width**2 + radius**2) / (2 * modulus),
        regulariser_strong(case, smoothness, strong_convexity, rank) * radius**2,
        2 * (case.lipschitz * radius) ** 2 / (modulus * case.n),
        case.lipschitz * radius * math.sqrt(2 * alpha / modulus),
        case.lipschitz * math.sqrt(2 * output * case.width),
    )


def modulus(setting: Setting) -> float:
    """Return Delta, the modulus of convexity in the norm of a symmetric set; 0 for another set.

    It is the l2 modulus times the square of the inradius.
    """
    return setting.constants.sample_strong_convexity * inradius(setting) ** 2


def _named_terms(
    names: tuple[str, ...],
    formula: Callable[[Objective, Setting], tuple[float, ...]],
    *needs: str,
) -> Callable[[Setting], Terms]:
    """Return the function that evaluates a formula at a setting and names its terms.

    The terms are infinite without an (epsilon, delta) budget, for a Lipschitz constant of 0, and
    without a constant in `needs`.
    """

    def terms(setting: Setting) -> tuple[float, ...]:
        """Return the terms of the formula at a setting; infinite if the bound does not apply."""
        case = objective(setting)
        void = case is None or case.lipschitz == 0 or (_STRONG in needs and modulus(setting) == 0)
        return (math.inf,) * len(names) if case is None or void else formula(case, setting)

    return name_terms(names, ("lipschitz", "diameter", *needs), terms)


def _explicit_formula(printed: bool) -> Callable[[Setting], Terms]:
    """Return the function that evaluates the explicit bound on Algorithm 1."""
    return _named_terms(
        _B_TERMS,
        lambda c, s: explicit(c, s.constants.sample_smoothness, hessian_rank(s), printed=printed),
        "sample_smoothness",
    )


def _strong_rate_formula(printed: bool) -> Callable[[Setting], Terms]:
    """Return the function that evaluates the rate of Theorem 4 for strongly convex losses."""
    return _named_terms(
        _RATE_TERMS, lambda c, s: rate_strong(c, modulus(s), printed=printed), _STRONG
    )


def _explicit_strong_terms(case: Objective, setting: Setting) -> tuple[float, ...]:
    """Return the terms of `explicit_strong`, the bound on Algorithm 2, at a setting."""
    c = setting.constants
    rank = 0 if c.structure == "mean" else setting.d
    return explicit_strong(case, c.sample_smoothness, c.sample_strong_convexity, rank)


def _condition_on_records(text: str, fewest: Callable[[Objective, Setting], float]) -> Hypothesis:
    """Return the condition that n is at least a number, whose formula is `text`.

    `fewest` computes the number; the condition passes if that is not finite.
    """

    def check(setting: Setting) -> str:
        """Return the reason why n is too small; empty if it is not."""
        case = objective(setting)
        number = math.nan if case is None else fewest(case, setting)
        if not math.isfinite(number) or setting.n >= number:
            return ""
        return (
            f"The statement needs n >= {text} = {number:.4g} up to a constant, and n={setting.n}."
        )

    return Hypothesis(text=f"n >= {text}", check=check)


def _records_for_hessian(case: Objective, setting: Setting) -> float:
    """Return how many records Algorithm 1 needs for its Hessian's rank and smoothness."""
    c = setting.constants
    smooth = c.sample_smoothness * case.diameter
    if case.lipschitz == 0 or not math.isfinite(case.lipschitz * smooth):
        return math.nan
    # The r of Algorithm 1 is the rank of the whole Hessian, min(d, 2 rank).
    rank = {"linear": 0, "linear-model": 1}.get(c.structure, setting.d)
    return (min(setting.d, 2 * rank) * smooth / (case.epsilon * case.lipschitz)) ** 2


def _records_for_modulus(case: Objective, setting: Setting) -> float:
    """Return how many records Algorithm 2 needs for its modulus; NaN if that is undefined."""
    delta = modulus(setting)
    if not 0 < delta < math.inf or math.isinf(case.lipschitz):
        return math.nan
    return (case.lipschitz * case.diameter / delta) ** 2


_NOISE_SIZE = _condition_on_records(
    "sqrt(d ln(1/delta))/epsilon",
    lambda case, setting: math.sqrt(setting.d * case.log_delta) / case.epsilon,
)
_HESSIAN_SIZE = _condition_on_records("(r beta D / (epsilon L))^2", _records_for_hessian)
_A1 = (approximate(is_strict=True), LIPSCHITZ, DIAMETER, SAMPLE_SMOOTH, TWICE_DIFFERENTIABLE)
_RATE_TERMS = ("sampling", "privacy")
_B_TERMS = ("objective noise", "regulariser", "stability", "optimiser", "output noise")
_WIDTH = r"G=E\max_{w\in C}\langle\xi,w\rangle"
_B1 = (
    r"\frac{\sigma_1G}n+\frac{\lambda D^2}4+\frac{L^2}{\lambda n}+L\sqrt{\tfrac\alpha\lambda}+"
    r"L\sqrt{2\sigma_2G},\ \sigma_1^2=\frac{128L^2\ln(2.5/\delta)}{\varepsilon^2},\ "
    r"\sigma_2^2=\frac{64\alpha\ln(2.5/\delta)}{\lambda\varepsilon^2},\ "
    r"\alpha=\frac{LD}{n^{3/2}}\min\Big\{1,"
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
_LETTERS = (
    Letter(r"\lambda", "weight of the regulariser, or the strong convexity"),
    Letter(r"\alpha", "accuracy of the solver"),
    Letter("k", "rank of a record's Hessian"),
)
OBJECTIVE_RISKS: tuple[Bound, ...] = (
    Bound(
        card=_CARD,
        evaluate=_named_terms(_RATE_TERMS, lambda case, _: rate(case)),
        hypotheses=(*_A1, KNOWN_HESSIANS, _HESSIAN_SIZE, _NOISE_SIZE),
    ),
    bound_like(
        _CARD,
        slug="upper.sco.objective-perturbation-explicit",
        name="Objective perturbation, proven",
        statement="Algorithm 1, explicit bound with the corrected accuracy",
        summary="The mean excess risk with every constant proven, for a minimiser as accurate "
        "as the rate needs; rounding may keep a run from that accuracy, and its noise grows "
        "with it.",
        constant="explicit",
        latex=_B1 % r"\,n",
        evaluate=_explicit_formula(printed=False),
        letters=_LETTERS,
        hypotheses=(*_A1, KNOWN_HESSIANS),
    ),
    bound_like(
        _CARD,
        slug="upper.sco.objective-perturbation-paper",
        name="Objective perturbation, proven, printed accuracy",
        statement="Algorithm 1, explicit bound with the accuracy that Theorem 2 prints",
        summary="What the algorithm's constants add up to at the accuracy that the theorem "
        "prints: its output noise does not fall as fast as the claimed rate.",
        constant="explicit",
        latex=_B1 % "",
        evaluate=_explicit_formula(printed=True),
        letters=_LETTERS,
        hypotheses=(*_A1, KNOWN_HESSIANS),
    ),
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
    _condition_on_records("(L D / Delta)^2", _records_for_modulus),
    _HESSIAN_SIZE,
    _NOISE_SIZE,
)
STRONG_OBJECTIVE_RISKS: tuple[Bound, ...] = (
    Bound(
        card=_STRONG_CARD,
        evaluate=_strong_rate_formula(printed=False),
        hypotheses=_STRONG_RATE_CONDITIONS,
    ),
    bound_like(
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
        evaluate=_strong_rate_formula(printed=True),
        hypotheses=_STRONG_RATE_CONDITIONS,
    ),
    bound_like(
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
        evaluate=_named_terms(_B_TERMS, _explicit_strong_terms, "sample_smoothness", _STRONG),
        letters=_LETTERS,
        hypotheses=(*_A1, SYMMETRIC, SAMPLE_STRONGLY_CONVEX, KNOWN_HESSIANS),
    ),
)
