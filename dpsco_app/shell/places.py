"""The pages and the links between them, by slug; no page needs to import another."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st
from streamlit.navigation.page import StreamlitPage

EXPLORE = "explore"
# In the order of the navigation: slug (the path in the address) -> title.
PLACES = {
    EXPLORE: "Explore",
    "learn": "Learn",
    "algorithms": "Algorithms",
    "theory": "Theory",
    "lower-bounds": "Lower bounds",
    "privacy": "Privacy",
    "anatomy": "Anatomy",
    "regimes": "Regimes",
    "geometry": "Geometry",
    "users": "Users",
}


def place(slug: str, draw: Callable[[], None] | None = None) -> StreamlitPage:
    """Return the page of a slug: to be run if `draw` is given, otherwise to be linked to."""
    return st.Page(draw or _elsewhere, title=PLACES[slug], url_path=slug, default=slug == EXPLORE)


def link_to(
    slug: str,
    label: str,
    query: Mapping[str, str] | None = None,
    *,
    help: str | None = None,
    icon: str = ":material/arrow_forward:",
) -> None:
    """Draw a link to a page, whose parameters are `query`."""
    st.page_link(place(slug), label=label, icon=icon, help=help, query_params=query or {})


def _elsewhere() -> None:
    raise AssertionError("This page is only linked to from here.")
