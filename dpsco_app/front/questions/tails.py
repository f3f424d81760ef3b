"""The promises for all data with a heavy and with a light tail, over the records."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from dpsco_app.figure.colours import IMPOSSIBLE, WINDOW, Area, Pair
from dpsco_app.figure.values import (
    Axis,
    Figure,
    Ladder,
    LadderRow,
    Line,
    Panel,
    Region,
    Ruler,
    RulerMark,
)
from dpsco_app.front.study import chosen_point, place
from dpsco_app.front.titles import NO_BREAK, at_point, axis_title, drag_words, ratio_text
from dpsco_app.parts.evaluations import evaluations, window
from dpsco_app.parts.options import number_text, ranged, rounded
from dpsco_core.explain.window import Span
from dpsco_core.fields import MEAN, is_linear
from dpsco_core.results.findings import HEAVY, LIGHT, LIGHT_FROM
from dpsco_core.scenario import Scenario

Y_AXIS = "Average distance from the true mean, promised for all data"
PUBLIC = "upper.mean.sample"  # The slug of the bound on the error without privacy.
OTHER_LOOK = Area(
    fill=("rgba(95,129,115,.22)", "rgba(134,179,160,.2)"),
    edge=("#5f8173", "#86b3a0"),
    ink=("#3f6152", "#a9d3bf"),
)


@dataclass(frozen=True, kw_only=True)
class TailBand:
    """The proven bounds at one tail index, for each point of the axis.

    `spans` has the window between the bounds, and `public` the bound on the error without privacy.
    """

    scenario: Scenario
    spans: tuple[tuple[float | None, Span], ...]
    public: tuple[float, ...]

    def prices(self, i: int) -> tuple[float, float]:
        """Return the smallest and the largest price of a promise at point i of the axis."""
        span, base = self.spans[i][1], self.public[i]
        return max(1.0, span.low / base), max(1.0, span.high / base)


def other_tail(scenario: Scenario) -> Scenario:
    """Return the scenario with a light tail, or with a heavy one if its own is light."""
    return replace(scenario, p=HEAVY if scenario.p >= LIGHT_FROM else LIGHT)


@lru_cache(maxsize=64)
def tails_of(scenario: Scenario) -> tuple[TailBand, ...]:
    """Return the promises at both tails, the heavy one first; empty if they are unknown.

    They are known for a mean at item level, along any axis but the tail index itself.
    """
    if scenario.problem != MEAN or scenario.axis == "p" or scenario.m > 1 or scenario.axis == "m":
        return ()
    bands = []
    for tail_scenario in sorted((scenario, other_tail(scenario)), key=lambda s: s.p):
        plain = replace(tail_scenario, distribution="gaussian", methods=())
        spans = tuple(window(plain))
        public = tuple(e.value for e in evaluations(plain, (PUBLIC,)) if not e.failures)
        if not spans or len(public) < len(spans) or not all(0 < v < math.inf for v in public):
            return ()
        bands.append(TailBand(scenario=tail_scenario, spans=spans, public=public))
    return tuple(bands)


def has_tails(scenario: Scenario) -> bool:
    """Return whether promises at a heavy and at a light tail are known for a scenario."""
    return bool(tails_of(scenario))


def tails_name(scenario: Scenario) -> str:
    """Return the title of the question on the other tail: "A heavier tail" or "A lighter tail"."""
    return "A heavier tail" if scenario.p >= LIGHT_FROM else "A lighter tail"


def tails_answer(scenario: Scenario) -> str:
    """Return a sentence on the price of a promise at both tails, and on more records along n."""
    heavy, light = tails_of(scenario)
    point_names = [f"at p = {number_text(t.scenario.p)}" for t in (heavy, light)]
    if scenario.axis == "n":
        ends = [t.prices(len(t.spans) - 1) for t in (heavy, light)]
        starts = [t.prices(0) for t in (heavy, light)]
        falls = [end[1] < 0.8 * start[1] for end, start in zip(ends, starts, strict=True)]
        if falls[1] and not falls[0] and ends[0][0] > 1.05:
            fall_words = "1" if ends[1][1] < 1.25 else ratio_text(ends[1][1])
            low = ratio_text(ends[0][0])
            stays = f"stays at {low} {point_names[0]}"
            return (
                "With more records a promise over that without privacy falls to "
                f"{fall_words} {point_names[1]}, and {stays}."
            )
    i = _index(heavy)
    texts = [
        f"{point_name} {ranged_price(*t.prices(i))} times"
        for point_name, t in zip(point_names, (heavy, light), strict=True)
    ]
    return f"A promise for all data is {texts[0]}, {texts[1]} {promise_base_words(scenario)}."


def tail_price(scenario: Scenario, p: float) -> float | None:
    """Return the smallest price that is proven possible at tail index p and the chosen point.

    The answer is None if p is neither of the two tail indices of `tails_of`.
    """
    own_tail = next((tail for tail in tails_of(scenario) if tail.scenario.p == p), None)
    return None if own_tail is None else own_tail.prices(_index(own_tail))[1]


def promise_base_words(scenario: Scenario) -> str:
    """Return the denominator of the promises' ratios: the error promised without privacy.

    It is the same at both tails, because the variance of every coordinate is.
    """
    tail = tails_of(scenario)[0]
    value = tail.public[_index(tail)]
    point = scenario.at(chosen_point(scenario))
    root = f"√(d/n){NO_BREAK}={NO_BREAK}" * math.isclose(value, math.sqrt(point.d / point.n))
    return f"that without privacy, {root}{rounded(value)}"


def ranged_price(low: float, high: float) -> str:
    """Return a range of prices in words, or a single price if both ends read the same."""
    a, b = ratio_text(low), ratio_text(high)
    return a if a == b else f"{a} to {b}"


def _index(tail: TailBand) -> int:
    """Return the index of the chosen point among the points of a tail's axis."""
    x = chosen_point(tail.scenario)
    return [a for a, _ in tail.spans].index(x)


# -- the figure -----------------------------------------------------------------------------------


def tails_headline(scenario: Scenario) -> tuple[str, ...]:
    """Return the two lines above the figure of both tails; the second one may be empty."""
    heavy, light = tails_of(scenario)
    i = _index(heavy)
    p, r = (number_text(t.scenario.p) for t in (heavy, light))
    price_line = (
        f"A promise for all data is {ranged_price(*heavy.prices(i))} times "
        f"{promise_base_words(scenario)}, at p = {p}; {ranged_price(*light.prices(i))} at p = {r}."
    )
    ends = heavy.prices(-1), light.prices(-1)
    starts = heavy.prices(0), light.prices(0)
    cures = [end[1] < 0.8 * start[1] for end, start in zip(ends, starts, strict=True)]
    if scenario.axis == "n" and cures == [False, True]:
        return price_line, f"More records cure it at p = {r}, not at p = {p}."
    return price_line, ""


def tails_figure(scenario: Scenario, alt: str) -> Figure:
    """Return the figure of both tails' bounds and of what is promised without privacy."""
    heavy, light = tails_of(scenario)
    regions = [_band(heavy, WINDOW, "Heavy"), _band(light, OTHER_LOOK, "Light")]
    x = [place(a) for a, _ in heavy.spans]
    lines = [
        Line(
            key="public",
            name="promised without privacy",
            kind="proven",
            x=x,
            y=list(heavy.public),
            colour=("#6a6f76", "#aeb2b7"),
            width=2.0,
        )
    ]
    i = _index(heavy)
    heights = [
        *heavy.public,
        *(v for t in (heavy, light) for _, s in t.spans for v in (s.low, s.high)),
    ]
    low, high = min(heights) / 1.4, max(heights) * 1.3
    return Figure(
        panels=[
            Panel(
                title="",
                x=_axis(scenario),
                regions=regions,
                lines=lines,
                chosen=place(chosen_point(scenario)),
            )
        ],
        y=Axis(
            title=Y_AXIS,
            low=low,
            high=high,
            ticks=_log_ticks(low, high),
        ),
        ladder=_ladder(scenario, (heavy, light), i),
        ruler=Ruler(
            x=place(chosen_point(scenario)),
            head=(),
            rungs=[
                *(
                    _rung(t, name, i, colour)
                    for t, name, colour in (
                        (heavy, "Heavy tail", WINDOW.ink),
                        (light, "Light tail", OTHER_LOOK.ink),
                    )
                ),
                RulerMark(
                    key="public",
                    text="",
                    name="Without privacy",
                    note="the same for both",
                    colour=("#55595f", "#b9bcbf"),
                    x=x,
                    y=list(heavy.public),
                ),
            ],
        ),
        alt=alt,
    )


def _band(tail: TailBand, look: Area, name: str) -> Region:
    """Return the region between the bounds of a tail along the axis."""
    return Region(
        key=f"tail {tail.scenario.p:g}",
        name=f"{name} tail, p = {number_text(tail.scenario.p)}",
        x=[place(a) for a, _ in tail.spans],
        upper=[s.high for _, s in tail.spans],
        lower=[s.low for _, s in tail.spans],
        look=look,
        hover=[f"{name} tail: {ranged(s.low, s.high)}" for _, s in tail.spans],
    )


def _rung(tail: TailBand, name: str, i: int, colour: Pair) -> RulerMark:
    """Return the ruler's mark of a tail, in the middle of its bounds at point i."""
    middle = [math.sqrt(s.low * s.high) for _, s in tail.spans]
    price = ranged_price(*tail.prices(i)).replace(" to ", " to ×")
    point_text = at_point(tail.scenario, tail.spans[i][0]).replace(", ", " at ", 1)
    return RulerMark(
        key=f"tail {tail.scenario.p:g}",
        text="",
        name=f"{name}, p = {number_text(tail.scenario.p)}",
        note=f"×{price}{point_text}",
        colour=colour,
        x=[place(a) for a, _ in tail.spans],
        y=middle,
        at=middle[i],
        bold=True,
    )


def _ladder(scenario: Scenario, tails: Sequence[TailBand], i: int) -> Ladder:
    """Return the table of the tails, with bounds and prices at point i."""
    point_text = at_point(scenario, tails[0].spans[i][0]).removeprefix(", ")
    rows = [
        LadderRow(
            key=f"tail {t.scenario.p:g}",
            name=f"p = {number_text(t.scenario.p)}",
            colour=WINDOW.ink,
            values=[ranged(t.spans[i][1].low, t.spans[i][1].high), ranged_price(*t.prices(i))],
            end=t.spans[-1][1].high,
            swatch="area",
        )
        for t in tails
    ]
    public = LadderRow(
        key="public",
        name="without privacy",
        colour=IMPOSSIBLE.ink,
        values=[rounded(tails[0].public[i]), "1"],
        end=tails[0].public[-1],
    )
    return Ladder(
        title=f"At {point_text}" if point_text else "Here",
        columns=["promised", "price"],
        rows=[*rows, public],
    )


def _axis(scenario: Scenario) -> Axis:
    """Return the horizontal axis, with the chosen value in bold."""
    axis, grid, x = scenario.axis, scenario.grid, chosen_point(scenario)
    if axis is None:
        return Axis(title="", low=0.5, high=2.0, ticks=())
    ticks = [(a, f"<b>{number_text(a)}</b>" if a == x else number_text(a)) for a in grid]
    title = f"{axis_title(scenario)} ({drag_words(axis)})"
    return Axis(title=title, low=grid[0], high=grid[-1], ticks=ticks, log=not is_linear(axis))


def _log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return ticks at 1, 2 and 5 times powers of ten between two values."""
    first_power, last_power = math.floor(math.log10(low)), math.ceil(math.log10(high))
    candidates = (float(f"{d}e{e}") for e in range(first_power, last_power + 1) for d in (1, 2, 5))
    return [(v, number_text(v)) for v in candidates if low <= v <= high]
