"""Users: what hiding a whole user costs, and from how many items per user on a filter pays."""

import streamlit as st

from dpsco_app.pages.scripts import users_script
from dpsco_app.pages.users.sections import crossing_part, frontier_part, gradients_part, map_part
from dpsco_app.pages.users.state import PARTS, SCENES, STATE
from dpsco_app.pages.users.words import INTRODUCTION, PART_NAMES, SYMBOLS
from dpsco_app.parts.export import draw_page_files
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.page import draw_apart, draw_scenes, link, opened_with_scenario
from dpsco_app.shell.places import draw_views

STYLE = """<style>
.st-key-users_scenes { gap: 0.5rem; }
.st-key-users_said { min-height: 3.4rem; }
</style>"""

DRAW = {
    "crossing": crossing_part,
    "map": map_part,
    "feasibility": frontier_part,
    "gradients": gradients_part,
}


def page() -> None:
    st.html(STYLE)
    draw_views("users")
    found = opened_with_scenario(STATE, "Users: what hiding a whole user costs")
    if found is None:
        return
    view, scenario = found
    st.markdown(INTRODUCTION)
    draw_scenes(STATE, SCENES)
    draw_apart(STATE, scenario)
    st.segmented_control(
        "Show", PARTS, format_func=lambda key: PART_NAMES[key], key=STATE.key("part"), required=True
    )
    # What runs comes before the foot, which is drawn first.
    part, foot = st.container(), st.container()
    with foot:
        fold_words(
            "How to read these figures, and what the symbols mean", SYMBOLS, "users_fold_reading"
        )
        with st.container(horizontal=True, key="users_row"):
            draw_page_files("users", lambda: users_script(view))
            link(STATE, view, scenario)
    with part:
        DRAW[view.part](view)
