"""Bounds as lines of a panel, and what they say when they are pointed at."""

from collections.abc import Sequence

from dpsco_app.figure.colours import IMPOSSIBLE, WINDOW, Pair
from dpsco_app.figure.methods import colour_of, short_names
from dpsco_app.figure.values import Line
from dpsco_app.front.study import place
from dpsco_app.front.titles import at_point
from dpsco_app.parts.options import in_print, rounded
from dpsco_core.base.cards import BoundCard
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.explain.window import Span
from dpsco_core.results.report import Evaluation
from dpsco_core.scenario import Scenario

HUNDREDTH = 0.01
Floor = Sequence[tuple[float | None, Evaluation]]  # at every point


def bound_line(curve: Sequence[Evaluation]) -> Line:
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


def bound_colour(card: BoundCard) -> Pair:
    """Return the colour of a bound: red below, its method's above."""
    if card.kind == "lower":
        return IMPOSSIBLE.edge
    return colour_of(card.method) if card.method else WINDOW.edge


def short_name(card: BoundCard) -> str:
    """Return the name of a bound in the ladder."""
    if card.kind == "lower":
        return "CDP Fano" if card.name.endswith("CDP Fano") else card.name
    own = short_names((card.method,))[card.method] if card.method else card.name
    return f"{own}, {'rate' if card.constant == 'rate' else 'proven'}"


def class_name(curve: Sequence[Evaluation]) -> str:
    """Return the name of a bound's line: of one for fewer laws than the worst case, with these.

    Such an upper bound may well be below that worst case.
    """
    card = curve[0].bound.card
    proven_above = (card.kind, card.constant) == ("upper", "explicit")
    if not proven_above or all(COORDINATE in e.covers for e in curve):
        return short_name(card)
    return f"{short_name(card).removesuffix(', proven')}, for {card.laws.short}"


def bound_hover(e: Evaluation) -> str:
    card = e.bound.card
    lines = [f"<b>{card.name}</b>: {rounded(e.value)}", f"{card.paper}, {card.statement}"]
    lines += ["a rate, drawn with constant 1"] if card.constant == "rate" else []
    lines.append(
        f"binds every {in_print(e.binds)}, in the worst case over {card.laws.words}"
        if e.binds
        else f"holds for {card.laws.words}"
    )
    lines += [e.note] if e.note else []
    lines += [f"⚠ {in_print(failure)}" for failure in e.failures]
    return "<br>".join(lines)


def window_hover(span: Span) -> str:
    """Say which bounds are the ends of the window."""
    lines = ["<b>The window</b>"]
    if span.upper is None:
        lines.append(f"No bound is proven below the answer without data, {rounded(span.high)}.")
    else:
        lines.append(f"Smallest proven upper bound: {span.upper.card.name}, {rounded(span.high)}.")
    if span.lower is not None:
        lines.append(f"Largest proven lower bound: {span.lower.card.name}, {rounded(span.low)}.")
    return "<br>".join(lines)


def floor_name(scenario: Scenario, e: Evaluation) -> str:
    """Return whose floor it is: of algorithms of a kind, or of sampling, which binds all others."""
    if by_sampling(e):
        return "sampling floor"
    return f"{kind_bound(scenario, e)} floor"


def kind_bound(scenario: Scenario, e: Evaluation) -> str:
    """Return the kind of algorithms that a floor binds."""
    return "zCDP" if scenario.rho is not None or e.bound.card.privacy == "zcdp" else "private"


def by_sampling(e: Evaluation) -> bool:
    """Whether sampling alone has this floor, to a hundredth."""
    sampling, privacy = (e.terms.get(name, 0.0) for name in ("sampling", "privacy"))
    power = 2 if e.bound.card.quantity == "l2 error" else 1  # the parts of errors add as squares
    alone = sampling > 0 and (privacy / sampling) ** power < HUNDREDTH
    return alone and e.value < (1 + HUNDREDTH) * sampling


def floor_words(scenario: Scenario, floor: Floor, x: float | None) -> tuple[str, ...]:
    """Return what stands in the region below a floor."""
    if all(by_sampling(e) for _, e in floor):
        return ("no algorithm, private or not,", "can be here")
    private = f"no {kind_bound(scenario, floor[0][1])} algorithm"
    if by_sampling(dict(floor)[x]):
        at = at_point(scenario, x).removeprefix(", ")
        return (private, "can be here, and no other", f"one at {at}")
    return (private, "can be here")
