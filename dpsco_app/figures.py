"""Figures on a page: drawn for a wide window or for a phone, with what stands below them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app import teaching, window
from dpsco_app.figure_export import draw_files
from dpsco_app.look import Look

Places = dict[str, DeltaGenerator]

SHARED_STYLE = """<style>
[class*="st-key-bare_"] .modebar-container { display: none; }
[data-testid="stCaptionContainer"] * { color: inherit; }
[data-testid="stCaptionContainer"] { color: inherit; opacity: 0.85; }
kbd { opacity: 0.85 !important; }
@media (max-width: 760px) {
  h1 { font-size: 1.3rem !important; }
}
</style>"""


def figure_place(name: str = "") -> Places:
    """Return the place of a figure, under the kind that this window needs."""
    kind = window.kind()
    with st.container(key=f"{name}figure_{kind}"):
        return {kind: st.empty()}


def show(
    place: DeltaGenerator,
    figure: go.Figure,
    key: str,
    alt: str,
    *,
    bar: bool,
    on_click: Callable[[], None] | None = None,
) -> None:
    """Put a figure into its place, with Plotly's bar of tools or not; `alt` states its takeaway.

    Where the bar is not shown it is hidden, as the buttons PNG and SVG press one of its own.
    """
    if teaching.held().large and not key.endswith("compact"):
        figure, bar = teaching.enlarged(figure), False  # the larger title needs the bar's place
    where = place if bar else place.container(key=f"bare_{key}")
    where.plotly_chart(
        figure,
        on_select="ignore" if on_click is None else on_click,
        selection_mode="points",
        key=key,
        width="stretch",
        alt=alt,
        config={"displaylogo": False, "displayModeBar": True},
    )


def responsive(
    name: str,
    title: str,
    draw: Callable[[Look], go.Figure],
    *,
    bar: bool = True,
    on_click: Callable[[str], None] | None = None,
    table: Callable[[], pd.DataFrame] | None = None,
) -> None:
    """Draw a figure as this window needs it, under its takeaway.

    Below come the numbers behind it, as `table` makes them. Without the bar of tools where the
    title needs its place. `on_click` is told in which kind of figure a point was chosen; its
    selection is in the session under ``name_kind``.
    """
    dark = st.context.theme.type == "dark"
    [(kind, place)] = figure_place(f"{name}_").items()
    compact = kind == "compact"
    look = Look(dark=dark, title=title, compact=compact)
    clicked = None if on_click is None else partial(on_click, kind)
    show(place, draw(look), f"{name}_{kind}", title, bar=bar and not compact, on_click=clicked)
    draw_files(name, title, draw, table)
