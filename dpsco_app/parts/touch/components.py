"""The Streamlit components of this folder, each with its script as one text."""

from functools import cache
from typing import Any

import streamlit as st

from dpsco_app.parts.touch.modules import script, text


@cache
def component(name: str, *styles: str, html: str | None = None) -> Any:
    """Return the Streamlit component with the script `name`, created on first use.

    `styles` name its style sheets; its markup is `html`, or the file of the same name.
    """
    markup = text(f"{name}.html") if html is None else html
    css, js = "".join(map(text, styles)), script(f"{name}.js")
    return st.components.v2.component(f"dpsco_touch_{name}", html=markup, css=css, js=js)
