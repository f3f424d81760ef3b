"""In random settings with p from 1.1 to 2 no bound is contradicted by a bound or by a run.

Every proven lower bound is below every proven upper bound of its class. On the hard instance of a
lower bound the mean error of a run is above it, and elsewhere below the upper bound on that run.
Means over trials are compared with a margin of 6 standard errors, after truncating errors at three
times an upper bound, since errors of the sample mean have no second moment. Seeds are fixed.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.cards import ACHARYA_2021, BINDING, KAMATH_2022, Privacy
from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.tools import root_sum_square
from dpsco_core.catalogue import bounds_for, make_method, method_card
from dpsco_core.methods.base import released
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.scenario import Scenario

LAWS = ("student-t", "pareto", "skewed-pareto", "log-normal", "gaussian", "elliptical-t")
ORDERS = (1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 1.95, 2.0)
MEAN_METHODS = ("mean.sample", "mean.clipped", "mean.cwme-cdp", "mean.cwme-pure", "mean.adaptive")
RISK_METHODS = ("sco.erm", "sco.fresh-batches")
TRIALS = 24
ALL_IN = 40  # Of this many settings, one also evaluates the slow bounds.


def random_point(seed: int) -> Scenario:
    """Return a scenario of random problem, law, sizes and order of moments."""
    rng = np.random.default_rng([seed, 55])
    problem = str(rng.choice(["mean", "mean", "linear", "quadratic"]))
    law = str(rng.choice([*LAWS, "hypercube", "hypercube", "tracing"]))
    radius = float(np.exp(rng.uniform(-1, 2)))
    fields: dict[str, Any] = {
        "problem": problem,
        "distribution": law,
        "methods": (),
        "n": int(np.exp(rng.uniform(3, 7))),
        "d": int(rng.integers(1, 9)),
        "p": float(rng.choice(ORDERS)),
        "margin": float(rng.choice([0.05, 0.1, 0.3, 0.5])),
        "diameter": 2 * radius,
        "offset": 0.0 if law in ("hypercube", "tracing") else radius * float(rng.uniform(0, 1)),
        "seed": seed,
    }
    strength = float(np.exp(rng.uniform(-2.5, 1.5)))
    kind = int(rng.integers(3))
    if kind == 0:
        fields |= {"epsilon": None, "delta": None, "rho": strength**2 / 2}
    else:
        fields |= {"epsilon": strength, "delta": 0.0 if kind == 1 else 1e-6}
    return Scenario(**fields).validate()


def is_proven(row: Bound, kind: str, quantity: str) -> bool:
    """Whether a row is an explicit bound on a mean quantity, upper or lower as `kind` says, for a
    class of laws.
    """
    card = row.card
    return (card.kind, card.constant, card.guarantee, card.quantity) == (
        kind,
        "explicit",
        "expectation",
        quantity,
    ) and not card.of_law


def is_asked(row: Bound, seed: int) -> bool:
    """Whether a bound is evaluated at this seed; slow bounds are evaluated at one seed
    in ALL_IN.
    """
    is_quick = row.card.paper in (KAMATH_2022, ACHARYA_2021) or row.has_scope
    return seed % ALL_IN == 0 or is_quick or row.card.instance == "tracing"


def binds(lower: Privacy, notion: Privacy, point: Scenario) -> bool:
    """Whether lower bounds for one notion of privacy apply to algorithms of another at a point's
    budget.

    Under (epsilon, delta) the bounds for zCDP are at the rho of Gaussian noise, and a pure
    algorithm spends all of epsilon, for which they are too large.
    """
    spends_more = notion == "pure" and lower == "zcdp" and isinstance(point.budget, ApproxDP)
    return lower in BINDING[notion] and not spends_more


def check_bounds(point: Scenario, seed: int) -> None:
    """Assert that no lower bound on a mean exceeds an upper bound of its class."""
    free = replace(point.setting, spike_probability=None)
    rows = bounds_for("mean")
    for quantity, power in (("l2 error", 1), ("squared l2 error", 2)):
        lowers = [
            (row.card, row.value(free))
            for row in rows
            if is_proven(row, "lower", quantity) and is_asked(row, seed) and not row.failures(free)
        ]
        for row in rows:
            if (
                not is_proven(row, "upper", "l2 error")
                or row.card.laws.name != lowers[0][0].laws.name
            ):
                continue
            if power == 2 and row.combine is not root_sum_square:
                continue
            # The bounds for p below 2 hold at 2 as well.
            if row.failures(free) and not (row.has_scope and point.p == 2):
                continue
            smallest_value = row.value(free) ** power
            for card, value in lowers:
                if binds(card.privacy, row.card.privacy, point):
                    assert value <= smallest_value * (1 + 1e-9), (
                        card.slug,
                        row.card.slug,
                        value,
                        smallest_value,
                    )


def errors_of(point: Scenario, slug: str, seed: int) -> np.ndarray:
    """Return the errors of independent runs of a method at a point."""
    method = make_method(slug, "tight", "practical")
    plan = method.plan(point.setting)
    errors = []
    for trial in range(TRIALS):
        rng = np.random.default_rng([seed, trial, 7])
        problem = point.instance.problem.draw(rng)
        records = problem.sample(point.n, rng)
        answer = released(method, records, plan, Ledger(point.budget), rng).value
        errors.append(problem.excess_risk(answer).value)
    return np.array(errors)


def check_runs(point: Scenario, seed: int) -> None:
    """Assert that runs are above lower bounds on their instance, or below their own upper bound."""
    slugs = MEAN_METHODS if point.problem == "mean" else RISK_METHODS
    quantity = "l2 error" if point.problem == "mean" else "excess risk"
    pure = point.rho is None and not point.delta
    for slug in slugs:
        privacy = method_card(slug).privacy
        if pure and "pure" not in method_card(slug).budgets:
            continue
        errors = errors_of(point, slug, seed)
        spare = 6 * float(errors.std(ddof=1)) / math.sqrt(TRIALS)
        notion: Privacy = "pure" if pure and privacy != "none" else privacy
        for row in bounds_for(point.problem):
            card = row.card
            if not is_proven(row, card.kind, quantity):
                continue
            if card.kind == "lower":
                is_own_instance = (card.instance, card.instance_problem) == (
                    point.distribution,
                    point.problem,
                )
                if (
                    not is_own_instance
                    or not binds(card.privacy, notion, point)
                    or not is_asked(row, seed)
                ):
                    continue
                # Where a sample without a spike is rare, this few trials may miss it.
                q = point.setting.spike_probability or 0.0
                if card.privacy == "none" and (1 - q) ** point.n < 0.2:
                    continue
                if not row.failures(point.setting):
                    lower_value = row.value(point.setting)
                    assert errors.mean() + spare >= lower_value, (
                        slug,
                        card.slug,
                        errors.mean(),
                        lower_value,
                    )
            elif card.method == slug and row.parameters == "run":
                free = replace(point.setting, spike_probability=None)
                if row.failures(free) and not (row.has_scope and point.p == 2):
                    continue
                upper_value = row.value(free)
                # The error of the sample mean has no second moment, but it has one if it is cut at
                # three times the bound, and its mean does not grow.
                cut = np.minimum(errors, 3 * upper_value)
                room = 6 * float(cut.std(ddof=1)) / math.sqrt(TRIALS)
                assert cut.mean() - room <= upper_value, (slug, card.slug, cut.mean(), upper_value)


@pytest.mark.parametrize(
    "seeds",
    [
        range(40),
        *(
            pytest.param(range(low, low + 280), marks=pytest.mark.slow)
            for low in range(40, 2000, 280)
        ),
    ],
    ids=lambda seeds: f"from-{seeds[0]}",
)
def test_no_bound_is_contradicted_in_random_settings(seeds: range) -> None:
    for seed in seeds:
        point = random_point(seed)
        if point.problem == "mean":
            check_bounds(point, seed)
        check_runs(point, seed)
