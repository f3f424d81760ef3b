"""What a promise for all data costs along each slider: an area above it, where its card is open."""

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

from dpsco_app.figure.colours import IMPOSSIBLE, INK, QUIET, WINDOW
from dpsco_app.figure.theme import Theme
from dpsco_app.front.changes import slider_values
from dpsco_app.front.pictures.svg import picture
from dpsco_app.front.questions.tails import PUBLIC, has_tails
from dpsco_app.parts.evaluations import evaluations, window
from dpsco_core.base.errors import InvalidInput
from dpsco_core.fields import is_linear
from dpsco_core.scenario import Scenario

FIELDS = ("p", "n", "d", "epsilon", "delta")
POINTS = 6  # The number of a slider's values at which bounds are evaluated.
WIDTH, HEIGHT, MARGIN = 248.0, 40.0, 3.0
TICKS = (1.0, 2.0, 5.0)
LARGEST = 10.0  # The price at the top of the area.
# Each triple is a value of the slider with the smallest and the largest price there.
Prices = tuple[tuple[float, float, float], ...]


@lru_cache(maxsize=512)
def prices_along(point: Scenario, field: str) -> Prices:
    """Return the smallest and largest price of a promise at some values of a field's slider."""
    values = [v for v in slider_values(field, point, getattr(point, field)) if math.isfinite(v)]
    step = max(1, math.ceil((len(values) - 1) / (POINTS - 1)))
    sampled_values = sorted({*values[::step], values[-1], getattr(point, field)})
    prices = []
    for value in sampled_values:
        change: dict[str, Any] = {field: int(value) if field in ("n", "d") else value}
        price = _price(replace(point, **change))
        if price is not None:
            prices.append((float(value), *price))
    return tuple(prices)


def _price(point: Scenario) -> tuple[float, float] | None:
    """Return the smallest and the largest possible price at a point; None if it is unknown."""
    try:
        spans, public = window(point), evaluations(point, (PUBLIC,))
    except InvalidInput:
        return None
    if not spans or not 0 < public[0].value < math.inf:
        return None
    span, base = spans[0][1], public[0].value
    return max(1.0, span.low / base), max(1.0, span.high / base)


def slider_areas(scenario: Scenario, theme: Theme) -> dict[str, str]:
    """Return the HTML of the area above each slider, by field.

    Fields with fewer than two known prices are left out. No slider has an area if the scenario has
    no promises to compare at a heavy and a light tail.
    """
    if not has_tails(scenario):
        return {}
    point = replace(scenario, axis=None, grid=(), methods=(), distribution="gaussian", trials=1)
    fields = [f for f in FIELDS if getattr(scenario, f)]
    prices_by_field = {field: prices_along(point, field) for field in fields}
    return {
        field: _area(prices, getattr(scenario, field), field, theme)
        for field, prices in prices_by_field.items()
        if len(prices) > 1
    }


def _area(prices: Prices, value: float, field: str, theme: Theme) -> str:
    """Return the area between smallest and largest price along a slider, as an image in HTML.

    Two dots mark the prices at `value`, the present value of the field.
    """
    places = value_places(prices, field)
    points = [
        (x, _height(low), _height(high)) for x, (_, low, high) in zip(places, prices, strict=True)
    ]
    upper = " ".join(f"{x:.1f},{high:.1f}" for x, _, high in points)
    lower = " ".join(f"{x:.1f},{low:.1f}" for x, low, _ in points)
    lower_reversed = " ".join(f"{x:.1f},{low:.1f}" for x, low, _ in reversed(points))
    fill, edge, red = map(theme.colour, (WINDOW.fill, WINDOW.edge, IMPOSSIBLE.edge))
    ink, quiet = theme.colour(INK), theme.colour(QUIET)
    ticks = "".join(
        f"<path d='M0 {_height(t):.1f}H{WIDTH}' stroke='{quiet}' stroke-width='.5' "
        f"stroke-dasharray='1 3'/><text x='{WIDTH}' y='{_height(t) - 1.5:.1f}' text-anchor='end' "
        f"font-size='8.5' font-family='Arial' fill='{quiet}'>×{t:g}</text>"
        for t in TICKS
    )
    nearest = min(range(len(prices)), key=lambda i: abs(prices[i][0] - value))
    x, low, high = points[nearest]
    mark = (
        f"<path d='M{x:.1f} {high:.1f}V{HEIGHT}' stroke='{ink}'/>"
        f"<circle cx='{x:.1f}' cy='{high:.1f}' r='2.5' fill='{edge}'/>"
        f"<circle cx='{x:.1f}' cy='{low:.1f}' r='2.5' fill='{red}'/>"
    )
    shapes = (
        f"<polygon points='{upper} {lower_reversed}' fill='{fill}'/>{ticks}"
        f"<polyline points='{upper}' fill='none' stroke='{edge}' stroke-width='1.4'/>"
        f"<polyline points='{lower}' fill='none' stroke='{red}' stroke-width='1.4'/>{mark}"
    )
    return picture(f"0 0 {WIDTH:g} {HEIGHT:g}", shapes, "class='area'")


def value_places(prices: Prices, field: str) -> list[float]:
    """Return the horizontal pixel of each price's value, on the linear or log scale of a field."""
    values = [v if is_linear(field) else math.log(v) for v, *_ in prices]
    span = values[-1] - values[0]
    return [MARGIN + (v - values[0]) / span * (WIDTH - 2 * MARGIN) for v in values]


def _height(price: float) -> float:
    """Return the distance of a price from the top in pixels, on a logarithmic scale."""
    share = math.log(min(price, LARGEST)) / math.log(LARGEST)
    return HEIGHT - 2 - share * (HEIGHT - 6)
