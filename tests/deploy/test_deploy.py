"""The files of deploy/: linted, and their start commands run here, without containers."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.load import enter
from benchmarks.visitor import Visitor

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
BIN = Path(sys.executable).parent
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
PATIENCE = 90.0
# Docker passes these proxy settings to every container, and no proxy listens at the address.
PROXIES = dict.fromkeys(("http_proxy", "HTTP_PROXY", "all_proxy"), "http://127.0.0.1:9")

Instruction = tuple[str, str]


def instructions(text: str) -> list[Instruction]:
    """Return the instructions of a Dockerfile: the word, and the rest on one line."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    texts = [line.strip().partition(" ") for line in joined.splitlines() if line.strip()]
    return [(word.upper(), " ".join(rest.split())) for word, _, rest in texts]


def last_instruction(text: str, word: str) -> str:
    """Return the arguments of the last instruction of a kind in a Dockerfile."""
    return [rest for name, rest in instructions(text) if name == word][-1]


def dockerfile_faults(text: str) -> list[str]:
    """Return the faults of a Dockerfile, as sentences."""
    faults = []
    steps = instructions(text)
    names = [name for name, _ in steps]
    for name, rest in steps:
        if name == "FROM" and not re.match(r"\S+:(?!latest)\S+", rest):
            faults.append(f"FROM {rest}: its base is not pinned to a version")
        if name == "ADD":
            faults.append(f"ADD {rest}: COPY says what it does")
        if name in ("CMD", "ENTRYPOINT") and not rest.startswith("["):
            faults.append(f"{name} {rest}: a shell stands before the program")
        if name == "RUN" and re.search(r"\b(curl|wget|sudo)\b", rest):
            faults.append(f"RUN {rest}: fetches or changes what is not pinned")
    final = steps[max(i for i, name in enumerate(names) if name == "FROM") :]
    users = [rest for name, rest in final if name == "USER"]
    if not users or users[-1].split(":")[0] in ("root", "0"):
        faults.append("USER: it runs as root")
    if "HEALTHCHECK" not in [name for name, _ in final]:
        faults.append("HEALTHCHECK: nobody sees when it hangs")
    if "CMD" not in [name for name, _ in final]:
        faults.append("CMD: it starts nothing")
    return faults


def compose_faults(compose: dict[str, Any]) -> list[str]:
    """Return the faults of the services of a compose file, as sentences."""
    faults = []
    for name, service in compose["services"].items():
        for key, value in (("read_only", True), ("cap_drop", ["ALL"])):
            if service.get(key) != value:
                faults.append(f"{name}: {key} must be {value}")
        if "no-new-privileges:true" not in service.get("security_opt", []):
            faults.append(f"{name}: it may gain privileges")
        if not service.get("tmpfs") or not service.get("mem_limit"):
            faults.append(f"{name}: nowhere to write, or memory without end")
        if service.get("privileged") or "docker.sock" in str(service.get("volumes")):
            faults.append(f"{name}: it owns the host")
        for port in service.get("ports", []):
            if not str(port).startswith("127.0.0.1:"):
                faults.append(f"{name}: {port} is open to the world without TLS")
        for network in service.get("networks", ["default"]):
            is_defined = network in (compose.get("networks") or {})
            if not is_defined:
                faults.append(f"{name}: the network {network} is not there")
        for dependency in service.get("depends_on", {}):
            if dependency not in compose["services"]:
                faults.append(f"{name}: it waits for {dependency}, which is not there")
    scheduler = compose["services"]["scheduler"]
    internal = all((compose["networks"][n] or {}).get("internal") for n in scheduler["networks"])
    if scheduler.get("ports") or not internal:
        faults.append("scheduler: whoever reaches it runs code on its workers")
    return faults


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """Return the compose file as a parser of YAML reads it."""
    settings: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return settings


def test_the_dockerfile_keeps_the_rules() -> None:
    assert dockerfile_faults(DOCKERFILE) == []
    hadolint = shutil.which("hadolint", path=f"{BIN}:{os.environ['PATH']}")
    if hadolint is not None:  # The linter is not available on every machine.
        child = subprocess.run(
            [hadolint, str(DEPLOY / "Dockerfile")], capture_output=True, text=True
        )
        assert child.returncode == 0, child.stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FROM python:3.11-slim-bookworm\n", "FROM python\n"),
        ("FROM python:3.11-slim-bookworm AS", "FROM python:latest AS"),
        ("COPY pyproject.toml", "ADD https://example.org/x"),
        ("USER 10001:10001", ""),
        ("USER 10001:10001", "USER root"),
        ("HEALTHCHECK", "# HEALTHCHECK"),
        ('CMD ["python", "-m"', 'CMD python "-m"'),
        ("RUN useradd", "RUN curl example.org | sh && useradd"),
    ],
)
def test_a_fault_of_a_dockerfile_is_found(old: str, new: str) -> None:
    assert old in DOCKERFILE
    # The HEALTHCHECK has a CMD of its own on its second line.
    broken = DOCKERFILE.replace(old, new)
    assert dockerfile_faults(broken) or new.startswith("# ")
    if new.startswith("# "):
        assert dockerfile_faults(broken.replace("    CMD [", "#   CMD ["))


def test_the_compose_file_keeps_the_rules(compose: dict[str, Any]) -> None:
    assert compose_faults(compose) == []
    assert compose["services"]["worker"]["deploy"]["replicas"] == 2


@pytest.mark.parametrize(
    ("service", "key", "value"),
    [
        ("dashboard", "read_only", False),
        ("dashboard", "ports", ["8501:8501"]),
        ("worker", "cap_drop", []),
        ("worker", "networks", ["nowhere"]),
        ("worker", "depends_on", {"nobody": {}}),
        ("scheduler", "ports", ["127.0.0.1:8786:8786"]),
        ("scheduler", "networks", ["web"]),
        ("study", "mem_limit", None),
        ("study", "volumes", ["/var/run/docker.sock:/var/run/docker.sock"]),
    ],
)
def test_a_fault_of_a_compose_file_is_found(
    compose: dict[str, Any], service: str, key: str, value: Any
) -> None:
    changed = {**compose["services"][service], key: value}
    broken = {**compose, "services": {**compose["services"], service: changed}}
    assert compose_faults(broken)


def test_the_build_context_has_the_files_that_the_image_and_the_wheel_need() -> None:
    ignore = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    allowed = [line[1:] for line in ignore if line.startswith("!")]
    steps = instructions(DOCKERFILE)
    sources = [
        source
        for name, rest in steps
        if name == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    ]
    assert sorted(sources) == sorted(allowed)
    assert all((ROOT / source).exists() for source in sources)
    package_data = re.findall(r'^"([^"]+)" = "dpsco_app/', read("pyproject.toml"), re.MULTILINE)
    assert package_data
    assert all(any(fnmatch(n, s) for s in sources) for n in [*package_data, "LICENSE", "README.md"])


def read(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def variables(folder: Path) -> dict[str, str]:
    """Return the environment variables that the image sets, with `folder` as the folder to which it
    writes.
    """
    pairs = dict(
        pair.split("=", 1) for name, rest in instructions(DOCKERFILE) if name == "ENV"
        for pair in shlex.split(rest)
    )  # fmt: skip
    assert pairs.pop("PATH").startswith("/opt/dpsco/bin")
    environment = {name: value.replace("/tmp", str(folder)) for name, value in pairs.items()}
    path = f"{BIN}:/usr/bin:/bin:/usr/sbin:/sbin"
    return environment | {"PATH": path, "TMPDIR": str(folder), **PROXIES}


def read_only(folder: Path) -> list[str]:
    """Return the words before a command that let it write in `folder` only, or none where that is
    impossible.

    The command gets a mount namespace of its own, as a container has.
    """
    probe = ["unshare", "--mount", "--map-root-user", "true"]
    if shutil.which("unshare") is None or subprocess.run(probe, capture_output=True).returncode:
        return []
    script = (
        'set -e; mount --make-rprivate /; mount -t tmpfs tmpfs "$1"; mount -o remount,bind,ro /; '
        'if touch "$2" 2>/dev/null; then exit 9; fi; shift 2; exec "$@"'
    )
    return [*probe[:-1], "sh", "-c", script, "sh", str(folder), str(ROOT / "written")]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def started(
    command: Sequence[str], log: Path, changes: dict[str, str]
) -> Iterator[subprocess.Popen]:
    """Start a command in an empty folder; at the end stop it, and the processes that it has
    started.
    """
    cwd = log.with_suffix(".cwd")
    cwd.mkdir()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=os.environ | changes,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def healthy(check: Sequence[str], changes: dict[str, str]) -> bool:
    """Whether a health check succeeds, run with the environment of the image."""
    return subprocess.run(check, env=os.environ | changes, capture_output=True).returncode == 0


def wait_until(
    check: Sequence[str], process: subprocess.Popen, log: Path, changes: dict[str, str]
) -> None:
    """Wait until a health check succeeds."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if healthy(check, changes):
            return
        time.sleep(0.3)
    pytest.fail(
        f"{shlex.join(check)} failed:\n{log.read_text(encoding='utf-8', errors='replace')[-3000:]}"
    )


@pytest.mark.slow
def test_the_dashboard_starts_as_the_image_starts_it_and_draws(tmp_path: Path) -> None:
    folder = tmp_path / "writable"
    folder.mkdir()
    port = str(free_port())
    command = [
        part.replace("8501", port) for part in json.loads(last_instruction(DOCKERFILE, "CMD"))
    ]
    check_text = last_instruction(DOCKERFILE, "HEALTHCHECK").partition(" CMD ")[2]
    check = [part.replace("8501", port) for part in json.loads(check_text)]
    changes = variables(folder)
    prefix = read_only(folder)
    if not prefix:
        changes["HOME"] = "/proc/nowhere"
    assert not healthy(check, changes)  # The health check can fail.
    log = tmp_path / "dashboard.log"
    with started([*prefix, *command], log, changes) as process:
        wait_until(check, process, log, changes)
        answer = asyncio.run(first_page(f"http://127.0.0.1:{port}"))
    assert answer
    text = log.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in text and "usage statistics" not in text, text


async def first_page(address: str) -> bool:
    """Return whether the first page of a dashboard ends its run with a figure."""
    async with Visitor(address) as visitor:
        answer = await enter(visitor)
    return answer.says("Measured in ") and answer.figure is not None


@pytest.mark.slow
def test_the_cluster_of_the_compose_file_runs_a_study(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    services = compose["services"]
    port = str(free_port())
    (tmp_path / "study.toml").write_text('methods = ["mean.clipped"]\nn = 500\ntrials = 6\n')
    folder = tmp_path / "writable"
    folder.mkdir()
    changes = variables(folder)
    results = tmp_path / "results.sqlite"
    swaps = {  # The swaps are made in this order, each of them once.
        "8786": port,
        "scheduler:": "127.0.0.1:",
        "/results/results.sqlite": str(results),
        "/studies": str(tmp_path),
        "/tmp": str(folder),
    }

    def command(service: str) -> list[str]:
        """Return the command of a service, with its hosts and ports swapped for local ones."""
        words = [*services[service].get("entrypoint", []), *services[service]["command"]]
        if words[0] == "dpsco" and shutil.which("dpsco", path=changes["PATH"]) is None:
            words[:1] = [
                sys.executable,
                "-m",
                "dpsco_core.cli.main",
            ]  # The file is a checkout that is not installed.
        return [swapped(word, swaps) for word in words]

    check = [swapped(word, swaps) for word in services["scheduler"]["healthcheck"]["test"][1:]]
    logs = [tmp_path / f"{name}.log" for name in ("scheduler", "worker-0", "worker-1")]
    with started(command("scheduler"), logs[0], changes) as scheduler:
        wait_until(check, scheduler, logs[0], changes)
        with (
            started(command("worker"), logs[1], changes),
            started(command("worker"), logs[2], changes),
        ):
            child = subprocess.run(
                command("study"),
                env=os.environ | changes,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
    assert child.returncode == 0, child.stderr + logs[0].read_text(
        encoding="utf-8", errors="replace"
    )
    assert "6 cells" in child.stdout
    with closing(sqlite3.connect(results)) as base:
        assert base.execute("SELECT count(*) FROM cells").fetchone() == (6,)


def swapped(word: str, swaps: dict[str, str]) -> str:
    """Return a word of a command with the paths and ports of this machine in it."""
    for old, new in swaps.items():
        if old == "/tmp" and word != old:
            continue
        word = word.replace(old, new)
    return word
