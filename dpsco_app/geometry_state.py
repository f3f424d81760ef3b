"""What Geometry's controls and address hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dpsco_app.link import BASE as EXPLORE_BASE
from dpsco_app.link import EXPLORE, views_text
from dpsco_app.options import VIEWS
from dpsco_core.catalogue import default_methods
from dpsco_core.errors import InvalidInput, require
from dpsco_core.geometry.geometries import GEOMETRIES
from dpsco_core.limits import DASHBOARD
from dpsco_core.parsing import real, shorten, to_text
from dpsco_core.views import KINDS, LARGEST_SEED, SHORTEST_AXIS, Shape

PREFIX = "geometry_field_"  # of the widgets' keys
SPAN = 2.0  # a coordinate of the point is at most this
LARGEST_Q = 100.0
Q_OPTIONS = (1, 1.05, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 8, 20, math.inf)
NOISE_Q_OPTIONS = (1.01, 1.05, 1.1, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2)
DRAWS_OPTIONS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
DIMENSION_OPTIONS = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
EXPLORE_PROBLEM = "quadratic"
EXPLORE_D = 20  # a multiple of a group


@dataclass(frozen=True, kw_only=True)
class View:
    """What the page shows.

    Parameters
    ----------
    geometry : str
        The set, one of `dpsco_core.views.KINDS`.
    q : float
        Of the lq ball, at least 1, infinity allowed.
    half_axis : float
        The shortest half-axis of the ellipsoid.
    hull : int
        The seed of the points of the hull.
    dimensions : int
        Of the pictures: 2 or 3.
    x1, x2, x3 : float
        The point that is projected.
    turn : int
        From where a picture in space is seen, in degrees.
    draws : int
        Random directions for the width.
    seed, noise_seed : int
        Of the directions, and of the noise.
    noise_q : float
        The exponent of the parameters' norm that the noise is shaped to, in (1, 2].
    noise_d : int
        The dimension in the last figure.
    """

    geometry: str = "l1"
    q: float = 1.5
    half_axis: float = 0.5
    hull: int = 0
    dimensions: int = 2
    x1: float = 1.4
    x2: float = 0.2
    x3: float = 0.6
    turn: int = 35
    draws: int = 500
    seed: int = 0
    noise_seed: int = 0
    noise_q: float = 1.25
    noise_d: int = 100

    def validate(self) -> View:
        """Return the view; raises `InvalidInput` in one sentence."""
        known = self.geometry in KINDS
        require(known, "geometry", f"one of {', '.join(KINDS)}", shorten(self.geometry))
        ok = 1 <= self.q <= LARGEST_Q or math.isinf(self.q)
        require(ok and self.q > 0, "q", f"between 1 and {LARGEST_Q:g}, or inf", to_text(self.q))
        real("half_axis", self.half_axis, SHORTEST_AXIS, 1)
        require(self.dimensions in (2, 3), "dimensions", "2 or 3", self.dimensions)
        for name in ("x1", "x2", "x3"):
            real(name, getattr(self, name), -SPAN, SPAN)
        real("turn", self.turn, 0, 360)
        for name in ("hull", "seed", "noise_seed"):
            real(name, getattr(self, name), 0, LARGEST_SEED)
        real("draws", self.draws, DRAWS_OPTIONS[0], DRAWS_OPTIONS[-1])
        real("noise_q", self.noise_q, NOISE_Q_OPTIONS[0], 2)
        real("noise_d", self.noise_d, DIMENSION_OPTIONS[0], DIMENSION_OPTIONS[-1])
        return self

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
        """The coordinates of the point, as many as dimensions."""
        return (self.x1, self.x2, self.x3)[: self.dimensions]


DEFAULT = View()
NAMES = tuple(f.name for f in fields(View))
INTEGERS = tuple(name for name in NAMES if isinstance(getattr(DEFAULT, name), int))


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A view worth a button."""

    name: str
    look_for: str
    changes: dict[str, Any]


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


def from_query(query: Mapping[str, str]) -> tuple[View, list[str]]:
    """Return what an address says, and a sentence for every value that is not allowed."""
    view, problems = DEFAULT, []
    for name in NAMES:
        if name not in query:
            continue
        try:
            view = replace(view, **{name: _parsed(name, query[name])}).validate()
        except InvalidInput as problem:
            problems.append(str(problem))
    return view, problems


def _parsed(name: str, text: str) -> str | int | float:
    if name == "geometry":
        return text
    kind = "an integer" if name in INTEGERS else "a number"
    try:
        value = float(text)
    except ValueError:
        raise InvalidInput(f"{name} must be {kind}, got {name}={shorten(text)}.") from None
    if name not in INTEGERS:
        return value
    whole = math.isfinite(value) and value == int(value)
    require(whole, name, "an integer", shorten(text))
    return int(value)


def to_query(view: View) -> dict[str, str]:
    """Return the view as parameters; what is at its default is left out."""
    return {
        name: to_text(getattr(view, name))
        for name in NAMES
        if getattr(view, name) != getattr(DEFAULT, name)
    }


def load(view: View) -> None:
    """Put a view into the widgets' state."""
    for name in NAMES:
        st.session_state[PREFIX + name] = getattr(view, name)


def change(changes: Mapping[str, Any]) -> None:
    """Change some of the widgets' state."""
    for name, value in changes.items():
        st.session_state[PREFIX + name] = value


def restore() -> list[str]:
    """Put the address into the widgets' state if it is new; return what is wrong with it.

    While another page is shown the state of the widgets is lost: an empty address brings the page
    back as it was left.
    """
    state = st.session_state
    here = all(PREFIX + name in state for name in NAMES)
    query = {k: v for k, v in st.query_params.to_dict().items() if k in NAMES}
    if not here and not query and "geometry_left" in state:
        load(state["geometry_left"])
        state["geometry_problems"] = []
    elif not here or query != state.get("geometry_written"):
        view, state["geometry_problems"] = from_query(query)
        load(view)
    for name in NAMES:  # keeps what no widget shows at the moment
        state[PREFIX + name] = state[PREFIX + name]
    return list(state["geometry_problems"])


def current() -> View:
    """Return what the widgets hold."""
    return View(**{name: st.session_state[PREFIX + name] for name in NAMES}).validate()


def remember(view: View) -> None:
    """Write the view into the address, leaving other parameters alone, and keep it."""
    query = to_query(view)
    every = st.query_params.to_dict()
    if query != {k: v for k, v in every.items() if k in NAMES}:
        st.query_params.from_dict({**{k: v for k, v in every.items() if k not in NAMES}, **query})
    st.session_state["geometry_written"] = query
    st.session_state["geometry_left"] = view


def address(view: View) -> str:
    """Return the whole address of a view, to be copied."""
    page, query = (st.context.url or "").split("?")[0], urlencode(to_query(view))
    return f"{page}?{query}" if query else page


def explore_query(view: View) -> dict[str, str] | None:
    """Return Explore's address with this set; None for a set that scenarios do not know."""
    if view.geometry not in GEOMETRIES:
        return None
    scenario = replace(
        EXPLORE_BASE,
        problem=EXPLORE_PROBLEM,
        methods=default_methods(EXPLORE_PROBLEM),
        d=EXPLORE_D,
        geometry=view.geometry,
        q=view.q if view.geometry == "lq" else None,
    )
    try:
        return EXPLORE.query(scenario.validate(DASHBOARD), views_text(list(VIEWS[:1])))
    except InvalidInput:
        return None
