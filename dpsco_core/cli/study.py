"""The commands `dpsco study` and `dpsco export`: long studies in a file, and their export."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import shorten
from dpsco_core.base.seeds import FRESH
from dpsco_core.cli.streams import require_writable, whole_file
from dpsco_core.cli.tables.run import print_measured
from dpsco_core.cli.tools import (
    add_command,
    add_fields,
    given_fields,
    print_json,
    require_sound,
    with_seed,
)
from dpsco_core.fields import TABLE, is_whole
from dpsco_core.results.intervals import run_json
from dpsco_core.results.tables import frame
from dpsco_core.runs.executors import run_study, workers_for
from dpsco_core.runs.memory import require_memory
from dpsco_core.runs.store import Store
from dpsco_core.runs.study import Outcome, study
from dpsco_core.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

LARGEST_FILE = 1_000_000  # A TOML file may have this many bytes.
WRITE_EVERY = 0.2  # On a terminal the progress line is updated after so many seconds.
REPORT_EVERY = 30.0  # If standard error is a file, a line is written after so many.


def add_study(commands: Any) -> None:
    """Add the command `study` to the parser."""
    parser = add_command(commands, "study", run_study_command)
    parser.add_argument("file", help="TOML file whose keys are the fields of a scenario")
    parser.add_argument("--out", required=True, metavar="FILE", help="results, made if not there")
    executor_flags = parser.add_mutually_exclusive_group()
    add_workers(executor_flags)
    executor_flags.add_argument(
        "--dask", metavar="ADDRESS", help="scheduler of a Dask cluster, host:port"
    )
    add_fields(parser, defaults=False)


def add_export(commands: Any) -> None:
    """Add the command `export` to the parser."""
    parser = commands.add_parser("export", allow_abbrev=False)
    parser.set_defaults(does=run_export)
    parser.add_argument("file", help="results of `dpsco study`")
    parser.add_argument(
        "--no-seconds",
        action="store_true",
        help="leave out the time of each run, so that equal studies give equal files",
    )
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--csv", metavar="FILE", help="where to write CSV; - is the terminal")
    kind.add_argument("--parquet", metavar="FILE", help="where to write Parquet")


def run_study_command(chosen: argparse.Namespace) -> None:
    """Run the study that a TOML file describes, store its results as they come, and print them."""
    has_fresh_seed = chosen.seed == FRESH or (
        chosen.seed is None and _read_fields(Path(chosen.file)).get("seed") == FRESH
    )
    scenario = read_scenario(Path(chosen.file), given_fields(chosen)).validate()
    require(bool(scenario.methods), "methods", "at least one for a study", "none")
    workers = worker_count(scenario, chosen.workers)
    # Here one sample counts, or none if a cluster runs the study; several workers are checked when
    # they start.
    require_memory(scenario, 0 if chosen.dask else 1, listed=True)
    with Store(chosen.out) as store:
        try:
            outcomes = _all_outcomes(scenario, store, workers, chosen.dask)
        except KeyboardInterrupt:
            if sys.stderr.isatty():
                print(file=sys.stderr)  # This ends the progress line.
            seed_flag = f" with --seed {scenario.seed}" if has_fresh_seed else ""
            print(
                f"Stopped: {_stored_of(scenario, store)} are in {chosen.out}; the same command"
                f"{seed_flag} goes on from there.",
                file=sys.stderr,
            )
            raise
        if chosen.json:
            print_json(run_json(scenario, outcomes))
        else:
            print_measured(scenario, outcomes)
            stored_count = sum(not outcome.failed for outcome in outcomes)
            print(f"\n{stored_count:,} runs of this study are in {chosen.out}.")
    require_sound(scenario, outcomes)


def _stored_of(scenario: Scenario, store: Store) -> str:
    """Return how many runs of a study are stored, as "116 of 1,000 runs"."""
    return f"{store.stored_cells(scenario):,} of {scenario.cells:,} runs"


def _all_outcomes(
    scenario: Scenario, store: Store, workers: int, address: str | None
) -> list[Outcome]:
    """Return all outcomes of a study in the order of their cells; run those that are not stored.

    Progress is shown on standard error, and `address` is that of a Dask cluster or None.
    """
    stored_before = store.stored_cells(scenario)
    running = _run_outcomes(scenario, store, workers, address, stored_before)
    return in_cell_order(scenario, _with_progress_line(scenario, running, stored_before))


def _run_outcomes(
    scenario: Scenario, store: Store, workers: int, address: str | None, stored_before: int
) -> Iterator[Outcome]:
    """Yield the outcomes of a study, run here or on a Dask cluster."""
    if address is None:
        _print_start(scenario, stored_before)
        yield from run_study(scenario, workers, store)
    else:
        # The import loads a network stack, which would slow down every other command.
        from dpsco_core.runs.dask_cluster import cluster

        with cluster(address) as executor:
            _print_start(scenario, stored_before)
            yield from study(scenario, executor, store)


def _print_start(scenario: Scenario, stored_before: int) -> None:
    """Print on standard error how many runs are stored, and how many are left to do."""
    if stored_before:
        words = f"{stored_before:,} of {scenario.cells:,} runs were there already."
        print(words, file=sys.stderr, flush=True)
    missing_count = scenario.cells - stored_before
    if missing_count and not sys.stderr.isatty():  # A terminal has the progress line instead.
        print(f"{missing_count:,} runs to do.", file=sys.stderr, flush=True)


def add_workers(parser: Any) -> None:
    """Add the flag that `worker_count` reads."""
    parser.add_argument(
        "--workers",
        metavar="N",
        help="processes; 1 is this one (default: all cores if the run is long enough)",
    )


def worker_count(scenario: Scenario, text: str | None) -> int:
    """Return the number of processes that the flag requests; raises `InvalidInput`."""
    if text is None:
        return workers_for(scenario)
    is_short_integer = text.isascii() and text.isdecimal() and len(text) <= 5
    return workers_for(scenario, int(text) if is_short_integer else text)


def in_cell_order(scenario: Scenario, outcomes: Iterator[Outcome]) -> list[Outcome]:
    """Return outcomes in the order of their cells, wherever the cells ran."""
    points = {x: place for place, (x, _) in enumerate(scenario.points())}
    methods = {method: place for place, method in enumerate(scenario.methods)}
    return sorted(outcomes, key=lambda o: (o.trial, points[o.x], methods[o.method]))


def read_scenario(path: Path, changes: dict[str, Any]) -> Scenario:
    """Return the scenario of a TOML file, with some of its fields changed.

    Raises `InvalidInput` if the file cannot be read, is not TOML, or has a field that is not
    allowed.
    """
    return Scenario.from_dict(with_seed(_read_fields(path) | changes))


def _read_fields(path: Path) -> dict[str, Any]:
    """Return the keys of a TOML file; raises `InvalidInput` if it cannot be read or is not TOML."""
    import tomllib  # `dpsco run`, which needs this module too, reads no file.

    try:
        require(path.stat().st_size <= LARGEST_FILE, "file", "at most 1 MB", path)
        # Some editors begin a file with a byte order mark, which utf-8-sig skips.
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as problem:
        if isinstance(problem, InvalidInput):
            raise
        reason = " ".join(str(problem).split())
        raise InvalidInput(
            f"file must be a TOML file that can be read, got file={path} ({shorten(reason)})."
        ) from problem


def _with_progress_line(
    scenario: Scenario, outcomes: Iterator[Outcome], stored_before: int
) -> Iterator[Outcome]:
    """Yield the outcomes of a study, and show its progress on standard error.

    A terminal has one line that is overwritten; a file gets a line every `REPORT_EVERY` seconds.
    The time left is predicted from the runs that were not stored before.
    """
    is_terminal = sys.stderr.isatty()
    pause = WRITE_EVERY if is_terminal else REPORT_EVERY
    started = last_print = time.monotonic()
    for count, outcome in enumerate(outcomes, 1):
        moment = time.monotonic()
        is_last = is_terminal and count == scenario.cells
        if moment - last_print > pause or is_last:
            # Stored outcomes come first, or in between if the study runs in this process.
            new_count = max(1, count - stored_before)
            seconds_left = (moment - started) / new_count * (scenario.cells - count)
            share = f"{count:,} of {scenario.cells:,} runs, about {seconds_left:.0f} s left"
            line = f"\r{share:<60}" if is_terminal else f"{share}\n"
            print(line, end="", file=sys.stderr, flush=True)
            last_print = moment
        yield outcome
    if is_terminal:
        print(file=sys.stderr)


def run_export(chosen: argparse.Namespace) -> None:
    """Write stored results to a file as CSV or Parquet."""
    target = chosen.parquet or chosen.csv
    to_terminal = target == "-" and chosen.parquet is None
    if not to_terminal:
        require_writable(target)
    base, path = os.path.realpath(chosen.file), Path(os.path.realpath(target))
    # The results file, and the files that SQLite keeps beside it, must not be overwritten.
    store_files = [Path(base + ending) for ending in ("", "-wal", "-shm", "-journal")]
    is_own_file = path in store_files or (
        path.exists() and any(p.exists() and p.samefile(path) for p in store_files)
    )
    require(not is_own_file, "file", "another one than the results", target)
    with Store(chosen.file, read_only=True) as store:
        table = stored_frame(store)
        unknown = store.unknown()
        missing_runs = _missing_runs(store)
    if chosen.no_seconds:
        table = table.drop(columns="seconds")
    try:
        if to_terminal:
            table.to_csv(sys.stdout, index=False)
        else:
            with whole_file(target) as part:
                write = table.to_csv if chosen.parquet is None else table.to_parquet
                write(part, index=False)
    except ImportError as missing:
        raise InvalidInput(
            "pyarrow must be installed to write Parquet: pip install 'dpsco-explorer[parquet]'."
        ) from missing
    for sentence in missing_runs:
        print(sentence, file=sys.stderr)
    if unknown:
        description = f"{len(unknown)} of the studies in {chosen.file}, which cannot be read here"
        print(f"dpsco: left out {description}: {unknown[0]}", file=sys.stderr)


def _missing_runs(store: Store) -> list[str]:
    """Return a sentence for each incomplete study of a store, or one if it has no study at all."""
    scenarios = store.scenarios()
    if not scenarios:
        return [f"There is no study in {store.path}: the table has a header and no rows."]
    sentences = []
    for number, scenario in enumerate(scenarios):
        stored = store.stored_cells(scenario)
        if stored == scenario.cells:
            continue
        study_name = "the study" if len(scenarios) == 1 else f"study {number} of the table"
        rows = "" if stored else ", and there are no rows of it"
        sentences.append(f"{_stored_of(scenario, store)}: {study_name} is not complete{rows}.")
    return sentences


def stored_frame(store: Store) -> pd.DataFrame:
    """Return the stored cells of every study in a store as a data frame, one row each.

    The columns are the number of the study, those of `frame` with the standard error of the error,
    and the fields of the scenario; the swept field has the value of the cell.
    """
    import pandas as pd

    studies = enumerate(store.scenarios())
    tables = [_study_frame(number, known, store.outcomes(known)) for number, known in studies]
    full = [table for table in tables if len(table)]
    return pd.concat(full, ignore_index=True) if full else _study_frame(0, Scenario(), [])


def _study_frame(number: int, scenario: Scenario, outcomes: list[Outcome]) -> pd.DataFrame:
    """Return the outcomes of a study as a table, with the fields of its scenario."""
    table = frame(outcomes)
    table.insert(0, "study", number)
    uncertain = [o.error_uncertainty for o in outcomes]
    table.insert(list(table).index("error") + 1, "error_uncertainty", uncertain)
    for name, spec in TABLE.items():
        # The rows' method, x and trial replace the fields of the study, except for its axis.
        if spec.scope == "study" and name != "axis":
            continue
        value = getattr(scenario, name)
        if name == scenario.axis:
            table[name] = table["x"].astype("int64") if is_whole(name) else table["x"]
        elif spec.kind == "real":
            table[name] = math.nan if value is None else float(value)
        else:
            table[name] = "" if value is None else value
    return table
