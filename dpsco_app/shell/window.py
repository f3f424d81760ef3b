"""What the browser reports: which figure size it needs, and that the first page has arrived.

The browser is told the address of each page that is drawn, and makes it one step of its history.

While a script runs, Streamlit's animated icon changes five times a second. On a slow machine that
is more often than React can finish controls whose code arrives late, and they would stay grey until
the run ends. So the first page of a visit ends before its run, and the browser asks for the run
once nothing on the page is grey any more.
"""

from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from dpsco_app.figure.theme import WIDTHS
from dpsco_app.parts.insides import CLOSE_SIDEBAR
from dpsco_app.parts.themes import is_dark
from dpsco_app.parts.touch.components import component
from dpsco_app.shell.names import PLACES

Size = Literal["compact", "medium", "wide", "large"]  # The classes of page width.

SIZE_KEY = "window_seen"
LOW, LOWEST = "window_low", 800  # Windows with fewer pixels of height have lower figures.
KEY = "window"
ARRIVED = "explore_arrived"


def size() -> Size:
    """Return the size class that the browser measured, or a guess from its user agent."""
    reported_size: Size | None = st.session_state.get(SIZE_KEY)
    if reported_size is not None:
        return reported_size
    phone = "Mobi" in (st.context.headers.get("User-Agent") or "")
    return "compact" if phone else "wide"


def low() -> bool:
    """Return whether the browser reports a window too low for a figure of full height."""
    return bool(st.session_state.get(LOW))


def watch(place: str) -> None:
    """Listen to the window's size and theme, and rerun the page when it needs other figures.

    `place` is the page's own path, and empty for the front page.
    """

    def note_window() -> None:
        """Store the size class of the window that the browser has reported, and if it is low."""
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
        on_size_change=note_window,
        on_low_change=note_window,
        on_dark_change=lambda: None,  # A new theme causes a rerun, which reads it.
        width="content",
        height="content",
    )


def arrived() -> bool:
    """Return whether the first page has arrived in the browser."""
    return ARRIVED in st.session_state


def arrive() -> None:
    """Record that the page has arrived: the browser says so, or a visitor has used it."""
    st.session_state[ARRIVED] = True


def when_there() -> None:
    """Draw the component that reruns the page once the browser has drawn all of it."""
    component("arrival", html="")(
        key="arrival", on_there_change=arrive, width="content", height="content"
    )
