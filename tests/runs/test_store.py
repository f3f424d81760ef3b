"""The store returns what it keeps, leaves other files unchanged, and serves two writers at once."""

from __future__ import annotations

import itertools
import math
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from dpsco_core import study
from dpsco_core.base.errors import InvalidInput
from dpsco_core.runs.store import Store, StoreError, key_of, outcome_from, outcome_text
from dpsco_core.runs.study import Outcome, cells, run_cell
from dpsco_core.scenario import Scenario
from tests.golden_sentences import GOLDEN

SMALL = Scenario(
    methods=("mean.sample", "mean.clipped", "mean.cwme-pure"),
    d=3,
    axis="n",
    grid=(200, 400),
    trials=3,
)


def numbers(outcomes: list[Outcome]) -> list[tuple[object, ...]]:
    """Return the parts of outcomes that must not depend on where a cell ran; NaN becomes None."""
    return [
        (o.method, o.x, o.trial, None if math.isnan(o.error) else o.error, str(o.spent), o.flaws)
        for o in outcomes
    ]


@pytest.mark.parametrize(
    "scenario",
    [
        SMALL,
        Scenario(methods=("mean.clipped", "mean.cwme-cdp"), n=300, epsilon=None, delta=None, rho=1),
        Scenario(methods=("mean.iterative",), n=100, calibration="paper", tuning="theory"),
        Scenario(problem="logistic", methods=("sco.clipped", "sco.cwme"), n=300, d=3),
        Scenario(problem="quadratic", methods=("user.accelerated",), n=50, m=10, d=3),
        Scenario(problem="quadratic", geometry="lq", q=math.inf, methods=("sco.erm",), n=50, d=3),
    ],
    ids=["axis", "zcdp", "flawed", "optimisation", "refused", "infinite"],
)
def test_every_outcome_is_read_back_completely(tmp_path: Path, scenario: Scenario) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        fresh = list(study(scenario, store=store))
        outcomes = list(study(scenario, store=store))
        assert outcomes == store.outcomes(scenario) or any(math.isnan(o.error) for o in outcomes)
        assert [outcome_text(o) for o in outcomes] == [outcome_text(o) for o in fresh]
        assert [o.x for o in outcomes] == [o.x for o in fresh]
        assert len(store) == scenario.cells
        assert store.scenarios() == (scenario,)
    assert (
        numbers([outcome_from(outcome_text(o)) for o in fresh[:1]])[0][2:]
        == (numbers(fresh[:1])[0][2:])
    )


def test_stored_cells_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        begun = study(SMALL, store=store)
        outcomes = list(itertools.islice(begun, 7))
        begun.close()
        rerun_cells = []
        # The package attribute of that name is the function.
        module = sys.modules["dpsco_core.runs.study"]
        monkeypatch.setattr(
            module, "run_cell", lambda cell: rerun_cells.append(cell) or run_cell(cell)
        )
        assert numbers(list(study(SMALL, store=store)))[:7] == numbers(outcomes)
        assert len(rerun_cells) == SMALL.cells - 7
        # A study that shares cells runs only the others, whatever its own axis and methods.
        rerun_cells.clear()
        point = Scenario(methods=("mean.clipped",), d=3, n=400, trials=4)
        shared = list(study(point, store=store))
        assert len(rerun_cells) == 1 and [o.x for o in shared] == [None] * 4


def test_the_key_depends_on_exactly_what_fixes_the_numbers() -> None:
    (cell,) = cells(Scenario(methods=("mean.clipped",), trials=1))
    more_cells = list(cells(Scenario(methods=("mean.sample", "mean.clipped"), trials=2)))
    assert key_of(more_cells[1]) == key_of(cell)
    keys = {key_of(c) for c in more_cells}
    for change in ({"seed": 1}, {"n": 10}, {"epsilon": 2.0}, {"calibration": "paper"}, {"p": 4}):
        changed = Scenario(methods=("mean.clipped",), trials=1, **change)
        keys |= {key_of(c) for c in cells(changed)}
    assert len(keys) == 4 + 5


# Equal scenarios, given by integers and by floats, and the keys of their last cells.
TWINS = [
    (
        Scenario(methods=("mean.cwme-pure",), n=200, p=4, epsilon=1, delta=-0.0, trials=2),
        Scenario(methods=("mean.cwme-pure",), n=200, p=4.0, epsilon=1.0, delta=0.0, trials=2),
        "e2369e6c2998e56f8981d2c073a183cbf6be0d90",
    ),
    (
        Scenario(methods=("mean.clipped",), diameter=6, axis="n", grid=(200.0, 400.0), trials=2),
        Scenario(methods=("mean.clipped",), diameter=6.0, axis="n", grid=(200, 400), trials=2),
        "37e85a46a91e045b84939104fecd705ac7f03055",
    ),
]


@pytest.mark.parametrize(("whole", "real", "key"), TWINS, ids=["point", "axis"])
def test_equal_scenarios_have_the_same_cells(
    tmp_path: Path, whole: Scenario, real: Scenario, key: str
) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        outcomes = list(study(whole, store=store))
        (stored,) = store.scenarios()
        assert stored == whole == real
        assert store.outcomes(stored) == store.outcomes(real) == outcomes
        # The stored seconds are unchanged, so nothing ran again.
        assert list(study(real, store=store)) == outcomes
        assert len(store) == whole.cells and store.scenarios() == (real,)
    assert [o.error for o in study(real)] == [o.error for o in outcomes]
    assert [key_of(list(cells(s))[-1]).hex() for s in (whole, real)] == [key, key]


def test_a_study_that_an_earlier_version_wrote_twice_is_read_once(tmp_path: Path) -> None:
    real = TWINS[0][1]
    with Store(tmp_path / "results.sqlite") as store:
        store.begin(real)
        earlier = real.to_json().replace('"p": 4.0', '"p": 4')
        store._base.execute("INSERT INTO studies VALUES (?)", (earlier,))
        assert store.scenarios() == (real,)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a text file, and not a small one" * 100, "file is not a database"),
        (b"SQLite format 3\0" + b"\xff" * 4000, "not a database|malformed|is damaged"),
    ],
    ids=["text", "torn"],
)
def test_a_foreign_file_is_refused_and_left_as_it_is(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "results.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=reason) as error:
        Store(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["results.sqlite"]


def test_another_programs_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "photos.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE photos (name TEXT)")
    base.close()
    content_before = path.read_bytes()
    with pytest.raises(StoreError, match="holds another program's data"):
        Store(path)
    assert path.read_bytes() == content_before


def test_a_store_with_an_unknown_table_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as base:
        base.executescript("DROP TABLE studies; CREATE VIEW studies AS SELECT 1 AS scenario;")
    base.close()
    with pytest.raises(StoreError, match="holds another program's data"):
        Store(path)


def test_an_empty_base_is_no_store_to_read(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA journal_mode = WAL")
    base.close()
    with pytest.raises(StoreError, match="is empty: if `dpsco study` was killed"):
        Store(path, read_only=True)


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA user_version = 7")
    base.close()
    with pytest.raises(StoreError, match="has the format 7, and 1 is known"):
        Store(path)


def test_a_damaged_page_is_found(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        list(study(SMALL, store=store))
    content = bytearray(path.read_bytes())
    content[4096 : 4096 + 2000] = b"\xa5" * 2000
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged|malformed"):
        Store(path)
    assert path.read_bytes() == bytes(content)


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "null", "[]", "{}", '"text"', "[" * 100_000),
        '{"error": "high"}',
        '{"error": 1e400, "seconds": [], "spent": null}',
        '{"error": 1' + "0" * 400 + "}",
        '{"trial": 7}',
        '{"method": "mean.sample"}',
        '{"spent": {"kind": "secret"}}',
        '{"spent": 7}',
        '{"notes": 7}',
        '{"unknown": 7}',
    ],
)
def test_a_damaged_outcome_is_found(tmp_path: Path, text: str) -> None:
    (cell,) = cells(Scenario(methods=("mean.clipped",), n=50, d=2, trials=1))
    with Store(tmp_path / "results.sqlite") as store:
        store.put(cell, run_cell(cell))
        (whole,) = store._base.execute("SELECT outcome FROM cells").fetchone()
        # In this case one field of the stored text is replaced by another.
        if text.startswith("{") and text not in ("{", "{}"):
            text = whole[:-1] + ", " + text[1:]
        store._base.execute("UPDATE cells SET outcome = ?", (text,))
        with pytest.raises(StoreError, match=r"results\.sqlite, which is damaged\.$"):
            store.get(cell)


def test_studies_of_another_version_are_skipped_and_reported(tmp_path: Path) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        store.begin(SMALL)
        newer = SMALL.to_json().replace("mean.clipped", "mean.newer")
        store._base.execute("INSERT INTO studies VALUES (?), ('[')", (newer,))
        assert store.scenarios() == (SMALL,)
        damaged, unknown_study = sorted(store.unknown(), key=len)
        assert damaged == GOLDEN["a scenario that is no object"]
        assert "method must be one of" in unknown_study and "got method=mean.newer" in unknown_study
        store._base.execute("DELETE FROM studies WHERE scenario LIKE '%mean.clipped%'")
        with pytest.raises(InvalidInput, match="scenario must be|method must be"):
            store.scenarios()


def test_a_file_opened_for_reading_is_not_changed_and_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        list(study(SMALL, store=store))
    with Store(path, read_only=True) as store:
        assert len(store.outcomes(SMALL)) == SMALL.cells
        with pytest.raises(StoreError, match="that can be written.*readonly"):
            list(study(SMALL, store=store))
    with pytest.raises(InvalidInput, match="store must be a file that exists"):
        Store(tmp_path / "none.sqlite", read_only=True)
    assert not (tmp_path / "none.sqlite").exists()
    with pytest.raises(StoreError, match="that can be opened"):
        Store(tmp_path / "no folder" / "results.sqlite")


@pytest.mark.skipif(os.name != "posix", reason="the permissions of POSIX")
def test_a_file_without_write_permission_is_read_and_reported() -> None:
    # The folders that pytest makes are closed to other users.
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name) / "results.sqlite"
        with Store(path) as store:
            list(study(SMALL, store=store))
        (folder / "closed").mkdir(0o700)
        path.chmod(0o444)
        folder.chmod(0o555)
        user = os.geteuid()
        if user == 0:  # For root no file is read-only, so the test acts as another user.
            os.seteuid(65534)
        try:
            with Store(path, read_only=True) as store:
                assert len(store.outcomes(SMALL)) == SMALL.cells
            with pytest.raises(StoreError, match="that can be written.*is read only"):
                Store(path)
            if user == 0:
                with pytest.raises(StoreError, match="that can be opened.*Permission denied"):
                    Store(folder / "closed" / "results.sqlite")
            assert sorted(p.name for p in folder.iterdir()) == ["closed", "results.sqlite"]
        finally:
            os.seteuid(user)
            folder.chmod(0o755)


def test_a_full_disk_loses_no_finished_cell(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    large = Scenario(methods=("mean.clipped",), n=50, d=2, trials=400)
    with Store(path) as store:
        pages = store._base.execute("PRAGMA page_count").fetchone()[0]
        store._base.execute(f"PRAGMA max_page_count = {pages + 20}")
        modes = []
        with pytest.raises(StoreError, match="database or disk is full"):
            modes.extend(study(large, store=store))
        finished = len(store)
    assert 0 < finished < 400
    with Store(path) as store:  # There is room on the disk again.
        assert len(store) == finished
        assert len(list(study(large, store=store))) == 400 == len(store)


# A process that runs every other cell of a study into the file.
WRITE_HALF = """\
import itertools, sys
from dpsco_core import Scenario, cells, run_cell
from dpsco_core.runs.store import Store
path, first, text = sys.argv[1:]
with Store(path) as store:
    for cell in itertools.islice(cells(Scenario.from_json(text)), int(first), None, 2):
        store.put(cell, run_cell(cell))
"""


def test_two_processes_write_to_one_file(tmp_path: Path) -> None:
    path = str(tmp_path / "results.sqlite")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE_HALF, path, kind, SMALL.to_json()])
        for kind in ("0", "1")
    ]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    with Store(path) as store:
        assert numbers(store.outcomes(SMALL)) == numbers(list(study(SMALL)))


def test_a_file_that_another_process_creates_between_two_checks_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.sqlite"
    thread = threading.Thread(target=lambda: Store(path).close())

    class Slow(sqlite3.Connection):
        """A connection that lets another process open the file in the middle of the first check."""

        def execute(self, query: str, *values: object) -> sqlite3.Cursor:
            """Execute a query, and let the other thread go first at the check of the version."""
            if query == "PRAGMA user_version" and thread.ident is None:
                thread.start()
                thread.join(0.5)  # Otherwise the thread waits for this one.
            return super().execute(query, *values)

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **k, factory=Slow))
    with Store(path) as store:
        thread.join()
        assert len(store) == 0


def test_a_file_that_is_being_created_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    maker = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    maker.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, maker.rollback)
    release.start()
    with Store(path) as store:
        assert len(store) == 0
    release.join()
    maker.close()


def test_a_killed_study_resumes_without_repeating_or_losing_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    script = (
        "import sys\n"
        "from dpsco_core import Scenario, study\n"
        "from dpsco_core.runs.store import Store\n"
        "scenario = Scenario(methods=('mean.clipped',), n=2000, d=3, trials=5000)\n"
        "for outcome in study(scenario, store=Store(sys.argv[1])):\n"
        "    print(outcome.trial, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    trials = [int(process.stdout.readline()) for _ in range(50)]
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    trials += [int(line) for line in process.stdout.read().split()]
    process.stdout.close()
    with Store(path) as store:
        stored_trials = {
            o.trial for o in store.outcomes(Scenario.from_json(store.scenarios()[0].to_json()))
        }
    assert set(trials) <= stored_trials
    # At most one cell was written but killed before it was printed.
    assert len(stored_trials) - len(trials) <= 1
    assert stored_trials == set(range(len(stored_trials)))
