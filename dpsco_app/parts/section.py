"""A section of a page: a title, a figure, its ladder as a table, a caption, files and numbers."""

from dataclasses import replace
from html import escape

import streamlit as st

from dpsco_app.figure.table import ladder_table
from dpsco_app.figure.values import Figure
from dpsco_app.parts.drawing import draw, draw_focus, theme
from dpsco_app.parts.export import Table, draw_figure_files
from dpsco_app.parts.place import Place

HEIGHT = 440  # pixels, of a figure below a page's first one


def draw_section(
    name: str,
    title: str,
    figure: Figure,
    *,
    caption: str = "",
    setting: str = "",  # in one line, for the files
    table: Table | None = None,
    height: int = HEIGHT,
) -> None:
    """Draw a figure of a page under its title; `name` begins the keys of all its parts."""
    shown = theme()
    if shown.size.ladder:
        shown = replace(shown, size=replace(shown.size, height=height))
    kind = "wide" if shown.size.ladder else "compact"
    st.html(f"<div class='figure-title' role='heading' aria-level='2'>{escape(title)}</div>")
    draw(figure, Place(st.container(key=f"{name}_figure_{kind}")), f"{name}_{kind}", shown)
    if figure.ladder.rows:
        st.html(ladder_table(figure, shown))
        draw_focus(f"{name}_figure_")
    if caption:
        st.markdown(caption)
    draw_figure_files(name, title, figure, setting=setting, table=table)
