"""Methods: which one when, all of them, and a page for each."""

import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.methods.method import method_page
from dpsco_app.pages.methods.overview import WHICH, all_part, which_part
from dpsco_app.pages.methods.state import PARTS, STATE, View
from dpsco_app.pages.methods.words import family
from dpsco_app.parts import controls
from dpsco_app.parts.page import draw_apart, draw_controls, draw_parts, draw_wrong, link, opened
from dpsco_app.shell.places import draw_views
from dpsco_core.catalogue import METHOD_SLUGS, method_card

TAB = "methods_tab"


def page() -> None:
    draw_views("methods")
    view, wrong = opened(STATE)
    scenario, refused = draw_controls(STATE)
    STATE.remember(view, scenario)
    draw_wrong(wrong)
    screen = FirstScreen("methods_race")
    _choose(view, screen)
    if scenario is None:
        screen.say(WHICH, "Nothing can run at these settings", refused)
    elif view.method:
        method_page(screen, view.method, scenario)
    else:
        with screen.foot:
            draw_apart(STATE, scenario)
        {"which": which_part, "all": all_part}[view.part](screen, scenario)
    link(STATE, view, scenario)


def _choose(view: View, screen: FirstScreen) -> None:
    """Draw the parts of the page, and the selector of the method that is told."""
    st.session_state[TAB] = view.shown
    with (
        screen.controls,
        st.container(horizontal=True, vertical_alignment="bottom", key="methods_choices"),
    ):
        draw_parts(PARTS, TAB, on_change=_turn)
        if view.method:
            st.selectbox(
                "Method",
                METHOD_SLUGS,
                format_func=lambda slug: f"{method_card(slug).name} ({family(slug).lower()})",
                key=STATE.key("method"),
                label_visibility="collapsed",
                width=420,
            )


def _turn() -> None:
    """Show another part; the part of one method opens on the first of the visit's private ones."""
    tab = st.session_state[TAB]
    private = (m for m in controls.read().methods if method_card(m).privacy != "none")
    first = next(private, METHOD_SLUGS[0])
    STATE.change({"method": first} if tab == "one" else {"method": "", "part": tab})
