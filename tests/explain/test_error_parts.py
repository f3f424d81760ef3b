"""The squared parts of an error add up to the method's true mean squared error."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_app.parts.error_parts import percents
from dpsco_core.catalogue import DISTRIBUTION_SLUGS, HARD_INSTANCES
from dpsco_core.explain.anatomy import draw_problem
from dpsco_core.explain.error_parts import ClippedLaw, clipped_law, ladder_parts
from dpsco_core.explain.lessons import (
    BIAS,
    NOISE,
    PRIVATE,
    RADII,
    RADIUS_POINT,
    SAMPLING,
    parts,
    radius_parts,
    run_part,
)
from dpsco_core.explain.picture import picture
from dpsco_core.explain.why import SCENARIO, clipping, why
from dpsco_core.methods.mean import SimpleClipping
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems import MeanEstimation
from dpsco_core.scenario import Scenario

LAWS = [slug for slug in DISTRIBUTION_SLUGS if slug not in HARD_INSTANCES]


def random_scenario(rng: np.random.Generator) -> Scenario:
    """Return a small scenario of a random law, size and budget."""
    return Scenario(
        distribution=str(rng.choice(LAWS)),
        n=int(rng.integers(50, 400)),
        d=int(rng.integers(2, 8)),
        p=float(rng.choice([2, 2.5, 3, 6])),
        offset=float(rng.choice([0, 1])),
        epsilon=float(rng.choice([0.5, 1, 4])),
        margin=1.0,
        axis=None,
        grid=(),
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_squares_add_up_to_the_mean_squared_error_of_the_method(seed: int) -> None:
    """A wrong part, or a bias from a point other than the true mean, would differ from the
    simulation.
    """
    rng = np.random.default_rng(seed)
    scenario = random_scenario(rng)
    problem, setting = scenario.instance.problem, scenario.setting
    assert isinstance(problem, MeanEstimation)
    radius = float(rng.uniform(0.5, 2.5) * math.sqrt(scenario.d))
    law = clipped_law(problem.distribution, np.geomspace(0.1, 30, 60), rng)
    method = SimpleClipping(radius=radius)
    plan = method.plan(setting)
    by_parts = law.parts(scenario.n, radius, plan.noise.noise_std)
    assert by_parts.total == by_parts.sampling + by_parts.bias + by_parts.noise
    errors = [
        problem.error(
            method.release(problem.sample(scenario.n, rng), plan, Ledger(setting.budget), rng).value
        )
        for _ in range(600)
    ]
    squares = np.square(errors)
    # The tolerance is six standard errors of the simulation, and two per cent for the sample that
    # stands for the law and for the line between two of its radii.
    slack = 6 * squares.std(ddof=1) / math.sqrt(len(squares)) + 0.02 * by_parts.total
    assert abs(squares.mean() - by_parts.total) < slack


@pytest.mark.parametrize("law", LAWS)
def test_no_part_exceeds_the_total_and_no_noise_gives_a_zero_part(law: str) -> None:
    laws = [picture(Scenario(distribution=law, p=p)).clipped for p in (2.0, 2.5, 3.0, 4.0, 10.0)]
    for clipped in laws:
        for radius in clipped.radii[::3]:
            for n in (20, 50, 100, 200, 500, 10_000):
                squares = clipped.parts(n, float(radius), 2 * radius / n / math.sqrt(2 * 0.028))
                assert 0 < squares.noise < squares.total and 0 <= squares.bias < squares.total
                assert 0 < squares.sampling < squares.total
    heavy = laws[0]
    assert (np.diff(heavy.bias) <= 1e-6).all() and (np.diff(heavy.variance) >= -1e-6).all()


def test_without_clipping_the_only_part_is_sampling_and_equals_the_laws() -> None:
    for p in (2.0, 4.0, 10.0):
        law = picture(Scenario(distribution="student-t", p=p)).clipped
        open_ = law.parts(50, math.inf, 0.0)
        assert (open_.bias, open_.noise, open_.total) == (0, 0, law.whole / 50)
        wide = law.parts(50, float(law.radii[-1]), 0.0)
        assert wide.sampling <= open_.sampling * (1 + 1e-12)


def test_a_record_of_one_length_is_clipped_exactly() -> None:
    """For the law of +-e1 and R below 1, the clipped mean stays 0 and its variance is R squared."""

    class Sign:
        d, mean, variance_trace = 2, np.zeros(2), 1.0

        def stream(self, n: int, rng: np.random.Generator) -> Sign:
            """Return the law itself as its stream of n records."""
            self.n = n
            return self

        def blocks(self):  # type: ignore[no-untyped-def]
            """Yield one block with as many +1 as -1."""
            signs = np.tile([1.0, -1.0], self.n // 2)
            yield np.column_stack([signs, np.zeros(self.n)])

    law = clipped_law(Sign(), np.array([0.5, 1.0, 2.0]), np.random.default_rng(0))  # type: ignore[arg-type]
    assert law.bias == pytest.approx([0, 0, 0], abs=1e-5)
    assert law.variance == pytest.approx([0.25, 1, 1])


def test_the_article_agrees_with_its_bars_and_curve() -> None:
    numbers = why()
    for number in (numbers.heavy.best, numbers.light.best, numbers.small, numbers.large):
        total = number.sampling**2 + number.bias**2 + number.noise**2
        assert number.error == pytest.approx(math.sqrt(total), rel=1e-12)
        assert number.error > max(number.sampling, number.bias, number.noise)
    for side in (numbers.heavy, numbers.light):
        assert side.price == pytest.approx(side.best.error / side.plain)
        assert side.best.error == pytest.approx(
            min(
                clipping(side.p, float(radius)).error
                for radius in picture(replace(SCENARIO, p=side.p)).clipped.radii
            )
        )


def test_lesson_four_measures_the_error_whose_parts_it_shows() -> None:
    rows = [row for part in parts("radius") for row in run_part(part)]
    for radius, squares in radius_parts().items():
        radius_rows = [r for r in rows if r.x == radius]
        roots = {
            s: {r.value for r in radius_rows if r.series == s} for s in (SAMPLING, BIAS, NOISE)
        }
        # The parts are the same in every trial.
        assert all(len(values) == 1 for values in roots.values())
        assert sum(values.pop() ** 2 for values in roots.values()) == pytest.approx(squares.total)
        measured = np.square([r.value for r in radius_rows if r.series == PRIVATE])
        # In ten runs the noise in 20 dimensions has a relative error of a tenth; five times that is
        # allowed.
        assert measured.mean() == pytest.approx(squares.total, rel=0.5)
    assert list(radius_parts()) == list(RADII) and RADIUS_POINT.d == 20


def test_the_successive_runs_of_a_squared_distance_give_the_same_parts() -> None:
    """The page One run and the picture show the same error, half the squared distance, in four
    runs.
    """
    point = Scenario(problem="quadratic", methods=("sco.clipped",), n=100, d=2, p=2.5, offset=0)
    problem, _ = draw_problem(point)
    law = picture(replace(SCENARIO, p=2.5)).clipped
    squares = law.parts(100, 2.0, 0.03)
    risks = np.cumsum([0.0, squares.bias, squares.sampling, squares.noise]) / 2
    optimisation, *rest = ladder_parts(*risks)
    assert optimisation == 0
    assert rest == pytest.approx([squares.bias / 2, squares.sampling / 2, squares.noise / 2])
    shifted = problem.minimiser + np.array([0.3, 0.4])
    assert problem.excess_risk(shifted).value == pytest.approx(0.25 / 2)


def test_whole_percents_add_up_to_a_hundred() -> None:
    rng = np.random.default_rng(0)
    for _ in range(500):
        values = dict(zip("abc", rng.exponential(size=3) ** 4, strict=True))
        shares = percents(values)
        assert sum(shares.values()) == 100
        total = sum(values.values())
        assert all(abs(shares[k] - 100 * v / total) < 1 for k, v in values.items())


def test_the_picture_knows_its_law_at_radii_spaced_evenly_on_a_log_scale() -> None:
    law = picture(SCENARIO).clipped
    assert isinstance(law, ClippedLaw)
    assert np.diff(np.log(law.radii)) == pytest.approx(np.log(law.radii[1] / law.radii[0]))
