"""What Geometry's controls and address hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dpsco_app.parts.page import Scene
from dpsco_app.shell.page_state import PageState, PageView, held
from dpsco_app.shell.visit import BASE
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import real, shorten, to_text
from dpsco_core.explain.geometry import KINDS, LARGEST_SEED, SHORTEST_AXIS, Shape
from dpsco_core.geometry.geometries import GEOMETRIES, GROUP_SIZE
from dpsco_core.scenario import Scenario

SPAN = 2.0  # a coordinate of the point is at most this
STEP = 0.05  # of a coordinate, by one key
LARGEST_Q = 100.0
Q_OPTIONS = (1, 1.05, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 8, 20, math.inf)
NOISE_Q_OPTIONS = (1.01, 1.05, 1.1, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2)
DRAWS_OPTIONS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
DIMENSION_OPTIONS = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    geometry: str = BASE.geometry  # the set, one of `dpsco_core.explain.geometry.KINDS`
    q: float = 1.5  # of the lq ball, at least 1, infinity allowed
    half_axis: float = held(0.5, real, SHORTEST_AXIS, 1)  # the shortest half-axis of the ellipsoid
    hull: int = held(0, real, 0, LARGEST_SEED)  # the seed of the points of the hull
    dimensions: int = 2  # of the pictures: 2 or 3
    # the point that is projected
    x1: float = held(1.4, real, -SPAN, SPAN)
    x2: float = held(0.2, real, -SPAN, SPAN)
    x3: float = held(0.6, real, -SPAN, SPAN)
    turn: int = held(35, real, 0, 360)  # from where a picture in space is seen, in degrees
    # random directions for the width
    draws: int = held(500, real, DRAWS_OPTIONS[0], DRAWS_OPTIONS[-1])
    # of the directions, and of the noise
    seed: int = held(0, real, 0, LARGEST_SEED)
    noise_seed: int = held(0, real, 0, LARGEST_SEED)
    # the exponent of the parameters' norm that the noise is shaped to, in (1, 2]
    noise_q: float = held(1.25, real, NOISE_Q_OPTIONS[0], 2)
    # the dimension in the last figure
    noise_d: int = held(100, real, DIMENSION_OPTIONS[0], DIMENSION_OPTIONS[-1])

    def validate(self) -> View:
        known = self.geometry in KINDS
        require(known, "geometry", f"one of {', '.join(KINDS)}", shorten(self.geometry))
        ok = 1 <= self.q <= LARGEST_Q or math.isinf(self.q)
        require(ok and self.q > 0, "q", f"between 1 and {LARGEST_Q:g}, or inf", to_text(self.q))
        require(self.dimensions in (2, 3), "dimensions", "2 or 3", self.dimensions)
        return super().validate()

    @property
    def shape(self) -> Shape:
        """The set, without the parameters that belong to other sets."""
        return Shape(
            kind=self.geometry,
            d=self.dimensions,
            q=self.q if self.geometry == "lq" else 1.5,
            half_axis=self.half_axis if self.geometry == "ellipsoid" else 0.5,
            seed=self.hull if self.geometry == "hull" else 0,
        )

    @property
    def point(self) -> tuple[float, ...]:
        return (self.x1, self.x2, self.x3)[: self.dimensions]


DEFAULT = View()
STATE = PageState(name="geometry", default=DEFAULT)

SCENES = (
    Scene(
        name="Corners make zeros",
        look_for="The ℓ₁ ball in space has corners on the axes and edges between them: many points "
        "are nearest to one of those, where coordinates are exactly 0.",
        changes={"geometry": "l1", "dimensions": 3, "x1": 1.4, "x2": 0.2, "x3": 0.3},
    ),
    Scene(
        name="Round keeps all",
        look_for="The ℓ₂ ball shrinks the point towards 0 and keeps its direction.",
        changes={"geometry": "l2", "dimensions": 3, "x1": 1.4, "x2": 0.2, "x3": 0.3},
    ),
    Scene(
        name="The cube clips",
        look_for="Every coordinate is clipped to [−1, 1] on its own; many end at exactly 1.",
        changes={"geometry": "linf", "dimensions": 3, "x1": 1.4, "x2": 0.2, "x3": 1.6},
    ),
    Scene(
        name="Groups vanish together",
        look_for="The first two coordinates are one group: the double cone has a tip where both "
        "are 0, and a round rim where neither need be.",
        changes={"geometry": "group-l1", "dimensions": 3, "x1": 0.3, "x2": 0.2, "x3": 1.6},
    ),
    Scene(
        name="Nearly ℓ₁",
        look_for="At q = 1.1 the corners are rounded off: coordinates become small, never 0.",
        changes={"geometry": "lq", "q": 1.1, "dimensions": 2, "x1": 1.4, "x2": 0.2},
    ),
)


def set_of(scenario: Scenario) -> tuple[str, float | None]:
    return scenario.geometry, scenario.q


def shown_set(view: View) -> tuple[str, float | None]:
    """Return the set that the page shows, in the same form."""
    return view.geometry, view.q if view.geometry == "lq" else None


def on_this_set(view: View, scenario: Scenario) -> Scenario | None:
    """Return a scenario on the set of the page; None for a set that scenarios do not know."""
    if view.geometry not in GEOMETRIES:
        return None
    kind, q = shown_set(view)
    if kind == "group-l1":
        scenario = replace(scenario, d=GROUP_SIZE * max(1, round(scenario.d / GROUP_SIZE)))
    if scenario.axis in ("d", "q"):
        scenario = replace(scenario, axis=None, grid=())
    try:
        return replace(scenario, geometry=kind, q=q).validate(DASHBOARD)
    except InvalidInput:
        return None
