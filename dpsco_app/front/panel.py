"""One panel of the front figure, from what is proven and what was measured."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from dpsco_app.figure.colours import IMPOSSIBLE, METHODS, QUIET, WINDOW, Pair
from dpsco_app.figure.methods import colour_of, is_dashed, short_names, symbol_of
from dpsco_app.figure.values import (
    Axis,
    Dash,
    Gap,
    Line,
    Panel,
    Region,
    Words,
)
from dpsco_app.front.bound_lines import (
    bound_hover,
    bound_line,
    floor_words,
    wider_line,
    window_hover,
)
from dpsco_app.front.costs import TOO_FEW_TRIALS, cost_words, is_open, loose_ends, most_text
from dpsco_app.front.forms import form_lines
from dpsco_app.front.study import MIDDLE, Study, chosen_point, place
from dpsco_app.front.titles import (
    TINY_WORDS,
    WINDOW_WORDS,
    ZERO_WORDS,
    at_point,
    axis_title,
    column_name,
    formula_names,
    no_window,
    panel_about,
    panel_title,
    ratio_text,
)
from dpsco_app.front.view import View
from dpsco_app.parts.evaluations import (
    drawn_window,
    evaluations,
    limit_of_wider_losses,
    region,
    starting_risks,
)
from dpsco_app.parts.options import inside, number_text, rounded
from dpsco_app.parts.shown_bounds import fano, shown
from dpsco_core.base.formula import parse_formula
from dpsco_core.catalogue import bound, method_card
from dpsco_core.explain.hardest import is_hard
from dpsco_core.explain.window import Span
from dpsco_core.fields import MEAN, is_linear
from dpsco_core.results.measured import Measurement
from dpsco_core.results.overlay import own_line
from dpsco_core.results.price import Ratio

MOST_NAMED = 5  # The largest number of measured lines with a colour and a row of their own.
GREY: Pair = METHODS["grey"]
EDGE = "a log axis has no 0, so it is drawn at the lower edge"
FORMULA_DASHES: tuple[Dash, ...] = ("dashdot", "dot", "longdash", "dash")


class FrontPanel:
    """The contents of one panel, collected before the common axis is known."""

    draws_window = True

    def __init__(self, study: Study, view: View, studies: Sequence[Study]) -> None:
        """Build the lines of a study's panel, which stands beside those of the other studies."""
        self.study, self.view, self.is_first = study, view, study is studies[0]
        self.title, self.column = panel_title(study, studies), column_name(study, studies)
        self.is_alone, self.price = len(studies) == 1, view.measure == "price"
        self.scenario, self.lead = study.scenario, study.lead
        self.x = chosen_point(self.scenario)
        self.hidden: list[Line] = []  # Only the table has these lines.
        has_window = self.draws_window and not (self.price or no_window(self.scenario))
        self.window = self._window(drawn_window(self.scenario)) if has_window else []
        self.floor = [] if self.price else region(self.scenario)
        # A pinned run may be on other data, whose floor differs from this one.
        self.region = self._region() if self.floor and study.overlay is None else []
        self.guides = self._guides()
        order = (self.lead, study.public, *self.scenario.methods)
        self.named_methods = [m for m in dict.fromkeys(order) if self._rows(study, m)][:MOST_NAMED]
        drawn_studies = [study, *([] if study.overlay is None else [study.overlay])]
        self.lines = [
            self._line(drawn_study, method, rows)
            for drawn_study in drawn_studies
            for method in drawn_study.scenario.methods
            if (rows := self._rows(drawn_study, method))
        ]

    # -- what is proven ---------------------------------------------------------------------

    def _guides(self) -> list[Line]:
        """Return the lines that are not measured: bounds, formulas and an answer without data."""
        guides = [
            *([] if self.price else [*self._bounds(), *self._formula_lines()]),
            *self._start(),
        ]
        return [*guides, *([self._edge()] if self.floor and not self.region else [])]

    def _window(self, spans: Sequence[tuple[float | None, Span]]) -> list[Region]:
        """Return the region between the largest lower and the smallest upper bound, if any."""
        area = Region(
            key="window",
            name="promise for all data",
            x=[place(x) for x, _ in spans],
            upper=[s.high for _, s in spans],
            lower=[s.low for _, s in spans],
            look=WINDOW,
            hover=[window_hover(s, on_instance=is_hard(self.scenario)) for _, s in spans],
        )
        return [area] if spans else []

    def _region(self) -> list[Region]:
        """Return the region of errors that no private algorithm reaches on these data."""
        area = Region(
            key="floor",
            name="proven limit",
            x=[place(x) for x, _ in self.floor],
            upper=[e.value for _, e in self.floor],
            look=IMPOSSIBLE,
            edge=2.2,
            hover=[bound_hover(e) for _, e in self.floor],
        )
        return [area]

    def _edge(self) -> Line:
        """Return the line of the proven limit, for a panel that draws no red region below it."""
        return Line(
            key="floor",
            name="proven limit",
            kind="proven",
            x=[place(x) for x, _ in self.floor],
            y=[e.value for _, e in self.floor],
            colour=IMPOSSIBLE.ink,
            width=2.2,
            hover=[bound_hover(e) for _, e in self.floor],
        )

    def _start(self) -> list[Line]:
        """Return the line that costs are relative to: no privacy, or an answer without data."""
        starts = starting_risks(self.scenario)
        risks = [1.0 if self.price else risk for _, risk in starts]
        line = Line(
            key="start",
            name="without privacy" if self.price else "answer without data",
            kind="guide",
            x=[place(x) for x, _ in starts],
            y=risks,
            colour=GREY if self.price else QUIET,
            width=1.2 if self.price else 1,
            dash="solid" if self.price else "dot",
        )
        return [line] if all(0 < risk < math.inf for risk in risks) else []

    @property
    def _view_bounds(self) -> tuple[str, ...]:
        """The slugs of the bounds that the view draws for the scenario."""
        return shown(self.scenario, self.view.views)

    def _bounds(self) -> list[Line]:
        """Return the lines of the bounds that the visitor has chosen."""
        slugs = [fano(self.scenario)] if self._fano_is_true_here() else []
        # Floors of these data are left out, since the region shows them.
        slugs += [s for s in self._view_bounds if not bound(s).card.of_law]
        slugs += filter(None, [self.view.named_bound(self.scenario)])
        curves = [evaluations(self.scenario, (slug,)) for slug in dict.fromkeys(slugs)]
        finite = [[e for e in curve if 0 < e.value < math.inf] for curve in curves]
        wider = limit_of_wider_losses(self.scenario)
        lines = [bound_line(curve) for curve in finite if curve]
        lines = [line for line in lines if not wider or line.key != wider[0].bound.card.slug]
        return [*lines, *([wider_line(wider)] if wider else [])]

    def _formula_lines(self) -> list[Line]:
        """Return the lines of the formulas that the visitor has typed."""
        texts = self.view.formulas
        curves = [own_line(self.scenario, parse_formula(text)) for text in texts]
        return [
            Line(
                key=f"formula {i}",
                name=name,
                kind="proven",
                x=[x for x, _ in points],
                y=[y for _, y in points],
                colour=METHODS["magenta"],
                width=1.6,
                dash=FORMULA_DASHES[i % len(FORMULA_DASHES)],
                hover=[f"{text}<br>{number_text(x)}: {y:.3g}" for x, y in points],
            )
            for i, (text, name, points) in enumerate(
                zip(texts, formula_names(texts), curves, strict=True)
            )
            if points
        ]

    def _fano_is_true_here(self) -> bool:
        """Return whether Fano's bound, a worst case, binds on the panel's own data.

        It does on its own hard instance, and where the region reaches above it. So no line of an
        algorithm that it binds crosses it.
        """
        if not fano(self.scenario) or self.price:
            return False
        card = bound(fano(self.scenario)).card
        hard_instance = card.instance_problem, card.instance
        if hard_instance == (self.scenario.problem, self.scenario.distribution):
            return True
        floor_by_x = dict(self.floor)
        worst = evaluations(self.scenario, (fano(self.scenario),))
        return all(e.x in floor_by_x and e.value <= floor_by_x[e.x].value for e in worst)

    # -- what is measured -------------------------------------------------------------------

    def _rows(self, study: Study, method: str) -> list[Measurement]:
        """Return the measurements of a method that the panel can draw, along the axis."""
        rows = study.rows(method)
        if self.price:
            return [r for r in rows if r.price is not None and math.isfinite(r.price.value)]
        return rows

    def _line(self, study: Study, method: str, rows: Sequence[Measurement]) -> Line:
        """Return the line of a method, of the panel's own study or of a pinned one."""
        is_overlay = study is not self.study
        is_named = method in self.named_methods or is_overlay
        is_hero = method == self.lead and not is_overlay
        is_public = method_card(method).privacy == "none"
        symbol = symbol_of(method)
        if is_overlay and not symbol.endswith("-open"):
            symbol = f"{symbol}-open"
        y, half, lower_half = zip(*map(self._bar, rows), strict=True)
        proven = () if self.price or not is_named or is_overlay else self._own_bound(method)
        end = ", pinned" if is_overlay else ""
        return Line(
            key=method + end,
            method=method,
            is_pinned=is_overlay,
            name=short_names(study.scenario.methods)[method] + end,
            x=[place(r.x) for r in rows],
            y=y,
            colour=colour_of(method) if is_named else GREY,
            width=3 if is_hero else (1.7 if is_public else 1.9) if is_named else 1.4,
            dash="dash" if is_overlay or self._needs_dashes(method) else "solid",
            symbol=symbol if is_named else "",
            size=7.5 if is_hero else 6.5,
            half=half if is_named else (),
            down=lower_half if is_named else (),
            hover=[self._hover(study, r, dict(proven)) for r in rows],
            low=[r.low for r in rows] if is_named and not self.price else (),
            high=[r.high for r in rows] if is_named and not self.price else (),
            bound=proven,
        )

    def _bar(self, row: Measurement) -> tuple[float, float, float]:
        """Return the height of a point, and the upper and lower half-width of its interval."""
        if not self.price or row.price is None:
            half = min(row.half, 0.95 * row.mean)
            return row.mean, half, half
        ends = row.price.high - row.price.value, row.price.value - row.price.low
        upper_half, lower_half = (0.0 if math.isnan(length) else length for length in ends)
        return row.price.value, upper_half, lower_half

    def _needs_dashes(self, method: str) -> bool:
        """Return whether a method's line is dashed because another line has the same hue."""
        hues = [colour_of(m) for m in self.named_methods]
        return (
            method in self.named_methods and is_dashed(method) and hues.count(colour_of(method)) > 1
        )

    def _own_bound(self, method: str) -> tuple[tuple[float, float], ...]:
        """Return the points of the proven bound on a method's own run, where hypotheses hold."""
        slug = self._proven.get(method)
        curve = () if slug is None else evaluations(self.scenario, (slug,))
        return tuple((place(e.x), e.value) for e in curve if not e.failures and e.value < math.inf)

    @cached_property
    def _proven(self) -> dict[str, str]:
        """The slug of the upper bound that is drawn for each method's own run, by method."""
        slugs = shown(self.scenario, ("upper bounds",))
        return {bound(slug).card.method: slug for slug in reversed(slugs)}

    def _hover(self, study: Study, row: Measurement, proven: Mapping[float, float]) -> str:
        """Return the hover text of a measured point; `proven` has bounds by place on the axis."""
        quantity = "excess risk" if self.scenario.problem != MEAN else "error"
        lines = [
            f"<b>{method_card(row.method).name}</b>{at_point(study.scenario, row.x)}",
            f"mean {quantity} <b>{rounded(row.mean)}</b> ± {rounded(row.half)}",
        ]
        if row.exact:
            lines[-1] = f"expected {quantity} <b>{rounded(row.mean)}</b>, exactly"
        if row.mean == 0:
            return f"{lines[0]}<br>{quantity} <b>0</b> in every run: {EDGE}"
        if row.price is not None:
            reference = method_card(row.price.reference).name
            lines.append(f"{ratio_text(row.price.value)} times the {inside(reference)}")
        lines.append(f"8 of 10 runs: {rounded(row.low)} to {rounded(row.high)}")
        if place(row.x) in proven:
            bound = proven[place(row.x)]
            remark = ", within the trials’ error" * (bound < row.mean <= bound + row.half)
            lines.append(f"proven: at most {rounded(bound)} on average{remark}")
        return "<br>".join([*lines, *form_lines(study.scenario, row.method)])

    # -- the panel ----------------------------------------------------------------------------

    @property
    def measured(self) -> list[float]:
        """The heights of all points of the measured lines, including zeros."""
        return [y for line in self.lines for y in line.y]

    def build(self, edge: float, *, has_edge_note: bool) -> Panel:
        """Return the panel; heights below `edge`, 0 included, are drawn at the edge.

        With `has_edge_note` a note says so.
        """
        words = []
        lines = [replace(line, y=[max(y, edge) for y in line.y]) for line in self.lines]
        if has_edge_note:
            small = ZERO_WORDS if 0 in self.measured else TINY_WORDS
            words.append(Words(lines=small, colour=QUIET, want=(0.03, 0.12)))
        if self.region:
            words.append(
                Words(
                    lines=floor_words(self.scenario, self.floor),
                    colour=IMPOSSIBLE.ink,
                    want=(0.03, 0.02),
                    below=self.region[0].key,
                )
            )
        if self.is_first and not self.price and self.draws_window:
            window_words = WINDOW_WORDS[: 2 if self.study.role == "hardest" else 3]
            text = no_window(self.scenario) or window_words
            words.append(Words(lines=text, colour=WINDOW.ink, want=(1, 0.93), least=0.5))
        return Panel(
            title=self.title,
            about=panel_about(self.study),
            x=self._axis(),
            regions=[*self.region, *self.window],
            # Thick measured lines are drawn on top; the thickest one is that of the best method.
            lines=[*self.guides, *sorted(lines, key=lambda line: line.width)],
            words=words,
            gap=self._gap(),
            chosen=place(self.x),
        )

    def heights_at_point(self, x: Sequence[float], y: Sequence[float]) -> list[float]:
        """Return a list with the curve's height at the chosen point, empty if there is none."""
        point = place(self.x)
        return [b for a, b in zip(x, y, strict=False) if a == point]

    def _axis(self) -> Axis:
        """Return the horizontal axis, with the chosen value in bold."""
        axis, grid = self.scenario.axis, self.scenario.grid
        if axis is None:
            return Axis(title="", low=MIDDLE / 2, high=MIDDLE * 2, ticks=())
        ticks = [(x, number_text(x)) for x in grid]
        bold = [(x, f"<b>{text}</b>" if x == self.x else text) for x, text in ticks]
        return Axis(
            title=self.axis_words,
            low=grid[0],
            high=grid[-1],
            ticks=bold,
            log=not is_linear(axis),
        )

    @property
    def axis_words(self) -> str:
        """The title of the horizontal axis, below it."""
        return axis_title(self.scenario)

    def _gap(self) -> Gap | None:
        """Return the gap between lead and reference at the chosen point.

        There is none in the view of prices, before the study is complete, and where the headline
        states no factor.
        """
        lead_row, reference_row = (
            self.study.row_at(m, self.x) for m in (self.lead, self.study.public)
        )
        if self.price or lead_row is None or reference_row is None or lead_row.price is None:
            return None
        if reference_row.mean == 0 or cost_words(lead_row.price, "") == TOO_FEW_TRIALS:
            return None
        has_no_factor = self.study.useless(self.x) and is_open(lead_row.price)
        if has_no_factor or not self.study.complete:
            return None
        return Gap(
            x=place(self.x),
            low=reference_row.mean,
            high=lead_row.mean,
            text=factor_text(lead_row.price),
            colour=colour_of(self.lead),
            key=self.lead,
        )


def factor_text(price: Ratio) -> str:
    """Return the price as text, or its interval if the trials leave it open, as in the headline."""
    ends = loose_ends(price)
    if ends is None and (largest := most_text(price)):
        return f"≤ ×{largest}"
    return f"×{ratio_text(price.value)}" if ends is None else f"×{'–'.join(ends)}"
