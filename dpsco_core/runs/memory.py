"""The memory that a study needs and the memory that is free, compared before anything is drawn."""

import math
import os
from pathlib import Path

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import streamed
from dpsco_core.catalogue import method_class
from dpsco_core.problems.samples.users import items_fit
from dpsco_core.scenario import Scenario

NUMBER = 8  # the bytes that a double takes
# Both numbers describe the measured peak memory of a process: the first is that of the rows with
# one block of work on them, in multiples of the rows; the second is the number of vectors with one
# entry per row, such as labels, norms and margins.
WORK = 1.3
VECTORS = 4
# If users are stored as means, this number takes the place of WORK: it counts the means, the
# shrunk means and the gradients.
USERS_MEANS = 3.4
WORKER = 1.2e8  # the bytes that a worker process takes with its imports
STREAMED = 3e7  # the bytes of all blocks, if records are drawn as they are read
GROUP = 4  # the bytes that the secret group of a record takes
SMALL = 3e7  # the bytes that every machine is assumed to have free
OUTCOME = 2500  # the bytes that a stored outcome takes
MEMINFO = Path("/proc/meminfo")
# Files of control groups, versions 2 and 1, with a container's memory limit, its usage, and the
# part of the usage that is cached files, which the kernel frees on demand.
GROUPS = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)
FOLDER = Path("/sys/fs/cgroup")


def bytes_held(scenario: Scenario, workers: int = 1, *, listed: bool = False) -> int:
    """Return the predicted peak memory of a study, in bytes: one sample per worker.

    `listed` adds the outcomes, for callers that keep them all.

    Examples
    --------
    >>> round(bytes_held(Scenario(n=10**6, d=20, trials=1)) / 1e6)
    240
    """
    largest = 0.0
    families = [method_class(slug) for slug in scenario.methods]
    of_users = any(family.card.level == "user" for family in families)
    grouped = any(family.reads == "grouped" for family in families)
    for _, point in scenario.points():
        if streamed(point.n, point.m, point.d):
            largest = max(largest, STREAMED + (GROUP * point.n if grouped else 0))
            continue
        in_memory = items_fit(point.n, point.m, point.d)
        work = WORK  # the peak memory over that of the sample's rows
        if of_users:  # Users' mean gradients are in memory too, as large as the items if m = 1.
            work = WORK + 1 / point.m if in_memory else USERS_MEANS
        rows = point.n * (point.m if in_memory else 1)
        largest = max(largest, NUMBER * rows * (work * point.d + VECTORS))
    processes = WORKER * workers if workers > 1 else 0.0
    return math.ceil(workers * largest + processes) + (OUTCOME * scenario.cells if listed else 0)


def bytes_free() -> float:
    """Return the bytes that this process may still allocate; infinite if the system is silent."""
    limits = [_machine_bytes()]
    for limit_file, usage_file, cached in GROUPS:
        limit, usage = (
            _parse_number(_read_text(FOLDER / limit_file)),
            _parse_number(_read_text(FOLDER / usage_file)),
        )
        if limit < math.inf and usage < math.inf:
            stat = _read_text((FOLDER / usage_file).with_name("memory.stat"))
            counts = dict(line.split() for line in stat.splitlines())
            usage -= _parse_number(counts.get(cached, "0"))
            limits.append(max(limit - usage, 0.0))
    return min(limits)


def memory_problem(scenario: Scenario, workers: int = 1, *, listed: bool = False) -> str:
    """Return one sentence if a study does not fit into the free memory, otherwise ""."""
    required = bytes_held(scenario, workers, listed=listed)
    if required <= SMALL or required <= (free := bytes_free()):
        return ""
    copies = f" for {workers} workers" if workers > 1 else ""
    return (
        f"The memory of this run must be at most the {_size_text(free)} that are free here, got "
        f"about {_size_text(required)}{copies}: use a smaller n, m or d, or fewer trials."
    )


def require_memory(scenario: Scenario, workers: int = 1, *, listed: bool = False) -> None:
    """Raise `InvalidInput` if a study does not fit into the free memory."""
    problem = memory_problem(scenario, workers, listed=listed)
    if problem:
        raise InvalidInput(problem)


def _size_text(count: float) -> str:
    """Return a number of bytes in MB, or in GB from 1 GB on."""
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"


def _machine_bytes() -> float:
    """Return the available bytes on Linux, and the total memory on other systems."""
    if MEMINFO.exists():
        for line in MEMINFO.read_text(encoding="ascii").splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return 1024.0 * int(rest.split()[0])
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", ()):
        return math.inf
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _read_text(path: Path) -> str:
    """Return the text of a system file; empty if it cannot be read."""
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _parse_number(text: str) -> float:
    """Return a number; infinite if the text is not one, such as "max"."""
    return float(text) if text.isdecimal() else math.inf
