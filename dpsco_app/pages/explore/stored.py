"""Stored studies: what a results file holds, read so that a foreign or damaged file does no harm.

A file comes from a visitor or from whoever started the dashboard. It is opened read-only; one from
a visitor is copied to a folder that is gone when it has been read. Nothing in it is believed: its
tables must be those of `dpsco_core.runs.store`, its scenarios are validated, its outcomes checked.
"""

import math
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from dpsco_app.parts.options import LARGEST_SEED
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import LIBRARY, Limits
from dpsco_core.catalogue import METHOD_SLUGS
from dpsco_core.runs.store import SCHEMA, VERSION, Store, StoreError
from dpsco_core.runs.study import Cell, Outcome, cells
from dpsco_core.scenario import Scenario

ENVIRONMENT = "DPSCO_STUDY"  # names the results file that a server offers to every visitor
MEGABYTES = 32  # of a visitor's file: about 30,000 cells
MOST_STUDIES = 1000
LONGEST_TEXT = 2000  # characters of a remark in a file
MOST_REMARKS = 50
# What can be drawn: nothing is sampled for it, so that only what the page computes counts.
SHOWN = Limits(
    n=LIBRARY.n,
    d=5000,
    elements=LIBRARY.elements,
    streamed=LIBRARY.streamed,
    trials=LIBRARY.trials,
    grid=40,
    cells=50_000,
    seconds=math.inf,
    where="a study that is opened here",
)


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """A results file: the path of one, or the bytes of one, and how it is called."""

    source: Path | bytes
    name: str  # in sentences

    def studies(self) -> tuple[Scenario, ...]:
        """Return the studies in the file, finished or not, as the controls hold them.

        Raises `InvalidInput` if the file is no results file, is damaged, or holds none.
        """
        return self.contents()[0]

    def contents(self) -> tuple[tuple[Scenario, ...], int]:
        """Return `studies`, and how many more there are that another version has begun."""
        with self._opened() as store:
            found = tuple(as_controls(scenario) for scenario in store.scenarios())
            unreadable = len(store.unknown())
        require(bool(found), "file", "one that holds a study", self.name)
        return tuple(dict.fromkeys(found)), unreadable

    def outcomes(self, scenario: Scenario) -> list[Outcome]:
        """Return what the file holds of a study, in the order of its cells.

        Raises `InvalidInput` if the file is damaged, or the study is too large to be shown.
        """
        require_showable(scenario)
        if isinstance(self.source, bytes):
            return self._read(scenario)
        return list(_kept(self, scenario, _state(self.source)))

    def _read(self, scenario: Scenario) -> list[Outcome]:
        with self._opened() as store:
            try:
                found = [(cell, store.get(cell)) for cell in cells(scenario)]
                return [checked(outcome, cell) for cell, outcome in found if outcome is not None]
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
                if isinstance(problem, StoreError):
                    raise
                raise _damaged(self.name) from problem

    @contextmanager
    def _opened(self) -> Iterator[Store]:
        """Open the file, or a copy of it where it cannot be opened in its own place."""
        if isinstance(self.source, Path):
            try:
                with self._said(self.source), Store(self.source, read_only=True) as store:
                    yield store
                return
            except StoreError:
                # SQLite wants an index beside a file that is being written: a folder in which it
                # may not make one is no reason to refuse.
                if _can_write(self.source.parent) or not self.source.is_file():
                    raise
        require(self.source != b"", "file", "a results file of this program", f"{self.name}, empty")
        with tempfile.TemporaryDirectory(prefix="dpsco-") as folder:  # its owner's alone
            path = Path(folder) / "results.sqlite"
            _copy(self.source, path)
            with self._said(path):
                guard(path)
                with Store(path, read_only=True) as store:
                    yield store

    @contextmanager
    def _said(self, path: Path) -> Iterator[None]:
        """Say the file's name, not the path where it lies here."""
        try:
            yield
        except sqlite3.DatabaseError as problem:
            raise StoreError(
                f"file must be a results file of this program, got file={self.name} ({problem})."
            ) from problem
        except StoreError as problem:
            said = str(problem).replace(f"store={path}", f"file={self.name}")
            raise StoreError(said.replace("store must", "file must")) from problem


def served() -> Shelf | None:
    """Return the file that this server offers to every visitor, if it was started with one."""
    path = os.environ.get(ENVIRONMENT)
    return Shelf(source=Path(path), name=Path(path).name) if path else None


def guard(path: Path) -> None:
    """Refuse a file whose tables are not exactly ours, before any query is run on them.

    A view or a generated column under a known name would run what its author wrote.
    """
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as base:
        base.execute("PRAGMA trusted_schema = OFF")
        version = base.execute("PRAGMA user_version").fetchone()[0]
        made = base.execute("SELECT sql FROM sqlite_master").fetchall()
        found = {" ".join(str(sql).split()) for (sql,) in made}
        ours = {" ".join(sql.split()) for sql in SCHEMA.split(";") if sql.strip()}
        if not made:
            raise StoreError(
                f"store must be a results file with a study in it, got store={path}, which is "
                "empty: if `dpsco study` was killed, start it again."
            )
        if version != VERSION:
            return  # the store says which one it is
        if found != ours:
            raise StoreError(
                f"store must be a results file of this program, got store={path}, "
                "which holds another program's data."
            )
        studies = base.execute("SELECT count(*) FROM studies").fetchone()[0]
        if studies > MOST_STUDIES:
            raise StoreError(
                f"store must be a results file with at most {MOST_STUDIES:,} studies, "
                f"got store={path}, which holds {studies:,}."
            )


def require_showable(scenario: Scenario) -> None:
    """Raise `InvalidInput` if a study is too large even to be shown."""
    scenario.validate(SHOWN, sampling=False)
    most = f"at most {LARGEST_SEED:,} for {SHOWN.where}"
    require(scenario.seed <= LARGEST_SEED, "seed", most, f"{scenario.seed:,}")
    most = f"at most {SHOWN.cells:,} for {SHOWN.where}"
    require(scenario.cells <= SHOWN.cells, "the number of cells", most, f"{scenario.cells:,}")
    require(bool(scenario.methods), "methods", "at least one", "none")


def as_controls(scenario: Scenario) -> Scenario:
    """Return the same study as the controls write it: methods and grid in their order."""
    methods = tuple(m for m in METHOD_SLUGS if m in scenario.methods)
    return replace(scenario, methods=methods, grid=tuple(sorted(scenario.grid)))


def checked(outcome: Outcome, cell: Cell) -> Outcome:
    """Return an outcome whose every value is of the kind that a run of the cell gives.

    Raises
    ------
    ValueError, TypeError
        If one is not.
    """
    numbers = (outcome.error, outcome.seconds, outcome.error_uncertainty)
    sound = (
        (outcome.method, outcome.trial, outcome.x) == (cell.method, cell.trial, cell.x)
        and all(is_number(v) for v in (*numbers, *outcome.diagnostics.values()))
        and len(outcome.diagnostics) <= MOST_REMARKS
        and set(outcome.bound_by) <= {"pure", "zcdp", "approx"}
    )
    if not sound:
        raise ValueError("not what a run gives")
    refused = outcome.not_applicable is not None
    return replace(
        outcome,
        flaws=_plain_all(outcome.flaws),
        notes=_plain_all(outcome.notes),
        not_applicable=_plain(outcome.not_applicable) if refused else None,
        diagnostics={_plain(name): value for name, value in outcome.diagnostics.items()},
        changes=outcome.changes if _can_be_made(outcome, cell.point) else (),
    )


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _can_be_made(outcome: Outcome, point: Scenario) -> bool:
    """Whether the change that a refusal offers leads to a scenario."""
    if not outcome.changes:
        return True
    values = dict(outcome.changes)
    if values.pop("method", METHOD_SLUGS[0]) not in METHOD_SLUGS:
        return False
    if values.keys() & {"methods", "axis", "grid"}:
        return False
    try:
        Scenario.from_dict(values, point)
    except InvalidInput:
        return False
    return True


def _plain_all(remarks: tuple[str, ...]) -> tuple[str, ...]:
    if len(remarks) > MOST_REMARKS:
        raise ValueError("too many remarks")
    return tuple(_plain(remark) for remark in remarks)


def _plain(remark: str | None) -> str:
    """Return a remark that asks no other host for a picture when it is drawn."""
    if not isinstance(remark, str) or len(remark) > LONGEST_TEXT:
        raise ValueError("not a remark of a run")
    return remark.replace("![", "! [")


def _copy(source: Path | bytes, path: Path) -> None:
    if isinstance(source, bytes):
        path.write_bytes(source)
        return
    shutil.copyfile(source, path)
    newest = _newest(source)
    if newest.exists():
        shutil.copyfile(newest, _newest(path))


def _can_write(folder: Path) -> bool:
    return os.access(folder, os.W_OK)


def _newest(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _damaged(name: str) -> InvalidInput:
    return StoreError(
        f"file must be a results file of this program, got file={name}, which is damaged."
    )


@lru_cache(maxsize=2)
def _kept(shelf: Shelf, scenario: Scenario, state: tuple[int, ...]) -> tuple[Outcome, ...]:
    """Return the outcomes of a served study, read once for all visitors while it stays as it is."""
    return tuple(shelf._read(scenario))


def _state(path: Path) -> tuple[int, ...]:
    """Return what changes when a file, or what was written to it last, changes."""
    found = []
    for part in (path, _newest(path)):
        known = part.stat() if part.exists() else None
        found += [0, 0] if known is None else [known.st_mtime_ns, known.st_size]
    return tuple(found)
