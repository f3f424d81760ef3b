"""On its own hard instance, no private estimator or optimiser beats a lower bound.

Lower bounds hold for the error averaged over the instance's prior, the records and the noise, which
the mean over trials estimates: every trial draws a new pattern. A method is compared with every
explicit bound whose instance matches the problem and the data, and whose class of algorithms
contains it (`Outcome.bound_by`), at the spike probability at which the instance is drawn. A bound
on the squared error is compared with the mean of the squares, a bound on the excess risk with the
mean excess risk: the convex bound for the linear loss, the strongly convex one for the quadratic
loss.

False alarms: at most 1e-6 per comparison, one-sided, in the normal approximation of the mean over
trials with its estimated standard error (Student's quantile). Seeds are fixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from dpsco_core.base.cards import Privacy
from dpsco_core.catalogue import BOUNDS, bound, method_card, method_class, methods_for
from dpsco_core.privacy.mechanisms import gaussian
from dpsco_core.results.report import bound_setting
from dpsco_core.runs.cost import release_seconds
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario
from tests.accepted_problems import accepts
from tests.folded import one_in

FALSE_ALARM = 1e-6
# This number of trials is enough where a method's errors are far above every bound.
FIRST_TRIALS = 16, 50
PRIVATE = tuple(m for m in methods_for("mean") if method_card(m).privacy != "none")
PRIVATE_RISK = tuple(m for m in methods_for("linear") if method_card(m).privacy != "none")
# Methods that search for directions in every run take minutes where the others take seconds.
SLOW_METHODS = tuple(m for m in (*PRIVATE, *PRIVATE_RISK) if method_class(m).reads == "grouped")

ZCDP_LOW = {"epsilon": None, "delta": None, "rho": 0.02}
ZCDP_HIGH = {"epsilon": None, "delta": None, "rho": 0.5}
APPROX = {"epsilon": 1.0, "delta": 1e-6}
LOOSE = {"epsilon": 4.0, "delta": 1e-4}
PURE = {"epsilon": 1.0, "delta": 0.0}
PURE_HIGH = {"epsilon": 4.0, "delta": 0.0}

# Tuples of n, d, p, diameter and budget.
SIZES: tuple[tuple[int, int, float, float, dict[str, Any]], ...] = (
    (200, 16, 2, 4, ZCDP_LOW),
    (1000, 16, 2, 100, ZCDP_HIGH),
    (1000, 64, 3, 100, ZCDP_LOW),
    (3000, 64, 4, 100, ZCDP_HIGH),
    (200, 16, 2, 100, APPROX),
    (1000, 32, 2, 4, APPROX),
    (3000, 16, 3, 100, APPROX),
    (1000, 100, 8, 100, LOOSE),
    (4000, 32, 2, 4, LOOSE),
    (1000, 1, 2, 4, ZCDP_HIGH),
    (200, 16, 2, 100, PURE),
    (1000, 32, 3, 4, PURE),
    (3000, 64, 2, 100, PURE),
    (1000, 100, 8, 100, PURE_HIGH),
)
# Records of this size may have no variance, and most methods refuse them.
BELOW_TWO = (500, 4, 1.5, 100, ZCDP_HIGH)


# The hard convex loss and the hard strongly convex one, with the catalogue's area of their bounds.
AREAS = {"linear": "sco", "quadratic": "sco-strong"}
RISKS = tuple(AREAS)


def scenarios(
    sizes: tuple[tuple[int, int, float, float, dict[str, Any]], ...] = SIZES,
    problems: tuple[str, ...] = ("mean",),
) -> tuple[Scenario, ...]:
    """Return the scenarios of every size and problem on the hard instances; one-dimensional data
    only on the hypercube.
    """
    return tuple(
        Scenario(
            problem=problem,
            distribution=law,
            methods=(),
            n=n,
            d=d,
            p=p,
            diameter=diameter,
            offset=0.0,
            seed=1,
            **budget,
        )
        for n, d, p, diameter, budget in sizes
        for problem in problems
        for law in ("hypercube", "spike", "tracing")
        if d > 1 or law == "hypercube"
    )


# Every other set has a hard instance of its own.
SETS = (
    ("l1", None, "corners"),
    ("simplex", None, "corners"),
    ("solid-simplex", None, "corners"),
    ("group-l1", None, "blocks"),
    ("sparse", None, "blocks"),
    ("lq", 1.3, "hypercube"),
    ("lq", 4.0, "hypercube"),
    ("linf", None, "hypercube"),
)
BUDGETS = (ZCDP_LOW, ZCDP_HIGH, APPROX, PURE)


def on_sets(problem: str) -> tuple[Scenario, ...]:
    """Return the scenarios of a problem on every set other than the l2 ball, each with its hard
    instance.
    """
    return tuple(
        Scenario(
            problem=problem,
            distribution=law if problem == "linear" else "hypercube",
            geometry=kind,
            q=q,
            methods=(),
            n=n,
            d=20,
            p=p,
            diameter=diameter,
            offset=0.0,
            seed=2,
            **budget,
        )
        for kind, q, law in SETS
        for (n, p, diameter), budget in zip(
            ((500, 2, 2), (2000, 3, 1), (1000, 2, 0.5), (1000, 4, 4)), BUDGETS, strict=True
        )
    )


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The measured errors of a method against one bound."""

    method: str
    bound: str
    value: float
    errors: np.ndarray

    @property
    def ratio(self) -> float:
        """Return the mean error over the bound; for squared errors, the root of that ratio."""
        ratio = float(self.errors.mean()) / self.value
        return math.sqrt(ratio) if "squared" in self.bound else ratio

    @property
    def allowance(self) -> float:
        """Return the largest deviation of the mean error from its expectation that
        chance allows.
        """
        trials = len(self.errors)
        spread = float(self.errors.std(ddof=1)) / math.sqrt(trials)
        return float(student.isf(FALSE_ALARM, trials - 1)) * spread

    @property
    def is_below(self) -> bool:
        """Whether the mean error is below the bound by more than chance allows."""
        return float(self.errors.mean()) + self.allowance < self.value

    @property
    def is_above(self) -> bool:
        """Whether the mean error is above the bound by more than chance allows."""
        return float(self.errors.mean()) - self.allowance > self.value


def compare(
    scenario: Scenario, method: str, trials: int, claims: tuple[Privacy, ...] | None = None
) -> list[Comparison]:
    """Run `method` and return its comparison with each bound that applies to it.

    The first trials suffice if they show that the mean error is above every bound: one that is in
    truth below a bound would show that with probability at most `FALSE_ALARM` each time.

    `claims` overrules the classes of algorithms to which the run belongs.
    """
    for first_trials in (count for count in FIRST_TRIALS if count < trials):
        comparisons = compare_trials(scenario, method, first_trials, claims)
        if all(c.is_above for c in comparisons):
            return comparisons
    return compare_trials(scenario, method, trials, claims)


def compare_trials(
    scenario: Scenario, method: str, trials: int, claims: tuple[Privacy, ...] | None
) -> list[Comparison]:
    """Run a number of trials of a method, and return their comparison with each bound that applies;
    see `compare`.
    """
    outcomes = list(study(replace(scenario, methods=(method,), trials=trials)))
    classes: tuple[Privacy, ...] = outcomes[0].bound_by if claims is None else claims
    if scenario.p < 2:  # Below p = 2 only bounds for every algorithm have an instance.
        classes = ("none", *classes)
    if outcomes[0].not_applicable:
        return []
    errors = np.array([o.error for o in outcomes])
    comparisons = []
    for bound_row in BOUNDS:
        card = bound_row.card
        instance = (card.instance_problem, card.instance)
        is_bound = instance == (scenario.problem, scenario.distribution) and card.privacy in classes
        if card.kind != "lower" or card.constant != "explicit" or not is_bound:
            continue
        assert scenario.problem in card.problems
        value = bound_row.value(bound_setting(scenario, bound_row))
        if value > 0 and not bound_row.refusal(bound_setting(scenario, bound_row)):
            assert bound_row.failures(bound_setting(scenario, bound_row)) == ()
            power = 2 if card.quantity == "squared l2 error" else 1
            comparisons.append(
                Comparison(method=method, bound=card.slug, value=value, errors=errors**power)
            )
    return comparisons


def check_scenarios(
    chosen: tuple[Scenario, ...], method: str, calibration: Any, tuning: Any, trials: int
) -> list[Comparison]:
    """Compare the method's error with the bounds at every chosen scenario.

    The test fails if a mean is below a bound, or if nothing was compared.
    """
    comparisons = [
        c
        for s in chosen
        for c in compare(replace(s, calibration=calibration, tuning=tuning), method, trials)
    ]
    assert [(c.bound, c.ratio) for c in comparisons if c.is_below] == []
    return comparisons


def names(comparisons: list[Comparison]) -> set[str]:
    """Return the slugs of the bounds in some comparisons."""
    return {c.bound for c in comparisons}


def by_a_test(method: str) -> bool:
    """Whether a method is (epsilon, delta)-DP by a test that may fail, so that no bound for zCDP
    binds it.
    """
    return bool(method_class(method).stage.unseen)


@cache
def notions(method: str, scenarios: tuple[Scenario, ...]) -> set[str]:
    """Return the notions of privacy whose lower bounds bind a method's runs; few do if its privacy
    rests on a test that may fail.
    """
    runs = (study(replace(s, methods=(method,), trials=1)) for s in scenarios)
    return {notion for (o,) in runs if not o.not_applicable for notion in o.bound_by}


def expected_bounds(method: str, scenarios: tuple[Scenario, ...]) -> set[str]:
    """Return the lower bounds that must be compared with a private optimiser on
    the hard instances.
    """
    # Some optimisers need a generalised linear loss, which the hard instances do not have.
    areas = [area for risk, area in AREAS.items() if accepts(method, risk, "l2")]
    forms: tuple[str, ...] = ("approx-tracing", "approx-assouad", "approx-packing")
    classes = notions(method, scenarios) if areas else set()
    has_zcdp = "zcdp" in classes
    if has_zcdp:
        forms += ("hypercube-cdp", "fano-cdp", "tracing-cdp", "fano-distance-cdp", "two-sided-cdp")
    if "pure" in classes or method_card(method).privacy == "pure":
        forms += ("hypercube-pure", "fano-pure")
    slugs = {f"lower.{area}.{form}" for area in areas for form in forms}
    if "sco-strong" in areas and has_zcdp:
        slugs.add("lower.sco-strong.rate-distortion-cdp")
    if "sco" in areas:
        kinds = ("approx", "cdp") if has_zcdp else ("approx",)
        slugs |= {f"lower.sco.lipschitz-moments-{kind}" for kind in kinds}
    return slugs


FEW_SCENARIOS = scenarios((SIZES[1], SIZES[4]))


@pytest.mark.parametrize("tuning", one_in(2, ["practical", "theory"]))
@pytest.mark.parametrize("method", PRIVATE)
def test_no_private_estimator_beats_a_lower_bound_at_four_settings(
    method: str, tuning: str
) -> None:
    comparisons = check_scenarios(
        FEW_SCENARIOS, method, "tight", tuning, trials=12 if method in SLOW_METHODS else 24
    )
    if tuning == "practical":
        assert comparisons


FEW_RISKS = scenarios(((250, 16, 2, 100, ZCDP_HIGH), SIZES[4]), RISKS)


# Objective perturbation has a closed form here: the mean with Gaussian noise.
@pytest.mark.parametrize("method", one_in(2, [m for m in PRIVATE_RISK if m not in SLOW_METHODS]))
def test_no_private_optimiser_beats_a_lower_bound_at_eight_settings(method: str) -> None:
    comparisons = check_scenarios(FEW_RISKS, method, "tight", "practical", trials=12)
    slugs = {c.bound for c in comparisons}
    expected = expected_bounds(method, FEW_RISKS)
    # Otherwise the instances have too few records for the method's test.
    assert slugs == expected or (by_a_test(method) and not slugs)


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["tight", "paper"])
@pytest.mark.parametrize("tuning", ["practical", "theory"])
@pytest.mark.parametrize("method", PRIVATE_RISK)
def test_no_private_optimiser_beats_a_lower_bound_anywhere_on_the_grid(
    method: str, calibration: str, tuning: str
) -> None:
    slow = method in SLOW_METHODS
    # A theorem may ask for so many steps that the trials would take too long.
    largest = 10.5 if slow else 0.25
    tuned = [
        replace(s, calibration=calibration, tuning=tuning)  # type: ignore[arg-type]
        for s in scenarios((SIZES[1], SIZES[4]) if slow else SIZES, RISKS)
    ]
    grid = tuple(s for s in tuned if release_seconds(s, method) <= largest)
    comparisons = check_scenarios(grid, method, calibration, tuning, trials=5 if slow else 60)
    if (calibration, tuning) == ("tight", "practical"):
        slugs, expected = {c.bound for c in comparisons}, expected_bounds(method, grid)
        assert slugs == expected or (by_a_test(method) and slugs <= expected)
        smallest = 4 if slow else 14 if accepts(method, "linear", "l2") else 7
        assert len(comparisons) >= (smallest if expected and not by_a_test(method) else 0)


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["tight", "paper"])
@pytest.mark.parametrize("tuning", ["practical", "theory"])
@pytest.mark.parametrize("method", PRIVATE)
def test_no_private_estimator_beats_a_lower_bound_anywhere_on_the_grid(
    method: str, calibration: str, tuning: str
) -> None:
    grid = scenarios()
    assert len(grid) >= 20
    comparisons = check_scenarios(
        grid, method, calibration, tuning, trials=100 if method in SLOW_METHODS else 400
    )
    if (calibration, tuning) == ("tight", "practical"):
        # A method without this notion samples its records in secret.
        if "zcdp" not in notions(method, grid):
            assert len({bound(slug).card.instance for slug in names(comparisons)}) >= 2
            assert len(comparisons) >= 10
            return
        suffix = "pure" if method_card(method).privacy == "pure" else "cdp"
        assert names(comparisons) >= {f"lower.mean.hypercube-{suffix}", f"lower.mean.fano-{suffix}"}
        assert len(comparisons) >= 20


def test_every_explicit_bound_on_a_mean_with_an_instance_is_compared_with_two_methods() -> None:
    chosen = scenarios((SIZES[3], SIZES[12], BELOW_TWO))
    comparisons = [
        c for s in chosen for m in ("mean.clipped", "mean.cwme-pure") for c in compare(s, m, 2)
    ]
    explicit = {
        b.card.slug
        for b in BOUNDS
        if b.card.instance and b.card.constant == "explicit" and b.card.instance_problem == "mean"
    }
    assert names(comparisons) == explicit


def test_every_bound_on_a_risk_with_an_instance_is_compared_at_its_own_instance() -> None:
    # No optimiser is purely private, so the bounds for pure algorithms are compared with one that
    # is declared so.
    chosen = scenarios((SIZES[3], SIZES[12], BELOW_TWO), RISKS)
    chosen += tuple(s for s in on_sets("linear") if s.delta is None or s.delta > 0)
    comparisons = [
        c for s in chosen for c in compare(s, "sco.erm", 2, claims=("zcdp", "pure", "approx"))
    ]
    explicit = {
        b.card.slug
        for b in BOUNDS
        if b.card.instance and b.card.constant == "explicit" and b.card.instance_problem in RISKS
    }
    assert {c.bound for c in comparisons} == explicit


@pytest.mark.parametrize(
    (
        "problem",
        "method_limit",
    ),  # Every method takes minutes on these sets, as any method does on the sets of risks.
    [
        ("mean", 1),
        *(pytest.param(problem, 100, marks=pytest.mark.slow) for problem in ("mean", *RISKS)),
    ],
)
def test_no_private_method_beats_a_lower_bound_on_any_set(problem: str, method_limit: int) -> None:
    """For each kind of budget, at most `method_limit` private methods run on the instance of each
    set.
    """
    tried: dict[str, set[str]] = {}
    for i, scenario in enumerate(on_sets(problem)):
        compared_methods = 0
        methods = methods_for(problem)
        shift = i % len(methods)  # Each set begins with another method.
        for method in (*methods[shift:], *methods[:shift]):
            if compared_methods == method_limit:
                break
            card = method_card(method)
            quick = release_seconds(replace(scenario, methods=(method,)), method) < 0.01
            if card.privacy == "none" or card.level == "user" or not quick:
                continue
            comparisons = list(compare(scenario, method, 12))
            assert [(c.bound, c.ratio) for c in comparisons if c.is_below] == []
            if comparisons:
                key = f"{scenario.geometry} {scenario.q} {scenario.budget}"
                tried.setdefault(key, set()).add(method)
                compared_methods += 1
    assert len(tried) == len(SETS) * len(BUDGETS)
    assert min(map(len, tried.values())) >= 1


MANY_N = Scenario(
    distribution="hypercube", n=40_000, d=16, p=2, diameter=100, offset=0.0, **ZCDP_LOW
)


@pytest.mark.parametrize("distribution", ["hypercube", "spike"])
def test_the_sample_mean_of_many_records_is_detected_as_not_private(distribution: str) -> None:
    # With so strict a budget the instance has many spikes, and the average reveals the pattern.
    scenario = replace(MANY_N, d=64, rho=1e-4, distribution=distribution)
    comparisons = list(compare(scenario, "mean.sample", trials=30, claims=("zcdp",)))
    assert comparisons
    assert any(c.is_below for c in comparisons)


def test_an_estimator_that_knows_the_answer_is_detected() -> None:
    (honest, *_) = compare(MANY_N, "mean.clipped", trials=30)
    assert not honest.is_below
    assert replace(honest, errors=np.zeros(30)).is_below
    assert replace(honest, errors=honest.errors / honest.ratio / 2).is_below


def test_an_estimator_without_its_noise_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaussian, "add_gaussian_noise", lambda value, *_: value)
    methods = ("mean.clipped", "mean.cwme-cdp", "mean.smoothed")
    beaten = {c.method for m in methods for c in compare(MANY_N, m, trials=30) if c.is_below}
    assert beaten


@pytest.mark.parametrize("distribution", ["hypercube", "spike"])
@pytest.mark.parametrize("problem", RISKS)
def test_the_empirical_minimiser_of_many_records_is_detected_as_not_private(
    problem: str, distribution: str
) -> None:
    scenario = replace(
        MANY_N, problem=problem, d=64, rho=1e-4, distribution=distribution, methods=()
    )
    comparisons = list(compare(scenario, "sco.erm", trials=20, claims=("zcdp",)))
    assert comparisons
    assert any(c.is_below for c in comparisons)


@pytest.mark.parametrize("problem", RISKS)
def test_an_optimiser_without_its_noise_is_detected(
    monkeypatch: pytest.MonkeyPatch, problem: str
) -> None:
    # Objective perturbation minimises its objective whatever the noise; the tuned step sizes of the
    # descents expect noise, and are small.
    strict = {"epsilon": 0.03, "delta": 1e-6, "rho": None}
    scenario = replace(MANY_N, problem=problem, n=4000, d=64, methods=(), **strict)
    (honest, *_) = compare(scenario, "sco.objective-perturbation", trials=12)
    assert not honest.is_below
    monkeypatch.setattr(gaussian, "add_gaussian_noise", lambda value, *_: value)
    assert any(c.is_below for c in compare(scenario, "sco.objective-perturbation", trials=12))
