"""A text that scrolls beside the picture of a private mean; each step sets the picture's state."""

from dataclasses import dataclass
from typing import Any, Literal

from dpsco_app.parts.touch.alone import page_of
from dpsco_app.parts.touch.modules import text
from dpsco_app.parts.touch.picture import picture_data
from dpsco_core.scenario import Scenario

STYLES = ("picture.css", "scroll.css")


@dataclass(frozen=True, kw_only=True)
class PictureState:
    sample: int = 0  # The index of the scenario that is shown.
    view: float  # Half the width of the shown plane of records.
    zoom: float = 1.0  # The magnification of the plane of averages.
    # The clip radius; None for no clipping and no noise.
    radius: float | None = None
    moved: tuple[float, float] | Literal["worst"] | None = None  # The place of the changed record.
    floor: bool = False  # Whether the proven limit is drawn with the prices.
    # The parts that are shown, by `data-part` in picture.html; "cloud" is the noise.
    parts: tuple[str, ...] = ()
    main: str = "records"  # The one part that a phone shows.


@dataclass(frozen=True, kw_only=True)
class ScrollStep:
    """A step: its title, its paragraphs as HTML, and the picture's state beside them."""

    title: str
    text: tuple[str, ...]
    state: PictureState
    # The links below the text, each with its label and its query for Explore.
    leads: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class ScrollStory:
    """The steps, the scenarios whose records they show, and the price of privacy at each."""

    scenarios: tuple[Scenario, ...]
    steps: tuple[ScrollStep, ...]
    # The "sizes"; and under "lines", for each scenario's p, the worst-case "prices" and "floors" at
    # these sizes.
    prices: dict[str, Any]


def markup() -> str:
    """Return the HTML of the story, with the picture in it."""
    return text("scroll.html").replace("<!-- picture -->", text("picture.html"))


def scroll_data(story: ScrollStory, *, dark: bool, explore: str = "") -> dict[str, Any]:
    """Return the data with which the browser draws a story, as plain numbers, texts and lists.

    `explore` is the address of Explore; without it the steps have no links.
    """
    # Non-breaking spaces keep a number on the line of its sign.
    signs = " = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
    steps = [
        {
            "title": step.title,
            "text": [paragraph.replace(*signs) for paragraph in step.text],
            "state": vars(step.state),
            "leads": [(label, f"{explore}?{query}") for label, query in step.leads if explore],
        }
        for step in story.steps
    ]
    return picture_data(*story.scenarios, dark=dark) | {"steps": steps, "prices": story.prices}


def scroll_page(title: str, story: ScrollStory, *, dark: bool = False) -> str:
    """Return a story with its picture as an HTML page that contacts no host."""
    return page_of(title, STYLES, markup(), "scroll.js", scroll_data(story, dark=dark), dark=dark)
