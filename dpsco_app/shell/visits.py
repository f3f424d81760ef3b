"""When a page was last come back to.

The address that a page writes at its return is known to the browser a moment later. Who clicks
again before that asks for the page without it, which is not to be taken for a new, empty address.
"""

from __future__ import annotations

import math
import time

import streamlit as st

UNHEARD_SECONDS = 3.0


def came_back(page: str) -> None:
    """Note that a page has come back as it was left."""
    st.session_state[_key(page)] = time.monotonic()


def just_came_back(page: str) -> bool:
    """Whether that was so short a time ago that the browser may not know the address yet."""
    then: float = st.session_state.get(_key(page), -math.inf)
    return time.monotonic() - then < UNHEARD_SECONDS


def _key(page: str) -> str:
    return f"{page}_came_back"
