"""Page setup and navigation."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dpsco_app import glossary, teaching, window
from dpsco_app.pages import (
    algorithms,
    anatomy,
    explore,
    geometry,
    learn,
    lower_bounds,
    privacy,
    regimes,
    theory,
    users,
)
from dpsco_app.places import PLACES, place

HERE = Path(__file__).resolve().parent
ICONS = (HERE.parent / "assets" / "icon.png", HERE / "assets" / "icon.png")  # checkout, wheel
DRAW = {
    "explore": explore.page,
    "learn": learn.page,
    "algorithms": algorithms.page,
    "theory": theory.page,
    "lower-bounds": lower_bounds.page,
    "privacy": privacy.page,
    "anatomy": anatomy.page,
    "regimes": regimes.page,
    "geometry": geometry.page,
    "users": users.page,
}


def main() -> None:
    """Set the page up and run the page that the address names."""
    st.set_page_config(
        page_title="DP-SCO Explorer",
        page_icon=next((str(icon) for icon in ICONS if icon.exists()), None),
        layout="wide",
        initial_sidebar_state="auto",
    )
    page = st.navigation([place(slug, DRAW[slug]) for slug in PLACES], position="top")
    teaching.apply()
    page.run()
    glossary.draw_glossary()
    window.watch()
