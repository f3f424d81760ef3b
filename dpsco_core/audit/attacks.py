r"""An audit read as an attack: its false alarms and misses, against the trade-off curve of a claim.

The runs on two neighbours are samples of two laws. One half of them chooses a direction and a
threshold, the other half counts how often the threshold is wrong on either side. The two shares
lie in a box of two intervals of Clopper and Pearson, except with a stated probability. The claim is
refuted only if the whole box is in the impossible region, that is if its upper right corner is
below the curve. A box that crosses the curve proves nothing, and one above it does not prove
privacy (theory/trade-off-curves.md, 4).

The curve and the bounds on epsilon are two tests of one claim, and `judge` gives their joint
verdict. If the claim holds, the audit refutes it with probability at most beta, one minus its
confidence. The bounds of all looks and both pairs exceed the true epsilon with probability at most
beta/2. The box of a pair has the confidence 1 - beta/2, so that each of its four ends is wrong with
probability at most beta/8. Only the two upper ends refute: beta/4 for a pair, and beta/2 for two.
By the union bound both halves together are beta, however the two tests depend on each other.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.audit.engine import PAIRS, AuditFindings, Verdict
from dpsco_core.audit.statistics import proportion_high, proportion_low, statistics
from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.privacy.budget import ApproxDP, PureDP
from dpsco_core.privacy.tradeoff import TradeoffCurve, budget_curve, ledger_curve

CUTS = 400  # the number of candidate thresholds


@dataclass(frozen=True, kw_only=True)
class Attack:
    """The results of one attack on a mechanism, and the limits of the mechanism's claim."""

    false_alarms: int  # how often the attack took the neighbour for the original data set
    negatives: int  # the number of test runs on the neighbour
    misses: int  # how often the attack took the original data set for the neighbour
    positives: int  # the number of test runs on the data set
    confidence: float  # a lower bound on the probability that the box contains the true shares
    # The interval of the share of false alarms, one side of the box.
    alarm_interval: tuple[float, float]
    # The interval of the share of misses, the other side of the box.
    miss_interval: tuple[float, float]
    # the smallest share of misses that the claim allows at the right edge of the box
    least_misses: float

    @property
    def alarm_share(self) -> float:
        """The measured share of false alarms."""
        return self.false_alarms / self.negatives

    @property
    def miss_share(self) -> float:
        """The measured share of misses."""
        return self.misses / self.positives

    @property
    def refutes(self) -> bool:
        """Whether the upper right corner of the box lies below the curve of the claim."""
        return self.miss_interval[1] < self.least_misses


def measured(
    curve: TradeoffCurve,
    *,
    false_alarms: int,
    negatives: int,
    misses: int,
    positives: int,
    confidence: float,
) -> Attack:
    r"""Return the attack with these counts of errors, and its box at the given confidence.

    `curve` is that of the claim. Both sides of the box have a confidence of :math:`1-\beta/2` if
    the box has :math:`1-\beta`.

    Examples
    --------
    >>> from dpsco_core.privacy.tradeoff import gaussian_curve
    >>> counts = {"negatives": 1000, "positives": 1000, "confidence": 0.95}
    >>> attack = measured(gaussian_curve(0.5), false_alarms=10, misses=500, **counts)
    >>> round(attack.alarm_interval[1], 6), round(attack.miss_interval[1], 6), attack.refutes
    (0.019633, 0.535885, True)
    """
    require(0 < confidence < 1, "confidence", "above 0 and below 1", confidence)
    for name, count, runs in (
        ("false_alarms", false_alarms, negatives),
        ("misses", misses, positives),
    ):
        require(runs >= 1, "runs", "a positive integer", runs)
        require(0 <= count <= runs, name, f"from 0 to {runs}", count)
    level = (1 - confidence) / 4
    alarms, missed = (
        (float(proportion_low(count, runs, level)), float(proportion_high(count, runs, level)))
        for count, runs in ((false_alarms, negatives), (misses, positives))
    )
    return Attack(
        false_alarms=false_alarms,
        negatives=negatives,
        misses=misses,
        positives=positives,
        confidence=confidence,
        alarm_interval=alarms,
        miss_interval=missed,
        least_misses=float(curve.misses(np.array(alarms[1]))),
    )


def attack(result: AuditFindings, confidence: float) -> tuple[TradeoffCurve, Attack]:
    """Return the trade-off curve of a mechanism's claim, and the attack by an audit's runs.

    `confidence` is that of the box; the audit has already chosen one of two pairs of neighbours by
    these runs, which is paid for. Where the ledgers of two runs differ, the shares depend on the
    data or on the noise, and the claim is the budget as such: the curve of a ledger is for shares
    that are fixed in advance.
    """
    if not result.claims_curve:
        budget = ApproxDP(epsilon=result.claimed_epsilon, delta=result.delta)
        curve = budget_curve(budget if result.delta else PureDP(epsilon=result.claimed_epsilon))
    else:
        curve = ledger_curve(result.entries)
    values, neighbour_values = statistics(result.outputs, result.neighbour_outputs)
    box_confidence = 1 - (1 - confidence) / PAIRS
    cut = _best_cut(curve, values[::2], neighbour_values[::2], box_confidence)
    sides = (values[1::2], neighbour_values[1::2])
    positive, negative = sides[::-1] if cut.is_swapped else sides
    alarms = int(((negative > cut.threshold) == cut.is_above).sum())
    misses = int(((positive > cut.threshold) != cut.is_above).sum())
    box = measured(
        curve,
        false_alarms=alarms,
        negatives=len(negative),
        misses=misses,
        positives=len(positive),
        confidence=box_confidence,
    )
    # The same runs also chose which pair of neighbours is shown. The intervals of both pairs hold
    # together with probability `confidence`, so the box shown claims only that, not
    # `box_confidence`.
    return curve, replace(box, confidence=confidence)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The joint verdict of an audit's two tests: the bounds on epsilon, and the trade-off curve."""

    result: AuditFindings
    curve: TradeoffCurve  # the curve of the claim
    attack: Attack

    @property
    def verdict(self) -> Verdict:
        """Whether either test refutes the claim, with the confidence of the audit."""
        is_refuted = self.attack.refutes or self.result.caught_at is not None
        return "refuted" if is_refuted else "not refuted"

    @property
    def is_ledger_curve(self) -> bool:
        """Whether the curve is that of the releases in the ledger.

        It claims more than epsilon at one delta does: a method may violate it and still be
        (epsilon, delta)-DP, but not for the reason that its ledger records.
        """
        return self.result.claims_curve

    @property
    def curve_name(self) -> str:
        """The name of the trade-off curve in a sentence."""
        return (
            "the trade-off curve of its ledger" if self.is_ledger_curve else "its trade-off curve"
        )

    @property
    def grounds(self) -> str:
        """The tests that refute the claim, as words that follow the verdict in a sentence."""
        bound = f"the {self._claim} bound"
        match self.result.caught_at is not None, self.attack.refutes:
            case True, True:
                return f"by {bound} and by {self.curve_name}"
            case True, False:
                return f"by {bound} ({self.curve_name} alone does not refute it)"
            case False, True:
                return f"by {self.curve_name} ({bound} alone does not refute it)"
        return f"neither by {bound} nor by {self.curve_name}"

    @property
    def _claim(self) -> str:
        """The name of the claimed pair (epsilon, delta); epsilon alone if delta is 0."""
        return "(epsilon, delta)" if self.result.delta else "epsilon"


def judge(result: AuditFindings, confidence: float) -> Judged:
    """Return the joint verdict of an audit after its last look; `confidence` is the audit's."""
    curve, achieved = attack(result, confidence)
    return Judged(result=result, curve=curve, attack=achieved)


@dataclass(frozen=True, kw_only=True)
class _Cut:
    """A threshold test, with its results on the runs that choose it."""

    threshold: float
    is_above: bool  # whether the attack alarms above its threshold
    is_swapped: bool  # whether the attack alarms for the neighbour
    margin: float  # the distance of the box below the curve
    advantage: float  # the share of correct alarms minus the share of false alarms


def _best_cut(
    curve: TradeoffCurve, values: Vector, neighbour_values: Vector, confidence: float
) -> _Cut:
    """Return the threshold test whose box is farthest below the curve.

    If no test has a box below the curve, return the test of the largest advantage. `values` and
    `neighbour_values` are one statistic per run, shape (runs,) each.
    """
    pooled = np.unique(np.concatenate([values, neighbour_values]))
    places = np.linspace(0, len(pooled) - 1, min(len(pooled), CUTS)).round().astype(np.intp)
    thresholds = pooled[np.unique(places)]
    if len(thresholds) > 1:
        thresholds = (thresholds[:-1] + thresholds[1:]) / 2
    level, runs = (1 - confidence) / 4, len(values)
    cuts = []
    for is_swapped in (False, True):
        samples = (neighbour_values, values) if is_swapped else (values, neighbour_values)
        counts = [runs - np.searchsorted(np.sort(x), thresholds, side="right") for x in samples]
        for is_above in (True, False):
            hits, alarms = counts if is_above else [runs - count for count in counts]
            corner = proportion_high(alarms, runs, level)
            margins = curve.misses(corner) - proportion_high(runs - hits, runs, level)
            advantages = (hits - alarms) / runs
            place = int(margins.argmax() if margins.max() > 0 else advantages.argmax())
            cuts.append(
                _Cut(
                    threshold=float(thresholds[place]),
                    is_above=is_above,
                    is_swapped=is_swapped,
                    margin=float(margins[place]),
                    advantage=float(advantages[place]),
                )
            )
    return max(cuts, key=lambda cut: (max(cut.margin, 0.0), cut.advantage))
