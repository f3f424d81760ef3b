"""Figures on a page: drawn for a wide window or for a phone, with what stands below them."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpsco_app.parts.drawing import Place
from dpsco_app.parts.export import draw_files
from dpsco_app.parts.look import Look
from dpsco_app.shell import teaching, window

Places = dict[str, Place]


def figure_place(name: str = "") -> Places:
    """Return the place of a figure, under the kind that this window needs."""
    kind = window.kind()
    return {kind: Place(st.container(key=f"{name}figure_{kind}"))}


def show(
    place: Place,
    figure: go.Figure,
    key: str,
    alt: str,
    *,
    bar: bool,
    on_click: Callable[[], None] | None = None,
) -> None:
    """Put a figure into its place; a bar that is not shown is hidden: PNG and SVG press it."""
    if teaching.held().large and not key.endswith("compact"):
        figure, bar = teaching.enlarged(figure), False  # the larger title needs the bar's place
    place.draw(
        figure,
        key,
        bar=bar,
        on_select="ignore" if on_click is None else on_click,
        selection_mode="points",
        width="stretch",
        alt=alt,
        config={
            "displaylogo": False,
            "displayModeBar": True,
            "toImageButtonOptions": {"format": "png", "scale": 2},
        },
    )


def responsive(
    name: str,
    title: str,
    draw: Callable[[Look], go.Figure],
    *,
    bar: bool = True,
    on_click: Callable[[str], None] | None = None,
    table: Callable[[], pd.DataFrame] | None = None,
    setting: str = "",
) -> None:
    """Draw a figure as this window needs it, under its takeaway, and its files and numbers.

    `on_click` is told in which kind of figure a point was chosen: the session's ``name_kind``.
    """
    [(kind, place)] = figure_place(f"{name}_").items()
    compact = kind == "compact"
    look = Look(dark=st.context.theme.type == "dark", title=title, compact=compact)
    clicked = None if on_click is None else partial(on_click, kind)
    show(place, draw(look), f"{name}_{kind}", title, bar=bar and not compact, on_click=clicked)
    draw_files(name, title, draw, table, setting=setting)
