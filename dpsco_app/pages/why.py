"""Why privacy stays expensive in the worst case: a text that scrolls past the picture."""

import streamlit as st

from dpsco_app.front.story import (
    INTRODUCTION,
    NEXT_TITLE,
    TITLE,
    TO_CURVES,
    TO_PICTURE,
    setting,
    story,
)
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import WHOLE, draw_page
from dpsco_app.parts.page import explore_query
from dpsco_app.parts.touch.drawing import draw_scroll, draw_scroll_file
from dpsco_app.shell import teaching
from dpsco_app.shell.names import EXPLORE, WHY
from dpsco_app.shell.page_state import PageState, PageView
from dpsco_app.shell.places import draw_views, link_to
from dpsco_core.explain.why import why
from dpsco_core.scenario import Scenario

STYLE = """<style>
.st-key-why_story { --scroll-top: 4rem; }
</style>"""


STATE = PageState(name="why", default=PageView())


def page() -> None:
    """Draw the story of why privacy costs accuracy."""
    st.html(STYLE)
    draw_views(WHY)
    draw_page(STATE, {WHOLE: _draw}, {WHOLE: TITLE})


def _draw(screen: FirstScreen, _: PageView, __: Scenario) -> None:
    """Draw the story step by step, and the links to what comes next."""
    with screen.head.container(gap=None):
        st.title(TITLE)
        st.markdown(INTRODUCTION)
    scroll_story = story(why())
    with st.container(key="why_story"):
        draw_scroll(scroll_story, WHY, explore="" if teaching.is_part_hidden("nav") else "./")
    st.subheader(NEXT_TITLE)
    with st.container(key="why_next"):
        for label, scenario, view in TO_CURVES:
            query = explore_query(scenario, against=view.against, measure=view.measure)
            link_to(EXPLORE, label, query)
        link_to("private-mean", TO_PICTURE)
        link_to("lower-bounds", "How one proves what nobody can beat")
        link_to("learn", "Learn: fifteen steps, each with a prediction")
    draw_scroll_file(TITLE, scroll_story, WHY)
    st.caption(setting())
