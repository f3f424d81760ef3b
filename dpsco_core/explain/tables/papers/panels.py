"""The four panels that a paper's authors would draw: errors along its sizes, with their slopes.

The predicted line of a method is its rate times one constant for each panel: the rate hides the
constants, and the slope, which it does not hide, is what the figure is for.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dpsco_core.catalogue import bound, default_methods, method_card, methods_for
from dpsco_core.explain.tables.papers.papers import ReproducedPaper
from dpsco_core.fields import span
from dpsco_core.results.measured import measured
from dpsco_core.results.report import bound_setting
from dpsco_core.results.slopes import POWER_AXES, PointErrors, slope_rows
from dpsco_core.runs.cost import cost, machine_speed
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

# the longest time that the runs of a figure may take, in seconds on the reference machine
MOST_SECONDS = 12.0
FACTORS = {
    "n": (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1),
    "d": (1, 2, 4, 8),
    "m": (1 / 2, 1, 2, 4, 8),
    "epsilon": (1 / 4, 1 / 2, 1, 2, 4),
}
GRIDS = {"p": (2.0, 2.5, 3.0, 4.0, 6.0, 10.0), "q": (1.2, 1.4, 1.6, 1.8, 2.0)}


@dataclass(frozen=True, kw_only=True)
class SlopedCurve:
    """The errors of one method along an axis, and the prediction of its rate."""

    method: str  # slug of the method
    rate: str  # slug of the rate that predicts the errors; empty if there is none
    x: tuple[float, ...]  # the points at which the method ran
    mean: tuple[float, ...]
    half: tuple[float, ...]  # half the width of the 95 % interval of each mean
    # The rate at these points times a common constant; empty if the rate is void at one of them.
    predicted: tuple[float, ...]
    # The least-squares slope with its interval, and the range of the slopes of the rate's terms.
    # NaN where the axis is an exponent, where there is no rate, or where too few points have run.
    fitted: float = math.nan
    low: float = math.nan
    high: float = math.nan
    predicted_low: float = math.nan
    predicted_high: float = math.nan
    verdict: str = ""

    @property
    def slope_text(self) -> str:
        """The fitted slope and the predicted range, as "-0.52 (-1.00 to -0.50)"."""
        if math.isnan(self.fitted):
            return ""
        ends = (self.predicted_low, self.predicted_high)
        texts = dict.fromkeys(f"{round(end, 2) + 0.0:.2f}" for end in ends if not math.isnan(end))
        predicted = f" ({' to '.join(texts)})" if texts else ""
        return f"{round(self.fitted, 2) + 0.0:.2f}{predicted}"


@dataclass(frozen=True, kw_only=True)
class PaperPanel:
    """One panel: a sweep, and the curves of its methods."""

    scenario: Scenario
    curves: tuple[SlopedCurve, ...]
    # the reason why a method did not run, by the slug of each method without a curve
    refusals: Mapping[str, str]

    @property
    def axis(self) -> str:
        """The name of the scenario's field that varies along the panel."""
        assert self.scenario.axis is not None
        return self.scenario.axis


def paper_panels(
    entry: ReproducedPaper, changes: Mapping[str, Any], number: int = 1
) -> tuple[PaperPanel, ...]:
    """Return the panels of a section of a paper, with the fields that are given.

    Raises `InvalidInput`.
    """
    section = entry.section(number)
    point = section.figure_point(changes)
    methods = _methods_to_run(entry, point)
    count = len(section.axes)
    return tuple(_make_panel(replace(point, methods=methods), axis, count) for axis in section.axes)


def _methods_to_run(entry: ReproducedPaper, point: Scenario) -> tuple[str, ...]:
    """Return the reference, and the methods of the paper for the problem that can run there."""
    runnable = methods_for(point.problem, point.level)
    fitting = "lq" if point.geometry == "lq" else "l2"
    private = [
        slug
        for slug in runnable
        if method_card(slug).paper == entry.paper and method_card(slug).geometry == fitting
    ]
    reference = [m for m in default_methods(point.problem, point.level) if _is_public(m)][:1]
    return tuple(dict.fromkeys([*reference, *private]))


def _is_public(method: str) -> bool:
    """Return whether a method is the reference without privacy."""
    return method_card(method).privacy == "none"


def _make_panel(point: Scenario, axis: str, panels: int) -> PaperPanel:
    """Return the panel of one axis, with as many trials as the time allows."""
    field = "rho" if axis == "epsilon" and point.rho is not None else axis
    sweep = replace(point, axis=field, grid=_values_on_axis(point, field), trials=1)
    if field == "q":
        sweep = replace(sweep, geometry="lq", q=1.5 if point.q is None else point.q)
    seconds = round(cost(sweep).seconds / machine_speed(), 6)
    trials = max(1, min(point.trials, int(MOST_SECONDS / panels / seconds)))
    sweep = replace(sweep, trials=trials).validate(sampling=True)
    outcomes = [*study(sweep)]
    errors: dict[str, PointErrors] = {}
    for outcome in outcomes:
        places = errors.setdefault(outcome.method, {})
        places.setdefault(float(outcome.x or 0.0), {})[outcome.trial] = outcome.error
    slopes = {row["method"]: row for row in slope_rows(sweep, errors)}
    table = measured(outcomes)
    refusals = {m: row.refusal for (m, _), row in table.items() if row.refusal}
    curves = []
    for method in sweep.methods:
        points = [row for (m, _), row in table.items() if m == method and row.trials]
        if len(points) < 2:
            continue
        x = tuple(float(row.x or 0.0) for row in points)
        mean = tuple(row.mean for row in points)
        rate = method_card(method).rate
        slope = slopes.get(method, {}) if field in POWER_AXES else {}
        curves.append(
            SlopedCurve(
                method=method,
                rate=rate,
                x=x,
                mean=mean,
                half=tuple(row.half for row in points),
                predicted=_fit_rate(sweep, rate, x, mean),
                **{name: slope[name] for name in SLOPE_FIELDS if name in slope},
            )
        )
    drawn_methods = {curve.method for curve in curves}
    return PaperPanel(
        scenario=sweep,
        curves=tuple(curves),
        refusals={m: why for m, why in refusals.items() if m not in drawn_methods},
    )


SLOPE_FIELDS = ("fitted", "low", "high", "predicted_low", "predicted_high", "verdict")


def _values_on_axis(point: Scenario, axis: str) -> tuple[float, ...]:
    """Return the values of a panel around the point, as far as the library allows them."""
    if axis in GRIDS:
        return GRIDS[axis]
    centre = getattr(point, axis)
    low, high = span(axis, point)
    values = [centre * factor for factor in FACTORS.get(axis, FACTORS["epsilon"])]
    if axis in ("n", "d", "m"):
        values = [max(1, round(value)) for value in values]
    return tuple(dict.fromkeys(value for value in values if low <= value <= high))


def _fit_rate(
    sweep: Scenario, rate: str, x: tuple[float, ...], mean: tuple[float, ...]
) -> tuple[float, ...]:
    """Return a rate at the points x of a sweep, times the constant that fits the mean errors.

    The fit is of logarithms. The result is empty if the rate or a mean is not positive and finite.
    """
    if not rate or not all(value > 0 for value in mean):
        return ()
    row = bound(rate)
    values = []
    for place in x:
        point = sweep.at(place)
        values.append(row.value(bound_setting(point, row)))
    if not all(0 < value < math.inf for value in values):
        return ()
    logs = [math.log(a / b) for a, b in zip(mean, values, strict=True)]
    constant = math.exp(math.fsum(logs) / len(logs))
    return tuple(constant * value for value in values)
