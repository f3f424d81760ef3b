"""Behaviour under faults: little memory, a full disk, a clock that jumps, a killed server.

Resumed studies, full disks and concurrent writers are in `tests/runs/test_store.py`.
"""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dpsco_core import InvalidInput, Scenario, study
from dpsco_core import study as study_of
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.cli.main import main
from dpsco_core.runs import memory
from dpsco_core.runs.cost import too_large
from dpsco_core.runs.store import Store, StoreError
from tests.attack.nasty import is_one_sentence
from tests.attack.server import ROOT, serving

SMALL = Scenario(methods=("mean.sample", "mean.clipped"), n=50, d=2, trials=6)
LARGE = Scenario(methods=("mean.clipped",), n=10**7, d=40, trials=1)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the machine look as if 50 MB were free; a test that draws a sample all the
    same fails.
    """
    monkeypatch.setattr(memory, "bytes_free", lambda: 50e6)
    module = sys.modules["dpsco_core.runs.study"]
    monkeypatch.setattr(module, "_cached_dataset", lambda *_: pytest.fail("a sample was drawn"))


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    "scenario",
    [
        LARGE,
        replace(LARGE, n=200_000),
        replace(LARGE, n=100, axis="n", grid=(10.0, 10**6)),
        replace(LARGE, n=100, axis="d", grid=(2.0, 90_000.0)),
        replace(LARGE, problem="quadratic", methods=("user.clipped-means",), n=1000, m=500),
    ],
    ids=["far too large", "too large", "an end of a grid", "a dimension", "items"],
)
def test_records_that_do_not_fit_into_memory_are_refused_before_they_are_drawn(
    scenario: Scenario, tmp_path: Path
) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        with pytest.raises(InvalidInput, match="memory of this run must be at most") as problem:
            next(study_of(scenario, store=store))
        assert is_one_sentence(str(problem.value))
        assert store.scenarios() == ()
    allowed = replace(DASHBOARD, n=10**9, d=10**5, elements=10**12)
    assert "50 MB that are free" in too_large(scenario, allowed)


@pytest.mark.usefixtures("little_memory")
def test_the_command_line_refuses_too_many_records_in_one_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "--n", "1e7", "--d", "40", "--method", "mean.clipped"]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("dpsco: The memory of this run must be at most the 50 MB")
    assert complaint.count("\n") == 1


def test_the_predicted_memory_includes_the_list_of_outcomes() -> None:
    few_trials, many_trials = replace(SMALL, trials=10), replace(SMALL, trials=100_000)
    assert memory.bytes_held(many_trials) == memory.bytes_held(few_trials)
    assert (
        memory.bytes_held(many_trials, listed=True)
        > 4e8
        > memory.bytes_held(few_trials, listed=True)
    )
    assert memory.bytes_held(LARGE, 3) == pytest.approx(
        3 * (memory.bytes_held(LARGE) + memory.WORKER)
    )


def test_the_memory_limit_of_a_container_is_respected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_file, usage_file = tmp_path / "memory.max", tmp_path / "memory.current"
    monkeypatch.setattr(memory, "FOLDER", tmp_path)
    monkeypatch.setattr(memory, "_machine_bytes", lambda: 8e9)
    assert memory.bytes_free() == 8e9  # Outside a container memory is not limited.
    usage_file.write_text("300000000\n")
    limit_file.write_text("max\n")
    assert memory.bytes_free() == 8e9
    limit_file.write_text("1000000000\n")
    assert memory.bytes_free() == 7e8
    limit_file.write_text("100000000\n")
    assert memory.bytes_free() == 0
    # The cache of read files does not count as used memory, since it is freed when memory is
    # needed.
    (tmp_path / "memory.stat").write_text("anon 40000000\ninactive_file 260000000\n")
    assert memory.bytes_free() == 6e7
    limit_file.unlink()
    older = tmp_path / "memory"
    older.mkdir()
    for name, text in (
        ("memory.limit_in_bytes", "9000"),
        ("memory.usage_in_bytes", "5000"),
        ("memory.stat", "total_inactive_file 1000"),
    ):
        (older / name).write_text(text)
    assert memory.bytes_free() == 5000


PEAK = """
import sys
from pathlib import Path
from dpsco_core import Scenario, study
def peak():  # of this program: that of getrusage starts with the parent's
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
scenario = Scenario.from_json(sys.argv[1])
before = peak()
assert all(o.not_applicable is None for o in study(scenario))
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(
    ("problem", "method", "n", "d", "m"),
    [
        ("mean", "mean.clipped", 1_000_000, 20, 1),
        ("mean", "mean.cwme-cdp", 1_000_000, 20, 1),
        ("mean", "mean.sample", 4_000_000, 2, 1),
        ("logistic", "sco.clipped", 400_000, 50, 1),
        ("logistic", "sco.erm", 4_000_000, 1, 1),
        ("quadratic", "user.clipped-means", 40_000, 40, 10),
        ("quadratic", "user.clipped-means", 1_000_000, 40, 1000),
        ("logistic", "user.clipped-means", 400_000, 40, 1),
        ("logistic", "user.accelerated", 400_000, 40, 1),
    ],
)
def test_no_study_needs_more_than_was_predicted(
    problem: str, method: str, n: int, d: int, m: int
) -> None:
    law = "hypercube" if m > 100 else "student-t"  # The hypercube draws users' means directly.
    scenario = Scenario(
        problem=problem, distribution=law, methods=(method,), n=n, d=d, m=m, trials=1
    )
    run = subprocess.run(
        [sys.executable, "-c", PEAK, scenario.to_json()],
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    predicted = memory.bytes_held(scenario)
    assert 0.2 * predicted < int(run.stdout) < 1.1 * predicted


def test_a_full_disk_is_reported_before_a_study_and_during_it(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        finished = len(list(study(SMALL, store=store)))
        pages = store._base.execute("PRAGMA page_count").fetchone()[0]
        store._base.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="must be a results file that can be written") as full:
            list(study(replace(SMALL, trials=400), store=store))
        assert is_one_sentence(str(full.value).replace(str(path), "FILE"))
        assert len(store) >= finished
    with Store(path) as store:
        assert len(list(study(replace(SMALL, trials=8), store=store))) == 16


def test_a_clock_that_jumps_back_changes_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [o.error for o in study(SMALL)]
    times = iter(range(10**9, 0, -86_400))
    for name in ("time", "time_ns"):
        monkeypatch.setattr(time, name, lambda: next(times))
    with Store(tmp_path / "results.sqlite") as store:
        stored_outcomes = study(SMALL, store=store)
        errors = [next(stored_outcomes).error for _ in range(5)]
    with Store(tmp_path / "results.sqlite") as store:
        outcomes = list(study(SMALL, store=store))
    assert errors == expected[:5]
    assert [o.error for o in outcomes] == expected
    assert all(o.seconds >= 0 for o in outcomes)


def wall_clocks(source: str) -> list[int]:
    """Return the lines that read the wall clock, which a person may change."""
    clock_names = {"time", "time_ns", "localtime", "gmtime", "now", "utcnow", "today", "ctime"}
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in clock_names
        and ast.unparse(node.func.value).split(".")[-1] in ("time", "datetime", "date")
    ]


def test_no_module_reads_the_wall_clock() -> None:
    for package in ("dpsco_core", "dpsco_app"):
        for path in (ROOT / package).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if "time" in source:
                assert wall_clocks(source) == [], path.name
    assert wall_clocks("import time\ntime.time()\ntime.monotonic()\ndatetime.now()") == [2, 4]


@pytest.mark.slow
@pytest.mark.browser
def test_a_link_brings_the_page_back_after_the_server_was_killed_in_a_run(
    page: Page, ready: Callable[..., None], tmp_path: Path
) -> None:
    """The address alone brings the page's state back, and a results file that the server offered is
    unchanged.
    """
    results = tmp_path / "results.sqlite"
    with Store(results) as store:
        stored_errors = [o.error for o in study(SMALL, store=store)]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    query = "n=20000&p=2.5&trials=150&seed=77&methods=mean.sample%2Cmean.cwme-cdp%2Cmean.smoothed"
    query += "&axis=d&grid=5%2C10%2C20%2C50"
    os.environ["DPSCO_STUDY"] = str(results)
    try:
        with serving(tmp_path, port=port) as (_, process):
            page.goto(f"http://localhost:{port}/?{query}")
            expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=60_000)
            address = page.url
            process.kill()
            process.wait(30)
        with serving(tmp_path, port=port):
            page.goto(address)
            expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=60_000)
            ready(page, seconds=240)
            assert page.url == address
            for part in ("n=20000", "seed=77", "p=2.5", "trials=150"):
                assert part in page.url
            assert page.locator("[data-testid=stException]").count() == 0
            expect(page.locator(".head h2")).to_contain_text("times the error", timeout=60_000)
    finally:
        del os.environ["DPSCO_STUDY"]
    with Store(results) as store:
        assert [o.error for o in store.outcomes(SMALL)] == stored_errors
