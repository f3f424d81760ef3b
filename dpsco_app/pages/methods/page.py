"""Methods: which one to choose, and a page for each of them."""

import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import WHOLE, draw_page
from dpsco_app.pages.methods.method import draw_method
from dpsco_app.pages.methods.overview import QUESTION, draw_all_part, draw_which_part
from dpsco_app.pages.methods.state import PARTS, STATE, View
from dpsco_app.pages.methods.words import family
from dpsco_app.parts.page import draw_parts
from dpsco_app.shell.places import draw_views
from dpsco_core.catalogue import METHOD_SLUGS, method_card
from dpsco_core.scenario import Scenario

TAB = "methods_tab"


def page() -> None:
    """Draw the page Methods: which one to choose, the table of all, or one method."""
    draw_views("methods")
    draw_page(STATE, {WHOLE: _draw}, {WHOLE: QUESTION})


def _draw(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the choice of parts, the menu of methods, and the chosen part or method."""
    st.session_state[TAB] = "all" if view.method else view.part
    with (
        screen.controls,
        st.container(horizontal=True, vertical_alignment="bottom", key="methods_choices"),
    ):
        draw_parts(PARTS, TAB, on_change=_take_part)
        if st.session_state[TAB] == "all":
            st.selectbox(
                "Method",
                ("", *METHOD_SLUGS),
                format_func=_option_name,
                key=STATE.key("method"),
                label_visibility="collapsed",
                width=420,
            )
    if view.method:
        draw_method(screen, view.method, scenario)
    else:
        {"which": draw_which_part, "all": draw_all_part}[view.part](screen, scenario)


def _take_part() -> None:
    """Put the chosen part of the page into its state, and leave a method's page; a callback."""
    STATE.change({"part": st.session_state[TAB], "method": ""})


def _option_name(slug: str) -> str:
    """Return the name of a method, with its family, in the list of methods."""
    return f"{method_card(slug).name} ({family(slug).lower()})" if slug else "All of them"
