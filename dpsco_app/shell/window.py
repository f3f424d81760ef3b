"""Which of two figures a browser gets: the one for wide windows, or the one for phones."""

from functools import lru_cache
from typing import Any, Literal

import streamlit as st

Kind = Literal["wide", "compact"]

NARROW = 760  # pixels; where a page has at most this width it gets the figures for phones
SEEN = "window_seen"
KEY = "window"
# The page that is left by a click on a link, until another one is clicked. A link to the front page
# has no path of its own.
LEAVING = """
  if (!("dpscoLeft" in window)) {
    window.dpscoLeft = null
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("a[href]")
      const apart = event.ctrlKey || event.metaKey || event.shiftKey || link?.target
      if (!link || apart || link.download) return
      window.dpscoLeft = link.pathname === location.pathname ? null : location.pathname
    }, true)
    window.addEventListener("popstate", () => { window.dpscoLeft = null })
  }"""
# The browser knows how wide the page is, beside an open sidebar too, and says when that is not what
# the page was drawn for.
JS = f"""
export default function ({{ data, setStateValue }}) {{
  {LEAVING}
  const page = document.querySelector("[data-testid=stMain]")
  const tell = () => {{
    const kind = page.clientWidth <= {NARROW} ? "compact" : "wide"
    if (page.clientWidth && kind !== data.kind) setStateValue("kind", kind)
  }}
  const watch = new ResizeObserver(tell)
  watch.observe(page)
  // A table of text that is wider than its place scrolls: by keys, too.
  const reach = () => page.querySelectorAll("[data-testid=stMarkdown] table").forEach((table) => {{
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0
    else table.removeAttribute("tabindex")
  }})
  const again = setInterval(reach, 500)
  return () => {{
    watch.disconnect()
    clearInterval(again)
  }}
}}
"""


def kind() -> Kind:
    """Return the kind of figure that fits: as the browser said, or as it calls itself."""
    seen: Kind | None = st.session_state.get(SEEN)
    if seen is not None:
        return seen
    phone = "Mobi" in (st.context.headers.get("User-Agent") or "")
    return "compact" if phone else "wide"


def watch() -> None:
    """Listen to the width of the page: it runs again where it needs the other figures."""
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
    return st.components.v2.component("dpsco_window", js=JS)
