"""Texts for the help of a scenario's fields, kept apart from the table of fields."""

from collections.abc import Callable
from typing import Any

from dpsco_core import catalogue
from dpsco_core.data.scales import DECAY_MAX
from dpsco_core.problems import MeanEstimation

BUDGET_SIGN = (
    "How much more likely one person's data can make any outcome, as a factor e to the ε; "
    "smaller is more private."
)
DELTA_SIGN = (
    "The slack that approximate differential privacy allows, far below one in n; in lower "
    "bounds from signs, the size of a coin's bias."
)
HARD = (
    " The hard instances are the laws on which the lower bounds are proven; they draw a new "
    "pattern in every trial."
)
FEATURES = (
    "The law of the features $x$; the target follows from them and the true parameter. It "
    "has mean 0, and is scaled so that every coordinate's moment is 1." + HARD
)
RECORD = (
    "The law of a record. Each is scaled so that every coordinate's central moment of order $p$ "
    "is 1." + HARD
)
TAIL = (
    r"The largest moment that is known to exist: $E|X_j-\mu_j|^p = 1$. Small p means heavy tails; "
    "p = 2 is only a finite variance. Below 2 the variance may be infinite: bounds and algorithms "
    "that need one say so."
)
CLIPPED = "How far the true mean is from 0, where clipping is centred."
STARTS = "is from 0, where every optimiser starts."
FALLING = (
    "how fast the scales of the coordinates fall: that of coordinate j is proportional to "
    f"j^-`decay`, from 0, which leaves them equal, to {DECAY_MAX:g}; the total second moment stays "
    "that of equal ones"
)
UNEQUAL_SCALES = (
    "How unequal the coordinates are: at $a = 0$ all spread alike, at a large $a$ the first ones "
    "spread most (coordinate $j$ in proportion to $j^{-a}$). The total variance stays, and with "
    "it the error of the plain mean; only how it is divided among the coordinates changes. Bounds "
    "are worst cases over the coordinates, so they hold, and grow loose."
)
DECAY_SIGN = (
    "How fast the spread of the coordinates falls from the first to the last; 0 means that all are "
    "alike."
)
SEVERAL_ITEMS = (
    "At 1 every record is a person. Beyond, a person has m records, and privacy hides all "
    "of them at once: neighbours replace a whole user."
)
SET_OF_MEAN = (
    "Public knowledge that estimators may use: the mean's norm is at most half of it. In "
    "another geometry than the l2 ball, every estimate is projected on the set."
)
SET_OF_PARAMETER = "Twice the largest norm of a parameter, in the norm of the set. It is public."
FIXED = (
    "fixes data and noise. Whoever knows it can subtract the noise: a seeded result is "
    "for study, never for publication of real data"
)
PRACTICAL = (
    "practical: radii and block numbers that work at these sizes; theory: the theorem's "
    "own. Both ignore the data, and both are private."
)
UNITS = (
    "moment: the p-th moment of a coordinate is 1, as the papers assume; the variance, "
    "and with it every error, then falls as p grows. variance: the variance is 1 at every p."
)
IN_COMMON = (
    "the share of the variance that the items of one user have in common, from 0 (independent "
    "items) to 1 (the same item m times), for means of ordinary laws: item j of user i is mu + "
    "t (sqrt(`alike`) u_i + sqrt(1 - `alike`) z_ij), and t keeps the moment that is scaled to 1"
)
ALIKE_ITEMS = (
    r"Item j of user i is $\mu+t(\sqrt\gamma\,u_i+\sqrt{1-\gamma}\,z_{ij})$: any two items of a "
    r"user have the correlation $\gamma$. At 0 they are independent, at 1 all are equal. More "
    r"items then help less: a user's mean has at least $\gamma$ of an item's variance."
)
ALIKE_SIGN = (
    "The share of the variance that the items of one user have in common; in one proof, an inverse "
    "step size."
)
Q_SIGN = (
    "Which norm measures parameters: 1 for sparse ones, 2 for the usual length; in lower "
    "bounds, the probability of a spike."
)
M_SIGN = (
    "How many records belong to one person, where 1 means that every record is a person; "
    "in some proofs it counts blocks or steps."
)
D_SIGN = (
    "The largest distance between two points of the constraint set; in lower bounds, a "
    "number of coordinates."
)
SAME_SEED = (
    "The same scenario and seed give the same numbers: to the last bit on one machine, while "
    "another processor may change the last digits. Whoever knows the seed can subtract the noise: "
    "a seeded result is for study, never for publication of real data."
)


def words(mean: str, points: str, features: str = "") -> Callable[[Any], str]:
    """Return a function that picks a text by the problem of a scenario.

    `mean` is for the estimation of a mean, `features` for linear models, and `points` for other
    losses, and for linear models if `features` is empty.
    """

    def words_for(scenario: Any) -> str:
        """Return the text for the problem of a scenario."""
        if scenario.problem == MeanEstimation.card.slug:
            return mean
        return features if features and scenario.problem in catalogue.LINEAR_MODELS else points

    return words_for


NORM_OF_TRUTH = words(
    "Norm of the true mean ‖μ‖",
    "Norm of the records' true mean ‖μ‖",
    "Norm of the true parameter ‖w*‖",
)
WHERE_TRUTH_IS = words(
    CLIPPED,
    f"How far the records' true mean {STARTS}",
    f"How far the best parameter {STARTS}",
)


def has_offset(scenario: Any) -> bool:
    """Whether the field `offset` has an effect, which it lacks if the law sets the truth itself.

    Hard instances do, except those that hide a mean below a linear model.
    """
    law = catalogue.distribution_class(scenario.distribution)
    return not law.has_prior or (
        law.hides == "mean" and scenario.problem in catalogue.LINEAR_MODELS
    )


def has_alike_items(scenario: Any) -> bool:
    """Whether a scenario has users with several items, whose law allows a part in common."""
    has_items = scenario.m > 1 or scenario.axis == "m"
    can_be_alike = catalogue.can_be_alike(scenario.distribution, scenario.problem)
    return has_items and can_be_alike and scenario.p >= 2


SET = (
    "A convex set and its norm. A small Gaussian width (a small mean of the farthest "
    "point in a random direction) lets noise be projected away; the page Geometry shows it."
)


def tail_in_short(scenario: Any) -> str:
    """Return what the tail index of a scenario means, in plain words for beside its control."""
    if scenario.p < 2:
        return "even the variance may be infinite"
    return "only the variance is bounded" if scenario.p == 2 else "how seldom records lie far out"
