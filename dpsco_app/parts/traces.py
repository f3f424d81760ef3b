"""Lines of a figure: bounds, with the region below them, and measured curves; no Streamlit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd

from dpsco_app.figure.methods import colour_of, symbol_of
from dpsco_app.parts.look import (
    FADED,
    REGION,
    Label,
    Look,
    Part,
    area_part,
    bound_colour,
    line_part,
    note,
    translucent,
    wrapped,
)
from dpsco_app.parts.options import SYMBOL, in_print, number_text
from dpsco_app.parts.problem_words import is_instance
from dpsco_core.base.cards import BoundCard
from dpsco_core.base.law_classes import COORDINATE, SHIFTS, LawClass
from dpsco_core.catalogue import method_card
from dpsco_core.data import Spike
from dpsco_core.fields import is_linear
from dpsco_core.results.report import Evaluation
from dpsco_core.results.tables import interval_half_width
from dpsco_core.scenario import Scenario

PAD = 0.03  # of the axis, on each side of what is drawn
# Where the words in the region begin and end, as shares of the figure's width.
TEXT_FROM, TEXT_TO = 0.04, 0.45
HERE = "No private algorithm can do better on these data"
TOLD = "No private algorithm can do better on these data,<br>even if it is told their shape"
FLOOR_HERE = "Floor on these data"
BEST_HERE = "Best possible on these data"
# The notions of privacy that a lower bound binds, the weakest first, and whom their line names.
WHOM = {
    ("none", "approx"): "every (ε, δ) algorithm",
    ("zcdp",): "every zCDP algorithm",
    ("pure",): "pure ε",
}
WORST = {notions: f"{COORDINATE.worst}, {whom}" for notions, whom in WHOM.items()}


def curves_of(bounds: Sequence[Evaluation]) -> list[list[Evaluation]]:
    """Return the evaluations curve by curve; those without a positive value are left out."""
    curves: dict[str, list[Evaluation]] = {}
    for e in bounds:
        if e.x is not None and 0 < e.value < math.inf:
            curves.setdefault(e.bound.card.slug, []).append(e)
    return list(curves.values())


def is_floor(card: BoundCard) -> bool:
    return card.kind == "lower" and card.constant == "explicit"


def binds_here(card: BoundCard, scenario: Scenario) -> bool:
    """Whether the region below a bound is shaded: only on the data that it is proven for.

    A floor for the shifts of these data is a bound on the error at their mean if that is not 0: its
    ball is then no larger than that mean, and whoever knows better knows more than the shape.
    """
    if card.law_class == SHIFTS:
        return scenario.offset > 0
    return is_floor(card) and is_instance(card, scenario.problem, scenario.distribution)


@dataclass(frozen=True, kw_only=True)
class BoundLine:
    """A line of the figure: a bound, or the largest at every x of several that bind the same.

    `name`: that of the only bound if None. `filled`: whether it binds on the data that are drawn.
    `of`: the curves that it is the largest of.
    """

    curve: list[Evaluation]
    name: str | None = None
    filled: bool = False
    of: list[list[Evaluation]] = field(default_factory=list)


def lines_of(bounds: Sequence[Evaluation], scenario: Scenario) -> list[BoundLine]:
    """Return the lines that are drawn of these bounds, the proven lower ones first."""
    curves = curves_of(bounds)
    others = [c for c in curves if not is_floor(c[0].bound.card) or any(e.failures for e in c)]
    return _floors(curves, scenario) + [BoundLine(curve=c, name=class_name(c)) for c in others]


def _floors(curves: Sequence[list[Evaluation]], scenario: Scenario) -> list[BoundLine]:
    """Return the lines of the lower bounds with proven constants whose hypotheses hold.

    Fano's bound, that of rare spikes, keeps its name. Of the others there is one line for the data
    that they are proven for, and over each class of laws one worst case for each notion of privacy:
    what binds a weaker notion binds a stronger one too. What binds every algorithm is a part of
    each, and a line of its own only where there is no other.
    """
    proven = [c for c in curves if is_floor(c[0].bound.card) and not any(e.failures for e in c)]
    here = [c for c in proven if binds_here(c[0].bound.card, scenario)]
    rest = [c for c in proven if c not in here]
    fano = [c for c in rest if c[0].bound.card.instance == Spike.card.slug]
    lines = [BoundLine(curve=c) for c in fano]
    lines += _joined([c for c in here if not c[0].bound.card.of_law], BEST_HERE, filled=True)
    known = [c for c in proven if c[0].bound.card.of_law]
    lines += _joined(known, FLOOR_HERE, filled=known != [] and known[0] in here)
    rest = [c for c in rest if c not in known]
    others: dict[LawClass, list[list[Evaluation]]] = {}
    for curve in rest:
        if curve not in fano:
            others.setdefault(curve[0].bound.card.laws, []).append(curve)
    for laws, found in others.items():
        weaker: list[list[Evaluation]] = []
        for notions, whom in WHOM.items():
            own = [c for c in found if c[0].bound.card.privacy in notions]
            weaker += own
            if any(c[0].bound.card.privacy != "none" for c in own):
                lines += _joined(weaker, f"{laws.worst}, {whom}", filled=False)
        if weaker and all(c[0].bound.card.privacy == "none" for c in weaker):
            lines += _joined(weaker, f"{laws.worst}, every algorithm", filled=False)
    return lines


def _joined(curves: list[list[Evaluation]], name: str, *, filled: bool) -> list[BoundLine]:
    """Return the line of several curves: at every x the evaluation of the largest."""
    if len(curves) < 2:
        return [BoundLine(curve=c, filled=filled) for c in curves]
    largest: dict[float, Evaluation] = {}
    for e in (e for curve in curves for e in curve):
        assert e.x is not None
        if e.x not in largest or e.value > largest[e.x].value:
            largest[e.x] = e
    joined = [largest[x] for x in sorted(largest)]
    return [BoundLine(curve=joined, name=name, filled=filled, of=list(curves))]


def region(curve: list[Evaluation], look: Look, low: float) -> Part:
    """Return the trace that fills what is below a bound, down to where no slanted edge is seen."""
    colour = translucent(look.colour(REGION), 0.13)
    x, y = [e.x for e in curve], [e.value for e in curve]
    return area_part(x, y, [low / 10] * len(y), colour, curve[0].bound.card.slug)


def region_names(
    curves: list[list[Evaluation]], scenario: Scenario, look: Look, low: float
) -> list[Part]:
    """Return the annotation that says what the shaded region means, where it is high enough."""
    top = max((curve[0].value for curve in curves), default=0.0)
    if top < 1.6 * low:
        return []
    colour = look.colour(REGION)
    height = 0.04 * math.log10(top / low)
    bottom = math.log10(low)
    at = {"xref": "paper", "yanchor": "bottom", "xanchor": "left", "align": "left"}
    told = any(curve[0].bound.card.of_law for curve in curves)
    name = note(
        TOLD if told else HERE, TEXT_FROM, bottom + height, colour, 12 if look.compact else 13, **at
    )
    if len(scenario.grid) < 2 or _edge(curves, scenario, TEXT_TO) > name["y"] + height:
        return [name]
    inside = (bottom + _edge(curves, scenario, TEXT_FROM)) / 2
    arrow = {"showarrow": True, "arrowhead": 2, "arrowcolor": colour, "ax": 45, "ay": 0}
    return [name | arrow | {"y": inside, "yanchor": "middle"}]


def _edge(curves: list[list[Evaluation]], scenario: Scenario, share: float) -> float:
    """Return the log of the region's edge at a share of the figure's width; -inf if it has none."""

    def place(x: float) -> float:
        return x if is_linear(scenario.axis) else math.log10(x)

    first, last = place(scenario.grid[0]), place(scenario.grid[-1])
    at = first + (last - first) * ((1 + 2 * PAD) * share - PAD)
    return max(
        np.interp(
            at,
            [place(e.x) for e in curve if e.x is not None],
            [math.log10(e.value) for e in curve],
            left=-math.inf,
            right=-math.inf,
        )
        for curve in curves
    )


def bound_lines(
    curve: list[Evaluation], scenario: Scenario, look: Look, name: str | None = None
) -> tuple[list[Part], Label]:
    """Return the traces of a bound, and its name at its right end."""
    card = curve[0].bound.card
    colour = look.colour(bound_colour(card))
    failing = [bool(e.failures) for e in curve]
    lines = []
    # A line is drawn faded where a hypothesis fails at either end of a piece.
    for faded in (False, True):
        if faded not in failing:
            continue
        keep = [
            fails == faded or (faded and True in failing[max(i - 1, 0) : i + 2])
            for i, fails in enumerate(failing)
        ]
        lines.append(
            line_part(
                [e.x for e in curve],
                [e.value if k else None for e, k in zip(curve, keep, strict=True)],
                {"color": colour, "width": 1.4, "dash": dash_of(card)},
                name or bound_name(card),
                [bound_hover(e) for e in curve],
                opacity=FADED if faded else 0.9,
                showlegend=faded == failing[-1],
            )
        )
    rank = 1 if is_floor(card) else 2
    text = name or bound_name(card)
    if name is None and is_floor(card) and not binds_here(card, scenario):
        text += ", worst case"
    return lines, Label(text=text, y=curve[-1].value, colour=colour, rank=rank)


def dash_of(card: BoundCard) -> str:
    """Return how the line of a bound is dashed: a rate is."""
    return "dash" if card.constant == "rate" else "solid"


def bound_name(card: BoundCard) -> str:
    """Return the name of a bound beside those of the estimators, which it must not repeat."""
    if card.constant == "rate":
        return f"{card.name} (constant 1)"
    own = method_card(card.method).name if card.method else ""
    return f"{card.name}, proven mean" if card.name == own else card.name


def class_name(curve: Sequence[Evaluation]) -> str | None:
    """Return the name of a proven upper bound that does not hold for the class of the worst case.

    It ends in its own class of laws: such a bound may well be below that worst case. None for any
    other bound.
    """
    card = curve[0].bound.card
    if (card.kind, card.constant) != ("upper", "explicit"):
        return None
    if all(COORDINATE in e.covers for e in curve):
        return None
    return f"{bound_name(card)}, for {card.laws.short}"


def bound_hover(e: Evaluation) -> str:
    """Return what a bound says of itself: value, class, source, terms, what fails."""
    card = e.bound.card
    proven = card.constant == "explicit"
    constant = "explicit constant" if proven else "rate, drawn with constant 1"
    lines = [
        f"<b>{card.name}</b>",
        card.summary,
        f"{card.paper}, {card.statement}",
        f"value {e.value:.3g} · {constant} · {card.guarantee}",
        f"binds every {in_print(e.binds)}, in the worst case over {card.laws.words}"
        if e.binds
        else f"holds for {card.laws.words}",
    ]
    if len(e.terms) > 1:
        lines.append(", ".join(f"{k} {v:.3g}" for k, v in e.terms.items()))
    lines += [e.note] if e.note else []
    lines += [f"⚠ {in_print(failure)}" for failure in e.failures]
    return "<br>".join(wrapped(line, 70) for line in lines)


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    table: pd.DataFrame  # the `summary` of the cells that have finished; may be empty
    suffix: str = ""  # what the curves' names end with; empty where there is nothing to tell apart
    other: bool = False  # whether they are those that are drawn beside: dashed, with open points


def curve_lines(
    scenario: Scenario, part: Curves, look: Look, low: float
) -> tuple[list[Part], list[Label]]:
    """Return every method of a table, those of settings that have changed since included."""
    rows: dict[str, list[Any]] = {}
    for row in part.table.itertuples(index=False):
        rows.setdefault(str(row.method), []).append(row)
    traces: list[Part] = []
    labels: list[Label] = []
    for method, points in rows.items():
        points.sort(key=attrgetter("x"))
        name, colour = method_card(method).name + part.suffix, look.colour(colour_of(method))
        last = points[-1].mean_error
        shown = [point for point in points if point.mean_error > 0]
        if shown:
            traces += _method_lines(scenario, shown, method, name, part, look)
            private = method_card(method).privacy != "none"
            labels.append(
                Label(
                    text=name if part.other else f"<b>{name}</b>",
                    y=shown[-1].mean_error,
                    colour=colour,
                    rank=(1 if private else 2) if part.other else 0,
                )
            )
        if last < low:  # it is right, or nearly
            text = f"<b>{name}, below (error {max(last, 0):.0g})</b>"
            labels.append(Label(text=text, y=low, colour=colour, rank=0))
    return traces, labels


def _method_lines(
    scenario: Scenario, points: Sequence[Any], method: str, name: str, part: Curves, look: Look
) -> tuple[Part, Part]:
    """Return the band of a method and its line, at points in the order of x."""
    colour, symbol = look.colour(colour_of(method)), symbol_of(method)
    x = [r.x for r in points]
    shade = translucent(colour, 0.07 if part.other else 0.16)
    band = area_part(x, [r.q90 for r in points], [r.q10 for r in points], shade, f"{name}, 10-90 %")
    hover = [
        f"<b>{name}</b><br>{SYMBOL[scenario.axis or 'n']} = {number_text(r.x)}<br>mean "
        f"{r.mean_error:.3g} ± {r.standard_error:.1g}<br>median {r.median_error:.3g}<br>10-90 % of "
        f"trials {r.q10:.3g} to {r.q90:.3g}<br>{r.trials} trials · {1000 * r.seconds:.2g} ms each"
        for r in points
    ]
    half = [  # of the 95 % interval of a mean, which on a log axis stays above 0
        min(interval_half_width(r.standard_error, r.trials), 0.95 * r.mean_error) for r in points
    ]
    private = method_card(method).privacy != "none"
    line = {
        "color": colour,
        "width": 2.6 if private else 2,
        "dash": "7px,4px" if part.other else "solid",
    }
    middle = line_part(
        x,
        [r.mean_error for r in points],
        line,
        name,
        hover,
        mode="lines+markers",
        error_y={
            "array": half,
            "color": colour,
            "thickness": 1,
            "width": 0,
        },
        marker={
            "symbol": opened(symbol) if part.other else symbol,
            "size": 8,
            "color": colour,
        },
    )
    return band, middle


def opened(symbol: str) -> str:
    """Return the open form of a marker; what is open already gets a dot."""
    return f"{symbol}-dot" if symbol.endswith("-open") else f"{symbol}-open"
