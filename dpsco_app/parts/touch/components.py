"""The components of this folder: Streamlit takes the script of each as one text."""

from functools import cache
from typing import Any

import streamlit as st

from dpsco_app.parts.touch.modules import script, text


@cache
def component(name: str, *styles: str, html: str | None = None) -> Any:
    """Return the component of a module; made at its first use, when there is a server."""
    markup = text(f"{name}.html") if html is None else html
    css, js = "".join(map(text, styles)), script(f"{name}.js")
    return st.components.v2.component(f"dpsco_touch_{name}", html=markup, css=css, js=js)
