"""What Geometry's controls and address hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dpsco_app.shell.page_state import PageState, PageView, checked
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import one_of, real, to_text
from dpsco_core.explain.geometry import LARGEST_SEED, Shape
from dpsco_core.geometry.geometries import GEOMETRIES, GROUP_SIZE
from dpsco_core.scenario import Scenario

PARTS = {"set": "The set", "width": "Its width", "noise": "The noise"}
SPAN = 2.0  # a coordinate of the point is at most this
STEP = 0.05  # the step of a coordinate, by one key
LARGEST_Q = 100.0
Q_OPTIONS = (1, 1.05, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 8, 20, math.inf)
NOISE_Q_OPTIONS = (1.01, 1.05, 1.1, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2)
DIMENSION_OPTIONS = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    part: str = checked("set", one_of, tuple(PARTS))
    geometry: str = checked("l1", one_of, GEOMETRIES)  # on the l2 ball many points would be one
    q: float = 1.5  # q of the lq ball, at least 1, infinity allowed
    # the point that is projected
    x1: float = checked(1.4, real, -SPAN, SPAN)
    x2: float = checked(0.2, real, -SPAN, SPAN)
    seed: int = checked(0, real, 0, LARGEST_SEED)  # the seed of directions and of noise
    # the exponent of the parameters' norm that the noise is shaped to, in (1, 2]
    noise_q: float = checked(1.25, real, NOISE_Q_OPTIONS[0], 2)
    # the dimension of the noise
    noise_d: int = checked(100, real, DIMENSION_OPTIONS[0], DIMENSION_OPTIONS[-1])

    def validate(self) -> View:
        ok = 1 <= self.q <= LARGEST_Q or math.isinf(self.q)
        require(ok and self.q > 0, "q", f"between 1 and {LARGEST_Q:g}, or inf", to_text(self.q))
        return super().validate()

    @property
    def shape(self) -> Shape:
        """The set, without the exponent that belongs to another."""
        return Shape(kind=self.geometry, q=self.q if self.geometry == "lq" else 1.5)

    @property
    def point(self) -> tuple[float, float]:
        return (self.x1, self.x2)


STATE = PageState(name="geometry", default=View())


def set_of(scenario: Scenario) -> tuple[str, float | None]:
    return scenario.geometry, scenario.q


def shown_set(view: View) -> tuple[str, float | None]:
    """Return the set that the page shows, in the same form."""
    return view.geometry, view.q if view.geometry == "lq" else None


def on_this_set(view: View, scenario: Scenario) -> Scenario | None:
    """Return a scenario on the set of the page; None where the dashboard does not allow it."""
    kind, q = shown_set(view)
    if kind == "group-l1":
        scenario = replace(scenario, d=GROUP_SIZE * max(1, round(scenario.d / GROUP_SIZE)))
    if scenario.axis in ("d", "q"):
        scenario = replace(scenario, axis=None, grid=())
    try:
        return replace(scenario, geometry=kind, q=q).validate(DASHBOARD)
    except InvalidInput:
        return None
