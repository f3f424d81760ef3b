"""Opening a stored study: it is drawn like a live run, and no file does harm."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.front.links import BASE
from dpsco_app.runs import stored
from dpsco_app.runs.stored import ENVIRONMENT, Shelf, require_showable, served_shelf
from dpsco_app.session.pace import Pace
from dpsco_app.shell.serve import offer_study
from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.runs.store import Store, key_of, outcome_text, with_sum
from dpsco_core.runs.study import Outcome, cells, run_cell, study
from dpsco_core.scenario import Scenario
from tests.app.pages import (
    check_page,
    first_figure,
    is_stale,
    open_page,
    press_button,
    shown_result,
    status_line,
)
from tests.app.pages import trace_names as names

SMALL = Scenario(
    methods=("mean.sample", "mean.clipped"), n=500, axis="n", grid=(500, 1000), trials=3, seed=5
)
# This study is too large for the dashboard; its outcomes are those of a smaller one.
LARGE = replace(SMALL, grid=(10**7, 10**8), trials=300)


@pytest.fixture(autouse=True)
def offer_no_file(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the server offer no results file, unless a test makes it offer one."""
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    yield
    stored._served_outcomes.cache_clear()


def write_results(path: Path, *scenarios: Scenario, leave_out: int = 0) -> Path:
    """Write the results of scenarios to a file, without their first `leave_out` cells.

    The outcomes of large scenarios are those of one small run per method.
    """
    with Store(path) as store:
        for scenario in scenarios:
            if scenario.grid[-1] <= 1000 and not leave_out:
                list(study(scenario, store=store))
                continue
            store.begin(scenario)
            for cell in list(cells(scenario))[leave_out:]:
                small = replace(cell, point=replace(cell.point, n=500), trial=0)
                outcome = OUTCOMES_BY_METHOD.setdefault(cell.method, run_cell(small))
                store.put(cell, replace(outcome, trial=cell.trial, x=cell.x))
    return path


OUTCOMES_BY_METHOD: dict[str, Outcome] = {}


def open_file(page: AppTest, file: bytes) -> AppTest:
    """Choose a file in the dialog, and press its button."""
    page.button(key="presets").click().run()
    page.file_uploader(key="study_file").set_value(("results.sqlite", file, "application/x"))
    page.button(key="presets").click().run()
    check_page(page)
    if any(b.key == "study_chosen" for b in page.button):
        page.button(key="study_chosen").click().run()
    return check_page(page)


def test_a_stored_study_is_drawn_with_its_bounds_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page()
    data = write_results(tmp_path / "r.sqlite", SMALL).read_bytes()

    def refuse(*args: Any) -> None:
        """Fail, since no cell may run."""
        raise AssertionError("a cell was run")

    with monkeypatch.context() as patched:
        patched.setattr("dpsco_app.session.result.outcome_of", refuse)
        open_file(page, data)
    assert [o.error for o in shown_result(page).outcomes] == [o.error for o in study(SMALL)]
    assert not is_stale(page) and status_line(page).startswith("Measured in 12 runs")
    live = open_page(**SMALL.to_query(BASE) | {"trials": "3"})
    assert names(first_figure(page)) == names(first_figure(live))
    assert page.query_params == live.query_params
    page.get_by_key("field_d").set_value(10).run()
    assert is_stale(page)


def test_missing_cells_of_a_file_can_be_run(tmp_path: Path) -> None:
    data = write_results(tmp_path / "r.sqlite", SMALL, leave_out=5).read_bytes()
    page = open_file(open_page(), data)
    assert not is_stale(page) and "Stopped at 7 of 12 runs" in status_line(page)
    press_button(page, "Run")
    run = shown_result(page)
    assert run.complete and len({(o.method, o.x, o.trial) for o in run.outcomes}) == 12
    fresh = {(o.method, o.x, o.trial): o.error for o in study(SMALL)}
    lacked = [(c.method, c.x, c.trial) for c in list(cells(SMALL))[:5]]
    errors = {(o.method, o.x, o.trial): o.error for o in run.outcomes}
    assert [errors[cell] for cell in lacked] == [fresh[cell] for cell in lacked]


def test_a_stored_study_above_the_limits_is_shown_read_only(tmp_path: Path) -> None:
    data = write_results(tmp_path / "r.sqlite", LARGE, leave_out=900).read_bytes()
    page = open_file(open_page(), data)
    assert not is_stale(page) and "Stored: 300 of 1,200 runs" in status_line(page)
    (run,) = [b for b in page.button if b.label == "Run"]
    assert run.disabled and "trials must be" in page.info[0].value
    assert "cannot be run here" in page.info[0].value and not page.error
    assert not is_stale(page.run()) and "trials" not in page.query_params
    page.get_by_key("field_trials").set_value(5).run()
    assert "n must be" in page.error[0].value and is_stale(page)


def test_the_server_offers_the_studies_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pareto_study = replace(SMALL, distribution="pareto", trials=2)
    path = write_results(tmp_path / "r.sqlite", SMALL, pareto_study)
    old_bytes = path.read_bytes()
    monkeypatch.setenv(ENVIRONMENT, "")
    offer_study(str(path))
    page = open_page()
    page.button(key="presets").click().run()
    study_menu = page.selectbox(key="study_served_which")
    assert len(study_menu.options) == 2
    page.button(key="presets").click()
    study_menu.set_value(
        next(i for i, text in enumerate(study_menu.options) if "Pareto" in text)
    ).run()
    page.button(key="study_served").click().run()
    assert shown_result(check_page(page)).scenario == pareto_study and status_line(page).startswith(
        "Measured in 8 runs"
    )
    assert path.read_bytes() == old_bytes


@pytest.mark.parametrize(
    ("count", "remark"), [(1, "another study of a version"), (3, "3 other studies of a version")]
)
def test_the_page_mentions_studies_of_other_versions_beside_those_it_can_open(
    tmp_path: Path, count: int, remark: str
) -> None:
    newer = [SMALL.to_json().replace("mean.clipped", f"mean.newer-{i}") for i in range(count)]
    file = changed(
        tmp_path / "r.sqlite", *(f"INSERT INTO studies VALUES ('{text}');" for text in newer)
    )
    page = open_page()
    page.button(key="presets").click().run()
    page.file_uploader(key="study_file").set_value(("results.sqlite", file, "application/x"))
    page.button(key="presets").click().run()
    assert any(remark in caption.value for caption in check_page(page).caption)
    page.button(key="study_chosen").click().run()
    assert shown_result(check_page(page)).scenario == SMALL


def changed(path: Path, *statements: str) -> bytes:
    """Return the bytes of a results file of SMALL after SQL statements were run on it."""
    write_results(path, SMALL)
    with closing(sqlite3.connect(path)) as base:
        for statement in statements:
            base.executescript(statement)
    return path.read_bytes()


def test_a_file_that_is_no_study_gives_one_error_and_changes_nothing() -> None:
    page = open_page()
    old_result = shown_result(page)
    page.button(key="presets").click().run()
    page.file_uploader(key="study_file").set_value(("x.sqlite", b"no study" * 999, "text/x"))
    page.button(key="presets").click().run()
    (complaint,) = [e.value for e in check_page(page).error]
    assert complaint.startswith("file must be a results file") and "/" not in complaint
    assert shown_result(page) is old_result


HARM = {
    "a view in place of a table": (
        "DROP TABLE cells; CREATE VIEW cells AS WITH RECURSIVE f(x) AS "
        "(SELECT 1 UNION ALL SELECT x + 1 FROM f) SELECT x AS key, '' AS outcome FROM f;",
        "another program's data",
    ),
    "a trigger": (
        "CREATE TRIGGER t AFTER INSERT ON cells BEGIN DELETE FROM studies; END;",
        "another program's data",
    ),
    "a newer format": ("PRAGMA user_version = 99;", "has the format 99"),
    "no study": ("DELETE FROM studies;", "holds a study"),
    "a scenario that is none": ("UPDATE studies SET scenario = '[1, 2]';", "a JSON object"),
    "an outcome that is no JSON": ("UPDATE cells SET outcome = '{';", "is damaged"),
    "an outcome that is a list": ("UPDATE cells SET outcome = '[]';", "is damaged"),
}


@pytest.mark.parametrize(("sql", "reason"), HARM.values(), ids=HARM)
def test_a_foreign_or_damaged_file_is_refused(tmp_path: Path, sql: str, reason: str) -> None:
    shelf = Shelf(source=changed(tmp_path / "r.sqlite", sql), name="the chosen file")
    with pytest.raises(InvalidInput, match=reason) as caught:
        shelf.outcomes(shelf.contents()[0][0])
    assert str(tmp_path) not in str(caught.value)


WRONG: dict[str, list[Any]] = {
    "error": ["0.5", math.inf, -math.inf, 1e308, 5e-324, -1.0, None],
    "error_uncertainty": [math.nan, math.inf, -1.0],
    "seconds": [None, math.nan, math.inf, -1.0],
    "trial": [7],
    "method": ["mean.sample "],
    "bound_by": [["everything"]],
    "diagnostics": [{"radius": "<b>"}, {"radius": math.nan}],
    "notes": [[7]],
    "flaws": [["x" * 99_999]],
    "not_applicable": [["no"], "no"],
    "spent": [{"kind": "pure", "epsilon": [1]}, {"kind": "pure", "epsilon": 1.0}],
    "surprise": [1],
}


WRONG_VALUES = [(field, value) for field, values in WRONG.items() for value in values]


@pytest.mark.parametrize(("field", "value"), WRONG_VALUES)
def test_an_outcome_with_a_wrong_value_is_refused(tmp_path: Path, field: str, value: Any) -> None:
    path = write_results(tmp_path / "r.sqlite", SMALL)
    cell = next(cells(SMALL))
    values = json.loads(outcome_text(run_cell(cell))) | {field: value}
    with closing(sqlite3.connect(path)) as base:
        # An attacker can compute a valid checksum.
        text = with_sum(json.dumps(values), key_of(cell))
        base.execute("UPDATE cells SET outcome = ? WHERE key = ?", (text, key_of(cell)))
        base.commit()
    with pytest.raises(InvalidInput, match="damaged"):
        Shelf(source=path, name="r").outcomes(SMALL)


def test_remarks_of_a_file_ask_no_host_for_a_picture_and_offer_no_wrong_change() -> None:
    cell = next(cells(SMALL))
    sound = run_cell(cell)
    with_picture = replace(
        sound, notes=("see ![x](https://example.org/x.png)",), changes=(("n", "x"),)
    )
    outcome = stored.checked_outcome(with_picture, cell)
    assert "![" not in outcome.notes[0] and outcome.changes == ()
    assert stored.checked_outcome(replace(sound, changes=(("n", 9),)), cell).changes == (("n", 9),)
    for change in (("grid", "1"), ("method", "rm"), ("trials", None)):
        assert stored.checked_outcome(replace(sound, changes=(change,)), cell).changes == ()


@pytest.mark.parametrize(
    "change", [{"d": 10**5}, {"grid": tuple(range(1, 99))}, {"trials": 10**5}, {"seed": 2**60}]
)
def test_a_study_too_large_to_be_drawn_is_refused(change: dict[str, Any]) -> None:
    require_showable(LARGE)
    with pytest.raises(InvalidInput, match="must be"):
        require_showable(replace(SMALL, **change))


def test_a_file_in_a_folder_that_cannot_be_written_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.sqlite"
    # While the store is open, its last writes are still in the log beside the file.
    with Store(path) as writer:
        list(study(SMALL, store=writer))
        assert path.with_name("r.sqlite-wal").stat().st_size > 0
        read_a_copy(path, monkeypatch)


def read_a_copy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SQLite refuse to open a file in its own place, so that a copy of it is read."""
    real = Store.__init__

    def no_index(self: Store, place: Any, **options: Any) -> None:
        """Fail to open the file itself, as on a disk that cannot be written to."""
        if Path(place) == path:
            raise stored.StoreError(f"store must be read, got store={path} (cannot open).")
        real(self, place, **options)

    monkeypatch.setattr(Store, "__init__", no_index)
    access = os.access
    monkeypatch.setattr(
        os,
        "access",
        lambda folder, *arguments, **keywords: (
            folder != path.parent and access(folder, *arguments, **keywords)
        ),
    )
    shelf = Shelf(source=path, name="r")
    assert shelf.contents() == ((SMALL,), 0) and len(shelf.outcomes(SMALL)) == SMALL.cells


def test_the_server_refuses_to_start_with_a_wrong_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT, "")
    assert served_shelf() is None
    with pytest.raises(InvalidInput, match="a file that exists"):
        offer_study(str(tmp_path / "none.sqlite"))


def test_the_command_line_hands_the_file_to_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    def start(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        """Record the command that would start the server, and report success."""
        started.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", start)
    assert main(("app", "--study=-odd.sqlite")) == 0
    assert started == [[sys.executable, "-m", "dpsco_app", "--study=-odd.sqlite"]]


def test_drawing_takes_a_limited_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock_time = [0.0]
    monkeypatch.setattr("dpsco_app.session.pace.time.monotonic", lambda: clock_time[0])

    def answers_at(pace: Pace, *times: float) -> list[bool]:
        """Return whether a drawing is due at each of these times."""
        answers = []
        for clock_time[0] in times:
            answers.append(pace.due())
        return answers

    clock_time[0] = 0.0
    assert answers_at(Pace(0.2, 0.8), 0.1, 0.3, 0.9, 1.2) == [False, True, False, True]
    clock_time[0] = 0.0
    # After a drawing of 0.5 s, the next follows at least four times as long later.
    assert answers_at(Pace(0.2, 0.8, 4.0), 0.3, 0.8, 2.7, 2.9) == [True, False, False, True]
    clock_time[0] = 0.0
    # After 6 s, the pause before the next drawing is a third of that time.
    pace = Pace(0.2, 0.8, share_of_elapsed=1 / 3)
    assert answers_at(pace, 6, 6.9, 7.9, 8.1) == [True, False, False, True]
