"""The statements of a paper at a setting: as printed, as proven here, and what its methods do."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.catalogue import bound, bounds_for, methods_for
from dpsco_core.explain.tables.left_out import left_out
from dpsco_core.explain.tables.papers.papers import NO_EXPERIMENTS, ReproducedPaper, Section
from dpsco_core.explain.tables.table import Row, paper_table, rows
from dpsco_core.results.exact import with_exact_errors
from dpsco_core.results.measured import measured
from dpsco_core.results.report import finite_or_none
from dpsco_core.runs.cost import cost, machine_speed
from dpsco_core.runs.study import Outcome, study
from dpsco_core.scenario import Scenario

# the longest time that the runs of a paper may take, in seconds on the reference machine
MOST_SECONDS = 6.0
GRADIENTS = "item gradients"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The result of a method's runs, in the quantity of a statement."""

    method: str  # slug of the method
    mean: float  # the mean error; NaN if no trial ran
    half: float  # half the width of the 95 % interval of the mean; 0 if there is none
    trials: int
    reason: str = ""  # the reason why no trial ran, or fewer trials than the setting asks for


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement of a paper at a setting."""

    row: Row  # the bound and its value
    # the best bound for the same method or class in which every constant is proven
    proven: Row | None
    measured: Measured | None

    @property
    def card(self) -> BoundCard:
        """The card of the statement's bound."""
        return self.row.bound.card

    @property
    def constants(self) -> str:
        """The word for the constants in the value: "1" where the paper hides them, or "printed"."""
        return "1" if self.card.constant == "rate" else "printed"

    def to_dict(self) -> dict[str, Any]:
        """Return the statement for JSON; numbers that are not finite are None."""
        card, runs = self.card, self.measured
        value = finite_or_none(self.row.value)
        return {
            "slug": card.slug,
            "paper": card.paper.key,
            "statement": card.statement,
            "kind": card.kind,
            "quantity": card.quantity,
            "guarantee": card.guarantee,
            "privacy": card.privacy,
            "method": card.method or None,
            "printed": value if card.is_printed else None,
            "reworked": None if card.is_printed else value,
            "constants": self.constants,
            "holds": self.row.holds,
            "failures": list(self.row.failures),
            "proven": self.proven and finite_or_none(self.proven.value),
            "proven_by": self.proven and self.proven.bound.card.slug,
            "measured": runs and finite_or_none(runs.mean),
            "measured_half_interval": runs and finite_or_none(runs.half),
            "trials": runs and runs.trials,
            "measured_reason": (runs and runs.reason) or None,
        }


@dataclass(frozen=True, kw_only=True)
class SectionTable:
    """A section of a paper at a setting."""

    section: Section
    number: int  # the number of the section from 1, as in the flag `--section`
    point: Scenario
    statements: tuple[Statement, ...]


def section_tables(
    entry: ReproducedPaper, changes: Mapping[str, Any], number: int | None = None
) -> tuple[SectionTable, ...]:
    """Return the sections of a paper, or the one of a number, with the fields that are given.

    A statement stands in the first section where it holds; where it holds in none, in the first
    that it is about. Raises `InvalidInput`.
    """
    if number is not None:
        entry.section(number)
    points = [section.point(changes) for section in entry.sections]
    placed = placed_rows(entry, points)
    tables = []
    for place, (section, point) in enumerate(zip(entry.sections, points, strict=True), start=1):
        if number in (None, place):
            seconds = MOST_SECONDS / (1 if number else len(points))
            statements = _statements_at(point, placed[place - 1], seconds)
            tables.append(
                SectionTable(section=section, number=place, point=point, statements=statements)
            )
    return tuple(tables)


def paper_json(entry: ReproducedPaper, tables: Sequence[SectionTable]) -> dict[str, Any]:
    """Return a paper, the statements of its sections and what is left out, for JSON."""
    return {
        "paper": entry.key,
        "title": entry.paper.title,
        "authors": entry.paper.authors,
        "venue": entry.paper.venue,
        "experiments": None,
        "experiments_note": NO_EXPERIMENTS,
        "sections": [
            {
                "number": table.number,
                "title": table.section.title,
                "scenario": table.point.to_dict(),
                "statements": [statement.to_dict() for statement in table.statements],
            }
            for table in tables
        ],
        "left_out": [missing.line for missing in _statements_left_out(entry)],
    }


def left_out_lines(entry: ReproducedPaper) -> tuple[str, ...]:
    """Return one line for each printed statement that no section has."""
    return tuple(missing.line for missing in _statements_left_out(entry))


def _statements_left_out(entry: ReproducedPaper) -> list[Any]:
    """Return the statements of the paper that the tables leave out."""
    keys = dict.fromkeys(section.table for section in entry.sections)
    return [missing for key in keys for missing in left_out(key)]


def _belongs(entry: ReproducedPaper, card: BoundCard, table: str) -> bool:
    """Return whether a bound is a statement of the paper, or one that the paper's table quotes."""
    is_statement = card.constant == "rate" or card.is_printed
    is_quoted = table in card.tables or re.search(rf"\b{entry.author} et al", card.statement)
    return is_statement and (card.paper == entry.paper or bool(is_quoted and card.paper != OWN))


def placed_rows(entry: ReproducedPaper, points: Sequence[Scenario]) -> list[list[Row]]:
    """Return the rows of each section at its point; each bound is in one section only.

    That is the first section in which the bound holds, or else the first that it is about.
    """
    evaluated: dict[str, list[tuple[int, Row]]] = {}
    for place, (section, point) in enumerate(zip(entry.sections, points, strict=True)):
        table = section.table
        slugs = [s for s in paper_table(table).slugs if _belongs(entry, bound(s).card, table)]
        order = {slug: index for index, slug in enumerate(slugs)}
        listed = sorted(rows(point, tuple(slugs)), key=lambda r: order[r.bound.card.slug])
        for row in listed:
            if row.is_relevant:
                evaluated.setdefault(row.bound.card.slug, []).append((place, row))
    placed: list[list[Row]] = [[] for _ in points]
    for candidates in evaluated.values():
        place, row = next((pair for pair in candidates if pair[1].holds), candidates[0])
        placed[place].append(row)
    return [sorted(part, key=lambda r: r.bound.card.kind == "lower") for part in placed]


def _statements_at(point: Scenario, listed: Sequence[Row], seconds: float) -> tuple[Statement, ...]:
    """Return the statements at a point, with proven bounds and measured errors."""
    every = rows(point, tuple(b.card.slug for b in bounds_for(point.problem, point.level)))
    explicit = [r for r in every if r.holds and r.bound.card.constant == "explicit"]
    runnable = methods_for(point.problem, point.level)
    methods = dict.fromkeys(r.bound.card.method for r in listed if r.bound.card.method in runnable)
    if all(r.bound.card.quantity == GRADIENTS for r in listed):
        point = replace(point, trials=1)  # All trials take the same number of gradients.
    runs = _run_methods(point, tuple(methods), seconds)
    return tuple(
        Statement(
            row=row,
            proven=_sharpest_proof(row.bound.card, explicit),
            measured=_measured_error(point, row.bound.card, runs),
        )
        for row in listed
    )


def _sharpest_proof(card: BoundCard, explicit: Iterable[Row]) -> Row | None:
    """Return the sharpest of the `explicit` rows that are about what `card` is about, or None."""
    alike = [r for r in explicit if _is_about(r.bound.card, card) and math.isfinite(r.value)]
    sign = 1 if card.kind == "upper" else -1
    ordered = sorted(alike, key=lambda r: sign * r.value)
    return ordered[0] if ordered else None


def _is_about(proof: BoundCard, card: BoundCard) -> bool:
    """Return whether the bound `proof` is about what `card` is about.

    For an upper bound that is its method, for a lower one its class of algorithms and data.
    """
    kind = (proof.kind, proof.quantity, proof.guarantee)
    if kind != (card.kind, card.quantity, "expectation"):
        return False
    if card.kind == "upper":
        return bool(card.method) and proof.method == card.method
    return (
        not proof.of_law
        and proof.privacy == card.privacy
        and proof.laws == card.laws
        and proof.instance_class.is_within(card.loss_class)
    )


Runs = dict[str, tuple[tuple[Outcome, ...], str]]


def _run_methods(point: Scenario, methods: Sequence[str], most_seconds: float) -> Runs:
    """Return, by method, its outcomes and why they are fewer than asked for, or "".

    All methods together take about `most_seconds` on the reference machine.
    """
    allowed = {}
    reasons = {}
    for method in methods:
        single = replace(point, methods=(method,), trials=1)
        seconds = round(cost(single).seconds / machine_speed(), 6)
        share = most_seconds / len(methods)
        count = min(point.trials, max(int(share / seconds), int(seconds < most_seconds)))
        allowed[method] = count
        if count == 0:
            reasons[method] = f"a run takes about {seconds:.0f} s"
        elif count < point.trials:
            reasons[method] = "fewer trials, for more take too long"
    outcomes: dict[str, list[Outcome]] = {method: [] for method in methods}
    for count in sorted({*allowed.values()} - {0}):
        alike = tuple(method for method in methods if allowed[method] == count)
        for outcome in study(replace(point, methods=alike, trials=count)):
            outcomes[outcome.method].append(outcome)
    return {m: (tuple(outcomes[m]), reasons.get(m, "")) for m in methods}


def _measured_error(point: Scenario, card: BoundCard, runs: Runs) -> Measured | None:
    """Return the measured error of the method that an upper bound is about; None without runs.

    Where the bound counts gradients, their number is measured instead.
    """
    if card.method not in runs or card.kind == "lower":
        return None
    outcomes, reason = runs[card.method]
    refusals = [o.not_applicable for o in outcomes if o.not_applicable]
    if refusals or not outcomes:
        return Measured(
            method=card.method,
            mean=math.nan,
            half=math.nan,
            trials=0,
            reason=refusals[0] if refusals else reason,
        )
    if card.quantity == GRADIENTS:
        counts = [o.diagnostics.get("gradient_calls", math.nan) for o in outcomes]
        mean, half = float(np.mean(counts)), 0.0
    else:
        single = replace(point, methods=(card.method,))
        (summary,) = with_exact_errors(measured(outcomes), single).values()
        mean, half = summary.mean, summary.half
    return Measured(method=card.method, mean=mean, half=half, trials=len(outcomes), reason=reason)
