"""The content of an erratum: the printed text, its fault, and an experiment that shows it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, get_args

from dpsco_core.base.cards import Paper
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import to_plain
from dpsco_core.privacy.budget import Budget
from dpsco_core.problems.base import Constants, Setting
from dpsco_core.words.reading import check_keys, read_words

Severity = Literal[
    "not private as printed",
    "wrong constant or rate",
    "missing condition",
    "gap in proof",
    "misprint",
    "valid but loose",
]
# The severities, the gravest first; the last one means that there is no error.
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
Value = str | float | int
# The texts that the file of every erratum contains.
TEXTS = ("slug", "statement", "severity", "printed", "wrong", "instead")
# The further keys of an erratum with an experiment.
EXPERIMENT_KEYS = ("experiment", "run", "inputs")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result of an erratum's experiment."""

    sentence: str  # one sentence with the result and its numbers
    columns: tuple[str, ...]  # the heads of the table's columns
    # the rows of the table; each value is a text or a number, which may be infinite
    rows: tuple[tuple[Value, ...], ...]
    # Whether the numbers show the error. The value is computed, so that a test can check it.
    shows: bool
    # The conditions of the statement in its own symbols, each with whether every row meets it. They
    # are computed from the paper's formulas.
    conditions: tuple[tuple[str, bool], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a table without rows, or with rows of another length than the columns."""
        fits = bool(self.rows) and all(len(row) == len(self.columns) for row in self.rows)
        require(fits, "rows", "one value a column, at least one row", len(self.rows))

    @property
    def is_in_range(self) -> bool:
        """Whether the demonstration is known to lie inside the range of the statement."""
        return bool(self.conditions) and all(met for _, met in self.conditions)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A computation that shows an erratum: `name` describes it, `run` does it in under 2 s."""

    name: str
    run: Callable[[], Finding]
    # The numbers, data and laws that the computation starts from; "each row" is one of its table.
    inputs: str


@dataclass(frozen=True, kw_only=True)
class CheckCommand:
    """Another command by which a reader can check an erratum."""

    command: str  # the command line, as one types it into a shell
    prints: str  # a text that it prints, with one space between words
    meaning: str  # the part of the erratum that the text shows


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """One statement that was found wrong, incomplete or misprinted, or valid but loose."""

    slug: str  # the short name of the paper, a dot, and the subject
    paper: Paper
    statement: str  # the number of the statement in the paper
    severity: Severity  # the severity, one of `SEVERITIES`
    # What the paper prints, what is wrong with it, and what this library does instead: sentences,
    # with formulas between dollar signs.
    printed: str
    wrong: str
    instead: str
    modules: tuple[str, ...]  # the modules that contain the correction
    # the computation that shows the error; None where there is nothing to compute
    experiment: Experiment | None = None
    # a command beside `repeated_by` that shows the error; None if there is none
    check: CheckCommand | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown severity, and an erratum without a module."""
        require(self.severity in SEVERITIES, "severity", f"one of {SEVERITIES}", self.severity)
        require(bool(self.modules), "modules", "at least one module", "none")

    @property
    def repeated_by(self) -> str | None:
        """The command that computes the experiment's numbers anew; None without an experiment."""
        return None if self.experiment is None else f"dpsco errata --slug {self.slug}"

    def to_dict(self) -> dict[str, Any]:
        """Return the erratum as a dictionary of texts, lists and dictionaries, for JSON."""
        experiment = self.experiment
        return vars(self) | {
            "paper": self.paper.key,
            "modules": list(self.modules),
            "experiment": None if experiment is None else experiment.name,
            "inputs": None if experiment is None else experiment.inputs,
            "repeated_by": self.repeated_by,
            "check": None if self.check is None else dict(vars(self.check)),
        }


def read_errata(file: str, paper: Paper, runs: ModuleType) -> tuple[Erratum, ...]:
    """Return the errata of a file of `dpsco_core.words`.

    `run` names a function of the module `runs`. Raises `InvalidInput` if the file is not one of
    errata.
    """
    tables = read_words(file)
    check_keys(file, tables, ("erratum",))
    return tuple(_erratum(file, table, paper, runs) for table in tables["erratum"])


def _erratum(file: str, table: dict[str, Any], paper: Paper, runs: ModuleType) -> Erratum:
    """Return the erratum of one table in a file of words; `runs` has its experiment.

    Raises `InvalidInput` if a key of the table is missing or unknown.
    """
    place = f"{file}, {table.get('slug', 'an erratum')}"
    needed_keys = EXPERIMENT_KEYS if set(EXPERIMENT_KEYS) & table.keys() else ()
    check_keys(place, table, (*TEXTS, "modules", *needed_keys), ("check",))
    experiment = check = None
    if needed_keys:
        name = table["run"]
        require(hasattr(runs, name), f"{place}, run", f"a function of {runs.__name__}", name)
        experiment = Experiment(
            name=table["experiment"], run=getattr(runs, name), inputs=table["inputs"]
        )
    if "check" in table:
        check_keys(f"{place}, check", table["check"], ("command", "prints", "meaning"))
        check = CheckCommand(**table["check"])
    texts = {key: table[key] for key in TEXTS}
    return Erratum(
        **texts,
        paper=paper,
        modules=tuple(table["modules"]),
        experiment=experiment,
        check=check,
    )


def unit_setting(
    d: int,
    order: float,
    *,
    budget: Budget,
    n: int = 1,
    diameter: float = math.inf,
    lipschitz: float = math.inf,
) -> Setting:
    """Return a setting in which records have moments of 1 in every direction and coordinate."""
    constants = Constants(
        coordinate_moment=1.0,
        directional_moment=1.0,
        variance_trace=float(d),
        mean_gradient_bound=1.0,
        diameter=diameter,
        lipschitz=lipschitz,
    )
    return Setting(n=n, d=d, moment_order=order, budget=budget, constants=constants)


def finding_dict(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain texts, numbers and lists."""
    return vars(finding) | {
        "columns": list(finding.columns),
        "rows": [[to_plain(value) for value in row] for row in finding.rows],
        "conditions": [{"condition": text, "met": met} for text, met in finding.conditions],
    }
