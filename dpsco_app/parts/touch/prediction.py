"""A prediction that is asked for, drawn into a figure, and met there by the measurement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpsco_app.parts.figure_export import PAGE
from dpsco_app.parts.look import CRIMSON, Look
from dpsco_app.parts.touch.modules import component

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What the browser draws."""

    question: str
    # every answer in words, and where it stands in the figure
    texts: Sequence[str]
    places: Sequence[Point]
    figure: str  # the name of the figure's place
    chosen: int | None = None  # the answer that was given; nothing is chosen at first
    upright: bool = False  # whether it is read on the horizontal axis
    start: Point | None = None  # where the line to the prediction begins
    # what has been measured, trial by trial
    trials: Sequence[Point] = ()
    measured: tuple[str, Point] | None = None
    # the number of the run, if it has just ended: its trials land one after the other
    fresh: int = 0


def draw_prediction(asked: Prediction, key: str, on_answer: Callable[[], None]) -> None:
    """Draw the question and its slider, and the handle in the figure.

    The number of the answer is ``st.session_state[key]["answer"]``.
    """
    dark = st.context.theme.type == "dark"
    component("prediction", "prediction.css")(
        key=key,
        data=prediction_data(asked, Look(dark=dark)),
        on_answer_change=on_answer,
        height="content",
    )


def prediction_data(asked: Prediction, look: Look) -> dict[str, Any]:
    """Return what the browser draws from, as plain numbers and lists."""
    measured = asked.measured and {"text": asked.measured[0], "at": list(asked.measured[1])}
    return {
        "question": asked.question,
        "texts": list(asked.texts),
        "places": [list(place) for place in asked.places],
        "figure": asked.figure,
        "chosen": asked.chosen,
        "upright": asked.upright,
        "start": asked.start and list(asked.start),
        "trials": [list(trial) for trial in asked.trials],
        "measured": measured,
        "fresh": asked.fresh,
        "colours": {
            "you": look.colour(CRIMSON),
            "measured": look.ink,
            "page": look.colour(PAGE),
        },
    }
