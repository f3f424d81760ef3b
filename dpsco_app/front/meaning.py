"""What private means, in one line and a picture: clip far records, average, add noise."""

import base64
import math

from dpsco_app.figure.colours import ACCENT, FAINT, INK
from dpsco_app.figure.theme import Theme
from dpsco_core.fields import MEAN
from dpsco_core.scenario import Scenario

WORDS = "Hiding any one person: clip, average, add noise."
OF_LOSSES = "Hiding any one person: clip gradients, add noise."
SPACE = "http://www.w3.org/2000/svg"  # the namespace of drawings
WIDTH, HEIGHT, RADIUS = 96, 34, 13
CENTRE = 40.0, 17.0
SHIFT = 9.0, -4.0  # The noise, in pixels.
# The angle and the length of twenty records, in multiples of the radius: two are far out.
RECORDS = (
    *((2.4 * i, 0.25 + 0.038 * i) for i in range(18)),
    (0.25, 3.4),
    (2.9, 2.6),
)


def meaning(scenario: Scenario, theme: Theme) -> str:
    """Return the line and its picture as HTML."""
    words = WORDS if scenario.problem == MEAN else OF_LOSSES
    return f"{_picture(theme)}<span>{words}</span>"


def _picture(theme: Theme) -> str:
    x, y = CENTRE
    faint, ink, accent = map(theme.colour, (FAINT, INK, ACCENT))
    parts = [
        f"<circle cx='{x}' cy='{y}' r='{RADIUS}' fill='none' stroke='{faint}' "
        "stroke-dasharray='2 2'/>"
    ]
    for angle, length in RECORDS:
        a, b = RADIUS * math.cos(angle), 0.8 * RADIUS * math.sin(angle)
        if length > 1:
            size = math.hypot(a, b) / RADIUS
            ends = [(x + a * k, y + b * k) for k in (length, 1 / size)]
            (u, v), (s, t) = ends
            parts.append(
                f"<line x1='{u:.1f}' y1='{v:.1f}' x2='{s:.1f}' y2='{t:.1f}' stroke='{faint}'/>"
                f"<circle cx='{u:.1f}' cy='{v:.1f}' r='1.6' fill='none' stroke='{faint}'/>"
                f"<circle cx='{s:.1f}' cy='{t:.1f}' r='1.8' fill='{ink}'/>"
            )
        else:
            parts.append(
                f"<circle cx='{x + a * length:.1f}' cy='{y + b * length:.1f}' r='1.5' "
                f"fill='{ink}'/>"
            )
    u, v = x + SHIFT[0], y + SHIFT[1]
    parts.append(
        f"<path d='M{x} {y}L{u} {v}' stroke='{accent}' stroke-width='1.5'/>"
        f"<circle cx='{u}' cy='{v}' r='3' fill='{accent}'/>"
    )
    return picture(f"0 0 {WIDTH} {HEIGHT}", "".join(parts), f"class='meaning' width='{WIDTH}'")


def picture(box: str, parts: str, attributes: str) -> str:
    """Return a drawing as an element that hosts take which accept no drawing in their HTML."""
    text = f"<svg xmlns='{SPACE}' viewBox='{box}'>{parts}</svg>"
    code = base64.b64encode(text.encode()).decode()
    return f"<img {attributes} alt='' src='data:image/svg+xml;base64,{code}'>"
