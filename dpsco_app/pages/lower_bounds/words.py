"""The words of the page Lower bounds; those of its proofs are in `proof`."""

import math
from collections.abc import Sequence

from dpsco_app.pages.lower_bounds.state import View
from dpsco_app.parts.options import number_text, separated
from dpsco_core.catalogue import method_card
from dpsco_core.explain.fano.builder import Builder
from dpsco_core.explain.fano.instance import FanoCurve, Floors, MeanInstance, Rung
from dpsco_core.explain.fano.measured import Measured
from dpsco_core.explain.window import Notion

VOID = 1e-12  # a bound below this says nothing

PART_NAMES = {
    "gap": "The window",
    "map": "Map",
    "build": "Build",
    "prove": "Prove",
    "run": "Run",
}
MODE_NAMES = {
    "instance": "The hard mean problem",
    "data": "Your data",
    "free": "A packing of your own",
}
HARD_NAMES = {
    "hypercube": "All sign patterns",
    "spike": "The paper's packing",
    "tracing": "Tracing",
}
CLASS_NAMES = {"zcdp": "zCDP", "pure": "pure DP", "approx": "(ε, δ)"}
RUNG_NAMES = {
    "literal-cdp": "CDP Fano at the paper's q, constant 1",
    "closed-cdp": "CDP Fano, half of its factor",
    "fano-cdp": "CDP Fano",
    "given-cdp": "CDP Fano, number of spikes known",
    "gilbert-cdp": "CDP Fano, exact code sizes",
    "closed-hypercube-cdp": "CDP hypercube, closed form",
    "hypercube-cdp": "CDP hypercube",
    "rate-distortion-cdp": "CDP rate distortion",
    "literal-pure": "Pure-DP Fano, Markov form, the paper's q",
    "markov-pure": "Pure-DP Fano, Markov form",
    "fano-pure": "Pure-DP Fano",
    "hypercube-pure": "Pure-DP hypercube",
    "packing-pure": "Packing, by expectiles, pure DP",
}
SOURCE_NAMES = {
    "paper": "the paper's constants",
    "optimised": "best constants for its instance",
    "hypercube": "sharper instance",
}

INTRODUCTION = (
    "A lower bound says what **no** algorithm can do. The argument is a game of hide and seek: "
    "hide a word in the data so that a good estimate would reveal it, and show that a private "
    "output cannot carry that much. Set every number of the argument and see what it proves."
)
ABOUT_CURVE = (
    "Hidden is a pattern that few records show: with **spike probability q** a record is a spike "
    "of size $q^{-1/p}$ along the pattern, otherwise it is 0. Rarer spikes are harder to see under "
    "privacy, but move the mean by less: somewhere between lies the best q. Larger is better: a "
    "lower bound is a promise that every algorithm has an error of at least this."
)
ABOUT_LADDER = (
    "All of these are proven, for the same class. They differ in the constants: the paper proves "
    "the rate and leaves its constants open, and with the printed spike probability "
    "$q=\\sqrt d/(n\\sqrt\\rho)$ its inequality would be void. A better q, a larger packing and at "
    "last a sharper instance raise what is proven."
)
LOOK_AT_CURVE = (
    "A diamond marks the best q of a bound, red is the largest bound on the algorithms "
    "that your budget is about. Hypercube and rate distortion hide any pattern of "
    "signs, tracing draws the signs with a bias, Fano takes the paper's packing, or (exact code "
    "sizes) the largest one known to exist. A bound ends where its mean would leave R. "
)
ABOUT_PROOF = (
    "Every line is one step of the proof, with its number at the present settings. Move the spike "
    "probability away from the best one and watch two numbers pull against each other: the words "
    "move apart, and the output tells more of them."
)
ABOUT_FREE = (
    "Theorem 1.4 of Kamath, Liu and Zhang (2022), for any packing: N words whose parameters are at "
    "least r apart, while the laws of one record differ by at most TV and KL. The bound over n has "
    "two terms. The **statistical** one falls because more records tell more, the **privacy** one "
    "because more records differ between two words."
)
ABOUT_RUN = (
    "The instance is drawn anew in every trial: a pattern, then the records. A bound "
    "holds for the *average* over the patterns, so it is the mean error, the large mark, that must "
    "not be left of its line; a single trial may be. Methods without privacy are not bound at all."
)
HOW_TO_READ = r"""
- **n**, **d**: records, dimension. **p**: tail index; every coordinate's central p-th moment is at
  most 1. **R**: bound on the norm of the mean.
- **q**: spike probability. **ν**: the hidden word. $\theta=q^{1-1/p}$: a coordinate of the mean
  where the word has a one.
- **N**: number of words, $\ln N$ in nats (1 bit is 0.69 nats). **r**: least distance of two means.
- **TV**, **KL**: total variation and Kullback-Leibler divergence of the laws of one record.
- **B**: number of records that show the word, binomial with n and q.
- **ρ**: budget of concentrated DP (zCDP). **ε**: of pure DP; ε-DP implies ρ = ε²/2.
  For an (ε, δ) budget the concentrated bounds bind algorithms that spend no more than Gaussian
  releases within it may: ρ is theirs.
- **Sampling alone** is the best bound on every algorithm, private or not, for means within R
  (signs with hidden biases).
- **The window**: the best proven upper bound divided by the floor, for one class: coordinates with
  a p-th moment of at most 1, means of norm at most R. Upper bounds may use no more than that.
- The bounds: Kamath, Liu and Zhang (2022), Theorem 1.4 and Lemma 6.3, with explicit constants; the
  hypercube is a sharper variant of Lemma 6.3 with the same ingredients.
"""


def brief(value: float) -> str:
    """Return a number with three digits."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "none"
    return "0" if abs(value) < VOID else number_text(float(f"{value:.3g}"))


def ratio_text(ratio: float) -> str:
    """Return how many times, with two digits."""
    return number_text(float(f"{ratio:.2g}"))


def budget_text(at: MeanInstance, view: View) -> str:
    """Return the budget in words."""
    if view.notion == "zcdp":
        return f"ρ = {number_text(view.rho)} (zCDP)"
    if view.notion == "pure":
        return f"ε = {number_text(view.epsilon)} (pure DP)"
    return (
        f"(ε, δ) = ({number_text(view.epsilon)}, {number_text(view.delta)}), "
        f"Gaussian ρ = {brief(at.rho)}"
    )


# -- the hard mean problem ----------------------------------------------------------------------


def instance_sentence(at: MeanInstance, floors: Floors, view: View) -> str:
    """Return the result at the present settings, and which of the two floors is the higher one."""
    own = floors.pure if view.notion == "pure" else floors.concentrated
    where = f"At n = {view.n:,}, d = {view.d:,}, {budget_text(at, view)}:"
    if own <= VOID:
        return f"{where} the private bounds say nothing here."
    who = {
        "pure": "every pure-DP algorithm",
        "zcdp": "every zCDP algorithm",
        "approx": "every algorithm within that ρ",
    }[view.notion]
    first = f"{where} {who} has an error of at least **{brief(own)}** on some law."
    if own > floors.sampling:
        second = (
            f" **Privacy bites**: that is {_times(own / floors.sampling, 'what')} sampling alone "
            f"costs anyone, {brief(floors.sampling)}."
        )
    else:
        second = (
            f" **Statistics bites**: sampling alone costs anyone {brief(floors.sampling)}, "
            f"{_times(floors.sampling / own, 'as much')}."
        )
    if view.notion == "pure":
        third = (
            f" Concentrated algorithms with the ρ = ε²/2 that this implies, {brief(at.rho)}, are "
            f"bound by {brief(floors.concentrated)} only."
        )
    else:
        third = f" The best proof for pure DP at ε = {brief(at.epsilon)} gives {brief(floors.pure)}"
        implied = at.epsilon**2 / 2
        other = implied > at.rho * (1 + 1e-9)
        third += f"; it implies ρ = {brief(implied)} only." if other else "."
    return first + second + third


def _times(ratio: float, what: str) -> str:
    """Return how many times a thing is, in words where that is once.

    Examples
    --------
    >>> _times(2.57, "what"), _times(1.01, "what"), _times(1.01, "as much")
    ('2.6 times what', 'about what', 'about as much')
    """
    text = ratio_text(ratio)
    return f"about {what}" if text == "1" else f"{text} times {what}"


def classes_sentence(at: MeanInstance) -> str:
    """Say how the pure class of the figure lies to the concentrated one: ε-DP implies ε²/2-zCDP."""
    implied = at.epsilon**2 / 2
    start = f"Pure DP at ε = {brief(at.epsilon)} implies zCDP at ρ = ε²/2 = {brief(implied)}"
    if implied <= at.rho * (1 + 1e-9):
        return (
            f"{start}: the pure algorithms are among those of the concentrated bounds, so at least "
            "as much is proven about them."
        )
    return (
        f"{start}, and not at the ρ = {brief(at.rho)} of the concentrated bounds: neither class "
        "holds the other, so either bound may be the larger one."
    )


def floors_sentence(curves: Sequence[FanoCurve], slug: str, here: float) -> str:
    """Say why the proof that is shown gives less than the largest bound on the same class."""
    own = next(c for c in curves if c.slug == slug)
    best = max((c for c in curves if c.binds == own.binds), key=lambda c: c.best)
    if best.best <= here * (1 + 1e-3):
        return ""
    if best.hard == own.hard:
        why = "the instance is the same, but what the output tells is bounded for all of it at once"
    elif best.hard == "tracing":
        why = "its signs have a bias, and it adds up what the output tells of each record"
    else:
        why = "all sign patterns are hidden there, not a packing of them"
    return (
        f"This proof gives {brief(here)}. The largest bound at these settings, {brief(best.best)}, "
        f"is that of {best.name}: {why}."
    )


def own_floor_sentence(at: MeanInstance, floor: float, floors: Floors, notion: str) -> str:
    """Say why the floor of the instance that is run is below the largest one."""
    largest = floors.pure if notion == "pure" else floors.concentrated
    if floor <= VOID or largest <= floor * (1 + 1e-3):
        return ""
    return (
        f" The floor here, {brief(floor)}, is that of the instance as it is drawn, at "
        f"q = {_own(at)}. The largest one, {brief(largest)}, is proven for another instance or "
        "another q."
    )


def largest(curves: Sequence[FanoCurve], view: View) -> dict[Notion, FanoCurve]:
    """Return the largest bound on each class that the budget is about: those of the window."""
    classes: tuple[Notion, ...] = (view.notion,)
    if view.notion == "approx":
        classes = ("approx", "zcdp")
    within = {"pure": ("pure", "zcdp")}  # ε-DP algorithms are ε²/2-zCDP
    return {
        kind: max((c for c in curves if c.binds in within.get(kind, (kind,))), key=lambda c: c.best)
        for kind in classes
    }


def curve_words(curves: Sequence[FanoCurve], view: View) -> tuple[str, str]:
    """Return what is proven on each class, and by which argument."""
    best = largest(curves, view)
    parts = [f"no {CLASS_NAMES[k]} algorithm less than {brief(c.best)}" for k, c in best.items()]
    parts[0] = "N" + parts[0][1:].replace("less", "can promise less")
    names = separated([f"“{c.name}”" for c in best.values()])
    (code,) = (c for c in curves if c.slug == f"fano-{'pure' if view.notion == 'pure' else 'cdp'}")
    top = list(best.values())[-1]
    small = f"By {names} at q = {brief(top.best_q)}: "
    if code.best <= VOID:
        return ", ".join(parts), small + "the paper's packing is too small to prove anything."
    ratio = ratio_text(top.best / code.best)
    return ", ".join(parts), f"{small}{ratio} times what the paper's packing gives."


def ladder_title(rungs: Sequence[Rung], view: View) -> str:
    """Return the takeaway of the forms of the bound."""
    kind = "pure" if view.notion == "pure" else "zcdp"
    best: dict[str, float] = {}
    for rung in rungs:
        if rung.binds == kind:
            best[rung.source] = max(best.get(rung.source, 0.0), rung.value)
    words = {source: "nothing" if value <= VOID else brief(value) for source, value in best.items()}
    return (
        f"The paper's constants prove {words['paper']}, better ones {words['optimised']}, "
        f"the hypercube {words['hypercube']} ({CLASS_NAMES[kind]})"
    )


def literal_sentence(factor: float, q: float) -> str:
    """Say what the printed spike probability gives."""
    if factor > 0:
        return f"At the printed q = {brief(q)} Fano's factor is {brief(factor)}: it holds here."
    shown = f"{factor:.1f}".replace("-", "−") if math.isfinite(factor) else "−∞"
    return (
        f"With the printed q = {brief(q)}, constant 1, Fano's factor would be {shown}: below 0, so "
        "the inequality says nothing. The proof needs a smaller constant, which the paper hides in "
        "its Ω."
    )


def proof_title(q: float, bound: float, ceiling: float, shift: float) -> str:
    """Return the takeaway of the bound below what it would be if the output told nothing."""
    if bound <= VOID:
        return f"At q = {brief(q)} the output may tell everything: nothing is proven"
    share = bound / ceiling if ceiling > 0 else 0.0
    tail = "" if shift == 1 else ", and the best q proves more"
    return f"At q = {brief(q)}, {100 * share:.2g} % of the ceiling is left: {brief(bound)}{tail}"


# -- a packing of one's own ---------------------------------------------------------------------


def free_answer(at: Builder) -> str:
    """Return the result of a packing, and which of its two terms is the bound."""
    told = (
        f"{brief(at.sampling_information)} nats in the records, "
        f"{brief(at.privacy_information)} past ρ-privacy, {brief(at.log_size)} to know"
    )
    if at.bites == "nothing":
        return f"Nothing is proven: {told}"
    who = "ρ-zCDP algorithm" if at.bites == "privacy" else "algorithm, private or not,"
    return f"No {who} can promise less than {brief(at.bound)}: {told}"


def free_title(at: Builder) -> str:
    """Return the takeaway of the bound over n."""
    level, end = at.crossover, at.vanishing
    gone = "" if math.isinf(end) else f"; from n = {_count(end)} on, nothing is proven"
    if end <= 1:
        return "Even a single record may tell the word: nothing is proven at any n"
    if level >= end:
        return f"Privacy sets the bound at every n{gone}"
    if level <= 1:
        return f"The records' own noise sets the bound at every n{gone}"
    return f"Up to n = {_count(level)} privacy sets the bound, beyond it the records' own noise"


def _count(n: float) -> str:
    return number_text(float(f"{n:.2g}"))


def pure_sentence(at: Builder) -> str:
    """Put pure DP beside concentrated DP."""
    text = (
        f"Pure DP at ε = {brief(at.epsilon)} (it implies ρ = {brief(at.epsilon**2 / 2)}): at least "
        f"**{brief(at.pure_bound)}**, through the records that differ, "
        f"{brief(at.expected_changes)} on average."
    )
    if at.total_variation > at.possible_variation * (1 + 1e-9):
        text += (
            f" A divergence of {brief(at.kl)} allows a total variation of at most "
            f"{brief(at.possible_variation)} (Pinsker; Bretagnolle and Huber): no two laws have "
            "both of your numbers, and a smaller TV would prove more."
        )
    return text


# -- measured -----------------------------------------------------------------------------------


def run_title(rows: Sequence[Measured], at: MeanInstance) -> str:
    """Return the takeaway of the measured errors."""
    private = [r for r in rows if r.errors and r.floor > 0]
    if not private:
        return f"The floor on this instance, and the error of always answering 0 (q = {_own(at)})"
    low = [r for r in private if not r.above]
    if low:
        names = separated([method_card(r.method).name for r in low])
        return f"Below its floor: {names}. Either few trials, or a fault"
    nearest = min(private, key=lambda r: r.mean / r.floor)
    return (
        "Every private mean error lies above its floor; the nearest, "
        f"{method_card(nearest.method).name}, {ratio_text(nearest.mean / nearest.floor)} times"
    )


def run_sentence(rows: Sequence[Measured], trivial: float) -> str:
    """Put the errors that were measured beside the answer that looks at no data."""
    private = [r for r in rows if r.errors and r.floor > 0]
    beaten = [r for r in private if r.mean > trivial]
    text = f"Always answering 0 has an error of {brief(trivial)} here"
    if private and len(beaten) == len(private):
        text += ", less than every private method: using the data does not pay"
    elif beaten:
        text += f", less than that of {separated([method_card(r.method).name for r in beaten])}"
    return text + "."


def _own(at: MeanInstance) -> str:
    return brief(at.own_probability)
