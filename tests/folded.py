"""Many small cases in one test, and one in so many in the quick suite.

An item of pytest is collected by every worker and reported, which takes longer than what most cases
here compute. A test of at most 20 cases has `pytest.mark.parametrize` and pays for that; `each` is
for the tables, grids and catalogues of more cases, about 11,000 in all, which would make the suite
nearly twice as long. It hides no case: every one runs, the summary names the ones that fail, and
``pytest -k`` finds a test by the name of any of its cases.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def one_in(count: int, cases: Iterable[Any]) -> list[Any]:
    """Return the cases for `parametrize`: one in `count` is quick, and the others are slow."""
    marks = [pytest.mark.slow]
    return [
        case if i % count == 0 else pytest.param(*_values(case), marks=marks)
        for i, case in enumerate(cases)
    ]


def crossed(count: int, *lists: Iterable[Any]) -> list[Any]:
    """Return all combinations of the lists for `parametrize`: one in `count` of each row is quick,
    and the others are slow.
    """
    chosen = []
    for case in itertools.product(*(enumerate(values) for values in lists)):
        places, values = zip(*case, strict=True)
        chosen.append(pytest.param(*values, marks=[pytest.mark.slow] * (sum(places) % count != 0)))
    return chosen


def _values(case: Any) -> tuple[Any, ...]:
    """Return the values of a case as a tuple."""
    return case if isinstance(case, tuple) else (case,)


def each(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Callable[[Any], str] | Iterable[str] | None = None,
) -> Callable[[Test], Test]:
    """Run a test for each case, all of them, and report every one that fails.

    The arguments are those of ``pytest.mark.parametrize``, and the decorator can be stacked like
    it. Cases share the fixtures of the one test, so that it is for tests that have none. The error
    of a failed case bears its values, and the error of them all, which pytest's summary prints,
    bears their names.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    case_list = list(cases)
    if not case_list:
        raise ValueError(f"no case of {', '.join(keys)}")
    case_names = (
        [ids(case) for case in case_list] if callable(ids) else list(ids or map(repr, case_list))
    )

    def fold(test: Test) -> Test:
        """Return the test of all cases, which takes only fixtures."""
        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in keys]
        if len(left) + len(keys) != len(signature.parameters):
            raise ValueError(f"{test.__name__} does not take {', '.join(keys)}")

        @wraps(test)
        def run_every_case(**fixtures: Any) -> None:
            """Run the test on each case, and raise all failures together."""
            failures: list[BaseException] = []
            failed_names: list[str] = []
            for case, name in zip(case_list, case_names, strict=True):
                values = case if len(keys) > 1 else (case,)
                try:  # Failures are collected and raised together below.
                    test(**fixtures, **dict(zip(keys, values, strict=True)))
                except (Exception, BaseExceptionGroup, pytest.fail.Exception) as failure:  # noqa: BLE001
                    failure.add_note(f"where {', '.join(keys)} = {name}")
                    failures.append(failure)
                    failed_names.append(name)
            if failures:
                summary = f"{len(failures)} of {len(case_list)} fail: {'; '.join(failed_names)}"
                raise BaseExceptionGroup(summary, failures)

        # The names by which `pytest -k` finds the test: its own name, and the names of its cases.
        run_every_case.__dict__.update(dict.fromkeys((f"case {name}" for name in case_names), True))
        run_every_case.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run_every_case

    return fold
