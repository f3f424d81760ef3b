"""A handle on the axis of a figure, which sets the value that is chosen there."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from dpsco_app.parts.touch.modules import component


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
