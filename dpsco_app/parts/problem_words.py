"""The names of each kind of problem in axes, tables and sentences."""

from dataclasses import dataclass

from dpsco_app.parts.options import number_text
from dpsco_core.base.cards import BoundCard, Quantity
from dpsco_core.fields import MEAN


@dataclass(frozen=True, kw_only=True)
class ProblemWords:
    quantity: Quantity  # The measured quantity, as in `BoundCard.quantity`.
    # The name of the measured quantity in a sentence, and as the title of an axis.
    error: str
    error_axis: str
    method: str  # The name of a method for this problem, in lower case.


ESTIMATION = ProblemWords(
    quantity="l2 error",
    error="error",
    error_axis="Error ‖μ̂ − μ‖₂ (log)",
    method="estimator",
)
OPTIMISATION = ProblemWords(
    quantity="excess risk",
    error="excess population risk",
    error_axis="Excess population risk F(ŵ) − F(w*) (log)",
    method="optimiser",
)


def words_for(problem: str) -> ProblemWords:
    """Return the words for a problem, by its slug: those for means or those for optimisation."""
    return ESTIMATION if problem == MEAN else OPTIMISATION


GEOMETRY_NAMES = {
    "l2": "ℓ₂ ball",
    "l1": "ℓ₁ ball",
    "lq": "ℓq ball",
    "linf": "ℓ∞ ball (cube)",
    "simplex": "simplex",
    "solid-simplex": "solid simplex",
    "group-l1": "group-ℓ₁ ball, groups of 5",
    "sparse": "5-sparse hull",
}


def geometry_name(kind: str, q: float | None = None) -> str:
    """Return the name of a constraint set for the screen; `q` is the exponent of an ℓq ball."""
    if kind == "lq" and q is not None:
        return f"ℓq ball, q = {number_text(q)}"
    return GEOMETRY_NAMES[kind]


def wider_name(card: BoundCard) -> str:
    """Return the name of the line for a lower bound over a wider class of losses."""
    return f"lower bound for {card.loss_class} losses"


def class_text(card: BoundCard, applies: bool) -> str:
    """Return a bound's class of laws and losses, with a remark unless the bound `applies`."""
    return card.class_text if applies else f"{card.class_text} (does not bind here)"
