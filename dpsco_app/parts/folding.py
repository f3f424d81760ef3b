"""Folded parts of a page, which are drawn only when opened, so that the figure comes first."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

Draw = Callable[[], object]
FOLD = "fold_"  # The prefix of the keys of expanders.


def fold(
    label: str,
    draw: Draw,
    key: str,
    *,
    kind: Literal["expander", "popover"] = "expander",
    icon: str | None = None,
) -> None:
    """Draw an expander or a popover; opening it calls `draw` without rerunning the whole page."""
    # Without this container, the fragment of a popover would take the whole width of the row.
    popover = kind == "popover"
    container = st.container(width="content") if popover else st.container(key=f"{FOLD}{key}")
    with container:
        _fragment(label, draw, key, kind, icon)


def fold_words(label: str, words: str, key: str) -> None:
    """Show words in Markdown that open at a click."""
    fold(label, lambda: st.markdown(words), key)


def fold_in_page(
    label: str, draw: Draw, key: str, kind: str = "expander", icon: str | None = None
) -> bool:
    """Draw a folded part, filled by `draw` if it is open; return whether it is.

    Opening it reruns the page, or the fragment in which it stands.
    """
    make = st.expander if kind == "expander" else st.popover
    box = make(label, key=key, icon=icon, on_change="rerun")
    opened = is_open(box.open)
    if opened:
        with box:
            draw()
    return opened


_fragment = st.fragment(fold_in_page)


def is_open(opened: bool | None) -> bool:
    """Return whether a folded part is to be filled; tests replace this to fill all of them."""
    return bool(opened)
