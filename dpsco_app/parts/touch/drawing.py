"""The picture of a private mean, and the text that scrolls beside it, on a page."""

from collections.abc import Callable
from functools import partial

from dpsco_app.parts.export import download
from dpsco_app.parts.themes import is_dark
from dpsco_app.parts.touch.components import component
from dpsco_app.parts.touch.picture import picture_data, picture_page
from dpsco_app.parts.touch.scroll import STYLES, ScrollStory, markup, scroll_data, scroll_page
from dpsco_core.scenario import Scenario


def draw_picture(scenario: Scenario, key: str = "picture") -> None:
    """Draw the picture for the law, tail, budget and seed of `scenario`, and a download button."""
    component("picture", "picture.css")(
        key=key, data=picture_data(scenario, dark=is_dark()), height="content"
    )
    _draw_file("picture", "picture", key, partial(picture_page, scenario, dark=is_dark()))


def draw_scroll(story: ScrollStory, key: str, *, explore: str = "") -> None:
    """Draw a story beside its picture; its steps link to Explore if `explore` is the address."""
    component("scroll", *STYLES, html=markup())(
        key=key, data=scroll_data(story, dark=is_dark(), explore=explore), height="content"
    )


def draw_scroll_file(title: str, story: ScrollStory, key: str) -> None:
    """Draw the button that saves a story with its picture as an HTML page."""
    _draw_file("page", key, key, partial(scroll_page, title, story, dark=is_dark()))


def _draw_file(kind: str, name: str, key: str, make: Callable[[], str]) -> None:
    """Draw the button that downloads a moving drawing as a page of its own."""
    download(
        f"Download this {kind} (HTML)",
        make,
        f"dpsco-{name}.html",
        key=f"{key}_html",
        help="A page of its own that still moves, and needs no network.",
    )
