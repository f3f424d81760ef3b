"""What the parts of the page Users are, in words; every number comes from the core."""

import math
from collections.abc import Mapping, Sequence

from dpsco_app.pages.users.state import View
from dpsco_app.parts.look import BLUE, BROWN, CYAN, GOLD, MAGENTA, ORANGE, PURPLE
from dpsco_app.parts.options import number_text, short_text
from dpsco_core.bounds.user.complexity import Curve
from dpsco_core.catalogue import method_card
from dpsco_core.explain.contest import TRIALS, Reading
from dpsco_core.explain.users.crossing import FILTERED, PLAIN, Crossing
from dpsco_core.explain.users.frontier import NEEDS
from dpsco_core.results.slopes import FittedSlope

INTRODUCTION = (
    "Each of **n** users holds **m** items, and privacy hides a **whole user**. **Clipped user "
    "gradients** add noise for the largest average that a user could make up, however many items "
    "stand behind it. **Filtered gradients** test that the users' averages agree, leave out those "
    "that do not, and add noise as small as their scatter, 1/√m. When does the filter pay?"
)
PART_NAMES = {
    "crossing": "Where the filter pays",
    "map": "Who is best where",
    "feasibility": "How many users it takes",
    "gradients": "What it costs to compute",
}
LOSS_NAMES = {
    "smooth": "smooth",
    "any": "any Lipschitz",
    "strong": "strongly convex and smooth",
}
ABOUT_MAP: dict[Reading, str] = {
    "rates": "The smallest **rate** (constants 1) among the methods whose theorem holds there "
    "*with every condition*, for L-Lipschitz, β-smooth losses on a set of diameter R. Clipped user "
    "gradients have the rate of group privacy, and so the same region.",
    "proven": "The smallest **upper bound with every constant in place**, best schedule for every "
    "method, for L-Lipschitz, β-smooth losses on a set of diameter R, in units of LR.",
    "measured": f"The smallest **mean excess risk of {TRIALS} runs** of every method on the same "
    "data: half the squared distance to hypercube data in d dimensions. Hatched: a tie, the 95 % "
    "interval of the paired differences holds 0. Group privacy, whose runs take n·m steps, is left "
    "out.",
}
LOOK_AT_MAP: dict[Reading, str] = {
    "rates": "Rates compare growth, with every constant 1: measured errors may name another "
    "method. **Look for:** how little of the map the filters' theorems reach. Below some "
    "hundred thousand users the published constants are out of reach (“How many users it takes”). "
    "Above, the theorem of filtered gradients also needs δ < 1/(nm): lower δ, and its region grows "
    "to the right. The rate of filtered SGD is below that of group privacy from m > n on only.",
    "proven": "**Look for:** a filter has the smallest proven bound only at very many items per "
    "user. The constants of the filters' proofs are large; what is measured is far better.",
    "measured": "**Look for:** three regions. With few items and many users clipped user gradients "
    "win; from about a thousand items per user on, filtered gradients; with few users, whose "
    "gradients are too few for that test to pass cheaply, filtered SGD.",
}

ABOUT_LAW = (
    "The loss is half the squared distance from a record, whose minimiser is the mean, and a user "
    "matters through the mean of its m items only: a million items cost no more than one. Excess "
    "risk is then half the squared distance from the minimiser: noise that falls as 1/√m makes a "
    "risk that falls as 1/m. The data are the sign hypercube of the lower bounds; all methods see "
    "the same data, at the same (ε, δ), and the bars are two standard errors of the mean."
)
LOOK_AT_LAW = (
    "**Look for:** clipped user gradients are flat: their noise hides what a user *could* do, "
    "however many items there are. Filtered gradients fall with the slope of the dotted guide, "
    "start far above, and cross. With few items per user their noise drowns the answer."
)
ABOUT_FRONTIER = (
    "An algorithm whose test needs more users than there are cannot run at all. **Printed** "
    "constants: what the paper's theorems ask for, and the users that the first phase of "
    "filtered SGD needs to fill its groups C ≈ 100 ln(20nm e^ε/δ)/ε. **Calibrated**: the same "
    "algorithms with the least noise and the smallest test that the proof allows."
)
LOOK_AT_FRONTIER = (
    "**Look for:** the gap of two to three powers of ten between the same algorithm printed and "
    "calibrated, at every ε: all need about 1/ε users, what differs is the constant."
)
ABOUT_GRADIENTS = (
    "How often the gradient of the loss at one item is evaluated: the paper's Figure 1, at "
    "n = d users and ε = 1 as there, constants and logarithms dropped. Solid lines: smooth losses "
    "with the chosen βR/L. Dashed: any Lipschitz losses. Thin dots: an assumption of the row fails "
    "there. Ghazi et al. (2023) take more than polynomial time and have no line; Levy et al. "
    "(2021) state no count."
)
LOOK_AT_GRADIENTS = (
    "**Look for:** filtered gradients have slope 9/8, little above the linear-time methods (slope "
    "1), whose risk is not optimal; the earlier optimal methods have 3/2 (smooth) and 3 (any "
    "loss). Raise βR/L or m, and Bassily and Sun's assumptions fail."
)

NEED_NAMES = {
    "theorem-c1": "Filtered gradients, printed (Theorem C.1)",
    "theorem-b1": "Filtered SGD, printed (Theorem B.1)",
    "groups-printed": "Filtered SGD runs as printed",
    "recommended-c1": "Filtered gradients calibrated, three phases of 20 steps",
    "step-calibrated": "Filtered gradients calibrated, one step",
    "groups-calibrated": "Filtered SGD calibrated, one phase",
}
ROW_NAMES = {
    ("bassily-sun-2023", "smooth"): "Bassily and Sun 2023",
    ("asi-liu-2024", "smooth"): "Asi and Liu 2024, smooth",
    ("asi-liu-2024", "non-smooth"): "Asi and Liu 2024, any loss",
    ("algorithm-3", "smooth"): "Filtered gradients, smooth",
    ("algorithm-3", "non-smooth"): "Filtered gradients, any loss",
    ("ghazi-2023", "smooth"): "Ghazi et al. 2023",
    ("ghazi-2023", "non-smooth"): "Ghazi et al. 2023, any loss",
    ("group-privacy", "smooth"): "Group privacy",
    ("bassily-sun-2023-local", "smooth"): "Bassily and Sun 2023, Algorithm 5",
    ("algorithm-1", "smooth"): "Filtered SGD",
}
ROW_COLOURS = {
    "bassily-sun-2023": PURPLE,
    "asi-liu-2024": MAGENTA,
    "algorithm-3": BLUE,
    "ghazi-2023": CYAN,
    "group-privacy": ORANGE,
    "bassily-sun-2023-local": BROWN,
    "algorithm-1": GOLD,
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
- $C$: groups; $K$: users of one step; $q$: the schedule's exponent, the best one here.
- **The crossover**: where straight lines through the mean errors (both axes logarithmic) meet, at
  the last change of order. Its interval draws the trials again with replacement, a thousand times.
"""


def crossing_title(found: Crossing | None) -> str:
    if found is None:
        return "Filtered gradients stay above clipped user gradients at every m measured"
    return (
        f"From m ≈ {short_text(found.items, 2)} items per user on, filtered gradients have a "
        "smaller error than clipped user gradients"
    )


def crossing_sentence(found: Crossing | None, view: View) -> str:
    """Say where the two cross, how surely, and at which setting."""
    where = f"At n = {view.n:,}, d = {view.d}, ε = {view.epsilon:g}, δ = {number_text(view.delta)}"
    names = method_card(FILTERED).name, method_card(PLAIN).name
    if found is None:
        return (
            f"{where}: the mean error of **{names[0]}** does not fall below that of **{names[1]}** "
            f"over {view.trials} trials."
        )
    interval = " to ".join(short_text(end, 2) for end in found.interval)
    known = "" if math.isnan(found.interval[0]) else f" (95 % interval {interval})"
    again = (
        ""
        if found.reversals == 0
        else f" Their order changes {found.reversals} times before: take more trials."
    )
    return (
        f"{where}: the mean errors of **{names[0]}** and **{names[1]}** cross at **m ≈ "
        f"{short_text(found.items, 2)}**{known}, between the measured m = "
        f"{number_text(found.low)} and {number_text(found.high)}, over {view.trials} "
        f"trials.{again}"
    )


def law_title(slope: FittedSlope, start: float) -> str:
    said = f"{slope.fitted:.2f}"
    if slope.known:
        said += f" ({slope.low:.2f} to {slope.high:.2f})"
    said = said.replace("-", "−")
    return (
        f"The error of filtered gradients falls with slope {said} from m = {number_text(start)} "
        "on: 1/√m is −0.50"
    )


def frontier_title(needs: Mapping[str, float], view: View) -> str:
    return (
        f"At ε = {view.epsilon:g}, Theorem C.1 needs {number_text(needs['theorem-c1'])} users, "
        f"the calibrated algorithm runs with {number_text(needs['step-calibrated'])}"
    )


def frontier_sentence(
    needs: Mapping[str, float], runs: float, most: float, shortfall: float, view: View
) -> str:
    """Say which of the algorithms can run at the chosen point, and why the printed one cannot."""
    able = [NEED_NAMES[n.slug] for n in NEEDS if needs[n.slug] <= view.n]
    first = f"With n = {view.n:,} users at ε = {view.epsilon:g}: " + (
        f"enough for **{'; '.join(able)}**." if able else "too few for **all** of these."
    )
    second = (
        f"Filtered gradients as printed run from n = {number_text(runs)} on"
        if math.isfinite(runs)
        else "Algorithm 3 as printed runs at **no** n: its theorem needs δ < 1/(nm) too, and so "
        f"n < {short_text(most)} here"
    )
    return (
        f"{first} {second}. The batches K that it prints would be up to {short_text(shortfall, 2)} "
        "times as many users as a phase has: every step takes all of them instead."
    )


def gradients_title(curves: Sequence[Curve]) -> str:
    ends = {(c.slug, c.loss): c.gradients[-1] for c in curves}
    ratio = ends["asi-liu-2024", "smooth"] / ends["algorithm-3", "smooth"]
    return (
        f"At n·m = {number_text(float(curves[0].items[-1]))}, filtered gradients take "
        f"{short_text(ratio, 2)} times fewer gradients than Asi and Liu on smooth losses"
    )
