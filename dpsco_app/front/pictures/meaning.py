"""What the data are, and what hiding a person does to them: pictures with the price of each step.

Each step is drawn with the true mean, the answer, and the error between them. The errors of the
three pictures have one scale, which is also that of the prices beside them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from dpsco_app.figure.colours import ACCENT, FAINT, INK, PART_INKS, QUIET, Pair
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.theme import Theme
from dpsco_app.front.costs import SAME_PREFIX, cost_words, is_open
from dpsco_app.front.pictures.data import (
    LETTERS,
    FarRecords,
    data_html,
    far_label,
    far_records,
)
from dpsco_app.front.pictures.svg import HEIGHT, picture
from dpsco_app.front.study import Study, chosen_point
from dpsco_app.front.titles import ratio_text
from dpsco_app.parts.error_parts import PART_COLOURS
from dpsco_app.parts.options import number_text
from dpsco_core.catalogue import method_card, method_class
from dpsco_core.explain.error_parts import PriceParts, price_parts

# The name of the dashboard, spelled out once on the first screen.
SPELLED_OUT = "DP-SCO: differentially private stochastic convex optimization"
# The three steps; each has a picture and causes one part of the error.
AVERAGE, CLIP, NOISE = "average", "clip first", "add noise"
PART_OF = {AVERAGE: "sampling", CLIP: "bias", NOISE: "noise"}
# The sentence if the best private answer is no better than one that ignores the data.
NO_DATA = "An answer without data does as well."
NO_DATA_MORE = (
    "At these settings hiding one person hides all that the hardest data tell: always giving one "
    "fixed answer has as small an error as the best private algorithm that has run."
)
WHY_CLIP = "Unclipped, one record could move the answer anywhere: no noise hides it."
CHIEFLY = 3.0  # If one of two parts exceeds this multiple of the other, it is named alone.
# The height of a picture with names below it, and the radius of its ball, in pixels.
LARGE_HEIGHT, LARGE_RADIUS = 92.0, 40.0
RADIUS = 27.0  # The radius of the ball in the other pictures, in pixels.
# The distance in pixels of the ball's centre from the left and the top of a large picture.
CENTRE = 46.0
LARGE_WIDTHS = {AVERAGE: 156, CLIP: 156, NOISE: 96}
NAMES_WIDTH, NAMES_HEIGHT = 150, 16
LETTER = 6.4  # The mean width of a letter of these names in pixels, or slightly more.
WIDTHS = {AVERAGE: 124, CLIP: 124, NOISE: 72}
# The length of the largest error, and the largest length of a price of 1, in pixels.
LONGEST_ERROR, LARGEST_UNIT = 20.0, 8.0
# The parts that are drawn if no run has measured them.
UNKNOWN = PriceParts(clipping=1.0, noise=0.6)
# The places of records, in multiples of the radius: many near the centre, and two far out.
NEAR_RECORDS = tuple(
    (length * math.cos(2.4 * i), 0.8 * length * math.sin(2.4 * i))
    for i, length in enumerate(0.25 + 0.038 * i for i in range(18))
)
FAR_RECORDS = ((2.15, 0.4), (-2.05, 0.4))
CLUMP = 0.4  # The distances between records that are all alike are multiplied by this number.
# The far records of a hard instance: their distance, the gap between two, and how many are drawn.
FAR_DISTANCE, FAR_PITCH, MOST_DRAWN = 2.2, 0.3, 8
# The place on the line to the far records where a mark shows that the distance is cut, in multiples
# of the radius.
BREAK_AT = 1.35


def meaning(study: Study, theme: Theme, *, has_prices: bool = True) -> str:
    """Return the pictures and their words as HTML, for the private method of the headline.

    The pictures of an old run have no prices.
    """
    slug = study.lead or next(
        (m for m in study.scenario.methods if method_card(m).privacy != "none"), ""
    )
    if not slug:
        body = data_html(study, theme)
    elif not method_class(slug).clipped_values:
        card = method_card(slug)
        words = f"<b>{escape(card.name)}.</b> {card.summary}"
        steps = f"<span class='steps'><span class='does'>{words}</span></span>"
        body = data_html(study, theme) + steps
    else:
        outliers = far_records(study.scenario) if study.role == "hardest" else None
        # If the far records are few, the large pictures show them.
        data = data_html(study, theme) if outliers is None else ""
        body = data + _steps(study, slug, theme, outliers, has_prices=has_prices)
    return f"<span class='meaning'>{body}</span>"


def _steps(
    study: Study, slug: str, theme: Theme, outliers: FarRecords | None, *, has_prices: bool
) -> str:
    """Return the pictures of a method that clips, with the price after each step."""
    clipped_values = method_class(slug).clipped_values
    parts = parts_of(study) if has_prices and slug == study.lead else None
    prices = {} if parts is None else dict(zip(PART_OF, step_prices(parts), strict=True))
    terms = []
    for step in PART_OF:
        has_gradients = step == CLIP and clipped_values == "gradients"
        words = "clip gradients first" if has_gradients else step
        colour = colour_of(slug) if step == NOISE else PART_COLOURS[PART_OF[step]]
        value = f" {_coloured(prices[step], colour, theme)}" if prices else ""
        names = "" if outliers is None else _names(step, outliers, theme)
        terms.append(
            f"<span class='term'>{_picture(step, theme, outliers, parts, colour)}{names}"
            f"<span class='name'><span>{words}</span>{value}</span></span>"
        )
    joined = "<span class='sign'>→</span>".join(terms)
    if parts is not None:
        sentence, title = cause(parts, outliers, theme), WHY_CLIP
        if is_level_without_data(study):
            sentence, title = f"<b>{NO_DATA}</b>", f"{NO_DATA_MORE} {WHY_CLIP}"
        joined += f"<span class='cause' title='{title}'>{sentence}</span>"
    return f"<span class='steps'>{joined}</span>"


def is_level_without_data(study: Study) -> bool:
    """Return whether, on the hardest data, the best private answer equals one without data.

    On other data the headline says so.
    """
    x = chosen_point(study.scenario)
    return study.role == "hardest" and study.complete and study.useless(x) == "level"


def cause(parts: PriceParts, outliers: FarRecords | None, theme: Theme) -> str:
    """Return a sentence on which step makes the price, and which records if few, as HTML."""
    clipping, noise = (
        _coloured(word, PART_COLOURS[part], theme)
        for word, part in (("clipping", "bias"), ("noise", "noise"))
    )
    if parts.price < 1:
        return f"Here {clipping} gains more than the {noise} costs."
    if parts.clipping > CHIEFLY * parts.noise and outliers is not None:
        records = "record" if outliers.count == 1 else "records"
        clipping = clipping.replace("clipping", "Clipping")
        return f"{clipping} {number_text(outliers.count)} {records} costs most, noise little."
    if parts.clipping > CHIEFLY * parts.noise:
        return f"The {clipping} costs, hardly the noise."
    if parts.noise > CHIEFLY * parts.clipping:
        return f"The {noise} costs, hardly the clipping."
    return f"The {clipping} costs, and so does the {noise}."


def _coloured(text: str, colour: Pair, theme: Theme) -> str:
    """Return a text in bold and in a colour of the theme."""
    return f"<b style='color:{theme.colour(PART_INKS.get(colour, colour))}'>{text}</b>"


# -- what each step costs -------------------------------------------------------------------------


def parts_of(study: Study) -> PriceParts | None:
    """Return the parts of the headline's price; None if it has none, or the runs do not tell."""
    x = chosen_point(study.scenario)
    row = study.row_at(study.lead, x)
    if row is None or row.price is None or not study.complete or is_open(row.price):
        return None
    if cost_words(row.price, "").startswith(SAME_PREFIX):
        return None
    outcomes = [o for o in study.outcomes if o.method == study.lead and o.x == x]
    return price_parts(row.price.value, outcomes, study.scenario.at(x))


def step_prices(parts: PriceParts) -> tuple[str, str, str]:
    """Return the prices of the plain average, of a clipped one, and of a clipped one with noise.

    Examples
    --------
    >>> step_prices(PriceParts(clipping=1.48, noise=0.76))
    ('×1', '×2.5', '×3.2')
    """
    prices = parts.plain + parts.clipping, parts.price
    clipped, noisy = (f"×{ratio_text(price)}" for price in prices)
    return f"×{parts.plain:g}", clipped, noisy


# -- pictures -------------------------------------------------------------------------------------


Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class ErrorPlaces:
    """The places of the true mean and the answers, in pixels from the ball's centre."""

    true_mean: Point
    answers: dict[str, Point]  # The answer after each step.


def error_places(parts: PriceParts, *, is_one_sided: bool) -> ErrorPlaces:
    """Return places of the true mean and the answers, whose distances are in proportion to prices.

    Far records on one side pull the true mean away from the centre of the ball.
    Noise is drawn at a right angle to the bias, because the two are unrelated.
    """
    clipped = parts.plain + parts.clipping
    unit = min(LARGEST_UNIT, LONGEST_ERROR / max(parts.price, clipped, parts.plain))
    noise_length = unit * math.sqrt(max(0.0, parts.price**2 - clipped**2))
    bias = unit * clipped
    true_mean = (bias, 0.0) if is_one_sided else (0.0, 0.0)
    average = (true_mean[0] - unit * parts.plain, 0.0)
    clipped_mean = (true_mean[0] - bias, 0.0)
    return ErrorPlaces(
        true_mean=true_mean,
        answers={AVERAGE: average, CLIP: clipped_mean, NOISE: (clipped_mean[0], -noise_length)},
    )


def _picture(
    step: str, theme: Theme, outliers: FarRecords | None, parts: PriceParts | None, colour: Pair
) -> str:
    """Return the picture of one step of the explanation, as SVG."""
    width, height = (
        (WIDTHS[step], HEIGHT) if outliers is None else (LARGE_WIDTHS[step], LARGE_HEIGHT)
    )
    centre = (width / 2, HEIGHT / 2) if outliers is None else (CENTRE, CENTRE)
    places = error_places(parts or UNKNOWN, is_one_sided=outliers is not None)
    shapes = [
        *_records(step, centre, theme, outliers),
        *_error(step, centre, theme, places, colour),
    ]
    size = f"width='{width}' height='{height:g}'"
    return picture(f"0 0 {width} {height:g}", "".join(shapes), size)


def _records(step: str, centre: Point, theme: Theme, outliers: FarRecords | None) -> Iterator[str]:
    """Yield, as SVG, the records after a step, and the ball to which they are clipped."""
    x, y = centre
    radius = RADIUS if outliers is None else LARGE_RADIUS
    faint, ink, bias_colour = map(theme.colour, (FAINT, INK, PART_COLOURS["bias"]))
    if step != AVERAGE:
        yield (
            f"<circle cx='{x}' cy='{y}' r='{radius}' fill='none' stroke='{faint}' "
            "stroke-dasharray='3 3'/>"
        )
    elif outliers is not None:
        yield _break_mark(x + BREAK_AT * radius, y, faint)
    spread = 1.0 if outliers is None else CLUMP
    near_records = [(spread * a, spread * b) for a, b in NEAR_RECORDS]
    for a, b in (*near_records, *_far_records(0 if outliers is None else outliers.count)):
        stretch = radius / max(1.0, math.hypot(a, b))
        s, t = x + a * stretch, y + b * stretch
        u, v = x + a * radius, y + b * radius
        is_far = stretch < radius
        if is_far and step == CLIP:
            cut = f"M{u:.1f} {v:.1f}L{s:.1f} {t:.1f}"
            yield f"<path d='{cut}' stroke='{bias_colour}' stroke-width='1.3'/>"
            yield f"<circle cx='{u:.1f}' cy='{v:.1f}' r='2.4' fill='none' stroke='{ink}'/>"
        if step == AVERAGE:
            s, t = u, v
        yield f"<circle cx='{s:.1f}' cy='{t:.1f}' r='2.2' fill='{ink if is_far else faint}'/>"


def _break_mark(x: float, y: float, colour: str) -> str:
    """Return the two strokes that say that a distance is cut short: far records lie farther out."""
    stroke = "l5 -12"
    return f"<path d='M{x - 5:.1f} {y + 6:.1f}{stroke}m2 12{stroke}' stroke='{colour}'/>"


def _error(
    step: str, centre: Point, theme: Theme, places: ErrorPlaces, colour: Pair
) -> Iterator[str]:
    """Yield, as SVG, the true mean as a cross, the answer as a dot, and the error between them."""
    x, y = centre[0] + places.true_mean[0], centre[1] + places.true_mean[1]
    answer = places.answers[step]
    u, v = centre[0] + answer[0], centre[1] + answer[1]
    ink, accent = theme.colour(INK), theme.colour(ACCENT)
    error = theme.colour(PART_INKS.get(colour, colour))
    yield f"<path d='M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}' stroke='{error}' stroke-width='3'/>"
    if step == NOISE:
        s, t = (centre[i] + places.answers[CLIP][i] for i in range(2))
        noise = theme.colour(PART_COLOURS["noise"])
        yield f"<path d='M{s:.1f} {t:.1f}L{u:.1f} {v:.1f}' stroke='{noise}' stroke-width='2'/>"
    yield f"<circle cx='{u:.1f}' cy='{v:.1f}' r='4.5' fill='{accent}'/>"
    arm = 5.0
    yield (
        f"<path d='M{x - arm:.1f} {y:.1f}h{2 * arm}M{x:.1f} {y - arm:.1f}v{2 * arm}' "
        f"stroke='{ink}' stroke-width='2.2'/>"
    )


def _names(step: str, outliers: FarRecords, theme: Theme) -> str:
    """Return the labels of a large picture, written below it, as HTML."""
    quiet, ink, accent = map(theme.colour, (QUIET, INK, ACCENT))
    y = NAMES_HEIGHT - 3
    width = NAMES_WIDTH
    if step == AVERAGE:
        near_text, far_text = f"{number_text(outliers.other_count)} alike", far_label(outliers)
        words, start = f"{near_text}, {far_text}", 16 + LETTER * len(near_text)
        width = math.ceil(start + LETTER * len(far_text))
        shapes = f"<text x='2' y='{y}' fill='{quiet}' {LETTERS}>{near_text}</text>"
        shapes += f"<text x='{start:g}' y='{y}' fill='{quiet}' {LETTERS}>{far_text}</text>"
    elif step == CLIP:
        words, middle = "+ true mean, ● answer", y - 4
        shapes = (
            f"<path d='M2 {middle}h8M6 {middle - 4}v8' stroke='{ink}' stroke-width='2'/>"
            f"<text x='14' y='{y}' fill='{quiet}' {LETTERS}>true mean</text>"
            f"<circle cx='86' cy='{middle}' r='4' fill='{accent}'/>"
            f"<text x='94' y='{y}' fill='{quiet}' {LETTERS}>answer</text>"
        )
    else:
        words, middle = "clip radius", y - 4
        shapes = (
            f"<path d='M2 {middle}h14' stroke='{quiet}' stroke-dasharray='3 3'/>"
            f"<text x='22' y='{y}' fill='{quiet}' {LETTERS}>{words}</text>"
        )
    size = f"class='records' width='{width}' height='{NAMES_HEIGHT}'"
    return picture(f"0 0 {width} {NAMES_HEIGHT}", shapes, size, words)


def _far_records(count: int) -> tuple[tuple[float, float], ...]:
    """Return the places of `count` far records, side by side, in multiples of the ball's radius.

    At most `MOST_DRAWN` are drawn; for a count of 0 there are two typical ones.
    """
    drawn_count = min(count, MOST_DRAWN)
    heights = [FAR_PITCH * (i - (drawn_count - 1) / 2) for i in range(drawn_count)]
    return tuple((FAR_DISTANCE, height) for height in heights) or FAR_RECORDS
