"""Users: what hiding a whole user costs, and from how many items a user on a filter pays."""

from __future__ import annotations

import streamlit as st

from dpsco_app.figures import SHARED_STYLE
from dpsco_app.users_sections import frontier_part, gradients_part, law_part, map_part, slider
from dpsco_app.users_state import (
    CONDITION_OPTIONS,
    D_OPTIONS,
    DELTA_OPTIONS,
    EPSILON_OPTIONS,
    M_OPTIONS,
    N_OPTIONS,
    SCENES,
    View,
    address,
    change,
    current,
    remember,
    restore,
)
from dpsco_app.users_words import INTRODUCTION, SYMBOLS

STYLE = """<style>
.st-key-users_scenes { gap: 0.5rem; }
.st-key-users_said { min-height: 3.4rem; }
</style>"""


def page() -> None:
    """Draw the page."""
    st.html(SHARED_STYLE + STYLE)
    problems = restore()
    view = current()
    remember(view)
    st.title("Users: what hiding a whole user costs")
    for sentence in problems:
        st.warning(f"In the address: {sentence} The default is used instead.")
    st.markdown(INTRODUCTION)
    with st.container(horizontal=True, key="users_scenes"):
        for scene in SCENES:
            st.button(
                scene.name,
                key=f"users_scene_{scene.name}",
                help=scene.look_for,
                on_click=change,
                args=(scene.changes,),
            )
    _choose()
    # What runs something comes last, so that all the rest is there while it runs.
    maps, law, needs, work = (st.container() for _ in range(4))
    with needs:
        frontier_part(view)
    with work:
        gradients_part(view)
        with st.expander("How to read these figures, and what the symbols mean"):
            st.markdown(SYMBOLS)
        _link(view)
    first, second = (maps, map_part), (law, law_part)
    order = (first, second) if view.basis == "rates" else (second, first)
    for place, draw in order:
        with place:
            draw(view)


def _choose() -> None:
    """Draw the controls of the point."""
    columns = st.columns(3)
    with columns[0]:
        slider("Users n", "n", N_OPTIONS, help="Of the measured runs and the mark.")
        slider("Privacy budget ε (epsilon)", "epsilon", EPSILON_OPTIONS, help="Of one user.")
    with columns[1]:
        slider("Items a user m", "m", M_OPTIONS, help="Of the mark, and the counts.")
        slider("δ (delta)", "delta", DELTA_OPTIONS, help="Of one user.")
    with columns[2]:
        slider("Dimension d", "d", D_OPTIONS, help="Not of the gradient counts.")
        slider(
            "Smoothness βR/L",
            "condition",
            CONDITION_OPTIONS,
            help="Of the losses in bounds and counts; the measured loss has its own.",
        )


def _link(view: View) -> None:
    with st.popover("Link", icon=":material/link:"):
        st.markdown("The address of this page holds all of its state. Copy it to share.")
        st.code(address(view), language=None)
