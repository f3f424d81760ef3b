"""Lower bounds: how wide the window is, and why nobody gets below it."""

import streamlit as st

from dpsco_app.pages.frame import draw_page
from dpsco_app.pages.lower_bounds.gap import gap_part
from dpsco_app.pages.lower_bounds.prove import prove_part
from dpsco_app.pages.lower_bounds.state import PARTS, STATE
from dpsco_app.pages.lower_bounds.words import HOW_TO_READ, QUESTIONS

# The numbers of the proof stand out; rules between the steps.
STYLE = """<style>
.st-key-lower_scenes { gap: 0.5rem; }
.st-key-lower_steps [data-testid="stHorizontalBlock"] {
  border-top: 1px solid rgba(128, 128, 128, 0.3); padding-top: 0.6rem;
}
.st-key-lower_steps [class*="st-key-lower_number"] strong { font-size: 1.35rem; }
</style>"""
DRAW = {"gap": gap_part, "prove": prove_part}


def page() -> None:
    st.html(STYLE)
    draw_page(STATE, DRAW, QUESTIONS, names=PARTS, symbols=HOW_TO_READ)
