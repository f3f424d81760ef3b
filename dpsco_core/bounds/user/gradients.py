"""Gradient complexities at user level: evaluations of the gradient of the loss at one item.

These counts are a quantity of their own, which is not compared with any risk. They are those of the
comparison of Lowy, Liu and Asi (2024), under the conditions of the risks in
`dpsco_core.bounds.user.rates`.
"""

from dataclasses import replace
from typing import Any

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import (
    ASI_LIU_2024,
    BASSILY_SUN_2023,
    GHAZI_2023,
    LOWY_2024,
    BoundCard,
)
from dpsco_core.bounds.base import Bound, Hypothesis, bound_like
from dpsco_core.bounds.euclidean.conditions import (
    SAMPLE_SMOOTH,
    SAMPLE_STRONGLY_CONVEX,
    failing_everywhere,
    name_terms,
)
from dpsco_core.bounds.rate import Rate
from dpsco_core.bounds.user.complexity import (
    ASI_LIU,
    ASI_LIU_NON_SMOOTH,
    BASSILY_SUN,
    NON_SMOOTH,
    NON_SMOOTH_PRINTED,
    SINGLE_PASS,
    SMOOTH,
    SMOOTH_PRINTED,
    super_polynomial,
)
from dpsco_core.bounds.user.conditions import AS_QUOTED, STEPS_COVERED
from dpsco_core.bounds.user.quoted import ASI_LIU_NEEDS, BASSILY_SUN_NEEDS, GHAZI_NEEDS, LOCAL_NEEDS
from dpsco_core.bounds.user.rates import (
    ALGORITHM_1,
    GROUP_CONDITIONS,
    ITEMS_STRONG,
    NEEDS,
    REMARK_3_6,
    THEOREM_3_2,
    THEOREM_4_1,
)
from dpsco_core.problems import SCO_PROBLEMS

SMOOTH_NEEDS = (*NEEDS, "sample_smoothness")
_UNIT_CONSTANTS = "Constants and logarithms are set to 1."
_AS_QUOTED = "as quoted by Lowy et al. 2024, section 1"


def _make_row(
    card: BoundCard,
    count: Rate,
    hypotheses: tuple[Hypothesis, ...],
    needs: tuple[str, ...] = SMOOTH_NEEDS,
    **changes: Any,
) -> Bound:
    """Return the catalogue's entry for a count of gradients, from a card with some changes.

    `needs` are the constants of the problem without which the count has no value.
    """
    evaluate = name_terms(tuple(count.terms), needs, lambda s: tuple(count(s).values()))
    changes |= {"latex": count.latex}
    return bound_like(card, evaluate=evaluate, hypotheses=hypotheses, **changes)


_SMOOTH = BoundCard(
    slug="upper.user.accelerated-gradients",
    name="Accelerated phased ERM for users, gradients",
    paper=LOWY_2024,
    statement="Theorem 3.2 (C.3), its last sum as the minimum that it is",
    summary="How many gradients of items the optimal algorithm for smooth losses evaluates. "
    + _UNIT_CONSTANTS,
    kind="upper",
    quantity="item gradients",
    constant="rate",
    latex=SMOOTH.latex,
    privacy="approx",
    method="user.accelerated",
    level="user",
    loss_class=classes.SMOOTH_LIPSCHITZ,
    problems=SCO_PROBLEMS,
)
_NON_SMOOTH = replace(
    _SMOOTH,
    slug="upper.user.accelerated-nonsmooth-gradients",
    name="Accelerated phased ERM for users on smoothed losses, gradients",
    statement="Theorem 4.1 (D.3), with the term that it drops",
    summary="How many gradients of items the optimal algorithm evaluates for any Lipschitz loss. "
    + _UNIT_CONSTANTS,
    method="user.accelerated-nonsmooth",
    loss_class=classes.LIPSCHITZ,
)
_LINEAR = replace(
    _SMOOTH,
    slug="upper.user.phased-sgd-gradients",
    name="Phased SGD for users, gradients",
    statement="Theorem 2.1 (B.1)",
    summary="At most one gradient for each item of each user: linear time.",
    method="user.phased-sgd",
)
_ASI_LIU = replace(
    _SMOOTH,
    slug="upper.user.prior-asi-liu-2024-gradients",
    name="Asi and Liu 2024, gradients",
    paper=ASI_LIU_2024,
    statement=_AS_QUOTED,
    summary="How many gradients of items the earlier optimal algorithm evaluates on smooth "
    "losses. " + _UNIT_CONSTANTS,
    method="",
)
USER_GRADIENTS: tuple[Bound, ...] = (
    _make_row(_LINEAR, SINGLE_PASS, ALGORITHM_1),
    _make_row(_SMOOTH, SMOOTH, THEOREM_3_2, printing="reworked"),
    _make_row(
        _SMOOTH,
        SMOOTH_PRINTED,
        THEOREM_3_2,
        slug="upper.user.accelerated-gradients-paper",
        name="Accelerated phased ERM for users, printed gradients",
        statement="Theorem 3.2 (C.3), as printed",
        summary="The count as printed, which adds two terms where either alone would do: valid "
        "and loose. " + _UNIT_CONSTANTS,
    ),
    _make_row(_NON_SMOOTH, NON_SMOOTH, THEOREM_4_1, NEEDS, printing="reworked"),
    _make_row(
        _NON_SMOOTH,
        NON_SMOOTH_PRINTED,
        (*THEOREM_4_1, STEPS_COVERED),
        NEEDS,
        slug="upper.user.accelerated-nonsmooth-gradients-paper",
        name="Accelerated phased ERM for users on smoothed losses, printed gradients",
        statement="Theorem 4.1 (D.3), as printed",
        summary="The count as printed, which drops a term, and has the power 1/4 of epsilon "
        "where its proof has 5/4, which is loose below 1. " + _UNIT_CONSTANTS,
    ),
    _make_row(
        _SMOOTH,
        SMOOTH,
        REMARK_3_6,
        (*SMOOTH_NEEDS, "sample_strong_convexity"),
        slug="upper.user.accelerated-strong-gradients",
        name="Accelerated phased ERM for users, strongly convex, gradients",
        statement="Remark 3.6 with Theorem 3.2, its last sum as the minimum that it is",
        printing="reworked",
        summary="How many gradients of items it evaluates on strongly convex and smooth "
        "losses: as many as on convex ones. " + _UNIT_CONSTANTS,
        method="user.accelerated-strong",
        loss_class=classes.SMOOTH_LIPSCHITZ_STRONG,
        problems=ITEMS_STRONG,
    ),
    _make_row(
        _LINEAR,
        SINGLE_PASS,
        GROUP_CONDITIONS,
        slug="upper.user.group-privacy-gradients",
        name="Group privacy, gradients",
        statement="footnote 3, with Feldman et al. 2020",
        method="user.group-privacy",
    ),
    _make_row(
        _ASI_LIU,
        BASSILY_SUN,
        (*BASSILY_SUN_NEEDS, AS_QUOTED),
        slug="upper.user.prior-bassily-sun-2023-gradients",
        name="Bassily and Sun 2023, gradients",
        paper=BASSILY_SUN_2023,
        summary="How many gradients of items the first optimal algorithm evaluates. "
        + _UNIT_CONSTANTS,
    ),
    bound_like(
        _ASI_LIU,
        evaluate=super_polynomial,
        hypotheses=(
            *GHAZI_NEEDS,
            failing_everywhere("polynomial time", "The method does not run in polynomial time."),
        ),
        slug="upper.user.prior-ghazi-2023-gradients",
        name="Ghazi et al. 2023, gradients",
        paper=GHAZI_2023,
        summary="No count: the method does not run in polynomial time.",
        latex=r"(nmd)^{\omega(1)}",
        loss_class=classes.LIPSCHITZ,
    ),
    _make_row(_ASI_LIU, ASI_LIU, (*ASI_LIU_NEEDS, SAMPLE_SMOOTH, AS_QUOTED)),
    _make_row(
        _ASI_LIU,
        ASI_LIU_NON_SMOOTH,
        ASI_LIU_NEEDS,
        NEEDS,
        slug="upper.user.prior-asi-liu-2024-nonsmooth-gradients",
        name="Asi and Liu 2024, any losses, gradients",
        statement="as quoted by Lowy et al. 2024, Remark 4.2",
        summary="How many gradients of items the earlier optimal algorithm evaluates for any "
        "Lipschitz loss. " + _UNIT_CONSTANTS,
        loss_class=classes.LIPSCHITZ,
    ),
    _make_row(
        _ASI_LIU,
        ASI_LIU,
        (*ASI_LIU_NEEDS, SAMPLE_SMOOTH, SAMPLE_STRONGLY_CONVEX, AS_QUOTED),
        (*SMOOTH_NEEDS, "sample_strong_convexity"),
        slug="upper.user.prior-asi-liu-2024-strong-gradients",
        name="Asi and Liu 2024, strongly convex, gradients",
        statement="as quoted by Lowy et al. 2024, Remark 3.6",
        summary="How many gradients of items the earlier optimal algorithm evaluates on "
        "strongly convex and smooth losses. " + _UNIT_CONSTANTS,
        loss_class=classes.SMOOTH_LIPSCHITZ_STRONG,
        problems=ITEMS_STRONG,
    ),
    _make_row(
        _LINEAR,
        SINGLE_PASS,
        LOCAL_NEEDS,
        slug="upper.user.prior-bassily-sun-2023-local-gradients",
        name="Bassily and Sun 2023, Algorithm 5, gradients",
        paper=BASSILY_SUN_2023,
        statement=f"Algorithm 5, {_AS_QUOTED}, and Remark 2.2",
        method="",
    ),
)
