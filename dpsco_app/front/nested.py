"""The single panel: with and without privacy, between what is proven possible and its limit.

On the hardest data known the bounds for all data are bounds for these data, so that everything
nests. On other data only their own limit is visible.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dpsco_app.figure.colours import IMPOSSIBLE, QUIET, WINDOW
from dpsco_app.figure.methods import colour_of, short_names
from dpsco_app.figure.values import Line, Ruler, RulerMark, RulerPart, Words
from dpsco_app.front.bound_lines import limit_words, second_proof, short_name
from dpsco_app.front.costs import DISTINCT_FROM_ONE, TOO_FEW_TRIALS, cost_words
from dpsco_app.front.headline import limit_text
from dpsco_app.front.panel import FrontPanel, factor_text
from dpsco_app.front.study import Study, place
from dpsco_app.front.titles import NO_BREAK, at_point, axis_title, drag_words, ratio_text
from dpsco_app.front.view import View
from dpsco_app.parts.evaluations import are_hardest_of_all, drawn_window
from dpsco_app.parts.options import SYMBOL, inside, number_text, rounded
from dpsco_app.parts.shown_bounds import fano
from dpsco_core.catalogue import bound, distribution_card, method_card
from dpsco_core.explain.hardest import is_hard
from dpsco_core.explain.window import Span
from dpsco_core.results.measured import Measurement

POSSIBLE = "possible"
WITHOUT_DATA = "answering without data"
NO_BETTER = "as large as an answer without data"
ENTERS = "not private, so it may be here"
# If Fano's bound is within this relative distance of the limit, one label names both.
LABEL_TOLERANCE = 0.1
PALE = 0.45  # The opacity of lines that are not the subject of the open card.
SHORT = {
    "Proven possible": "possible",
    "With privacy": "private",
    "Proven limit": "limit",
    "Without privacy": "not private",
}
NO_REGION = ("No red region: no limit for private", "algorithms is proven on these data.")
# The note on a guarantee: it holds for all data with this tail, and bounds the mean over runs.
ALL_DATA = "all data with this tail:\nat most this error, on average"
HEAD = "Times the error"
# The names of the bar's sections: below the lower bound, and between lower and upper bound.
UNAVOIDABLE, UNSETTLED = "unavoidable", "not settled"
HARDEST_DATA = "Hardest data known"


@dataclass(frozen=True, kw_only=True)
class FanoTick:
    """Fano's bound as a tick of the ruler, if another statement makes the red region's edge."""

    line: Line
    value: float  # The bound at the chosen point.
    is_near: bool  # Whether the bound is so close to the edge that one label names both.


class NestedPanel(FrontPanel):
    """The contents of the single panel; lines that the panel leaves out stand in the table."""

    draws_window = False

    def __init__(self, study: Study, view: View) -> None:
        """Build the only panel of a figure; lines that it does not draw are hidden."""
        super().__init__(study, view, [study])
        self.title = ""
        visible = self._visible
        self.hidden += [
            line for line in self.lines if line.key not in visible and not line.is_pinned
        ]
        self.lines = [
            self._toned(line)
            for line in self.lines
            if line.key in visible or self._is_in_overlay(line)
        ]

    def _guides(self) -> list[Line]:
        """Return the lines that are not measured and are drawn; add the others to `hidden`."""
        study, overlay = self.study, self.study.overlay
        if self.floor and overlay is not None and overlay.role == "hardest":
            # The limit for these data also holds for the private lines on the hardest data.
            self.region = self._region()
        guides = super()._guides()
        start = [line for line in guides if line.key == "start"]
        fano_slug = fano(self.scenario)
        chosen_bounds = (*self._view_bounds, self.view.named_bound(self.scenario))
        is_tick = fano_slug not in chosen_bounds and self.view.card != "proof"
        tick = [line for line in guides if line.key == fano_slug and is_tick]
        self._fano_line = next(iter(tick), None)
        shows_start = self.view.card == "proof" or bool(
            study.useless(self.x) and not self._is_hardest
        )
        self.hidden += [*tick, *([] if shows_start else start)]
        other_guides = [
            line for line in guides if line.key not in {line.key for line in (*start, *tick)}
        ]
        return [*other_guides, *self._possible(), *(start if shows_start else [])]

    @property
    def _is_hardest(self) -> bool:
        """Whether the panel shows the hardest data."""
        return self.study.role == "hardest"

    @property
    def _visible(self) -> set[str]:
        """The methods that are drawn: the best private one and its reference, or all of them."""
        if self.view.card == "others":
            return set(self.scenario.methods)
        return {self.lead or self._best_so_far, self.study.public}

    @property
    def _best_so_far(self) -> str:
        """The private method with the least error at the last point that all have run."""
        rows = {
            m: {r.x: r.mean for r in self.study.rows(m)}
            for m in self.scenario.methods
            if method_card(m).privacy != "none"
        }
        shared = set.intersection(*map(set, rows.values())) if rows else set()
        last_shared = [x for x, _ in self.scenario.points() if x in shared][-1:]
        return min(rows, key=lambda m: rows[m][last_shared[0]]) if last_shared else ""

    def _is_in_overlay(self, line: Line) -> bool:
        """Return whether a line belongs to the run under comparison: its lead or its reference."""
        overlay = self.study.overlay
        return overlay is not None and line.method in {overlay.lead, overlay.public}

    def _toned(self, line: Line) -> Line:
        """Return a line, wider if it is that of the lead, and pale if the run is pinned."""
        if line.is_pinned:
            return replace(line, opacity=PALE)
        if self.view.card == "others" or line.key in (self.lead, self.study.public):
            return replace(line, width=3.4) if line.key == self.lead else line
        return line

    # -- what is proven possible ---------------------------------------------------------------

    @cached_property
    def _spans(self) -> Sequence[tuple[float | None, Span]]:
        """The window of the proven bounds at each point of the axis; empty unless it is drawn."""
        has_own = is_hard(self.scenario) and self._is_hardest and not self.price
        has_own = has_own and are_hardest_of_all(self.scenario, self.x)
        return drawn_window(self.scenario) if has_own and self.region else []

    def _possible(self) -> list[Line]:
        """Return the line of the least error proven possible for all data, if it is drawn."""
        spans = [(x, span) for x, span in self._spans]
        if not spans or self.study.overlay is not None:
            return []
        line = Line(
            key=POSSIBLE,
            name="proven possible",
            kind="proven",
            x=[place(x) for x, _ in spans],
            y=[span.high for _, span in spans],
            colour=WINDOW.edge,
            width=1.6,
            hover=[_possible_hover(span) for _, span in spans],
        )
        return [line]

    # -- words ------------------------------------------------------------------------------------

    def words_inside(self, low: float, high: float) -> list[Words]:
        """Return the words inside the panel, besides those of the red region.

        `low` and `high` are the ends of the vertical axis.
        """
        if not self.region and self.study.overlay is None and not self.price:
            return [Words(lines=NO_REGION, colour=QUIET, want=(0.03, 0.02), is_small=True)]
        public = next((line for line in self.lines if line.key == self.study.public), None)
        if public is None or not self.region or len(public.x) < 2 or self.study.overlay:
            return []
        edge = dict(self.floor)
        points = [(x, y) for x, y in zip(public.x, public.y, strict=True) if x in map(place, edge)]
        if not points or any(
            e.value <= y for (_, y), e in zip(points, edge.values(), strict=False)
        ):
            return []
        middle = points[len(points) // 3]
        y_share = math.log(middle[1] / low) / math.log(high / low)
        x_share = len(points) // 3 / max(1, len(points) - 1)
        return [
            Words(
                lines=(ENTERS,),
                colour=QUIET,
                want=(min(0.8, max(0.02, x_share - 0.12)), max(0.02, y_share - 0.1)),
                is_small=True,
                below=self.region[0].key,
            )
        ]

    # -- the ruler ----------------------------------------------------------------------------

    def ruler(self, edge: float) -> Ruler:
        """Return the ruler: factors over the error without privacy at the chosen point.

        Heights below `edge`, the low end of the axis, are drawn at the edge.
        """
        public = self.study.row_at(self.study.public, self.x)
        base = public.mean if public is not None and public.mean > 0 else 0.0
        rungs = [*self._proven_rungs(base, edge), *self._measured_rungs(base, edge)]
        rungs += self._other_rungs(edge)
        reference = inside(short_names(self.scenario.methods)[self.study.public]) if base else ""
        point_text = at_point(self.scenario, self.x)
        if point_text:
            point_text = f", at {point_text.removeprefix(', ')}"
        return Ruler(
            x=place(self.x),
            head=(HEAD, f"without privacy on these data{point_text}") if reference else (),
            rungs=rungs,
            parts=self._parts(base) if base else (),
        )

    def _proven_rungs(self, base: float, edge: float) -> list[RulerMark]:
        """Return the ruler's marks of the proven bounds at the chosen point.

        `base` is the error without privacy, or 0 if it is not known.
        """
        rungs = []
        for line in self.guides:
            values = self.heights_at_point(line.x, line.y)
            if line.key == POSSIBLE and values:
                ignores_data = dict(self._spans)[self.x].ignores_data
                rungs.append(
                    _rung(
                        line,
                        f"×{ratio_text(values[0] / base)}" if base else "",
                        "Proven possible",
                        f"{ALL_DATA},\nby {WITHOUT_DATA}" if ignores_data else ALL_DATA,
                        values[0],
                        edge,
                    )
                )
            elif line.label or line.kind == "proven" or line.key == "start":
                rungs.append(_rung(line, "", line.name[:1].upper() + line.name[1:], "", 0.0, edge))
        for area in self.region:
            floor_bound = dict(self.floor)[self.x]
            price = floor_bound.value / base if base else 0.0
            text = f"×{limit_text(price) if price >= DISTINCT_FROM_ONE else ratio_text(price)}"
            line = Line(
                key=area.key, name="", x=area.x, y=area.upper, colour=IMPOSSIBLE.ink, kind="proven"
            )
            note = limit_words(self.scenario, floor_bound)
            rung = _rung(line, text if base else "", "Proven limit", note, floor_bound.value, edge)
            card = floor_bound.bound.card
            side_note = f"proven by {short_name(card)}" if card.is_fano else ""
            if self._fano is not None and self._fano.is_near:
                words = second_proof(self.scenario, bound(self._fano.line.key).card)
                fano_text = f": ×{limit_text(self._fano.value / base)}" if base else ""
                side_note = f"{self._fano.line.name}, {words}{fano_text}"
            rungs.append(replace(rung, aside=side_note))
        return [*rungs, *self._fano_rung(base, edge)]

    @cached_property
    def _fano(self) -> FanoTick | None:
        """Fano's bound at the chosen point; None if it makes the red region's edge."""
        line = self._fano_line
        if line is None or self.study.overlay is not None:
            return None
        heights = self.heights_at_point(line.x, line.y)
        if not heights or line.key in {e.bound.card.slug for _, e in self.floor}:
            return None
        edge = dict(self.floor)[self.x].value
        return FanoTick(
            line=line, value=heights[0], is_near=abs(heights[0] / edge - 1) <= LABEL_TOLERANCE
        )

    def _fano_rung(self, base: float, edge: float) -> list[RulerMark]:
        """Return the tick of Fano's bound; empty if the edge's label already names the bound."""
        tick = self._fano
        if tick is None or tick.is_near:
            return []
        price = tick.value / base if base else 0.0
        factor = f": ×{limit_text(price)}" if price >= DISTINCT_FROM_ONE else ""
        words = second_proof(self.scenario, bound(tick.line.key).card)
        note = f"{words},\na weaker limit{factor}"
        rung = _rung(tick.line, "", tick.line.name, note, tick.value, edge)
        return [replace(rung, is_tick=True)]

    def _other_rungs(self, edge: float) -> list[RulerMark]:
        """Return the ruler's names for the lines of the run under comparison, without factors."""
        overlay = self.study.overlay
        if overlay is None:
            return []
        law = overlay.scenario.distribution
        name = HARDEST_DATA if overlay.role == "hardest" else f"{distribution_card(law).name} data"
        if law == self.scenario.distribution:
            name = "Pinned run"
        notes = {overlay.lead: "with privacy, dashed", overlay.public: "without privacy, dashed"}
        return [
            _rung(line, "", name, notes[line.method], 0.0, edge, opacity=0.75)
            for line in self.lines
            if line.is_pinned and line.method in notes
        ]

    def _measured_rungs(self, base: float, edge: float) -> list[RulerMark]:
        """Return the ruler's marks of the measured methods at the chosen point.

        `base` is the error without privacy, or 0 if it is not known.
        """
        names, rungs = short_names(self.scenario.methods), []
        data = "the hardest data" if self._is_hardest else "these data"
        for line in self.lines:
            row = self.study.row_at(line.key, self.x)
            if line.key not in names or not line.symbol:
                continue
            is_hero, is_public = line.key == self.lead, line.key == self.study.public
            name = inside(names[line.key])
            text = ""
            if row is not None and base:
                text = "×1" if is_public else self._factor(row, is_hero=is_hero)
            privacy_words = "With privacy" if is_hero else "Without privacy"
            is_other = not (is_hero or is_public)
            rung = _rung(
                line,
                text,
                name[:1].upper() + name[1:] if is_other else privacy_words,
                "" if is_other else f"{data}, measured:\n{name}",
                row.mean if row is not None else 0.0,
                edge,
                bold=is_hero,
            )
            if is_hero and self._is_hardest and self.study.useless(self.x) == "level":
                rung = replace(rung, aside=NO_BETTER)
            rungs.append(rung)
        return rungs

    def _factor(self, row: Measurement, *, is_hero: bool) -> str:
        """Return a method's error over that of the reference as text; empty if it is not settled.

        `is_hero` says that this is the leading method, whose factor is as precise as its trials.
        """
        price = row.price
        if price is None or row.mean == 0 or cost_words(price, "") == TOO_FEW_TRIALS:
            return ""
        if is_hero and not self.study.complete:
            return ""
        return factor_text(price) if is_hero else f"×{ratio_text(price.value)}"

    def _parts(self, base: float) -> list[RulerPart]:
        """Return the coloured sections of the ruler's bar, above the error without privacy."""
        floor_bound = dict(self.floor).get(self.x) if self.region else None
        top = [
            y
            for line in self.guides
            if line.key == POSSIBLE
            for y in self.heights_at_point(line.x, line.y)
        ]
        parts, limit = [], base
        if floor_bound is not None and floor_bound.value > base:
            limit, colour = floor_bound.value, IMPOSSIBLE.edge
            # Unless these are the hardest data, the limit is about data that are not shown.
            name = UNAVOIDABLE if self._is_hardest else ""
            parts.append(RulerPart(low=base, high=limit, colour=colour, opacity=0.2, name=name))
        best = self.study.row_at(self.lead, self.x)
        if top and top[0] > limit:
            colour, name = WINDOW.edge, UNSETTLED if parts else ""
            parts.append(RulerPart(low=limit, high=top[0], colour=colour, opacity=0.2, name=name))
        elif not top and best is not None and best.mean > limit:
            colour = colour_of(self.lead)
            parts.append(RulerPart(low=limit, high=best.mean, colour=colour, opacity=0.25))
        return parts

    # -- the axis -----------------------------------------------------------------------------

    @property
    def axis_words(self) -> str:
        """The words below the axis: its name, that its dot moves, and what to look for."""
        scenario = self.scenario
        if scenario.axis is None:
            return ""
        axis_note = drag_words(scenario.axis)
        if self._is_hardest and is_hard(scenario):
            novelty = f"the hardest data are new for each {SYMBOL[scenario.axis]}"
            axis_note = f"drag the dot; {novelty}{self._prices_at_the_ends}"
        return f"{axis_title(scenario)} ({axis_note})"

    @property
    def _prices_at_the_ends(self) -> str:
        """Return the price at both ends of the axis; empty if it is unknown."""
        scenario = self.scenario
        if scenario.axis is None or len(scenario.grid) < 2:
            return ""
        texts = []
        for x in (min(scenario.grid), max(scenario.grid)):
            row = self.study.row_at(self.lead, x)
            factor = "" if row is None else self._factor(row, is_hero=True)
            if not factor:
                return ""
            texts.append(
                f"{factor} at {SYMBOL[scenario.axis]}{NO_BREAK}={NO_BREAK}{number_text(x)}"
            )
        return f": {texts[0]}, {texts[1]}"


def _rung(
    line: Line,
    text: str,
    name: str,
    note: str,
    value: float,
    edge: float,
    *,
    bold: bool = False,
    opacity: float = 1.0,
) -> RulerMark:
    """Return a line's mark on the ruler; its factor is `text` and its height at least `edge`."""
    heights = [max(y, edge) for y in line.y]
    return RulerMark(
        key=line.key,
        text=text,
        name=name,
        note=note,
        short=SHORT.get(name, ""),
        colour=line.colour,
        x=line.x,
        y=heights,
        at=max(value, edge),
        bold=bold,
        opacity=opacity,
    )


def _possible_hover(span: Span) -> str:
    """Return the hover text of the smallest proven upper bound."""
    name = span.upper.card.name
    return f"<b>Proven possible</b>: {rounded(span.high)}<br>{name}, on average, on all data"
