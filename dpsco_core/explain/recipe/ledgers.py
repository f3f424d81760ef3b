"""The ledger of one run, grouped for reading: where the budget went."""

import math
from dataclasses import dataclass
from itertools import groupby

from dpsco_core.base.errors import require
from dpsco_core.privacy.budget import ApproxDP, Budget, PureDP, zcdp_epsilon
from dpsco_core.privacy.entries import PURE, Entry
from dpsco_core.runs.study import Cell, Outcome, canonical, run_with_ledger
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Spending(Entry):
    """Entries of a ledger that are alike, with the label of the first: same mechanism and share."""

    count: int = 1  # the number of equal entries
    # The share of the run's spending that all these entries take. Of the blocks of a partition only
    # the most expensive one counts, which may take the whole share.
    share: float

    @property
    def records(self) -> str:
        """The records that the entries read: all, a block of them, or batches drawn from it."""
        block = "" if self.part is None else f"block {self.part[1] + 1}"
        if self.batch is None:
            return block or "all records"
        batch, count = self.batch
        return f"secret batches of {batch:,} of {count:,}" + (f" in {block}" if block else "")


@dataclass(frozen=True, kw_only=True)
class Account:
    """The releases of one run."""

    outcome: Outcome  # the outcome of the run; `not_applicable` if it could not run
    budget: Budget  # the budget that the run may spend
    spendings: tuple[Spending, ...]  # the entries in order, with consecutive equal entries merged
    entries: tuple[Entry, ...]  # the entries of the run, as its ledger records them

    @property
    def parallel(self) -> bool:
        """Whether some releases are on disjoint blocks, of which the dearest counts."""
        return any(entry.part is not None for entry in self.entries)


def account(scenario: Scenario) -> Account:
    """Run the first method of a scenario once, at its point, and return its account.

    Raises `InvalidInput` if the scenario has an axis.
    """
    require(scenario.axis is None, "axis", "left out of a single run", scenario.axis)
    cell = Cell(point=canonical(scenario), method=scenario.methods[0], x=None, trial=0)
    outcome, ledger = run_with_ledger(cell)
    return Account(
        outcome=outcome,
        budget=scenario.budget,
        spendings=spendings(ledger.entries, scenario.budget),
        entries=ledger.entries,
    )


def spendings(entries: tuple[Entry, ...], budget: Budget) -> tuple[Spending, ...]:
    """Return the entries in order, with equal neighbours as one.

    The share of an entry is its cost over the cost of all entries one after the other. Entries on
    the disjoint blocks of a partition cost as much as the dearest block. If some entries are
    (epsilon, delta)-DP as a whole, the cost of the others is the epsilon of their rho at the delta
    that is left.
    """
    prices = _price_entries(entries, budget)
    whole = _joint_price(entries, prices)
    shares = [price / whole if whole > 0 else math.nan for price in prices]
    spent = []
    for _, alike in groupby(zip(entries, shares, strict=True), lambda pair: _key_of_entry(pair[0])):
        (first_entry, _), *_ = pairs = list(alike)
        share = math.fsum(share for _, share in pairs)
        spent.append(Spending(**vars(first_entry), count=len(pairs), share=share))
    return tuple(spent)


def _price_entries(entries: tuple[Entry, ...], budget: Budget) -> list[float]:
    """Return the price of each entry, all in rho or all in epsilon."""
    is_pure = [entry.mechanism in PURE for entry in entries]
    if isinstance(budget, PureDP) or (isinstance(budget, ApproxDP) and all(is_pure)):
        return [entry.epsilon for entry in entries]
    if all(entry.rho for entry in entries):
        return [entry.rho for entry in entries]
    rhos = [0.0 if pure else entry.rho for entry, pure in zip(entries, is_pure, strict=True)]
    total = math.fsum(rhos)
    unit = 0.0
    if total > 0:
        assert isinstance(budget, ApproxDP)
        remaining_delta = budget.delta - math.fsum(entry.delta for entry in entries)
        unit = zcdp_epsilon(total, remaining_delta) / total if remaining_delta > 0 else math.nan
    return [entry.epsilon + unit * rho for entry, rho in zip(entries, rhos, strict=True)]


def _joint_price(entries: tuple[Entry, ...], prices: list[float]) -> float:
    """Return the price of all entries together.

    Of the entries on blocks of a partition, only those of the most expensive block count.
    """
    total = 0.0
    blocks: dict[tuple[int, int], float] = {}
    for entry, price in zip(entries, prices, strict=True):
        if entry.part is None:
            total += price
        else:
            blocks[entry.part] = blocks.get(entry.part, 0.0) + price
    dearest: dict[int, float] = {}
    for (partition, _), price in blocks.items():
        dearest[partition] = max(dearest.get(partition, 0.0), price)
    return total + math.fsum(dearest.values())


def _key_of_entry(entry: Entry) -> tuple[object, ...]:
    """Return the values that two entries must share to be drawn as one; labels may differ."""
    values = (value for name, value in vars(entry).items() if name != "label")
    return tuple(float(f"{v:.9g}") if isinstance(v, float) else v for v in values)
