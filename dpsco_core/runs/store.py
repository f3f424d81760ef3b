"""Results kept in a file, so that a study that was stopped goes on where it was.

One SQLite file (WAL mode), one row a cell, written as the cell finishes. The key of a row is the
cell's canonical scenario, its method and its trial: what fixes its numbers. Several processes may
write to one file. A file that is not a store of this program is refused and left as it is.
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

from dpsco_core import extend
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.others import real
from dpsco_core.catalogue import method_card
from dpsco_core.fields import keyed
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.runs.study import LARGEST, Cell, Outcome, canonical, cells, is_error
from dpsco_core.scenario import Scenario

APPLICATION_ID = 0x44505343  # "DPSC", in the header of the file
VERSION = 1  # the version of the tables
# The version of the numbers, a part of every key: raise it by 1 with any change after which a cell
# gives another error, spends otherwise or says something else at the same scenario and trial.
# Files stay as they are; their cells of other versions are not found, and run again.
NUMBERS_VERSION = 3
PATIENCE = 60.0  # seconds that a writer waits for another one
PAUSE = 0.01  # seconds
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
TABLES = {" ".join(sql.split()) for sql in SCHEMA.split(";") if sql.strip()}  # as SQLite has them
# Tables that SQLite makes beside those of a file: by ANALYZE, and for numbered rows.
BESIDE = {
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    "CREATE TABLE sqlite_sequence(name,seq)",
}
SUM_BYTES = 8  # the length of a checksum
SEPARATOR = " #"  # between a text and its checksum
NUMBERS = ("error", "seconds", "error_uncertainty")  # the numbers of an outcome
# What reading a text raises that is no outcome.
NOT_OURS = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
KINDS = {"pure": PureDP, "zcdp": ZCDP, "approx": ApproxDP}


class StoreError(InvalidInput):
    """A results file cannot be opened, read or written: one sentence that names it."""


class Store:
    """The results in one file; use it as a context manager.

    Raises `StoreError` if the file is no store of this program, is damaged, or cannot be opened.

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
        path: str | Path,  # the path of the file; made if it is not there
        *,
        read_only: bool = False,  # open a file that must exist, without changing it
    ) -> None:
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
        """Return how SQLite is to open the file; raises `StoreError` if it may not."""
        with self._in_a_sentence("opened"):
            new = not self.path.exists() or self.path.stat().st_size == 0
        there = "a file that exists and is not empty"
        require(not (read_only and new), "store", there, self.path)
        mode = "mode=ro" if read_only else "mode=rwc"
        if not new and not self._writable():
            if not read_only:
                raise self._failed("written", "it or its folder is read only")
            # SQLite wants to write a lock beside a file in WAL mode. Where it cannot, and no log
            # of a writer is there, the file is all there is, and is read without one.
            mode += "" if self.path.with_name(f"{self.path.name}-wal").exists() else "&immutable=1"
        return f"{self.path.absolute().as_uri()}?{mode}"

    def _prepare(self, *, read_only: bool) -> None:
        """Check what the file is before anything is written to it; make the tables of a new one."""
        self._check(read_only=read_only)
        if read_only:
            return
        self._write_ahead()
        self._base.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing
        with self._transaction("IMMEDIATE"):  # two processes may both have found it empty
            if self._number("SELECT count(*) FROM sqlite_master"):
                return
            for statement in SCHEMA.split(";"):
                self._base.execute(statement)
            self._base.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._base.execute(f"PRAGMA user_version = {VERSION}")

    def _write_ahead(self) -> None:
        """Set the WAL mode; here SQLite itself does not wait for one that is making the file."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._base.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
            time.sleep(PAUSE)

    def _check(self, *, read_only: bool) -> None:
        """Raise `StoreError` unless the file is a store that is whole, or empty and to be made."""
        self._base.execute("PRAGMA trusted_schema = OFF")
        with self._transaction("DEFERRED"):  # another process may make it between two looks
            mark = self._number("PRAGMA application_id")
            version = self._number("PRAGMA user_version")
            made = self._base.execute("SELECT sql FROM sqlite_master").fetchall()
            if not mark and not made:
                if read_only:
                    raise self._foreign("is empty: if `dpsco study` was killed, start it again")
                return
            if mark != APPLICATION_ID:
                raise self._foreign("holds another program's data")
            if version != VERSION:
                raise self._foreign(f"has the format {version}, and {VERSION} is known")
            # A view or a generated column under a known name would run what its author wrote.
            if {" ".join(str(sql).split()) for (sql,) in made} - BESIDE != TABLES:
                raise self._foreign("holds another program's data")
            if self._base.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise self._foreign("is damaged")

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        """Read and write as if alone; what an error breaks off is not written."""
        with self._base:
            self._base.execute(f"BEGIN {kind}")
            yield

    def _number(self, query: str) -> int:
        return int(self._base.execute(query).fetchone()[0])

    # -- cells ------------------------------------------------------------------------------

    def get(self, cell: Cell) -> Outcome | None:
        """Return the outcome of a cell; None if it is not there.

        Raises `StoreError` if what is there is no outcome of the cell.
        """
        with self._in_a_sentence("read"):
            row = self._base.execute(
                "SELECT outcome FROM cells WHERE key = ?", (key_of(cell),)
            ).fetchone()
        if row is None:
            return None
        try:
            outcome = replace(outcome_from(checked(row[0], key_of(cell))), x=cell.x)
            require_sound(outcome, cell)
        except NOT_OURS as problem:
            raise self._foreign("is damaged") from problem
        return outcome

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Keep the outcome of a cell; the first one stays if two processes have run it."""
        point = json.dumps(cell.point.to_dict(), sort_keys=True)
        key = key_of(cell)
        row = (key, point, cell.method, cell.trial, with_sum(outcome_text(outcome), key))
        with self._in_a_sentence("written"):
            self._base.execute("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?)", row)

    def __len__(self) -> int:
        with self._in_a_sentence("read"):
            return self._number("SELECT count(*) FROM cells")

    # -- studies ----------------------------------------------------------------------------

    def begin(self, scenario: Scenario) -> None:
        """Note that a study was begun, so that `scenarios` lists it."""
        text = json.dumps(scenario.to_dict(), sort_keys=True)
        with self._in_a_sentence("read"):
            earlier = self._base.execute("SELECT 1 FROM studies WHERE scenario = ?", (text,))
            if earlier.fetchone():  # from before there were checksums
                return
        text = with_sum(text)
        with self._in_a_sentence("written"):
            self._base.execute("INSERT OR IGNORE INTO studies VALUES (?)", (text,))

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the studies that were begun, finished or not, without those in `unknown`.

        Raises `InvalidInput` if not one of those that are there is known.
        """
        known, unknown = self._studies()
        if unknown and not known:
            raise unknown[0]
        return known

    def unknown(self) -> tuple[str, ...]:
        """Return why studies cannot be read, one sentence each: another version has begun them."""
        return tuple(str(problem) for problem in self._studies()[1])

    def _studies(self) -> tuple[tuple[Scenario, ...], tuple[InvalidInput, ...]]:
        with self._in_a_sentence("read"):
            rows = self._base.execute("SELECT scenario FROM studies").fetchall()
        known: dict[Scenario, None] = {}  # once each, in whatever form earlier versions wrote it
        unknown = []
        for (row,) in rows:
            text = self._study_text(row)
            try:
                known[Scenario.from_json(text)] = None
            except InvalidInput as problem:
                unknown.append(problem)
        return tuple(known), tuple(unknown)

    def _study_text(self, row: str) -> str:
        """Return the text of a study; the files of earlier versions have no checksum."""
        if SEPARATOR not in row:
            return row
        try:
            return checked(row)
        except ValueError as problem:
            raise self._foreign("is damaged") from problem

    def count(self) -> int:
        """Return how many studies were begun, without reading them."""
        with self._in_a_sentence("read"):
            return self._number("SELECT count(*) FROM studies")

    def outcomes(self, scenario: Scenario) -> list[Outcome]:
        """Return what is there of a study, in the order of its cells."""
        stored = (self.get(cell) for cell in cells(scenario))
        return [outcome for outcome in stored if outcome is not None]

    # -- the file ---------------------------------------------------------------------------

    @contextmanager
    def _in_a_sentence(self, done: str) -> Iterator[None]:
        """Turn what SQLite or the system says into one sentence."""
        try:
            yield
        except sqlite3.DatabaseError as problem:
            raise self._failed(done, " ".join(str(problem).split()).rstrip(".")) from problem
        except OSError as problem:
            raise self._failed(done, problem.strerror or str(problem)) from problem

    def _failed(self, done: str, why: str) -> StoreError:
        return StoreError(
            f"store must be a results file that can be {done}, got store={self.path} ({why})."
        )

    def _foreign(self, why: str) -> StoreError:
        return StoreError(
            f"store must be a results file of this program, got store={self.path}, which {why}."
        )

    def _writable(self) -> bool:
        """Whether the system lets this user write the file, and files beside it."""
        effective = os.access in os.supports_effective_ids
        places = (self.path, self.path.absolute().parent)
        return all(os.access(place, os.W_OK, effective_ids=effective) for place in places)

    def close(self) -> None:
        """Close the file; what was written stays, and nothing stays beside it.

        Only who may write can take away what SQLite lays beside a file in WAL mode, and only the
        last one to close it does: an empty log is taken away by one who writes nothing.
        """
        self._base.close()
        log = self.path.with_name(f"{self.path.name}-wal")
        if self._read_only and log.exists() and log.stat().st_size == 0 and self._writable():
            with self._in_a_sentence("read"):
                last = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=rw", uri=True)
                last.execute("SELECT count(*) FROM sqlite_master")
                last.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def key_of(cell: Cell) -> bytes:
    """Return the key of a cell: a hash of all that fixes its numbers."""
    values = canonical(cell.point).to_dict()
    point = {name: value for name, value in values.items() if keyed(name, value)}
    own = extend.digests((cell.method, cell.point.distribution))  # none of what is built in
    parts = [NUMBERS_VERSION, point, cell.method, cell.trial, *own]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=20).digest()


def with_sum(text: str, key: bytes = b"") -> str:
    """Return a text with its checksum, which is also one of the key that it is kept under."""
    digest = hashlib.blake2b(text.encode(), digest_size=SUM_BYTES, key=key).hexdigest()
    return f"{text}{SEPARATOR}{digest}"


def checked(text: str, key: bytes = b"") -> str:
    """Return the text of `with_sum`; raises `ValueError` if it is not what was written."""
    whole = text.rpartition(SEPARATOR)[0]
    if with_sum(whole, key) != text:
        raise ValueError("the checksum is another one")
    return whole


def is_within(spent: Budget | None, budget: Budget) -> bool:
    """Whether a run under a budget can have spent this: some of it, or of its pure part."""
    if not isinstance(spent, (type(budget), PureDP)) or isinstance(budget, ZCDP) != isinstance(
        spent, ZCDP
    ):
        return False
    return all(0 <= value <= getattr(budget, name) for name, value in asdict(spent).items())


def require_sound(outcome: Outcome, cell: Cell) -> None:
    """Raise `ValueError` unless an outcome is one that a run of the cell could have given."""
    ran = outcome.not_applicable is None
    private = ran and method_card(cell.method).privacy != "none"
    sound = (
        (outcome.method, outcome.trial) == (cell.method, cell.trial)
        and (is_error(outcome.error, cell.point) if ran else math.isnan(outcome.error))
        and all(0 <= value <= LARGEST for value in (outcome.seconds, outcome.error_uncertainty))
        and (ran or isinstance(outcome.not_applicable, str))
        and (is_within(outcome.spent, cell.point.budget) if private else outcome.spent is None)
        and all(isinstance(text, str) for text in (*outcome.flaws, *outcome.notes))
        and set(outcome.bound_by) <= {"pure", "zcdp", "approx"}
        and isinstance(outcome.diagnostics, dict)
        and all(real(value) for value in outcome.diagnostics.values())
    )
    if not sound:
        raise ValueError("no run gives this")


def outcome_text(outcome: Outcome) -> str:
    """Return an outcome as JSON, without its place on an axis."""
    values = asdict(replace(outcome, x=None))
    del values["failed"]  # what has failed is not kept
    values["error"] = None if math.isnan(outcome.error) else outcome.error
    values["spent"] = budget_fields(outcome.spent)
    return json.dumps(values, default=lambda number: number.item())  # for numpy's numbers


def outcome_from(text: str) -> Outcome:
    """Return the outcome of `outcome_text`; one of `NOT_OURS` is raised if the text is not its."""
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
    kind = next(name for name, made in KINDS.items() if isinstance(budget, made))
    return {"kind": kind, **asdict(budget)}
