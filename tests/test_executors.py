"""Serial, threads, processes: the same frame; a worker that dies costs only its cells."""

from __future__ import annotations

import math
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpsco_core import executors, study
from dpsco_core.cli import main
from dpsco_core.cli_study import read_scenario
from dpsco_core.errors import InvalidInput
from dpsco_core.executors import WorkersLost, processes, study_in_processes
from dpsco_core.scenario import Scenario
from dpsco_core.store import Store
from dpsco_core.study import Outcome

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
    return {(o.method, o.x, o.trial): o.error for o in outcomes}


@pytest.mark.parametrize("scenario", [SMALL, OPTIMISERS], ids=["mean", "logistic"])
def test_threads_and_processes_give_the_numbers_of_the_serial_run(
    tmp_path: Path, scenario: Scenario
) -> None:
    serial = numbers(list(study(scenario)))
    assert len(serial) == scenario.cells and not any(math.isnan(e) for e in serial.values())
    with ThreadPoolExecutor(3) as threads:
        assert numbers(list(study(scenario, threads))) == serial
    with Store(tmp_path / "results.sqlite") as store:
        assert numbers(list(study_in_processes(scenario, 2, store))) == serial
        assert numbers(store.outcomes(scenario)) == serial


def test_a_worker_has_one_blas_thread_and_this_process_keeps_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with processes(1) as pool:
        found = pool.submit(os.getenv, "OMP_NUM_THREADS").result()
        also = pool.submit(os.getenv, "OPENBLAS_NUM_THREADS").result()
    assert (found, also) == ("1", "1")
    assert os.environ["OMP_NUM_THREADS"] == "7" and "OPENBLAS_NUM_THREADS" not in os.environ


class Dying:
    """A pool whose worker is killed after some cells, as often as it is told."""

    def __init__(self, deaths: int) -> None:
        self.left = deaths

    def study(self, scenario: Scenario, pool, store):
        for done, outcome in enumerate(study(scenario, pool, store), 1):
            yield outcome
            if self.left and done == 3:
                self.left -= 1
                os.kill(pool.submit(os.getpid).result(), signal.SIGKILL)


def test_a_worker_that_dies_costs_only_its_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "study", Dying(2).study)
    many = Scenario(methods=("mean.clipped",), n=400, d=3, trials=300)
    with Store(tmp_path / "results.sqlite") as store:
        outcomes = list(study_in_processes(many, 1, store))
        assert len(store) == 300
    assert sorted(o.trial for o in outcomes) == list(range(300))


def test_workers_that_die_at_once_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deadly(scenario: Scenario, pool, store):
        os.kill(pool.submit(os.getpid).result(), signal.SIGKILL)
        yield from study(scenario, pool, store)

    monkeypatch.setattr(executors, "study", deadly)
    monkeypatch.setattr(executors, "RESTARTS", 1)
    with (
        Store(tmp_path / "results.sqlite") as store,
        pytest.raises(WorkersLost, match="2 deaths in a row after 0 cells"),
    ):
        list(study_in_processes(SMALL, 1, store))


def test_a_study_goes_on_where_it_stopped_and_is_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "study.toml", tmp_path / "results.sqlite"
    file.write_text(TOML)
    assert main(["study", str(file), "--out", str(out)]) == 0
    assert "12 cells of this study" in capsys.readouterr().out
    assert main(["study", str(file), "--out", str(out), "--trials", "5", "--json"]) == 0
    assert '"trials": 5' in capsys.readouterr().out
    with Store(out, read_only=True) as store:
        assert len(store) == 20
    assert main(["export", str(out), "--csv", str(tmp_path / "cells.csv")]) == 0
    lines = (tmp_path / "cells.csv").read_text().splitlines()
    assert len(lines) == 1 + 12 + 20 and lines[0].startswith("study,method,name,x,trial,error")
    assert main(["export", str(out), "--parquet", str(tmp_path / "cells.parquet")]) == 0
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
def test_a_bad_file_gets_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "study.toml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=sentence) as said:
        read_scenario(file, {})
    assert "\n" not in str(said.value)


def test_what_cannot_be_written_or_read_gets_one_sentence_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "study.toml", tmp_path / "results.sqlite"
    file.write_text(TOML)
    out.write_text("not a database, and long enough to be looked at" * 20)
    for arguments, sentence in (
        (["study", str(file), "--out", str(out)], "store must be a results file"),
        (["study", str(tmp_path / "none"), "--out", str(out)], "file must be a TOML file"),
        (["export", str(tmp_path / "none"), "--csv", "-"], "store must be a file that exists"),
        (["study", str(file), "--out", str(tmp_path / "r"), "--workers", "0"], "workers must be"),
    ):
        assert main(arguments) == 2
        said = capsys.readouterr().err
        assert sentence in said and said.count("\n") == 1
