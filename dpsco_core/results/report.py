"""Evaluations of bounds, and results as JSON for the command line and the dashboard's exports."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.law_classes import VARIANCE, LawClass
from dpsco_core.base.loss_classes import LossClass
from dpsco_core.base.parsing import to_plain
from dpsco_core.bounds import Bound
from dpsco_core.bounds.classes import covered, name_bound_algorithms
from dpsco_core.catalogue import (
    BOUNDS,
    DISTRIBUTIONS,
    METHODS,
    PROBLEMS,
    bound,
    bounds_for,
    method_class,
    problem_card,
)
from dpsco_core.data import Distribution
from dpsco_core.geometry.geometries import L2
from dpsco_core.methods.base import Plan
from dpsco_core.methods.form import form_of
from dpsco_core.plugins.guards import FAILED, AddedBound
from dpsco_core.problems import Setting
from dpsco_core.results.exact import with_exact_errors
from dpsco_core.results.measured import Measurement, measured
from dpsco_core.results.tables import QUANTILES
from dpsco_core.runs.store import budget_fields
from dpsco_core.runs.study import Outcome, planned
from dpsco_core.scenario import Scenario

WORST_COORDINATE = (
    "A worst case over the coordinates: it holds, and does not know that their scales differ."
)
ON_OWN_DATA = (
    "On data of its own hard instance a lower bound is evaluated at their spike probability; at "
    "its own best one, as on the page Lower bounds and in dpsco fano, it may be larger."
)


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A bound at one point: its value, its terms, and the hypotheses that fail.

    The value and the terms are NaN if the bound has no value at the point; see `Bound.refusal`.
    `applies` says whether the bound covers methods for the problem's class of losses. It is false
    for a lower bound over a wider class, which does not bind them. See `BoundCard.applies_to`.
    """

    bound: Bound
    x: float | None  # the point's value on the axis of its scenario
    value: float  # the value of the bound, in the units of its quantity
    terms: dict[str, float]  # the terms by name, in the same units
    failures: tuple[str, ...]  # a sentence for every hypothesis that fails
    applies: bool = True
    # The reason why the bound has no value on this set or at this tail index; empty if it has one.
    refusal: str = ""
    # The algorithms to which a lower bound applies, as words after "every" or "no".
    binds: str = ""
    note: str = ""  # a caveat about the value; may be empty
    # The classes of distributions for which an upper bound holds at the point; see
    # `classes.covered`.
    covers: tuple[LawClass, ...] = ()

    @property
    def failed(self) -> str:
        """The error of a plugin bound whose code fails; "" for other bounds."""
        broken = isinstance(self.bound, AddedBound) and FAILED in self.terms
        return self.failures[0] if broken else ""


def bound_setting(point: Scenario, row: Bound) -> Setting:
    """Return the setting at which the bound `row` is evaluated for a point.

    Only a bound for a single law is given the law of the records. On its own hard instance a lower
    bound is evaluated at the spike probability of the data, and on other data at the probability
    that makes the bound largest.
    """
    card = row.card
    if card.of_law and point.problem in card.problems:
        return replace(point.setting, spike_probability=None, law=known_law(point))
    is_own_instance = (card.instance, card.instance_problem) == (point.distribution, point.problem)
    return point.setting if is_own_instance else replace(point.setting, spike_probability=None)


def known_law(point: Scenario) -> Distribution | None:
    """Return the law of the records at a point if its set is an l2 ball, for floors; else None."""
    problem = point.instance.problem
    if problem.geometry != L2:
        return None
    return problem.law


def evaluate(point: Scenario, row: Bound, x: float | None = None) -> Evaluation:
    """Return a bound's value at `point`; a bound on a run uses that run's parameters.

    If the method refuses to run, its bound is infinite and the refusal is the failed hypothesis.
    """
    setting = bound_setting(point, row)
    plan: Plan | None = None
    refusals: tuple[str, ...] = ()
    if row.parameters == "run":
        try:
            plan = planned(point, row.card.method)
        except NotApplicable as refusal:
            refusals = (str(refusal),)
    # A bound under a variance is about the sum of the coordinates, whatever their scales.
    unequal = point.decay > 0 and row.card.law_class != VARIANCE
    note = WORST_COORDINATE if unequal and not row.card.of_law else ""
    if row.card.instance and setting.spike_probability is not None:
        # Hard instances have equal scales, so that this note may replace the one on scales.
        note = ON_OWN_DATA
    elif row.card.infinite_variance and setting.moment_order < 2:
        note = row.card.infinite_variance
    reason = row.refusal(setting)
    terms = row.terms(setting, plan)  # The terms are evaluated once, because some need a search.
    if refusals or reason:
        terms = dict.fromkeys(terms, math.nan if reason else math.inf)
    return Evaluation(
        bound=row,
        x=x,
        value=math.nan if reason else row.combined(terms),
        terms=terms,
        failures=(*row.failures(setting), *refusals),
        applies=row.card.applies_to(problem_card(point.problem).loss_class),
        refusal=reason,
        binds=name_bound_algorithms(row.card, point.budget) if row.card.kind == "lower" else "",
        note=note,
        covers=covered(row.card, setting) if row.card.kind == "upper" else (),
    )


def evaluate_all(scenario: Scenario, slugs: Sequence[str] | None = None) -> list[Evaluation]:
    """Return every bound of the problem (or those in `slugs`) at every point of a scenario.

    Bounds for the problem's smallest class of losses come first; see `bounds_for`.
    """
    rows = bounds_for(scenario.problem, scenario.level)
    chosen = rows if slugs is None else tuple(bound(s) for s in slugs)
    return [evaluate(point, b, x) for x, point in scenario.points() for b in chosen]


def catalogue_json() -> dict[str, list[dict[str, Any]]]:
    """Return the cards of the whole catalogue as JSON values, for `dpsco catalogue --json`."""
    return {
        "methods": [
            _common_fields(m.card)
            | _json_fields(m.card, "privacy", "geometry", "level", "problems", "caveat")
            for m in METHODS
        ],
        "problems": [_common_fields(p.card) | _json_fields(p.card, "loss_class") for p in PROBLEMS],
        "distributions": [_common_fields(d.card) for d in DISTRIBUTIONS],
        "bounds": [
            _common_fields(b.card)
            | _json_fields(b.card, "kind", "quantity", "constant", "guarantee", "privacy", "level")
            | {"method": b.card.method or None, "parameters": b.parameters or None}
            | {"instance": b.card.instance or None}
            | _json_fields(b.card, "loss_class", "laws", "problems", "latex")
            | {"hypotheses": [h.text for h in b.hypotheses]}
            for b in BOUNDS
        ],
    }


def _common_fields(card: Any) -> dict[str, Any]:
    """Return the fields that the cards of methods and of bounds share."""
    paper = {"paper": card.paper.key}
    return _json_fields(card, "slug", "name") | paper | _json_fields(card, "statement", "summary")


def _json_fields(card: Any, *names: str) -> dict[str, Any]:
    """Return the named fields of a card, with their values as JSON types."""
    values = {name: getattr(card, name) for name in names}
    classes = (LossClass, LawClass)
    return {k: str(v) if isinstance(v, classes) else to_plain(v) for k, v in values.items()}


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return a bound and its evaluation at a point as JSON values."""
    card = evaluation.bound.card
    return {
        "slug": card.slug,
        "x": to_plain(evaluation.x),
        **_json_fields(card, "kind", "quantity", "constant", "guarantee"),
        "binds": f"every {evaluation.binds}" if evaluation.binds else None,
        "class": card.class_text,
        **_json_fields(card, "laws", "loss_class"),
        "applies": evaluation.applies,
        "parameters": evaluation.bound.parameters or None,
        "statement": f"{card.paper}, {card.statement}",
        "value": finite_or_none(evaluation.value),
        "terms": {name: finite_or_none(value) for name, value in evaluation.terms.items()},
        "holds": not evaluation.failures,
        "failures": list(evaluation.failures),
        "note": evaluation.note or None,
    }


def bounds_json(scenario: Scenario, slugs: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the bounds of a scenario, or some of them, as JSON values."""
    return {
        "scenario": scenario.to_dict(),
        "bounds": [evaluation_json(e) for e in evaluate_all(scenario, slugs)],
    }


def measured_json(scenario: Scenario, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the results of a run as JSON values: one object per (x, method), and every bound.

    Neither the order nor the numbers depend on the order of the outcomes.
    """
    groups: dict[tuple[float | None, str], list[Outcome]] = {
        (x, method): [] for x, _ in scenario.points() for method in scenario.methods
    }
    for outcome in sorted(outcomes, key=lambda o: o.trial):
        groups[outcome.x, outcome.method].append(outcome)
    table = with_exact_errors(measured(outcomes), scenario)
    neighbours = f"replace one {'user' if scenario.level == 'user' else 'record'}"
    return bounds_json(scenario) | {
        "results": [
            _result_json(scenario, group, neighbours, table[method, x])
            for (x, method), group in groups.items()
            if group
        ]
    }


def _result_json(
    scenario: Scenario, group: list[Outcome], neighbours: str, row: Measurement
) -> dict[str, Any]:
    """Return the results of a method at a point as JSON values."""
    # A trial in which the method did not run stands for the group, if there is one.
    outcome = max(group, key=lambda o: o.not_applicable is not None)
    form = form_of(method_class(outcome.method), scenario.calibration, scenario.tuning)
    errors, price = [o.error for o in group], row.price
    median, *quantiles = np.quantile(errors, (0.5, *QUANTILES))
    return {
        "method": outcome.method,
        "x": to_plain(outcome.x),
        "form": None if form is None else form.name,
        "form_text": None if form is None else form.text,
        "trials": row.trials,
        "mean_error": finite_or_none(row.mean),
        "median_error": finite_or_none(float(median)),
        "standard_error": finite_or_none(row.standard_error),
        "exact": row.exact,
        "evaluation_standard_error": max(o.error_uncertainty for o in group),
        "quantiles": {
            str(a): finite_or_none(float(b)) for a, b in zip(QUANTILES, quantiles, strict=True)
        },
        "price": None if price is None else finite_or_none(price.value),
        "price_low": None if price is None else finite_or_none(price.low),
        "price_high": None if price is None else finite_or_none(price.high),
        "price_over": None if price is None else price.reference,
        "seconds": row.seconds,
        "spent": budget_fields(outcome.spent),
        "neighbours": neighbours,
        "bound_by": list(outcome.bound_by),
        "diagnostics": {k: finite_or_none(float(v)) for k, v in outcome.diagnostics.items()},
        "flaws": list(outcome.flaws),
        "notes": list(outcome.notes),
        "not_applicable": outcome.not_applicable,
    }


def finite_or_none(value: float) -> float | None:
    """Return a finite value unchanged, and None for infinity or NaN, which JSON cannot hold."""
    return value if math.isfinite(value) else None
