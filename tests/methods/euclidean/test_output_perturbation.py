"""Output perturbation under pure DP: sensitivity, limits, ledger and refusals."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.methods.euclidean import Erm, OutputPerturbation
from dpsco_core.methods.euclidean.perturbation import minimisers as module
from dpsco_core.methods.euclidean.perturbation.output_schedule import (
    PhaseLayout,
    bounded_risk,
    modelled_risk,
    phase_model,
)
from dpsco_core.privacy import Ledger, PureDP
from dpsco_core.problems.links import AbsoluteLink, HingeLink
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.scenario import Scenario
from tests.folded import one_in

SOLVED = ("logistic", "huber", "hinge", "absolute")
BROKEN = (math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324)


def point(problem: str, **fields: Any) -> Scenario:
    """Return a small scenario for output perturbation under pure DP."""
    base = {"n": 200, "d": 3, "epsilon": 1.0, "delta": 0.0}
    return Scenario(
        problem=problem, methods=(OutputPerturbation.card.slug,), **(base | fields)
    ).validate()


def records(problem: str, scenario: Scenario, seed: int) -> Any:
    """Draw the records of a scenario."""
    return scenario.instance.problem.sample(scenario.n, np.random.default_rng(seed))


def changed(sample: LinearSample, i: int, x: Any, y: float) -> LinearSample:
    """Return the sample with record i replaced by (x, y)."""
    features, targets = sample.features.x.copy(), sample.targets.copy()
    features[i], targets[i] = x, y
    return replace(sample, features=DenseRows(features), targets=targets)


def solve_phases(sample: Any, plan: Any, centre: Any) -> list[Any]:
    """Return the results of all phases without noise, each started at the same point."""
    bounded = plan.losses.of(sample)
    bounded = bounded.rounded(plan.curvature) if plan.kinked else bounded
    return [
        module.minimise_phase(bounded.part(f.start, f.stop), centre, f, plan) for f in plan.phases
    ]


@pytest.mark.parametrize("seeds", one_in(2, [2, 6]))
@pytest.mark.parametrize("problem", SOLVED)
def test_no_record_moves_the_solver_by_more_than_the_ledger_states(
    problem: str, seeds: int
) -> None:
    """Features are far, near, broken and opposite, in every phase; a missing factor 4 of L is
    detected.
    """
    scenario = point(problem)
    plan = OutputPerturbation().plan(scenario.setting)
    rng, reached = np.random.default_rng(5), 0.0
    for seed in range(seeds):
        base = records(problem, scenario, seed)
        centre = 0.5 * rng.standard_normal(scenario.d)
        for phase in range(len(plan.phases)):
            i = plan.phases[phase].start
            pull = rng.standard_normal(scenario.d)
            pairs = [(1e6 * pull, -1e6 * pull), (pull, np.zeros(scenario.d))]
            pairs += [(np.full(scenario.d, x), 1e6 * pull) for x in BROKEN]
            for old_record, new_record in pairs:
                for y in (1.0, -1.0, math.nan, 1e300):
                    a = solve_phases(changed(base, i, old_record, y), plan, centre)
                    b = solve_phases(changed(base, i, new_record, -y), plan, centre)
                    moves = [float(np.linalg.norm(u - v)) for u, v in zip(a, b, strict=True)]
                    allowed = plan.phases[phase].l2_sensitivity
                    assert moves[phase] <= allowed, (phase, old_record, new_record, y)
                    assert not any(m for j, m in enumerate(moves) if j != phase)
                    reached = max(reached, moves[phase] / allowed)
    assert reached > 0.25, reached


@pytest.mark.parametrize("problem", SOLVED)
def test_the_solver_is_as_near_to_the_minimiser_as_the_sensitivity_assumes(problem: str) -> None:
    """The reference solves the same problem to a millionth of the accuracy."""
    scenario = point(problem, n=400)
    plan = OutputPerturbation().plan(scenario.setting)
    sample = records(problem, scenario, 1)
    for seed, phase in enumerate(plan.phases):
        centre = np.random.default_rng(seed).standard_normal(scenario.d)
        exact = 2 * plan.losses.lipschitz / (phase.regulariser * (phase.stop - phase.start))
        fine = replace(phase, accuracy=phase.accuracy * 1e-6)
        coarse = solve_phases(sample, replace(plan, phases=(phase,)), centre)[0]
        accurate = solve_phases(sample, replace(plan, phases=(fine,)), centre)[0]
        assert 2 * np.linalg.norm(coarse - accurate) <= phase.l2_sensitivity - exact
        assert phase.l2_sensitivity <= 1.02 * exact, "the solver costs two per cent at most"


def test_the_sensitivity_is_attained_by_linear_losses() -> None:
    """A smaller noise would not suffice, and the set is too large to matter."""
    scenario = point("linear", d=1, diameter=1000.0, distribution="gaussian", n=64)
    plan = OutputPerturbation().plan(scenario.setting)
    base = records("linear", scenario, 0)
    for phase in plan.phases:
        sample, neighbour = (
            replace(
                base,
                points=DenseRows(
                    np.zeros((scenario.n, 1)) + x * (np.arange(scenario.n) == 0)[:, None]
                ),
            )
            for x in (1e9, -1e9)
        )
        first_phase = replace(phase, start=0, stop=phase.stop - phase.start)
        a, b = (
            solve_phases(x, replace(plan, phases=(first_phase,)), np.zeros(1))[0]
            for x in (sample, neighbour)
        )
        assert abs(float(a[0] - b[0])) == pytest.approx(phase.l2_sensitivity, rel=1e-12)


@pytest.mark.parametrize("problem", OutputPerturbation.card.problems)
def test_the_method_spends_a_pure_budget_and_nothing_else(problem: str) -> None:
    scenario = point(problem)
    method = OutputPerturbation()
    ledger = Ledger(scenario.budget)
    release = method.release(
        records(problem, scenario, 0),
        method.plan(scenario.setting),
        ledger,
        np.random.default_rng(1),
    )
    assert ledger.spent() == PureDP(epsilon=1.0)
    assert {e.mechanism for e in ledger.entries} == {"spherical laplace"}
    assert all(e.noise == e.sensitivity / 1.0 for e in ledger.entries)
    assert np.linalg.norm(release.value) <= scenario.instance.problem.constraint.l2_radius * (
        1 + 1e-9
    )


@pytest.mark.parametrize("problem", ["logistic", "huber"])
def test_without_noise_and_shrinking_the_method_is_the_risk_minimiser(problem: str) -> None:
    """The budget is so large that noise and regulariser vanish, and the bound exceeds every
    feature.
    """
    scenario = point(problem, n=2000, epsilon=1e6, distribution="gaussian")
    sample = records(problem, scenario, 3)
    plan = OutputPerturbation().plan(scenario.setting)
    loose = replace(plan.losses, feature_bound=1e3, lipschitz=1e3)
    first_phase = replace(
        plan.phases[0], start=0, stop=scenario.n, regulariser=1e-4, accuracy=1e-12
    )
    w = solve_phases(
        sample, replace(plan, losses=loose, phases=(first_phase,)), np.zeros(scenario.d)
    )[0]
    erm = Erm()
    target = erm.release(
        sample, erm.plan(scenario.setting), Ledger(scenario.budget), np.random.default_rng(0)
    )
    assert np.linalg.norm(w - target.value) < 2e-3


@pytest.mark.parametrize("link", [HingeLink(), AbsoluteLink()])
def test_rounded_kinks_are_below_the_loss_by_at_most_half_of_the_stretch(link: Any) -> None:
    rng = np.random.default_rng(0)
    margins, curvature = np.linspace(-3, 3, 4001), 20.0
    rounded = link.rounded(curvature)
    for target in (1.0, -1.0, *rng.uniform(-1, 1, 3)):
        targets = np.full_like(margins, target)
        gap = link.value(margins, targets) - rounded.value(margins, targets)
        assert gap.min() >= -1e-12 and gap.max() <= 1 / (2 * curvature) + 1e-12
        slopes = rounded.slope(margins, targets)
        assert np.abs(slopes).max() <= 1.0
        steps = np.diff(slopes) / np.diff(margins)
        assert steps.min() >= -1e-9 and steps.max() <= curvature * (1 + 1e-9)
        middle = (margins[1:] + margins[:-1]) / 2
        slope = rounded.slope(middle, targets[1:])
        values = np.diff(rounded.value(margins, targets)) / np.diff(margins)
        np.testing.assert_allclose(slope, values, atol=curvature * 1e-3)
        single_slopes = [rounded.slope_at(float(s), float(target)) for s in margins]
        np.testing.assert_allclose(single_slopes, slopes, atol=1e-15)


def test_the_proven_bound_and_the_model_have_the_values_of_the_note() -> None:
    """Two phases are computed by hand: theory/pure-optimisers.md, 1.4."""
    scenario = point("logistic", n=1000, d=2)
    plan = OutputPerturbation().plan(scenario.setting)
    model = phase_model(scenario.setting, plan.losses)
    limit, radius = plan.losses.lipschitz, scenario.setting.constants.diameter / 2
    level, next_level = 0.5, 2.0
    scale = [1.02 * 2 * limit / (level * 500) for level in (level, next_level)]
    by_hand = level / 2 * radius**2 + next_level / 2 * 6 * scale[0] ** 2
    by_hand += 2 * limit**2 / 500 * (1 / level + 1 / next_level) + limit * 2 * scale[1]
    layout = PhaseLayout(lengths=(500, 500), first=level, growth=4.0)
    assert bounded_risk(model, layout) == pytest.approx(by_hand)
    stiff = PhaseLayout(lengths=(1000,), first=1e9, growth=1.0)
    assert modelled_risk(model, stiff) > modelled_risk(model, layout), "a stiff pull does not move"


def test_the_error_of_the_theorem_is_below_its_bound() -> None:
    """Features are Gaussian; the bound is on the shrunk losses, whose bias is far below it."""
    scenario = point("logistic", n=20_000, d=2, epsilon=4.0, distribution="gaussian", p=3.0)
    method = OutputPerturbation(tuning="theory")
    plan = method.plan(scenario.setting)
    phases = plan.phases
    layout = PhaseLayout(
        lengths=tuple(f.stop - f.start for f in phases),
        first=phases[0].regulariser,
        growth=phases[1].regulariser / phases[0].regulariser if len(phases) > 1 else 1.0,
    )
    bound = bounded_risk(phase_model(scenario.setting, plan.losses), layout)
    errors = []
    for seed in range(5):
        value = method.release(
            records("logistic", scenario, seed),
            plan,
            Ledger(scenario.budget),
            np.random.default_rng(seed),
        ).value
        errors.append(scenario.instance.problem.excess_risk(value).value)
    assert np.mean(errors) <= bound


@pytest.mark.parametrize("problem", ["least-squares", "geometric-median"])
def test_losses_without_a_bound_are_refused(problem: str) -> None:
    unbounded = Scenario(problem=problem, methods=(Erm.card.slug,), n=200, d=3).validate().setting
    with pytest.raises(NotApplicable, match="logistic"):
        OutputPerturbation().plan(replace(unbounded, budget=PureDP(epsilon=1.0)))
