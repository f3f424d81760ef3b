"""No noise without a ledger: every private release, with its sensitivity and its share.

A `Ledger` is opened with a budget and hands out noisy values. It refuses a release that would
overspend *before* any noise is drawn, and it records every release that it makes. Neighbours differ
by replacing one record.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import require
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.checks import check_count
from dpsco_core.privacy.composition import Tally, binding_notions, compose, fits, snap_to_budget
from dpsco_core.privacy.entries import Entry, describe_overspending
from dpsco_core.privacy.mechanisms.base import Mechanism, Opened, Released, Sequence
from dpsco_core.privacy.mechanisms.steps import BudgetExceeded


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

    def __str__(self) -> str:
        """Return the budget, what has been spent, and a line for every release."""
        lines = [f"Ledger with {self.budget}, of which {self.spent() or 'nothing'} is spent:"]
        lines += [
            f"  {e.label}: {e.mechanism}, sensitivity {e.sensitivity:.4g}, noise {e.noise:.4g}"
            for e in self._entries
        ]
        return "\n".join(lines)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The releases so far, in order."""
        return tuple(self._entries)

    @property
    def flaws(self) -> tuple[str, ...]:
        """One sentence for every release with less noise than its proof needs."""
        return tuple(e.flaw for e in self._entries if e.flawed)

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
        self._partitions += 1
        return tuple(
            Ledger(self.budget, _parent=self, _part=(self._partitions, i)) for i in range(blocks)
        )

    def spent(self) -> Budget | None:
        """Return the guarantee so far, in the notion of the budget; None before any release.

        It equals ``budget`` when the shares add up to it within rounding: a relative 1e-11, or 1e-9
        for an (epsilon, delta) budget. It is pure DP if pure releases alone leave the delta of such
        a budget unspent.
        """
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
        return () if not self._entries or self.flaws else binding_notions(self.entries, self.budget)

    def _record(self, *entries: Entry) -> None:
        """Record all of `entries`; raise `BudgetExceeded`, and record none, if they do not fit."""
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
