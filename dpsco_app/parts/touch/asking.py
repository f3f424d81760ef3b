"""Questions that are answered in a figure: a prediction is drawn, and then the measurement."""

from collections.abc import Callable, Mapping
from typing import Any

from dpsco_app.parts.touch.components import component


def draw_question(
    key: str,
    on_answer: Callable[[], None],
    colours: Mapping[str, str],  # `you`, what has been `measured`, and the `page` have one each
    # What the browser reads: the `figure` and the `question`; every answer in words, `texts`, and
    # where it stands in the figure, `places`; `chosen`, the number of the answer that was given, if
    # one was; `upright`, whether it is read on the horizontal axis; `start`, where the line to it
    # begins; `measured`, the answer in words and its place; `trials`, what has been measured, trial
    # by trial: (x, y); `fresh`, the number of the run, if it has just ended: its trials land one
    # after the other.
    **data: Any,
) -> None:
    """Draw the question; the answer's number is ``st.session_state[key]['answer']``."""
    component("prediction", "prediction.css")(
        key=key,
        data=data | {"colours": dict(colours)},
        on_answer_change=on_answer,
        height="content",
    )


def draw_choices(key: str, on_choice: Callable[[], None], **data: Any) -> None:
    """Let a click in a figure choose a point; ``st.session_state[key]['choice']`` is its number.

    `data` are the `figure`, the `places` of the points, the number that is `chosen`, if there is
    one, and the `colour` of the ring around it.
    """
    component("choices", html="")(
        key=key, data=data, on_choice_change=on_choice, width="content", height="content"
    )


def to_the_top(step: str, run: str) -> None:
    """Scroll up when `step` changes; Ctrl+Enter on a choice presses the button of `run`."""
    component("top", html="")(
        key="to_the_top", data={"step": step, "run": run}, width="content", height=1
    )
