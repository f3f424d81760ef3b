"""What the data are, and what hiding a person does to them: pictures, and what each step costs."""

import math
from collections.abc import Iterator
from html import escape

from dpsco_app.figure.colours import ACCENT, FAINT, INK, PART_INKS, Pair
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.theme import Theme
from dpsco_app.front.costs import SAME_PREFIX, cost_words, is_open
from dpsco_app.front.pictures.data import data_html, far_records
from dpsco_app.front.pictures.svg import HEIGHT, picture
from dpsco_app.front.study import Study, chosen_point
from dpsco_app.front.titles import ratio_text
from dpsco_app.parts.error_parts import PART_COLOURS
from dpsco_core.catalogue import method_card, method_class
from dpsco_core.explain.error_parts import PriceParts, price_parts

# What the name of the dashboard says, once on a first screen.
SPELLED_OUT = "DP-SCO: differentially private stochastic convex optimization"
# The steps, each with its picture, and the part of the error that it makes.
AVERAGE, CLIP, NOISE = "average", "clip first", "add noise"
PART_OF = {AVERAGE: "sampling", CLIP: "bias", NOISE: "noise"}
CHIEFLY = 3.0  # One of two parts is named alone where it is so many times the other.
RADIUS = 27.0  # the radius of the ball, in pixels
CENTRE = 31.0  # where it stands in a picture, which is wider where far records lie beside it
NOISE_WIDTH, ONE_SIDED, TWO_SIDED = 72, 96, 132
SHIFT, LEAST_SHIFT = (24.0, -10.0), 0.3  # the noise, in pixels, and what is drawn of it at least
PULL = 9.0  # how far records on one side move the plain average, in pixels
# Where records lie, in multiples of the radius: near the centre, and two far out.
NEAR_RECORDS = tuple(
    (length * math.cos(2.4 * i), 0.8 * length * math.sin(2.4 * i))
    for i, length in enumerate(0.25 + 0.038 * i for i in range(18))
)
FAR_RECORDS = ((2.2, 0.4), (-2.1, 0.4))
FAR_DISTANCE, FAR_PITCH, MOST_DRAWN = 2.2, 0.3, 8  # those of a hard instance, side by side


def meaning(study: Study, theme: Theme, *, has_prices: bool = True) -> str:
    """Return the pictures and their words as HTML; of an old run without its prices.

    The steps are those of the private method that is spoken of.
    """
    slug = study.lead or next(
        (m for m in study.scenario.methods if method_card(m).privacy != "none"), ""
    )
    steps = _steps(study, slug, theme, has_prices=has_prices) if slug else ""
    return f"<span class='meaning'>{data_html(study, theme)}{steps}</span>"


def _steps(study: Study, slug: str, theme: Theme, *, has_prices: bool) -> str:
    """Return what a method does: the price after each step, or a sentence of its card."""
    clipped_values, card = method_class(slug).clipped_values, method_card(slug)
    if not clipped_values:
        words = f"<b>{escape(card.name)}.</b> {card.summary}"
        return f"<span class='steps'><span class='does'>{words}</span></span>"
    parts = parts_of(study) if has_prices and slug == study.lead else None
    prices = {} if parts is None else dict(zip(PART_OF, step_prices(parts), strict=True))
    outliers = far_records(study.scenario) if study.role == "hardest" else None
    far_count = 0 if outliers is None else outliers.count
    terms = []
    for step in PART_OF:
        has_gradients = step == CLIP and clipped_values == "gradients"
        words = "clip gradients first" if has_gradients else step
        colour = colour_of(slug) if step == NOISE else PART_COLOURS[PART_OF[step]]
        value = f" {_coloured(prices[step], colour, theme)}" if prices else ""
        terms.append(
            f"<span class='term'>{_picture(step, theme, far_count, noise_scale(parts))}"
            f"<span class='name'><span>{words}</span>{value}</span></span>"
        )
    joined = "<span class='sign'>→</span>".join(terms)
    if parts is not None:
        joined += f"<span class='cause'>{cause(parts, theme)}</span>"
    return f"<span class='steps'>{joined}</span>"


def cause(parts: PriceParts, theme: Theme) -> str:
    """Return which step makes the price, as HTML."""
    clipping, noise = (
        _coloured(word, PART_COLOURS[part], theme)
        for word, part in (("clipping", "bias"), ("noise", "noise"))
    )
    if parts.clipping > CHIEFLY * parts.noise:
        return f"The {clipping} costs, hardly the noise."
    if parts.noise > CHIEFLY * parts.clipping:
        return f"The {noise} costs, hardly the clipping."
    return f"The {clipping} costs, and so does the {noise}."


def _coloured(text: str, colour: Pair, theme: Theme) -> str:
    return f"<b style='color:{theme.colour(PART_INKS.get(colour, colour))}'>{text}</b>"


# -- what each step costs -------------------------------------------------------------------------


def parts_of(study: Study) -> PriceParts | None:
    """Return how the price of the headline adds up; None where it says none, or the runs do not."""
    x = chosen_point(study.scenario)
    row = study.row_at(study.lead, x)
    if row is None or row.price is None or not study.complete or is_open(row.price):
        return None
    if cost_words(row.price, "").startswith(SAME_PREFIX):
        return None
    outcomes = [o for o in study.outcomes if o.method == study.lead and o.x == x]
    return price_parts(row.price.value, outcomes, study.scenario.at(x))


def step_prices(parts: PriceParts) -> tuple[str, str, str]:
    """Return the price of the plain average, of that of clipped records, and of that with noise.

    Examples
    --------
    >>> step_prices(PriceParts(clipping=1.48, noise=0.76))
    ('×1', '×2.5', '×3.2')
    """
    prices = parts.plain + parts.clipping, parts.price
    clipped, noisy = (f"×{ratio_text(price)}" for price in prices)
    return f"×{parts.plain:g}", clipped, noisy


# -- pictures -------------------------------------------------------------------------------------


def noise_scale(parts: PriceParts | None) -> float:
    """Return how long the noise is drawn, as a share: its part of what privacy costs."""
    if parts is None or parts.price <= parts.plain:
        return 1.0
    return min(1.0, max(LEAST_SHIFT, parts.noise / (parts.price - parts.plain)))


def _picture(step: str, theme: Theme, far_count: int, noise_scale: float) -> str:
    has_far_records = step != NOISE
    width = (ONE_SIDED if far_count else TWO_SIDED) if has_far_records else NOISE_WIDTH
    x = width / 2 if has_far_records and not far_count else CENTRE
    shapes = "".join(_shapes(step, x, theme, far_count, noise_scale))
    return picture(f"0 0 {width} {HEIGHT}", shapes, f"width='{width}' height='{HEIGHT}'")


def _shapes(step: str, x: float, theme: Theme, far_count: int, noise_scale: float) -> Iterator[str]:
    """Yield the shapes of a step: records, whole or clipped, their mean, and what noise does."""
    y = HEIGHT / 2
    faint, ink, accent = map(theme.colour, (FAINT, INK, ACCENT))
    bias_colour, noise_colour = (theme.colour(PART_COLOURS[name]) for name in ("bias", "noise"))
    if step != AVERAGE:
        yield (
            f"<circle cx='{x}' cy='{y}' r='{RADIUS}' fill='none' stroke='{faint}' "
            "stroke-dasharray='3 3'/>"
        )
    for a, b in (*NEAR_RECORDS, *_far_records(far_count)):
        stretch = RADIUS / max(1.0, math.hypot(a, b))
        s, t = x + a * stretch, y + b * stretch
        u, v = x + a * RADIUS, y + b * RADIUS
        is_far = stretch < RADIUS
        if is_far and step == CLIP:
            cut = f"M{u:.1f} {v:.1f}L{s:.1f} {t:.1f}"
            yield f"<path d='{cut}' stroke='{bias_colour}' stroke-width='1.3'/>"
            yield f"<circle cx='{u:.1f}' cy='{v:.1f}' r='2.4' fill='none' stroke='{ink}'/>"
        if step == AVERAGE:
            s, t = u, v
        yield f"<circle cx='{s:.1f}' cy='{t:.1f}' r='2.2' fill='{ink if is_far else faint}'/>"
    mean = x + PULL if step == AVERAGE and far_count else x
    if step == NOISE:
        u, v = x + noise_scale * SHIFT[0], y + noise_scale * SHIFT[1]
        yield f"<circle cx='{x}' cy='{y}' r='4.5' fill='none' stroke='{accent}'/>"
        yield f"<path d='M{x} {y}L{u:.1f} {v:.1f}' stroke='{noise_colour}' stroke-width='2'/>"
        yield f"<circle cx='{u:.1f}' cy='{v:.1f}' r='5.5' fill='{accent}'/>"
    else:
        yield f"<circle cx='{mean}' cy='{y}' r='5.5' fill='{accent}'/>"


def _far_records(count: int) -> tuple[tuple[float, float], ...]:
    """Return where the far records lie: side by side those of a hard instance, as many as it has.

    At most `MOST_DRAWN` are drawn.
    """
    drawn_count = min(count, MOST_DRAWN)
    heights = [FAR_PITCH * (i - (drawn_count - 1) / 2) for i in range(drawn_count)]
    return tuple((FAR_DISTANCE, height) for height in heights) or FAR_RECORDS
