"""What a figure is asked and told by hand: questions, a handle on an axis, the parts of bounds."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import streamlit as st

from dpsco_app.parts.export import PAGE
from dpsco_app.parts.look import CRIMSON, Look
from dpsco_app.parts.touch.modules import component

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question about the figure of the place `figure`."""

    figure: str
    chosen: int | None = None  # the number of the answer that was given; none at first
    # what has been measured, trial by trial: (x, y), or with the colour of what it is of
    trials: Sequence[Point | tuple[float, float, str]] = ()
    # the number of the run, if it has just ended: its trials land one after the other
    fresh: int = 0


@dataclass(frozen=True, kw_only=True)
class Prediction(Asked):
    """A number, by a handle in the figure or by a slider."""

    question: str
    # every answer in words, and where it stands in the figure
    texts: Sequence[str]
    places: Sequence[Point]
    upright: bool = False  # whether it is read on the horizontal axis
    start: Point | None = None  # where the line to the prediction begins
    measured: tuple[str, Point] | None = None


@dataclass(frozen=True, kw_only=True)
class StandingAnswer:
    """An answer in words, and its shape: a mark at one point, or a line through several.

    `band`: whether it is all that is between the first and the second point's x.
    """

    text: str
    points: Sequence[Point]
    band: bool = False


@dataclass(frozen=True, kw_only=True)
class StandingChoice(Asked):
    """Answers that stand in the figure, where one is clicked; nothing is once it is `done`."""

    answers: Sequence[StandingAnswer]
    done: bool = False


def draw_question(
    asked: Asked, kind: Literal["prediction", "choice"], key: str, on_answer: Callable[[], None]
) -> None:
    """Draw the question, and into the figure how it is answered.

    The number of the answer is ``st.session_state[key]["answer"]``.
    """
    look = Look(dark=st.context.theme.type == "dark")
    colours = {"you": look.colour(CRIMSON), "measured": look.ink, "page": look.colour(PAGE)}
    style = "prediction.css" if kind == "prediction" else "hand.css"
    component(kind, style)(
        key=key,
        data=asdict(asked) | {"colours": colours},
        on_answer_change=on_answer,
        height="content",
    )


@dataclass(frozen=True, kw_only=True)
class Handle:
    """What is chosen on an axis."""

    symbol: str  # what the axis is called
    field: str  # which field it sets
    # where the handle can be put, and the same in words
    values: Sequence[float]
    texts: Sequence[str]
    at: int  # which of them is chosen now


def draw_handle(
    asked: Handle, key: str, ink: str, page: str, figure: str, on_chosen: Callable[[], None]
) -> None:
    """Draw the handle into the figure whose place is `figure`, and how it is moved below.

    What it is let go at is ``st.session_state[key]["chosen"]``: field and value.
    """
    component("hand", "hand.css")(
        key=key,
        data=asdict(asked) | {"figure": figure, "colours": {"ink": ink, "page": page}},
        on_chosen_change=on_chosen,
        height="content",
    )


@dataclass(frozen=True, kw_only=True)
class PartOf:
    """A part of a bound: where it is the largest, as (from, to) on the axis, and that in words."""

    name: str
    stretches: Sequence[tuple[float, float]]
    says: str


@dataclass(frozen=True, kw_only=True)
class BoundParts:
    """A line of the figure, as (x, error) by points, with the parts that it has."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]
    parts: Sequence[PartOf]


def draw_parts(bounds: Sequence[BoundParts], key: str, page: str, figure: str) -> None:
    """Draw a row of parts for every bound; they light up in the figure of the place `figure`."""
    component("parts", "parts.css")(
        key=key,
        data={"figure": figure, "page": page, "bounds": [asdict(bound) for bound in bounds]},
        height="content",
    )


def to_the_top(step: str, run: str) -> None:
    """Scroll up when `step` changes; Ctrl+Enter on a choice presses the button of `run`."""
    component("top", html="")(
        key="to_the_top", data={"step": step, "run": run}, width="content", height=1
    )
