"""What the explicit bounds on the risk in l_q share: texts, letters, conditions and rows."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dpsco_core.base.cards import SU_2023, BoundCard
from dpsco_core.base.law_classes import VARIANCE
from dpsco_core.base.loss_classes import SMOOTH_LIPSCHITZ, LossClass
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, bound_like
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    LIPSCHITZ,
    SAMPLE_SMOOTH,
    Formula,
    approximate,
    name_terms,
)
from dpsco_core.bounds.lq.conditions import AT_MOST_2, LIPSCHITZ_EVERYWHERE, finite_set
from dpsco_core.methods.lq.inputs import own_constants, space_of
from dpsco_core.privacy.mechanisms.shaped import Calibration, Noise
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.problems.dual import DualConstants, dual_constants

Terms4 = tuple[float, float, float, float]
VOID: Terms4 = (math.inf, math.inf, math.inf, math.inf)
LIPSCHITZ_NEEDS = ("lipschitz", "diameter", "sample_smoothness")
SMALLEST = (
    "The mean excess risk with every constant proven, at the parameters that make this bound "
    "smallest"
)
GAUSSIAN = " With Gaussian noise."
FREE = (LIPSCHITZ, DIAMETER, SAMPLE_SMOOTH, LIPSCHITZ_EVERYWHERE)
KAPPA = r"\kappa=(r-1)d^{2(1/r-1/q')},\ r=\min\{q',2\ln d+1\}"
# The paper prints this kappa, and sets its parameters by it.
PRINTED_KAPPA = r",\ \kappa_0=\min\{\tfrac1{q-1},2\ln d\}"


def _letters_in_norm(constants_of: Callable[[Setting], DualConstants]) -> tuple[Letter, ...]:
    """Return the meanings and values of the letters in formulas over an l_q space.

    `constants_of` reads the constants in the chosen norm off a setting.
    """

    def constant(field: str) -> Callable[[Setting], float]:
        """Return the function that reads a constant off a setting; NaN if the set is unbounded."""
        return lambda s: float(getattr(constants_of(s), field)) if finite_set(s) else math.nan

    variance = constant("variance")
    return (
        Letter("q", "exponent of the parameters' norm", lambda s: s.exponent),
        Letter("M", "diameter of the set in the parameters' norm", constant("diameter")),
        Letter("L", "Lipschitz constant in the dual norm", constant("lipschitz")),
        Letter(
            r"\sigma",
            "deviation of the gradients in the dual norm",
            lambda s: math.sqrt(variance(s)),
        ),
        Letter(r"\beta", "smoothness in the parameters' norm", constant("smoothness")),
        Letter("G", "bound on the population gradient, dual norm", constant("mean_gradient_bound")),
        Letter(r"\|\theta^*\|_q", "norm of the minimiser, at most", constant("radius")),
        Letter("R_q", "largest norm of a point of the set", constant("radius")),
        Letter(r"\lambda", "truncation level, the best one"),
        Letter(r"\gamma", "weight of the mirror map"),
        Letter(r"\mu", "weight of the regulariser"),
    )


_LETTERS = _letters_in_norm(own_constants)
_PRINTED_KAPPA = Letter(
    r"\kappa",
    "regularity of the dual norm, as printed",
    lambda s: space_of(s).printed_kappa,
    r"\kappa=\min\{\tfrac1{q-1},2\ln d\}",
)
_KAPPA_UP_TO_TWO = replace(
    _PRINTED_KAPPA,
    value=lambda s: space_of(s).printed_kappa if s.exponent <= 2 else math.nan,
)
# Rates for q above 2 are in the l_q norm, except that of the method which works in l2.
RATE_LETTERS = (*_letters_in_norm(dual_constants), _KAPPA_UP_TO_TWO)
OWN_RATE_LETTERS = (*_LETTERS, _PRINTED_KAPPA)
# Explicit bounds define kappa, the regularity of the norm, in their own formulas.
_EXPLICIT_LETTERS = (
    *_LETTERS,
    Letter(r"\kappa", "regularity of a smooth norm near the dual one"),
    Letter("m", "number of gradient steps"),
)


def upper_card(
    slug: str, name: str, statement: str, summary: str, latex: str, **fields: Any
) -> BoundCard:
    """Return the card of an upper bound in l_q; `fields` are further fields of the card."""
    defaults: dict[str, Any] = {
        "paper": SU_2023,
        "problems": SCO_PROBLEMS,
        "geometry": "lq",
        "law_class": VARIANCE,
    } | fields
    return BoundCard(
        slug=f"upper.lp.{slug}",
        name=name,
        statement=statement,
        summary=summary,
        kind="upper",
        quantity="excess risk",
        latex=latex,
        **defaults,
    )


def explicit_card(
    slug: str, *texts: str, losses: LossClass = SMOOTH_LIPSCHITZ, **fields: Any
) -> BoundCard:
    """Return the card of an explicit bound on the method `slug`.

    `texts` are the name, the statement, the summary and the formula, as in `upper_card`.
    """
    return upper_card(
        f"{slug}-explicit",
        *texts,
        constant="explicit",
        privacy="zcdp",
        method=f"lp.{slug}",
        loss_class=losses,
        **fields,
    )


def explicit_row(
    card: BoundCard,
    names: tuple[str, ...],
    needs: tuple[str, ...],
    formula: Formula,
    hypotheses: tuple[Hypothesis, ...],
    **changes: Any,
) -> Bound:
    """Return the catalogue's explicit bound whose card is `card` with some `changes`.

    `names` are the names of the terms of `formula`, and `needs` the constants of the problem
    without which it has no value.
    """
    return bound_like(
        card,
        evaluate=name_terms(names, needs, formula),
        hypotheses=hypotheses,
        letters=_EXPLICIT_LETTERS,
        **changes,
    )


def noise_rows(
    card: BoundCard,  # the card, whose summary does not mention the noise
    names: tuple[str, ...],
    needs: tuple[str, ...],
    risk: Callable[[Setting, Noise, Calibration], Terms4],
    hypotheses: tuple[Hypothesis, ...],
    *,
    paper_statement: str,
    paper_latex: str,
    paper_hypotheses: tuple[Hypothesis, ...] = (),
) -> tuple[Bound, ...]:
    """Return three explicit bounds on one method, which differ in its noise.

    They are for Gaussian noise, for generalized Gaussian noise, and for the paper's parameters.
    """
    base = card.slug.removesuffix("-explicit")

    def row(noise: Noise, calibration: Calibration, *conditions: Hypothesis, **texts: Any) -> Bound:
        """Return the bound for one kind of noise in one calibration."""

        def formula(setting: Setting) -> Terms4:
            """Return the terms of the bound with this noise."""
            return VOID if setting.exponent > 2 else risk(setting, noise, calibration)

        return explicit_row(card, names, needs, formula, conditions, **texts)

    tight = AT_MOST_2, GAUSSIAN_BUDGET, *hypotheses
    return (
        row("gaussian", "tight", *tight, summary=card.summary + GAUSSIAN),
        row(
            "generalized gaussian",
            "tight",
            *tight,
            slug=f"{base}-generalized",
            name=f"{card.name}, generalized Gaussian noise",
            summary=card.summary + " With generalized Gaussian noise, shaped to the dual norm.",
        ),
        row(
            "generalized gaussian",
            "paper",
            approximate(is_strict=True),
            AT_MOST_2,
            *hypotheses,
            *paper_hypotheses,
            slug=f"{base}-paper",
            name=f"{card.name}, the paper's parameters",
            summary="The mean excess risk with every constant proven, with the noise that the "
            "paper prints and at the parameters of its statement, in units that it hides.",
            statement=paper_statement,
            latex=paper_latex + PRINTED_KAPPA,
            privacy="approx",
        ),
    )
