r"""Trade-off curves: how often an attacker must err (theory/trade-off-curves.md, 1 to 4).

An attacker knows everything but which of two values one record has, and accepts a share x of false
alarms. The trade-off curve f(x) is the least share of misses that is left (Dong, Roth and Su 2022).
Everything here is a lower bound on it, so that no attack on what is proven private lies below.
Neighbours replace one record.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

import numpy as np
from scipy.special import expit, ndtr, ndtri

from dpsco_core.base.arrays import Vector
from dpsco_core.privacy.budget import (
    ZCDP,
    ApproxDP,
    Budget,
    PureDP,
    gaussian_allowance,
    gaussian_epsilon,
)
from dpsco_core.privacy.composition import total_shares
from dpsco_core.privacy.entries import APPROXIMATE, PURE, Entry
from dpsco_core.privacy.losses import LARGEST_EXPONENT, LossLaw

POINTS = 8192  # the number of lattice points between 0 and the largest loss that counts
MOST_POINTS = 1 << 17
TAIL = 1e-18
LINES = 4000  # the number of points of a curve whose tangent lines bound the trade-off
ORDERS = np.geomspace(1e-5, 1e5, 600)  # the Renyi orders of the conversion from zCDP, minus 1
FARTHEST = 300.0  # a larger loss of privacy counts as total
FALSE_ALARMS = (0.001, 0.01, 0.1)
# These entries are (epsilon, delta)-DP only together: the noise is not private without the test.
TESTED = ("noisy test", "tested gaussian")

# The cost of a release: its kind, then its epsilon and delta, or its rho.
Cost = tuple[str, float, float]


@dataclass(frozen=True, eq=False, kw_only=True)
class TradeoffCurve:
    """A lower bound on the misses of every attack, as a function of its false alarms."""

    epsilons: Vector  # shape (k,): epsilons of at least 0
    deltas: Vector  # shape (k,): the delta that is proven at each epsilon
    # The distance of the two unit Gaussians that an attacker has to tell apart, if the curve is
    # theirs: it is then exact, and `misses` uses nothing else.
    mu: float | None = None

    def misses(self, false_alarms: Vector) -> Vector:
        r"""Return the least share of misses at each share of false alarms, all in [0, 1].

        :math:`\Phi(\Phi^{-1}(1-x)-\mu)` of Gaussian noise, and otherwise the largest of the lines
        :math:`1-\delta-e^\varepsilon x` and :math:`e^{-\varepsilon}(1-\delta-x)`, which are the
        definition of (epsilon, delta)-DP for a test and for its complement.
        """
        x = np.asarray(false_alarms, dtype=np.float64)
        if self.mu is not None:
            return np.asarray(ndtr(-ndtri(x) - self.mu))
        best = np.zeros_like(x)
        for epsilon, delta in zip(self.epsilons, self.deltas, strict=True):
            proper_mass = 1 - delta
            steepness = math.exp(epsilon) if epsilon <= LARGEST_EXPONENT else math.inf
            # The product of infinity and 0, which is no number, is 0 here.
            weighted_alarms = np.where(x > 0, steepness * np.where(x > 0, x, 1.0), 0.0)
            best = np.maximum(best, proper_mass - weighted_alarms)
            best = np.maximum(best, math.exp(-epsilon) * (proper_mass - x))
        return best

    def epsilon(self, delta: float) -> float:
        """Return an epsilon that the curve proves at a delta; infinite if there is none."""
        if self.mu is not None:
            return gaussian_epsilon(self.mu**2 / 2, delta)
        proven = np.flatnonzero(self.deltas <= delta)
        if not len(proven):
            return math.inf
        place = int(proven[0])
        if place == 0:
            return float(self.epsilons[0])
        # A curve is convex in e^epsilon, so it lies below its chords.
        low, high = self.epsilons[place - 1], self.epsilons[place]
        share = (self.deltas[place - 1] - delta) / (self.deltas[place - 1] - self.deltas[place])
        return float(low + math.log1p(min(share, 1.0) * math.expm1(high - low)))

    @property
    def advantage(self) -> float:
        r"""The largest share of correct alarms minus false alarms, over all attacks.

        The curve is convex and its own inverse, so that the attack has as many misses as false
        alarms: :math:`(1-\delta)/(1+e^\varepsilon)` on a line.
        """
        if self.mu is not None:
            return float(2 * ndtr(self.mu / 2) - 1)
        return float(1 - 2 * np.max((1 - self.deltas) * expit(-self.epsilons)))


def gaussian_curve(rho: float) -> TradeoffCurve:
    r"""Return the curve of Gaussian releases with fixed budget shares: :math:`\mu=\sqrt{2\rho}`.

    `rho` is the sum over all of them; exact (theory/trade-off-curves.md, 2).

    Examples
    --------
    >>> curve = gaussian_curve(0.0280144819)  # (1, 1e-6)-DP
    >>> [round(float(y), 6) for y in curve.misses(np.array([0.001, 0.01, 0.1]))]
    [0.997838, 0.981675, 0.851953]
    """
    return TradeoffCurve(epsilons=np.zeros(0), deltas=np.zeros(0), mu=math.sqrt(2 * rho))


def budget_curve(budget: Budget) -> TradeoffCurve:
    """Return the curve of every algorithm that meets a budget.

    The curve of rho-zCDP is below that of Gaussian noise of this rho, which is `gaussian_curve`.
    """
    match budget:
        case PureDP(epsilon=epsilon):
            return TradeoffCurve(epsilons=np.array([epsilon]), deltas=np.zeros(1))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return TradeoffCurve(epsilons=np.array([epsilon]), deltas=np.array([delta]))
        case ZCDP(rho=rho):
            epsilons = np.linspace(0.0, min(_zcdp_loss_bound(rho), LARGEST_EXPONENT), LINES)
            return TradeoffCurve(epsilons=epsilons, deltas=concentrated_deltas(rho, epsilons))


def concentrated_deltas(rho: float, epsilons: Vector) -> Vector:
    r"""Return the delta at each epsilon of an arbitrary rho-zCDP release, shape (k,).

    :math:`\min_\alpha e^{(\alpha-1)(\alpha\rho-\varepsilon)}\frac{(1-1/\alpha)^\alpha}{\alpha-1}`
    (Canonne, Kamath and Steinke 2020, Proposition 12). Any order gives a valid delta. Negative
    epsilons are mirrored: :math:`\delta(-x)=1-e^{-x}+e^{-x}\delta(x)`.
    """
    sizes = np.abs(epsilons)[:, None]
    order = 1 + ORDERS
    with np.errstate(over="ignore"):
        logs = (
            ORDERS * (order * rho - sizes)
            + order * (np.log(ORDERS) - np.log(order))
            - np.log(ORDERS)
        )
    deltas = np.exp(np.minimum(logs.min(axis=1), 0.0))
    mirrored = -np.expm1(-np.abs(epsilons)) + np.exp(-np.abs(epsilons)) * deltas
    return np.asarray(np.where(epsilons < 0, mirrored, deltas))


@dataclass(frozen=True, kw_only=True)
class Odds:
    """The least share of misses at one share of false alarms, over all attacks."""

    false_alarms: float
    least_misses: float  # the smallest share of misses under every algorithm that meets the budget
    # The smallest share of misses for Gaussian noise within the budget; None if it may not be used.
    gaussian_least_misses: float | None


def odds(budget: Budget, false_alarms: tuple[float, ...] = FALSE_ALARMS) -> tuple[Odds, ...]:
    """Return the least shares of misses of any attacker against a budget.

    Examples
    --------
    >>> row = odds(ApproxDP(epsilon=1.0, delta=1e-6), (0.01,))[0]
    >>> round(row.least_misses, 4), round(row.gaussian_least_misses, 4)
    (0.9728, 0.9817)
    """
    x, rho = np.array(false_alarms), gaussian_allowance(budget)
    exact: Sequence[float | None] = (
        gaussian_curve(rho).misses(x).tolist() if rho else [None] * len(x)
    )
    return tuple(
        Odds(false_alarms=alarms, least_misses=misses, gaussian_least_misses=gaussian)
        for alarms, misses, gaussian in zip(
            false_alarms, budget_curve(budget).misses(x).tolist(), exact, strict=True
        )
    )


def ledger_curve(entries: Sequence[Entry]) -> TradeoffCurve:
    """Return the curve of all releases of a ledger whose budget shares were fixed in advance.

    Gaussian releases alone have their exact curve. Otherwise every release is replaced by a pair of
    laws that dominates it, and the losses of the pairs are added (theory/trade-off-curves.md, 3).
    A partition of the records costs what the worst of its blocks does at each epsilon.
    """
    if all(entry.mechanism == "gaussian" for entry in entries):
        return gaussian_curve(total_shares(entries).rho)
    return _mixed_curve(*_group_by_block(entries))


def _group_by_block(
    entries: Sequence[Entry],
) -> tuple[tuple[Cost, ...], tuple[tuple[tuple[Cost, ...], ...], ...]]:
    """Return the sorted costs of releases on all records, then those on blocks of records.

    The second has a tuple for each partition of the records, with the costs of each block in it;
    equal blocks of a partition are listed once.
    """
    tested = total_shares(entry for entry in entries if entry.mechanism in TESTED)
    common: list[Cost] = []
    if tested.approximate_epsilon or tested.approximate_delta:
        common.append(("approximate", tested.approximate_epsilon, tested.approximate_delta))
    blocks: dict[int, dict[int, list[Cost]]] = {}
    for entry in entries:
        if entry.mechanism in TESTED:
            continue
        costs = _costs(entry)
        if entry.part is None:
            common += costs
        else:
            number, block = entry.part
            blocks.setdefault(number, {}).setdefault(block, []).extend(costs)
    partitions = tuple(
        tuple(sorted({tuple(sorted(costs)) for costs in partition.values()}))
        for partition in blocks.values()
    )
    return tuple(sorted(common)), partitions


def _costs(entry: Entry) -> list[Cost]:
    """Return the costs of an entry's releases: one, or one for each exponential mechanism."""
    match entry.mechanism:
        case "gaussian":
            return [("gaussian", entry.rho, 0.0)]
        case "generalized gaussian":
            return [("concentrated", entry.rho, 0.0)]
        case "exponential":
            return [("choice", entry.epsilon / entry.size, 0.0)] * entry.size
        # A pair of Laplace distributions is known to dominate only for noise on a single number.
        case "laplace" if entry.size == 1:
            return [("laplace", entry.epsilon, 0.0)]
        case mechanism if mechanism in PURE:
            return [("approximate", entry.epsilon, 0.0)]
        case mechanism:
            assert mechanism in APPROXIMATE
            return [("approximate", entry.epsilon, entry.delta)]


@lru_cache(maxsize=256)
def _mixed_curve(
    common: tuple[Cost, ...], partitions: tuple[tuple[tuple[Cost, ...], ...], ...]
) -> TradeoffCurve:
    """Return the curve of all releases, with costs as `_group_by_block` lists them."""
    worst = [max(partition, key=_largest_loss) for partition in partitions]
    reach = min(_largest_loss((*common, *(cost for costs in worst for cost in costs))), FARTHEST)
    spacing = reach / POINTS
    total = _loss_law(common, spacing)
    for partition in partitions:
        total = total.plus(_worst_block([_loss_law(costs, spacing) for costs in partition]))
    top = total.spacing * (total.first_index + len(total.weights) - 1)
    epsilons = np.linspace(0.0, min(max(top, 0.0), LARGEST_EXPONENT), LINES)
    return TradeoffCurve(epsilons=epsilons, deltas=total.deltas(epsilons))


def _zcdp_loss_bound(rho: float) -> float:
    """Return a loss that rho-zCDP releases exceed with a probability below 1e-20."""
    return rho + 10 * math.sqrt(2 * rho)


def _largest_loss(costs: Iterable[Cost]) -> float:
    """Return a loss that releases with these costs rarely exceed."""
    epsilons, rhos = 0.0, 0.0
    for kind, size, _ in costs:
        if kind in ("gaussian", "concentrated"):
            rhos += size
        else:
            epsilons += size
    return max(epsilons + (_zcdp_loss_bound(rhos) if rhos else 0.0), 1e-12)


def _loss_law(costs: tuple[Cost, ...], spacing: float) -> LossLaw:
    """Return the distribution of the total loss of releases on the same records."""
    start = LossLaw(
        spacing=spacing, first_index=0, weights=np.ones(1), most_points=MOST_POINTS, tail=TAIL
    )
    # The rhos of Gaussian noise add up, and so do those of releases with only a zCDP guarantee.
    sums = {
        kind: math.fsum(size for name, size, _ in costs if name == kind)
        for kind in ("gaussian", "concentrated")
    }
    laws = [_single_release_law((kind, rho, 0.0), spacing) for kind, rho in sums.items() if rho]
    counts = Counter(cost for cost in costs if cost[0] not in sums)
    laws += [_refine(_single_release_law(c, spacing)).repeated(k) for c, k in counts.items()]
    return reduce(lambda total, law: total.plus(_refine(law)), laws, start)


def _refine(law: LossLaw) -> LossLaw:
    """Return the same distribution, which may have more points and thinner tails from now on."""
    return replace(law, most_points=MOST_POINTS, tail=TAIL)


def _single_release_law(cost: Cost, spacing: float) -> LossLaw:
    """Return the loss distribution of a pair that dominates one release."""
    kind, size, delta = cost
    if _largest_loss([cost]) > FARTHEST:
        return LossLaw(spacing=spacing, first_index=0, weights=np.zeros(1), lost_mass=1.0)
    match kind:
        case "gaussian":
            return LossLaw.of_gaussian(size, spacing)
        case "laplace":
            return LossLaw.of_laplace(size, spacing)
        case "choice":
            half = max(12, math.ceil(size / spacing))
            return LossLaw.of_choice(size, half).on_lattice(spacing)
        case "concentrated":
            high = math.ceil(_zcdp_loss_bound(size) / spacing)
            epsilons = spacing * np.arange(-high, high + 1, dtype=np.float64)
            return LossLaw.of_curve(concentrated_deltas(size, epsilons), -high, spacing)
        case _:
            return LossLaw.of_randomised_response(size, delta, spacing)


def _worst_block(laws: Sequence[LossLaw]) -> LossLaw:
    """Return the distribution whose curve is the maximum of the given curves.

    A neighbour changes one block. The largest of curves is convex in the exponential of epsilon, so
    that it is the curve of a pair of laws, which dominates every block.
    """
    if len(laws) == 1:
        return laws[0]
    wide = max(law.spacing for law in laws)
    low = min(math.floor(law.first_index * law.spacing / wide) for law in laws)
    high = max(
        math.ceil((law.first_index + len(law.weights) - 1) * law.spacing / wide) for law in laws
    )
    epsilons = wide * np.arange(low, high + 1, dtype=np.float64)
    deltas = np.max([law.deltas(epsilons) for law in laws], axis=0)
    return _refine(LossLaw.of_curve(deltas, low, wide))
