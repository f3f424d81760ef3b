"""One budget that several runs draw from: how their shares add up, and what is left.

A `SharedLedger` opens a plain `Ledger` for each run, with a part of the budget. The parts add by
sequential composition in the notion of the budget: epsilons of pure DP, rhos of zCDP, and epsilons
and deltas each of (epsilon, delta)-DP (basic composition). A sum of this kind is also a filter: it
holds where a share is chosen after a look at earlier answers (Rogers, Roth, Ullman and Vadhan 2016,
for pure and approximate DP; Feldman and Zrnic 2021, for zCDP).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.privacy.entries import ROUNDING, Entry
from dpsco_core.privacy.ledger import Ledger

Unit = Literal["record", "user"]


@dataclass
class SharedLedger:
    """One budget for several runs, each of which spends its share in a ledger of its own.

    For many Gaussian releases a budget of zCDP, ``SharedLedger(budget.to_zcdp())``, has more to
    give than sums of epsilons and deltas. The sum is for neighbours that differ in one record (or
    in all records of one user) in every data set that the runs read.

    Examples
    --------
    >>> shared = SharedLedger(ApproxDP(epsilon=2.0, delta=1e-6))
    >>> shared.share(ApproxDP(epsilon=0.5, delta=5e-7)).budget
    ApproxDP(epsilon=0.5, delta=5e-07)
    >>> shared.left()
    ApproxDP(epsilon=1.5, delta=5e-07)
    """

    budget: Budget  # the total budget of all runs
    _runs: list[Ledger] = field(default_factory=list, init=False, repr=False)
    # What a neighbour replaces, the same in all runs; None before any.
    _unit: Unit | None = field(default=None, init=False, repr=False)
    # The states in which the generators of the runs began.
    _states: set[str] = field(default_factory=set, init=False, repr=False)

    def __str__(self) -> str:
        """Return the budget, what has been set aside, and the ledger of every run."""
        head = (
            f"Shared ledger with {self.budget}, of which {self.spent() or 'nothing'} is set aside:"
        )
        return "\n".join([head, *map(str, self._runs)])

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The releases so far, run by run."""
        return tuple(entry for run in self._runs for entry in run.entries)

    def share(
        self, budget: Budget, *, unit: Unit = "record", rng: np.random.Generator | None = None
    ) -> Ledger:
        """Set a part of the budget aside for one run, and return the ledger of that run.

        Shares add up in the notion of the whole budget: epsilons of pure DP, rhos of zCDP, and
        epsilons and deltas each of (epsilon, delta)-DP; a pure share of the latter has delta 0. A
        share counts as a whole once it is set aside, whether or not its run succeeds, and may be
        chosen after a look at earlier answers.

        Raises `InvalidInput`, before anything is drawn, if the share exceeds what is left, or has
        another notion or unit.

        Parameters
        ----------
        budget : PureDP, ZCDP or ApproxDP
            The share.
        unit : str
            What a neighbour replaces: ``"record"`` or ``"user"``, the same in all shares.
        rng : numpy.random.Generator, optional
            The generator of the run. A state that an earlier run began with is refused: equal noise
            in two answers would cancel.
        """
        check_notion(budget, self.budget)
        require(unit in get_args(Unit), "unit", "record or user", unit)
        same_unit = self._unit in (None, unit)
        require(same_unit, "ledger", f"one of releases on {self._unit}s only", f"a {unit}")
        state = "" if rng is None else repr(rng.bit_generator.state)
        if state and state in self._states:
            raise InvalidInput(
                "rng must be the generator that earlier releases used, passed on, or a new one "
                "without their seed, got rng=the state of an earlier release, whose noise is equal."
            )
        run = Ledger(budget)
        left = self.left()
        # The share is added first, so that two threads never set the same rest aside.
        self._runs.append(run)
        if not fits_shares(self._shares(), self.budget):
            self._runs = [other for other in self._runs if other is not run]
            raise InvalidInput(
                f"budget must be at most what is left of the shared ledger with {self.budget}, "
                f"{left or 'nothing'}, got budget={budget}; nothing was drawn."
            )
        self._unit = unit
        if state:
            self._states.add(state)
        return run

    def left(self) -> Budget | None:
        """Return what the runs leave of the budget; None if nothing.

        An (epsilon, delta) budget whose delta is used up leaves a pure one.
        """
        return remaining(self.budget, self._shares())

    def spent(self) -> Budget | None:
        """Return the sum of the shares, whether or not the runs spent all of them; None before any.

        It equals ``budget`` when the shares add up to it within rounding. It is pure DP if pure
        shares alone leave the delta of an (epsilon, delta) budget unspent.
        """
        return add_shares(self._shares(), self.budget)

    def _shares(self) -> list[Budget]:
        """Return the budgets of the runs so far."""
        return [run.budget for run in self._runs]


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
