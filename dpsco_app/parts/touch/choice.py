"""Answers that stand in a figure: one is chosen there by a click, and met by the measurement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from dpsco_app.parts.figure_export import PAGE
from dpsco_app.parts.look import CRIMSON, Look
from dpsco_app.parts.touch.modules import component

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class StandingAnswer:
    """An answer in words, and its shape: a mark at one point, or a line through several.

    `band`: whether it is all that is between the first and the second point's x.
    """

    text: str
    points: Sequence[Point]
    band: bool = False


@dataclass(frozen=True, kw_only=True)
class StandingChoice:
    """What the browser draws into the figure of the place `figure`."""

    answers: Sequence[StandingAnswer]
    figure: str
    chosen: int | None = None
    done: bool = False  # whether it is measured: nothing is chosen any more
    # what has been measured, trial by trial, each with the colour of what it is of
    trials: Sequence[tuple[float, float, str]] = ()
    # the number of the run, if it has just ended: its trials land one after the other
    fresh: int = 0


def draw_choice(asked: StandingChoice, key: str, on_answer: Callable[[], None]) -> None:
    """Draw the answers into the figure.

    The number of the one that is clicked is ``st.session_state[key]["answer"]``.
    """
    look = Look(dark=st.context.theme.type == "dark")
    colours = {"you": look.colour(CRIMSON), "measured": look.ink, "page": look.colour(PAGE)}
    component("choice", "hand.css")(
        key=key,
        data=asdict(asked) | {"colours": colours},
        on_answer_change=on_answer,
        height="content",
    )
