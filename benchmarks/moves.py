"""What a move of a slider on Explore takes: calls of functions of the library and the dashboard.

`python -m benchmarks.moves [MOST]` opens Explore without a browser, and counts one move to a place
where nothing has run, one to a place whose runs are known and whose bounds are new, and the same
again, where its bounds are known.
Printed are the runs of the page, the calls, entries of Python functions of dpsco_core and dpsco_app
(comprehensions and each resumption of a generator among them), how many different functions with a
name they entered, in how many files, and how many of these are the dashboard's own. With MOST come
the functions that were entered most often.
"""

from __future__ import annotations

import math
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType

import streamlit as st
from streamlit.testing.v1 import AppTest

from dpsco_app.pages.explore import page as explore
from dpsco_app.parts.controls import PREFIX
from dpsco_app.session import curves, screen
from dpsco_app.session.result import Growth, Result
from dpsco_app.session.session import Session
from dpsco_app.shell import visit
from dpsco_app.shell.window import arrive
from dpsco_core.runs.study import run_cell

ROOT = Path(__file__).resolve().parents[1]
OWN_FOLDERS = (str(ROOT / "dpsco_core"), str(ROOT / "dpsco_app"))
FIELD, START_VALUE, NEW_VALUE, OTHER_VALUE, FAR_VALUE = "epsilon", 1.0, 2.0, 0.5, 5.0


def count_calls(act: Callable[[], object]) -> Counter[CodeType]:
    """Run `act`; return how often it called each function of the project, in any thread."""
    calls: Counter[CodeType] = Counter()

    def profile(frame: FrameType, event: str, _: object) -> None:
        """Count the calls of the project's own functions."""
        if event == "call" and frame.f_code.co_filename.startswith(OWN_FOLDERS):
            calls[frame.f_code] += 1

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def session_of(page: AppTest) -> Session:
    """Return the session of the visit that a page belongs to."""
    session: Session = page.session_state[visit.SESSION]
    return session


def run_without_page(page: AppTest, value: float) -> None:
    """Run the page's study at another epsilon, outside the page, which stores only its cells."""
    result = session_of(page).curves.result
    assert result is not None
    for scenario in result.scenarios:
        there = Result(replace(scenario, **{FIELD: value}))
        Growth(there).work(lambda: False)


def count_calls_of_move(page: AppTest, value: float) -> Counter[CodeType]:
    """Move the slider of epsilon, run the page to its end, and count the calls by function."""
    slider = page.select_slider(key=PREFIX + FIELD).set_value(value)
    calls = count_calls(slider.run)
    assert not page.exception, page.exception[0].message
    assert session_of(page).screen(curves.Theme()).is_complete
    return calls


def place_of(code: CodeType) -> str:
    """Return the file of some code, relative to the repository."""
    return Path(code.co_filename).relative_to(ROOT).as_posix()


def print_calls(name: str, calls: Counter[CodeType], limit: int) -> None:
    """Print how many functions a move called, and the `limit` functions with the most calls."""
    named_calls = [code for code in calls if not code.co_name.startswith("<")]
    own_calls = [code for code in named_calls if place_of(code).startswith("dpsco_app")]
    files, own_files = (
        len({place_of(code) for code in codes}) for codes in (named_calls, own_calls)
    )
    print(
        f"{name:13} {calls[explore.page.__code__]} page runs, {calls.total():8,} calls of "
        f"{len(named_calls):4} named functions in {files:3} files; "
        f"the dashboard's own: {len(own_calls):3} in {own_files:2}"
    )
    for code, count in calls.most_common(limit):
        print(f"{count:8,}  {place_of(code)}:{code.co_firstlineno} {code.co_qualname}")


def main(limit: int) -> None:
    """Print the calls of three moves: to a new run, to new bounds, and to what is all stored."""
    explore.HOLD_BACK_SECONDS = explore.QUIET_SECONDS = 0.0
    screen.LIVE_SECONDS = curves.BESIDE_SECONDS = math.inf
    explore.when_there = lambda: (arrive(), st.rerun())
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600).run()
    for value in (OTHER_VALUE, START_VALUE):
        count_calls_of_move(page, value)
    print_calls("new runs", count_calls_of_move(page, FAR_VALUE), limit)
    count_calls_of_move(page, START_VALUE)
    run_without_page(page, NEW_VALUE)
    new = count_calls_of_move(page, NEW_VALUE)
    count_calls_of_move(page, START_VALUE)
    for name, calls in (("new bounds", new), ("all known", count_calls_of_move(page, NEW_VALUE))):
        assert run_cell.__code__ not in calls, "a cell was run"
        print_calls(name, calls, limit)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
