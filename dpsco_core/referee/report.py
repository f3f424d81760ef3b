"""What the referee reports: one check after the other, and a verdict that never says "correct"."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from dpsco_core.scenario import Scenario

Value = str | float | int
Progress = Callable[[str], None]  # A function that is called with a few words at every step.
# The possible results of a check. "refuted" is certain, or holds with the stated confidence;
# "contradicts" would refute the claim if the observation persisted. No result says that a claim is
# right, because no check can prove that.
Judgement = Literal[
    "refuted",
    "contradicts",
    "too few trials",
    "too few settings",
    "not refuted",
    "consistent with",
    "for information",
    "not checked",
]
WORST_FIRST: tuple[Judgement, ...] = get_args(Judgement)
LEAST_SHARE = 0.1  # Below this share of settings, a claim is reported as tried at few of them.
CONFIDENCE = 0.999  # the confidence of every refutation by trials


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check of a claim."""

    name: str  # the heading of the check
    verdict: Judgement
    sentence: str  # the observation in one sentence, with its numbers
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Value, ...], ...] = ()
    command: str = ""  # a command that repeats the counter-example

    def to_dict(self) -> dict[str, Any]:
        """Return the check as a dictionary for JSON; numbers that are not finite become None."""
        rows = [
            [None if isinstance(v, float) and not math.isfinite(v) else v for v in row]
            for row in self.rows
        ]
        return vars(self) | {"columns": list(self.columns), "rows": rows}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Check":
        """Return the check that `to_dict` has converted; None becomes NaN."""
        rows = tuple(tuple(math.nan if v is None else v for v in row) for row in values["rows"])
        return cls(**{**values, "columns": tuple(values["columns"]), "rows": rows})


@dataclass(frozen=True, kw_only=True)
class Report:
    """All checks of one claim."""

    title: str  # the claim's slug
    claim: str  # the claim in words or as a formula
    hypotheses: tuple[str, ...]
    checks: tuple[Check, ...]
    seed: int
    seconds: float  # the budget of time

    @property
    def verdict(self) -> Judgement:
        """The most severe verdict among the checks."""
        verdicts = {check.verdict for check in self.checks}
        return next((v for v in WORST_FIRST if v in verdicts), "not checked")

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dictionary of texts, numbers and lists, for JSON."""
        return {
            "title": self.title,
            "claim": self.claim,
            "hypotheses": list(self.hypotheses),
            "verdict": self.verdict,
            "seed": self.seed,
            "seconds": self.seconds,
            "checks": [check.to_dict() for check in self.checks],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Report":
        """Return the report that `to_dict` has converted; its verdict follows from its checks."""
        return cls(
            title=values["title"],
            claim=values["claim"],
            hypotheses=tuple(values["hypotheses"]),
            checks=tuple(map(Check.from_dict, values["checks"])),
            seed=values["seed"],
            seconds=values["seconds"],
        )


def reports_dict(reports: Sequence[Report]) -> dict[str, Any]:
    """Return the reports as the content of a JSON file, which `reports_of` reads."""
    return {"reports": [report.to_dict() for report in reports]}


def reports_of(values: Mapping[str, Any]) -> tuple[Report, ...]:
    """Return the reports that `reports_dict` has converted."""
    return tuple(map(Report.from_dict, values["reports"]))


def value_text(value: Value) -> str:
    """Return a table cell's text: four digits, or a dash for numbers that are not finite."""
    if isinstance(value, str):
        return value
    return f"{value:.4g}" if math.isfinite(value) else "-"


def place_words(point: Scenario) -> str:
    """Return a short description of the setting of a trial."""
    budget = f"ρ={point.rho:g}" if point.rho is not None else f"ε={point.epsilon:g}"
    users = f" m={point.m}" if point.m > 1 else ""
    size = f"n={point.n} d={point.d}{users} p={point.p:g} {budget}"
    geometry = "" if point.geometry == "l2" else f" {point.geometry}"
    width = "" if point.diameter == Scenario.diameter else f" diameter={point.diameter:g}"
    return f"{point.distribution}{geometry} {size}{width} offset={point.offset:g}"
