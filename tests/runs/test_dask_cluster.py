"""A local Dask cluster gives the same numbers, and one sentence for every fault of the cluster.

The scheduler and its workers are processes that tests may kill; no supervisor restarts them.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path

import pytest

from dpsco_core import study
from dpsco_core.base.dispatch import WorkersLost
from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.runs import dask_cluster
from dpsco_core.runs.dask_cluster import cluster
from dpsco_core.runs.store import Store
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

SMALL = Scenario(
    methods=("mean.sample", "mean.clipped", "mean.cwme-cdp"),
    d=5,
    axis="n",
    grid=(300, 600),
    trials=4,
)
LONG_STUDY = Scenario(methods=("mean.clipped", "mean.sample"), n=400, d=3, trials=400)
LONG = Scenario(methods=("mean.clipped",), n=500, d=3, trials=3000)


def numbers(outcomes: list[Outcome]) -> dict[tuple[object, ...], float]:
    """Return the errors of outcomes by method, place on the axis and trial."""
    return {(o.method, o.x, o.trial): o.error for o in outcomes}


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Local:
    """A scheduler and its workers, each in a process of its own."""

    def __init__(
        self, folder: Path, protocol: str = "tcp", variables: Mapping[str, str] = {}
    ) -> None:
        """Start a scheduler on a free port."""
        self.folder = folder
        self.variables = {"DASK_TEMPORARY_DIRECTORY": ".", **variables}
        self.place = ("127.0.0.1", free_port())
        self.address = "{}:{}".format(*self.place)
        self.url = f"{protocol}://{self.address}"
        place = ("--host=127.0.0.1", f"--port={self.place[1]}", f"--protocol={protocol}")
        self.scheduler = self._start("scheduler", *place)
        self.workers: list[subprocess.Popen[bytes]] = []

    def wait(self) -> None:
        """Wait until the scheduler answers."""
        deadline = time.monotonic() + 60
        with socket.socket() as probe:
            while probe.connect_ex(self.place) and time.monotonic() < deadline:
                time.sleep(0.05)

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a scheduler or a worker as a process of its own."""
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard"]
        return subprocess.Popen(
            [*command, *arguments],
            cwd=self.folder,
            env=os.environ | self.variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def work(self) -> None:
        """Start one more worker."""
        self.workers.append(self._start("worker", self.url, "--no-nanny", "--nthreads=1"))

    def close(self) -> None:
        """Kill the scheduler and its workers, and wait until they have ended."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait(30)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    """Yield a running scheduler without workers, and end it after the tests."""
    started = Local(tmp_path_factory.mktemp("dask"))
    started.wait()
    yield started
    started.close()


@pytest.fixture(scope="module")
def two_workers(empty: Local) -> Iterator[Local]:
    """Yield the scheduler with two workers, which may start slowly on a busy machine."""
    for _ in range(2):
        empty.work()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_cluster, "PATIENCE", 60.0)
        yield empty


def test_a_cluster_without_workers_is_reported(
    empty: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "PATIENCE", 1.0)
    sentence = r"a cluster with workers.*none came within 1 seconds\)\.$"
    with pytest.raises(InvalidInput, match=sentence), cluster(empty.address):
        pass


def test_two_workers_give_the_numbers_of_the_serial_run(two_workers: Local, tmp_path: Path) -> None:
    with Store(tmp_path / "results.sqlite") as store, cluster(two_workers.address) as executor:
        assert numbers(list(study(SMALL, executor, store))) == numbers(list(study(SMALL)))
        assert len(store) == SMALL.cells


def test_the_command_runs_on_the_cluster_and_resumes_where_it_stopped(
    two_workers: Local, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, serial, on_cluster = (
        tmp_path / name for name in ("study.toml", "here.sqlite", "there.sqlite")
    )
    file.write_text('methods = ["mean.sample", "mean.clipped"]\nd = 5\nn = 300\ntrials = 3\n')
    assert main(["study", str(file), "--out", str(serial), "--workers", "1"]) == 0
    expected = capsys.readouterr().out
    assert main(["study", str(file), "--out", str(on_cluster), "--dask", two_workers.url]) == 0
    assert capsys.readouterr().out.replace(str(on_cluster), str(serial)) == expected
    assert (
        main(
            [
                "study",
                str(file),
                "--out",
                str(on_cluster),
                "--trials",
                "5",
                "--dask",
                two_workers.url,
            ]
        )
        == 0
    )
    with Store(on_cluster, read_only=True) as store:
        assert len(store) == 10


def test_a_worker_that_dies_costs_only_its_cells_and_the_scheduler_ends_the_study(
    two_workers: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes: list[Outcome] = []
    with Store(tmp_path / "results.sqlite") as store:
        with cluster(two_workers.address) as executor:
            for outcome in study(LONG_STUDY, executor, store):
                outcomes.append(outcome)
                if len(outcomes) == 20:
                    os.kill(two_workers.workers[0].pid, signal.SIGKILL)
        assert len(store) == len(outcomes) == LONG_STUDY.cells
        assert numbers(outcomes) == numbers(list(study(LONG_STUDY)))

        def lose_the_scheduler() -> None:
            """Run a study, and kill the scheduler after 20 outcomes."""
            with cluster(two_workers.address) as executor:
                for outcome in study(LONG, executor, store):
                    outcomes.append(outcome)
                    if len(outcomes) == 20:
                        two_workers.scheduler.kill()

        outcomes.clear()
        monkeypatch.setattr(dask_cluster, "PATIENCE", 5.0)
        sentence = r"dask must be a scheduler that stays.*what had finished is kept\.$"
        with pytest.raises(WorkersLost, match=sentence):
            lose_the_scheduler()
        assert 20 <= len(outcomes) <= len(store.outcomes(LONG)) < LONG.cells


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl for a certificate")
@pytest.mark.slow
def test_a_cluster_that_encrypts_is_reached_with_the_certificates_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "PATIENCE", 60.0)
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1"
    command_line = [*command.split(), "-keyout", "key.pem", "-out", "certificate.pem"]
    subprocess.run(command_line, cwd=tmp_path, check=True, capture_output=True)
    tls = "distributed.comm.tls"
    setting = {f"{tls}.ca-file": str(tmp_path / "certificate.pem")}
    for role in ("client", "scheduler", "worker"):
        setting[f"{tls}.{role}.key"] = str(tmp_path / "key.pem")
        setting[f"{tls}.{role}.cert"] = str(tmp_path / "certificate.pem")
    variables = {f"DASK_{k.replace('.', '__').replace('-', '_')}": v for k, v in setting.items()}
    safe = Local(tmp_path, "tls", variables)
    try:
        safe.work()
        safe.wait()
        sentence = "address of a scheduler, got .*TLS expects"
        with pytest.raises(InvalidInput, match=sentence), cluster(safe.url):
            pass
        with dask.config.set(setting), cluster(safe.url) as executor:
            assert executor.submit(abs, -3).result() == 3
    finally:
        safe.close()


class Blinking:
    """A client whose workers disappear and return."""

    def __init__(self) -> None:
        """Begin with one worker and a call that has not finished."""
        self.threads = {"worker": 1}
        self.call: Future[int] = Future()

    def get_executor(self, pure: bool) -> Blinking:
        """Return this object as the executor."""
        return self

    def submit(self, *_: object) -> Future[int]:
        """Return the only call."""
        return self.call

    def nthreads(self) -> dict[str, int]:
        """Return the threads of each worker."""
        return self.threads


def test_a_study_survives_two_losses_of_all_workers_with_work_between_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = 100.0
    monkeypatch.setattr(dask_cluster.time, "monotonic", lambda: clock)
    client = Blinking()
    executor = dask_cluster.Cluster(client, "127.0.0.1:8786")
    executor.submit(abs, -3)
    client.threads = {}
    executor.check()
    client.call.set_result(3)  # The workers returned before anyone had to look for them.
    clock = 4000.0
    executor.check()
    clock = 4059.0
    executor.check()
    clock = 4060.0
    with pytest.raises(WorkersLost, match="all have gone"):
        executor.check()


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("", "an address as host:port"),
        ("localhost", "an address as host:port"),
        ("localhost:99999", "an address as host:port"),
        ("http://localhost:80", "an address as host:port.*scheme must be tcp or tls"),
        ("inproc://x", "an address as host:port"),
        ("a b:\n8786", "the address of a scheduler|an address as"),
        ("127.0.0.1:1", r"the address of a scheduler.*\(Connection refused\)"),
    ],
)
def test_a_wrong_address_gets_one_sentence(address: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=f"^dask must be {reason}") as error, cluster(address):
        pass
    assert "\n" not in str(error.value)


def test_an_address_without_a_scheduler_gets_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        sentence = "dask must be the address of a scheduler"
        with pytest.raises(InvalidInput, match=sentence), cluster(address):
            pass
        with dask.config.set({"distributed.comm.require-encryption": True}):
            sentence += r".*\(encryption required by Dask configuration"
            with pytest.raises(InvalidInput, match=sentence), cluster(address):
                pass


def test_a_missing_optional_package_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    sentence = r"pip install 'dpsco-explorer\[cluster\]'"
    with pytest.raises(InvalidInput, match=sentence), cluster("127.0.0.1:8786"):
        pass
