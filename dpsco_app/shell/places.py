"""The pages, their views and the links between them; a link names its page by slug alone."""

from collections.abc import Callable, Mapping

import streamlit as st

from dpsco_app.parts.insides import StreamlitPage
from dpsco_app.shell import teaching
from dpsco_app.shell.names import EXPLORE, MENU, PLACES, VIEWS
from dpsco_app.shell.style import menu_mark


def place(slug: str, draw: Callable[[], None] | None = None) -> StreamlitPage:
    """Return Streamlit's page of a slug; without `draw` it can only be linked to."""
    return st.Page(
        draw or _refuse_to_draw,
        title=PLACES[slug],
        url_path=slug,
        default=slug == EXPLORE,
        visibility="visible" if slug in MENU else "hidden",
    )


def menu_style(slug: str) -> str:
    """Return the style that marks a page's entry in the menu while one of its views is shown."""
    owner = next((next(iter(views)) for views in VIEWS if slug in views), slug)
    if slug in MENU or owner not in MENU:
        return ""
    end = "/" if owner == EXPLORE else f"/{owner}"  # The front page has no path of its own.
    return f"<style>{menu_mark(end)}</style>"


def draw_views(slug: str) -> None:
    """Draw the links between the views of a page, unless a teacher hides them."""
    if teaching.is_part_hidden("nav"):
        return
    (views,) = (views for views in VIEWS if slug in views)
    with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall", key="views"):
        for view_slug, name in views.items():
            st.page_link(place(view_slug), label=name)


def link_to(
    slug: str,
    label: str,
    query: Mapping[str, str] | None = None,
    *,
    help: str | None = None,
    icon: str = ":material/arrow_forward:",
) -> None:
    """Draw a link to a page, unless a teacher hides links to other pages."""
    if teaching.is_part_hidden("nav"):
        return
    st.page_link(place(slug), label=label, icon=icon, help=help, query_params=query or {})


def _refuse_to_draw() -> None:
    """Raise an error, in the place of the function that draws a page that is only linked to."""
    raise AssertionError("This page is only linked to from here.")
