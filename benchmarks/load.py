"""A load test of the dashboard: many visitors at once, for some minutes.

`python -m benchmarks.load [--sessions 20] [--seconds 300] [--cores 2] [--address URL]` starts a
server on its own cores (unless an address is given), opens the sessions (`benchmarks.visitor`),
lets each of them think, move a slider, run a study or choose a preset, and prints failed runs, the
times of a change of the bounds, the server's memory a session and its processor time. The numbers
are kept in build/load.json. It needs the extras app and test.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from websockets.exceptions import WebSocketException

from benchmarks.served import DASHBOARD, server
from benchmarks.visitor import Answer, VisitFailed, Visitor

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build" / "load.json"
# The range of a visitor's pause between actions, uniformly distributed.
THINK_SECONDS = (3.0, 15.0)
PRESETS = ("preset_What privacy costs", "preset_Privacy is free", "preset_The price at every tail")
SLIDERS = ("field_p", "field_epsilon", "field_d")
BUTTON = "explore_run"
FINISHED = " runs in "  # A part of the status line, as in "560 runs in 0.3 s".
BOUNDS, RUN, PRESET, OPEN = "bounds update", "run", "preset", "opening"
# The share of each action among the next actions of a visitor.
SHARES = {BOUNDS: 0.75, RUN: 0.15, PRESET: 0.1}


@dataclass
class Log:
    """A log of the visitors' actions.

    Parameters
    ----------
    figures, ends : dict
        Seconds until the first figure arrived, and until the script had finished, by action.
    failures : list of str
        One sentence for each action that failed.
    received : int
        Bytes.
    """

    figures: dict[str, list[float]] = field(default_factory=dict)
    ends: dict[str, list[float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    received: int = 0

    def note(self, action: str, answer: Answer) -> None:
        """Record an answer; the answer to a run must say that it has finished."""
        self.received += answer.received
        self.ends.setdefault(action, []).append(answer.seconds)
        if answer.figure is None:
            self.failures.append(f"{action}: no figure came.")
        else:
            self.figures.setdefault(action, []).append(answer.figure)
        if action in (RUN, PRESET, OPEN) and not answer.says(FINISHED):
            texts = "; ".join(t for t in answer.texts if " runs" in t or "must be" in t)
            self.failures.append(f"{action}: it ended without a result. {texts[:200]}")


@contextmanager
def on_cores(cores: int) -> Iterator[tuple[str, psutil.Process]]:
    """Start the dashboard on some cores at a free port; yield its address and process."""
    command_prefix = ("taskset", "-c", f"0-{cores - 1}") if shutil.which("taskset") else ()
    with server(DASHBOARD, command_prefix) as (address, process):
        yield address, psutil.Process(process.pid)


async def visit(visitor: Visitor, log: Log, deadline: float, chance: random.Random) -> None:
    """Perform random actions with pauses between them, and log each one.

    The visit ends before the deadline, in seconds of the monotonic clock, or when an action fails.
    """
    while True:
        pause = chance.uniform(*THINK_SECONDS)
        if time.monotonic() + pause > deadline:
            return
        await asyncio.sleep(pause)
        (action,) = chance.choices(list(SHARES), list(SHARES.values()))
        try:
            log.note(action, await act(visitor, action, chance))
        except (VisitFailed, WebSocketException, OSError) as problem:
            log.failures.append(f"{action}: {problem}")
            return


async def enter(visitor: Visitor) -> Answer:
    """Open the page and announce the browser, which starts the page's run; return both answers.

    The two answers are returned as one.
    """
    page = await visitor.open()
    if page.says(FINISHED):
        return page
    rest = await visitor.tell("arrival", "there")
    return replace(
        rest,
        seconds=page.seconds + rest.seconds,
        figure=page.figure,
        received=page.received + rest.received,
    )


async def act(visitor: Visitor, action: str, chance: random.Random) -> Answer:
    """Perform one action of `SHARES`, with a random slider or preset; return the answer."""
    if action == RUN:
        await visitor.slide("field_d", chance.choice((-1, 1)))
        # The button is disabled if the run is too large; the page then offers the nearest one.
        if visitor.widgets[BUTTON].disabled:
            await visitor.press("nearest")
        return await visitor.press(BUTTON)
    if action == PRESET:
        await visitor.press("presets")
        return await visitor.press(chance.choice(PRESETS))
    slider = chance.choice([s for s in SLIDERS if s in visitor.shown])
    return await visitor.slide(slider, chance.choice((-1, 1)))


async def run_load(
    address: str, process: psutil.Process | None, sessions: int, seconds: float
) -> dict[str, Any]:
    """Open the sessions, let them act for some seconds, and return the measurements by name.

    `process` is the server's, or None if the server runs on another machine.
    """
    log, warm = Log(), Log()
    # The first visit loads and computes everything that visitors share, so it is not logged.
    async with Visitor(address) as warm_up:
        warm.note(OPEN, await enter(warm_up))
        warm.note(BOUNDS, await act(warm_up, BOUNDS, random.Random(0)))
        await warm_up.press("presets")
        warm.note(PRESET, await warm_up.press(PRESETS[1]))
    memory_before = memory_megabytes(process)
    async with AsyncExitStack() as stack:
        visitors = []
        # Each session has a seed of its own, so that no other session has run the same cells.
        for i in range(sessions):
            visitor = await stack.enter_async_context(Visitor(address, f"seed={i + 1}"))
            log.note(OPEN, await enter(visitor))
            visitors.append(visitor)
        opened = memory_megabytes(process)
        clock, started = processor_seconds(process), time.monotonic()
        loads = [os.getloadavg()[0]]
        chances = [random.Random(i) for i in range(sessions)]
        acting = [
            asyncio.create_task(visit(v, log, started + seconds, c))
            for v, c in zip(visitors, chances, strict=True)
        ]
        while any(not task.done() for task in acting):
            await asyncio.wait(acting, timeout=10)
            loads.append(os.getloadavg()[0])
        duration = time.monotonic() - started
        clock = processor_seconds(process) - clock
        memory_after = memory_megabytes(process)
    for task in acting:
        task.result()
    return {
        "sessions": sessions,
        "seconds": duration,
        "failed": log.failures,
        "figures": {name: summarise(values) for name, values in log.figures.items()},
        "ends": {name: summarise(values) for name, values in log.ends.items()},
        "megabytes": {"before": memory_before, "opened": opened, "after": memory_after},
        "megabytes a session": {
            "opened": (opened - memory_before) / sessions,
            "after": (memory_after - memory_before) / sessions,
        },
        "cores busy": clock / duration,
        "processor seconds a visitor-hour": clock / (sessions * duration) * 3600,
        "megabytes sent": log.received / 1e6,
        "load average": {"mean": statistics.mean(loads), "largest": max(loads)},
    }


def summarise(values: Sequence[float]) -> dict[str, float]:
    """Return count, median, 95% quantile and maximum of the values."""
    ordered = sorted(values)
    return {
        "count": len(ordered),
        "p50": statistics.median(ordered),
        "p95": ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))],
        "largest": ordered[-1],
    }


def memory_megabytes(process: psutil.Process | None) -> float:
    """Return the resident megabytes of the server; 0 if it runs on another machine."""
    return 0.0 if process is None else process.memory_info().rss / 1e6


def processor_seconds(process: psutil.Process | None) -> float:
    """Return the processor seconds of the server so far; 0 if it runs on another machine."""
    if process is None:
        return 0.0
    times = process.cpu_times()
    return times.user + times.system


def show(result: dict[str, Any]) -> None:
    """Print the measurements of `run_load`, with times in seconds."""
    print(
        f"{result['sessions']} sessions for {result['seconds']:.0f} s on {result['cores']} cores "
        f"({result['machine']}, {result['date']}); load average "
        f"{result['load average']['mean']:.1f}, at most {result['load average']['largest']:.1f}"
    )
    print(f"Failed: {len(result['failed'])}")
    for sentence in result["failed"][:10]:
        print(f"  {sentence}")
    print(f"\n{'seconds to':<30} {'count':>6} {'p50':>7} {'p95':>7} {'most':>7}")
    for title, series_name in (("the figure", "figures"), ("the end", "ends")):
        for name, s in result[series_name].items():
            label = f"{title} of a {name}" if name != OPEN else f"{title} of an {name}"
            print(
                f"{label:<30} {s['count']:>6} {s['p50']:7.2f} {s['p95']:7.2f} {s['largest']:7.2f}"
            )
    if result["megabytes"]["before"]:
        print("\nMegabytes: " + ", ".join(f"{k} {v:.0f}" for k, v in result["megabytes"].items()))
        print(
            "A session: "
            + ", ".join(f"{k} {v:.1f}" for k, v in result["megabytes a session"].items())
        )
        print(
            f"Cores busy: {result['cores busy']:.2f}; processor seconds a visitor-hour: "
            f"{result['processor seconds a visitor-hour']:.0f}"
        )
    print(f"Megabytes sent: {result['megabytes sent']:.0f}")


def main() -> None:
    """Run the load test that the command line describes; exit with status 1 if an action failed."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--cores", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--address", help="a server that runs already, such as http://host:8501")
    chosen = parser.parse_args()
    if chosen.address:
        result = asyncio.run(run_load(chosen.address, None, chosen.sessions, chosen.seconds))
    else:
        with on_cores(chosen.cores) as (address, process):
            result = asyncio.run(run_load(address, process, chosen.sessions, chosen.seconds))
    result |= {
        "cores": chosen.cores,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores in all",
        "date": f"{datetime.now(tz=UTC):%Y-%m-%d %H:%M} UTC",
    }
    show(result)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2))
    sys.exit(bool(result["failed"]))


if __name__ == "__main__":
    main()
