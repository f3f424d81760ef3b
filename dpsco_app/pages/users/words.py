"""The texts of the page Users; every number comes from the core."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from dpsco_app.parts.options import inside, number_text, short_text
from dpsco_core.catalogue import method_card
from dpsco_core.explain.contest import TRIALS, Reading, is_tied
from dpsco_core.explain.users.crossing import Errors
from dpsco_core.explain.users.frontier import NEEDS
from dpsco_core.methods.user.level import UserLevel

QUESTIONS = {
    "crossing": "Which method is best with how many items per user?",
    "alike": "What are more items per user worth where they are alike?",
    "map": "Which user-level method is best where?",
    "feasibility": "How many users does a filter need?",
}
LOOK_AT = {
    "crossing": "Each of n users holds m items, and privacy hides a **whole user**. **Clipped user "
    "gradients** add noise for the largest average that a user *could* make up: their error"
    " is flat in m. **Filtered gradients** and **filtered SGD** test that the users agree, "
    "leave out those that do not, and add noise as small as the users' scatter, 1/√m: the "
    "risk then falls as 1/m. The loss is half the squared distance from a record, the data "
    "are Gaussian, of the same law at every m, all methods see the same data at the same "
    "(ε, δ), and bars are two standard errors. In a tie: the 95 % interval of the paired "
    "differences holds 0.",
    "alike": "The items of one user resemble each other. Here item j of user i is "
    r"$\mu+t(\sqrt\gamma\,u_i+\sqrt{1-\gamma}\,z_{ij})$: **γ** is the correlation of any two items "
    "of a user, and t keeps the p-th moment of an item. The variance of a user's mean is γ + (1 − "
    "γ)/m times that of an item: its part γ stays, however many items there are. Estimated is a "
    "mean of Student t records, privacy hides a whole user, and its noise does not depend on γ; "
    "the clip radius does, as it must hold the users' means. Bars are two standard errors. What is "
    "proven for independent items is not shown: only the bounds of clipped user means hold here, "
    "with γ in them. Optimisers are left out: their radii assume independent items.",
    "feasibility": "An algorithm whose test needs more users than there are cannot run at all. "
    "**As printed**: what the theorems ask for, and the users that the first phase of filtered SGD "
    "needs to fill its C ≈ 100 ln(20nm $e^\\varepsilon$/δ)/ε groups. **Calibrated**: the same "
    "algorithms with the least noise and the smallest test that the proof allows. All need "
    "about 1/ε users; between printed and calibrated lie two to three powers of ten.",
}
WHOSE_ITEMS = "**Here:** the mean of Student t records, whose norm is 1, with your other settings."
LOOK_AT_MAP: dict[Reading, str] = {
    "measured": "Half the squared distance to Gaussian data. Filtered gradients win with very "
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


OF_MAP = (
    "Always answering 0 has an error of {start} on the data of this point. “When a filter pays” "
    f"averages {{trials}} runs, and the map {TRIALS}: the first ones are the same. "
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
- $\gamma$: the share of an item's variance that all items of its user have in common.
- $n$: users; $m$: items of each; $d$: dimension. Neighbours replace **one user's whole block** of
  $m$ items; $n$ and $m$ are public.
- $p$: the moment of the measured data that is 1, and that the methods are told. Bounds and counts
  of users, in units of $L$ and $R$, are the same at every $p$.
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
    """Return the title on up to which m no method beats an answer without data, and on the best.

    `start` is the error of an answer without data.
    """
    items, best = curves[0].items, [which for which, _ in best_at(curves)]
    beats = np.min([c.mean for c in curves], axis=0) < start
    leads_from, useful = (
        max((i + 1 for i, here in enumerate(holds) if not here), default=0)
        for holds in ([which == best[-1] for which in best], beats)
    )
    name = inside(method_card(curves[best[-1]].method).name)
    name += " are" if name.endswith("s") else " is"
    start_index, last_m = max(leads_from, useful), items[useful - 1]
    subject = "hardly anything" if beats[:useful].any() else "nothing"
    clause_below = (
        f"Up to m = {short_text(last_m)} item{'s' if last_m > 1 else ''} per user, {subject} beats "
        "always answering 0"
        if useful
        else "Always answering 0 is never best"
    )
    ends = {0: f"at every m, {name} best", len(items): f"{name} nearest"}
    clause_above = (
        ends.get(start_index) or f"from m = {short_text(items[start_index])} on, {name} best"
    )
    return f"{clause_below}; {clause_above}"


def best_ranges(curves: Sequence[Errors]) -> str:
    """Return words on which method has the smallest mean error up to which of the measured m."""
    items, best = curves[0].items, [which for which, _ in best_at(curves)]
    ends = [max(group) for _, group in groupby(range(len(items)), best.__getitem__)]
    names = [inside(method_card(curves[best[end]].method).name) for end in ends]
    texts = [f"{n} up to m = {short_text(items[e])}" for n, e in zip(names, ends, strict=True)]
    return ", then ".join([*texts[:-1], names[-1]])


def best_at(curves: Sequence[Errors]) -> list[tuple[int, bool]]:
    """Return, for each m, the index of the curve with the smallest mean error, and if it is a tie.

    Ties follow the same rule as on the map.
    """
    risks = np.stack([c.risks for c in curves], axis=1)  # The shape is (items, methods, trials).
    return [(int(at.mean(axis=1).argmin()), is_tied(at)) for at in risks]


def frontier_answer(needs: Mapping[str, float], runs: float, epsilon: float) -> str:
    """Return the title on how many users filtered gradients need; `needs` is by algorithm.

    `runs` is the least number with which the printed version runs, or infinity.
    """
    fewest, printed = (number_text(needs[slug]) for slug in ("step-calibrated", "theorem-c1"))
    return f"At ε = {epsilon:g}, filtered gradients can run from {fewest} users on; " + (
        f"their published theorem asks for {printed}"
        if math.isfinite(runs)
        else "the published version cannot run with any number of users"
    )


def frontier_small(
    needs: Mapping[str, float], runs: float, user_limit: float, point: UserLevel
) -> str:
    """Return sentences on which algorithms can run at the chosen point, and on the printed one.

    `runs` and `user_limit` are the least and the largest number of users of the printed one.
    """
    able = [NEED_NAMES[n.slug] for n in NEEDS if needs[n.slug] <= point.n]
    opening = f"{point.n:,} users are " + (
        f"enough for {'; '.join(able)}." if able else "too few for all of these."
    )
    as_printed = (
        f"As published, filtered gradients run from n = {number_text(runs)} on."
        if math.isfinite(runs)
        else f"The published theorems ask for n ≥ {number_text(needs['theorem-c1'])} (privacy) and "
        f"for δ < 1/(nm), so n < {short_text(user_limit)} (accuracy)."
    )
    return f"{opening} {as_printed}"
