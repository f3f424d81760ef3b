"""What the parts of the page Users say; every number comes from the core."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from dpsco_app.parts.options import number_text, rounded, short_text
from dpsco_core.catalogue import method_card
from dpsco_core.explain.contest import Reading, is_tied
from dpsco_core.explain.users.crossing import Crossing, Errors
from dpsco_core.explain.users.frontier import NEEDS
from dpsco_core.results.slopes import FittedSlope
from dpsco_core.scenario import Scenario

QUESTIONS = {
    "crossing": "From how many items per user on do filtered gradients pay?",
    "map": "Which user-level method is best where?",
    "feasibility": "How many users does a filter need?",
}
LOOK_AT = {
    "crossing": "Each of n users holds m items, and privacy hides a **whole user**. **Clipped user "
    "gradients** add noise for the largest average that a user *could* make up: their error"
    " is flat in m. **Filtered gradients** and **filtered SGD** test that the users agree, "
    "leave out those that do not, and add noise as small as the users' scatter, 1/√m: the "
    "risk then falls as 1/m. The loss is half the squared distance from a record, the data "
    "are the sign hypercube of the lower bounds, all methods see the same data at the same "
    "(ε, δ), and bars are two standard errors. A tie: the 95 % interval of the paired differences "
    "holds 0.",
    "feasibility": "An algorithm whose test needs more users than there are cannot run at all. "
    "**As printed**: what the theorems ask for, and the users that the first phase of filtered SGD "
    "needs to fill its C ≈ 100 ln(20nm e^ε/δ)/ε groups. **Calibrated**: the same algorithms with "
    "the least noise and the smallest test that the proof allows. All need about 1/ε users; "
    "between printed and calibrated lie two to three powers of ten.",
}
LOOK_AT_MAP: dict[Reading, str] = {
    "measured": "Half the squared distance to hypercube data. Filtered gradients win with very "
    "many items, where there are users enough for their test to pass cheaply; filtered SGD, whose "
    "test is easier to pass, with fewer users. Clipped user gradients need neither. Group privacy, "
    "whose runs take n·m steps, is left out.",
    "proven": "For L-Lipschitz, β-smooth losses on a set of diameter R, in units of LR, the best "
    "schedule for every method. A filter wins at very many items per user only: the constants of "
    "its proof are large, and what is measured is far better.",
    "rates": "For L-Lipschitz, β-smooth losses on a set of diameter R. Measured errors may name "
    "another method. Clipped user gradients have the rate of group privacy, and so the same "
    "region. Below some hundred thousand users the published constants of the filters are out of "
    "reach; above, filtered gradients also need δ < 1/(nm): lower δ, and their region grows to the "
    "right. The rate of filtered SGD is below that of group privacy from m > n on only.",
}


def no_data_small(start: float) -> str:
    """Say what an answer without data errs on the data that are measured here."""
    return (
        f"The mean of these data is so near 0 that always answering 0 errs {rounded(start)}: "
        "compare the methods with one another. "
    )


NEED_NAMES = {
    "theorem-c1": "Gradients, Theorem C.1",
    "theorem-b1": "SGD, Theorem B.1",
    "groups-printed": "SGD, printed groups",
    "recommended-c1": "Gradients, 3 × 20 steps",
    "step-calibrated": "Gradients, one step",
    "groups-calibrated": "SGD, one phase",
}
SYMBOLS = r"""
- $n$: users; $m$: items of each; $d$: dimension. Neighbours replace **one user's whole block** of
  $m$ items; $n$ and $m$ are public.
- $\varepsilon,\delta$: the budget of one user. $\Lambda=\ln(1/\delta)$.
- $L$: the loss of every item is $L$-Lipschitz; $R$: the **diameter** of the constraint set; $LR$:
  no answer has more excess risk. $\beta$: smoothness of the loss of an item, here in
  units of $L/R$.
- **Excess risk**: $F(w)-\min F$, the expected loss on fresh data above its smallest value.
- **Group privacy**: phased SGD whose noise hides all $m$ steps of a user: private term
  $\frac{\sqrt{d\Lambda}}{\varepsilon n}$, flat in $m$. **Clipped user gradients**: users' mean
  gradients, clipped to $L$, with sensitivity $2L/n$: flat too.
- **Filtered gradients** (Algorithm 3): users' mean gradients within $\tau\approx3L/\sqrt m$ of each
  other pass a test; private term $\frac{\sqrt{d\Lambda}}{\varepsilon n\sqrt m}$.
- **Filtered SGD** (Algorithm 1): SGD runs of $C$ groups of users pass the same test; linear time,
  private term $\frac{\sqrt{d\Lambda}}{\varepsilon\sqrt{nm}}$.
- **The crossover**: where straight lines through the mean errors (both axes logarithmic) meet, at
  the last change of order. Its interval draws the trials again with replacement, a thousand times.
"""


def signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def crossing_answer(crossed: Crossing | None) -> str:
    if crossed is None:
        return "Filtered gradients stay above clipped user gradients at every m measured"
    return (
        f"From about {short_text(crossed.items, 2)} items per user on, filtered gradients have a "
        "smaller error than clipped user gradients"
    )


def crossing_small(crossed: Crossing | None, curves: Sequence[Errors], slope: FittedSlope) -> str:
    """Say how surely they cross, which method is best at which m, and how fast the error falls."""
    parts = []
    if crossed is not None and not math.isnan(crossed.interval[0]):
        parts.append(f"95 % interval {' to '.join(short_text(e, 2) for e in crossed.interval)}.")
    if crossed is not None and crossed.reversals:
        parts.append(f"Their order changes {crossed.reversals} times before: take more trials.")
    parts.append(f"Smallest measured error: {stretches(curves)}.")
    known = f" ({signed(slope.low)} to {signed(slope.high)})" if slope.known else ""
    parts.append(
        f"The distance of filtered gradients falls with slope {signed(slope.fitted)}{known}; "
        "1/√m is −0.50."
    )
    return " ".join(parts)


def stretches(curves: Sequence[Errors]) -> str:
    """Say over which of the measured m each method has the smallest mean error, and in a tie.

    The rule and the words are those of the map.
    """
    risks = np.stack([c.risks for c in curves], axis=1)  # by m, method and trial
    best = [(int(at.mean(axis=1).argmin()), is_tied(at)) for at in risks]
    items = curves[0].items
    ranges = []
    for (which, tied), group in groupby(range(len(items)), best.__getitem__):
        at = [short_text(items[j]) for j in group]
        name = method_card(curves[which].method).name + ", in a tie," * tied
        ranges.append(f"{name} at m = {at[0]}" + (f" to {at[-1]}" if len(at) > 1 else ""))
    return "; ".join(ranges)


def frontier_answer(needs: Mapping[str, float], scenario: Scenario) -> str:
    return (
        f"At ε = {scenario.epsilon:g}, {number_text(needs['step-calibrated'])} users are enough "
        f"for filtered gradients; their printed theorem needs {number_text(needs['theorem-c1'])}"
    )


def frontier_small(
    needs: Mapping[str, float], runs: float, most: float, shortfall: float, scenario: Scenario
) -> str:
    """Say which of the algorithms can run at the chosen point, and why the printed one cannot."""
    able = [NEED_NAMES[n.slug] for n in NEEDS if needs[n.slug] <= scenario.n]
    first = f"{scenario.n:,} users are " + (
        f"enough for {'; '.join(able)}." if able else "too few for all of these."
    )
    second = (
        f"Filtered gradients as printed run from n = {number_text(runs)} on."
        if math.isfinite(runs)
        else "As printed, filtered gradients run at no n: their theorem needs δ < 1/(nm) too, and "
        f"so n < {short_text(most)} here."
    )
    return (
        f"{first} {second} The batches that it prints would be up to {short_text(shortfall, 2)} "
        "times as many users as a phase has: every step takes all of them instead."
    )
