"""Stored studies, read from results files so that a foreign or damaged file does no harm.

A file comes from a visitor or from whoever started the dashboard. It is opened read-only; one from
a visitor is copied to a folder that is gone when it has been read. Nothing in it is believed: its
tables must be those of `dpsco_core.runs.store`, its scenarios are validated, its outcomes checked.
"""

import math
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from dpsco_app.parts.options import LARGEST_SEED
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import LIBRARY, Limits
from dpsco_core.catalogue import METHOD_SLUGS
from dpsco_core.runs.store import NOT_OURS, Store, StoreError
from dpsco_core.runs.study import Cell, Outcome, cells
from dpsco_core.scenario import Scenario

ENVIRONMENT = "DPSCO_STUDY"  # names the results file that a server offers to every visitor
MEGABYTES = 32  # the largest file of a visitor: about 30,000 cells
MOST_STUDIES = 1000
LONGEST_TEXT = 2000  # characters of a remark in a file
MOST_REMARKS = 50
# What can be drawn: nothing is sampled for it, so that only what the page computes counts.
DISPLAY_LIMITS = Limits(
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
    """A results file, given by its path or its bytes, and its name."""

    source: Path | bytes
    name: str  # as sentences call it

    def contents(self) -> tuple[tuple[Scenario, ...], int]:
        """Return the studies in the file, and how many more another version has begun.

        Raises `InvalidInput` if it is no results file, or holds no study.
        """
        with self._opened() as store:
            must = f"a results file with at most {MOST_STUDIES:,} studies"
            require(store.count() <= MOST_STUDIES, "file", must, f"{self.name}, which has more")
            scenarios = tuple(as_controls(scenario) for scenario in store.scenarios())
            unreadable = len(store.unknown())
        require(bool(scenarios), "file", "one that holds a study", self.name)
        return tuple(dict.fromkeys(scenarios)), unreadable

    def outcomes(self, scenario: Scenario) -> list[Outcome]:
        """Return what the file holds of a study that can be shown, in the order of its cells."""
        require_showable(scenario)
        if isinstance(self.source, bytes):
            return self._read(scenario)
        return list(_served_outcomes(self, scenario, _state(self.source)))

    def _read(self, scenario: Scenario) -> list[Outcome]:
        with self._opened() as store:
            stored = [(cell, store.get(cell)) for cell in cells(scenario)]
        try:
            return [checked(outcome, cell) for cell, outcome in stored if outcome is not None]
        except NOT_OURS as problem:
            must = "file must be a results file of this program"
            raise StoreError(f"{must}, got file={self.name}, which is damaged.") from problem

    @contextmanager
    def _opened(self) -> Iterator[Store]:
        """Open the file; what is wrong names it, and not the path where it lies here."""
        with tempfile.TemporaryDirectory(prefix="dpsco-") as folder:  # only its owner can read it
            path = self._placed(Path(folder) / "results.sqlite")
            try:
                with Store(path, read_only=True) as store:
                    yield store
            except InvalidInput as problem:
                sentence = str(problem).replace(f"store={path}", f"file={self.name}")
                raise StoreError(sentence.replace("store must", "file must")) from problem

    def _placed(self, copy: Path) -> Path:
        """Return a path at which the file can be opened: its own path, or that of a copy."""
        if isinstance(self.source, bytes):
            copy.write_bytes(self.source)
            return copy
        # SQLite wants an index beside a file that is being written: a folder in which it may not
        # make one is no reason to refuse.
        newest = _newest(self.source)
        if os.access(self.source.parent, os.W_OK) or not newest.exists():
            return self.source
        shutil.copyfile(self.source, copy)
        shutil.copyfile(newest, _newest(copy))
        return copy


def served() -> Shelf | None:
    """Return the file that this server offers to every visitor, if it was started with one."""
    path = os.environ.get(ENVIRONMENT)
    return Shelf(source=Path(path), name=Path(path).name) if path else None


def require_showable(scenario: Scenario) -> None:
    """Raise `InvalidInput` if a study is too large even to be shown."""
    scenario.validate(DISPLAY_LIMITS, sampling=False)
    for name, value, limit in (
        ("seed", scenario.seed, LARGEST_SEED),
        ("the number of cells", scenario.cells, DISPLAY_LIMITS.cells),
    ):
        require(value <= limit, name, f"at most {limit:,} for {DISPLAY_LIMITS.where}", f"{value:,}")
    require(bool(scenario.methods), "methods", "at least one", "none")


def as_controls(scenario: Scenario) -> Scenario:
    """Return the same study as the controls write it: methods and grid in their order."""
    methods = tuple(m for m in METHOD_SLUGS if m in scenario.methods)
    return replace(scenario, methods=methods, grid=tuple(sorted(scenario.grid)))


def checked(outcome: Outcome, cell: Cell) -> Outcome:
    """Return an outcome whose every value is of the kind that a run of the cell gives.

    Raises ValueError or TypeError if one is not.
    """
    numbers = (outcome.error, outcome.seconds, outcome.error_uncertainty)
    sound = (
        (outcome.method, outcome.trial, outcome.x) == (cell.method, cell.trial, cell.x)
        and all(type(v) in (int, float) for v in (*numbers, *outcome.diagnostics.values()))
        and max(map(len, (outcome.diagnostics, outcome.flaws, outcome.notes))) <= MOST_REMARKS
        and set(outcome.bound_by) <= {"pure", "zcdp", "approx"}
    )
    if not sound:
        raise ValueError("not what a run gives")
    refused = outcome.not_applicable is not None
    return replace(
        outcome,
        flaws=tuple(map(_plain, outcome.flaws)),
        notes=tuple(map(_plain, outcome.notes)),
        not_applicable=_plain(outcome.not_applicable) if refused else None,
        diagnostics={_plain(name): value for name, value in outcome.diagnostics.items()},
        changes=outcome.changes if _can_be_made(outcome, cell.point) else (),
    )


def _can_be_made(outcome: Outcome, point: Scenario) -> bool:
    values = dict(outcome.changes)
    is_known_method = values.pop("method", METHOD_SLUGS[0]) in METHOD_SLUGS
    if not is_known_method or values.keys() & {"methods", "axis", "grid"}:
        return False
    try:
        Scenario.from_dict(values, point)
    except InvalidInput:
        return False
    return True


def _plain(remark: str | None) -> str:
    """Return a remark that asks no other host for a picture when it is drawn."""
    if not isinstance(remark, str) or len(remark) > LONGEST_TEXT:
        raise ValueError("not a remark of a run")
    return remark.replace("![", "! [")


def _newest(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


@lru_cache(maxsize=2)
def _served_outcomes(
    shelf: Shelf, scenario: Scenario, state: tuple[int, ...]
) -> tuple[Outcome, ...]:
    """Return the outcomes of a served study, read once for all visitors while it stays as it is."""
    return tuple(shelf._read(scenario))


def _state(path: Path) -> tuple[int, ...]:
    """Return what changes when a file, or what was written to it last, changes."""
    parts = (path, _newest(path))
    return tuple(part.stat().st_mtime_ns if part.exists() else 0 for part in parts)
