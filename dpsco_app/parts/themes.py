"""The theme of the window."""

import streamlit as st


def is_dark() -> bool:
    return bool(st.context.theme.type == "dark")
