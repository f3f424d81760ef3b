"""The last value of a function, kept for each thread.

Visitors of the dashboard run their studies in threads of one process, and take turns.
"""

import threading
from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class LastOfThread(Generic[P, T]):
    """A function of hashable arguments that keeps its last value in each thread.

    The last value goes before the next one is made. That of a thread goes with the thread.

    Examples
    --------
    >>> calls = []
    >>> double = LastOfThread(lambda x: calls.append(x) or 2 * x)
    >>> double(3), double(3), double(4), double(3), calls
    (6, 6, 8, 6, [3, 4, 3])
    """

    def __init__(self, function: Callable[P, T]) -> None:
        self._function = function
        self._kept = threading.local()
        update_wrapper(self, function)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> T:
        key: Hashable = (arguments, tuple(sorted(named.items())))
        last: tuple[Hashable, T] | None = getattr(self._kept, "last", None)
        if last is None or last[0] != key:
            last = self._kept.last = None
            last = self._kept.last = (key, self._function(*arguments, **named))
        return last[1]

    def cache_clear(self) -> None:
        self._kept.last = None
