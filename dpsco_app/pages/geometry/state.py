"""The state of the page Geometry; its set is that of the visit's scenario."""

import math
from dataclasses import dataclass

from dpsco_app.session.scenarios import Use
from dpsco_app.shell.page_state import PageState, PageView, checked
from dpsco_core.base.parsing import one_of, real
from dpsco_core.explain.geometry import LARGEST_SEED, Shape
from dpsco_core.fields import NAMES as FIELDS
from dpsco_core.scenario import Scenario

PARTS = {"set": "The set", "width": "Its width", "noise": "The noise"}
SPAN = 2.0  # The largest absolute value of a coordinate of the point.
UNUSED_FIELDS = tuple(name for name in FIELDS if name not in ("geometry", "q"))
STEP = 0.05  # The change of a coordinate by one key press.
LARGEST_Q = 100.0  # Balls with larger exponents look the same.
NOISE_Q_OPTIONS = (1.01, 1.05, 1.1, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2)
DIMENSION_OPTIONS = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    part: str = checked("set", one_of, tuple(PARTS))
    # The point that is projected.
    x1: float = checked(1.4, real, -SPAN, SPAN)
    x2: float = checked(0.2, real, -SPAN, SPAN)
    seed: int = checked(0, real, 0, LARGEST_SEED)  # The seed of the noise.
    # The exponent of the parameters' norm that the noise is shaped to, in (1, 2].
    noise_q: float = checked(1.25, real, NOISE_Q_OPTIONS[0], 2)
    # The dimension of the noise.
    noise_d: int = checked(100, real, DIMENSION_OPTIONS[0], DIMENSION_OPTIONS[-1])


def shape_of(scenario: Scenario) -> Shape:
    """Return the constraint set of a scenario in two dimensions, as the page draws it."""
    q = scenario.q or 1.5
    return Shape(kind=scenario.geometry, q=q if math.isinf(q) else min(q, LARGEST_Q))


STATE = PageState(
    name="geometry",
    default=View(),
    use=Use(sampling=False, unused_fields=UNUSED_FIELDS),
)
