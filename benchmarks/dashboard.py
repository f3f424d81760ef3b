"""The dashboard in Chromium: first figures, moves of a control, changes of page, four visitors.

`python -m benchmarks.dashboard [ROUNDS]` starts a server, opens fresh browser contexts on it once
it is warm, prints medians beside their targets, and keeps them in build/dashboard.json. A page
times itself: from the event, or from the address, to the frame that shows something new. It needs
the extras app and test, and Chromium on PATH.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Barrier

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.served import DASHBOARD, server
from benchmarks.visitor import Visitor
from dpsco_app.pages.geometry.state import PARTS
from dpsco_app.parts.presets import PRESETS
from dpsco_app.parts.touch.picture import picture_page
from dpsco_app.shell.names import MENU
from dpsco_core.scenario import Scenario

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build" / "dashboard.json"
ROUNDS = 5
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
TIMEOUT = 60_000
BARE_APP = ("-m", "streamlit", "run", str(ROOT / "benchmarks" / "bare_app.py"))
TAIL, RECORDS, OTHER_VIEWS = "Tail index p", "Records n", "⋯"
# The largest allowed times in seconds: medians, and the 95th percentile for the four visitors.
FIRST_FIGURE = "first figure, above a bare page with one"
TARGETS = {
    FIRST_FIGURE: 0.3,
    "first answer to a move": 0.5,
    "all of the default run, after a move": 0.6,
    "all of what has run before": 0.25,
    "page change": 0.4,
    "another question of Geometry": 1.0,
    "One run after a change of n": 2.0,
    "first map of Who wins": 1.0,
    "an ℓq scenario, whole": 3.0,
    "a user-level scenario, whole": 2.0,
    "first new marks, four visitors at once": 1.5,
}
LEAST_FRAMES = 30.0
DRAG_SECONDS = 3.0
# JavaScript for the page: it watches for changes after `event`, or since the address was requested.
# It returns the times, in seconds, of the first new heading, figure, line and mark, and of the last
# new drawing.
WATCH = """(event) => {
  const drawn = new WeakMap()
  const parts = (plot) => {
    const held = drawn.get(plot)
    if (held && held.data === plot.data) return held.parts
    const found = plot.data.map((t) => [
      /markers/.test(t.mode) ? "mark" : "line", JSON.stringify([t.type, t.x, t.y, t.z]),
    ])
    drawn.set(plot, { data: plot.data, parts: found })
    return found
  }
  const shown = () => [...document.querySelectorAll(".js-plotly-plot")]
    .filter((plot) => plot.data && plot.getClientRects().length && plot.querySelector(".main-svg"))
    .flatMap(parts)
  const heading = () => document.querySelector("h1")?.textContent
  const log = (window.__log = { rested: 0 })
  const known = new Set(event ? shown().map(([_, text]) => text) : [])
  const before = event && heading()
  const begin = (start) => {
    const look = () => {
      if (window.__log !== log) return
      const now = (performance.now() - start) / 1000
      const fresh = shown().filter(([_, text]) => !known.has(text))
      for (const [kind, text] of fresh) {
        known.add(text)
        log[kind] ??= now
        log.figure ??= now
        log.last = now
      }
      if (heading() && heading() !== before) log.heading ??= now
      if (fresh.length || !document.querySelector("[data-test-script-state=notRunning]")) {
        log.busy = now
      }
      log.rested = now - (log.busy ?? 0)
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  }
  const once = { once: true, capture: true }
  if (event) document.addEventListener(event, () => begin(performance.now()), once)
  else begin(0)
}"""
RESTED = "([what, seconds]) => what in window.__log && window.__log.rested > seconds"
# JavaScript that moves a slider of the page at every frame and returns the frames per second.
DRAG = """async (slider, seconds) => {
  const most = Number(slider.max)
  const start = performance.now()
  let frames = 0
  while (performance.now() - start < 1000 * seconds) {
    slider.value = most * (0.5 + 0.45 * Math.sin(frames / 10))
    slider.dispatchEvent(new Event("input"))
    await new Promise(requestAnimationFrame)
    frames += 1
  }
  return (1000 * frames) / (performance.now() - start)
}"""

Times = dict[str, float]
OTHER_VISITORS = 3  # The number of visitors beside the one who is timed.
seeds = count(1)  # Each visit has its own seed, so that none reuses the runs of another.


@contextmanager
def visit(browser: Browser, address: str, path: str = "", query: str = "") -> Iterator[Page]:
    """Yield the page of a new visitor with an empty cache, once its figure is drawn."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.add_init_script(f"({WATCH})(null)")
        page.goto(f"{address}/{path}?seed={next(seeds)}{query}", wait_until="commit")
        page_times(page, "figure", 1.5)
        yield page


def page_times(page: Page, event_name: str, rest: float = 0.6) -> Times:
    """Return the page's times in seconds, by event, once `event_name` has occurred.

    The page must also have been quiet for `rest` seconds.
    """
    page.wait_for_function(RESTED, arg=[event_name, rest], timeout=TIMEOUT)
    logged: Times = page.evaluate("window.__log")
    return logged


def time_after(page: Page, event: str, act: Callable[[], None], event_name: str) -> Times:
    """Return the times in seconds, by event, after the DOM event that `act` triggers.

    The answer waits until `event_name` has occurred.
    """
    page.evaluate(WATCH, event)
    act()
    return page_times(page, event_name)


def move_slider(page: Page, name: str, key: str, event_name: str = "figure") -> Times:
    """Press a key on a slider; return the times in seconds, by event, once the page is quiet.

    `name` is the slider's label, and `key` the key in the notation of Playwright.
    """
    slider = page.get_by_role("slider", name=name)
    slider.wait_for(timeout=TIMEOUT)
    slider.focus()
    return time_after(page, "keydown", lambda: page.keyboard.press(key), event_name)


def times_after_click(page: Page, role: str, name: str, event_name: str = "figure") -> Times:
    """Return the times in seconds, by event, after a click on the element of this role and name."""
    target = page.get_by_role(role, name=name, exact=True).first  # type: ignore[arg-type]
    return time_after(page, "click", target.click, event_name)


def opening_times(browser: Browser, address: str, rounds: int, query: str = "") -> list[Times]:
    """Return the times of opening the page, by event, for each of `rounds` new visitors.

    One more visitor comes before them, untimed, to warm the server up.
    """
    opened = []
    for _ in range(rounds + 1):
        with visit(browser, address, query=query) as page:
            opened.append(page_times(page, "figure"))
    return opened[1:]


def move_times(browser: Browser, address: str, rounds: int) -> tuple[list[Times], list[Times]]:
    """Return the times after moves of the tail index: to new values, and back to an old one."""
    new, ran = [], []
    for _ in range(rounds):
        with visit(browser, address) as page:
            new += [move_slider(page, TAIL, key, "mark") for key in ("ArrowRight", "ArrowRight")]
            ran.append(move_slider(page, TAIL, "ArrowLeft", "mark"))
    return new, ran


def first_answer_time(move: Times) -> float:
    """Return the seconds after a move until the heading or the figure changes."""
    return min(move["figure"], move.get("heading", move["figure"]))


def crowd_times(browser: Browser, address: str, rounds: int) -> list[float]:
    """Return the seconds to new marks for one visitor while others move the tail index too."""
    seconds = []
    for _ in range(rounds):
        with visit(browser, address) as page, ThreadPoolExecutor(OTHER_VISITORS) as pool:
            ready = Barrier(OTHER_VISITORS + 1)
            visitors = [
                pool.submit(visit_beside, address, next(seeds), ready)
                for _ in range(OTHER_VISITORS)
            ]
            ready.wait(TIMEOUT / 1000)
            seconds.append(move_slider(page, TAIL, "ArrowRight", "mark")["mark"])
            for visitor in visitors:
                visitor.result()
    return seconds


def visit_beside(address: str, seed: int, ready: Barrier) -> None:
    """Visit without a browser, as from another machine, and move the tail index."""

    async def move() -> None:
        """Open the dashboard, and move a slider once all visitors are ready."""
        async with Visitor(address, f"seed={seed}") as visitor:
            await visitor.open()
            await visitor.tell("arrival", "there")
            ready.wait(TIMEOUT / 1000)
            await visitor.slide("field_p", 1)

    asyncio.run(move())


def page_change_times(
    browser: Browser, address: str, titles: Sequence[str], rounds: int
) -> list[float]:
    """Return the seconds from clicks in the navigation to new headings."""
    seconds = []
    with visit(browser, address) as page:
        for _ in range(rounds):
            for title in titles:
                seconds.append(times_after_click(page, "link", title, "heading")["heading"])
    return seconds


def place_times(browser: Browser, address: str, rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Yield the name of each further measurement, on other pages or presets, and its seconds."""
    parts = []
    for _ in range(rounds):
        with visit(browser, address, "geometry") as page:
            parts += [
                times_after_click(page, "radio", PARTS[part])["figure"]
                for part in ("width", "noise")
            ]
    yield "another question of Geometry", parts
    runs, maps = [], []
    for _ in range(rounds):
        with visit(browser, address, "one-run") as page:
            runs.append(move_slider(page, RECORDS, "ArrowLeft")["last"])
        with visit(browser, address) as page:
            page.get_by_role("button", name=OTHER_VIEWS).click()
            maps.append(times_after_click(page, "link", "Who wins")["figure"])
    yield "One run after a change of n", runs
    yield "first map of Who wins", maps
    for name, level in (
        ("an ℓq scenario, whole", "item"),
        ("a user-level scenario, whole", "user"),
    ):
        scenario = next(
            p.scenario
            for p in PRESETS
            if p.scenario.level == level and (level == "user" or p.scenario.geometry != "l2")
        )
        query = "".join(f"&{key}={value}" for key, value in scenario.to_query().items())
        yield name, [one["last"] for one in opening_times(browser, address, rounds, query)]


def frame_rates(browser: Browser, address: str) -> Iterator[tuple[str, float]]:
    """Yield frames per second during a drag, for a figure of 500 records and for a run."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_content(picture_page(Scenario(distribution="skewed-pareto", p=2.0, n=500)))
        page.get_by_text("500 records are clipped").wait_for(timeout=TIMEOUT)
        radius = page.locator("input[name=radius]")
        yield "radius of the picture", radius.evaluate(DRAG, DRAG_SECONDS)
    with visit(browser, address, "one-run") as page:
        for name, event_name in (("frame", "step"), ("radius", "radius")):
            slider = page.locator(f".run input[name={name}]")
            yield f"{event_name} of a run", slider.evaluate(DRAG, DRAG_SECONDS)


def browser_path() -> str:
    """Return the path of a Chromium; raise an error that says how to install one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise SystemExit("The benchmark needs Chromium on PATH: install the package chromium.")


def measure(rounds: int = ROUNDS) -> Iterator[tuple[str, float]]:
    """Yield the name and value of each measurement: first medians in seconds, then frame rates."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        with server(BARE_APP) as (address, _):
            bare_seconds = statistics.median(
                one["figure"] for one in opening_times(browser, address, rounds)
            )
        with server(DASHBOARD) as (address, _):
            own_seconds = statistics.median(
                one["figure"] for one in opening_times(browser, address, rounds)
            )
            yield FIRST_FIGURE, own_seconds - bare_seconds
            new, ran = move_times(browser, address, rounds)
            yield "first answer to a move", statistics.median(map(first_answer_time, new))
            yield "all of the default run, after a move", statistics.median(m["last"] for m in new)
            yield "all of what has run before", statistics.median(move["last"] for move in ran)
            changes = page_change_times(browser, address, list(MENU.values()), rounds)
            yield "page change", statistics.median(changes)
            for name, seconds in place_times(browser, address, rounds):
                yield name, statistics.median(seconds)
            crowd_seconds = sorted(crowd_times(browser, address, 4 * rounds))
            percentile = crowd_seconds[round(0.95 * (len(crowd_seconds) - 1))]
            yield "first new marks, four visitors at once", percentile
            yield from frame_rates(browser, address)
        browser.close()


def main() -> None:
    """Measure the dashboard, print the results beside targets and the last run, and store them."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    previous = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    result = {}
    for name, value in measure(rounds):
        result[name] = value
        if name in TARGETS:
            unit, goal, missed = "s", f"at most {TARGETS[name]:g}", value > TARGETS[name]
        else:
            unit, goal, missed = "frames/s", f"at least {LEAST_FRAMES:g}", value < LEAST_FRAMES
        previous_text = f"  (last {previous[name]:.2f})" if name in previous else ""
        print(
            f"{name:<42}{value:8.2f} {unit:<9} {goal}{'  MISSED' * missed}{previous_text}",
            flush=True,
        )
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2), encoding="utf-8")
    print(f"\nWritten to {RESULTS.relative_to(ROOT)}. On a busy machine the numbers mean little.")


if __name__ == "__main__":
    main()
