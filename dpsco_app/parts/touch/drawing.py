"""The picture of a private mean and the text that scrolls past it, drawn into a page."""

from functools import partial

import streamlit as st

from dpsco_app.parts.export import download
from dpsco_app.parts.touch.components import component
from dpsco_app.parts.touch.picture import picture_data, picture_page
from dpsco_app.parts.touch.scroll import STYLES, ScrollStory, markup, scroll_data, scroll_page
from dpsco_core.scenario import Scenario


def draw_picture(scenario: Scenario, key: str = "picture") -> None:
    """Draw the picture for the law, tail, budget and seed of `scenario`, and its download."""
    dark = st.context.theme.type == "dark"
    component("picture", "picture.css")(
        key=key, data=picture_data(scenario, dark=dark), height="content"
    )
    download(
        "Download this picture (HTML)",
        lambda: picture_page(scenario, dark=dark),
        "dpsco-picture.html",
        key=f"{key}_html",
        help="A page of its own that still moves, and needs no network.",
    )


def draw_scroll(story: ScrollStory, key: str) -> None:
    dark = st.context.theme.type == "dark"
    component("scroll", *STYLES, html=markup())(
        key=key, data=scroll_data(story, dark=dark), height="content"
    )


def draw_scroll_file(title: str, story: ScrollStory, key: str) -> None:
    download(
        "Download this page (HTML)",
        partial(scroll_page, title, story, dark=st.context.theme.type == "dark"),
        f"dpsco-{key}.html",
        key=f"{key}_html",
        help="A page of its own that still moves, and needs no network.",
    )
