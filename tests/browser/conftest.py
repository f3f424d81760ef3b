"""The dashboard in a real browser: a server and a tab, and what every page must keep.

A test takes `page` (the tab, as good as new) and `dashboard` (the server's address), opens
``dashboard + "/?n=1000"`` and waits with `ready(page)`. After each test the page must have shown no
exception, raised no error and asked no other host for anything.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Request,
    Response,
    WebSocket,
    expect,
)

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    # Debian turns GPU rasterization on, which doubles the work without a GPU.
    "--disable-gpu-rasterization",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A visit is too short for optimised code to pay; optimising takes a twelfth of its time.
    "--js-flags=--no-opt --no-maglev --single-threaded-gc",
]
expect.set_options(timeout=20_000)  # A busy machine draws a figure late.
LOCAL = {"127.0.0.1", "localhost"}
WINDOW = {"width": 1280, "height": 900}  # This is the size of a laptop's window, in pixels.
# Whether the page has rested for a tenth of a second, since one run may start the next. The page's
# own scripts must be loaded too, as they may start another run; the script that asks for the first
# run disappears after it.
RESTING = """() => {
  const now = performance.now()
  const rests = document.querySelector("[data-test-script-state=notRunning]")
  const calls = document.querySelector(".st-key-arrival")
  if (!rests || calls || !("dpscoLeft" in window)) delete window.restingSince
  else window.restingSince ??= now
  return now - window.restingSince >= 100
}"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder `browser`."""
    folder = os.path.join(os.path.dirname(__file__), "")
    for item in items:
        # Comparing texts is faster than comparing a path with its parents.
        if str(item.path).startswith(folder):
            item.add_marker(pytest.mark.browser)


def find_browser() -> str:
    """Return the path of a Chromium, or fail with what to install."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.fail("The browser tests need Chromium on PATH: install the package chromium.")


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict[str, object],
) -> dict[str, object]:
    """Launch the system's Chromium; no browser is ever downloaded."""
    return {**browser_type_launch_args, "executable_path": find_browser(), "args": FLAGS}


@pytest.fixture(scope="session")
def visitor(browser: Browser, browser_context_args: dict[str, object]) -> Iterator[BrowserContext]:
    """Return the one browser context of the session, whose downloads can be read."""
    with browser.new_context(**browser_context_args, accept_downloads=True) as context:
        yield context


@pytest.fixture
def page(visitor: BrowserContext) -> Iterator[Page]:
    """Yield the session's tab as good as new, with its compiled scripts kept, and clear it after
    the test.
    """
    yield tab_of(visitor)
    leave(visitor)


def tab_of(visitor: BrowserContext) -> Page:
    """Return the session's tab, prepared for a test.

    Nothing moves by itself, which costs a third of a visit: a test of what moves asks for it.
    """
    tab = visitor.pages[0] if visitor.pages else visitor.new_page()
    tab.set_viewport_size(WINDOW)
    tab.emulate_media(color_scheme="light", reduced_motion="reduce")
    tab.mouse.move(0, 0)
    return tab


def leave(visitor: BrowserContext) -> None:
    """End a visit: show a page of the server without a script, and clear the tab's storage."""
    tab, *extra_tabs = visitor.pages or [visitor.new_page()]
    for extra_tab in extra_tabs:
        extra_tab.close()
    try:
        tab.goto(urljoin(tab.url, "/_stcore/health") if tab.url[:4] == "http" else "about:blank")
        if tab.url[:4] == "http":
            tab.evaluate("localStorage.clear(), sessionStorage.clear()")
    except Error:
        tab.close()  # The next test opens another page.


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the dashboard for the session on a free port; yield its address, without a slash at the
    end.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # The output goes to a file: a pipe that nobody reads would stop the server once it is full.
    log = tmp_path_factory.mktemp("dashboard") / "server.log"
    command = [
        *(sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")),
        f"--server.port={port}",
        "--server.address=127.0.0.1",
        "--server.headless=true",
        "--server.fileWatcherType=none",
        "--browser.gatherUsageStats=false",
    ]
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for_health(address, server, log)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_for_health(
    address: str, server: subprocess.Popen[bytes], log: Path, seconds: float = 60
) -> None:
    """Return once the server says that it is healthy; fail with its output otherwise."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    pytest.fail(
        f"The dashboard did not start:\n{log.read_text(encoding='utf-8', errors='replace')}"
    )


@pytest.fixture(scope="session")
def ready() -> Callable[..., None]:
    """Return a function that waits until the page's script has finished and been drawn.

    A test calls ``ready(page)`` after it opens a page or uses a control, and ``ready(page,
    seconds=60)`` after it starts a long run.
    """

    def wait(page: Page, seconds: float = 30) -> None:
        """Wait until a page rests."""
        page.wait_for_function(RESTING, polling=50, timeout=1000 * seconds)

    return wait


@pytest.fixture(autouse=True)
def a_page_keeps_to_itself_and_shows_no_error(page: Page) -> Iterator[None]:
    """Fail a test whose page showed an exception, raised an error, or asked another host."""
    errors: list[str] = []
    foreign_urls: list[str] = []

    def on_request(request: Request) -> None:
        """Record a request to another host."""
        url = urlsplit(request.url)
        if url.scheme in ("http", "https", "ws", "wss") and url.hostname not in LOCAL:
            foreign_urls.append(request.url)

    def on_websocket(socket: WebSocket) -> None:
        """Record a WebSocket to another host."""
        if urlsplit(socket.url).hostname not in LOCAL:
            foreign_urls.append(socket.url)

    def on_error(error: Error) -> None:
        """Record an error of a script on the page."""
        errors.append(str(error))

    def on_response(response: Response) -> None:
        """Record a response with an error status."""
        if response.status >= 400:
            errors.append(f"{response.status}: {response.url}")

    listeners = {"pageerror": on_error, "request": on_request, "websocket": on_websocket}
    listeners["response"] = on_response
    for event, hear in listeners.items():
        page.on(event, hear)
    yield
    for event, hear in listeners.items():
        page.remove_listener(event, hear)
    if not page.is_closed():
        exceptions = page.locator("[data-testid=stException]")
        assert exceptions.count() == 0, exceptions.first.inner_text()
    assert errors == []
    assert foreign_urls == []
