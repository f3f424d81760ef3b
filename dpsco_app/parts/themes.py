"""The theme of the window."""

import streamlit as st


def is_dark() -> bool:
    """Return whether the visitor's theme is dark."""
    return bool(st.context.theme.type == "dark")
