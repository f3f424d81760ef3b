"""What the browser tells: which of two figures it needs, and that the first page is there.

It is told for which address a page was drawn, and makes each such page one step of its way back.

While a script runs, Streamlit's icon of a running figure changes five times a second. On a slow
machine that is more often than React can finish the controls whose code arrives late, and they
would stay grey until the run ends. So the first page of a visit ends before its run, and the
browser asks for the run once nothing on the page is grey any more.
"""

from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from dpsco_app.figure.theme import WIDTHS
from dpsco_app.parts.insides import CLOSE_SIDEBAR
from dpsco_app.parts.themes import is_dark
from dpsco_app.parts.touch.components import component
from dpsco_app.shell.names import PLACES

Size = Literal["compact", "medium", "wide", "large"]  # the width of the page, in classes

SIZE_KEY = "window_seen"
LOW, LOWEST = "window_low", 800  # a window of fewer pixels in height has lower figures
KEY = "window"
ARRIVED = "explore_arrived"


def size() -> Size:
    """Return the size of the page as the browser measured it, or a guess from its user agent."""
    reported_size: Size | None = st.session_state.get(SIZE_KEY)
    if reported_size is not None:
        return reported_size
    phone = "Mobi" in (st.context.headers.get("User-Agent") or "")
    return "compact" if phone else "wide"


def low() -> bool:
    """Return whether the browser has said that its window is lower than a figure asks for."""
    return bool(st.session_state.get(LOW))


def watch(
    place: str,  # the page's own path; empty for the front page
) -> None:
    """Listen to the page's width and theme: it runs again where it needs other figures."""

    def see() -> None:
        st.session_state[SIZE_KEY] = st.session_state[KEY]["size"]
        st.session_state[LOW] = st.session_state[KEY]["low"]

    component("window", html="")(
        key=KEY,
        data={
            "size": size(),
            "widths": WIDTHS,
            "low": low(),
            "lowest": LOWEST,
            "dark": is_dark(),
            "place": place,
            "places": list(PLACES),
            "address": urlencode(st.query_params.to_dict()),
            "close": CLOSE_SIDEBAR,
        },
        default={"size": size(), "low": low(), "dark": is_dark()},
        on_size_change=see,
        on_low_change=see,
        on_dark_change=lambda: None,  # the run that it causes sees the theme
        width="content",
        height="content",
    )


def arrived() -> bool:
    return ARRIVED in st.session_state


def arrive() -> None:
    """Note that the page is there: the browser says so, or a visitor uses it."""
    st.session_state[ARRIVED] = True


def when_there() -> None:
    """Run the page again once the browser has drawn all of it."""
    component("arrival", html="")(
        key="arrival", on_there_change=arrive, width="content", height="content"
    )
