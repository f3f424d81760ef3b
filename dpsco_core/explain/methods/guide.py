"""Which method to start with: every plan is asked whether it runs, and a few runs are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.base.cards import Level
from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import make_method, method_card, methods_for
from dpsco_core.explain.contest import TRIALS, is_tied
from dpsco_core.runs.cost import EVALUATION, EXACT, release_seconds
from dpsco_core.runs.study import Outcome, own_setting
from dpsco_core.scenario import Scenario

QUICK_SECONDS = 0.12  # of one run that is made at once; on the reference machine


def comparison_point(scenario: Scenario) -> Scenario:
    """Return a scenario's own point with every method that is made for it, a few runs of each."""
    level: Level = "user" if scenario.m > 1 else "item"
    methods = methods_for(scenario.problem, level)
    return replace(scenario, axis=None, grid=(), methods=methods, trials=TRIALS)


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Which private method to start with, by measured errors."""

    # the private methods that ran with their mean errors, the smallest first
    ranked: tuple[tuple[str, float], ...]
    tied: bool  # whether the runs do not tell the first from another one


def advice(outcomes: Sequence[Outcome]) -> Advice:
    """Return the private methods in the order of their mean errors on the same data."""
    errors: dict[str, list[float]] = {}
    for outcome in outcomes:
        if not outcome.not_applicable and method_card(outcome.method).privacy != "none":
            errors.setdefault(outcome.method, []).append(outcome.error)
    means = {method: float(np.mean(values)) for method, values in errors.items()}
    ranked = tuple(sorted(means.items(), key=lambda pair: pair[1]))
    table = np.array([errors[method] for method, _ in ranked])
    return Advice(ranked=ranked, tied=len(ranked) > 1 and is_tied(table))


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Whether a method runs at a point."""

    slug: str
    refusal: str  # why not, in one sentence; empty where it runs
    # predicted time of one run with the measurement of its error, on the reference machine, so that
    # every machine makes the same choice
    seconds: float

    @property
    def runs(self) -> bool:
        """Whether it runs."""
        return not self.refusal

    @property
    def quick(self) -> bool:
        """Whether it runs within `QUICK_SECONDS`."""
        return self.runs and self.seconds <= QUICK_SECONDS


def fitting(point: Scenario) -> tuple[Fit, ...]:
    """Ask the plan of each of the point's methods whether it runs there, in order."""
    found = []
    evaluation = 0.0 if point.problem in EXACT else EVALUATION
    for slug in point.methods:
        method = make_method(slug, point.calibration, point.tuning)
        try:
            method.plan(own_setting(point, slug))
        except NotApplicable as refusal:
            found.append(Fit(slug=slug, refusal=refusal.reason, seconds=0.0))
            continue
        seconds = release_seconds(point, slug) + evaluation
        found.append(Fit(slug=slug, refusal="", seconds=seconds))
    return tuple(found)
