"""A figure of plain values on a page: in this window's size and theme, answering the pointer."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from plotly.basedatatypes import BaseFigure

from dpsco_app.figure.theme import SIZES, Theme
from dpsco_app.parts.insides import DeltaGenerator
from dpsco_app.parts.themes import is_dark
from dpsco_app.parts.touch.components import component
from dpsco_app.shell import teaching, window

CONFIG = {
    "displaylogo": False,
    "displayModeBar": True,  # hidden by the style: the buttons for pictures press it
    "toImageButtonOptions": {"format": "png", "scale": 2},
}
CLICKS = "figure_clicks"  # the key of the number of clicks into figures
LOW_HEIGHT = 380  # pixels of a figure in a low window: below it is the end of the first screen


class Place:
    """A place for one figure after another: the old one stays meanwhile, to avoid a flicker."""

    def __init__(self, container: DeltaGenerator) -> None:
        self._container = container

    def draw(
        self,
        charts: Mapping[str, Any],  # in Plotly's form
        alt: str,
        key: str,  # a different key for every figure in one run of the page
        on_click: Callable[[str], None] | None = None,
    ) -> None:
        """Draw a figure; `on_click` is told the key whose selection holds the chosen point."""
        options: dict[str, Any] = {}
        if on_click is not None:
            clicks = {"clickmode": "event+select", "dragmode": False}
            charts = {**charts, "layout": charts["layout"] | clicks}
            # A new key after each click: a second click on the same point would only deselect it.
            key = f"{key}_{st.session_state.get(CLICKS, 0)}"
            on_select = partial(_tell, on_click, key)
            options = {"on_select": on_select, "selection_mode": "points"}
        place = self._container.plotly_chart(
            Plain(charts),
            key=key,
            width="stretch",
            theme=None,
            alt=alt.strip() or "The first runs are under way",
            config=CONFIG,
            **options,
        )
        if isinstance(place, DeltaGenerator):  # otherwise it is a selection of points
            self._container = place


def _tell(on_click: Callable[[str], None], key: str) -> None:
    """Count a click, and pass on the key whose selection holds its point; a callback."""
    st.session_state[CLICKS] = st.session_state.get(CLICKS, 0) + 1
    on_click(key)


class Plain(BaseFigure):
    """A figure that is Plotly's form already: checking it again takes a hundred times as long."""

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.__dict__["parts"] = parts

    def to_dict(self) -> Any:
        return self.__dict__["parts"]


def theme() -> Theme:
    """Return the theme and the size of this window's figures."""
    size = SIZES[window.size()]
    if window.low() and size.ladder:
        size = replace(size, height=LOW_HEIGHT)
    if teaching.current().large and size.ladder:
        size = replace(size, scale=teaching.SCALE)  # for a projector; the figure stays as high
    return Theme(dark=is_dark(), size=size)


def is_phone() -> bool:
    return window.size() == "compact"


def draw_focus(place: str) -> None:
    """Let the lines of the figure in a place answer the pointer."""
    component("focus", html="")(
        key=f"{place}focus", data={"figure": place}, width="content", height="content"
    )
