"""The front figure: its panels on a common axis, and the table of its lines (the ladder)."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from dpsco_app.figure.methods import SIGNS
from dpsco_app.figure.values import Axis, Figure, Ladder, LadderRow, Line
from dpsco_app.front.bound_lines import WIDER_NOTE
from dpsco_app.front.forms import form_caption, form_note
from dpsco_app.front.nested import POSSIBLE, NestedPanel
from dpsco_app.front.panel import FrontPanel
from dpsco_app.front.study import Study
from dpsco_app.front.titles import PRICE_AXIS, WINDOW_NOTE, at_point, ratio_text
from dpsco_app.front.view import View
from dpsco_app.parts.options import number_text, ranged, rounded
from dpsco_app.parts.problem_words import words_for
from dpsco_core.catalogue import BOUND_SLUGS, METHOD_SLUGS, bound, method_card, problem_card
from dpsco_core.fields import MEAN
from dpsco_core.scenario import Scenario

CLOSE_BELOW = 1 / 1.35
# The vertical axis ends at these multiples of the largest and the smallest value.
SPACE_ABOVE, SPACE_BELOW = 1.5, 1 / 1.8
ONLY_ZCDP = "binds algorithms that satisfy zCDP, as those with Gaussian noise; others may be below"
# The notes below the names of the table's rows.
NOTES = {
    "promise for all data": WINDOW_NOTE,
    "answer without data": "the error of one fixed answer, on the data of the column",
}
# The axis extends by this share below the edge at which an error of 0 is drawn. Within the same
# share above that edge there are no ticks.
ROOM = 0.06
SPAN = 1e6  # The largest ratio of the largest measured value to the low end of the axis.
# To show a lower bound, the axis may extend at most this factor below the lowest measured error.
DEEP = 30.0


def front_figure(
    studies: Sequence[Study],
    view: View,
    alt: str = "",
    panel_index: int | None = None,
    *,
    is_old: bool = False,
) -> Figure:
    """Return the figure of one study, or of two side by side, along their common axis.

    `alt` describes the figure in one sentence. With `panel_index` that panel alone is drawn,
    although the table of lines beside the figure (its ladder) still has all panels. `is_old` says
    that the measured values belong to other settings.
    """
    first_scenario = studies[0].scenario
    is_nested = nests(studies, view)
    panels: Sequence[FrontPanel] = (
        [NestedPanel(studies[0], view)]
        if is_nested
        else [FrontPanel(study, view, studies) for study in studies]
    )
    visible = panels if panel_index is None else panels[panel_index : panel_index + 1]
    edge, high = _ends(visible, price=view.measure == "price")
    low, ticks = edge, _ticks(edge, high)
    small = [panel for panel in visible if any(y < edge for y in panel.measured)]
    if small:
        low, lowest_tick = (edge * (high / edge) ** room for room in (-ROOM, ROOM))
        zero = "≈ 0" if any(0 < y < edge for panel in small for y in panel.measured) else "0"
        ticks = [(edge, zero), *(tick for tick in ticks if tick[0] > lowest_tick)]
    y = Axis(
        title=_axis_name(first_scenario, view, is_nested=is_nested),
        unit=_unit(first_scenario, view) if is_nested else "",
        low=low,
        high=high,
        ticks=ticks,
    )
    drawings = [panel.build(edge, has_edge_note=panel in small[:1]) for panel in visible]
    ruler = None
    if isinstance(panels[0], NestedPanel):
        ruler = panels[0].ruler(edge)
        words = [*drawings[0].words, *panels[0].words_inside(low, high)]
        drawings = [replace(drawings[0], title="", about="", gap=None, words=words)]
    return Figure(
        panels=drawings,
        y=y,
        ruler=ruler,
        ladder=_ladder(panels, edge, price=view.measure == "price"),
        alt=alt,
        faded=is_old,
    )


def nests(studies: Sequence[Study], view: View) -> bool:
    """Return whether the figure is a single panel of errors, which is drawn with its ruler."""
    return len(studies) == 1 and view.measure == "error"


def _unit(scenario: Scenario, view: View) -> str:
    """Return the unit of distances in words.

    The p-th central moment of a coordinate is 1, which for p = 2 is its variance.
    """
    is_distance = scenario.problem == MEAN and view.measure != "price"
    if not is_distance or scenario.setting.constants.coordinate_moment != 1:
        return ""
    return f"unit: a coordinate's {'standard deviation' if scenario.p == 2 else 'scale'}"


def _axis_name(scenario: Scenario, view: View, *, is_nested: bool) -> str:
    """Return the title of the vertical axis, for the view's measure and the scenario's problem."""
    if view.measure == "price":
        return PRICE_AXIS
    if is_nested and scenario.problem == MEAN:
        return "Average distance from the true mean"
    return words_for(scenario.problem).error_axis.removesuffix(" (log)")


def _ends(panels: Sequence[FrontPanel], *, price: bool) -> tuple[float, float]:
    """Return the low and the high end of the vertical axis, around all measured values.

    Proven values near the measured ones are inside, too. `price` says that the axis has prices.
    """
    measured = [y for panel in panels for y in panel.measured if y > 0]
    if price:  # Prices beyond the span of the axis are cut off.
        low = min([*measured, 1.0])
        return low / 1.3, max([1.0, *(y for y in measured if y <= low * SPAN)]) * 1.3
    smallest = max(measured, default=0.0) / SPAN
    measured = [y for y in measured if y > smallest]
    guides = [line for panel in panels for line in panel.guides]
    deep = [y for panel in panels for area in panel.region for y in area.upper]
    deep += [y for line in guides if line.kind == "proven" for y in line.y]
    nearby_values = [y for panel in panels for area in panel.window for y in area.upper]
    nearby_values += [y for line in guides if line.key in ("start", POSSIBLE) for y in line.y]
    heights = measured or [*deep, *nearby_values] or [0.01, 1.0]
    low, high = min(heights), max(heights)
    lowest = min([low, *(y for y in deep if y > low / DEEP)])
    factor_below, factor_above = (
        (SPACE_BELOW, SPACE_ABOVE) if any(panel.title for panel in panels) else (CLOSE_BELOW, 1.2)
    )
    return lowest * factor_below, max(
        [high, *(y for y in nearby_values if y < 10 * high)]
    ) * factor_above


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return values and texts of the vertical ticks: powers of ten, or 1, 2, 5 if too few."""
    first_power, last_power = math.ceil(math.log10(low)), math.floor(math.log10(high))
    powers = [float(f"1e{e}") for e in range(first_power, last_power + 1)]
    if len(powers) < 3:
        candidates = (
            float(f"{d}e{e}") for e in range(first_power - 1, last_power + 1) for d in (1, 2, 5)
        )
        powers = [v for v in candidates if low <= v <= high]
    return [(v, number_text(v)) for v in powers]


def _ladder(panels: Sequence[FrontPanel], edge: float, *, price: bool) -> Ladder:
    """Return the table beside the figure: rows for the window, methods, floor and bounds.

    Heights below `edge`, the end of the axis, count as `edge`; `price` says that they are prices.
    """
    last_panel, is_single = panels[-1], len(panels) == 1
    named_keys = {
        line.key for panel in panels for line in (*panel.lines, *panel.hidden) if line.symbol
    }
    rows_by_panel = [_rows(panel, named_keys, edge, price=price) for panel in panels]
    rows = []
    for key in dict.fromkeys(key for panel_rows in rows_by_panel for key in panel_rows):
        key_rows = [panel_rows[key] for panel_rows in rows_by_panel if key in panel_rows]
        texts = [
            panel_rows[key].values[0] if key in panel_rows and panel_rows[key].values else ""
            for panel_rows in rows_by_panel
        ]
        if is_single and not price:
            texts.append(_price(last_panel, key))
        elif key == "window":
            texts[0] = "" if texts[0] == texts[-1] else texts[0] or "none"
        best = next((row for row in key_rows if row.sign), key_rows[0])
        rows.append(replace(best, end=key_rows[-1].end, values=texts))
    quantity = (
        "Price" if price else "Error" if last_panel.scenario.problem == MEAN else "Excess risk"
    )
    point_text = at_point(last_panel.scenario, last_panel.x).removeprefix(", ")
    columns = [panel.column for panel in panels]
    if is_single:
        columns = ["price"] if price else [quantity.lower(), "price"]
        title = f"At {point_text}" if point_text else "Here"
    else:
        title = f"{quantity} at {point_text}" if point_text else quantity
    return Ladder(title=title, columns=columns, rows=rows, caption=_caption(panels))


def _rows(
    panel: FrontPanel, named_keys: Collection[str], edge: float, *, price: bool
) -> dict[str, LadderRow]:
    """Return a panel's rows of the table by key, each with its number at the chosen point.

    Measured lines get a row if their key is in `named_keys`.
    """
    show: Callable[[float], str] = ratio_text if price else rounded
    lines = [line for line in panel.lines if line.key in named_keys]
    lines += [*panel.guides, *panel.hidden]
    rows = [
        LadderRow(
            key=line.key,
            name=line.name,
            colour=line.colour,
            bold=line.kind == "measured",
            end=max(line.y[-1], edge),
            values=[show(value) for value in panel.heights_at_point(line.x, line.y)],
            sign=SIGNS.get(line.symbol, ""),
            note=_row_note(panel, line),
        )
        for line in lines
    ]
    for area in (*panel.region, *panel.window):
        ends = [
            *panel.heights_at_point(area.x, area.lower),
            *panel.heights_at_point(area.x, area.upper),
        ]
        rows.append(
            LadderRow(
                key=area.key,
                name=area.name,
                colour=area.look.ink,
                end=area.upper[-1],
                values=[ranged(*ends) if area.lower else rounded(*ends)],
                swatch="area" if area.lower else "edge",
                note=_bound_name(panel) if area in panel.region else NOTES.get(area.name, ""),
            )
        )
    return {row.key: row for row in rows}


def _bound_name(panel: FrontPanel) -> str:
    """Return the name of the bound that is the edge of the red region at the chosen point."""
    edge = dict(panel.floor).get(panel.x)
    return "" if edge is None else edge.bound.card.name


def _row_note(panel: FrontPanel, line: Line) -> str:
    """Return the note below a line's name.

    It says what the line is, whom a bound binds, or how a method differs from its printed form.
    """
    if line.name in NOTES:
        return NOTES[line.name]
    if line.key in BOUND_SLUGS and bound(line.key).card.kind == "lower":
        if not bound(line.key).card.applies_to(problem_card(panel.scenario.problem).loss_class):
            return WIDER_NOTE
        is_of_zcdp = bound(line.key).card.privacy == "zcdp" and panel.scenario.rho is None
        return ONLY_ZCDP if is_of_zcdp else ""
    if line.key not in METHOD_SLUGS:
        return ""
    is_private = method_card(line.key).privacy != "none"
    return form_note(panel.scenario, line.key) if is_private else "not private"


def _caption(panels: Sequence[FrontPanel]) -> str:
    """Return how the methods are calibrated, once if it is the same in all panels."""
    texts = {
        form_caption(p.scenario, [m for m in p.scenario.methods if m in p.named_methods]): p.column
        for p in panels
    }
    shared_texts = {text: column for text, column in texts.items() if text}
    if len(shared_texts) == 1:
        return next(iter(shared_texts))
    return " ".join(f"{column}: {text}" for text, column in shared_texts.items())


def _price(panel: FrontPanel, key: str) -> str:
    """Return a method's error over that of the reference as text; empty if one is not known.

    `key` is the slug of the method.
    """
    row, public = (panel.study.row_at(m, panel.x) for m in (key, panel.study.public))
    if row is None or public is None or public.mean == 0:
        return ""
    if row is public:
        return "1×"
    return "" if row.price is None else f"{ratio_text(row.price.value)}×"
