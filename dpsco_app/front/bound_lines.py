"""Bounds as lines of a panel, and the texts shown when the mouse is over them."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dpsco_app.figure.colours import IMPOSSIBLE, WINDOW, Pair
from dpsco_app.figure.methods import colour_of, short_names
from dpsco_app.figure.values import Line
from dpsco_app.front.study import place
from dpsco_app.parts.options import in_print, inside, rounded
from dpsco_app.parts.problem_words import wider_name
from dpsco_core.base.cards import BoundCard, Proof
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.explain.window import Span
from dpsco_core.results.report import Evaluation
from dpsco_core.scenario import Scenario

HUNDREDTH = 0.01
THIN = 0.7
# This is the idea of Fano's inequality.
FEW_BITS = "a private output holds too few bits to find the mean"
# The kinds of proof of a limit: the name and the idea of each.
FANO = "Fano’s inequality"
SIGNS = "a private output cannot tell the sign of each coordinate"
PROOFS: Mapping[Proof, tuple[str, str]] = {
    "fano by distance": (FANO, FEW_BITS),
    "fano by packing": (FANO, FEW_BITS),
    "fano over words": (FANO, FEW_BITS),
    "two-sided information": ("an information bound", FEW_BITS),
    "rate distortion": ("a rate-distortion bound", FEW_BITS),
    "hypercube": ("a bound on signs", SIGNS),
    "hidden signs": ("a bound on hidden signs", SIGNS),
    "assouad": ("an Assouad bound", SIGNS),
    "hidden corner": ("a bound on a hidden corner", "a private output cannot tell the best corner"),
    "packing": ("a packing bound", "any private output fits too many possible means"),
    "tracing": ("a tracing bound", "a closer answer would reveal who is in the data"),
    "shifts": ("a bound for shifts of these data", "a private output tells too little of the mean"),
    "sampling": ("a bound without privacy", "so few records do not tell more"),
}
# The algorithms to which a limit applies, by its cause: sampling, or a notion of privacy.
BOUND_ONES = {
    "private": "private algorithm",
    "zCDP": "zCDP algorithm",
    "sampling": "algorithm, private or not,",
}
LINE = 33  # The largest number of letters in a line beside the name of a limit.
WIDER_NOTE = "a wider class of losses: methods for this problem may have smaller errors"


def bound_line(curve: Sequence[Evaluation]) -> Line:
    """Return the line of one bound from its evaluations along the axis of the study.

    The line is pale if a hypothesis of the bound fails somewhere.
    """
    card = curve[0].bound.card
    lower = card.kind == "lower"
    return Line(
        key=card.slug,
        name=class_name(curve),
        kind="proven",
        x=[place(e.x) for e in curve],
        y=[e.value for e in curve],
        colour=bound_colour(card),
        width=1.1 if lower else 1.4,
        dash="dash" if card.constant == "rate" else "solid",
        hover=[bound_hover(e) for e in curve],
        opacity=0.33 if any(e.failures for e in curve) else 1.0,
    )


def wider_line(curve: Sequence[Evaluation]) -> Line:
    """Return a thin line, named by its class, of a lower bound over a wider class of losses.

    It is no limit of the methods for the problem, whose lines may run below it.
    """
    return replace(
        bound_line(curve),
        name=wider_name(curve[0].bound.card),
        width=THIN,
        hover=[f"{bound_hover(e)}<br>{WIDER_NOTE}" for e in curve],
    )


def bound_colour(card: BoundCard) -> Pair:
    """Return the colour of a bound: red for a lower bound, its method's hue for an upper bound."""
    if card.kind == "lower":
        return IMPOSSIBLE.edge
    return colour_of(card.method) if card.method else WINDOW.edge


def short_name(card: BoundCard) -> str:
    """Return the short name of a bound, for the table of a figure's lines."""
    if card.kind == "lower":
        name = card.name
        if card.is_fano:
            name = next(part for part in name.split(", ") if "Fano" in part)
            name = name.removesuffix(" by distance")
        return f"{name[:1].upper()}{name[1:]}"
    method_name = short_names((card.method,))[card.method] if card.method else card.name
    return f"{method_name}, {'rate' if card.constant == 'rate' else 'proven'}"


def limit_words(scenario: Scenario, e: Evaluation) -> str:
    """Return the data that a limit is about and the algorithms that it binds, in short lines."""
    data = "these data" if e.bound.card.of_law else "some data with this tail"
    claim = f"no {BOUND_ONES[bound_by(scenario, e)]} errs less"
    return "\n".join((f"{data}:", *textwrap.wrap(claim, LINE)))


def second_proof(scenario: Scenario, card: BoundCard) -> str:
    """Return the words "a second proof", with "(zCDP)" if it binds fewer algorithms than the limit.

    A bound on zCDP algorithms does not bind every private algorithm under another budget.
    """
    binds_fewer = card.privacy == "zcdp" and scenario.rho is None
    return "a second proof (zCDP)" if binds_fewer else "a second proof"


def proof_words(card: BoundCard) -> str:
    """Return the kind of a limit's proof and its idea, as part of a sentence."""
    if not card.proof:  # The bound of a plugin need not say how it is proven.
        return inside(f"the {card.name.split(',')[0]} bound")
    name, idea = PROOFS[card.proof]
    return f"{short_name(card) if card.is_fano else name}: {idea}"


def class_name(curve: Sequence[Evaluation]) -> str:
    """Return the name of a bound's line, with its class of laws if that is narrower than usual.

    An upper bound for a narrower class may lie below the worst case.
    """
    card = curve[0].bound.card
    proven_above = (card.kind, card.constant) == ("upper", "explicit")
    if not proven_above or all(COORDINATE in e.covers for e in curve):
        return short_name(card)
    return f"{short_name(card).removesuffix(', proven')}, for {card.laws.short}"


def bound_hover(e: Evaluation) -> str:
    """Return the hover text of a bound at one point: its value, source, scope and failures."""
    card = e.bound.card
    worst = f"binds every {in_print(e.binds)}, in the worst case over {card.laws.words}"
    lines = (
        f"<b>{card.name}</b>: {rounded(e.value)}",
        f"{card.paper}, {card.statement}",
        "a rate, drawn with constant 1" if card.constant == "rate" else "",
        worst if e.binds else f"holds for {card.laws.words}",
        "mostly sampling error" * (e.terms.get("sampling", 0) > e.terms.get("privacy", 0) > 0),
        e.note,
        *(f"⚠ {in_print(failure)}" for failure in e.failures),
    )
    return "<br>".join(filter(None, lines))


LARGEST = "Largest proven lower bound"


def window_hover(span: Span, *, on_instance: bool = False) -> str:
    """Return the hover text of the window: the bounds at its two ends.

    On a hard instance the lower end is the bound for that instance.
    """
    upper = f"Smallest proven upper bound: {span.upper.card.name}, {rounded(span.high)}."
    if span.ignores_data:
        upper = f"No bound is proven below that of answering without data, {rounded(span.high)}."
    lower = ""
    if span.lower is not None:
        lower_label = "Largest lower bound proven on these data" if on_instance else LARGEST
        lower = f"{lower_label}: {span.lower.card.name}, {rounded(span.low)}."
    return "<br>".join(filter(None, ("<b>A promise for all data</b>", upper, lower)))


def bound_by(scenario: Scenario, e: Evaluation) -> str:
    """Return the key in BOUND_ONES of the algorithms to which a lower bound applies.

    It is "sampling", for all algorithms, if privacy raises the bound by less than one per cent, and
    otherwise "zCDP" or "private".
    """
    sampling, privacy = (e.terms.get(name, 0.0) for name in ("sampling", "privacy"))
    # The parts of an l2 error add as squares, those of an excess risk as they are.
    power = 2 if e.bound.card.quantity == "l2 error" else 1
    is_mostly_sampling = sampling > 0 and (privacy / sampling) ** power < HUNDREDTH
    if is_mostly_sampling and e.value < (1 + HUNDREDTH) * sampling:
        return "sampling"
    return "zCDP" if scenario.rho is not None or e.bound.card.privacy == "zcdp" else "private"


def floor_words(
    scenario: Scenario, floor: Sequence[tuple[float | None, Evaluation]]
) -> tuple[str, ...]:
    """Return the two lines of words inside the red region, on which algorithms it binds."""
    kinds = {bound_by(scenario, e) for _, e in floor} - {"sampling"}
    subject = f"No {kinds.pop()} algorithm" if kinds else "No algorithm, private or not,"
    return (f"<b>{subject}</b>", "<b>can promise an error in here</b>")
