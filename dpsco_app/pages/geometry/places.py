"""Where Geometry's figures go, and its view: flat figures twice, for wide windows and phones."""

from collections.abc import Callable, Hashable
from functools import lru_cache

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpsco_app.pages.geometry.state import STATE, View
from dpsco_app.parts.export import draw_files
from dpsco_app.parts.figures import Place, responsive, show
from dpsco_app.parts.look import Look

SHOWN = "geometry_shown"  # in the session: a place that files can look into after the run


def remember(view: View) -> None:
    """Keep the view of a part that has just run, in the address and for the files."""
    STATE.remember(view)
    st.session_state.setdefault(SHOWN, {})["view"] = view


def figure_of(
    name: str,
    title: str,
    draw: Callable[[Look], go.Figure],
    table: Callable[[], pd.DataFrame],
    *,
    space: bool = False,
    memo: Hashable = None,
) -> None:
    """Draw a figure under its takeaway, and its numbers and files under it.

    What is drawn from the values in `memo` alone is made once for each of them, as a preset changes
    some figures of the page only.

    A picture in space takes one of the few drawing contexts that a browser has, so that it is
    drawn once, for every window.
    """

    def drawn(look: Look) -> go.Figure:
        if memo is None:
            return draw(look)
        kept = _kept(name, memo, look)
        if not kept:
            kept.append(draw(look))
        return kept[0]

    if not space:
        responsive(name, title, drawn, bar=False, table=table)
        return
    phone = "Mobi" in (st.context.headers.get("User-Agent") or "")
    look = Look(dark=st.context.theme.type == "dark", title=title, compact=phone)
    with st.container(key=f"{name}_figure_space"):
        st.markdown(f"**{title}**")
        show(Place(st.container()), drawn(look), f"{name}_space", title, bar=False)
    draw_files(name, title, draw, table)


@lru_cache(maxsize=128)
def _kept(name: str, memo: Hashable, look: Look) -> list[go.Figure]:
    """Return the place of a figure that has been made in this process."""
    return []
