"""The dashboard's limits from the environment, and the last value of a thread."""

from __future__ import annotations

import threading

import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD, changed
from dpsco_core.base.thread_cache import LastOfThread


def test_the_environment_changes_only_the_limits_that_it_names() -> None:
    limits = changed(DASHBOARD, "seconds=30, n=200000")
    assert (limits.seconds, limits.n) == (30, 200_000)
    assert (limits.d, limits.cells, limits.where) == (DASHBOARD.d, DASHBOARD.cells, DASHBOARD.where)
    assert changed(DASHBOARD, "") == DASHBOARD


@pytest.mark.parametrize(
    "text", ["n", "n=", "n=0", "n=-1", "n=1.5", "n=²", "n=9999999999", "where=1", "d=100001", "x=1"]
)
def test_an_invalid_limit_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^DPSCO_LIMITS must be"):
        changed(DASHBOARD, text)


def test_threads_that_take_turns_make_each_value_once() -> None:
    calls: list[tuple[str, int]] = []
    turn = threading.Barrier(2, timeout=30)
    double = LastOfThread(lambda x: calls.append((threading.current_thread().name, x)) or 2 * x)
    answers: dict[int, list[int]] = {}

    def work(x: int) -> None:
        """Ask for the double of x five times, in turn with the other threads."""
        answers[x] = []
        for _ in range(5):
            turn.wait()
            answers[x].append(double(x))

    threads = [threading.Thread(target=work, args=(x,), name=str(x)) for x in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {1: [2] * 5, 2: [4] * 5}
    assert sorted(calls) == [("1", 1), ("2", 2)]


def test_the_last_value_is_dropped_before_the_next_is_computed() -> None:
    cached_values: list[object] = []
    cached_function = LastOfThread(
        lambda x: cached_values.append(cached_function._cache.value) or x
    )
    cached_function(1)
    cached_function(2)
    assert cached_values == [None, None]
    cached_function.cache_clear()
    cached_function(2)
    assert len(cached_values) == 3
