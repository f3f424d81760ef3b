"""How a place that runs a cell can end it between two steps.

A cell may take seconds. Methods call `between_steps` in their loops; a place that wants to be asked
there runs the cell under `asked_between_steps`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ASKED: ContextVar[Callable[[], None] | None] = ContextVar("asked", default=None)
# Whether a place is asked now; it stays so where the answer is an exception.
_IS_ASKED: ContextVar[bool] = ContextVar("is_asked", default=False)


@contextmanager
def asked_between_steps(
    ask: Callable[[], None],  # raises an exception to end what runs
) -> Iterator[None]:
    """Call `ask` between the steps of what runs in this block, in this thread."""
    before, was_asked = _ASKED.set(ask), _IS_ASKED.set(False)
    try:
        yield
    finally:
        _ASKED.reset(before)
        _IS_ASKED.reset(was_asked)


def between_steps() -> None:
    """Let the place that runs this end it here."""
    ask = _ASKED.get()
    if ask is not None:
        _IS_ASKED.set(True)
        ask()
        _IS_ASKED.set(False)


def is_ended() -> bool:
    """Whether the place has ended what runs in this block, in this thread."""
    return _IS_ASKED.get()
