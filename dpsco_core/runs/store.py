"""Results kept in a file, so that an interrupted study continues where it stopped.

One SQLite file (WAL mode) holds one row per cell, written as the cell finishes. The key of a row
is whatever fixes the cell's numbers: its canonical scenario, method and trial. Several processes
may write to one file. A file that is not a store of this program is refused and left unchanged.
"""

import hashlib
import json
import math
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.plugin_guard import is_real_between
from dpsco_core.catalogue import method_card
from dpsco_core.fields import is_in_key
from dpsco_core.plugins import extend
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.runs.study import LARGEST, Cell, Outcome, canonical, cells, is_error
from dpsco_core.scenario import Scenario

APPLICATION_ID = 0x44505343  # the letters "DPSC", which mark the header of the file
VERSION = 1  # the version of the tables
# The version of the numbers, a part of every key. Raise it by 1 with any change that alters the
# error, the spent budget or another output of a cell at the same scenario and trial. Existing files
# stay valid; their cells of other versions are ignored, and run again.
NUMBERS_VERSION = 4
PATIENCE = 60.0  # the seconds that a writer waits for another writer
PAUSE = 0.01  # the seconds between two attempts to set the WAL mode
SCHEMA = """
CREATE TABLE cells (
    key BLOB PRIMARY KEY,
    point TEXT NOT NULL,
    method TEXT NOT NULL,
    trial INTEGER NOT NULL,
    outcome TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE studies (scenario TEXT PRIMARY KEY) WITHOUT ROWID;
"""
# The spaces are normalised, because SQLite stores a statement as it was written.
TABLES = {" ".join(sql.split()) for sql in SCHEMA.split(";") if sql.strip()}
# SQLite itself adds these tables: the first two by ANALYZE, the last one for numbered rows.
SQLITE_TABLES = {
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    "CREATE TABLE sqlite_sequence(name,seq)",
}
SUM_BYTES = 8  # the length of a checksum
SEPARATOR = " #"  # the mark between a text and its checksum
NUMBERS = ("error", "seconds", "error_uncertainty")  # the fields of an outcome that are numbers
# The errors that reading a text raises if it is not an outcome.
NOT_OURS = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
KINDS = {"pure": PureDP, "zcdp": ZCDP, "approx": ApproxDP}


class StoreError(InvalidInput):
    """A results file cannot be opened, read or written; the message names the file."""


class Store:
    """The results in one file; use it as a context manager.

    Raises `StoreError` if the file is not a store of this program, is damaged, or cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> from dpsco_core import study
    >>> scenario = Scenario(methods=("mean.clipped",), n=200, trials=2)
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     first = [o.error for o in study(scenario, store=store)]
    ...     len(store), [o.error for o in study(scenario, store=store)] == first
    (2, True)
    """

    def __init__(
        self,
        path: str | Path,  # the file, which is created if it does not exist
        *,
        read_only: bool = False,  # whether an existing file is opened without changing it
    ) -> None:
        """Open a results file, or make one; `read_only` opens it without changing it."""
        self.path, self._read_only = Path(path), read_only
        address = self._address(read_only=read_only)
        with self._in_a_sentence("opened"):
            self._base = sqlite3.connect(
                address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
        try:
            with self._in_a_sentence("read"):
                self._prepare(read_only=read_only)
        except StoreError:
            self._base.close()
            raise

    def _address(self, *, read_only: bool) -> str:
        """Return the address for SQLite to open the file; raise `StoreError` if not allowed."""
        with self._in_a_sentence("opened"):
            is_new = not self.path.exists() or self.path.stat().st_size == 0
        condition = "a file that exists and is not empty"
        require(not (read_only and is_new), "store", condition, self.path)
        mode = "mode=ro" if read_only else "mode=rwc"
        if not is_new and not self._writable():
            if not read_only:
                raise self._failed("written", "it or its folder is read only")
            # SQLite wants to write a lock beside a file in WAL mode. If it cannot, and there is no
            # log of a writer, the file is complete and can be read without a lock.
            mode += "" if self.path.with_name(f"{self.path.name}-wal").exists() else "&immutable=1"
        return f"{self.path.absolute().as_uri()}?{mode}"

    def _prepare(self, *, read_only: bool) -> None:
        """Check the file before anything is written to it; create the tables of a new one."""
        self._check(read_only=read_only)
        if read_only:
            return
        self._write_ahead()
        # The file remains intact if the process is killed.
        self._base.execute("PRAGMA synchronous = NORMAL")
        # Another process may have created the tables meanwhile.
        with self._transaction("IMMEDIATE"):
            if self._number("SELECT count(*) FROM sqlite_master"):
                return
            for statement in SCHEMA.split(";"):
                self._base.execute(statement)
            self._base.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._base.execute(f"PRAGMA user_version = {VERSION}")

    def _write_ahead(self) -> None:
        """Set the WAL mode; SQLite itself does not wait for a process that is creating the file."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self._base.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(PAUSE)

    def _check(self, *, read_only: bool) -> None:
        """Raise `StoreError` unless the file is an intact store, or is empty and writable."""
        self._base.execute("PRAGMA trusted_schema = OFF")
        with self._transaction("DEFERRED"):  # Another process may be creating the tables.
            mark = self._number("PRAGMA application_id")
            version = self._number("PRAGMA user_version")
            statements = self._base.execute("SELECT sql FROM sqlite_master").fetchall()
            if not mark and not statements:
                if read_only:
                    raise self._foreign("is empty: if `dpsco study` was killed, start it again")
                return
            if mark != APPLICATION_ID:
                raise self._foreign("holds another program's data")
            if version != VERSION:
                raise self._foreign(f"has the format {version}, and {VERSION} is known")
            # A view or generated column under an expected name would run its author's code.
            if {" ".join(str(sql).split()) for (sql,) in statements} - SQLITE_TABLES != TABLES:
                raise self._foreign("holds another program's data")
            if self._base.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise self._foreign("is damaged")

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        """Open a transaction, which is rolled back if an error is raised within it."""
        with self._base:
            self._base.execute(f"BEGIN {kind}")
            yield

    def _number(self, query: str) -> int:
        """Return the only number that a query has for an answer."""
        return int(self._base.execute(query).fetchone()[0])

    def get(self, cell: Cell) -> Outcome | None:
        """Return the outcome of a cell; None if it is not stored.

        Raises `StoreError` if the stored text is not an outcome of the cell.
        """
        with self._in_a_sentence("read"):
            row = self._base.execute(
                "SELECT outcome FROM cells WHERE key = ?", (key_of(cell),)
            ).fetchone()
        if row is None:
            return None
        try:
            outcome = replace(outcome_from(text_without_sum(row[0], key_of(cell))), x=cell.x)
            require_sound(outcome, cell)
        except NOT_OURS as problem:
            raise self._foreign("is damaged") from problem
        return outcome

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Store the outcome of a cell; the first one stays if two processes have run it."""
        point = json.dumps(cell.point.to_dict(), sort_keys=True)
        key = key_of(cell)
        row = (key, point, cell.method, cell.trial, with_sum(outcome_text(outcome), key))
        with self._in_a_sentence("written"):
            self._base.execute("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?)", row)

    def stored_cells(self, scenario: Scenario) -> int:
        """Return how many cells of a study are stored, without reading their outcomes."""
        if len(self) == 0:
            return 0
        with self._in_a_sentence("read"):
            query = "SELECT 1 FROM cells WHERE key = ?"
            cursors = (self._base.execute(query, (key_of(cell),)) for cell in cells(scenario))
            return sum(rows.fetchone() is not None for rows in cursors)

    def __len__(self) -> int:
        """Return the number of stored cells."""
        with self._in_a_sentence("read"):
            return self._number("SELECT count(*) FROM cells")

    def begin(self, scenario: Scenario) -> None:
        """Record that a study has begun, so that `scenarios` lists it."""
        text = json.dumps(scenario.to_dict(), sort_keys=True)
        with self._in_a_sentence("read"):
            earlier = self._base.execute("SELECT 1 FROM studies WHERE scenario = ?", (text,))
            if earlier.fetchone():  # A version without checksums wrote this row.
                return
        text = with_sum(text)
        with self._in_a_sentence("written"):
            self._base.execute("INSERT OR IGNORE INTO studies VALUES (?)", (text,))

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the studies that have begun, finished or not, except those in `unknown`.

        Raises `InvalidInput` if there are studies and none of them is readable.
        """
        readable, unknown = self._studies()
        if unknown and not readable:
            raise unknown[0]
        return readable

    def unknown(self) -> tuple[str, ...]:
        """Return one sentence for each study that is unreadable: another version wrote it."""
        return tuple(str(problem) for problem in self._studies()[1])

    def _studies(self) -> tuple[tuple[Scenario, ...], tuple[InvalidInput, ...]]:
        """Return the stored scenarios, and the errors of those that cannot be read."""
        with self._in_a_sentence("read"):
            rows = self._base.execute("SELECT scenario FROM studies").fetchall()
        # A dict drops repetitions: earlier formats may hold a scenario twice.
        readable: dict[Scenario, None] = {}
        unreadable = []
        for (stored,) in rows:
            text = self._study_text(stored)
            try:
                readable[Scenario.from_json(text)] = None
            except InvalidInput as problem:
                unreadable.append(problem)
        return tuple(readable), tuple(unreadable)

    def _study_text(self, row: str) -> str:
        """Return the text of a study; files of earlier versions have no checksum."""
        if SEPARATOR not in row:
            return row
        try:
            return text_without_sum(row)
        except ValueError as problem:
            raise self._foreign("is damaged") from problem

    def count(self) -> int:
        """Return the number of studies that have begun, without reading them."""
        with self._in_a_sentence("read"):
            return self._number("SELECT count(*) FROM studies")

    def outcomes(self, scenario: Scenario) -> list[Outcome]:
        """Return the stored outcomes of a study, in the order of its cells."""
        stored = (self.get(cell) for cell in cells(scenario))
        return [outcome for outcome in stored if outcome is not None]

    @contextmanager
    def _in_a_sentence(self, verb: str) -> Iterator[None]:
        """Turn an error of SQLite or the system into one sentence."""
        try:
            yield
        except sqlite3.DatabaseError as problem:
            raise self._failed(verb, " ".join(str(problem).split()).rstrip(".")) from problem
        except OSError as problem:
            raise self._failed(verb, problem.strerror or str(problem)) from problem

    def _failed(self, verb: str, reason: str) -> StoreError:
        """Return the error that the file cannot be opened, read or written (the `verb`)."""
        return StoreError(
            f"store must be a results file that can be {verb}, got store={self.path} ({reason})."
        )

    def _foreign(self, reason: str) -> StoreError:
        """Return the error for a file that this program has not written."""
        return StoreError(
            f"store must be a results file of this program, got store={self.path}, which {reason}."
        )

    def _writable(self) -> bool:
        """Return whether this user may write the file and its folder."""
        effective = os.access in os.supports_effective_ids
        places = (self.path, self.path.absolute().parent)
        return all(os.access(place, os.W_OK, effective_ids=effective) for place in places)

    def close(self) -> None:
        """Close the file and leave no extra files beside it.

        SQLite deletes its extra files when the last writer closes the file, and only a writer may
        delete them. A reader that finds an empty log therefore opens it once for writing.
        """
        self._base.close()
        log = self.path.with_name(f"{self.path.name}-wal")
        if self._read_only and log.exists() and log.stat().st_size == 0 and self._writable():
            with self._in_a_sentence("read"):
                connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=rw", uri=True)
                connection.execute("SELECT count(*) FROM sqlite_master")
                connection.close()

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the store."""
        self.close()


def key_of(cell: Cell) -> bytes:
    """Return the key of a cell: a hash of everything that fixes its numbers."""
    values = canonical(cell.point).to_dict()
    point = {name: value for name, value in values.items() if is_in_key(name, value)}
    # Built-in code has no digest, so that only plugin code enters the key.
    digests = extend.digests((cell.method, cell.point.distribution))
    parts = [NUMBERS_VERSION, point, cell.method, cell.trial, *digests]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=20).digest()


def with_sum(text: str, key: bytes = b"") -> str:
    """Return a text followed by its checksum, which also covers the `key` of its row."""
    digest = hashlib.blake2b(text.encode(), digest_size=SUM_BYTES, key=key).hexdigest()
    return f"{text}{SEPARATOR}{digest}"


def text_without_sum(text: str, key: bytes = b"") -> str:
    """Return the text inside `with_sum`; raises `ValueError` if the checksum does not match."""
    text_itself = text.rpartition(SEPARATOR)[0]
    if with_sum(text_itself, key) != text:
        raise ValueError("the checksum is another one")
    return text_itself


def is_within(spent: Budget | None, budget: Budget) -> bool:
    """Return whether a run under `budget` can have spent `spent`.

    That is at most the budget, in its own notion or, unless it is zCDP, as pure DP.
    """
    if not isinstance(spent, (type(budget), PureDP)) or isinstance(budget, ZCDP) != isinstance(
        spent, ZCDP
    ):
        return False
    return all(0 <= value <= getattr(budget, name) for name, value in asdict(spent).items())


def require_sound(outcome: Outcome, cell: Cell) -> None:
    """Raise `ValueError` unless a run of the cell could have given this outcome."""
    has_run = outcome.not_applicable is None
    is_private = has_run and method_card(cell.method).privacy != "none"
    is_sound = (
        (outcome.method, outcome.trial) == (cell.method, cell.trial)
        and (is_error(outcome.error, cell.point) if has_run else math.isnan(outcome.error))
        and all(0 <= value <= LARGEST for value in (outcome.seconds, outcome.error_uncertainty))
        and (has_run or isinstance(outcome.not_applicable, str))
        and (is_within(outcome.spent, cell.point.budget) if is_private else outcome.spent is None)
        and all(isinstance(text, str) for text in (*outcome.flaws, *outcome.notes))
        and set(outcome.bound_by) <= {"pure", "zcdp", "approx"}
        and isinstance(outcome.diagnostics, dict)
        and all(is_real_between(value) for value in outcome.diagnostics.values())
    )
    if not is_sound:
        raise ValueError("no run gives this")


def outcome_text(outcome: Outcome) -> str:
    """Return an outcome as JSON, without its value on the axis."""
    values = asdict(replace(outcome, x=None))
    del values["failed"]  # Failed cells are never stored, so the field says nothing.
    values["error"] = None if math.isnan(outcome.error) else outcome.error
    values["spent"] = budget_fields(outcome.spent)
    # The default turns numpy's numbers into Python's.
    return json.dumps(values, default=lambda number: number.item())


def outcome_from(text: str) -> Outcome:
    """Parse the JSON of `outcome_text`; raises one of `NOT_OURS` if the text is anything else."""
    values: dict[str, Any] = json.loads(text)
    values["error"] = math.nan if values["error"] is None else values["error"]
    for name in NUMBERS:
        if type(values.get(name, 0.0)) not in (int, float):
            raise TypeError(f"{name} is no number")
    values |= {name: float(values[name]) for name in NUMBERS if name in values}
    spent = values["spent"]
    values["spent"] = None if spent is None else KINDS[spent.pop("kind")](**spent)
    for name in ("bound_by", "flaws", "notes"):
        values[name] = tuple(values[name])
    values["changes"] = tuple(tuple(change) for change in values["changes"])
    return Outcome(**values)


def budget_fields(budget: Budget | None) -> dict[str, Any] | None:
    """Return a budget as plain fields with its ``kind``, for JSON."""
    if budget is None:
        return None
    kind = next(name for name, kind_class in KINDS.items() if isinstance(budget, kind_class))
    return {"kind": kind, **asdict(budget)}
