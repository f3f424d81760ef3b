"""Lower bounds."""

from __future__ import annotations

import streamlit as st

from dpsco_app.figures import SHARED_STYLE


def page() -> None:
    """Draw the page."""
    st.html(SHARED_STYLE)
    st.title("Lower bounds")
