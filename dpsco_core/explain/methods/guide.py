"""Which methods run where: five questions make a small scenario, and every plan is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpsco_core.base.cards import Level
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import PROBLEM_SLUGS, make_method, method_card, methods_for
from dpsco_core.problems import MeanEstimation
from dpsco_core.runs.cost import EVALUATION, EXACT, release_seconds
from dpsco_core.runs.study import own_setting
from dpsco_core.scenario import Scenario

TAILS = ("variance", "moments", "light")
BUDGETS = ("approx", "zcdp", "pure")
SETS = ("l2", "l1", "solid-simplex", "linf")
HOLDERS = ("records", "users")
QUICK_SECONDS = 0.12  # of one run that is made at once; on the reference machine
TRIALS = 5

_TAILS: dict[str, dict[str, Any]] = {
    "variance": {"p": 2.0},
    "moments": {"p": 4.0},
    "light": {"p": 10.0, "distribution": "gaussian"},
}
_BUDGETS: dict[str, dict[str, Any]] = {
    "approx": {},
    "zcdp": {"epsilon": None, "delta": None, "rho": 0.05},
    "pure": {"delta": 0.0},
}
_SIZES: dict[str, dict[str, Any]] = {
    "records": {"n": 2000, "d": 5},
    "users": {"n": 10_000, "m": 10, "d": 5},
}


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What decides the choice of a method.

    Parameters
    ----------
    problem : str
        Slug: what is estimated.
    tails : {"variance", "moments", "light"}
        What is known of the data: a variance, four moments, or Gaussian tails.
    budget : {"approx", "zcdp", "pure"}
    geometry : {"l2", "l1", "solid-simplex", "linf"}
        The set that holds the answer.
    holder : {"records", "users"}
        What is protected: single records, or users with 10 of them each.

    Raises
    ------
    InvalidInput
        By `validate`, in one sentence.
    """

    problem: str = "mean"
    tails: str = "variance"
    budget: str = "approx"
    geometry: str = "l2"
    holder: str = "records"

    def validate(self) -> Questions:
        """Return the answers if they make a scenario."""
        one_of("problem", self.problem, PROBLEM_SLUGS)
        one_of("tails", self.tails, TAILS)
        one_of("budget", self.budget, BUDGETS)
        one_of("geometry", self.geometry, SETS)
        one_of("holder", self.holder, HOLDERS)
        several = self.holder == "users" and self.problem == MeanEstimation.card.slug
        require(
            not several, "holder", "records for the problem mean (quadratic has users)", "users"
        )
        return self

    @property
    def scenario(self) -> Scenario:
        """A single small point with every method that is made for it, not all of which may run."""
        level: Level = "user" if self.holder == "users" else "item"
        values = _TAILS[self.tails] | _BUDGETS[self.budget] | _SIZES[self.holder]
        return Scenario(
            problem=self.problem,
            geometry=self.geometry,
            methods=methods_for(self.problem, level),
            trials=TRIALS,
            **values,
        ).validate()


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Whether a method runs at a point.

    Parameters
    ----------
    refusal : str
        Why not, in one sentence; empty where it runs.
    seconds : float
        Predicted time of one run with the measurement of its error, on the reference machine, so
        that every machine makes the same choice.
    """

    slug: str
    refusal: str
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


def private(fits: tuple[Fit, ...]) -> tuple[Fit, ...]:
    """Return those that run and protect something."""
    return tuple(f for f in fits if f.runs and method_card(f.slug).privacy != "none")
