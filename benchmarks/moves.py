"""What a move of a slider on Explore takes: calls of functions of the library and the dashboard.

`python -m benchmarks.moves [MOST]` opens Explore without a browser, and counts one move to a place
whose runs are stored and whose bounds are new, and the same move again, where its bounds are known.
No cell runs in either, and the page runs once.
Printed are the calls, entries of Python functions of dpsco_core and dpsco_app (comprehensions and
each resumption of a generator among them), and how many different functions they entered. With MOST
come the functions that were entered most often.
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

from dpsco_app.live import running
from dpsco_app.pages.explore import page as explore
from dpsco_app.pages.explore import runs
from dpsco_app.parts.controls import PREFIX
from dpsco_app.shell.window import arrive
from dpsco_core.runs.study import run_cell

ROOT = Path(__file__).resolve().parents[1]
OURS = (str(ROOT / "dpsco_core"), str(ROOT / "dpsco_app"))
FIELD, HERE, THERE, ELSEWHERE = "epsilon", 1.0, 2.0, 0.5


def counted(act: Callable[[], object]) -> Counter[CodeType]:
    """Return how often each function of ours was entered, in any thread that starts meanwhile."""
    calls: Counter[CodeType] = Counter()

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            calls[frame.f_code] += 1

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def store(page: AppTest, value: float) -> None:
    """Run what the page will show at a value, without the page: its bounds stay new."""
    for part in page.session_state["result"].parts:
        there = running.Result(replace(part.scenario, **{FIELD: value}))
        for _ in running.run(there):
            pass


def moved(page: AppTest, value: float) -> Counter[CodeType]:
    """Move the slider and run the page to its end; return the calls."""
    slider = page.select_slider(key=PREFIX + FIELD).set_value(value)
    calls = counted(slider.run)
    assert not page.exception, page.exception[0].message
    assert page.session_state["result"].complete
    return calls


def told(code: CodeType) -> str:
    place = Path(code.co_filename).relative_to(ROOT)
    return f"{place}:{code.co_firstlineno} {code.co_qualname}"


def main(most: int) -> None:
    """Print the calls of a move where bounds are new, and of one where they are known."""
    explore.HOLD_BACK_SECONDS = explore.QUIET_SECONDS = 0.0
    explore.LIVE_SECONDS = runs.BESIDE_SECONDS = math.inf
    running.HEAD_START_SECONDS = running.AT_ONCE_SECONDS = math.inf
    explore.when_there = lambda: (arrive(), st.rerun())
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600).run()
    for value in (ELSEWHERE, HERE):
        moved(page, value)
    store(page, THERE)
    new = moved(page, THERE)
    moved(page, HERE)
    for name, calls in (("bounds new", new), ("bounds known", moved(page, THERE))):
        assert run_cell.__code__ not in calls, "a cell was run"
        print(f"{name:14} {calls.total():8,} calls of {len(calls):5,} functions")
        for code, count in calls.most_common(most):
            print(f"{count:8,}  {told(code)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
