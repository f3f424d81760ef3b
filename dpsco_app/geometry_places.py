"""Where Geometry's figures go: flat ones twice, for wide windows and phones; spatial ones once."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

from dpsco_app.figures import responsive, show
from dpsco_app.look import Look


def figure_of(name: str, title: str, draw: Callable[[Look], go.Figure], *, space: bool) -> None:
    """Draw a figure under its takeaway.

    A picture in space takes one of the few drawing contexts that a browser has, so that it is
    drawn once, for every window.
    """
    if not space:
        responsive(name, title, draw, bar=False)
        return
    phone = "Mobi" in (st.context.headers.get("User-Agent") or "")
    look = Look(dark=st.context.theme.type == "dark", title=title, compact=phone)
    with st.container(key=f"{name}_figure_space"):
        st.markdown(f"**{title}**")
        show(st.empty(), draw(look), f"{name}_space", title, bar=False)
