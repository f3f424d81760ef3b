"""A private mean: how one is made from records like those of the scenario."""

import streamlit as st

from dpsco_app.parts.page import draw_apart, opened_with_scenario
from dpsco_app.parts.problem_words import MEAN
from dpsco_app.parts.touch.picture import TITLE, draw_picture, sample_words
from dpsco_app.shell import visit
from dpsco_app.shell.page_state import PageState, PageView
from dpsco_app.shell.places import draw_views

WITHOUT = ("d", "m", "axis", "grid", "trials", "methods", "tuning", "calibration", "geometry")
STATE = PageState(
    name="private_mean",
    default=PageView(),
    use=visit.Use(
        fit=lambda scenario: visit.item_level(visit.with_problem(scenario, MEAN, (MEAN,))),
        why="The picture is about a mean, with one item per user.",
        without=WITHOUT,
        problems=(MEAN,),
    ),
)


def page() -> None:
    draw_views("private-mean")
    opened = opened_with_scenario(STATE, TITLE)
    if opened is None:
        return
    scenario = opened[1]
    draw_apart(STATE, scenario)
    draw_picture(scenario, "private_mean")
    st.caption(sample_words(scenario))
