"""A page's first screen: a question, its answer, one figure, and its files and numbers."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dpsco_app.figure.colours import QUIET
from dpsco_app.figure.head import head_html
from dpsco_app.figure.render import plotly
from dpsco_app.figure.table import ladder_table
from dpsco_app.figure.values import Figure
from dpsco_app.parts import export
from dpsco_app.parts.drawing import Place, draw_focus, is_phone, theme

SIZE = {"height": 500, "left": 58, "right": 330}  # The size of a figure with controls above it.
PHONE = {"left": 54}


class FirstScreen:
    """The parts of a first screen; all can be drawn repeatedly while a figure fills in."""

    def __init__(self, name: str, *, has_side: bool = False) -> None:
        """Lay out the empty parts of the screen.

        `name` begins the keys and the files of the figure; `has_side` leaves room for words beside
        the figure.
        """
        self.name, self.count = name, 0
        self.kind = "compact" if is_phone() else "wide"
        self.head = st.empty()
        self.controls = st.container()
        if has_side:  # The style sheet sets the widths of the columns by these keys.
            sides = st.container(horizontal=True, key=f"sides_{name}")
            left = sides.container(key=f"first_side_{name}")
            self.side, self.sides = sides.container(key=f"second_side_{name}"), sides
        else:
            left, self.side = st.container(), st.container()
            self.sides = st.container()
        self.left = left
        self.place = Place(left.container(key=f"{name}_figure_{self.kind}"))
        self.ladder, self.foot = left.empty(), st.container()

    def say(self, question: str, answer: str, small: str = "") -> None:
        """Show the question and its answer, with `small` as a line in small type below."""
        self.head.html(head_html(question, [answer], [(small, "")], theme()))

    def draw(
        self,
        figure: Figure,
        on_click: Callable[[str], None] | None = None,
        *,
        phone: Mapping[str, int] = PHONE,
        **lengths: Any,
    ) -> None:
        """Draw a figure and its table of lines.

        A click calls `on_click` with the key of the session under which the clicked point is.
        `lengths` replace those of the usual size in a wide window; `phone` is the size on a phone.
        """
        page_theme = theme()
        size = SIZE | lengths if page_theme.size.ladder else {**phone}
        size = size if figure.ladder.rows else size | {"right": 20}
        page_theme = replace(page_theme, size=replace(page_theme.size, **size))
        self.count += 1
        key = f"{self.name}_{self.kind}_{self.count}"
        self.place.draw(plotly(figure, page_theme), figure.alt, key, on_click)
        if figure.ladder.rows:
            self.ladder.html(ladder_table(figure, page_theme))

    def show(
        self,
        question: str,
        figure: Figure,
        small: str = "",
        table: Callable[[], pd.DataFrame] | None = None,
        **files: Any,
    ) -> None:
        """Draw the headline, a figure and its files; see `draw_files`."""
        self.say(question, figure.alt, small)
        self.draw(figure)
        self.draw_files(figure, table, **files)

    def show_below(
        self,
        figure: Figure,
        table: Callable[[], pd.DataFrame] | None = None,
        *,
        setting: str = "",
        **lengths: Any,
    ) -> None:
        """Draw a figure below the first one, with its title as a header, and its files."""
        self.head.subheader(figure.alt)
        self.draw(figure, **lengths)
        self.draw_files(figure, table, setting=setting)

    def draw_files(
        self,
        figure: Figure,
        table: Callable[[], pd.DataFrame] | None = None,
        *,
        setting: str = "",
        columns: Collection[str] = (),
    ) -> None:
        """Draw the folded files and numbers of a figure below it.

        `table` returns the numbers; without one they are those of the figure's lines. With
        `columns` a wide table shows only these, and the file has all. `setting` is the text at the
        foot of the files.
        """
        numbers = table or partial(numbers_of, figure)
        if figure.ladder.rows and not figure.panels[0].cells:
            draw_focus(f"{self.name}_figure_")

        page = partial(export.figure_html, figure, dark=theme().dark, setting=setting)
        with self.foot:
            export.draw_source(setting)
            export.draw_files(
                self.name,
                numbers,
                page,
                setting,
                title=figure.alt,
                columns=columns,
                slide=partial(export.figure_slide, figure, [figure.alt], setting, dark=theme().dark)
                if has_slide(figure)
                else None,
            )


def has_slide(figure: Figure) -> bool:
    """Return whether a figure has lines along an axis, which a slide can show."""
    return not figure.square and all(panel.cells is None for panel in figure.panels)


def numbers_of(figure: Figure) -> pd.DataFrame:
    """Return the named lines of a figure's first panel as a table, or its marks without lines."""
    named_lines = [
        line
        for line in figure.panels[0].lines
        if line.name and not (line.label and line.colour == QUIET)
    ]
    lines = [line for line in named_lines if line.width] or named_lines
    columns = {line.name: pd.Series(list(line.y), index=list(line.x)) for line in lines}
    return pd.DataFrame(columns).rename_axis(figure.panels[0].x.title).reset_index()
