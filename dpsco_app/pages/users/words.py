"""What the parts of the page Users are, in words; every number comes from the core."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpsco_app.pages.users.state import View
from dpsco_app.parts.look import BLUE, BROWN, CYAN, GOLD, MAGENTA, ORANGE, PURPLE
from dpsco_app.parts.options import number_text
from dpsco_core.bounds.user.complexity import Curve
from dpsco_core.catalogue import method_card
from dpsco_core.explain.users.crossing import FILTERED, PLAIN, Crossing
from dpsco_core.explain.users.frontier import NEEDS
from dpsco_core.explain.users.regions import CLIPPED, GROUP, GROUPS, NON_SMOOTH, STRONG, UserMap
from dpsco_core.explain.users.regions import FILTERED as ACCELERATED

INTRODUCTION = (
    "Each of **n** users holds **m** items, and privacy hides a **whole user**: two data sets are "
    "neighbours if one user's m items are replaced by any others. Averages of m items scatter as "
    "1/√m, so that one user should move the answer less when m is large. A **robust filter** tests "
    "that all users' averages are close together, leaves out those that are not, and adds noise as "
    "small as that scatter. Whoever does without it adds noise for the largest average that a user "
    "could make up. When does the filter pay?"
)

MAP_NAMES = {
    GROUP: "Group privacy",
    CLIPPED: "Clipped means",
    GROUPS: "Filtered SGD (Algorithm 1)",
    ACCELERATED: "Filtered gradients (Algorithm 3)",
    STRONG: "Algorithm 3, strongly convex",
    NON_SMOOTH: "Algorithm 3, smoothed losses",
}
BASIS_NAMES = {
    "rates": "Rates, where they hold",
    "proven": "Bounds with proven constants",
    "measured": "Measured risk",
}
LOSS_NAMES = {
    "smooth": "smooth",
    "any": "any Lipschitz",
    "strong": "strongly convex and smooth",
}
ABOUT_MAP = {
    "rates": "The smallest **rate** (constants 1) among the methods whose theorem holds there "
    "*with every condition*, for L-Lipschitz, β-smooth losses on a set of diameter R. Clipped "
    "means have the rate of group privacy, and are the same region.",
    "proven": "The smallest **upper bound with every constant in place**, best schedule for every "
    "method, for L-Lipschitz, β-smooth losses on a set of diameter R, in units of LR.",
    "measured": "The smallest **excess risk of real runs**: half the squared distance to "
    "hypercube data in d dimensions, one run a method and point: where two are close, luck "
    "decides.",
}
LOOK_AT_MAP = {
    "rates": "**Look for:** how little of the map the filters' theorems reach. Below some hundred "
    "thousand users the published constants are out of reach (the third figure). Above, Algorithm "
    "3's theorem also needs δ < 1/(nm): lower δ, and its region grows to the right. Algorithm 1's "
    "rate is below that of group privacy from m > n on only.",
    "proven": "**Look for:** a filter has the smallest proven bound only at very many items a "
    "user. The constants of the filters' proofs are large; what is measured is far better.",
    "measured": "**Look for:** three regions. With few items and many users clipped means win; "
    "from about a thousand items per user on, filtered gradients; with few users, whose gradients "
    "are too few for that test to pass cheaply, the groups of Algorithm 1.",
}

ABOUT_LAW = (
    "The loss is half the squared distance from a record, whose minimiser is the mean, and a user "
    "matters through the mean of its m items only: a million items cost no more than one. Excess "
    "risk is then half the squared distance from the minimiser: noise that falls as 1/√m makes a "
    "risk that falls as 1/m. The data are the sign hypercube of the lower bounds; all methods see "
    "the same data, at the same (ε, δ), and the bars are two standard errors of the mean."
)
LOOK_AT_LAW = (
    "**Look for:** the clipped means are flat: their noise hides what a user *could* do, however "
    "many items it has. The filtered mean falls with the slope of the dotted guide, starts far "
    "above, and crosses. With few items per user its noise drowns the answer."
)
ABOUT_FRONTIER = (
    "An algorithm whose test needs more users than there are cannot run at all. **Printed** "
    "constants: what the paper's theorems ask for, and the users that Algorithm 1's first phase "
    "needs to fill its groups C ≈ 100 ln(20nm e^ε/δ)/ε. **Calibrated**: the same algorithms with "
    "the least noise and the smallest test that the proof allows."
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
    "**Look for:** Algorithm 3 has slope 9/8, little above the linear-time methods (slope 1), "
    "whose risk is not optimal; the earlier optimal methods have 3/2 (smooth) and 3 (any loss). "
    "Raise βR/L or m, and Bassily and Sun's assumptions fail."
)

NEED_NAMES = {
    "theorem-c1": "Theorem C.1 (Algorithm 3), printed",
    "theorem-b1": "Theorem B.1 (Algorithm 1), printed",
    "groups-printed": "Algorithm 1 runs as printed",
    "recommended-c1": "Algorithm 3 calibrated, three phases of 20 steps",
    "step-calibrated": "Algorithm 3 calibrated, one step",
    "groups-calibrated": "Algorithm 1 calibrated, one phase",
}
ROW_NAMES = {
    ("bassily-sun-2023", "smooth"): "Bassily and Sun 2023",
    ("asi-liu-2024", "smooth"): "Asi and Liu 2024, smooth",
    ("asi-liu-2024", "non-smooth"): "Asi and Liu 2024, any loss",
    ("algorithm-3", "smooth"): "Algorithm 3, smooth",
    ("algorithm-3", "non-smooth"): "Algorithm 3, any loss",
    ("ghazi-2023", "smooth"): "Ghazi et al. 2023",
    ("ghazi-2023", "non-smooth"): "Ghazi et al. 2023, any loss",
    ("group-privacy", "smooth"): "Group privacy",
    ("bassily-sun-2023-local", "smooth"): "Bassily and Sun 2023, Algorithm 5",
    ("algorithm-1", "smooth"): "Algorithm 1",
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
  $\frac{\sqrt{d\Lambda}}{\varepsilon n}$, flat in $m$. **Clipped means**: users' mean gradients,
  clipped to $L$, with sensitivity $2L/n$: flat too.
- **Filtered gradients** (Algorithm 3): users' mean gradients within $\tau\approx3L/\sqrt m$ of each
  other pass a test; private term $\frac{\sqrt{d\Lambda}}{\varepsilon n\sqrt m}$.
- **Filtered SGD** (Algorithm 1): SGD runs of $C$ groups of users pass the same test; linear time,
  private term $\frac{\sqrt{d\Lambda}}{\varepsilon\sqrt{nm}}$.
- $C$: groups; $K$: users of one step; $q$: the schedule's exponent, the best one here.
- **The crossover**: where straight lines through the mean errors (both axes logarithmic) meet, at
  the last change of order. Its interval draws the trials again with replacement, a thousand times.
"""


def map_title(found: UserMap, view: View) -> str:
    """Return the takeaway of the map."""
    best = found.smallest
    known = known_points(found)
    if known == 0:
        return "No value is known yet"
    shares = {
        method: float((best == k).sum()) / max(known, 1) for k, method in enumerate(found.methods)
    }
    method = max(shares, key=lambda name: shares[name])
    what = {
        "rates": "the smallest rate that holds",
        "proven": "the smallest proven bound",
        "measured": "the smallest measured risk",
    }[view.basis]
    if shares[method] == 0:
        return "No rate holds with all its conditions anywhere on this map"
    return f"{MAP_NAMES[method]}: {what} on {100 * shares[method]:.0f} % of the map"


def known_points(found: UserMap) -> int:
    """Return how many points of the map have been looked at."""
    return int((~np.isnan(found.values)).any(axis=0).sum())


def here_sentence(found: UserMap, view: View) -> str:
    """Say what the nearest point of the map has for every method."""
    i = min(range(len(found.users)), key=lambda k: abs(math.log(found.users[k] / view.n)))
    j = min(range(len(found.items)), key=lambda k: abs(math.log(found.items[k] / view.m)))
    parts = []
    for k, method in enumerate(found.methods):
        value = float(found.values[k, i, j])
        if math.isnan(value):
            continue
        text = f"{value:.2g}" if math.isfinite(value) else "none"
        fails = "" if found.holds[k, i, j] or not math.isfinite(value) else " (a condition fails)"
        parts.append(f"{MAP_NAMES[method]} **{text}**{fails}")
    where = f"Nearest point, n = {number_text(found.users[i])}, m = {number_text(found.items[j])}"
    return f"{where}: " + (", ".join(parts) if parts else "not known yet") + "."


def crossing_title(found: Crossing | None) -> str:
    """Return the takeaway of the measured crossover."""
    if found is None:
        return "The filtered mean stays above the clipped means at every m measured"
    return (
        f"From m ≈ {_two(found.items)} items per user on, the filtered mean errs less than "
        "clipped means"
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
    low, high = found.interval
    known = "" if math.isnan(low) else f" (95 % interval {_two(low)} to {_two(high)})"
    again = (
        ""
        if found.reversals == 0
        else f" Their order changes {found.reversals} times before: take more trials."
    )
    return (
        f"{where}: the mean errors of **{names[0]}** and **{names[1]}** cross at "
        f"**m ≈ {_two(found.items)}**{known}, between the measured m = {number_text(found.low)} "
        f"and {number_text(found.high)}, over {view.trials} trials.{again}"
    )


def _two(value: float) -> str:
    return number_text(float(f"{value:.2g}"))


def law_title(slope: float, start: float) -> str:
    """Return the takeaway of the law."""
    said = f"{slope:.2f}".replace("-", "−")
    return (
        f"The filtered mean's distance falls with slope {said} from m = {number_text(start)} on: "
        "1/√m is −0.50"
    )


def frontier_title(needs: Mapping[str, float], view: View) -> str:
    """Return the takeaway of the frontier at the chosen epsilon."""
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
        f"met by **{'; '.join(able)}**." if able else "**none** of these is met."
    )
    if math.isfinite(runs):
        second = f" Algorithm 3 as printed runs from n = {number_text(runs)} on"
    else:
        second = (
            " Algorithm 3 as printed runs at **no** n: its theorem needs δ < 1/(nm) too, and so "
            f"n < {number_text(float(f'{most:.3g}'))} here"
        )
    third = (
        ". The batches K that it prints would be up to "
        f"{number_text(float(f'{shortfall:.2g}'))} times as many users as a phase has: every step "
        "takes all of them instead."
    )
    return first + second + third


def gradients_title(curves: Sequence[Curve]) -> str:
    """Return the takeaway of the gradient counts at the largest n."""
    ends = {(c.slug, c.loss): c.gradients[-1] for c in curves}
    ratio = ends["asi-liu-2024", "smooth"] / ends["algorithm-3", "smooth"]
    items = curves[0].items[-1]
    return (
        f"At n·m = {number_text(float(items))}, Algorithm 3 takes {_two(ratio)} times fewer "
        "gradients than Asi and Liu on smooth losses"
    )
