"""No tuning and no schedule search silently returns its first candidate.

The tests use a wide table of settings over all methods of the catalogue, and every search at values
where none of its candidates has a finite predicted error.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core import catalogue
from dpsco_core.base.errors import NotApplicable
from dpsco_core.bounds.lq.mirror import best_b4
from dpsco_core.bounds.lq.regularized import Regularized, best_b3
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.euclidean import cwme_strong, phased_sgd, tuning
from dpsco_core.methods.euclidean.lipschitz import lipschitz_losses
from dpsco_core.methods.euclidean.perturbation import objective_plan
from dpsco_core.methods.lq import noisy as lp_noisy
from dpsco_core.methods.lq.mirror_schedule import MirrorInputs, practical_choice
from dpsco_core.methods.mean import clipped, coordinatewise, smoothed
from dpsco_core.methods.user import clipped_means
from dpsco_core.methods.user.accelerated import model as accelerated_model
from dpsco_core.methods.user.phased_risk import best_phases
from dpsco_core.privacy import ZCDP
from dpsco_core.problems.base import Setting
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

BASE = Scenario(n=1000, d=5, p=3.0, margin=0.5, offset=0.0)
CONCENTRATED: dict[str, Any] = {"rho": 0.5, "epsilon": None, "delta": None}
SINGLE: tuple[dict[str, Any], ...] = (
    {},
    *({"diameter": x} for x in (1e-6, 50.0, 1e6)),
    *({"epsilon": x} for x in (1e-3, 50.0)),
    *({"delta": x} for x in (1e-15, 0.1)),
    *({"p": x} for x in (2.0, 50.0)),
    *({"margin": x} for x in (1e-6, 100.0)),
    *({"n": x} for x in (1, 2, 7, 10**6)),
    *({"d": x} for x in (1, 1000)),
)
# The budget is zCDP, where no plan searches for its amplification.
ENDS: dict[str, tuple[Any, Any]] = {
    "diameter": (1e-6, 1e6),
    "rho": (1e-12, 1e8),
    "n": (1, 10**9),
    "d": (1, 1000),
}
PAIRS: tuple[dict[str, Any], ...] = tuple(
    CONCENTRATED | {field: a, other_field: b}
    for field, other_field in itertools.combinations(ENDS, 2)
    for a, b in itertools.product(ENDS[field], ENDS[other_field])
)
# Numbers of a plan that are infinite or NaN with a meaning: no bound of Theorem 5, no proof of
# smoothness, the exponent of a norm, and the shift of a step size that has none.
MEANINGFUL = {"group_radius", "dual", "shift", "lipschitz", "smoothness", "feature_bound"}


def settings(slug: str, problem: str, stride: int) -> Iterator[Scenario]:
    """Yield the table's scenarios for a method, with every `stride`-th pair."""
    card = catalogue.method_card(slug)
    point = replace(BASE, problem=problem, methods=(slug,))
    if problem not in ("mean", "quadratic"):
        point = replace(point, distribution="gaussian")
    if card.level == "user":
        point = replace(point, n=20_000, m=10)
    for change in SINGLE if card.level == "user" else (*SINGLE, *PAIRS[::stride]):
        for geometry in ("l1", "linf") if card.geometry == "lq" else ("l2",):
            yield replace(point, geometry=geometry, **change)


def not_finite(value: Any, name: str = "") -> Iterator[str]:
    """Yield the names of the numbers in a plan that are infinite or NaN without a meaning."""
    # The plan's copy of the setting is infinite in constants that are not certified.
    if isinstance(value, Setting):
        return
    if isinstance(value, float | np.floating):
        if not math.isfinite(value) and name not in MEANINGFUL:
            yield name
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            part = getattr(value, field.name)
            # The setting is an input, and without a prediction the field keeps its default.
            if field.name != "setting" and part is not field.default:
                yield from not_finite(part, field.name)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from not_finite(item, str(key))
    elif isinstance(value, tuple):
        for item in value:
            yield from not_finite(item, name)


WAYS = (("tight", "practical"), ("paper", "practical"), ("tight", "theory"))


def planned(slug: str, problem: str, stride: int, part: int, parts: int) -> int:
    """Check the plans of a part of the table; return how many settings were not refused."""
    count = 0
    # Searches differ only in one way of tuning; in the others one plan represents two.
    every_setting = enumerate(settings(slug, problem, stride))
    # Each entry of the table stands with its neighbour for two sets or changes.
    table = [at for i, at in every_setting if (i // 2 + part) % parts == 0]
    ways = [(at, WAYS[0]) for at in table]
    ways += [(at, way) for at, way in zip(table, itertools.cycle(WAYS[1:]), strict=False)]
    for scenario, (calibration, tuned) in ways:
        try:
            plan = catalogue.make_method(slug, calibration, tuned).plan(scenario.setting)
        except NotApplicable:
            continue
        count += 1
        # The theorem's parameters come without a prediction.
        predicted = {"modelled_risk"} if tuned == "theory" else set()
        assert not set(not_finite(plan)) - predicted, (scenario, plan)
    return count


@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("slug", catalogue.METHOD_SLUGS)
def test_a_plan_has_finite_parameters_and_predictions_or_is_refused(slug: str, stride: int) -> None:
    """The predicted risk is included, for every method whose practical tuning predicts one."""
    problems = [p for p in ("mean", "quadratic", "logistic") if slug in catalogue.methods_for(p)]
    if catalogue.method_card(slug).level == "user":
        problems = problems[:1]  # The searches of these methods take longer.
    # In the quick suite the problems share the table; in the slow one each has all of it.
    parts = len(problems) if stride > 1 else 1
    assert sum(planned(slug, problem, stride, i, parts) for i, problem in enumerate(problems)) >= 5


# These searches are at values where no candidate is finite; before, each returned its first
# candidate or failed.

QUADRATIC = replace(BASE, problem="quadratic", methods=("sco.cwme-strong",), **CONCENTRATED).setting
LOGISTIC = replace(
    BASE, problem="logistic", distribution="gaussian", methods=("sco.clipped",), **CONCENTRATED
)
LOSSES = lipschitz_losses(LOGISTIC.setting, "practical", 0.5)
SPACE = RegularSpace(d=5, exponent=1.5)
LAND = accelerated_model.model_landscape(LOGISTIC.setting, 1.0, 1.0)
LAYOUTS = (accelerated_model.Layout(users=(100,), exponents=(0,)),)
AT_B4 = MirrorInputs(
    n=1000,
    space=SPACE,
    divergence=1.0,
    diameter=2.0,
    smoothness=1.0,
    gradient_bound=1.0,
    variance=1.0,
)
AT_B3 = Regularized(n=1000, space=SPACE, lipschitz=1.0, smoothness=1.0, radius=1.0, energy=1.0)


def worst(**constants: float) -> Any:
    """Return the quadratic setting with other constants."""
    return replace(QUADRATIC, constants=replace(QUADRATIC.constants, **constants))


SEARCHES: dict[str, Callable[[], object]] = {
    "steps of descent": lambda: tuning.practical_descent(QUADRATIC, math.inf),
    "steps of descent, NaN": lambda: tuning.practical_descent(QUADRATIC, math.nan),
    "clip radius": lambda: tuning.practical_clipping(QUADRATIC, math.inf),
    "disjoint blocks": lambda: cwme_strong.practical_blocks(worst(diameter=1e200), 1.0),
    "phases": lambda: phased_sgd.practical_phases(
        worst(diameter=math.nan), 0.5, replace(LOSSES, smoothness=1.0)
    ),
    "potential": lambda: lp_noisy.best_potential(LOGISTIC.setting, math.nan, 1.0),
    "ridge": lambda: objective_plan.balanced_ridge(
        worst(diameter=math.nan), replace(LOSSES, smoothness=1.0), 1.0, 1e-6, 0.5
    ),
    "accounting": lambda: practical_choice(AT_B4),
    "accounting, NaN": lambda: practical_choice(replace(AT_B4, energy=1.0, variance=math.nan)),
    "radius of a mean": lambda: clipped.practical_radius(worst(mean_gradient_bound=math.inf), 1.0),
    "threshold of a mean": lambda: coordinatewise.practical_threshold(
        worst(mean_gradient_bound=math.inf), 1.0, "gaussian", 1.0
    ),
    "tau of a mean": lambda: smoothed.practical_tau(
        worst(mean_gradient_bound=math.inf), 1.0, 1.0, 1.0
    ),
    "phases of users": lambda: best_phases(
        100,
        10,
        1,
        lipschitz=1.0,
        diameter=1.0,
        d=5,
        largest_step=1.0,
        noise=lambda step, steps: math.nan,
    ),
    "accelerated steps": lambda: clipped_means.accelerated_choice(QUADRATIC, math.inf),
    "accelerated steps, NaN": lambda: clipped_means.accelerated_choice(QUADRATIC, math.nan),
    "accelerated phases": lambda: accelerated_model.choose_layout(
        LAND, LAYOUTS, lambda u, s: math.inf
    ),
    "accelerated phases, NaN": lambda: accelerated_model.choose_layout(
        LAND, LAYOUTS, lambda u, s: math.nan
    ),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_search_without_a_finite_candidate_refuses(search: Callable[[], object]) -> None:
    with pytest.raises(NotApplicable, match="with a finite predicted error") as refusal:
        search()
    assert refusal.value.nearest


def test_a_bound_without_a_finite_candidate_is_infinite() -> None:
    """An infinite bound is void, and is reported as void."""
    for energy in (math.inf, math.nan):
        assert best_b3(replace(AT_B3, energy=energy)).value == math.inf
        assert best_b4(replace(AT_B4, energy=energy)).value == math.inf
    assert best_b4(AT_B4).value == math.inf
    for bound in catalogue.BOUNDS:
        if bound.card.constant == "explicit" and bound.card.kind == "upper":
            assert not math.isnan(bound.value(QUADRATIC)), bound.card.slug
            assert not math.isnan(bound.value(replace(QUADRATIC, budget=ZCDP(rho=1e-12))))


# On this large set every candidate of strongly convex coordinate-wise descent was infinite; the
# search returned one step, which had an error of 0.125.

WIDE = Scenario(
    problem="quadratic",
    methods=("sco.cwme-strong", "sco.clipped"),
    n=100_000,
    d=5,
    p=2.5,
    margin=1.0,
    diameter=50.0,
    trials=5,
    **CONCENTRATED | {"rho": 5.0},
)


def errors(scenario: Scenario) -> tuple[float, ...]:
    """Return the mean error of every method of a scenario."""
    outcomes = list(study(scenario))
    return tuple(
        float(np.mean([o.error for o in outcomes if o.method == slug])) for slug in scenario.methods
    )


@pytest.mark.parametrize("diameter", [4.0, 50.0, 1000.0, 1e5])
@pytest.mark.parametrize("is_far", [False, True])
def test_strongly_convex_descent_stays_below_its_proven_bound_on_large_sets(
    diameter: float, is_far: bool
) -> None:
    """The minimiser is near the centre or on the boundary; the error is within the prediction
    too.
    """
    scenario = replace(WIDE, diameter=diameter, offset=diameter / 2 if is_far else 1.0)
    scenario = replace(scenario, methods=("sco.cwme-strong",))
    plan = cwme_strong.StrongCoordinatewiseDescent().plan(scenario.setting)
    (error,) = errors(scenario)
    assert plan.descent.steps > 1
    assert error < catalogue.bound("upper.sco.cwme-strong-explicit").value(scenario.setting)
    assert error < 3 * plan.descent.modelled_risk


def test_strongly_convex_descent_on_a_large_set_is_nearly_as_good_as_clipping() -> None:
    """At the reported setting the errors are 6e-5 and 1.6e-5, and the bound is 0.0067."""
    strong, clipping = errors(WIDE)
    assert strong < 2e-4
    assert strong < 10 * clipping


def test_a_given_number_of_steps_or_threshold_is_kept_and_the_other_chosen() -> None:
    steps = cwme_strong.practical_blocks(WIDE.setting, 5.0, steps=3)
    assert steps.steps == 3
    for limit in (0.1, 1.0, 30.0):  # The lowest limits leave no room for the mean.
        blocks = cwme_strong.practical_blocks(WIDE.setting, 5.0, limit=limit)
        assert blocks.limit == limit
        assert blocks.steps > 1
        assert math.isfinite(blocks.modelled_risk)
    best = cwme_strong.practical_blocks(WIDE.setting, 5.0)
    assert best.modelled_risk <= min(steps.modelled_risk, blocks.modelled_risk)
    divided = cwme_strong.practical_blocks(WIDE.setting, 5.0, divided=True)
    assert divided.modelled_risk > best.modelled_risk
