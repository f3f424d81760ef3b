"""The page without a server in Chromium: its first figure, the engine's start, runs, and memory.

`python -m benchmarks.live [ROUNDS]` serves build/site (`make site` builds it), opens it in fresh
browsers and prints medians beside their targets. It needs the extra test, and Chromium on PATH.
"""

from __future__ import annotations

import http.server
import shutil
import statistics
import sys
import threading
import time
from functools import partial
from pathlib import Path

import psutil
from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).resolve().parents[1] / "build" / "live"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
IS_LIVE = "document.getElementById('status').textContent.startsWith('Live')"
TARGETS = {
    "default figure, s": 1.5,
    "live, s": 20.0,
    "a run of the default, s": 2.5,
    "memory of the tab, MB": 600.0,
}


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *message: object) -> None:
        """Ignore a message; the base class would print one for every request."""


def visit(address: str) -> dict[str, float]:
    """Open the page in a fresh browser; return its times and memory, by the names of `TARGETS`."""
    with sync_playwright() as play:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = play.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        began = time.monotonic()
        page.goto(address)
        page.wait_for_selector("#figure .annotation")
        first_seconds = time.monotonic() - began
        page.wait_for_selector("body[data-engine=live]", timeout=90_000)
        live = time.monotonic() - began
        page.wait_for_function(IS_LIVE, timeout=90_000)
        began = time.monotonic()
        page.locator("#field-epsilon").fill("8")
        page.wait_for_selector("body[data-drawn=growing]")
        page.wait_for_selector("body[data-drawn=done]", timeout=90_000)
        run = time.monotonic() - began
        children = psutil.Process().children(recursive=True)
        tabs = [p for p in children if "--type=renderer" in p.cmdline()]
        memory = max(p.memory_info().rss for p in tabs) / 1e6
        browser.close()
    return dict(zip(TARGETS, (first_seconds, live, run, memory), strict=True))


def main(rounds: int) -> None:
    """Print the median times and memory of `rounds` visits beside their targets."""
    handler = partial(QuietHandler, directory=str(FOLDER))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        visits = [visit(f"http://127.0.0.1:{server.server_port}") for _ in range(rounds)]
        server.shutdown()
    for name, target in TARGETS.items():
        middle = statistics.median(one[name] for one in visits)
        print(f"{name:30} {middle:8.2f}   target {target:g}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
