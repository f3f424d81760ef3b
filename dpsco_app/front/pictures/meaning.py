"""What the data are, and how a record is hidden, in one line with pictures."""

import math
from collections.abc import Iterator

from dpsco_app.figure.colours import ACCENT, FAINT, INK
from dpsco_app.figure.theme import Theme
from dpsco_app.front.pictures.data import data_html
from dpsco_app.front.pictures.svg import HEIGHT, picture
from dpsco_app.front.study import Study
from dpsco_core.fields import MEAN

# What the name of the dashboard says, once on a first screen.
SPELLED_OUT = "DP-SCO: differentially private stochastic convex optimization"
# The steps, each with its picture.
STEPS = (("clip", "clip"), ("average", "average"), ("noise", "add noise."))
OF_LOSSES = (("clip", "clip gradients"), ("average", "average"), ("noise", "add noise."))
WORDS = "Hiding each person:"
SHORT_WORDS = "Privacy:"  # beside what the data are
RADIUS = 17  # the radius of the ball, in pixels
WIDTHS = {"clip": 78, "average": 40, "noise": 46}
CENTRES = {"clip": 38.0, "average": 20.0, "noise": 20.0}
SHIFT = 15.0, -6.0  # The noise, in pixels.
# The angle and the length of twenty records, in multiples of the radius: two are far out.
RECORDS = (
    *((2.4 * i, 0.25 + 0.038 * i) for i in range(18)),
    (0.25, 2.25),
    (2.9, 2.15),
)


def meaning(study: Study, theme: Theme) -> str:
    """Return the line and its pictures as HTML."""
    data = data_html(study, theme)
    steps = STEPS if study.scenario.problem == MEAN else OF_LOSSES
    parts = (f"<span>{_picture(name, theme)}{words}</span>" for name, words in steps)
    words = f"{data}<span>{SHORT_WORDS}</span>" if data else f"<span>{WORDS}</span>"
    return f"<span class='meaning'>{words}{''.join(parts)}</span>"


def _picture(step: str, theme: Theme) -> str:
    box = f"0 0 {WIDTHS[step]} {HEIGHT}"
    return picture(box, "".join(_parts(step, theme)), f"width='{WIDTHS[step]}'")


def _parts(step: str, theme: Theme) -> Iterator[str]:
    """Yield the shapes of a step: records on a ball, their mean, and where noise moves it."""
    x, y = CENTRES[step], HEIGHT / 2
    faint, ink, accent = map(theme.colour, (FAINT, INK, ACCENT))
    yield (
        f"<circle cx='{x}' cy='{y}' r='{RADIUS}' fill='none' stroke='{faint}' "
        "stroke-dasharray='2 2'/>"
    )
    records = ink if step == "clip" else faint
    for angle, length in RECORDS:
        a, b = RADIUS * math.cos(angle), 0.8 * RADIUS * math.sin(angle)
        reach = min(length, RADIUS / math.hypot(a, b))
        s, t = x + a * reach, y + b * reach
        if length > 1 and step == "clip":
            u, v = x + a * length, y + b * length
            yield f"<path d='M{u:.1f} {v:.1f}L{s:.1f} {t:.1f}' stroke='{faint}'/>"
            yield f"<circle cx='{u:.1f}' cy='{v:.1f}' r='2' fill='none' stroke='{ink}'/>"
        yield f"<circle cx='{s:.1f}' cy='{t:.1f}' r='1.7' fill='{records}'/>"
    if step == "average":
        yield f"<circle cx='{x}' cy='{y}' r='4' fill='{accent}'/>"
    if step == "noise":
        u, v = x + SHIFT[0], y + SHIFT[1]
        yield f"<circle cx='{x}' cy='{y}' r='3.3' fill='none' stroke='{accent}'/>"
        yield f"<path d='M{x} {y}L{u} {v}' stroke='{accent}' stroke-width='1.6'/>"
        yield f"<circle cx='{u}' cy='{v}' r='4' fill='{accent}'/>"
