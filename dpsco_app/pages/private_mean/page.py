"""A private mean: how one is made from records like those of the scenario."""

import streamlit as st

from dpsco_app.pages.private_mean.state import STATE
from dpsco_app.parts.figures import SHARED_STYLE
from dpsco_app.parts.page import draw_apart, draw_controls, draw_wrong, opened
from dpsco_app.parts.touch.picture import TITLE, draw_picture
from dpsco_app.shell.places import draw_views
from dpsco_core.explain.picture import picture


def page() -> None:
    """Draw the page."""
    st.html(SHARED_STYLE)
    draw_views("private-mean")
    view, problems = opened(STATE)
    scenario, refused = draw_controls(STATE)
    st.title(TITLE)
    draw_wrong(problems)
    if scenario is None:
        st.error(refused)
        return
    STATE.remember(view, scenario)
    draw_apart(STATE, scenario)
    draw_picture(scenario, "private_mean")
    shown = picture(scenario)
    n, epsilon, p = shown.start
    st.caption(
        "Records of your distribution, in two dimensions. The picture starts at "
        f"n = {shown.sizes[n]}, ε = {shown.epsilons[epsilon]:g} and p = {shown.orders[p]:g}, "
        "its nearest to your scenario. It shows the records, so the picture itself is not private."
    )
