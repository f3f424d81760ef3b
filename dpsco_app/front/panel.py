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
from dpsco_app.front.answer import loose_ends
from dpsco_app.front.bound_lines import bound_line, every_private, floor_hover, window_hover
from dpsco_app.front.study import MIDDLE, Asked, Study, chosen_point, place
from dpsco_app.front.titles import (
    START_NOTE,
    WINDOW_WORDS,
    at_point,
    axis_title,
    column_name,
    formula_names,
    no_window,
    panel_about,
    panel_title,
    ratio_text,
    unequal,
)
from dpsco_app.parts.evaluations import (
    evaluations,
    region,
    starting_risks,
    window,
)
from dpsco_app.parts.options import number_text, rounded
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.shown_bounds import fano, shown
from dpsco_core.base.formula import parse_formula
from dpsco_core.catalogue import bound, method_card
from dpsco_core.fields import is_linear
from dpsco_core.results.measured import Measurement
from dpsco_core.results.overlay import own_line
from dpsco_core.results.report import Evaluation

MOST_NAMED = 4  # measured lines with a colour and a row of their own
GREY: Pair = METHODS["grey"]
FORMULA_DASHES: tuple[Dash, ...] = ("dashdot", "dot", "longdash", "dash")
NEAR_ONE = 1.3  # a factor whose interval ends before that is called about one


class FrontPanel:
    """What one panel draws, collected before the common axis is known."""

    def __init__(self, study: Study, asked: Asked, studies: Sequence[Study]) -> None:
        self.study, self.asked, self.first = study, asked, study is studies[0]
        self.title, self.column = panel_title(study, studies), column_name(study, studies)
        self.alone = len(studies) == 1
        self.scenario = study.scenario
        self.x = chosen_point(self.scenario)
        self.window: list[Region] = []
        self.region: list[Region] = []
        self.guides: list[Line] = []
        if asked.measure == "error":
            self._prove()
        self.lead = study.lead
        self.named = self._named()
        self.lines = self._measured(study)
        if study.overlay is not None:
            self.lines += self._measured(study.overlay)
        if asked.measure == "price":
            self.guides.append(self._one())

    # -- what is proven ---------------------------------------------------------------------

    def _prove(self) -> None:
        spans = [] if no_window(self.scenario) else window(self.scenario)
        if spans:
            self.window.append(
                Region(
                    key="window",
                    name="the window",
                    x=[place(x) for x, _ in spans],
                    upper=[s.high for _, s in spans],
                    lower=[s.low for _, s in spans],
                    look=WINDOW,
                    hover=[window_hover(s) for _, s in spans],
                )
            )
        floor = region(self.scenario)
        if floor:
            self.region.append(
                Region(
                    key="impossible",
                    name=f"{self._whom(floor)} floor",
                    x=[place(x) for x, _ in floor],
                    upper=[e.value for _, e in floor],
                    look=IMPOSSIBLE,
                    edge=2.2,
                    hover=[floor_hover(e) for _, e in floor],
                )
            )
        self.guides += self._bounds()
        start = [(place(x), risk) for x, risk in starting_risks(self.scenario)]
        if all(0 < risk < math.inf for _, risk in start):
            self.guides.append(
                Line(
                    key="start",
                    name="Answer without data",
                    kind="guide",
                    x=[x for x, _ in start],
                    y=[risk for _, risk in start],
                    colour=QUIET,
                    width=1,
                    dash="dot",
                )
            )

    def _bounds(self) -> list[Line]:
        known, true = fano(self.scenario), self._fano_is_true_here()
        own = known and bound(known).card.instance_problem == self.scenario.problem
        slugs = [known] if true or (own and self.alone and not unequal(self.scenario)) else []
        more = (s for s in shown(self.scenario, self.asked.views) if not bound(s).card.of_law)
        slugs += [s for s in more if s not in slugs]  # the floor of these data is the region
        if self.asked.bound and self.asked.bound not in slugs:
            slugs.append(self.asked.bound)
        lines = []
        for slug in slugs:
            curve = [e for e in evaluations(self.scenario, (slug,)) if 0 < e.value < math.inf]
            if curve:
                line = bound_line(curve)
                worst = slug == known and not true
                lines.append(replace(line, name=f"{line.name}, worst case") if worst else line)
        names = formula_names(self.asked.formulas)
        for i, text in enumerate(self.asked.formulas):
            points = own_line(self.scenario, parse_formula(text))
            if points:
                lines.append(
                    Line(
                        key=f"formula {i}",
                        name=names[i],
                        kind="proven",
                        x=[x for x, _ in points],
                        y=[y for _, y in points],
                        colour=METHODS["magenta"],
                        width=1.6,
                        dash=FORMULA_DASHES[i % len(FORMULA_DASHES)],
                        hover=[f"{text}<br>{number_text(x)}: {y:.3g}" for x, y in points],
                    )
                )
        return lines

    def _fano_is_true_here(self) -> bool:
        """Whether Fano's bound, a worst case, is known to bind on the panel's own data.

        There the region is above it, so that no private line crosses it. Elsewhere only a panel
        alone draws it, by its full name.
        """
        if not fano(self.scenario):
            return False
        here = dict(region(self.scenario))
        worst = evaluations(self.scenario, (fano(self.scenario),))
        return all(e.x in here and e.value <= here[e.x].value for e in worst)

    # -- what is measured -------------------------------------------------------------------

    def _named(self) -> list[str]:
        """Return the methods with a colour and a row: the best one, the public one, the next."""
        there = [m for m in self.scenario.methods if self.study.rows(m)]

        def rank(method: str) -> tuple[bool, bool, int]:
            other = method != self.lead, method != self.study.public
            return (all(other), other[0], self.scenario.methods.index(method))

        return sorted(there, key=rank)[:MOST_NAMED]

    def _measured(self, study: Study) -> list[Line]:
        """Return the lines of what is measured: of the panel's own study, or of a pinned one."""
        lines = (self._line(study, method) for method in study.scenario.methods)
        return [line for line in lines if line is not None]

    def _line(self, study: Study, method: str) -> Line | None:
        rows, price = study.rows(method), self.asked.measure == "price"
        if price:
            rows = [r for r in rows if r.price is not None and math.isfinite(r.price.value)]
        if not rows:
            return None
        overlay = study is not self.study
        named = method in self.named or overlay
        hero = method == self.lead and not overlay
        public = method_card(method).privacy == "none"
        symbol = symbol_of(method)
        if overlay and not symbol.endswith("-open"):
            symbol = f"{symbol}-open"
        y, half, down = [r.mean for r in rows], [min(r.half, 0.95 * r.mean) for r in rows], []
        if price:
            ratios = [r.price for r in rows if r.price is not None]
            y = [p.value for p in ratios]
            half = [_sized(p.high - p.value) for p in ratios]
            down = [_sized(p.value - p.low) for p in ratios]
        proven = () if price or not named or overlay else self._own_bound(method)
        end = ", pinned" if overlay else ""
        return Line(
            key=method + end,
            name=short_names(study.scenario.methods)[method] + end,
            x=[place(r.x) for r in rows],
            y=y,
            colour=colour_of(method) if named else GREY,
            width=3 if hero else (1.7 if public else 1.9) if named else 1.4,
            dash="dash" if overlay or self._is_second(method) else "solid",
            symbol=symbol if named else "",
            size=7.5 if hero else 6.5,
            half=half if named else (),
            down=down if named else (),
            hover=[self._hover(study, r, dict(proven)) for r in rows],
            low=[r.low for r in rows] if named and not price else (),
            high=[r.high for r in rows] if named and not price else (),
            bound=proven,
        )

    def _is_second(self, method: str) -> bool:
        """Whether a line is dashed, as another one beside it has its hue."""
        hues = [colour_of(m) for m in self.named]
        return method in self.named and is_dashed(method) and hues.count(colour_of(method)) > 1

    def _own_bound(self, method: str) -> tuple[tuple[float, float], ...]:
        """Return what is proven of the mean error of this very run, where it holds."""
        slug = self._proven.get(method)
        curve = () if slug is None else evaluations(self.scenario, (slug,))
        return tuple((place(e.x), e.value) for e in curve if not e.failures and e.value < math.inf)

    @cached_property
    def _proven(self) -> dict[str, str]:
        """The bound on its own run that is drawn of each method, by method."""
        slugs = shown(self.scenario, ("upper bounds",))
        return {bound(slug).card.method: slug for slug in reversed(slugs)}

    def _hover(self, study: Study, row: Measurement, proven: Mapping[float, float]) -> str:
        words = words_for(study.scenario.problem)
        lines = [f"<b>{method_card(row.method).name}</b>{at_point(study.scenario, row.x)}"]
        about = "error" if words.quantity != "excess risk" else "excess risk"
        lines.append(f"mean {about} <b>{rounded(row.mean)}</b> ± {rounded(row.half)}")
        if row.price is not None:
            public = method_card(study.public).name if study.public else "no privacy"
            lines.append(f"{ratio_text(row.price.value)} times {_inside(public)}")
        ends = f"{rounded(row.low)} to {rounded(row.high)}"
        lines.append(f"8 of 10 runs: {ends}")
        if place(row.x) in proven:
            lines.append(f"proven: at most {rounded(proven[place(row.x)])} on average")
        ball = study.interval(row)
        if ball is not None:
            share = f"{100 * ball.privacy:.0f} % of it privacy"
            runs = f"{ball.inside} of {ball.trials} runs"
            lines.append(f"95 % interval: ± {rounded(ball.radius)} ({share})")
            lines.append(f"it held the mean in {runs}")
        return "<br>".join(lines)

    def _one(self) -> Line:
        return Line(
            key="start",
            name="Without privacy",
            kind="guide",
            x=list(self.scenario.grid or (MIDDLE,)),
            y=[1.0] * max(1, len(self.scenario.grid)),
            colour=GREY,
            width=1.2,
            dash="solid",
        )

    # -- the panel ----------------------------------------------------------------------------

    def made(self, low: float) -> Panel:
        words = []
        if self.region:
            words.append(
                Words(
                    lines=[f"no {self._whom(region(self.scenario))} algorithm", "can be here"],
                    colour=IMPOSSIBLE.ink,
                    want=(0.03, 0.02),
                    below="impossible",
                )
            )
        if self.first and self.asked.measure == "error":
            text = no_window(self.scenario) or WINDOW_WORDS
            words.append(
                Words(lines=text, colour=WINDOW.ink, want=(1, 0.93), align="right", least=0.5)
            )
        if self._public_below():
            note = Words(lines=["not private"], colour=GREY, want=(1, 0), on=self.study.public)
            words.append(replace(note, small=True))
        start = any(line.key == "start" and max(line.y) > low for line in self.guides)
        if start and (self.first or self.asked.measure == "error"):
            own = START_NOTE if self.asked.measure == "error" else "no cost"
            note = Words(lines=[own], colour=QUIET, want=(1, 1), on="start", small=True)
            words.insert(0, note)
        return Panel(
            title=self.title,
            about=panel_about(self.study),
            x=self._axis(),
            regions=[*self.region, *self.window],
            lines=[*self.guides, *self._in_order()],
            words=words,
            gap=self._gap(),
            chosen=place(self.x),
        )

    def _public_below(self) -> bool:
        """Whether the line without privacy goes through the region: there it says that it may."""
        x = place(self.x)
        floors = [_at(r.x, r.upper, x) for r in self.region]
        own = [_at(e.x, e.y, x) for e in self.lines if e.key == self.study.public]
        return any(a and b and a < b for a in own for b in floors)

    def _whom(self, floor: Sequence[tuple[float | None, Evaluation]]) -> str:
        return "private" if every_private(self.scenario, floor) else "zCDP"

    def _in_order(self) -> list[Line]:
        """Return the measured lines: grey ones first, the best one on top."""
        return sorted(self.lines, key=lambda line: line.width)

    def _axis(self) -> Axis:
        axis, grid = str(self.scenario.axis), self.scenario.grid
        if self.scenario.axis is None:
            return Axis(title="", low=MIDDLE / 2, high=MIDDLE * 2, ticks=())
        log = not is_linear(axis)
        ticks = [(x, number_text(x)) for x in grid]
        bold = [(x, f"<b>{text}</b>" if x == self.x else text) for x, text in ticks]
        return Axis(
            title=axis_title(self.scenario), low=grid[0], high=grid[-1], ticks=bold, log=log
        )

    def _gap(self) -> Gap | None:
        if not self.lead or self.asked.measure == "price":
            return None
        best = self.study.at(self.lead, self.x)
        public = self.study.at(self.study.public, self.x) if self.study.public else None
        if best is None or public is None:
            return None
        return Gap(
            x=place(self.x),
            low=public.mean,
            high=best.mean,
            text=_factor(best, public),
            colour=colour_of(self.lead),
            key=self.lead,
        )

    def value(self, key: str) -> float | None:
        """Return the number of a row at the chosen point."""
        for line in (*self.lines, *self.guides):
            if line.key == key:
                return _at(line.x, line.y, place(self.x))
        for area in (*self.region, *self.window):
            if area.key == key:
                return _at(area.x, area.upper, place(self.x))
        return None

    def low_end(self, key: str) -> float | None:
        for area in self.window:
            if area.key == key:
                return _at(area.x, area.lower, place(self.x))
        return None


def _at(x: Sequence[float], y: Sequence[float], where: float) -> float | None:
    return next((b for a, b in zip(x, y, strict=True) if a == where), None)


def _factor(best: Measurement, public: Measurement) -> str:
    """Return the price as text: its interval where the trials do not tell it, as the headline."""
    price = best.price
    if price is None:
        return f"×{ratio_text(best.mean / public.mean)}"
    if price.within_noise and price.high < NEAR_ONE and price.low > 1 / NEAR_ONE:
        return "≈ ×1"
    ends = loose_ends(price)
    return f"×{ratio_text(price.value)}" if ends is None else f"×{'–'.join(ends)}"


def _sized(length: float) -> float:
    return 0.0 if math.isnan(length) else length


def _inside(name: str) -> str:
    return f"the {name[0].lower()}{name[1:]}"
