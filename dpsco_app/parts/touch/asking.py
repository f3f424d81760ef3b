"""Questions that are answered in a figure: first a prediction is drawn, then the measurement."""

from collections.abc import Callable, Mapping
from typing import Any

from dpsco_app.parts.touch.components import component


def draw_question(
    key: str,
    on_answer: Callable[[], None],
    colours: Mapping[str, str],
    **data: Any,
) -> None:
    """Draw a question that a visitor answers by dragging a handle in a figure.

    The index of the answer is ``st.session_state[key]['answer']``. `colours` has those of `you`
    (the prediction), of `measured` values and of the `page`. The browser reads from `data`: the
    `figure` and the `question`; the `texts` of all answers and their `places` in the figure;
    `chosen`, the index of the given answer, if any; `upright`, whether it is read on the horizontal
    axis; `start`, where the line to it begins; `measured`, the measured answer in words and its
    place; `trials`, the measured (x, y) of each trial; and `fresh`, the number of a run that has
    just ended, whose trials are drawn one after another.
    """
    component("prediction", "prediction.css")(
        key=key,
        data=data | {"colours": dict(colours)},
        on_answer_change=on_answer,
        height="content",
    )


def draw_choices(key: str, on_choice: Callable[[], None], **data: Any) -> None:
    """Let a click in a figure choose a point; ``st.session_state[key]['choice']`` is its number.

    `data` are the `figure`, the `places` of the points, the number of the `chosen` point, if any,
    and the `colour` of the ring around it.
    """
    component("choices", html="")(
        key=key, data=data, on_choice_change=on_choice, width="content", height="content"
    )


def to_the_top(step: str, run: str) -> None:
    """Scroll the page up when `step` changes; Ctrl+Enter on a choice presses a button.

    `run` is the CSS selector of this button.
    """
    component("top", html="")(
        key="to_the_top", data={"step": step, "run": run}, width="content", height=1
    )
