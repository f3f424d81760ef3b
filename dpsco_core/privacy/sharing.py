"""One budget that several runs draw from: how their shares add up, and what is left.

Shares add by sequential composition in the notion of the budget: epsilons of pure DP, rhos of zCDP,
and epsilons and deltas each of (epsilon, delta)-DP (basic composition). A sum of this kind is also
a filter: it holds where a share is chosen after a look at earlier answers (Rogers, Roth, Ullman and
Vadhan 2016, for pure and approximate DP; Feldman and Zrnic 2021, for zCDP).
"""

import math
from collections.abc import Sequence

from dpsco_core.base.errors import InvalidInput
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.privacy.entries import ROUNDING


def check_notion(share: object, budget: Budget) -> None:
    """Raise `InvalidInput` unless a share counts in the notion of a budget without conversion.

    A pure share counts in an (epsilon, delta) budget, with delta 0; other notions do not mix.
    """
    kinds = (ApproxDP, PureDP) if isinstance(budget, ApproxDP) else type(budget)
    if not isinstance(share, kinds):
        wording = {
            ApproxDP: "epsilon, with delta or without one",
            PureDP: "epsilon, with delta=0",
            ZCDP: "rho, beside epsilon=None and delta=None",
        }[type(budget)]
        raise InvalidInput(
            f"budget must be stated by {wording}, as the shared ledger with {budget} counts it, "
            f"got budget={share}; nothing was drawn."
        )


def add_shares(shares: Sequence[Budget], budget: Budget) -> Budget | None:
    """Return the sum of shares in the notion of a budget; None without any.

    Sums above the budget by rounding alone are the budget. Pure shares alone are pure under an
    (epsilon, delta) budget.

    Examples
    --------
    >>> add_shares([ZCDP(rho=0.1), ZCDP(rho=0.2)], ZCDP(rho=1.0))
    ZCDP(rho=0.30000000000000004)
    """
    if not shares:
        return None
    main, delta = _sums(shares)
    limit, delta_limit = _limits(budget)
    main, delta = _without_rounding(main, limit), _without_rounding(delta, delta_limit)
    if isinstance(budget, ZCDP):
        return ZCDP(rho=main)
    return ApproxDP(epsilon=main, delta=delta) if delta else PureDP(epsilon=main)


def fits_shares(shares: Sequence[Budget], budget: Budget) -> bool:
    """Return whether shares stay within a budget, up to rounding."""
    sums, limits = _sums(shares), _limits(budget)
    return all(s <= limit * (1 + ROUNDING) for s, limit in zip(sums, limits, strict=True))


def remaining(budget: Budget, shares: Sequence[Budget]) -> Budget | None:
    """Return what shares leave of a budget; None if nothing is left.

    An (epsilon, delta) budget whose delta is used up leaves a pure one.

    Examples
    --------
    >>> remaining(ApproxDP(epsilon=2.0, delta=1e-6), [ApproxDP(epsilon=0.5, delta=1e-6)])
    PureDP(epsilon=1.5)
    """
    limits = _limits(budget)
    main, delta = (
        0.0 if limit - s <= limit * 10 * ROUNDING else limit - s
        for s, limit in zip(_sums(shares), limits, strict=True)
    )
    if not main:
        return None
    if isinstance(budget, ZCDP):
        return ZCDP(rho=main)
    return ApproxDP(epsilon=main, delta=delta) if delta else PureDP(epsilon=main)


def _sums(shares: Sequence[Budget]) -> tuple[float, float]:
    """Return the sum of the epsilons or rhos of shares, and that of their deltas."""
    mains = (share.rho if isinstance(share, ZCDP) else share.epsilon for share in shares)
    deltas = (share.delta for share in shares if isinstance(share, ApproxDP))
    return math.fsum(mains), math.fsum(deltas)


def _limits(budget: Budget) -> tuple[float, float]:
    """Return the epsilon or rho of a budget, and its delta."""
    main = budget.rho if isinstance(budget, ZCDP) else budget.epsilon
    return main, budget.delta if isinstance(budget, ApproxDP) else 0.0


def _without_rounding(value: float, limit: float) -> float:
    """Return `limit` where a sum differs from it by rounding only."""
    return limit if limit and math.isclose(value, limit, rel_tol=10 * ROUNDING) else value
