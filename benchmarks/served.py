"""The dashboard, or another Streamlit page, served for a benchmark."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DASHBOARD = ("-m", "dpsco_app")  # This is the command of `make app`.
PATIENCE = 120  # The seconds within which the server must answer.


@contextmanager
def server(
    start: Sequence[str], command_prefix: Sequence[str] = ()
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a server on a free port; yield its address and its process.

    Parameters
    ----------
    start : sequence of str
        Arguments of Python.
    command_prefix : sequence of str
        What stands before Python, such as ``taskset``.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = ROOT / "build" / "served.log"
    log.parent.mkdir(exist_ok=True)
    command = [
        *(*command_prefix, sys.executable, *start),
        f"--server.port={port}",
        "--server.address=127.0.0.1",
        "--server.headless=true",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(address, process, log)
        yield address, process
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers; raise RuntimeError with its log if it does not."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    raise RuntimeError(
        f"The dashboard did not start:\n{log.read_text(encoding='utf-8', errors='replace')}"
    )
