"""How the caller of a cell can end it between two steps.

A cell may take seconds. Methods call `between_steps` in their loops, and a caller that wants to be
asked there runs the cell under `asked_between_steps`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_QUESTION: ContextVar[Callable[[], None] | None] = ContextVar("asked", default=None)
# Whether the caller is being asked whether to go on; this stays true if the caller answers with an
# exception.
_IS_ASKING: ContextVar[bool] = ContextVar("is_asked", default=False)


@contextmanager
def asked_between_steps(
    ask: Callable[[], None],  # a function that raises an exception to end the cell
) -> Iterator[None]:
    """Call `ask` between the steps of the code in this block, in this thread."""
    question_token, asking_token = _QUESTION.set(ask), _IS_ASKING.set(False)
    try:
        yield
    finally:
        _QUESTION.reset(question_token)
        _IS_ASKING.reset(asking_token)


def between_steps() -> None:
    """Let the caller of `asked_between_steps` end the cell here, by an exception."""
    ask = _QUESTION.get()
    if ask is not None:
        _IS_ASKING.set(True)
        ask()
        _IS_ASKING.set(False)


def is_ended() -> bool:
    """Return whether the caller of `asked_between_steps` has ended the cell of this thread."""
    return _IS_ASKING.get()
