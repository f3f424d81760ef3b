"""Why heavy tails and privacy do not get along: a text that scrolls past the picture."""

from dataclasses import replace

import streamlit as st

from dpsco_app.pages.why.words import INTRODUCTION, TITLE, setting, story
from dpsco_app.parts.options import TAIL
from dpsco_app.parts.page import explore_query
from dpsco_app.parts.touch.drawing import draw_scroll, draw_scroll_file
from dpsco_app.shell.places import EXPLORE, WHY, draw_views, link_to
from dpsco_core.explain.why import SCENARIO, why

STYLE = """<style>
[data-testid=stMainBlockContainer] { --scroll-top: 4rem; }
</style>"""
# What the last links open: the same law, measured over many samples.
AGAINST_N = replace(SCENARIO, axis="n", grid=(500, 1000, 2000, 5000, 10_000, 20_000), trials=10)
AGAINST_P = replace(SCENARIO, n=5000, axis="p", grid=(2, 2.5, 3, 4, 6, 10), trials=10)


def page() -> None:
    st.html(STYLE)
    draw_views(WHY)
    st.title(TITLE)
    st.markdown(INTRODUCTION)
    told = story(why())
    draw_scroll(told, WHY)
    st.subheader("Where to go next")
    with st.container(key="why_next"):
        beside_light = explore_query(AGAINST_N, against=TAIL, measure="price")
        link_to(EXPLORE, "What privacy costs at every n, beside a light tail", beside_light)
        along_tails = explore_query(AGAINST_P, measure="price")
        link_to(EXPLORE, "What privacy costs at every tail index", along_tails)
        link_to("private-mean", "The whole picture, where a radius is chosen privately")
        link_to("lower-bounds", "How one proves what nobody can beat")
        link_to("learn", "Learn: twelve steps, each with a prediction")
    draw_scroll_file(TITLE, told, WHY)
    st.caption(setting())
