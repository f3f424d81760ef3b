r"""Gradient complexities at user level: evaluations of the gradient of the loss at one item.

The rows are those of the comparison of Lowy, Liu and Asi (2024), section 1 and Figure 1. They are
rebuilt from the text of the paper, because the figure is an image (theory/lowy-liu-asi.md, 5).
Constants and logarithms are set to 1. Exact counts of a schedule are `SgdSchedule.gradients` and
`ErmSchedule.gradients`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dpsco_core.base.errors import require
from dpsco_core.methods.user.level import UserLevel

Count = Callable[[UserLevel], float]


def single_pass(case: UserLevel) -> float:
    """Return n m, the count of Theorem 2.1 and of Bassily and Sun (2023), Alg. 5.

    Group privacy takes about as many gradients.
    """
    return float(case.total)


def smooth(case: UserLevel, *, printed: bool = False) -> float:
    r"""Return the count of Theorem 3.2 (C.3), Algorithm 3 on smooth losses.

    With `printed` the last two terms are added, which is valid but loose, because both stand for
    :math:`\frac m\varepsilon\sqrt{\beta/\lambda}` (theory/lowy-liu-asi.md, 3.3).

    Examples
    --------
    >>> case = UserLevel(n=1000, m=1, d=10, epsilon=1.0, delta=1e-6, smoothness=1.0)
    >>> round(smooth(case, printed=True), 1), round(smooth(case), 1)
    (3394.8, 3377.0)
    """
    n, m, d, epsilon = float(case.n), float(case.m), case.d, case.epsilon
    ratio = min(n * m, epsilon**2 * n**2 * m / d)
    work = n * m * (1 + epsilon * math.pow(case.condition, 0.25) * math.pow(ratio, 0.125))
    parts = (
        math.pow(n, 0.25) * math.pow(m, 1.25) / epsilon,
        math.sqrt(n) * math.pow(m, 1.25) / (math.pow(d, 0.25) * math.sqrt(epsilon)),
    )
    return work + math.sqrt(case.condition) * (sum(parts) if printed else min(parts))


def non_smooth(case: UserLevel, *, printed: bool = False) -> float:
    r"""Return the count of Theorem 4.1 (D.3), Algorithm 3 on smoothed losses.

    The printed count is :math:`mn(1+n^{3/8}m^{1/4}\varepsilon^{1/4})`. It drops
    :math:`mT/\varepsilon`, which it covers only for :math:`m\lesssim n^{5/2}\varepsilon^3`, and has
    :math:`\varepsilon^{1/4}` in place of :math:`\varepsilon^{5/4}`, which is larger only for
    epsilon below 1 (theory/lowy-liu-asi.md, 3.4 and 8, item 19).

    Examples
    --------
    >>> case = UserLevel(n=1000, m=100, d=10, epsilon=1.0, delta=1e-6)
    >>> f"{non_smooth(case, printed=True):.4g}", f"{non_smooth(case):.4g}"
    ('4.317e+06', '4.495e+06')
    """
    n, m, epsilon = float(case.n), float(case.m), case.epsilon
    steps = math.pow(n, 0.375) * math.pow(m, 0.25)
    if printed:
        return n * m * (1 + steps * math.pow(epsilon, 0.25))
    left = math.pow(n, 0.75) * math.pow(m, 1.5) / math.sqrt(epsilon)
    return n * m * (1 + steps * math.pow(epsilon, 1.25)) + left


def simplified(case: UserLevel) -> float:
    r"""Return Contribution 1 of Lowy, Liu and Asi (2024), at n = d and epsilon = 1.

    It is :math:`\max\{\kappa^{1/4}(nm)^{9/8},\kappa^{1/2}n^{1/4}m^{5/4}\}`.
    """
    extra = math.sqrt(case.condition) * math.pow(case.n, 0.25) * math.pow(case.m, 1.25)
    return max(math.pow(case.condition, 0.25) * math.pow(case.total, 1.125), extra)


def simplified_non_smooth(case: UserLevel) -> float:
    r"""Return Contribution 1 without smoothness at epsilon = 1: :math:`n^{11/8}m^{5/4}`."""
    return math.pow(case.n, 1.375) * math.pow(case.m, 1.25)


def bassily_sun(case: UserLevel) -> float:
    """Return the count of Bassily and Sun (2023), :math:`mn^{3/2}` at n = d and epsilon = 1."""
    return case.m * math.pow(case.n, 1.5)


def asi_liu(case: UserLevel) -> float:
    r"""Return the count of Asi and Liu (2024), smooth losses: :math:`\frac{\beta R}L(nm)^{3/2}`."""
    return case.condition * math.pow(case.total, 1.5)


def asi_liu_non_smooth(case: UserLevel, *, simple: bool = False) -> float:
    r"""Return the count of Asi and Liu (2024) for any losses: :math:`(nm)^3+(nm)^2\sqrt d`.

    It is quoted in Remark 4.2. `simple` leaves out the second term, as in section 1.
    """
    cubic = math.pow(case.total, 3)
    return cubic if simple else cubic + math.pow(case.total, 2) * math.sqrt(case.d)


def super_polynomial(case: UserLevel) -> float:
    """Return infinity: Ghazi et al. (2023), whose method does not run in polynomial time."""
    return math.inf


def _bassily_sun_failures(case: UserLevel) -> tuple[str, ...]:
    """Return the failing assumptions of Bassily and Sun (2023)."""
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
    """Return the failing assumptions of Asi and Liu (2024)."""
    users = math.log(case.m * case.d) / case.epsilon
    return _describe_failures((case.n >= users, f"n >= {users:.4g}, and n={case.n}"))


def _ghazi_failures(case: UserLevel) -> tuple[str, ...]:
    """Return the failing assumptions of Ghazi et al. (2023)."""
    users = math.log(case.d) / case.epsilon
    return _describe_failures((case.n >= users, f"n >= {users:.4g}, and n={case.n}"))


def _algorithm_3_failures(case: UserLevel) -> tuple[str, ...]:
    """Return the failing assumptions of Algorithm 3."""
    users = math.log(case.d) / case.epsilon
    return _describe_failures(
        (case.n >= users, f"n >= {users:.4g}"),
        (case.delta * case.total < 1, "delta < 1/(mn)"),
        (case.epsilon <= 10, "epsilon <= 10"),
    )


def _local_failures(case: UserLevel) -> tuple[str, ...]:
    """Return the failing assumptions of the linear-time local method."""
    n, m, d, epsilon = case.n, case.m, case.d, case.epsilon
    largest = epsilon**3 * math.sqrt(n**3 / (m * d**3))
    middle = d / epsilon**2
    return _describe_failures(
        (case.condition < largest, f"beta R/L < {largest:.4g}, and it is {case.condition:.4g}"),
        (m <= middle, f"m <= {middle:.4g}, and m={m}"),
        (middle <= n, f"n >= {middle:.4g}, and n={n}"),
    )


def _algorithm_1_failures(case: UserLevel) -> tuple[str, ...]:
    """Return the failing assumptions of Algorithm 1."""
    largest = math.sqrt(case.d * case.total * case.epsilon)
    users = (math.log(case.n) + case.log_delta) / case.epsilon
    return _describe_failures(
        (case.condition <= largest, f"beta R/L <= {largest:.4g}"),
        (case.n >= users, f"n >= {users:.4g}"),
        (case.epsilon <= 10, "epsilon <= 10"),
    )


def _describe_failures(*conditions: tuple[bool, str]) -> tuple[str, ...]:
    """Return a sentence for each condition that does not hold."""
    return tuple(f"It needs {text}." for holds, text in conditions if not holds)


class TableRow(NamedTuple):
    """One row of the comparison."""

    slug: str
    name: str
    # whether the excess risk is optimal up to logarithms; otherwise the method takes linear time
    optimal: bool
    # The gradients for smooth and for non-smooth losses; None where there is no such result.
    smooth: Count | None
    non_smooth: Count | None
    # one sentence for every assumption that fails, without logarithms and constants
    failures: Callable[[UserLevel], tuple[str, ...]]


# Levy et al. (2021) have no row: their upper bound is suboptimal, and the paper does not give its
# rate.
COMPARISON: tuple[TableRow, ...] = (
    TableRow(
        "bassily-sun-2023", "Bassily and Sun 2023", True, bassily_sun, None, _bassily_sun_failures
    ),
    TableRow(
        "ghazi-2023", "Ghazi et al. 2023", True, super_polynomial, super_polynomial, _ghazi_failures
    ),
    TableRow(
        "asi-liu-2024", "Asi and Liu 2024", True, asi_liu, asi_liu_non_smooth, _asi_liu_failures
    ),
    TableRow(
        "algorithm-3",
        "Lowy et al. 2024, Algorithm 3",
        True,
        smooth,
        non_smooth,
        _algorithm_3_failures,
    ),
    TableRow(
        "group-privacy",
        "Feldman et al. 2020 with group privacy",
        False,
        single_pass,
        None,
        lambda case: (),
    ),
    TableRow(
        "bassily-sun-2023-local",
        "Bassily and Sun 2023, Algorithm 5",
        False,
        single_pass,
        None,
        _local_failures,
    ),
    TableRow(
        "algorithm-1",
        "Lowy et al. 2024, Algorithm 1",
        False,
        single_pass,
        None,
        _algorithm_1_failures,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Gradients of one method over the number of items."""

    slug: str
    name: str
    loss: str  # the kind of loss, "smooth" or "non-smooth"
    items: tuple[int, ...]  # the numbers n m of items
    gradients: tuple[float, ...]
    applies: tuple[bool, ...]  # whether the method's assumptions hold at each number


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
    # This delta is below 1/(mn) everywhere, as Theorem 3.2 asks.
    delta = 0.1 / (max(users) * m)
    points = [
        UserLevel(n=n, m=m, d=n, epsilon=1.0, delta=delta, smoothness=smoothness) for n in users
    ]
    simple: dict[tuple[str, str], Count] = {
        ("algorithm-3", "smooth"): simplified,
        ("algorithm-3", "non-smooth"): simplified_non_smooth,
        ("asi-liu-2024", "non-smooth"): lambda case: asi_liu_non_smooth(case, simple=True),
    }
    curves = []
    for row in (row for row in COMPARISON if row.optimal):
        for loss, count in (("smooth", row.smooth), ("non-smooth", row.non_smooth)):
            if count is None:
                continue
            formula = simple.get((row.slug, loss), count)
            curves.append(
                Curve(
                    slug=row.slug,
                    name=row.name,
                    loss=loss,
                    items=tuple(case.total for case in points),
                    gradients=tuple(formula(case) for case in points),
                    applies=tuple(not row.failures(case) for case in points),
                )
            )
    return tuple(curves)
