"""What the data are, and what hiding a person does to them: pictures, and what each step costs."""

import math
from collections.abc import Iterator
from html import escape

from dpsco_app.figure.colours import ACCENT, FAINT, INK, PART_INKS, Pair
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.theme import Theme
from dpsco_app.front.costs import SAME, cost_words, is_open
from dpsco_app.front.pictures.data import data_html, far_records
from dpsco_app.front.pictures.svg import HEIGHT, picture
from dpsco_app.front.study import Study, chosen_point
from dpsco_app.front.titles import ratio_text
from dpsco_app.parts.error_parts import PART_COLOURS
from dpsco_core.catalogue import method_card, method_class
from dpsco_core.explain.error_parts import PriceParts, price_parts

# What the name of the dashboard says, once on a first screen.
SPELLED_OUT = "DP-SCO: differentially private stochastic convex optimization"
CLIP, AVERAGE, NOISE = "clip", "average", "add noise"  # the steps, each with its picture
PART_OF = {CLIP: "bias", AVERAGE: "sampling", NOISE: "noise"}  # the part of the error of a step
RADIUS = 27.0  # the radius of the ball, in pixels
CENTRE = 31.0  # where it stands in a picture, which is wider where far records lie beside it
WIDTHS = {AVERAGE: 62, NOISE: 72}
ONE_SIDED, TWO_SIDED = 96, 132
SHIFT = 24.0, -10.0  # The noise, in pixels.
# Where records lie, in multiples of the radius: near the centre, and two far out.
NEAR_RECORDS = tuple(
    (length * math.cos(2.4 * i), 0.8 * length * math.sin(2.4 * i))
    for i, length in enumerate(0.25 + 0.038 * i for i in range(18))
)
FAR_RECORDS = ((2.2, 0.4), (-2.1, 0.4))
FAR, FAR_PITCH, MOST_FAR = 2.2, 0.3, 8  # those of a hard instance, side by side
TENTHS_BELOW = 9.95  # A price below it is told in tenths, as in the headline.


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
    """Return what a method does: steps whose prices add up, or a sentence of its card."""
    clipped_values, card = method_class(slug).clipped_values, method_card(slug)
    if not clipped_values:
        words = f"<b>{escape(card.name)}.</b> {card.summary}"
        return f"<span class='steps'><span class='does'>{words}</span></span>"
    parts = parts_of(study) if has_prices and slug == study.lead else None
    numbers = {} if parts is None else dict(zip(PART_OF, part_texts(parts), strict=True))
    far = far_records(study.scenario) if study.role == "hardest" else None
    far_count = 0 if far is None else far.count
    terms = []
    for step in PART_OF:
        words = f"{step} gradients" if step == CLIP and clipped_values == "gradients" else step
        number = numbers.get(step, "")
        value = f" {_coloured(number, PART_COLOURS[PART_OF[step]], theme)}" if number else ""
        terms.append(
            f"<span class='term'>{_picture(step, theme, far_count)}"
            f"<span class='name'><span>{words}</span>{value}</span></span>"
        )
    sign = "+" if numbers else "→"
    joined = f"<span class='sign'>{sign}</span>".join(terms)
    if parts is not None:
        total = _coloured(f"×{ratio_text(parts.price)}", colour_of(slug), theme)
        joined += f"<span class='sign'>=</span><span class='total'>{total}</span>"
    return f"<span class='steps'>{joined}</span>"


def _coloured(text: str, colour: Pair, theme: Theme) -> str:
    return f"<b style='color:{theme.colour(PART_INKS.get(colour, colour))}'>{text}</b>"


# -- what each step costs -------------------------------------------------------------------------


def parts_of(study: Study) -> PriceParts | None:
    """Return how the price of the headline adds up; None where it says none, or the runs do not."""
    x = chosen_point(study.scenario)
    row = study.at(study.lead, x)
    if row is None or row.price is None or not study.complete or is_open(row.price):
        return None
    if cost_words(row.price, "").startswith(SAME):
        return None
    outcomes = [o for o in study.outcomes if o.method == study.lead and o.x == x]
    return price_parts(row.price.value, outcomes, study.scenario.at(x))


def part_texts(parts: PriceParts) -> tuple[str, str, str]:
    """Return what clipping, the plain average and noise cost, rounded so that they add up.

    Examples
    --------
    >>> part_texts(PriceParts(clipping=1.48, noise=0.76))
    ('1.4', '1', '0.8')
    >>> part_texts(PriceParts(clipping=-0.14, noise=0.19))
    ('−0.2', '1', '0.2')
    """
    digits = 1 if parts.price < TENTHS_BELOW else 0
    total, noise = round(parts.price, digits), round(parts.noise, digits)
    clipping = round(total - parts.plain - noise, digits)
    texts = (f"{abs(value):.{digits}f}" for value in (clipping, noise))
    clip_text, noise_text = texts
    return f"{'−' * (clipping < 0)}{clip_text}", "1", noise_text


# -- pictures -------------------------------------------------------------------------------------


def _picture(step: str, theme: Theme, far_count: int) -> str:
    is_wide, is_two_sided = step == CLIP, not far_count
    width = (TWO_SIDED if is_two_sided else ONE_SIDED) if is_wide else WIDTHS[step]
    x = width / 2 if is_wide and is_two_sided else CENTRE
    shapes = "".join(_shapes(step, x, theme, far_count))
    return picture(f"0 0 {width} {HEIGHT}", shapes, f"width='{width}' height='{HEIGHT}'")


def _shapes(step: str, x: float, theme: Theme, far_count: int) -> Iterator[str]:
    """Yield the shapes of a step: records on a ball, their mean, and where noise moves it."""
    y = HEIGHT / 2
    faint, ink, accent = map(theme.colour, (FAINT, INK, ACCENT))
    lost, noise = (theme.colour(PART_COLOURS[name]) for name in ("bias", "noise"))
    yield (
        f"<circle cx='{x}' cy='{y}' r='{RADIUS}' fill='none' stroke='{faint}' "
        "stroke-dasharray='3 3'/>"
    )
    records = ink if step == CLIP else faint
    for a, b in (*NEAR_RECORDS, *_far_records(far_count)):
        stretch = RADIUS / max(1.0, math.hypot(a, b))
        s, t = x + a * stretch, y + b * stretch
        if stretch < RADIUS and step == CLIP:
            u, v = x + a * RADIUS, y + b * RADIUS
            yield f"<path d='M{u:.1f} {v:.1f}L{s:.1f} {t:.1f}' stroke='{lost}' stroke-width='1.3'/>"
            yield f"<circle cx='{u:.1f}' cy='{v:.1f}' r='2.4' fill='none' stroke='{ink}'/>"
        yield f"<circle cx='{s:.1f}' cy='{t:.1f}' r='2.2' fill='{records}'/>"
    if step == AVERAGE:
        yield f"<circle cx='{x}' cy='{y}' r='5.5' fill='{accent}'/>"
    if step == NOISE:
        u, v = x + SHIFT[0], y + SHIFT[1]
        yield f"<circle cx='{x}' cy='{y}' r='4.5' fill='none' stroke='{accent}'/>"
        yield f"<path d='M{x} {y}L{u} {v}' stroke='{noise}' stroke-width='2'/>"
        yield f"<circle cx='{u}' cy='{v}' r='5.5' fill='{accent}'/>"


def _far_records(count: int) -> tuple[tuple[float, float], ...]:
    """Return where the far records lie: side by side those of a hard instance, as many as it has.

    At most `MOST_FAR` are drawn.
    """
    shown = min(count, MOST_FAR)
    heights = [FAR_PITCH * (i - (shown - 1) / 2) for i in range(shown)]
    return tuple((FAR, height) for height in heights) or FAR_RECORDS
