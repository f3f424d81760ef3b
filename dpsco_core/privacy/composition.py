"""What private releases guarantee together: their composition, and what fits a budget."""

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
from dpsco_core.privacy.entries import APPROXIMATE, CONCENTRATED, PURE, ROUNDING, Entry
from dpsco_core.privacy.selection import Choices, selection_delta, selection_epsilon

# rho, pure epsilon, epsilon and delta of approximate releases, and rho of noise that is shaped.
Shares = tuple[float, float, float, float, float]
NOTHING: Shares = (0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The shares of some entries: rho, pure epsilon, and epsilon and delta of approximate ones.

    `rho` is that of Gaussian noise, whose exact curve is known; `other_rho` that of other
    concentrated releases, of which only the zCDP guarantee is. `choices` are the exponential
    mechanisms, in their order; `choices_first`: all of them ran before anything but pure releases.
    """

    rho: float = 0.0
    pure: float = 0.0
    approximate_epsilon: float = 0.0
    approximate_delta: float = 0.0
    other_rho: float = 0.0
    choices: Choices = ()
    choices_first: bool = True

    @property
    def all_pure(self) -> float:
        """The epsilon of what is pure, exponential mechanisms included."""
        return math.fsum((self.pure, *(epsilon * count for epsilon, count in self.choices)))

    @property
    def concentrated(self) -> float:
        """The rho of everything that has one, pure releases included."""
        chosen = (epsilon**2 / 8 * count for epsilon, count in self.choices)
        return math.fsum((self.rho, self.other_rho, self.pure**2 / 2, *chosen))


def _share(entry: Entry) -> Shares:
    approximate = entry.mechanism in APPROXIMATE
    other = entry.mechanism == "generalized gaussian"
    if entry.mechanism == "exponential":
        return NOTHING
    return (
        0.0 if other else entry.rho,
        entry.epsilon if entry.mechanism in PURE else 0.0,
        entry.epsilon if approximate else 0.0,
        entry.delta if approximate else 0.0,
        entry.rho if other else 0.0,
    )


class Tally:
    """A running composition: one entry at a time, in constant time.

    Releases of different blocks of one partition of the records compose in parallel: a neighbour
    changes one block, so that the partition costs what its dearest block costs, share by share,
    and exponential mechanisms run by run: the k-th run of a partition has the largest epsilon, and
    the largest count, of the k-th runs of its blocks. The sums are compensated (Neumaier 1974), so
    that rounding does not grow with their number.
    """

    def __init__(self) -> None:
        self._sums: list[_Sum] = [_Sum() for _ in NOTHING]
        self._blocks: dict[tuple[int, int], list[_Sum]] = {}
        self._dearest: dict[int, Shares] = {}
        self._choices: Choices = ()  # those on all records
        self._block_choices: dict[tuple[int, int], Choices] = {}
        self._dearest_choices: dict[int, Choices] = {}
        self._choices_first = True
        self._noise_drawn = False

    def totals(self, *entries: Entry) -> Totals:
        """Return the totals so far, with `entries` added, which are all of the same part."""
        extra = self._growth(*entries) if entries else NOTHING
        values = [s.value(x) for s, x in zip(self._sums, extra, strict=True)]
        first, _ = self._order(*entries)
        return Totals(
            choices=self._all_choices(*entries),
            choices_first=first,
            rho=values[0],
            pure=values[1],
            approximate_epsilon=values[2],
            approximate_delta=values[3],
            other_rho=values[4],
        )

    def add(self, entry: Entry) -> None:
        """Add `entry`."""
        self._choices_first, self._noise_drawn = self._order(entry)
        if entry.mechanism == "exponential":
            self._choose(entry)
        growth = self._growth(entry)
        for total, x in zip(self._sums, growth, strict=True):
            total.add(x)
        if entry.part is not None:
            block = self._blocks.setdefault(entry.part, [_Sum() for _ in NOTHING])
            for total, x in zip(block, _share(entry), strict=True):
                total.add(x)
            partition = entry.part[0]
            dearest = self._dearest.get(partition, NOTHING)
            self._dearest[partition] = _largest(dearest, tuple(t.value() for t in block))

    def _order(self, *entries: Entry) -> tuple[bool, bool]:
        """Return whether choices come first with `entries` added, and whether noise was drawn."""
        first, noisy = self._choices_first, self._noise_drawn
        for entry in entries:
            if entry.mechanism == "exponential":
                first = first and not noisy
            else:
                noisy = noisy or entry.mechanism not in PURE
        return first, noisy

    def _choose(self, entry: Entry) -> None:
        """Add the exponential mechanisms of `entry`."""
        if entry.part is None:
            self._choices = (*self._choices, *_runs(entry))
            return
        block = (*self._block_choices.get(entry.part, ()), *_runs(entry))
        self._block_choices[entry.part] = block
        dearest = self._dearest_choices.get(entry.part[0], ())
        self._dearest_choices[entry.part[0]] = _dearer(dearest, block)

    def _all_choices(self, *entries: Entry) -> Choices:
        """Return all choices that count, with those of `entries`, which are of the same part."""
        added = tuple(run for e in entries if e.mechanism == "exponential" for run in _runs(e))
        whole, dearest = self._choices, self._dearest_choices
        if added and entries[0].part is None:
            whole = (*whole, *added)
        elif added and entries[0].part is not None:
            part = entries[0].part
            block = (*self._block_choices.get(part, ()), *added)
            dearest = dearest | {part[0]: _dearer(dearest.get(part[0], ()), block)}
        return (*whole, *(run for runs in dearest.values() for run in runs))

    def _growth(self, *entries: Entry) -> Shares:
        """By how much `entries`, all of the same part, would raise each total."""
        share, part = _share(entries[0]), entries[0].part
        for entry in entries[1:]:
            a, b, c, d, e = (x + y for x, y in zip(share, _share(entry), strict=True))
            share = (a, b, c, d, e)
        if part is None:
            return share
        dearest = self._dearest.get(part[0], NOTHING)
        block = self._blocks.get(part)
        own = (
            share if block is None else tuple(t.value(x) for t, x in zip(block, share, strict=True))
        )
        new = _largest(dearest, own)
        a, b, c, d, e = (x - y for x, y in zip(new, dearest, strict=True))
        return (a, b, c, d, e)


def _runs(entry: Entry) -> Choices:
    return ((entry.epsilon / entry.size, entry.size),)


def _dearer(a: Choices, b: Choices) -> Choices:
    """Return choices that cost at least what `a` does, and at least what `b` does."""
    none = (0.0, 0)
    pairs = zip_longest(a, b, fillvalue=none)
    return tuple((max(x[0], y[0]), max(x[1], y[1])) for x, y in pairs)


class _Sum:
    """A compensated sum."""

    def __init__(self) -> None:
        self._total = self._lost = 0.0

    def value(self, extra: float = 0.0) -> float:
        # Most sums have few terms or none: of two numbers `+` is what `fsum` is.
        lost = self._lost
        return math.fsum((self._total, lost, extra)) if lost else self._total + extra

    def add(self, x: float) -> None:
        if not x:
            return
        total = self._total + x
        larger, smaller = (self._total, x) if abs(self._total) >= abs(x) else (x, self._total)
        self._lost += (larger - total) + smaller
        self._total = total


def _largest(a: Shares, b: tuple[float, ...]) -> Shares:
    v, w, x, y, z = (max(p, q) for p, q in zip(a, b, strict=True))
    return (v, w, x, y, z)


def tally(entries: Iterable[Entry]) -> Totals:
    """Return the totals of `entries`."""
    running = Tally()
    for entry in entries:
        running.add(entry)
    return running.totals()


def fits(total: Totals, budget: Budget) -> bool:
    """Whether releases with these totals meet `budget`, up to rounding."""
    slack = 1 + ROUNDING
    approximate = bool(total.approximate_epsilon or total.approximate_delta)  # or NaN
    match budget:
        case PureDP(epsilon=epsilon):
            only_pure = not total.rho and not total.other_rho and not approximate
            return only_pure and total.all_pure <= epsilon * slack
        case ZCDP(rho=limit):
            return not approximate and total.concentrated <= limit * slack
        case ApproxDP(epsilon=epsilon, delta=delta):
            if not total.pure and not total.choices and not approximate:
                allowed = (
                    zcdp_rho(epsilon, delta) if total.other_rho else gaussian_allowance(budget)
                )
                return total.rho + total.other_rho <= allowed * slack
            if _chosen_with_gaussians(total):
                curve = selection_delta(
                    epsilon * slack, total.rho, total.choices, choices_first=total.choices_first
                )
                if curve <= delta:
                    return True
            fits_delta = total.approximate_delta <= delta * slack
            return fits_delta and _approximate(total, delta) <= epsilon * slack


def compose(entries: tuple[Entry, ...], budget: Budget) -> Budget:
    r"""Return what `entries` guarantee together, in the notion of `budget`.

    Pure shares add in epsilon, and Gaussian shares in rho (adaptive composition, Bun and Steinke
    2016, Lemma 2.3). In an (epsilon, delta) budget the latter have the exact Gaussian curve, unless
    other concentrated releases are among them, of which the rho is all that is known. Mixed
    releases of such a budget use the better of basic composition and of zCDP with
    :math:`\varepsilon^2/2` for the pure part. Exponential mechanisms have the rules of
    `selection_delta` besides. Pure releases alone leave its delta unspent: together they are pure,
    as long as the sum of their epsilons meets the budget.

    Raises `InvalidInput` if an entry has no guarantee in that notion, or all of them together have
    none.
    """
    total = tally(entries)
    only_pure = not total.rho and not total.other_rho and not total.approximate_epsilon
    no_delta = only_pure and not total.approximate_delta
    match budget:
        case PureDP():
            require(only_pure, "entries", "pure releases under a pure budget", str(total))
            return PureDP(epsilon=_at_most(total.all_pure, EPSILON_MAX))
        case ZCDP():
            concentrated = not total.approximate_epsilon
            require(
                concentrated, "entries", "concentrated releases under a zCDP budget", str(total)
            )
            return ZCDP(rho=_at_most(total.concentrated, RHO_MAX))
        case ApproxDP(epsilon=most) if no_delta and 0 < total.all_pure <= most * (1 + ROUNDING):
            return PureDP(epsilon=_at_most(total.all_pure, EPSILON_MAX))
        case ApproxDP() if no_delta and not total.choices:
            return PureDP(epsilon=_at_most(total.pure, EPSILON_MAX))
        case ApproxDP(delta=delta):
            epsilon = max(_at_most(_approximate(total, delta), EPSILON_MAX), 1e-300)
            mixed = total.rho or total.other_rho or total.choices
            return ApproxDP(
                epsilon=epsilon, delta=delta if mixed else total.approximate_delta or delta
            )


def _chosen_with_gaussians(total: Totals) -> bool:
    """Whether there are exponential mechanisms, and nothing else but Gaussian noise."""
    alone = not total.pure and not total.other_rho
    alone = alone and not (total.approximate_epsilon or total.approximate_delta)
    return alone and bool(total.choices)


def _approximate(total: Totals, delta: float) -> float:
    """Return the epsilon at `delta`; infinite where the approximate releases leave no delta."""
    rho = total.rho + total.other_rho
    if not rho and not total.choices:
        return total.approximate_epsilon + total.pure
    rest = delta - total.approximate_delta
    if rest <= 0:
        return math.inf if rho else total.approximate_epsilon + total.all_pure
    own = total.all_pure
    if rho:
        own += zcdp_epsilon(rho, rest) if total.other_rho else gaussian_epsilon(rho, rest)
    if total.pure or total.choices:
        own = min(own, zcdp_epsilon(total.concentrated, rest))
    if total.choices and not total.other_rho:
        chosen = selection_epsilon(
            rest, total.rho, total.choices, choices_first=total.choices_first
        )
        own = min(own, chosen + total.pure)
    return total.approximate_epsilon + own


def _at_most(value: float, largest: float) -> float:
    """Return `largest` where `value` exceeds it by rounding only."""
    return min(value, largest) if value <= largest * (1 + ROUNDING) else value


def snap(spent: Budget, budget: Budget) -> Budget:
    """Return `budget` itself where `spent` differs from it by rounding only.

    Pure releases under an (epsilon, delta) budget have its epsilon then, and no delta.
    """
    if isinstance(spent, PureDP) and isinstance(budget, ApproxDP):
        same = math.isclose(spent.epsilon, budget.epsilon, rel_tol=10 * ROUNDING)
        return PureDP(epsilon=budget.epsilon) if same else spent
    pairs = [(getattr(spent, name), getattr(budget, name)) for name in spent.__dataclass_fields__]
    # The exact Gaussian curve is inverted numerically: its round trip is good to 1e-9.
    tolerance = 1e-9 if isinstance(budget, ApproxDP) else 10 * ROUNDING
    same = all(math.isclose(a, b, rel_tol=tolerance) for a, b in pairs)
    return budget if same or _same_rho(spent, budget) else spent


def _same_rho(spent: Budget, budget: Budget) -> bool:
    """Whether two approximate budgets of one delta stand for the same rho, to rounding.

    Where delta pays for nearly all of it, a tiny epsilon turns on the last digits of rho.
    """
    if not (isinstance(spent, ApproxDP) and isinstance(budget, ApproxDP)):
        return False
    if spent.delta != budget.delta or not 0.5 < spent.epsilon / budget.epsilon < 2:
        return False
    one, two = gaussian_allowance(spent), gaussian_allowance(budget)
    return math.isclose(one, two, rel_tol=10 * ROUNDING)


def binding(entries: Sequence[Entry], budget: Budget) -> tuple[Privacy, ...]:
    """Return the classes of lower bounds that bind what has made `entries`; see the ledger."""
    used = {e.mechanism for e in entries} - {"exponential"}
    total, slack = tally(entries), 1 + ROUNDING
    within = total.all_pure <= pure_epsilon(budget) * slack
    pure: tuple[Privacy, ...] = ("pure",) if used <= set(PURE) and within else ()
    small = used <= CONCENTRATED and total.concentrated <= concentrated_rho(budget) * slack
    if isinstance(budget, ApproxDP) and not small:
        return (*pure, "approx")
    return (*pure, "zcdp") if isinstance(budget, ZCDP) else (*pure, "zcdp", "approx")
