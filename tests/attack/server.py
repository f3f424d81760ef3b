"""The dashboard's server in a process of its own, spoken to byte by byte."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEY = "dGhlIHNhbXBsZSBub25jZQ=="  # The key of a WebSocket's handshake; any 16 bytes will do.


@contextmanager
def serving(
    folder: Path, *options: str, port: int = 0
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Start the server with the configuration in the tree; yield its port and its process, and stop
    it at the end.
    """
    if port == 0:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    log = folder / f"server-{time.monotonic_ns()}.log"
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, f"--server.port={port}", *options],
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + 60
        while not is_healthy(port):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield port, process
    finally:
        process.kill()
        process.wait(30)


def is_healthy(port: int) -> bool:
    """Whether the server's health check succeeds."""
    try:
        return ask(port, "GET", "/_stcore/health")[0] == 200
    except OSError:
        return False


def ask(
    port: int, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b""
) -> tuple[int, http.client.HTTPMessage, bytes]:
    """Send a request whose path is sent unchanged; return status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    # The request is written by hand, as an attacker would: no library refuses spaces or control
    # characters.
    connection._validate_path = lambda url: None  # type: ignore[attr-defined,method-assign]
    try:
        connection.request(method, path, body=body or None, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def knock(port: int, origin: str | None, host: str | None = None) -> int:
    """Request a WebSocket connection, and return the status of the answer (101 if granted)."""
    lines = [
        "GET /_stcore/stream HTTP/1.1",
        f"Host: {host or f'localhost:{port}'}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {KEY}",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Protocol: streamlit",
        *([] if origin is None else [f"Origin: {origin}"]),
    ]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as wire:
        wire.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return int(wire.recv(64).split()[1])
