"""Composition: the joint guarantee of private releases, and whether it fits a budget."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import require
from dpsco_core.privacy.budget import (
    EPSILON_MAX,
    RHO_MAX,
    ZCDP,
    ApproxDP,
    Budget,
    PureDP,
    concentrated_rho,
    gaussian_allowance,
    gaussian_epsilon,
    pure_epsilon,
    zcdp_epsilon,
    zcdp_rho,
)
from dpsco_core.privacy.concentration import choice_rho
from dpsco_core.privacy.entries import (
    APPROXIMATE,
    CONCENTRATED,
    PURE,
    ROUNDING,
    Entry,
    pure_share,
)
from dpsco_core.privacy.losses import Choices
from dpsco_core.privacy.selection import selection_delta, selection_epsilon

# The components are: the rho of Gaussian noise; the epsilon and rho of pure releases; the epsilon
# and delta of approximate releases; and the rho of generalized Gaussian noise.
Shares = tuple[float, ...]
NO_SHARES: Shares = (0.0,) * 6


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The total shares of some entries, by kind of release.

    `rho` is that of Gaussian noise, whose exact curve is known; `other_rho` that of other
    concentrated releases, of which only the zCDP guarantee is known. `pure` is the epsilon of pure
    releases, `pure_rho` the sum of what each of them costs in rho. `choices` are the exponential
    mechanisms, in their order; `choices_first` says whether only pure releases came before them.
    """

    rho: float = 0.0
    pure: float = 0.0
    pure_rho: float = 0.0
    approximate_epsilon: float = 0.0
    approximate_delta: float = 0.0
    other_rho: float = 0.0
    choices: Choices = ()
    choices_first: bool = True

    @property
    def all_pure(self) -> float:
        """The epsilon of all pure releases, exponential mechanisms included."""
        return math.fsum((self.pure, *(epsilon * count for epsilon, count in self.choices)))

    @property
    def concentrated(self) -> float:
        """The rho of all releases that have one, pure releases included."""
        chosen = (choice_rho(epsilon) * count for epsilon, count in self.choices)
        return math.fsum((self.rho, self.other_rho, self.pure_rho, *chosen))


def _entry_shares(entry: Entry) -> Shares:
    """Return what an entry of the ledger adds to each of the six sums of `Shares`."""
    if entry.mechanism == "exponential":
        return NO_SHARES
    if entry.mechanism in PURE:
        rho = pure_share(entry.mechanism, entry.epsilon)
        return (0.0, entry.epsilon, rho, 0.0, 0.0, 0.0)
    if entry.mechanism in APPROXIMATE:
        return (0.0, 0.0, 0.0, entry.epsilon, entry.delta, 0.0)
    if entry.mechanism == "generalized gaussian":
        return (0.0, 0.0, 0.0, 0.0, 0.0, entry.rho)
    return (entry.rho, 0.0, 0.0, 0.0, 0.0, 0.0)


class Tally:
    """A running composition that adds one entry at a time, in constant time.

    Releases on different blocks of one partition of the records compose in parallel: a neighbour
    changes one block, so the partition costs as much as its most expensive block, share by share,
    and exponential mechanisms run by run: the k-th run of a partition has the largest epsilon, and
    the largest count, of the k-th runs of its blocks. The sums are compensated (Neumaier 1974), so
    that rounding does not grow with their number.
    """

    def __init__(self) -> None:
        """Begin with totals of 0."""
        self._sums: list[_Sum] = [_Sum() for _ in NO_SHARES]
        self._blocks: dict[tuple[int, int], list[_Sum]] = {}
        self._dearest: dict[int, Shares] = {}
        self._choices: Choices = ()  # the exponential mechanisms on all records
        self._block_choices: dict[tuple[int, int], Choices] = {}
        self._dearest_choices: dict[int, Choices] = {}
        self._choices_first = True
        self._noise_drawn = False

    def totals(self, *entries: Entry) -> Totals:
        """Return the totals as if `entries`, all on the same block of records, were added."""
        extra = self._growth(*entries) if entries else NO_SHARES
        values = [s.value(x) for s, x in zip(self._sums, extra, strict=True)]
        choices_first, _ = self._order_with(*entries)
        choices = self._choices_with(*entries)
        # Exponential mechanisms on blocks may run in any order, and the curve that requires all
        # choices to come first depends on the order.
        has_block_choices = bool(self._block_choices) or any(
            entry.part is not None and entry.mechanism == "exponential" for entry in entries
        )
        return Totals(
            choices=choices,
            choices_first=choices_first and (len(choices) < 2 or not has_block_choices),
            rho=values[0],
            pure=values[1],
            pure_rho=values[2],
            approximate_epsilon=values[3],
            approximate_delta=values[4],
            other_rho=values[5],
        )

    def add(self, entry: Entry) -> None:
        """Add one entry to the running totals."""
        self._choices_first, self._noise_drawn = self._order_with(entry)
        if entry.mechanism == "exponential":
            self._add_choices(entry)
        growth = self._growth(entry)
        for total, x in zip(self._sums, growth, strict=True):
            total.add(x)
        if entry.part is not None:
            block = self._blocks.setdefault(entry.part, [_Sum() for _ in NO_SHARES])
            for total, x in zip(block, _entry_shares(entry), strict=True):
                total.add(x)
            partition = entry.part[0]
            dearest = self._dearest.get(partition, NO_SHARES)
            self._dearest[partition] = _largest_shares(dearest, tuple(t.value() for t in block))

    def _order_with(self, *entries: Entry) -> tuple[bool, bool]:
        """Return two answers about the releases with `entries` added.

        The first is whether only pure releases came before exponential mechanisms; the second is
        whether there is any other release, such as Gaussian noise.
        """
        choices_first, is_noise_drawn = self._choices_first, self._noise_drawn
        for entry in entries:
            if entry.mechanism == "exponential":
                choices_first = choices_first and not is_noise_drawn
            else:
                is_noise_drawn = is_noise_drawn or entry.mechanism not in PURE
        return choices_first, is_noise_drawn

    def _add_choices(self, entry: Entry) -> None:
        """Add the exponential mechanisms of `entry` to those of its block or of all records."""
        if entry.part is None:
            self._choices = (*self._choices, *_choices_of(entry))
            return
        block = (*self._block_choices.get(entry.part, ()), *_choices_of(entry))
        self._block_choices[entry.part] = block
        dearest = self._dearest_choices.get(entry.part[0], ())
        self._dearest_choices[entry.part[0]] = _dearest_choices(dearest, block)

    def _choices_with(self, *entries: Entry) -> Choices:
        """Return the exponential mechanisms that count, with those of `entries` added.

        All `entries` are on the same block of records.
        """
        added = tuple(
            choices
            for entry in entries
            if entry.mechanism == "exponential"
            for choices in _choices_of(entry)
        )
        on_all_records, dearest = self._choices, self._dearest_choices
        if added and entries[0].part is None:
            on_all_records = (*on_all_records, *added)
        elif added and entries[0].part is not None:
            part = entries[0].part
            block = (*self._block_choices.get(part, ()), *added)
            dearest = dearest | {part[0]: _dearest_choices(dearest.get(part[0], ()), block)}
        return (*on_all_records, *(choices for block in dearest.values() for choices in block))

    def _growth(self, *entries: Entry) -> Shares:
        """Return how much `entries`, all on the same block of records, add to each total."""
        share, part = _entry_shares(entries[0]), entries[0].part
        for entry in entries[1:]:
            share = tuple(x + y for x, y in zip(share, _entry_shares(entry), strict=True))
        if part is None:
            return share
        dearest = self._dearest.get(part[0], NO_SHARES)
        block = self._blocks.get(part)
        block_shares = (
            share if block is None else tuple(t.value(x) for t, x in zip(block, share, strict=True))
        )
        new = _largest_shares(dearest, block_shares)
        return tuple(x - y for x, y in zip(new, dearest, strict=True))


def _choices_of(entry: Entry) -> Choices:
    """Return one pair for an entry's exponential mechanisms: the epsilon of each, their number."""
    return ((entry.epsilon / entry.size, entry.size),)


def _dearest_choices(a: Choices, b: Choices) -> Choices:
    """Return, place by place, the larger epsilon and the larger count of two lists of choices.

    Together these cost at least as much as either list.
    """
    pairs = zip_longest(a, b, fillvalue=(0.0, 0))
    return tuple((max(x[0], y[0]), max(x[1], y[1])) for x, y in pairs)


class _Sum:
    """A sum with compensated rounding errors."""

    def __init__(self) -> None:
        """Begin with a sum of 0."""
        self._total = self._correction = 0.0

    def value(self, extra: float = 0.0) -> float:
        """Return the sum of all numbers that were added, plus `extra`."""
        # Most sums have at most two terms, and for two numbers `+` equals `fsum`.
        correction = self._correction
        return math.fsum((self._total, correction, extra)) if correction else self._total + extra

    def add(self, x: float) -> None:
        """Add a number, and keep the digits that the sum rounds away in a correction."""
        if not x:
            return
        total = self._total + x
        larger, smaller = (self._total, x) if abs(self._total) >= abs(x) else (x, self._total)
        self._correction += (larger - total) + smaller
        self._total = total


def _largest_shares(a: Shares, b: Shares) -> Shares:
    """Return the larger value of `a` and `b` for each of the six sums of `Shares`."""
    return tuple(max(p, q) for p, q in zip(a, b, strict=True))


def total_shares(entries: Iterable[Entry]) -> Totals:
    """Return the total shares of the budget that all of `entries` spend."""
    running = Tally()
    for entry in entries:
        running.add(entry)
    return running.totals()


def fits(total: Totals, budget: Budget) -> bool:
    """Return whether releases with these totals meet `budget`, up to rounding."""
    slack = 1 + ROUNDING
    # A NaN is a true value in Python, so that it counts as approximate here.
    is_approximate = bool(total.approximate_epsilon or total.approximate_delta)
    match budget:
        case PureDP(epsilon=epsilon):
            is_pure = not total.rho and not total.other_rho and not is_approximate
            return is_pure and total.all_pure <= epsilon * slack
        case ZCDP(rho=limit):
            return not is_approximate and total.concentrated <= limit * slack
        case ApproxDP(epsilon=epsilon, delta=delta):
            if not total.pure and not total.choices and not is_approximate:
                allowed = (
                    zcdp_rho(epsilon, delta) if total.other_rho else gaussian_allowance(budget)
                )
                return total.rho + total.other_rho <= allowed * slack
            if _is_choices_with_gaussians(total):
                curve = selection_delta(
                    epsilon * slack, total.rho, total.choices, choices_first=total.choices_first
                )
                if curve <= delta:
                    return True
            fits_delta = total.approximate_delta <= delta * slack
            return fits_delta and _approximate_epsilon(total, delta) <= epsilon * slack


def compose(entries: tuple[Entry, ...], budget: Budget) -> Budget:
    r"""Return the joint guarantee of `entries` in the notion of `budget`.

    Pure shares add in epsilon, and Gaussian shares in rho (adaptive composition, Bun and Steinke
    2016, Lemma 2.3). In an (epsilon, delta) budget Gaussian shares have the exact Gaussian curve,
    unless there are other concentrated releases, of which only the rho is known. Mixed releases of
    such a budget use the better of basic composition and of zCDP, in which each pure release has
    the rho of its mechanism. Exponential mechanisms also have the rules of `selection_delta`. Pure
    releases alone leave the delta unspent: together they are pure, as long as the sum of their
    epsilons meets the budget.

    Raises `InvalidInput` if an entry has no guarantee in that notion, or all of them together have
    none.
    """
    total = total_shares(entries)
    is_pure = not total.rho and not total.other_rho and not total.approximate_epsilon
    has_no_delta = is_pure and not total.approximate_delta
    match budget:
        case PureDP():
            require(is_pure, "entries", "pure releases under a pure budget", str(total))
            return PureDP(epsilon=_clip_rounding(total.all_pure, EPSILON_MAX))
        case ZCDP():
            is_concentrated = not total.approximate_epsilon
            require(
                is_concentrated, "entries", "concentrated releases under a zCDP budget", str(total)
            )
            return ZCDP(rho=_clip_rounding(total.concentrated, RHO_MAX))
        case ApproxDP(epsilon=limit) if has_no_delta and 0 < total.all_pure <= limit * (
            1 + ROUNDING
        ):
            return PureDP(epsilon=_clip_rounding(total.all_pure, EPSILON_MAX))
        case ApproxDP() if has_no_delta and not total.choices:
            return PureDP(epsilon=_clip_rounding(total.pure, EPSILON_MAX))
        case ApproxDP(delta=delta):
            epsilon = max(_clip_rounding(_approximate_epsilon(total, delta), EPSILON_MAX), 1e-300)
            mixed = total.rho or total.other_rho or total.choices
            return ApproxDP(
                epsilon=epsilon, delta=delta if mixed else total.approximate_delta or delta
            )


def _is_choices_with_gaussians(total: Totals) -> bool:
    """Return whether the releases are exponential mechanisms and Gaussian noise only."""
    is_only_gaussian = not total.pure and not total.other_rho
    is_only_gaussian = is_only_gaussian and not (
        total.approximate_epsilon or total.approximate_delta
    )
    return is_only_gaussian and bool(total.choices)


def _approximate_epsilon(total: Totals, delta: float) -> float:
    """Return the least epsilon at `delta` that the rules of `compose` prove for these totals.

    It is infinite if approximate releases leave no delta for releases that need some.
    """
    rho = total.rho + total.other_rho
    if not rho and not total.choices:
        return total.approximate_epsilon + total.pure
    rest = delta - total.approximate_delta
    if rest <= 0:
        return math.inf if rho else total.approximate_epsilon + total.all_pure
    epsilon = total.all_pure
    if rho:
        epsilon += zcdp_epsilon(rho, rest) if total.other_rho else gaussian_epsilon(rho, rest)
    if total.pure or total.choices:
        epsilon = min(epsilon, zcdp_epsilon(total.concentrated, rest))
    if total.choices and not total.other_rho:
        chosen_epsilon = selection_epsilon(
            rest, total.rho, total.choices, choices_first=total.choices_first
        )
        epsilon = min(epsilon, chosen_epsilon + total.pure)
    return total.approximate_epsilon + epsilon


def _clip_rounding(value: float, largest: float) -> float:
    """Return `value`, or `largest` if `value` exceeds it by rounding only."""
    return min(value, largest) if value <= largest * (1 + ROUNDING) else value


def snap_to_budget(spent: Budget, budget: Budget) -> Budget:
    """Return `budget` itself if `spent` differs from it by rounding only.

    Pure releases under an (epsilon, delta) budget then have its epsilon and no delta.
    """
    if isinstance(spent, PureDP) and isinstance(budget, ApproxDP):
        is_same = math.isclose(spent.epsilon, budget.epsilon, rel_tol=10 * ROUNDING)
        return PureDP(epsilon=budget.epsilon) if is_same else spent
    pairs = [(getattr(spent, name), getattr(budget, name)) for name in spent.__dataclass_fields__]
    # The exact Gaussian curve is inverted numerically, accurate to 1e-9.
    tolerance = 1e-9 if isinstance(budget, ApproxDP) else 10 * ROUNDING
    is_same = all(math.isclose(a, b, rel_tol=tolerance) for a, b in pairs)
    return budget if is_same or _have_same_rho(spent, budget) else spent


def _have_same_rho(spent: Budget, budget: Budget) -> bool:
    """Return whether two budgets with equal delta have the same rho, up to rounding.

    If delta pays for nearly all of it, a tiny epsilon depends on the last digits of rho.
    """
    if not (isinstance(spent, ApproxDP) and isinstance(budget, ApproxDP)):
        return False
    if spent.delta != budget.delta or not 0.5 < spent.epsilon / budget.epsilon < 2:
        return False
    spent_rho, budget_rho = gaussian_allowance(spent), gaussian_allowance(budget)
    return math.isclose(spent_rho, budget_rho, rel_tol=10 * ROUNDING)


def binding_notions(entries: Sequence[Entry], budget: Budget) -> tuple[Privacy, ...]:
    """Return the privacy notions whose lower bounds apply to releases with these entries.

    A notion is listed if the releases meet it at the `budget`: see `Ledger.bound_by`.
    """
    mechanisms = {e.mechanism for e in entries} - {"exponential"}
    total, slack = total_shares(entries), 1 + ROUNDING
    is_within_epsilon = total.all_pure <= pure_epsilon(budget) * slack
    pure: tuple[Privacy, ...] = ("pure",) if mechanisms <= set(PURE) and is_within_epsilon else ()
    is_within_rho = (
        mechanisms <= CONCENTRATED and total.concentrated <= concentrated_rho(budget) * slack
    )
    if isinstance(budget, ApproxDP) and not is_within_rho:
        return (*pure, "approx")
    return (*pure, "zcdp") if isinstance(budget, ZCDP) else (*pure, "zcdp", "approx")
