"""The slopes of a method's error along each axis, against those that the claim's terms allow."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from dpsco_core.base.arrays import Matrix
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.base.limits import LIBRARY, Limits
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import method_card
from dpsco_core.referee.report import (
    WORST_FIRST,
    Check,
    Judgement,
    Progress,
    place_words,
)
from dpsco_core.referee.trials import SUSPECT, error_of
from dpsco_core.results.commands import command_flags
from dpsco_core.results.slopes import (
    CONSISTENT,
    CONSISTENT_UPPER_BOUND,
    CONTRADICTED,
    FittedSlope,
    fit_errors,
    range_of_terms,
    verdict,
)
from dpsco_core.runs.cost import cost, too_large
from dpsco_core.runs.study import planned
from dpsco_core.scenario import Scenario

FACTORS = (1, 2, 4, 8)  # The values of an axis are these multiples of the smallest one.
# Where the hypotheses fail on an axis, it is moved by these factors, until they hold on all of it.
SHIFTS = (1, 2, 4, 8, 16, 1 / 2, 1 / 4)
STARTS = {"n": 1000, "d": 4, "epsilon": 0.25, "rho": 0.05, "m": 2}
TRIALS = (4, 8, 16, 32)  # The slope along an axis is evaluated after these numbers of trials.
JUDGEMENTS: dict[str, Judgement] = {
    CONSISTENT: "consistent with",
    CONSISTENT_UPPER_BOUND: "consistent with",
    CONTRADICTED: "contradicts",
}
NAME = "Slopes"


@dataclass(frozen=True, kw_only=True)
class _Axis:
    """The values of an axis with their points, or the reason why there are none."""

    name: str  # the name of the field: "n", "d", "epsilon", "rho" or "m"
    points: tuple[tuple[float, Scenario], ...]
    reason: str  # the reason why the axis has no points; empty if it has some
    is_hypothesis: bool = False  # whether the reason is a hypothesis of the claim

    @property
    def values_text(self) -> str:
        """The values along the axis as one text for a table."""
        return ", ".join(f"{value:g}" for value, _ in self.points)


def least_seconds(claim: Bound, base: Scenario, limits: Limits = LIBRARY) -> float:
    """Return the predicted seconds of the smallest slope measurement.

    It is run however short the time is, and is most of what a report takes at least.
    """
    return sum(
        cost(replace(point, trials=TRIALS[0])).seconds
        for name in _axes(base)
        for _, point in _axis(claim, base, name, limits).points
    )


def check_slopes(
    claim: Bound,
    base: Scenario,
    *,
    seed: int,
    deadline: float,
    progress: Progress,
    limits: Limits = LIBRARY,
    files: Sequence[str] = (),
) -> Check:
    """Fit the slope of the mean error along n, d, the budget and m, and compare it with the claim.

    An axis is moved to where the hypotheses hold. It is not checked where one of its points is
    above the `limits`, or where no move helps; its row says why. The range is that of the
    least-squares slopes of all sums of the claim's terms with positive factors in front. A slope
    below the range is consistent with an upper bound.
    """
    if claim.card.kind != "upper":
        text = "A lower bound is about the worst of all data; a run has one law."
        return Check(name=NAME, verdict="not checked", sentence=text)
    start, names = replace(base, seed=seed), _axes(base)
    rows, judgements, commands = [], [], []
    for place, name in enumerate(names):
        left = deadline - time.monotonic()
        end = time.monotonic() + left / (len(names) - place)
        axis = _axis(claim, start, name, limits)
        row, judgement = _axis_row(claim, axis, end, progress)
        rows.append(row)
        judgements.append(judgement)
        commands.append(_command(axis, start, int(row[4]), files) if axis.points else "")
    rows.append(("p", "-", "-", "not checked", 0, "an exponent: the error is no power of it"))
    gravest = next(v for v in WORST_FIRST if v in judgements)
    repeated = next((i for i, v in enumerate(judgements) if v == gravest and commands[i]), None)
    counts = [f"{judgements.count(v)} {v}" for v in WORST_FIRST if v in judgements]
    return Check(
        name=NAME,
        verdict=gravest,
        sentence=f"Of {len(names)} axes: {', '.join(counts)}. A slope is that of one law over a "
        "factor 8, with its asymptotic 95 % interval over the trials; 99.9 % to contradict. "
        f"Each axis changes one letter of {place_words(base)}."
        + (f" The command repeats the axis {names[repeated]}." if repeated is not None else ""),
        columns=("axis", "claim's terms", "fit", "verdict", "trials", "values"),
        rows=tuple(rows),
        command="" if repeated is None else commands[repeated],
    )


def _command(axis: _Axis, base: Scenario, trials: int, files: Sequence[str]) -> str:
    """Return the command that repeats the runs of an axis, with its errors and slope."""
    grid = tuple(value for value, _ in axis.points)
    point = replace(base, axis=axis.name, grid=grid, trials=trials)
    return f"dpsco run {command_flags(point, files)}"


def _axes(base: Scenario) -> list[str]:
    """Return the axes along which the claimed slope is tested."""
    users = ["m"] if method_card(base.methods[0]).level == "user" else []
    return ["n", "d", "epsilon" if base.rho is None else "rho", *users]


def _axis_row(
    claim: Bound, axis: _Axis, deadline: float, progress: Progress
) -> tuple[tuple[str | int, ...], Judgement]:
    """Return the table row of an axis, and the judgement on its slope."""
    name, points = axis.name, axis.points
    if not points:
        return (name, "-", "-", "not checked", 0, axis.reason), "not checked"
    x = np.array([value for value, _ in points])
    terms_by_point = [claim.terms(point.setting) for _, point in points]
    terms = np.array([[terms[name] for terms in terms_by_point] for name in terms_by_point[0]])
    low, high = range_of_terms(terms, x)
    predicted = "-" if math.isnan(low) else f"{low:.3g} to {high:.3g}"
    errors: list[list[float]] = []
    judgement: Judgement = "too few trials"
    for count in TRIALS:
        while len(errors) < count and (len(errors) < TRIALS[0] or time.monotonic() < deadline):
            progress(f"slopes: {name}, trial {len(errors) + 1}")
            errors.append([error_of(claim, point, len(errors)) for _, point in points])
        rows = np.array(errors)
        if not np.isfinite(rows).all() or not (rows.mean(axis=0) > 0).all():
            reason = f"an error is 0 or not finite at one of {axis.values_text}"
            return (name, predicted, "-", "not checked", len(errors), reason), "not checked"
        fit = fit_errors(x, rows)
        slope_verdict = verdict(fit, low, high) or ""
        judgement = JUDGEMENTS.get(slope_verdict, "too few trials")
        if judgement == "contradicts" and not _is_above(fit, high, len(errors)):
            judgement = "too few trials"
        if judgement == "contradicts" and _has_room(claim, terms, rows):
            judgement = "consistent with"
        if judgement != "too few trials" or time.monotonic() > deadline:
            break
    text = f"{fit.fitted:.3g} ({fit.low:.3g} to {fit.high:.3g})"
    if math.isnan(low):
        reason = f"{axis.values_text}: the claim has no slope there"
        return (name, predicted, text, "not checked", len(errors), reason), "not checked"
    position = " (below the range)" * (slope_verdict == CONSISTENT_UPPER_BOUND)
    row = (name, predicted, text, judgement + position, len(errors), axis.values_text)
    return row, judgement


def _has_room(claim: Bound, terms: Matrix, errors: Matrix) -> bool:
    """Return whether a claim with explicit constants is far above the error at an axis' end.

    It may be loose by a factor that falls along the axis, so that a steeper slope contradicts
    nothing yet.
    """
    value = claim.combined(dict(zip(map(str, range(len(terms))), terms[:, -1], strict=True)))
    has_constant = claim.card.constant == "explicit"
    return has_constant and float(errors.mean(axis=0)[-1]) < SUSPECT * value


def _is_above(fit: FittedSlope, high: float, trials: int) -> bool:
    """Return whether the 99.9% interval of a slope also lies above the range.

    An axis is looked at several times, and there are several of them.
    """
    ends = [float(stdtrit(trials - 1, 1 - level / 2)) for level in (0.001, 0.05)]
    return fit.fitted - (fit.fitted - fit.low) * ends[0] / ends[1] > high


def _axis(claim: Bound, base: Scenario, name: str, limits: Limits) -> _Axis:
    """Return an axis on which the hypotheses hold and the method runs, moved if need be.

    An axis without points has the reason at its usual values.
    """
    usual = _moved_axis(claim, base, name, limits, 1)
    if not usual.is_hypothesis:
        return usual
    candidates = (_moved_axis(claim, base, name, limits, shift) for shift in SHIFTS[1:])
    return next((axis for axis in candidates if axis.points), usual)


def _moved_axis(claim: Bound, base: Scenario, name: str, limits: Limits, shift: float) -> _Axis:
    """Return an axis that is moved by a factor, or the first obstacle on it."""
    points = []
    for value in _values(name, shift):
        changes: dict[str, Any] = {name: value}
        point = replace(base, **changes)
        try:
            point.validate(limits)
            planned(point, point.methods[0])
        except (InvalidInput, NotApplicable) as refusal:  # This axis cannot be swept here.
            return _Axis(name=name, points=(), reason=f"{name} = {value:g}: {refusal}")
        if reason := too_large(replace(point, trials=TRIALS[0]), limits):
            return _Axis(name=name, points=(), reason=f"{name} = {value:g}: {reason}")
        if failures := claim.failures(point.setting):
            reason = f"{name} = {value:g}: {failures[0]}"
            return _Axis(name=name, points=(), reason=reason, is_hypothesis=True)
        points.append((float(value), point))
    return _Axis(name=name, points=tuple(points), reason="")


def _values(name: str, shift: float) -> list[float]:
    """Return the values of an axis at which runs are made, moved by a factor."""
    start = STARTS[name]
    return [type(start)(start * shift * factor) for factor in FACTORS]
