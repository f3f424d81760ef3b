"""A private mean: how it is made from records like those of the scenario."""

import streamlit as st

from dpsco_app.front.picture import FIT_REASON, UNUSED_FIELDS, fit
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import WHOLE, draw_page
from dpsco_app.parts.touch.drawing import draw_picture
from dpsco_app.parts.touch.picture import TITLE, sample_words
from dpsco_app.session.scenarios import Use
from dpsco_app.shell.page_state import PageState, PageView
from dpsco_app.shell.places import draw_views
from dpsco_core.fields import MEAN
from dpsco_core.scenario import Scenario

STATE = PageState(
    name="private_mean",
    default=PageView(),
    use=Use(
        fit=fit,
        needs=FIT_REASON,
        unused_fields=UNUSED_FIELDS,
        problems=(MEAN,),
    ),
)


def page() -> None:
    """Draw the page on a single private mean."""
    draw_views("private-mean")
    draw_page(STATE, {WHOLE: _draw}, {WHOLE: TITLE})


def _draw(screen: FirstScreen, _: PageView, scenario: Scenario) -> None:
    """Draw records like the scenario's, with a circle that clips them and can be dragged."""
    screen.head.title(TITLE)
    draw_picture(scenario, "private_mean")
    st.caption(
        "The circle is around 0, wherever the records are: a centre read off the records would "
        f"leak something about them. {sample_words(scenario)}"
    )
