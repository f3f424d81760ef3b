"""The page without a server: built once, behind a plain file server, in Chromium.

The engine's files come from where `make site` takes them; without them, and without a network,
every test here fails with the sentence that says which folder to name.
"""

from __future__ import annotations

import fcntl
import http.server
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route

from deploy.live.build import build
from deploy.live.engine import EngineMissing
from dpsco_app.parts.presets import FIRST
from tests.browser.conftest import browser_type_launch_args

__all__ = ["browser_type_launch_args"]

ROOT = Path(__file__).resolve().parents[2]
# These presets take a second each, and `make site` prepares all presets.
PREPARED = (FIRST.slug, "hardest-input")
# The lessons are one that asks for a number, one with a choice, and one with two figures.
TAUGHT = ("heavy-tails", "clipping", "epsilon")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the page's folder, once for all workers of a run, and return its path."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "live").is_dir():
            try:
                build(shared / "live", ROOT / "build" / "pyodide", slugs=PREPARED, steps=TAUGHT)
            except EngineMissing as problem:
                pytest.fail(str(problem))
    return shared / "live"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Suppress the log message of a request."""


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the error of a browser that leaves, since another test may be listening."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@pytest.fixture(scope="session")
def live(folder: Path) -> Iterator[str]:
    """Serve the folder as any host would; yield the address, without a slash."""
    handler = partial(Quiet, directory=str(folder))
    with Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def tab(browser: Browser, live: str) -> Iterator[Page]:
    """Yield a tab that the tests of a module share."""
    with tab_of(browser, live, 1400, "light") as page:
        yield page


@contextmanager
def tab_of(browser: Browser, live: str, width: int, scheme: Any) -> Iterator[Page]:
    """Yield a new tab in which an error, or a request to any other host, fails the test."""
    size: Any = {"width": width, "height": 900}
    with browser.new_context(viewport=size, color_scheme=scheme) as context:
        foreign_urls: list[str] = []
        errors: list[str] = []

        def refuse(route: Route) -> None:
            """Record a request to another host, and abort it."""
            foreign_urls.append(route.request.url)
            route.abort()

        context.route(lambda url: not url.startswith((live, "blob:", "data:")), refuse)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        yield page
        assert (foreign_urls, errors) == ([], [])


def state(page: Page, engine: str, drawing: str = "done") -> None:
    """Wait until the engine is in a state and its results are drawn."""
    page.wait_for_selector(
        f"body[data-engine={engine}][data-drawn={drawing}]", state="attached", timeout=90_000
    )


def axe(page: Page) -> None:
    """Check with axe that what the page shows now is accessible."""
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()


def numbers(page: Page) -> dict[str, object]:
    """Return the document that the page saves as JSON."""
    with page.expect_download() as saved:
        page.get_by_role("button", name="JSON").click()
    document: dict[str, object] = json.loads(saved.value.path().read_text(encoding="utf-8"))
    return document
