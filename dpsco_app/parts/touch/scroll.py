"""A text that scrolls past the picture of a private mean; each step sets the picture's state."""

from dataclasses import dataclass
from typing import Any, Literal

from dpsco_app.parts.touch.alone import page_of
from dpsco_app.parts.touch.modules import text
from dpsco_app.parts.touch.picture import picture_data
from dpsco_core.scenario import Scenario

STYLES = ("picture.css", "scroll.css")


@dataclass(frozen=True, kw_only=True)
class PictureState:
    sample: int = 0  # the index of the scenario that is shown
    view: float  # half the width of the plane of the records
    zoom: float = 1.0  # how many times the plane of the averages is magnified further
    # the clip radius; without one nothing is clipped, and there is no noise
    radius: float | None = None
    moved: tuple[float, float] | Literal["worst"] | None = None  # where the changed record lies
    floor: bool = False  # whether the proven limit is drawn into the prices
    # what is shown, by the names of `data-part` in picture.html; "cloud": the noise
    parts: tuple[str, ...] = ()
    main: str = "records"  # the one figure that a phone shows


@dataclass(frozen=True, kw_only=True)
class ScrollStep:
    """A step: its title, its paragraphs as HTML, and the state beside them."""

    title: str
    text: tuple[str, ...]
    state: PictureState
    leads: tuple[tuple[str, str], ...] = ()  # links below the text: label, and query of Explore


@dataclass(frozen=True, kw_only=True)
class ScrollStory:
    """The steps, the scenarios whose records they show, and what privacy costs at each."""

    scenarios: tuple[Scenario, ...]
    steps: tuple[ScrollStep, ...]
    # "sizes", and "lines": of each scenario p, the worst-case "prices" and "floors" at these sizes
    prices: dict[str, Any]


def markup() -> str:
    return text("scroll.html").replace("<!-- picture -->", text("picture.html"))


def scroll_data(story: ScrollStory, *, dark: bool, explore: str = "") -> dict[str, Any]:
    """Return what the browser draws from, as plain numbers, texts and lists.

    `explore` is the address of Explore; without one the steps lead nowhere.
    """
    signs = " = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"  # no line breaks before a number's sign
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
    """Return the steps and the picture as a page of its own, which asks no host."""
    return page_of(title, STYLES, markup(), "scroll.js", scroll_data(story, dark=dark), dark=dark)
