"""Page setup and navigation."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dpsco_app.pages import anatomy, explore, geometry, regimes, users

HERE = Path(__file__).resolve().parent
ICONS = (HERE.parent / "assets" / "icon.png", HERE / "assets" / "icon.png")  # checkout, wheel


def main() -> None:
    """Set the page up and run the page that the address names."""
    st.set_page_config(
        page_title="DP-SCO Explorer",
        page_icon=next((str(icon) for icon in ICONS if icon.exists()), None),
        layout="wide",
        initial_sidebar_state="auto",
    )
    page = st.navigation(
        [
            st.Page(explore.page, title="Explore", url_path="explore", default=True),
            st.Page(anatomy.page, title="Anatomy", url_path="anatomy"),
            st.Page(regimes.page, title="Regimes", url_path="regimes"),
            st.Page(geometry.page, title="Geometry", url_path="geometry"),
            st.Page(users.page, title="Users", url_path="users"),
        ],
        position="top",
    )
    page.run()
