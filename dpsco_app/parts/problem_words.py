"""What each kind of problem is called: the words of axes, tables, controls and sentences."""

from dataclasses import dataclass, replace

from dpsco_app.parts.options import number_text
from dpsco_core import catalogue
from dpsco_core.base.cards import BoundCard, Quantity
from dpsco_core.problems import MeanEstimation

MEAN = MeanEstimation.card.slug


@dataclass(frozen=True, kw_only=True)
class ProblemWords:
    quantity: Quantity  # what is measured, as `BoundCard.quantity` has it
    # the same in a sentence, and as the title of an axis
    error: str
    error_axis: str
    method: str  # what a method is called, in lower case
    baseline: str  # the reference without privacy, in a sentence
    # labels of controls and what they mean
    distribution: str
    distribution_help: str
    offset: str
    offset_help: str
    geometry: str
    diameter: str
    diameter_help: str


_HARD = (
    " The two hard instances are the laws on which the lower bounds are proven; they draw a new "
    "pattern in every trial."
)
_RECORD = (
    "The law of a record. Each is scaled so that every coordinate's central moment of order $p$ "
    "is 1." + _HARD
)
ESTIMATION = ProblemWords(
    quantity="l2 error",
    error="error",
    error_axis="Error ‖μ̂ − μ‖₂ (log)",
    method="estimator",
    baseline="the non-private mean",
    distribution="Distribution",
    distribution_help=_RECORD,
    offset="Norm of the true mean ‖μ‖",
    offset_help="How far the true mean is from 0, where clipping is centred.",
    geometry="Set that holds the mean",
    diameter="Its diameter",
    diameter_help="Public knowledge that estimators may use: the mean's norm is at most half of "
    "it. In another geometry than the l2 ball, every estimate is projected on the set.",
)
POINTS = ProblemWords(
    quantity="excess risk",
    error="excess population risk",
    error_axis="Excess population risk F(ŵ) − F(w*) (log)",
    method="optimiser",
    baseline="the non-private minimiser",
    distribution="Distribution of the records",
    distribution_help=_RECORD,
    offset="Norm of the records' true mean ‖μ‖",
    offset_help="How far the records' true mean is from 0, where every optimiser starts.",
    geometry="Constraint set",
    diameter="Its diameter",
    diameter_help="Twice the largest norm of a parameter, in the norm of the set. It is public.",
)
LINEAR = replace(
    POINTS,
    distribution="Distribution of the features",
    distribution_help="The law of the features $x$; the target follows from them and the true "
    "parameter. It has mean 0, and is scaled so that every coordinate's moment is 1." + _HARD,
    offset="Norm of the true parameter ‖w*‖",
    offset_help="How far the best parameter is from 0, where every optimiser starts.",
)


def words_for(problem: str) -> ProblemWords:
    if problem == MEAN:
        return ESTIMATION
    return LINEAR if problem in catalogue.LINEAR_MODELS else POINTS


GEOMETRY_NAMES = {
    "l2": "ℓ₂ ball",
    "l1": "ℓ₁ ball",
    "lq": "ℓ_q ball",
    "linf": "ℓ∞ ball (cube)",
    "simplex": "simplex",
    "solid-simplex": "solid simplex",
    "group-l1": "group-ℓ₁ ball, groups of 5",
    "sparse": "5-sparse hull",
}


def geometry_name(kind: str, q: float | None = None) -> str:
    if kind == "lq" and q is not None:
        return f"ℓ_q ball, q = {number_text(q)}"
    return GEOMETRY_NAMES[kind]


def baseline(problem: str) -> str:
    """Return the slug of the default method without privacy; empty if there is none."""
    public = (
        m for m in catalogue.default_methods(problem) if catalogue.method_card(m).privacy == "none"
    )
    return next(public, "")


def has_offset(problem: str, distribution: str) -> bool:
    """Whether the offset means anything: a hard instance has its own mean."""
    return problem in catalogue.LINEAR_MODELS or distribution not in catalogue.HARD_INSTANCES


def is_instance(card: BoundCard, problem: str, distribution: str) -> bool:
    """Whether a lower bound is proven on this very distribution and problem."""
    return bool(card.instance) and (card.instance, card.instance_problem) == (distribution, problem)


def worst_case(card: BoundCard) -> str:
    """Return over what a lower bound is a worst case, as the end of a sentence."""
    if card.quantity != "excess risk":
        return "in the worst case"
    return f"in the worst case over {card.loss_class.curvature} losses"


def losses_text(card: BoundCard, applies: bool) -> str:
    """Return the class of losses of a bound, and whether it is another one than the problem's."""
    return str(card.loss_class) if applies else f"{card.loss_class} (does not bind here)"


def hard_problem(problem: str) -> str:
    """Return the problem that with the hypercube makes the hard instance for `problem`."""
    if problem == MEAN:
        return MEAN
    return "quadratic" if catalogue.problem_card(problem).loss_class.strongly_convex else "linear"
