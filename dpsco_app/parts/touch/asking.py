"""Questions that a figure answers: a prediction is drawn into it, and met by the measurement."""

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
    figure: str
    chosen: int | None = None  # the number of the answer that was given; none at first
    # what has been measured, trial by trial: (x, y), or with the colour of what it is of
    trials: Sequence[Point | tuple[float, float, str]] = ()
    # the number of the run, if it has just ended: its trials land one after the other
    fresh: int = 0


@dataclass(frozen=True, kw_only=True)
class Prediction(Asked):
    question: str
    # every answer in words, and where it stands in the figure
    texts: Sequence[str]
    places: Sequence[Point]
    upright: bool = False  # whether it is read on the horizontal axis
    start: Point | None = None  # where the line to the prediction begins
    measured: tuple[str, Point] | None = None


@dataclass(frozen=True, kw_only=True)
class StandingAnswer:
    """An answer in words, and its shape: a mark at one point, or a line through several."""

    text: str
    points: Sequence[Point]
    band: bool = False  # whether it is all that is between the first and the second point's x


@dataclass(frozen=True, kw_only=True)
class StandingChoice(Asked):
    """Answers that stand in the figure, where one is clicked; nothing is once it is `done`."""

    answers: Sequence[StandingAnswer]
    done: bool = False


def draw_question(
    asked: Asked, kind: Literal["prediction", "choice"], key: str, on_answer: Callable[[], None]
) -> None:
    """Draw the question; the answer's number is ``st.session_state[key]['answer']``."""
    look = Look(dark=st.context.theme.type == "dark")
    colours = {"you": look.colour(CRIMSON), "measured": look.ink, "page": look.colour(PAGE)}
    style = "prediction.css" if kind == "prediction" else "hand.css"
    component(kind, style)(
        key=key,
        data=asdict(asked) | {"colours": colours},
        on_answer_change=on_answer,
        height="content",
    )


def to_the_top(step: str, run: str) -> None:
    """Scroll up when `step` changes; Ctrl+Enter on a choice presses the button of `run`."""
    component("top", html="")(
        key="to_the_top", data={"step": step, "run": run}, width="content", height=1
    )
