"""What the parts of the page Users say; every number comes from the core."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from dpsco_app.parts.options import inside, number_text, rounded, short_text
from dpsco_core.catalogue import method_card
from dpsco_core.explain.contest import TRIALS, Reading, is_tied
from dpsco_core.explain.users.crossing import Errors
from dpsco_core.explain.users.frontier import NEEDS
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.scenario import Scenario

QUESTIONS = {
    "crossing": "Which method is best with how many items per user?",
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
    "proven": "For L-Lipschitz losses of smoothness β = L/R on a set of diameter R, in units of "
    "LR, the best schedule for every method. A filter wins at very many items per user only: the "
    "constants of its proof are large, and what is measured is far better.",
    "rates": "For L-Lipschitz losses of smoothness β = L/R on a set of diameter R. Measured errors "
    "may name another method. Clipped user gradients have the rate of group privacy, and so the "
    "same region. Below some hundred thousand users the published constants of the filters are "
    "out of reach; above, filtered gradients also need δ < 1/(nm): lower δ, and their region "
    "grows to the right. The rate of filtered SGD is below that of group privacy from m > n on "
    "only.",
}


def of_map(start: float, scenario: Scenario) -> str:
    """Say what an answer without data errs on the data of the map, and which runs these are."""
    return (
        f"Always answering 0 has an error of {rounded(start)} on the data of this point. “When a "
        f"filter pays” averages {scenario.trials} runs, and the map {TRIALS}: the first ones are "
        "the same. "
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
  no answer has more excess risk. $\beta$: smoothness of the loss of an item, in bounds
  and counts $L/R$.
- **Excess risk**: $F(w)-\min F$, the expected loss on fresh data above its smallest value.
- **Group privacy**: phased SGD whose noise hides all $m$ steps of a user: private term
  $\frac{\sqrt{d\Lambda}}{\varepsilon n}$, flat in $m$. **Clipped user gradients**: users' mean
  gradients, clipped to $L$, with sensitivity $2L/n$: flat too.
- **Filtered gradients** (Algorithm 3): users' mean gradients within $\tau\approx3L/\sqrt m$ of each
  other pass a test; private term $\frac{\sqrt{d\Lambda}}{\varepsilon n\sqrt m}$.
- **Filtered SGD** (Algorithm 1): SGD runs of $C$ groups of users pass the same test; linear time,
  private term $\frac{\sqrt{d\Lambda}}{\varepsilon\sqrt{nm}}$.
"""


def crossing_answer(curves: Sequence[Errors], start: float) -> str:
    """Return which method is best at last, from where on, and from where on it pays to look."""
    best = [which for which, _ in best_at(curves)]
    least = np.min([c.mean for c in curves], axis=0)
    since, useful = (
        max((i + 1 for i, here in enumerate(holds) if not here), default=0)
        for holds in ([which == best[-1] for which in best], least < start)
    )
    items, name = curves[0].items, inside(method_card(curves[best[-1]].method).name)
    beats = f"from m = {short_text(items[useful])} on" if useful < len(items) else "at no m"
    return (
        f"From m = {short_text(items[since])} items per user on, the best method is {name}; "
        f"{beats}, the best one beats always answering 0"
    )


def stretches(curves: Sequence[Errors]) -> str:
    """Say over which of the measured m each method has the smallest mean error, and in a tie."""
    items, best = curves[0].items, best_at(curves)
    ranges = []
    for (which, tied), group in groupby(range(len(items)), best.__getitem__):
        at = [short_text(items[j]) for j in group]
        name = method_card(curves[which].method).name + ", in a tie," * tied
        ranges.append(f"{name} at m = {at[0]}" + (f" to {at[-1]}" if len(at) > 1 else ""))
    return "; ".join(ranges)


def best_at(curves: Sequence[Errors]) -> list[tuple[int, bool]]:
    """Return at each m which curve has the smallest mean error, and whether in a tie.

    The rule is that of the map.
    """
    risks = np.stack([c.risks for c in curves], axis=1)  # by m, method and trial
    return [(int(at.mean(axis=1).argmin()), is_tied(at)) for at in risks]


def frontier_answer(needs: Mapping[str, float], epsilon: float) -> str:
    return (
        f"At ε = {epsilon:g}, {number_text(needs['step-calibrated'])} users are enough "
        f"for filtered gradients; their printed theorem needs {number_text(needs['theorem-c1'])}"
    )


def frontier_small(
    needs: Mapping[str, float], runs: float, most: float, shortfall: float, at: UserLevel
) -> str:
    """Say which of the algorithms can run at the chosen point, and why the printed one cannot."""
    able = [NEED_NAMES[n.slug] for n in NEEDS if needs[n.slug] <= at.n]
    first = f"{at.n:,} users are " + (
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
