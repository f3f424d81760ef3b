"""A cache of the last value of a function, separate for each thread.

Visitors of the dashboard run their studies in threads of one process, and take turns.
"""

import threading
from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class LastOfThread(Generic[P, T]):
    """A function of hashable arguments that caches its last value in each thread.

    The cached value is freed before the next one is computed, and with its thread.

    Examples
    --------
    >>> calls = []
    >>> double = LastOfThread(lambda x: calls.append(x) or 2 * x)
    >>> double(3), double(3), double(4), double(3), calls
    (6, 6, 8, 6, [3, 4, 3])
    """

    def __init__(self, function: Callable[P, T]) -> None:
        """Wrap a function, with an empty cache for every thread."""
        self._function = function
        self._cache = threading.local()
        update_wrapper(self, function)

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> T:
        """Return the function's value, cached if this thread's last arguments were equal."""
        key: Hashable = (arguments, tuple(sorted(keywords.items())))
        cached: tuple[Hashable, T] | None = getattr(self._cache, "value", None)
        if cached is None or cached[0] != key:
            cached = self._cache.value = None
            cached = self._cache.value = (key, self._function(*arguments, **keywords))
        return cached[1]

    def cache_clear(self) -> None:
        """Forget the value that is cached for this thread."""
        self._cache.value = None
