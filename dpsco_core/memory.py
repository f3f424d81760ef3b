"""What a cell will hold in memory, and what this machine has free: compared before it allocates."""

from __future__ import annotations

import math
import os
from pathlib import Path

from dpsco_core.errors import InvalidInput
from dpsco_core.limits import streamed
from dpsco_core.problems.user_sample import fits
from dpsco_core.scenario import Scenario

NUMBER = 8  # bytes
# Of a sample, measured as the peak of a process: the rows and a block of work on them, and vectors
# with one entry a row (labels, norms, margins).
WORK = 1.3
VECTORS = 4
STREAMED = 3e7  # bytes, for records that are drawn as they are read: some blocks of them
SHUFFLED = ("mean.iterative", "sco.iterative")  # hold the secret group of every record,
GROUP = 4  # bytes each
OUTCOME = 2500  # bytes of one outcome in a list
MEMINFO = Path("/proc/meminfo")
GROUPS = (  # a container's own limit, and what it holds already: control groups 2 and 1
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)


def bytes_held(scenario: Scenario, workers: int = 1, *, listed: bool = False) -> int:
    """Return the predicted peak of a study: a sample for each worker.

    `listed`: and all outcomes, which whoever reads them keeps.

    Examples
    --------
    >>> round(bytes_held(Scenario(n=10**6, d=20, trials=1)) / 1e6)
    240
    """
    largest = 0.0
    for _, point in scenario.points():
        if streamed(point.n, point.m, point.d):
            groups = GROUP * point.n if set(SHUFFLED) & set(point.methods) else 0
            largest = max(largest, STREAMED + groups)
            continue
        rows = point.n * (point.m if fits(point.n, point.m, point.d) else 1)
        largest = max(largest, NUMBER * rows * (WORK * point.d + VECTORS))
    return math.ceil(workers * largest) + (OUTCOME * scenario.cells if listed else 0)


def bytes_free() -> float:
    """Return the bytes that this process may still take; infinite where nobody says."""
    limits = [_machine()]
    for most, held in GROUPS:
        limit, used = _number(Path(most)), _number(Path(held))
        if limit < math.inf and used < math.inf:
            limits.append(max(limit - used, 0.0))
    return min(limits)


def memory_problem(scenario: Scenario, workers: int = 1, *, listed: bool = False) -> str:
    """Return one sentence if a study does not fit into the memory that is free, otherwise ""."""
    needed, free = bytes_held(scenario, workers, listed=listed), bytes_free()
    if needed <= free:
        return ""
    copies = f" for {workers} workers" if workers > 1 else ""
    return (
        f"The memory of this run must be at most the {free / 1e9:,.1f} GB that are free here, got "
        f"about {needed / 1e9:,.1f} GB{copies}: use a smaller n, m or d, or fewer trials."
    )


def require_memory(scenario: Scenario, workers: int = 1, *, listed: bool = False) -> None:
    """Raise `InvalidInput` if a study does not fit into the memory that is free."""
    problem = memory_problem(scenario, workers, listed=listed)
    if problem:
        raise InvalidInput(problem)


def _machine() -> float:
    """Return what the machine says is available: on Linux now, elsewhere what it has in all."""
    if MEMINFO.exists():
        for line in MEMINFO.read_text(encoding="ascii").splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return 1024.0 * int(rest.split()[0])
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", ()):
        return math.inf
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _number(path: Path) -> float:
    """Return the number in a file of the system; infinite if there is none ("max")."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError:
        return math.inf
    return float(text) if text.isdecimal() else math.inf
