"""Waiting for the browser: a long run starts when its page is there.

While a script runs, Streamlit's icon of a running figure changes five times a second. On a slow
machine that is more often than React can finish the controls whose code arrives late, and they
would stay grey until the run ends. So the first page of a visit ends before its run, and the
browser asks for the run once nothing on the page is grey any more.
"""

from functools import lru_cache
from typing import Any

import streamlit as st

from dpsco_app.shell.window import LEAVING

KEY = "arrival"
ARRIVED = "explore_arrived"
# Not for ever: a page that never gets rid of its grey places runs all the same.
# Who has clicked on a link is on the way to another page, however slow the server: asked for now,
# this one would come back, without the other one's address.
JS = f"""
export default function ({{ setTriggerValue }}) {{
  {LEAVING}
  const here = location.pathname
  const gone = () => location.pathname !== here || window.dpscoLeft === here
  const until = performance.now() + 15000
  const grey = () => document.querySelector('[data-testid="stSkeleton"]')
  const look = () => {{
    if (gone() || (grey() && performance.now() < until)) waiting = setTimeout(look, 50)
    else setTriggerValue("there", true)
  }}
  let waiting = setTimeout(look, 50)
  return () => clearTimeout(waiting)
}}
"""


def arrived() -> bool:
    return ARRIVED in st.session_state


def arrive() -> None:
    """Note that it is: the browser says so, or somebody uses it."""
    st.session_state[ARRIVED] = True


def when_there() -> None:
    """Run the page again once the browser has drawn all of it."""
    _component()(key=KEY, on_there_change=arrive, width="content", height="content")


@lru_cache(maxsize=1)
def _component() -> Any:
    return st.components.v2.component("dpsco_arrival", js=JS)
