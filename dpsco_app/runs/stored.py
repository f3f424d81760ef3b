"""Stored studies, read from results files so that a foreign or damaged file does no harm.

A file comes from a visitor or from whoever started the dashboard. It is opened read-only; a
visitor's file is copied to a folder that is deleted after reading. Nothing in a file is trusted:
its tables must be those of `dpsco_core.runs.store`, and its scenarios and outcomes are validated.
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

# The environment variable with the path of the results file that every visitor is offered.
ENVIRONMENT = "DPSCO_STUDY"
MEGABYTES = 32  # The largest size of a visitor's file, enough for about 30,000 cells.
MOST_STUDIES = 1000
LONGEST_TEXT = 2000  # The largest number of characters of a remark in a file.
MOST_REMARKS = 50
# The limits for a stored study. It needs no sampling, so only the page's own computations count.
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
    """A results file, given by its path or its bytes, with the name that sentences use."""

    source: Path | bytes
    name: str  # The name of the file in sentences.

    def contents(self) -> tuple[tuple[Scenario, ...], int]:
        """Return the studies in the file, and the number of studies begun by another version.

        Raises `InvalidInput` if the file is not a results file, or has no study.
        """
        with self._opened() as store:
            must = f"a results file with at most {MOST_STUDIES:,} studies"
            require(store.count() <= MOST_STUDIES, "file", must, f"{self.name}, which has more")
            scenarios = tuple(as_controls(scenario) for scenario in store.scenarios())
            unreadable = len(store.unknown())
        require(bool(scenarios), "file", "one that holds a study", self.name)
        return tuple(dict.fromkeys(scenarios)), unreadable

    def outcomes(self, scenario: Scenario) -> list[Outcome]:
        """Return the outcomes that the file has of a study, in the order of its cells.

        Raises `InvalidInput` if the study is too large to be shown, or the file is damaged.
        """
        require_showable(scenario)
        if isinstance(self.source, bytes):
            return self._read(scenario)
        return list(_served_outcomes(self, scenario, _file_state(self.source)))

    def _read(self, scenario: Scenario) -> list[Outcome]:
        """Return a study's stored outcomes, checked; raise `StoreError` for a damaged file."""
        with self._opened() as store:
            stored = [(cell, store.get(cell)) for cell in cells(scenario)]
        try:
            return [
                checked_outcome(outcome, cell) for cell, outcome in stored if outcome is not None
            ]
        except NOT_OURS as problem:
            must = "file must be a results file of this program"
            raise StoreError(f"{must}, got file={self.name}, which is damaged.") from problem

    @contextmanager
    def _opened(self) -> Iterator[Store]:
        """Open the file read-only; yield its store, whose errors name no path on this machine."""
        # Only the owner of the process can read this folder.
        with tempfile.TemporaryDirectory(prefix="dpsco-") as folder:
            path = self._readable_path(Path(folder) / "results.sqlite")
            try:
                with Store(path, read_only=True) as store:
                    yield store
            except InvalidInput as problem:
                sentence = str(problem).replace(f"store={path}", f"file={self.name}")
                raise StoreError(sentence.replace("store must", "file must")) from problem

    def _readable_path(self, copy: Path) -> Path:
        """Return the path to open: the file's own, or `copy`, to which the file is then copied."""
        if isinstance(self.source, bytes):
            copy.write_bytes(self.source)
            return copy
        # SQLite needs an index file beside a database that is being written. If that file cannot be
        # created in this folder, a copy of the study is opened instead.
        newest = _journal_path(self.source)
        if os.access(self.source.parent, os.W_OK) or not newest.exists():
            return self.source
        shutil.copyfile(self.source, copy)
        shutil.copyfile(newest, _journal_path(copy))
        return copy


def served_shelf() -> Shelf | None:
    """Return the results file that this server offers to every visitor, if there is one."""
    path = os.environ.get(ENVIRONMENT)
    return Shelf(source=Path(path), name=Path(path).name) if path else None


def require_showable(scenario: Scenario) -> None:
    """Raise `InvalidInput` unless a study has methods and is small enough to be shown."""
    scenario.validate(DISPLAY_LIMITS, sampling=False)
    for name, value, limit in (
        ("seed", scenario.seed, LARGEST_SEED),
        ("the number of cells", scenario.cells, DISPLAY_LIMITS.cells),
    ):
        require(value <= limit, name, f"at most {limit:,} for {DISPLAY_LIMITS.where}", f"{value:,}")
    require(bool(scenario.methods), "methods", "at least one", "none")


def as_controls(scenario: Scenario) -> Scenario:
    """Return a study with its methods and its grid in the order in which controls have them."""
    methods = tuple(m for m in METHOD_SLUGS if m in scenario.methods)
    return replace(scenario, methods=methods, grid=tuple(sorted(scenario.grid)))


def checked_outcome(outcome: Outcome, cell: Cell) -> Outcome:
    """Return an outcome after checking that each value has the type that a run of the cell gives.

    Raises ValueError or TypeError if a value has another type.
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
        flaws=tuple(map(_without_image_links, outcome.flaws)),
        notes=tuple(map(_without_image_links, outcome.notes)),
        not_applicable=_without_image_links(outcome.not_applicable) if refused else None,
        diagnostics={
            _without_image_links(name): value for name, value in outcome.diagnostics.items()
        },
        changes=outcome.changes if _are_changes_valid(outcome, cell.point) else (),
    )


def _are_changes_valid(outcome: Outcome, point: Scenario) -> bool:
    """Whether the changes that an outcome proposes give a valid scenario at a point."""
    values = dict(outcome.changes)
    is_known_method = values.pop("method", METHOD_SLUGS[0]) in METHOD_SLUGS
    if not is_known_method or values.keys() & {"methods", "axis", "grid"}:
        return False
    try:
        Scenario.from_dict(values, point)
    except InvalidInput:
        return False
    return True


def _without_image_links(remark: str | None) -> str:
    """Return a remark without image links, so that drawing it contacts no other host."""
    if not isinstance(remark, str) or len(remark) > LONGEST_TEXT:
        raise ValueError("not a remark of a run")
    return remark.replace("![", "! [")


def _journal_path(path: Path) -> Path:
    """Return the file with a store's newest cells, beside the store itself."""
    return path.with_name(f"{path.name}-wal")


@lru_cache(maxsize=2)
def _served_outcomes(
    shelf: Shelf, scenario: Scenario, state: tuple[int, ...]
) -> tuple[Outcome, ...]:
    """Return the outcomes of a served study, read once for all visitors until the file changes."""
    return tuple(shelf._read(scenario))


def _file_state(path: Path) -> tuple[int, ...]:
    """Return a tuple that changes when the file, or the database's journal, changes."""
    parts = (path, _journal_path(path))
    return tuple(part.stat().st_mtime_ns if part.exists() else 0 for part in parts)
