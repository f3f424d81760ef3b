r"""Gradient complexities at user level: evaluations of the gradient of the loss at one item.

The methods are those that Lowy, Liu and Asi (2024) compare in section 1 and Figure 1. Their counts
are rebuilt from the text of the paper, because the figure is an image (theory/lowy-liu-asi.md, 5).
Constants and logarithms are set to 1. Exact counts of a schedule are `SgdSchedule.gradients` and
`ErmSchedule.gradients`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dpsco_core.base.errors import require
from dpsco_core.bounds.base import Terms
from dpsco_core.bounds.rate import Rate
from dpsco_core.bounds.user.conditions import setting_of, user_level
from dpsco_core.bounds.user.rates import USER_LETTERS
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.problems.base import Setting

Count = Callable[[Setting], Terms]


def _count(formula: str) -> Rate:
    """Return the number of gradients that a formula gives, as a rate.

    It has a value only at settings for which `user_level` does.
    """
    return Rate(
        terms={"item gradients": formula},
        letters=USER_LETTERS,
        applies=lambda setting: user_level(setting) is not None,
    )


# Theorem 2.1, Algorithm 5 of Bassily and Sun (2023), and roughly group privacy have this count.
SINGLE_PASS = _count("n*m")
# These counts are those of Theorem 3.2 (C.3) for Algorithm 3 on smooth losses. The paper adds the
# last two terms, which is valid but loose: both are m/epsilon sqrt(beta/lambda)
# (theory/lowy-liu-asi.md, 3.3).
_LEADING = "m*n*(1 + epsilon*kappa^(1/4)*min((m*n)^(1/8), (epsilon^2*n^2*m/d)^(1/8)))"
_SUMMANDS = "n^(1/4)*m^(5/4)/epsilon", "n^(1/2)*m^(5/4)/(d^(1/4)*epsilon^(1/2))"
SMOOTH = _count(f"{_LEADING} + sqrt(kappa)*min({', '.join(_SUMMANDS)})")
SMOOTH_PRINTED = _count(f"{_LEADING} + sqrt(kappa)*({' + '.join(_SUMMANDS)})")
# Counts by Theorem 4.1 (D.3), for Algorithm 3 on smoothed losses. The printed count omits the last
# term, m T/epsilon with T the number of steps, which exceeds the others for m above about n^(5/2)
# epsilon^7 (above n^(5/2) epsilon^3 with the printed power). The paper prints epsilon^(1/4) where
# its proof has epsilon^(5/4): too large for epsilon < 1, too small for epsilon > 1
# (theory/lowy-liu-asi.md, 3.4 and 8, item 19).
NON_SMOOTH = _count("m*n*(1 + n^(3/8)*m^(1/4)*epsilon^(5/4)) + n^(3/4)*m^(3/2)/sqrt(epsilon)")
NON_SMOOTH_PRINTED = _count("m*n*(1 + n^(3/8)*m^(1/4)*epsilon^(1/4))")
# Bassily and Sun (2023) have this count at n = d and epsilon = 1.
BASSILY_SUN = _count("m*n^(3/2)")
# Asi and Liu (2024) have these counts for smooth losses, for any losses (Remark 4.2), and for any
# losses without the last term (section 1).
ASI_LIU = _count("beta*R/L*(n*m)^(3/2)")
ASI_LIU_NON_SMOOTH = _count("(n*m)^3 + (n*m)^2*sqrt(d)")
ASI_LIU_SIMPLIFIED = _count("(n*m)^3")
# Contribution 1 of Lowy, Liu and Asi (2024) has these counts, at n = d and epsilon = 1.
SIMPLIFIED = _count("max(kappa^(1/4)*(n*m)^(9/8), sqrt(kappa)*n^(1/4)*m^(5/4))")
SIMPLIFIED_NON_SMOOTH = _count("n^(11/8)*m^(5/4)")


def super_polynomial(setting: Setting) -> Terms:
    """Return an infinite count, for the method of Ghazi et al. (2023) without polynomial time."""
    return {"item gradients": math.inf}


def _bassily_sun_failures(case: UserLevel) -> tuple[str, ...]:
    """Return a sentence for each assumption of Bassily and Sun (2023) that fails."""
    n, m, d = case.n, case.m, case.d
    largest = min(n / math.sqrt(m * d), n**1.5 / (d * math.sqrt(m)))
    items = max(math.sqrt(d), n * case.epsilon**2 / math.sqrt(d))
    return _describe_failures(
        (case.condition < largest, f"beta R/L < {largest:.4g}, and it is {case.condition:.4g}"),
        (
            n >= math.sqrt(d) / case.epsilon,
            f"n >= {math.sqrt(d) / case.epsilon:.4g}, and n={n}",
        ),
        (m <= items, f"m <= {items:.4g}, and m={m}"),
    )


def _asi_liu_failures(case: UserLevel) -> tuple[str, ...]:
    """Return a sentence for the assumption of Asi and Liu (2024), if it fails."""
    users = math.log(case.m * case.d) / case.epsilon
    return _describe_failures((case.n >= users, f"n >= {users:.4g}, and n={case.n}"))


def _ghazi_failures(case: UserLevel) -> tuple[str, ...]:
    """Return a sentence for the assumption of Ghazi et al. (2023), if it fails."""
    users = math.log(case.d) / case.epsilon
    return _describe_failures((case.n >= users, f"n >= {users:.4g}, and n={case.n}"))


def _algorithm_3_failures(case: UserLevel) -> tuple[str, ...]:
    """Return a sentence for each assumption of Lowy et al.'s Algorithm 3 that fails."""
    users = math.log(case.d) / case.epsilon
    return _describe_failures(
        (case.n >= users, f"n >= {users:.4g}"),
        (case.delta * case.total < 1, "delta < 1/(mn)"),
        (case.epsilon <= 10, "epsilon <= 10"),
    )


def _local_failures(case: UserLevel) -> tuple[str, ...]:
    """Return a sentence for each failing assumption of Bassily and Sun's linear-time method."""
    n, m, d, epsilon = case.n, case.m, case.d, case.epsilon
    largest = epsilon**3 * math.sqrt(n**3 / (m * d**3))
    middle = d / epsilon**2
    return _describe_failures(
        (case.condition < largest, f"beta R/L < {largest:.4g}, and it is {case.condition:.4g}"),
        (m <= middle, f"m <= {middle:.4g}, and m={m}"),
        (middle <= n, f"n >= {middle:.4g}, and n={n}"),
    )


def _algorithm_1_failures(case: UserLevel) -> tuple[str, ...]:
    """Return a sentence for each assumption of Lowy et al.'s Algorithm 1 that fails."""
    largest = math.sqrt(case.d * case.total * case.epsilon)
    users = (math.log(case.n) + case.log_delta) / case.epsilon
    return _describe_failures(
        (case.condition <= largest, f"beta R/L <= {largest:.4g}"),
        (case.n >= users, f"n >= {users:.4g}"),
        (case.epsilon <= 10, "epsilon <= 10"),
    )


def _describe_failures(*conditions: tuple[bool, str]) -> tuple[str, ...]:
    """Return a sentence for each condition, a truth value and its text, that does not hold."""
    return tuple(f"It needs {text}." for holds, text in conditions if not holds)


class TableRow(NamedTuple):
    """One method of the comparison, with its numbers of gradients and its assumptions."""

    slug: str
    name: str
    # Whether the excess risk is optimal up to logarithms; otherwise the method takes linear time.
    optimal: bool
    # Smooth and non-smooth losses take these numbers of gradients; None says that there is no
    # result.
    smooth: Count | None
    non_smooth: Count | None
    # This function returns a sentence for every assumption that fails, without logarithms and
    # constants.
    failures: Callable[[UserLevel], tuple[str, ...]]


# Levy et al. (2021) have no row, since Lowy et al. call their bound suboptimal without its rate.
COMPARISON: tuple[TableRow, ...] = (
    TableRow(
        "bassily-sun-2023", "Bassily and Sun 2023", True, BASSILY_SUN, None, _bassily_sun_failures
    ),
    TableRow(
        "ghazi-2023", "Ghazi et al. 2023", True, super_polynomial, super_polynomial, _ghazi_failures
    ),
    TableRow(
        "asi-liu-2024", "Asi and Liu 2024", True, ASI_LIU, ASI_LIU_NON_SMOOTH, _asi_liu_failures
    ),
    TableRow(
        "algorithm-3",
        "Lowy et al. 2024, Algorithm 3",
        True,
        SMOOTH,
        NON_SMOOTH,
        _algorithm_3_failures,
    ),
    TableRow(
        "group-privacy",
        "Feldman et al. 2020 with group privacy",
        False,
        SINGLE_PASS,
        None,
        lambda case: (),
    ),
    TableRow(
        "bassily-sun-2023-local",
        "Bassily and Sun 2023, Algorithm 5",
        False,
        SINGLE_PASS,
        None,
        _local_failures,
    ),
    TableRow(
        "algorithm-1",
        "Lowy et al. 2024, Algorithm 1",
        False,
        SINGLE_PASS,
        None,
        _algorithm_1_failures,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The numbers of gradients that one method takes, at several numbers of items."""

    slug: str
    name: str
    loss: str  # the kind of loss, "smooth" or "non-smooth"
    items: tuple[int, ...]  # the numbers n m of items at the points of the curve
    gradients: tuple[float, ...]
    applies: tuple[bool, ...]  # whether the method's assumptions hold at each point


def figure_1(
    users: Sequence[int],  # the numbers n of users, which are also the dimensions d
    m: int,  # the number of items per user
    *,
    smoothness: float = 1.0,  # the smoothness :math:`\beta` of the smooth losses
) -> tuple[Curve, ...]:
    r"""Return Figure 1 as curves over n m: the optimal algorithms at n = d, L = R = 1 = epsilon.

    Algorithm 3 is drawn as section 1 simplifies it, and Asi and Liu (2024) without the term that is
    smaller there.

    Examples
    --------
    >>> curve = [c for c in figure_1([16, 256], 1) if c.slug == "algorithm-3"][0]
    >>> curve.items, [round(g, 3) for g in curve.gradients]
    ((16, 256), [22.627, 512.0])
    """
    require(len(users) > 0, "users", "at least one number", list(users))
    # This delta is below 1/(mn) at every number n of users, as Theorem 3.2 asks.
    delta = 0.1 / (max(users) * m)
    points = [
        UserLevel(n=n, m=m, d=n, epsilon=1.0, delta=delta, smoothness=smoothness) for n in users
    ]
    simple: dict[tuple[str, str], Count] = {
        ("algorithm-3", "smooth"): SIMPLIFIED,
        ("algorithm-3", "non-smooth"): SIMPLIFIED_NON_SMOOTH,
        ("asi-liu-2024", "non-smooth"): ASI_LIU_SIMPLIFIED,
    }
    curves = []
    for row in (row for row in COMPARISON if row.optimal):
        for loss, count in (("smooth", row.smooth), ("non-smooth", row.non_smooth)):
            if count is None:
                continue
            plotted = simple.get((row.slug, loss), count)
            curves.append(
                Curve(
                    slug=row.slug,
                    name=row.name,
                    loss=loss,
                    items=tuple(case.total for case in points),
                    gradients=tuple(plotted(setting_of(case))["item gradients"] for case in points),
                    applies=tuple(not row.failures(case) for case in points),
                )
            )
    return tuple(curves)
