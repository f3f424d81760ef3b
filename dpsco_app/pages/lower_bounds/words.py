"""The words of the page Lower bounds; those of its proofs are in `proof`."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpsco_app.parts.options import (
    SYMBOL,
    at_most,
    budget_text,
    inside,
    number_text,
    separated_names,
    short_text,
)
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.catalogue import method_card
from dpsco_core.explain.fano.instance import FanoCurve, Floors
from dpsco_core.explain.tracing import Spied, most_caught
from dpsco_core.explain.window import Notion, Standing
from dpsco_core.privacy.budget import Budget

VOID = 1e-12  # A bound below this value counts as void.

# These words name the algorithms that a bound binds, by the notion of privacy.
ALGORITHMS: dict[Notion, str] = {
    "approx": "every (ε, δ) algorithm",
    "zcdp": "every zCDP algorithm",
    "pure": "pure ε",
}
LINE_NAMES = {notion: f"{COORDINATE.worst}, {whom}" for notion, whom in ALGORITHMS.items()}
AXIS_NAMES = {
    "n": "Number of records n",
    "d": "Dimension d",
    "epsilon": "Privacy budget ε (epsilon)",
    "rho": "Privacy budget ρ (zCDP)",
    "p": "Tail index p",
}
SYMBOLS = SYMBOL | {"rho": "ρ"}
BOUND_LINE, NO_DATA = "Best proven upper bound", "Without data, worst case"
QUESTIONS = {
    "gap": "How small an error can anybody promise?",
    "prove": "Why can no private algorithm do better?",
    "data": "How well can your own data be estimated in private?",
}
CLASS_NAMES = {"zcdp": "zCDP", "pure": "pure DP", "approx": "(ε, δ)"}
ABOUT_PROOF = (
    "Every line is one step of the proof, with its number at the present settings. Rarer spikes "
    "are harder to see under privacy, but move the mean by less. Move the spike probability away "
    "from the best one and watch two numbers pull against each other: the words move apart, and "
    "the output tells more of them."
)
ABOUT_PACKING = (
    "Theorem 1.4 of Kamath, Liu and Zhang (2022) is the same argument for any N words whose "
    "parameters are at least r apart, while the laws of one record differ by at most α in total "
    "variation and β in divergence: "
    r"$E\|\hat\theta-\theta\|_2\ge\frac r2\max\{1-\frac{n\beta+\ln2}{\ln N},\ "
    r"1-\frac{\rho(n^2\alpha^2+n\alpha(1-\alpha))+\ln2}{\ln N},\ 0\}$. The first term is that of "
    "statistics, as the records hold at most nβ nats; the second that of privacy. For a packing "
    "of your own: `dpsco fano --help`."
)
ABOUT_FORMS = (
    "How much each step of the argument gains. The first two are the paper's Theorem 1.4 with a "
    "packing; from the third on all sign patterns are words. One distance is the continuum Fano of "
    "Duchi and Wainwright (2013)."
)
ABOUT_EXPECTILE = (
    "This proof compares all sign patterns at once. Privacy keeps the output from making any "
    "pattern much more likely than another. So whatever you answer, most patterns stay possible, "
    "and most patterns are far from any one answer."
)
ABOUT_TRACING = (
    "Can a spy tell whether your record was used? An accurate estimate must follow the records, "
    "so it agrees a little with each record that made it. Privacy limits that agreement record by "
    "record: there cannot be enough of it for the accuracy. This proof binds every (ε, δ) "
    "algorithm, whatever noise it adds."
)
ABOUT_SPY = (
    "She scores spikes that were among the data, and fresh ones that were not, on data of the "
    "proof's instance. The figure shows how many records in use she finds at every rate of "
    "false alarms. No test of a private output can reach the red region."
)
ABOUT_FLOOR = (
    "Over all positions of the mean, on the data of your scenario and no others: nature hides the "
    "mean μ in a ball of radius R, and draws n records from μ + Z, where the law of Z is public."
)
UNEQUAL = (
    "At a decay of the scales above 0 the proven limit weights the coordinates: its value is on "
    "Explore and in the tables of Bounds, its proof in theory/instance-floors.md, 16."
)
WHOSE_FLOOR = (
    "It binds the worst position, and the average over the prior. No bound can bind one "
    "position alone: the algorithm that always answers the true mean has no error there."
)
HOW_TO_READ = r"""
A lower bound says what **no** algorithm can do. The argument is a game of hide and seek: hide a
word in the data so that a good estimate would reveal it, and show that a private output cannot
carry that much.

- **n**, **d**: records, dimension. **p**: tail index; every coordinate's central p-th moment is at
  most 1. **R**: bound on the norm of the mean.
- **q**: spike probability. **ν**: the hidden word. $\theta=q^{1-1/p}$: a coordinate of the mean
  where the word has a one. For p below 2 spike and mean are shrunk until the central moment is 1.
- **N**: number of words, $\ln N$ in nats (1 bit is 0.69 nats). **r**: least distance of two means.
- **TV**, **KL**: total variation and Kullback-Leibler divergence of the laws of one record.
- **B**: number of records that show the word, binomial with n and q.
- **ρ**: budget of concentrated DP (zCDP). **ε**: of pure DP; ε-DP implies ρ = ε·tanh(ε/2).
  For an (ε, δ) budget the concentrated bounds bind algorithms that spend no more than Gaussian
  releases within it may: ρ is theirs.
- In the figure over q a record is a spike of size $q^{-1/p}$ along a hidden pattern with
  probability q, and otherwise 0. A diamond marks the best q of a bound, red is the largest bound on
  the algorithms that your budget is about. Two-sided information, Fano by distance, hypercube and
  rate distortion hide any pattern of signs, tracing draws the signs with a bias, and the older
  forms of Fano take the paper's packing, or (exact code sizes) the largest one known to exist. A
  bound ends where its mean would leave R.
- **Sampling alone** is the best bound on every algorithm, private or not, for means within R
  (signs with hidden biases).
- **The window**: the best proven upper bound divided by the proven limit, for one class:
  coordinates with a p-th moment of at most 1, means of norm at most R. Upper bounds may use no more
  than that.
- The bounds: Kamath, Liu and Zhang (2022), Theorem 1.4 and Lemma 6.3, with explicit constants; the
  hypercube is a sharper variant of Lemma 6.3 with the same ingredients. Fano by distance and
  two-sided information are proven in theory/bounds-everywhere.md, 4 and 1.
"""


def brief(value: float) -> str:
    """Return a number as text with three digits; "none" for NaN or minus infinity."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "none"
    return "0" if abs(value) < VOID else number_text(float(f"{value:.3g}"))


# -- the window ---------------------------------------------------------------------------------


def standing_words(standing: Standing) -> tuple[str, str]:
    """Return the headline with the proven limits, and a sentence on the method and the setting."""
    window, s = next(iter(standing.windows.values())), standing.point
    adjectives = {"approx": "(ε, δ)-private", "zcdp": "ρ-zCDP", "pure": "ε-private"}
    claim = f"No {adjectives[window.notion]} algorithm for a mean"
    answer = f"{claim} can promise less than {brief(window.floor)}"
    place = f"In the worst case at n = {s.n:,}, d = {s.d:,} and p = {number_text(s.p)}"
    if window.upper is None or window.ceiling >= standing.start:
        return answer, f"{place} nothing is proven below the answer 0, {brief(standing.start)}."
    small = (
        f"{place}, the best proven method, “{method_card(window.upper.card.method).name}”, "
        f"guarantees {brief(window.ceiling)}, {short_text(standing.ratio(window.notion), 2)} times "
        f"the proven limit. Without data the error is "
        f"at most {brief(standing.start)}, in the worst case over all data."
    )
    return f"{answer}; {brief(window.ceiling)} is proven possible", small


def zcdp_sentence(standing: Standing) -> str:
    """Return sentences on zCDP algorithms, or nothing if the headline is already about them."""
    if len(standing.windows) == 1:
        return ""
    return (
        "An algorithm is zCDP if it hides a record as Gaussian noise does; ρ measures how well. At "
        f"ρ = {brief(standing.point.setting.rho)}, for such algorithms the proven limit is "
        f"{brief(standing.windows['zcdp'].floor)}, and "
        f"{brief(standing.chosen('zcdp'))} is proven possible: "
        f"{short_text(standing.ratio('zcdp'), 2)} times that limit. "
    )


def shares_sentence(standing: Standing) -> str:
    """Return a sentence on the terms that make the window between the bounds as wide as it is."""
    window = list(standing.windows.values())[-1]
    if window.upper is None:
        return "No upper bound is proven here."
    parts = ", ".join(
        f"{100 * share:.0f} % without its {name}"
        for name, share in sorted(window.shares.items(), key=lambda item: -item[1])
    )
    widest = " and ".join(f"**{name}**" for name in window.widest)
    return (
        f"The best proven upper bound, “{window.upper.card.name}”, would be smaller by {parts}: "
        f"{widest} make{'s' * (len(window.widest) == 1)} the window wide."
    )


def sweep_title(standings: Sequence[Standing], field: str) -> str:
    """Return the title that says how the window between the bounds changes over a field."""
    widths: list[str] = []
    for notion in reversed(list(standings[0].windows)):
        ratios = [s.ratio(notion) for s in standings]
        span = f"{short_text(min(ratios), 2)} to {short_text(max(ratios), 2)}"
        widths.append(f"{span}{' times its lower edge' * (not widths)} for {ALGORITHMS[notion]}")
    ends = [
        number_text(float(f"{getattr(s.point, field):.3g}")) for s in (standings[0], standings[-1])
    ]
    swept = f"from {SYMBOLS[field]} = {ends[0]} to {ends[1]}"
    return f"The window’s upper edge is {' and '.join(widths)}, {swept}"


# -- the hard mean problem ----------------------------------------------------------------------


def proof_title(curve: FanoCurve, bound: float) -> str:
    """Return the title of a proof: the error that no algorithm of its class can promise."""
    if bound <= VOID:
        return "At this spike probability the output may tell everything: nothing is proven"
    return (
        f"No {CLASS_NAMES[curve.binds]} algorithm for a mean can promise less than {brief(bound)}"
    )


def proof_small(curve: FanoCurve, q: float, bound: float, ceiling: float) -> str:
    """Return a sentence on a proof's bound at the spike probability q.

    The bound is a share of `ceiling`, the error if the output revealed nothing.
    """
    share = bound / ceiling if ceiling > 0 else 0.0
    is_improvable = curve.best > bound * (1 + 1e-3)
    return (
        f"At q = {brief(q)}: {100 * share:.2g} % of {brief(ceiling)}, the error if the output told "
        f"nothing.{f' The best q proves {brief(curve.best)}.' if is_improvable else ''}"
    )


def bites_sentence(best: Mapping[Notion, FanoCurve], floors: Floors) -> str:
    """Return the sentence on which of two lower bounds is larger: that of privacy or sampling."""
    *_, (notion, curve) = best.items()
    larger = "Privacy" if curve.best > floors.sampling else "Statistics"
    return (
        f"**{larger} bites**: the largest {CLASS_NAMES[notion]} bound is {brief(curve.best)}, and "
        f"sampling alone costs anyone {brief(floors.sampling)}."
    )


def floors_sentence(curves: Sequence[FanoCurve], curve: FanoCurve) -> str:
    """Return why `curve` is below the largest bound on its class; empty if it is the largest."""
    best = max((c for c in curves if c.binds == curve.binds), key=lambda c: c.best)
    if best.best <= curve.best * (1 + 1e-3):
        return ""
    if best.hard == curve.hard:
        reason = (
            "the instance is the same, but what the output tells is bounded for all of it at once"
        )
    elif best.hard == "tracing":
        reason = "its signs have a bias, and it adds up what the output tells of each record"
    else:
        reason = "all sign patterns are hidden there, not a packing of them"
    times = (
        f", {short_text(best.best / curve.best, 2)} times this one," if curve.best > VOID else ""
    )
    return (
        f"The largest {CLASS_NAMES[curve.binds]} bound at these settings, "
        f"{brief(best.best)}{times} is that of {best.name}: {reason}."
    )


def spy_sentence(spied: Sequence[Spied], budget: Budget) -> str:
    """Return how many records in use the spy finds, and how many she may find at most."""
    most_found = float(most_caught(budget, np.array([0.05]))[0])
    parts = separated_names(
        [f"{100 * s.caught:.0f} % from {inside(method_card(s.method).name)}" for s in spied]
    )
    return (
        f"With false alarms for 5 % of the records that were not used, she finds {parts} "
        f"of those that were. Privacy at {budget_text(budget)} allows at most "
        f"{at_most(most_found)}."
    )


def caught_title(spied: Sequence[Spied], budget: Budget) -> str:
    """Return the title that says which curve lies above what the budget allows."""
    names_above = [method_card(one.method).name for one in spied if one.beats(budget)]
    if not names_above:
        return "No output lets the spy do better than privacy allows"
    verb = "let" if len(names_above) > 1 else "lets"
    return f"{separated_names(names_above)} {verb} the spy do better than privacy allows"
