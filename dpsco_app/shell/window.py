"""Which of two figures a browser gets: the one for wide windows, or the one for phones."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import streamlit as st

Kind = Literal["wide", "compact"]

NARROW = 760  # pixels; a window of at most this width gets the figures for phones
SEEN = "window_seen"
KEY = "window"
# The browser knows the width of its window, and says when it is not what the page was drawn for.
JS = f"""
export default function ({{ data, setStateValue }}) {{
  const narrow = window.matchMedia("(max-width: {NARROW}px)")
  const tell = () => {{
    const kind = narrow.matches ? "compact" : "wide"
    if (kind !== data.kind) setStateValue("kind", kind)
  }}
  tell()
  narrow.onchange = tell
  return () => {{ narrow.onchange = null }}
}}
"""


def kind() -> Kind:
    """Return the kind of figure for this window: as the browser said, or as it calls itself."""
    seen: Kind | None = st.session_state.get(SEEN)
    if seen is not None:
        return seen
    phone = "Mobi" in (st.context.headers.get("User-Agent") or "")
    return "compact" if phone else "wide"


def watch() -> None:
    """Listen to the width of the window: the page runs again where it needs the other figures."""
    _component()(
        key=KEY,
        data={"kind": kind()},
        default={"kind": kind()},
        on_kind_change=_see,
        width="content",
        height="content",
    )


def _see() -> None:
    st.session_state[SEEN] = st.session_state[KEY]["kind"]


@lru_cache(maxsize=1)
def _component() -> Any:
    """Return the component; made at its first use, when there is a server."""
    return st.components.v2.component("dpsco_window", js=JS)
