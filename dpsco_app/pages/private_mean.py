"""A private mean: how one is made from records like those of the scenario."""

import streamlit as st

from dpsco_app.front.picture import WHY, WITHOUT, fit
from dpsco_app.parts.page import draw_apart, opened_at
from dpsco_app.parts.touch.drawing import draw_picture
from dpsco_app.parts.touch.picture import TITLE, sample_words
from dpsco_app.shell import visit
from dpsco_app.shell.page_state import PageState, PageView
from dpsco_app.shell.places import draw_views
from dpsco_core.fields import MEAN

STATE = PageState(
    name="private_mean",
    default=PageView(),
    use=visit.Use(
        fit=fit,
        why=WHY,
        without=WITHOUT,
        problems=(MEAN,),
    ),
)


def page() -> None:
    draw_views("private-mean")
    _, scenario, refused = opened_at(STATE)
    st.title(TITLE)
    if scenario is None:
        st.error(refused)
        return
    draw_apart(STATE, scenario)
    draw_picture(scenario, "private_mean")
    st.caption(
        "The circle is around 0, wherever the records are: a centre read off the records would "
        f"leak something about them. {sample_words(scenario)}"
    )
