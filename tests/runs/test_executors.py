"""Serial, threads, processes: the same frame; a worker that dies costs only its own cells."""

from __future__ import annotations

import importlib
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dpsco_core import study
from dpsco_core.base import dispatch
from dpsco_core.base.blas import one_blas_thread
from dpsco_core.base.dispatch import WorkersLost, in_groups, in_order
from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.cli.study import read_scenario
from dpsco_core.runs import executors
from dpsco_core.runs.executors import Processes, processes, workers_for
from dpsco_core.runs.store import Store
from dpsco_core.runs.study import Cell, Outcome
from dpsco_core.scenario import Scenario
from tests.folded import one_in

SMALL = Scenario(
    methods=("mean.sample", "mean.clipped", "mean.cwme-cdp"),
    d=5,
    axis="n",
    grid=(300, 600),
    trials=4,
)
OPTIMISERS = Scenario(problem="logistic", methods=("sco.erm", "sco.clipped"), n=400, d=3, trials=3)
TOML = """\
# a comment
problem = "mean"
methods = ["mean.sample", "mean.clipped"]
d = 5
axis = "n"
grid = [300, 600]
trials = 3
"""


def numbers(outcomes: list[Outcome]) -> dict[tuple[object, ...], float]:
    """Return the errors of outcomes by method, place on the axis and trial."""
    return {(o.method, o.x, o.trial): o.error for o in outcomes}


# These are environment variables of this process after the workers had been started.
WORKER_SETTINGS: dict[str, str | None] = {}


@pytest.fixture(scope="module")
def pool() -> Iterator[Processes]:
    """Yield two worker processes, whose number of threads the environment would set to 7."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "7")
        patch.delenv("OPENBLAS_NUM_THREADS", raising=False)
        with processes(2) as opened:
            WORKER_SETTINGS.update(
                {name: os.environ.get(name) for name in executors.BLAS_THREADS[:2]}
            )
            patch.undo()
            yield opened


@pytest.mark.parametrize("scenario", [SMALL, OPTIMISERS], ids=["mean", "logistic"])
def test_threads_and_processes_give_the_numbers_of_the_serial_run(
    tmp_path: Path, pool: Processes, scenario: Scenario
) -> None:
    serial = numbers(list(study(scenario)))
    assert len(serial) == scenario.cells and not any(math.isnan(e) for e in serial.values())
    with ThreadPoolExecutor(3) as threads:
        assert numbers(list(study(scenario, threads))) == serial
    with Store(tmp_path / "results.sqlite") as store:
        assert numbers(list(study(scenario, pool, store))) == serial
        assert numbers(store.outcomes(scenario)) == serial


def test_a_cell_has_one_blas_thread_wherever_it_runs(
    monkeypatch: pytest.MonkeyPatch, pool: Processes
) -> None:
    module = sys.modules["dpsco_core.runs.study"]
    snapshots: list[set[int]] = []
    real = module._run
    monkeypatch.setattr(module, "_run", lambda *c: snapshots.append(threads()) or real(*c))
    with threadpool_limits(3, user_api="blas"):
        threads_before = threads()
        with one_blas_thread():
            list(study(Scenario(methods=("mean.clipped",), n=300, d=3, trials=2)))
        assert threads() == threads_before
    assert snapshots == [{1}, {1}]
    assert {x["num_threads"] for x in pool.submit(threadpool_info).result()} == {1}


def test_the_limit_of_one_blas_thread_holds_for_any_order_of_entering_and_leaving() -> None:
    def thread_ids() -> set[int]:
        """Return the numbers of BLAS threads within the limit."""
        with one_blas_thread():
            return threads()

    with (
        threadpool_limits(3, user_api="blas"),
        ThreadPoolExecutor(1) as first_pool,
        ThreadPoolExecutor(1) as second_pool,
    ):
        threads_before = threads()
        with one_blas_thread():  # The main thread has set a limit once before.
            pass
        assert first_pool.submit(thread_ids).result() == {1}
        limit = one_blas_thread()
        first_pool.submit(limit.__enter__).result()
        assert second_pool.submit(thread_ids).result() == threads() == {1}
        second_pool.submit(limit.__exit__, None, None, None).result()
        assert threads() == threads_before


def threads() -> set[int]:
    """Return the numbers of threads of the BLAS libraries that are loaded."""
    return {int(x["num_threads"]) for x in threadpool_info() if x["user_api"] == "blas"}


def test_this_process_keeps_its_own_settings_when_workers_start(pool: Processes) -> None:
    assert pool.submit(os.getenv, "OMP_NUM_THREADS").result() == "1"
    assert WORKER_SETTINGS == {"OMP_NUM_THREADS": "7", "OPENBLAS_NUM_THREADS": None}


class Killing:
    """A store that kills a worker of a pool after some cells."""

    def __init__(self, store: Store, pool: Executor, kill_after: set[int]) -> None:
        """Wrap a store; a worker is killed after each number of stored cells in `kill_after`."""
        self.store, self.pool, self.kill_after, self.stored = store, pool, kill_after, 0

    def begin(self, scenario: Scenario) -> None:
        """Begin a scenario in the store."""
        self.store.begin(scenario)

    def get(self, cell: Cell) -> Outcome | None:
        """Return the stored outcome of a cell, if any."""
        return self.store.get(cell)

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Store an outcome, and kill a worker after some of them."""
        assert self.store.get(cell) is None, "a cell has come back twice"
        self.store.put(cell, outcome)
        self.stored += 1
        if self.stored in self.kill_after:
            self.pool.submit(os.kill, self.pool.submit(os.getpid).result(), signal.SIGKILL)


def test_a_worker_that_dies_costs_only_its_cells(tmp_path: Path, pool: Processes) -> None:
    scenario = Scenario(methods=("mean.clipped", "mean.sample"), n=400, d=3, trials=300)
    with Store(tmp_path / "results.sqlite") as store:
        outcomes = list(study(scenario, pool, Killing(store, pool, {3})))
        assert len(store) == len(outcomes) == 600
    assert numbers(outcomes) == numbers(list(study(scenario)))


def test_a_study_without_methods_starts_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "cores", lambda: 64)
    assert workers_for(Scenario(methods=(), n=10**8, d=1, trials=1000)) == 1


def test_workers_share_cells_that_consist_of_sums_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "cores", lambda: 4)
    large = Scenario(problem="logistic", n=10**8, d=20, trials=1)
    assert workers_for(replace(large, methods=("sco.clipped",))) == 4
    assert workers_for(replace(large, methods=("sco.sgd",))) == 1


def test_workers_that_die_at_once_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "RESTARTS", 0)
    with processes(1) as pool, pytest.raises(WorkersLost, match="got 1 deaths in a row"):
        list(in_groups(pool, os._exit, [1], str))


# This program's worker is interrupted while it starts, and then has calls for which nobody would
# wait.
BUSY = """
import multiprocessing, os, signal, sys, time
from dpsco_core.base.dispatch import in_groups
from dpsco_core.runs.executors import processes

try:
    with processes(1) as pool:
        worker = multiprocessing.active_children()[0].pid
        os.kill(worker, signal.SIGINT)
        assert pool.submit(os.getpid).result() == worker
        os.kill(worker, signal.SIGINT)
        assert pool.submit(os.getpid).result() == worker
        print("busy", flush=True)
        list(in_groups(pool, time.sleep, [3600] * 4, str))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("way", one_in(2, [signal.SIGKILL, signal.SIGINT]))
def test_busy_workers_end_at_once_with_the_process_that_started_them(way: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"busy\n"
        if way == signal.SIGINT:  # A terminal sends the signal to all processes.
            os.killpg(process.pid, way)
        else:
            process.send_signal(way)
        # Both processes write to this pipe, and have ended when there is nothing more to read.
        _, errors = process.communicate(timeout=120)
        assert process.returncode == (130 if way == signal.SIGINT else -way)
        assert b"Traceback" not in errors
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


# This program's call ends its worker in the middle of sending a result, at the first attempt only.
SENDING = """
import os, struct, sys
from pathlib import Path

def send_half(first):
    if Path(first).exists():
        return "whole"
    Path(first).touch()
    frame = sys._getframe()
    while "result_queue" not in frame.f_locals:  # of the worker's loop
        frame = frame.f_back
    os.write(frame.f_locals["result_queue"]._writer.fileno(), struct.pack("!i", 1000) + b"half")
    os._exit(1)
"""


def test_a_worker_that_dies_while_it_sends_a_result_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sending.py").write_text(SENDING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(dispatch, "CHECK_EVERY", 0.1)
    send_half = importlib.import_module("sending").send_half
    threads_before = set(threading.enumerate())
    with processes(1) as pool:
        assert list(in_order(pool, send_half, [str(tmp_path / "first")])) == ["whole"]
    for thread in (
        set(threading.enumerate()) - threads_before
    ):  # Neither process waits forever for the rest of the message.
        thread.join(60)
        assert not thread.is_alive()


def test_a_study_resumes_where_it_stopped_and_is_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, results = tmp_path / "study.toml", tmp_path / "results.sqlite"
    file.write_text(TOML)
    assert main(["study", str(file), "--out", str(results)]) == 0
    assert "12 runs of this study" in capsys.readouterr().out
    assert main(["study", str(file), "--out", str(results), "--trials", "5", "--json"]) == 0
    assert '"trials": 5' in capsys.readouterr().out
    with Store(results, read_only=True) as store:
        assert len(store) == 20
    assert main(["export", str(results), "--csv", str(tmp_path / "cells.csv")]) == 0
    lines = (tmp_path / "cells.csv").read_text().splitlines()
    assert len(lines) == 1 + 12 + 20 and lines[0].startswith("study,method,name,x,trial,error")
    assert main(["export", str(results), "--parquet", str(tmp_path / "cells.parquet")]) == 0
    assert (tmp_path / "cells.parquet").read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("n = [", "file must be a TOML file that can be read"),
        ("sampels = 3", "field must be one of problem,"),
        ("n = -1", "n must be"),
        ("n = 1" + "0" * 5000, "must be"),
        ("\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "file must be a TOML file"),
    ],
)
def test_an_invalid_results_file_gets_one_sentence(
    tmp_path: Path, text: str, sentence: str
) -> None:
    file = tmp_path / "study.toml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=sentence) as error:
        read_scenario(file, {})
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_written_or_read_gets_one_sentence_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, results = tmp_path / "study.toml", tmp_path / "results.sqlite"
    good = tmp_path / "good.sqlite"
    Store(good).close()
    file.write_text(TOML)
    results.write_text("not a database, and long enough to be looked at" * 20)
    for arguments, sentence in (
        (["study", str(file), "--out", str(results)], "store must be a results file"),
        (["study", str(tmp_path / "none"), "--out", str(results)], "file must be a TOML file"),
        (["export", str(tmp_path / "none"), "--csv", "-"], "store must be a file that exists"),
        (["export", str(good), "--csv", str(tmp_path / "no" / "c")], "No such file or directory"),
        (["export", str(good), "--parquet", str(tmp_path)], "Is a directory"),
        (["study", str(file), "--out", str(good), "--dask", "x"], "dask must be an address as"),
        (["study", str(file), "--out", str(good), "--workers", "1e3"], "workers must be an int"),
        (["study", str(file), "--out", str(tmp_path / "r"), "--workers", "0"], "workers must be"),
    ):
        assert main(arguments) == 2
        message = capsys.readouterr().err
        assert sentence in message and message.count("\n") == 1
