"""The worth of the records without privacy, drawn below the figure."""

import streamlit as st

from dpsco_app.front.questions.records import records_html
from dpsco_app.parts.drawing import theme
from dpsco_app.session.screen import Screen


def draw_records(screen: Screen) -> None:
    """Draw squares that show how many records without privacy give the same error, if known."""
    if screen.is_old or not screen.cards:
        return
    squares = records_html(screen.studies[0], screen.scenario, theme())
    if squares:
        st.html(squares)
