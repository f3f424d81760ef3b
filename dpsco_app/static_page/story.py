"""The story of the page without a server, and the links between its views."""

from html import escape
from typing import Any

from dpsco_app.figure.theme import Theme
from dpsco_app.front.story import (
    INTRODUCTION,
    NEXT_TITLE,
    TITLE,
    TO_CURVES,
    TO_PICTURE,
    curves_query,
    setting,
    story,
)
from dpsco_app.parts.touch import picture, scroll
from dpsco_app.shell import names
from dpsco_app.static_page.words import CURVES, LESSONS, PICTURE
from dpsco_core.explain.why import why

EXPLORE = "index.html"
# The views of the page, each with its address.
VIEWS = {
    CURVES: "index.html#curves",
    PICTURE: "index.html#picture",
    LESSONS: "index.html#lessons",
    names.WHY: "story.html",
}


def views(current_view: str) -> str:
    """Return the links between the views of the page as HTML, with the current view marked."""
    titles = {slug: name for row in names.VIEWS for slug, name in row.items()}
    current = {current_view: " aria-current='page'"}
    return "".join(
        f"<a href='{address}' data-view='{slug}'{current.get(slug, '')}>{escape(titles[slug])}</a>"
        for slug, address in VIEWS.items()
    )


def story_parts() -> dict[str, str]:
    """Return title, introduction, links and setting of the story by name, as HTML."""
    open_ = [
        (f"{EXPLORE}?{curves_query(scenario, view)}", label) for label, scenario, view in TO_CURVES
    ]
    items = "".join(
        f"<li><a href='{escape(address)}'>{escape(label)}</a></li>"
        for address, label in [*open_, (VIEWS[PICTURE], TO_PICTURE)]
    )
    return {
        "story": escape(TITLE),
        "introduction": escape(INTRODUCTION),
        "next": f"<h2>{escape(NEXT_TITLE)}</h2><ul>{items}</ul>",
        "setting": escape(setting()),
    }


def story_data() -> dict[str, Any]:
    """Return the steps and the data for their drawings, with the colours of both themes."""
    steps = story(why())
    colours = {
        name: picture.picture_colours(Theme(dark=dark))
        for name, dark in (("light", False), ("dark", True))
    }
    return {"data": scroll.scroll_data(steps, dark=False, explore=EXPLORE), "colours": colours}
