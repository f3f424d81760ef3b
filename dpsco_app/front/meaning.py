"""What the hardest data are, and how a record is hidden, in one line with pictures."""

import base64
import math
from collections.abc import Iterator

from dpsco_app.figure.colours import ACCENT, FAINT, INK
from dpsco_app.figure.theme import Theme
from dpsco_app.front.study import Study, chosen_point
from dpsco_app.front.titles import NO_BREAK
from dpsco_app.parts.options import number_text
from dpsco_core.data.hard import HardInstance
from dpsco_core.fields import MEAN
from dpsco_core.scenario import Scenario

# The steps, each with its picture.
STEPS = (("clip", "clip"), ("average", "average"), ("noise", "add noise."))
OF_LOSSES = (("clip", "clip gradients"), ("average", "average"), ("noise", "add noise."))
WORDS = "Hiding each person:"
SHORT_WORDS = "Privacy:"  # beside what the data are
MOST_SPIKED = 0.2  # the share of far records from which on the others are no longer "the rest"
SPACE = "http://www.w3.org/2000/svg"  # the namespace of drawings
HEIGHT, RADIUS = 44, 17
WIDTHS = {"clip": 108, "average": 44, "noise": 56}
CENTRES = {"clip": 44.0, "average": 22.0, "noise": 22.0}
SHIFT = 15.0, -6.0  # The noise, in pixels.
# The angle and the length of twenty records, in multiples of the radius: two are far out.
RECORDS = (
    *((2.4 * i, 0.25 + 0.038 * i) for i in range(18)),
    (0.25, 3.4),
    (2.9, 2.5),
)


def meaning(study: Study, theme: Theme) -> str:
    """Return the line and its pictures as HTML."""
    scenario = study.scenario
    data = spikes_in_words(scenario.at(chosen_point(scenario))) if study.role == "hardest" else ""
    steps = STEPS if scenario.problem == MEAN else OF_LOSSES
    parts = (f"<span>{_picture(name, theme)}{words}</span>" for name, words in steps)
    words = f"<span>{data}</span><span>{SHORT_WORDS}</span>" if data else f"<span>{WORDS}</span>"
    return f"<span class='meaning'>{words}{''.join(parts)}</span>"


def spikes_in_words(point: Scenario) -> str:
    """Return what the records of a hard instance are; empty where that takes more than a phrase.

    A record is far out with a small probability, and otherwise like all others.
    """
    law = point.instance.law
    if not isinstance(law, HardInstance) or point.m > 1:
        return ""
    count = law.spike_probability * point.n
    if not 0.5 <= count <= MOST_SPIKED * point.n:
        return ""
    number = f"{number_text(round(count))} in {number_text(point.n)}"
    records = "record" if round(count) == 1 else "records"
    return (
        f"Hardest at p{NO_BREAK}= {number_text(point.p)}: about {number} {records} far out, "
        "others alike."
    )


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


def picture(box: str, parts: str, attributes: str) -> str:
    """Return a drawing as an element that hosts take which accept no drawing in their HTML."""
    text = f"<svg xmlns='{SPACE}' viewBox='{box}'>{parts}</svg>"
    code = base64.b64encode(text.encode()).decode()
    return f"<img {attributes} alt='' src='data:image/svg+xml;base64,{code}'>"
