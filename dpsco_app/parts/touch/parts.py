"""The parts of the bounds in a figure: pointed at, each lights up the stretch that it governs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from dpsco_app.parts.touch.modules import component


@dataclass(frozen=True, kw_only=True)
class PartOf:
    """A part of a bound: where it is the largest, as (from, to) on the axis, and that in words."""

    name: str
    stretches: Sequence[tuple[float, float]]
    says: str


@dataclass(frozen=True, kw_only=True)
class BoundParts:
    """A line of the figure, as (x, error) by points, with the parts that it has."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]
    parts: Sequence[PartOf]


def draw_parts(bounds: Sequence[BoundParts], key: str, page: str, figure: str) -> None:
    """Draw a row of parts for every bound; they light up in the figure of the place `figure`."""
    component("parts", "parts.css")(
        key=key,
        data={"figure": figure, "page": page, "bounds": [asdict(bound) for bound in bounds]},
        height="content",
    )
