"""Ctrl-C finds no lock taken: what Python's futures and queues have begun, they finish."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import closing
from typing import Any

import pytest

from dpsco_core.base.dispatch import finished, uninterrupted

DEFAULT_HANDLER = signal.getsignal(signal.SIGINT)


def press_ctrl_c() -> None:
    """Send this process the signal of Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def interrupt_before(action: Callable[[], object]) -> None:
    """Press Ctrl-C while interrupts are held back, and then act."""
    with uninterrupted():
        press_ctrl_c()
        action()


def failing() -> None:
    """Raise a ValueError while interrupts are held back."""
    with uninterrupted():
        raise ValueError("bad")


def test_ctrl_c_waits_for_the_end_of_the_block() -> None:
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupt_before(lambda: reached.append("the end"))
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is DEFAULT_HANDLER


def test_ctrl_c_replaces_an_error_and_the_old_handler_is_restored() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        interrupt_before(failing)
    assert isinstance(caught.value.__context__, ValueError)
    assert signal.getsignal(signal.SIGINT) is DEFAULT_HANDLER
    with pytest.raises(ValueError, match="bad"):
        failing()
    assert signal.getsignal(signal.SIGINT) is DEFAULT_HANDLER


def test_other_threads_and_other_signals_are_not_affected() -> None:
    frames: list[Any] = []

    def look() -> None:
        """Record the handler of Ctrl-C where interrupts are held back."""
        with uninterrupted():
            frames.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert frames == [DEFAULT_HANDLER]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with uninterrupted():
            press_ctrl_c()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, DEFAULT_HANDLER)


class Pressed(Future[int]):
    """A future during one of whose calls somebody presses Ctrl-C."""

    def __init__(self, step: str) -> None:
        """Make a future that presses Ctrl-C at a step."""
        super().__init__()
        self.step = step
        self.whole: list[str] = []

    def _note(self, name: str, call: Callable[[], Any]) -> Any:
        """Make a call and record its name; press Ctrl-C before it if it is the step to
        interrupt.
        """
        if name == self.step:
            self.step = ""
            press_ctrl_c()
        result = call()
        self.whole.append(name)
        return result

    def cancel(self) -> bool:
        """Cancel the future, and record the call."""
        return bool(self._note("cancel", super().cancel))

    def result(self, timeout: float | None = None) -> int:
        """Return the result, and record the call."""
        return int(self._note("result", lambda: super(Pressed, self).result(timeout)))

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return the exception, and record the call."""
        error: BaseException | None = self._note(
            "exception", lambda: super(Pressed, self).exception(timeout)
        )
        return error

    def add_done_callback(self, fn: Callable[[Future[int]], object]) -> None:
        """Add a callback, and record the call."""
        self._note("callback", lambda: super(Pressed, self).add_done_callback(fn))


class AtOnce(Executor):
    """Runs the first call at once and never the second."""

    def __init__(self, step: str) -> None:
        """Make an executor whose futures press Ctrl-C at a step."""
        self.step = step
        self.submitted: list[Pressed] = []

    def submit(self, fn: Callable[..., int], /, *args: Any, **kwargs: Any) -> Future[int]:
        """Do the first call at once, and let the others wait."""
        if self.step == "submit" and not self.submitted:
            press_ctrl_c()
        future = Pressed(self.step)
        if not self.submitted:
            future.set_result(fn(*args, **kwargs))
        self.submitted.append(future)
        return future


def work(executor: Executor, step: str) -> None:
    """Run two calls on an executor, and stop reading their results after the first."""
    todo = iter([("a", 2), ("b", 3)])
    with closing(finished(executor, abs, lambda: next(todo, None), most_calls=2)) as results:
        next(results)
        assert step == "cancel"


@pytest.mark.parametrize("step", ["submit", "callback", "exception", "result", "cancel"])
def test_a_call_of_the_executor_is_finished_before_ctrl_c_ends_the_work(step: str) -> None:
    executor = AtOnce(step)
    with pytest.raises(KeyboardInterrupt):
        work(executor, step)
    assert step == "submit" or any(step in future.whole for future in executor.submitted)
    assert all("callback" in future.whole and future.done() for future in executor.submitted)
    assert signal.getsignal(signal.SIGINT) is DEFAULT_HANDLER
