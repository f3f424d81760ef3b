"""No noise without a ledger: every private release, with its sensitivity and its share.

A `Ledger` is opened with a budget and hands out noisy values. It refuses a release that would
overspend *before* any noise is drawn, and it records every release that it makes. Neighbours differ
by replacing one record.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.checks import check_count
from dpsco_core.privacy.composition import Tally, binding_notions, compose, fits, snap_to_budget
from dpsco_core.privacy.entries import Entry, describe_overspending
from dpsco_core.privacy.mechanisms.base import Mechanism, Opened, Released, Sequence
from dpsco_core.privacy.mechanisms.steps import BudgetExceeded
from dpsco_core.privacy.sharing import add_shares, check_notion, fits_shares, remaining

Unit = Literal["record", "user"]


@dataclass
class Ledger:
    """An accountant for every private release of one run.

    Examples
    --------
    >>> import numpy as np
    >>> from dpsco_core.privacy import ZCDP, GaussianNoise
    >>> ledger, rng = Ledger(ZCDP(rho=0.5)), np.random.default_rng(0)
    >>> x = ledger.release(GaussianNoise(l2_sensitivity=0.1, rho=0.5), np.zeros(3), rng)
    >>> ledger.spent()
    ZCDP(rho=0.5)
    >>> ledger.entries[0].noise
    0.1
    """

    budget: Budget  # the total budget of the run
    # the reason of a refusal; empty before any
    refusal: str = field(default="", init=False, repr=False, compare=False)
    _entries: list[Entry] = field(default_factory=list, repr=False)
    _tally: Tally = field(default_factory=Tally, repr=False, compare=False)
    _partitions: int = field(default=0, repr=False)
    _parent: Ledger | None = field(default=None, repr=False, compare=False)
    _part: tuple[int, int] | None = field(default=None, repr=False)
    # The ledgers of the runs that share the budget, the unit of their neighbours, and the states in
    # which their generators were.
    _shares: list[Ledger] = field(default_factory=list, repr=False, compare=False)
    _unit: Unit | None = field(default=None, repr=False, compare=False)
    _states: set[str] = field(default_factory=set, repr=False, compare=False)

    def __str__(self) -> str:
        """Return the budget, what has been spent, and a line for every release."""
        lines = [f"Ledger with {self.budget}, of which {self.spent()} is spent:"]
        lines += [
            f"  {e.label}: {e.mechanism}, sensitivity {e.sensitivity:.4g}, noise {e.noise:.4g}"
            for e in self.entries
        ]
        return "\n".join(lines)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The releases so far, in order; of a shared ledger, run by run."""
        return (*self._entries, *(entry for share in self._shares for entry in share.entries))

    @property
    def flaws(self) -> tuple[str, ...]:
        """One sentence for every release with less noise than its proof needs."""
        return tuple(e.flaw for e in self.entries if e.flawed)

    def release(
        self,
        mechanism: Mechanism[Released],
        value: Vector,
        rng: np.random.Generator,
        *,
        label: str = "",
    ) -> Released:
        """Release `value`, the exact statistic, through a mechanism.

        Raises `BudgetExceeded`, before anything is drawn, if the share does not fit.

        Parameters
        ----------
        label : str
            What is released, in words; the mechanism's own label if it is empty.
        """
        self._record(mechanism.entry(value, label or mechanism.label))
        return mechanism.draw(value, rng)

    def open(self, sequence: Sequence[Opened], *, label: str = "") -> Opened:
        """Account for a sequence of releases and return the object that makes them in order.

        Raises `BudgetExceeded` if they do not fit.
        """
        self._record(*sequence.entries(label or sequence.label))
        return sequence.open()

    def disjoint(self, blocks: int) -> tuple[Ledger, ...]:
        """Return one ledger for each of `blocks` disjoint blocks of the records.

        What they spend counts once, at its largest, in this ledger: a neighbour changes one block.
        The blocks must be fixed by index, or by randomness independent of the data, and a release
        on a block may depend on the data of other blocks only through their releases.

        Raises `InvalidInput` unless `blocks` is a positive integer, and if this is itself the
        ledger of a block.
        """
        check_count("blocks", blocks)
        is_whole = self._parent is None
        require(is_whole, "ledger", "that of all records, not of a block", "the ledger of a block")
        self._require_unshared()
        self._partitions += 1
        return tuple(
            Ledger(self.budget, _parent=self, _part=(self._partitions, i)) for i in range(blocks)
        )

    def share(
        self, budget: Budget, *, unit: Unit = "record", rng: np.random.Generator | None = None
    ) -> Ledger:
        """Set a part of the budget aside for one run, and return the ledger of that run.

        Shares add up in the notion of this ledger's budget: epsilons of pure DP, rhos of zCDP, and
        epsilons and deltas each of (epsilon, delta)-DP; a pure share of the latter has delta 0. A
        share counts as a whole once it is set aside, and may be chosen after a look at earlier
        answers. For many Gaussian releases a ledger of zCDP, ``Ledger(budget.to_zcdp())``, has more
        to give than sums of epsilons and deltas. The sum is for neighbours that differ in one
        record (or in all records of one user) in every data set that the runs read.

        Raises `InvalidInput`, before anything is drawn, if the share exceeds what is left, or has
        another notion or unit; and if this ledger has releases of its own, or is that of a block.

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
        is_whole = self._parent is None and not self._entries and not self._partitions
        condition = "one without releases of its own, to be shared"
        require(is_whole, "ledger", condition, "the ledger of a run")
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
        self._shares.append(run)
        if not fits_shares([share.budget for share in self._shares], self.budget):
            self._shares = [share for share in self._shares if share is not run]
            raise InvalidInput(
                f"budget must be at most what is left of the shared ledger with {self.budget}, "
                f"{left or 'nothing'}, got budget={budget}; nothing was drawn."
            )
        self._unit = unit
        if state:
            self._states.add(state)
        return run

    def left(self) -> Budget | None:
        """Return what the runs that share this ledger leave of its budget; None if nothing.

        An (epsilon, delta) budget whose delta is used up leaves a pure one. Raises `InvalidInput`
        for the ledger of a single run, whose releases do not add up to shares.
        """
        is_shared = not self._entries and self._parent is None
        require(is_shared, "ledger", "one that runs share", "the ledger of a run")
        return remaining(self.budget, [share.budget for share in self._shares])

    def spent(self) -> Budget | None:
        """Return the guarantee so far, in the notion of the budget; None before any release.

        It equals ``budget`` when the shares add up to it within rounding: a relative 1e-11, or 1e-9
        for an (epsilon, delta) budget. It is pure DP if pure releases alone leave the delta of such
        a budget unspent.

        Of a shared ledger it is the sum of the shares, whether or not the runs spent all of them.
        """
        if self._shares:
            return add_shares([share.budget for share in self._shares], self.budget)
        if not self._entries:
            return None
        return snap_to_budget(compose(self.entries, self.budget), self.budget)

    def bound_by(self) -> tuple[Privacy, ...]:
        """Return the notions of the lower bounds that apply to this run at the setting's own
        budget.

        ``"pure"`` is epsilon-DP at `pure_epsilon` of the budget. ``"zcdp"`` is zCDP at its
        `concentrated_rho`, which need not hold for a pure run under an (epsilon, delta) budget, nor
        for a shuffled run. Exponential mechanisms, which have both notions, count by their sums.
        ``"approx"`` is (epsilon, delta)-DP, with delta 0 for a pure budget. It is empty before any
        release, and if a release has less noise than its proof needs.
        """
        return () if not self.entries or self.flaws else binding_notions(self.entries, self.budget)

    def _record(self, *entries: Entry) -> None:
        """Record all of `entries`; raise `BudgetExceeded`, and record none, if they do not fit."""
        self._require_unshared()
        if self._parent is not None:
            entries = tuple(replace(entry, part=self._part) for entry in entries)
            self._parent._record(*entries)
        elif not fits(self._tally.totals(*entries), self.budget):
            self.refusal = describe_overspending(entries, self.budget)
            raise BudgetExceeded(self.refusal)
        else:
            for entry in entries:
                self._tally.add(entry)
        self._entries.extend(entries)

    def _require_unshared(self) -> None:
        """Raise `InvalidInput` if runs share this ledger, which then has no releases of its own."""
        condition = "the ledger of a run, as `share` returns it"
        require(not self._shares, "ledger", condition, "a shared ledger")
