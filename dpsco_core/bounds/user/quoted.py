r"""The rates at user level that Lowy, Liu and Asi (2024) quote, and their lower bound.

The upper bound of Levy et al. (2021), which they call suboptimal without giving its rate, has no
row.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import (
    ASI_LIU_2024,
    BASSILY_SUN_2023,
    GHAZI_2023,
    LEVY_2021,
    LOWY_2024,
    BoundCard,
)
from dpsco_core.bounds.base import Bound, Hypothesis, bound_like
from dpsco_core.bounds.euclidean.conditions import (
    SAMPLE_SMOOTH,
    SAMPLE_STRONGLY_CONVEX,
    failing_everywhere,
)
from dpsco_core.bounds.lq.conditions import L2_BALL
from dpsco_core.bounds.rate import Rate, bound_at_rate
from dpsco_core.bounds.user.complexity import COMPARISON
from dpsco_core.bounds.user.conditions import condition
from dpsco_core.bounds.user.rates import (
    ANY_EPSILON,
    ITEMS_STRONG,
    LINEAR_TIME,
    LOSSES,
    OPTIMAL,
    STRONG,
    THEOREM_3_2_CARD,
)
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Constants, Setting

_NO_LOGS = "Constants and logarithms are set to 1."


def assumptions(slug: str, text: str) -> Hypothesis:
    """Return the condition that a method's assumptions hold; `slug` is its key in `COMPARISON`."""
    row = next(row for row in COMPARISON if row.slug == slug)
    return condition(text, lambda case: " ".join(row.failures(case)))


BASSILY_SUN_NEEDS = (
    ANY_EPSILON,
    *LOSSES,
    SAMPLE_SMOOTH,
    assumptions(
        "bassily-sun-2023",
        "beta R/L < min(n/sqrt(md), n^(3/2)/(d sqrt(m))), n >= sqrt(d)/epsilon and "
        "m <= max(sqrt(d), n epsilon^2/sqrt(d))",
    ),
)
GHAZI_NEEDS = (ANY_EPSILON, *LOSSES, assumptions("ghazi-2023", "n >= ln(d)/epsilon"))
ASI_LIU_NEEDS = (ANY_EPSILON, *LOSSES, assumptions("asi-liu-2024", "n >= ln(md)/epsilon"))
LOCAL_NEEDS = (
    ANY_EPSILON,
    *LOSSES,
    SAMPLE_SMOOTH,
    assumptions(
        "bassily-sun-2023-local",
        "beta R/L < epsilon^3 sqrt(n^3/(m d^3)) and m <= d/epsilon^2 <= n",
    ),
)


# Section 1 quotes this rate of Levy et al. (2021) without conditions. It is also that of the prior
# methods under their own conditions.
QUOTED = OPTIMAL.drop("*ln(1/delta)")

_PRIOR = replace(
    THEOREM_3_2_CARD,
    slug="upper.user.prior-asi-liu-2024",
    name="Asi and Liu 2024, rate",
    paper=ASI_LIU_2024,
    statement="as quoted by Lowy et al. 2024, section 1",
    summary="The optimal rate at user level with few users, for smooth losses or any. " + _NO_LOGS,
    method="",
    loss_class=classes.LIPSCHITZ,
)
QUOTED_RATES: tuple[Bound, ...] = (
    bound_at_rate(
        _PRIOR,
        QUOTED,
        BASSILY_SUN_NEEDS,
        slug="upper.user.prior-bassily-sun-2023",
        name="Bassily and Sun 2023, rate",
        paper=BASSILY_SUN_2023,
        summary="The optimal rate at user level for very smooth losses and few items per "
        "user. " + _NO_LOGS,
        loss_class=classes.SMOOTH_LIPSCHITZ,
    ),
    bound_at_rate(
        _PRIOR,
        QUOTED,
        GHAZI_NEEDS,
        slug="upper.user.prior-ghazi-2023",
        name="Ghazi et al. 2023, rate",
        paper=GHAZI_2023,
        summary="The optimal rate at user level with few users, by a method that does not run "
        "in polynomial time. " + _NO_LOGS,
    ),
    bound_at_rate(_PRIOR, QUOTED, ASI_LIU_NEEDS),
    bound_at_rate(
        _PRIOR,
        LINEAR_TIME.drop("*ln(1/delta)"),
        LOCAL_NEEDS,
        slug="upper.user.prior-bassily-sun-2023-local",
        name="Bassily and Sun 2023, Algorithm 5, rate",
        paper=BASSILY_SUN_2023,
        statement="Algorithm 5, as quoted by Lowy et al. 2024, section 1 and Remark 2.2",
        summary="The rate of one pass under local privacy, where the server sees no user's "
        "data; it takes many users a round. " + _NO_LOGS,
        loss_class=classes.SMOOTH_LIPSCHITZ,
    ),
)


def _limited(
    rate: Rate, ceiling: Callable[[Constants], float]
) -> Callable[[Setting], dict[str, float]]:
    """Return the function that evaluates a lower rate, cut so that its sum is at most `ceiling`.

    No point has an excess risk above the ceiling; the paper does not state this cut
    (theory/lowy-liu-asi.md, 4). The terms are 0 if the rate has no value.
    """

    def terms(setting: Setting) -> dict[str, float]:
        """Return the rate's terms by name, limited to the largest risk that is possible."""
        pair = rate(setting)
        if math.inf in pair.values():
            return dict.fromkeys(pair, 0.0)
        limit = ceiling(setting.constants)
        sampling = min(pair["sampling"], limit)
        return {"sampling": sampling, "privacy": min(pair["privacy"], limit - sampling)}

    return terms


_LOWER = BoundCard(
    slug="lower.user.rate",
    name="User level, lower rate",
    paper=LEVY_2021,
    statement="as quoted by Lowy et al. 2024, section 1, cut at L R",
    printing="reworked",
    summary="The lower rate at user level, with its hidden constant set to 1; the cut at L R is "
    "ours, and its conditions are not quoted. A worst case over convex Lipschitz losses: on "
    "another loss a measured line may run below. It is stated for algorithms that are "
    "(epsilon, delta)-private for a user's whole block.",
    kind="lower",
    quantity="excess risk",
    constant="rate",
    latex=r"LR\min\Big\{1,\frac1{\sqrt{nm}}+\frac{\sqrt d}{\varepsilon n\sqrt m}\Big\}",
    privacy="approx",
    instance_problem="linear",
    instance_class=classes.LIPSCHITZ_LINEAR,
    level="user",
    loss_class=classes.LIPSCHITZ,
    problems=SCO_PROBLEMS,
)
USER_LOWER: tuple[Bound, ...] = (
    bound_like(
        _LOWER,
        evaluate=_limited(QUOTED, lambda c: c.lipschitz * c.diameter),
        hypotheses=(ANY_EPSILON, *LOSSES, L2_BALL),
    ),
    bound_like(
        _LOWER,
        # The risk lies above a parabola, so no point has an excess risk above L^2/(2 mu).
        evaluate=_limited(
            STRONG.drop("*ln(1/delta)"),
            lambda c: min(
                c.lipschitz * c.diameter, c.lipschitz**2 / (2 * c.sample_strong_convexity)
            ),
        ),
        hypotheses=(
            failing_everywhere(
                "a proof",
                "The paper calls this rate optimal without naming a lower bound, so that nothing "
                "is proven here.",
            ),
            ANY_EPSILON,
            *LOSSES,
            SAMPLE_STRONGLY_CONVEX,
            L2_BALL,
        ),
        slug="lower.user.strong-rate",
        drawn=False,
        name="User level, strongly convex, lower rate (unproven)",
        paper=LOWY_2024,
        statement="Remark 3.6, as a claim of optimality",
        summary="What the paper calls optimal for strongly convex losses, without naming a "
        "lower bound; its constant is set to 1, and the cut is ours. A worst case over "
        "strongly convex Lipschitz losses: on another loss a measured line may run below.",
        latex=r"\min\Big\{LR,\frac{L^2}{2\mu},\frac{L^2}\mu\Big(\frac1{nm}+"
        r"\frac d{\varepsilon^2n^2m}\Big)\Big\}",
        instance_problem="quadratic",
        instance_class=classes.LIPSCHITZ_SQUARED_DISTANCE,
        loss_class=classes.LIPSCHITZ_STRONG,
        problems=ITEMS_STRONG,
    ),
)
