"""Drawing a figure on a page, in this window's size and theme, with reactions to the pointer."""

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
    # The style sheet hides the bar; the dashboard's own picture buttons press its buttons.
    "displayModeBar": True,
    "toImageButtonOptions": {"format": "png", "scale": 2},
}
CLICKS = "figure_clicks"  # The session key of the number of clicks into figures.
# The height in pixels of a figure in a low window, so that it ends on the first screen.
LOW_HEIGHT = 380


class Place:
    """A place for successive figures: the old one stays until the new one is drawn."""

    def __init__(self, container: DeltaGenerator) -> None:
        """Take the container in which the figures will be drawn."""
        self._container = container

    def draw(
        self,
        charts: Mapping[str, Any],
        alt: str,
        key: str,
        on_click: Callable[[str], None] | None = None,
    ) -> None:
        """Draw a figure in Plotly's form, described by `alt`, in place of the previous one.

        Every figure of one run of the page needs its own key. A click calls `on_click` with the
        key of the session under which the clicked point is.
        """
        options: dict[str, Any] = {}
        if on_click is not None:
            clicks = {"clickmode": "event+select", "dragmode": False}
            charts = {**charts, "layout": charts["layout"] | clicks}
            # The key changes after each click, since a second click on the same point would only
            # deselect it.
            key = f"{key}_{st.session_state.get(CLICKS, 0)}"
            on_select = partial(_pass_click_on, on_click, key)
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
        # If clicks are observed, Streamlit returns a selection of points instead of the place.
        if isinstance(place, DeltaGenerator):
            self._container = place


def _pass_click_on(on_click: Callable[[str], None], key: str) -> None:
    """Count a click and call `on_click` with the key of its selection; a callback."""
    st.session_state[CLICKS] = st.session_state.get(CLICKS, 0) + 1
    on_click(key)


class Plain(BaseFigure):
    """A figure already in Plotly's form: validating it again would take a hundred times as long."""

    def __init__(self, parts: Mapping[str, Any]) -> None:
        """Take the traces and the layout of a figure, as plain dictionaries."""
        self.__dict__["parts"] = parts

    def to_dict(self) -> Any:
        """Return the traces and the layout as plain dictionaries."""
        return self.__dict__["parts"]


def theme() -> Theme:
    """Return the theme of this window's figures, which includes their size."""
    size = SIZES[window.size()]
    if window.low() and size.ladder:
        size = replace(size, height=LOW_HEIGHT)
    if teaching.current().large and size.ladder:
        # A projector needs larger type; the height of the figure stays the same.
        size = replace(size, scale=teaching.SCALE)
    return Theme(dark=is_dark(), size=size)


def is_phone() -> bool:
    """Return whether this window is so narrow that it gets the figures for phones."""
    return window.size() == "compact"


def draw_focus(place: str) -> None:
    """Let the pointer highlight lines of the figure whose container's key begins with `place`."""
    component("focus", html="")(
        key=f"{place}focus", data={"figure": place}, width="content", height="content"
    )
