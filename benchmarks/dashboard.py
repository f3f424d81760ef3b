"""The dashboard in Chromium: first figure, bounds after a slider, page changes, a dragged picture.

`python -m benchmarks.dashboard [ROUNDS]` starts a server, opens fresh browser contexts on it once
it is warm, prints medians beside their targets, and keeps them in build/dashboard.json. It needs
the extras app and test, and Chromium on PATH.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.served import DASHBOARD, server
from dpsco_app.parts.touch.picture import picture_page
from dpsco_app.shell.places import PLACES
from dpsco_core.scenario import Scenario

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build" / "dashboard.json"
ROUNDS = 5
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FIRST, BOUNDS, CHANGE = "first figure after opening", "bounds after a slider", "page change"
FRAMES = "frames a second of dragging"
TARGETS = {FIRST: 3.0, BOUNDS: 0.25, CHANGE: 0.5}
BARE_PAGE = "a bare Streamlit page"
TIMEOUT = 60_000
# Of the visible one of the two figures; the other is for phones.
FIGURE = ".st-key-figure_wide .js-plotly-plot .main-svg"
FINISHED = "[data-testid=stApp][data-test-script-state=notRunning]"
# The clock of the page: it starts at an event and stops at the first frame that shows another text.
CLOCK = """([what, event]) => {
  window.__took = null
  const read = () => (document.querySelector(what) || {}).textContent || ""
  const before = read()
  document.addEventListener(event, () => {
    const start = performance.now()
    const look = () => {
      const now = read()
      if (now && now !== before) window.__took = (performance.now() - start) / 1000
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  }, { once: true, capture: true })
}"""


# In the page: when the first figure was there, since the page was asked for.
FIRST_CLOCK = """(what) => {
  const look = () => {
    const found = document.querySelector(what)
    if (found && found.getClientRects().length) window.__first = performance.now() / 1000
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}"""


# A hand that moves the radius at every frame, and the frames that this leaves in a second.
DRAG = """async (seconds) => {
  const slider = document.querySelector("input[name=radius]")
  const start = performance.now()
  let frames = 0
  while (performance.now() - start < 1000 * seconds) {
    slider.value = 100 + 90 * Math.sin(frames / 10)
    slider.dispatchEvent(new Event("input"))
    await new Promise(requestAnimationFrame)
    frames += 1
  }
  return (1000 * frames) / (performance.now() - start)
}"""
DRAG_SECONDS, LEAST_FRAMES = 3.0, 30.0


BARE = ("-m", "streamlit", "run", str(ROOT / "benchmarks" / "bare_app.py"))


@contextmanager
def fresh(browser: Browser) -> Iterator[Page]:
    """Yield a page of a new visitor, with nothing in its cache."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        yield context.new_page()


def finished(page: Page) -> None:
    """Wait until the script has ended."""
    page.locator(FINISHED).wait_for(timeout=TIMEOUT)


def opening(browser: Browser, address: str) -> tuple[float, float]:
    """Return the seconds to the first figure, and those to the end of the run."""
    with fresh(browser) as page:
        page.add_init_script(f"({FIRST_CLOCK})({json.dumps(FIGURE)})")
        started = time.perf_counter()
        page.goto(address, wait_until="commit")
        page.get_by_text("Finished:").wait_for(timeout=TIMEOUT)
        whole = time.perf_counter() - started
        page.wait_for_function("() => window.__first > 0", timeout=TIMEOUT)
        return float(page.evaluate("window.__first")), whole


def changes_of_bounds(browser: Browser, address: str, rounds: int) -> list[float]:
    """Return the seconds from a key on the slider of the tail index to another figure."""
    found = []
    with fresh(browser) as page:
        page.goto(f"{address}/?trials=5&grid=1000,5000")
        page.get_by_text("Finished:").wait_for(timeout=TIMEOUT)
        slider = page.get_by_role("slider", name="Tail index p")
        slider.wait_for(timeout=TIMEOUT)
        slider.focus()
        for round_ in range(rounds + 1):
            finished(page)
            page.wait_for_timeout(300)
            key = "ArrowRight" if round_ % 2 == 0 else "ArrowLeft"
            shown = ".st-key-figure_wide .js-plotly-plot"
            found.append(timed(page, shown, "keydown", partial(page.keyboard.press, key)))
    return found[1:]  # the first one warms up


def timed(page: Page, what: str, event: str, act: Callable[[], None]) -> float:
    """Return the seconds from an event, which `act` causes, until an element's text has changed."""
    page.evaluate(CLOCK, [what, event])
    act()
    page.wait_for_function("() => window.__took !== null", timeout=TIMEOUT)
    return float(page.evaluate("window.__took"))


def page_changes(
    browser: Browser, address: str, rounds: int, titles: Sequence[str]
) -> dict[str, list[float]]:
    """Return the seconds from a click in the navigation to the new page's heading, by page."""
    found: dict[str, list[float]] = {title: [] for title in titles}
    with fresh(browser) as page:
        page.goto(f"{address}/?trials=5&grid=1000,5000")
        page.get_by_text("Finished:").wait_for(timeout=TIMEOUT)
        for _ in range(rounds + 1):
            for title in [*titles[1:], titles[0]]:
                link = page.get_by_role("link", name=title, exact=True).first
                found[title].append(timed(page, "h1", "click", link.click))
                finished(page)
    return {title: times[1:] for title, times in found.items()}


def sizes(browser: Browser, address: str) -> dict[str, float]:
    """Return the kilobytes that the websocket carries to the browser for each page."""
    found = {}
    for slug, title in PLACES.items():
        received = [0]

        def count(payload: str | bytes, received: list[int] = received) -> None:
            received[0] += len(payload)

        with fresh(browser) as page:
            page.on("websocket", lambda socket: socket.on("framereceived", count))
            page.goto(f"{address}/{slug}")
            page.locator("h1").first.wait_for(timeout=TIMEOUT)
            finished(page)
            page.wait_for_timeout(500)
            finished(page)
        found[title] = received[0] / 1000
    return found


def frames_a_second(browser: Browser) -> float:
    """Return the frames a second while a hand drags the radius of the picture, with 500 records."""
    with fresh(browser) as page:
        page.set_content(picture_page(Scenario(distribution="skewed-pareto", p=2.0, n=500)))
        page.get_by_text("500 records are clipped").wait_for(timeout=TIMEOUT)
        return float(page.evaluate(DRAG, DRAG_SECONDS))


def browser_path() -> str:
    """Return the path of a Chromium, or say what to install."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise SystemExit("The benchmark needs Chromium on PATH: install the package chromium.")


def measure(rounds: int = ROUNDS) -> dict[str, dict[str, float]]:
    """Return the medians, by what was measured; those of a bare Streamlit page beside them."""
    result: dict[str, dict[str, float]] = {FIRST: {}, BOUNDS: {}, CHANGE: {}}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        for name, start in (("Explore", DASHBOARD), (BARE_PAGE, BARE)):
            titles = list(PLACES.values()) if start == DASHBOARD else ["Explore", "Learn"]
            with server(start) as (address, _):
                opening(browser, address)  # warms up
                opened = [opening(browser, address) for _ in range(rounds)]
                slid = changes_of_bounds(browser, address, 2 * rounds)
                changed = page_changes(browser, address, rounds, titles)
                if start == DASHBOARD:
                    result["kilobytes to the browser"] = sizes(browser, address)
            result[FIRST][name] = statistics.median(first for first, _ in opened)
            result[FIRST][f"{name}, whole run"] = statistics.median(whole for _, whole in opened)
            result[BOUNDS][name] = statistics.median(slid)
            for title, times in changed.items():
                key = title if start == DASHBOARD else BARE_PAGE
                result[CHANGE][key] = statistics.median(times)
        result[FRAMES] = {"the radius of the picture": frames_a_second(browser)}
        browser.close()
    return result


def main() -> None:
    """Measure, print, compare with the last time, and keep the result."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    last = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    result = measure(rounds)
    for title, values in result.items():
        unit = ", seconds" if title in TARGETS else ""
        print(f"\n{title}{unit}")
        for name, value in values.items():
            before = last.get(title, {}).get(name)
            goal = None if "whole run" in name or name == BARE_PAGE else TARGETS.get(title)
            target = f"  target {goal:g}{' MISSED' * (value > goal)}" if goal else ""
            if title == FRAMES:
                target = f"  at least {LEAST_FRAMES:g}{' MISSED' * (value < LEAST_FRAMES)}"
            change = f"  (last {before:.2f})" if before is not None else ""
            print(f"  {name:<38} {value:8.2f}{target}{change}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2))
    print(f"\nWritten to {RESULTS.relative_to(ROOT)}. On a busy machine the numbers mean little.")


if __name__ == "__main__":
    main()
