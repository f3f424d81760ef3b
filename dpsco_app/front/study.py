"""The data of one panel of the front figure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from dpsco_app.parts.evaluations import without_data
from dpsco_core.catalogue import method_card
from dpsco_core.explain.contest import clearly_better
from dpsco_core.fields import is_linear
from dpsco_core.results.exact import with_exact_errors
from dpsco_core.results.measured import Measurement, Table, measured, reference_of
from dpsco_core.results.price import Ratio, is_no_better, paired_ratio
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

Role = Literal["own", "hardest", "tail", "set", "pin", "data"]
MIDDLE = 1.0  # The place of a single point, in the middle of its axis.


@dataclass(frozen=True, kw_only=True)
class Study:
    """A scenario with the outcomes that have been measured so far."""

    scenario: Scenario
    outcomes: tuple[Outcome, ...] = field(default=(), hash=False)
    role: Role = "own"
    overlay: "Study | None" = None  # A pinned run, drawn dashed in the same panel.
    # The private method of the headline, if it differs from the one with the smallest mean.
    preferred: str = ""

    @cached_property
    def table(self) -> Table:
        """The measurements by method and x; errors that are known exactly replace measured ones."""
        return with_exact_errors(measured(self.outcomes), self.scenario)

    def rows(self, method: str) -> list[Measurement]:
        """Return the points of a method that have an error, in the order of the axis."""
        rows = (r for (m, _), r in self.table.items() if m == method and r.mean >= 0)
        return sorted(rows, key=lambda r: -math.inf if r.x is None else r.x)

    def row_at(self, method: str, x: float | None) -> Measurement | None:
        """Return the measured row of a method at x; None if there is none."""
        row = self.table.get((method, x))
        return row if row is not None and row.mean >= 0 else None

    @cached_property
    def lead(self) -> str:
        """The private method of the headline: the best at the chosen point; "" without one."""
        if self.preferred:
            return self.preferred
        x = chosen_point(self.scenario)
        private = [m for m in self.scenario.methods if method_card(m).privacy != "none"]
        errors_at_point = {m: row.mean for m in private if (row := self.row_at(m, x)) is not None}
        return min(errors_at_point, key=errors_at_point.__getitem__, default="")

    @cached_property
    def level(self) -> tuple[str, ...]:
        """The private methods that the trials at the chosen point cannot tell from the best."""
        x, errors = chosen_point(self.scenario), dict[str, list[float]]()
        for o in sorted(self.outcomes, key=lambda o: o.trial):
            if o.x == x and method_card(o.method).privacy != "none" and self.row_at(o.method, x):
                errors.setdefault(o.method, []).append(o.error)
        rows = list(errors.values())
        if not self.lead or len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
            return ()
        beaten = clearly_better(np.array(rows))[list(errors).index(self.lead)]
        pairs = zip(errors, beaten, strict=True)
        return tuple(m for m, worse in pairs if not worse and m != self.lead)

    @property
    def complete(self) -> bool:
        """Whether all runs of the chosen point have finished."""
        x, trials = chosen_point(self.scenario), self.scenario.trials
        rows = [self.table.get((m, x)) for m in self.scenario.methods]
        return all(r is not None and (r.refusal or r.trials >= trials) for r in rows)

    def useless(self, x: float | None) -> Literal["", "level", "worse"]:
        """Return how the leading method at x compares with an answer without data.

        "level" says that it is no better, "worse" that it is clearly worse; empty that it is
        better or has not run.
        """
        row, blind = self.row_at(self.lead, x), without_data(self.scenario.at(x))
        if row is None or not is_no_better(row.mean, blind):
            return ""
        return "worse" if row.trials > 1 and row.mean - row.half > blind else "level"

    @cached_property
    def public(self) -> str:
        """The method without privacy that prices are relative to; empty if none has run."""
        return reference_of(self.table)

    def over_others(self, x: float | None) -> dict[str, Ratio]:
        """Return the best private error over each method without privacy but `public`.

        The ratios are by method, in the order of the scenario.
        """
        errors = dict[str, dict[int, float]]()
        for o in self.outcomes:
            if o.x == x:
                errors.setdefault(o.method, {})[o.trial] = o.error
        other_methods = [m for m in self.scenario.methods if m in errors and m != self.public]
        ratios = {
            m: paired_ratio(errors[self.lead], errors[m])
            for m in other_methods
            if method_card(m).privacy == "none" and self.lead in errors
        }
        return {m: replace(r, reference=m) for m, r in ratios.items() if r is not None}


def agreed(studies: Sequence[Study]) -> tuple[Study, ...]:
    """Return the panels with one common lead, as far as the trials allow it.

    It is the lead of the first panel, in each panel where no other method is clearly better.
    """
    lead = studies[0].lead
    return tuple(replace(s, preferred=lead) if lead in s.level else s for s in studies)


def place(x: float | None) -> float:
    """Return the place of a point on the axis; without an axis every point is in the middle."""
    return MIDDLE if x is None else x


def chosen_point(scenario: Scenario) -> float | None:
    """Return the point of the grid that is nearest to the scenario's own value."""
    if scenario.axis is None:
        return None
    value = getattr(scenario, scenario.axis)
    if is_linear(scenario.axis):
        return min(scenario.grid, key=lambda x: abs(x - value))
    # An infinite exponent is drawn at ten times the last point.
    value = min(value or scenario.grid[-1], 10 * scenario.grid[-1])
    return min(scenario.grid, key=lambda x: abs(math.log(x / value)))


def compared(studies: Sequence[Study]) -> Role:
    """Return how two panels differ: in their tails, in their sets, or else in their data."""
    roles: tuple[Role, ...] = ("tail", "set")
    return next((role for role in roles if role in {s.role for s in studies}), "own")
