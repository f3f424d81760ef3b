"""`tests.folded`: no case of a folded test is lost, nor what it says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.folded import crossed, each, one_in


def quick(cases: list[Any]) -> list[Any]:
    """Return the values of the cases that are not slow."""
    marked = [(c.values, c.marks) if hasattr(c, "marks") else (c, ()) for c in cases]
    return [values for values, marks in marked if not marks]


def test_one_case_in_several_is_quick_and_no_case_is_lost() -> None:
    single = one_in(3, "abcdefg")
    assert len(single) == 7 and quick(single) == ["a", "d", "g"]
    pairs = one_in(2, [("a", 1), ("b", 2), ("c", 3)])
    assert quick(pairs) == [("a", 1), ("c", 3)] and pairs[1].values == ("b", 2)
    table = crossed(2, "abc", (1, 2))
    assert [case.values for case in table] == [(a, b) for a in "abc" for b in (1, 2)]
    assert quick(table) == [("a", 1), ("b", 2), ("c", 1)]
    assert quick(crossed(2, "ab", (1, 2), "x")) == [("a", 1, "x"), ("b", 2, "x")]


def test_every_case_runs_and_every_failure_bears_its_name() -> None:
    calls: list[tuple[int, str]] = []

    @each("a", (1, 2, 3))
    @each("b", ["x", "y"])
    def folded(a: int, b: str) -> None:
        """Record a call, and fail in some cases."""
        calls.append((a, b))
        if a == 2:
            # This case fails with an error of pytest, as no ValueError is raised.
            with pytest.raises(ValueError, match="4"):
                int("4")
        assert (a, b) != (3, "y")

    with pytest.raises(BaseExceptionGroup, match="2 of 3 fail: 2; 3") as caught:
        folded()
    assert calls == [(a, b) for a in (1, 2, 3) for b in ("x", "y")]
    second_group, third_group = caught.value.exceptions
    assert isinstance(second_group, BaseExceptionGroup) and isinstance(
        third_group, BaseExceptionGroup
    )
    assert [second_group.__notes__, third_group.__notes__] == [["where a = 2"], ["where a = 3"]]
    assert len(second_group.exceptions) == 2
    assert [e.__notes__ for e in third_group.exceptions] == [["where b = 'y'"]]


def test_several_names_take_the_values_of_a_case() -> None:
    calls = []

    @each("a, b", [(1, 2), (3, 4)])
    def folded(a: int, b: int) -> None:
        """Record a call."""
        calls.append((a, b))

    folded()
    assert calls == [(1, 2), (3, 4)]


def test_an_empty_list_of_cases_and_an_unknown_name_are_refused() -> None:
    with pytest.raises(ValueError, match="no case of a"):
        each("a", [])
    with pytest.raises(ValueError, match="does not take b"):
        each("b", [1])(lambda a: None)
