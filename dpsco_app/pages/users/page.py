"""Users: what hiding a whole user costs, and from how many items per user on a filter pays."""

import streamlit as st

from dpsco_app.pages.users.sections import frontier_part, gradients_part, law_part, map_part
from dpsco_app.pages.users.state import SCENES, STATE
from dpsco_app.pages.users.words import INTRODUCTION, SYMBOLS
from dpsco_app.parts.export import draw_page_files
from dpsco_app.parts.figures import SHARED_STYLE
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.page import draw_apart, draw_scenes, link, opened_with_scenario
from dpsco_app.parts.scripts import users_script
from dpsco_app.shell.places import draw_views

STYLE = """<style>
.st-key-users_scenes { gap: 0.5rem; }
.st-key-users_said { min-height: 3.4rem; }
</style>"""


def page() -> None:
    st.html(SHARED_STYLE + STYLE)
    draw_views("users")
    found = opened_with_scenario(STATE, "Users: what hiding a whole user costs")
    if found is None:
        return
    view, scenario = found
    st.markdown(INTRODUCTION)
    draw_scenes(STATE, SCENES)
    draw_apart(STATE, scenario)
    # What runs something comes last, so that all the rest is there while it runs.
    law, maps, needs, work = (st.container() for _ in range(4))
    with needs:
        frontier_part(view)
    with work:
        gradients_part(view)
        fold_words(
            "How to read these figures, and what the symbols mean", SYMBOLS, "users_fold_reading"
        )
        with st.container(horizontal=True, key="users_row"):
            draw_page_files("users", lambda: users_script(view))
            link(STATE, view, scenario)
    with law:
        law_part(view)
    with maps:
        map_part(view)
