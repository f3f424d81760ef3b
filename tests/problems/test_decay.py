"""Problems on laws whose coordinates have unequal scales: certificates, risks, and refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.floors.terms import UNEQUAL
from dpsco_core.catalogue import BOUNDS, make_instance
from dpsco_core.data import Pareto, StudentT
from dpsco_core.data.base import ScaledLaw
from dpsco_core.privacy.budget import ZCDP
from dpsco_core.problems import GeometricMedian, Linear, MeanEstimation
from dpsco_core.results.report import evaluate_all
from dpsco_core.scenario import Scenario
from tests.folded import one_in
from tests.problems.cases import MODELS, PAIRS, POINTS, SIGMAS, dense, in_ball, losses, make
from tests.problems.test_constants import violations

N = 20_000


def falling(problem: Any, law: Any, decay: float, **sizes: Any) -> Any:
    """Return a problem on a law with falling scales."""
    example = make(problem, law, **sizes)
    name = "features" if problem in MODELS else "distribution"
    return replace(example, **{name: replace(getattr(example, name), decay=decay)})


def has_decay(problem: Any, law: Any) -> bool:
    """Return whether a problem may have a law whose coordinates decay."""
    has_scales = issubclass(law, ScaledLaw)
    symmetric = has_scales and law(d=2).univariate.symmetric
    return has_scales and (symmetric or problem is not GeometricMedian)


CASES = [(problem, law) for problem, law in PAIRS if has_decay(problem, law)]
IDS = [f"{problem.card.slug}-{law.card.slug}" for problem, law in CASES]


@pytest.mark.parametrize(("problem", "law"), one_in(2, CASES), ids=IDS)
def test_no_large_sample_contradicts_a_constant_where_scales_differ(problem: Any, law: Any) -> None:
    example = falling(problem, law, 1.0)
    assert violations(example, example.constants) == set()
    example = falling(problem, law, 0.6, d=6, p=4.0, margin=12.0, radius=4.0, offset=0.5)
    assert violations(example, example.constants) == set()


@pytest.mark.parametrize("problem", [p for p in (*POINTS, *MODELS) if p is not Linear])
def test_the_excess_is_the_difference_of_risks_where_scales_differ(problem: Any) -> None:
    example = falling(problem, StudentT, 1.0)
    rng = np.random.default_rng(11)
    sample, best = example.sample(N, rng), example.minimiser
    for w in (in_ball(example, rng), 0.0 * best):
        excess = example.excess_risk(w)
        difference = losses(sample, w) - losses(sample, best)
        error = math.hypot(difference.std() / math.sqrt(N), excess.standard_error)
        assert abs(difference.mean() - excess.value) <= SIGMAS * error + 1e-12


def test_the_spread_of_least_squares_is_worst_at_the_first_axis() -> None:
    """The claim holds even for light symmetric tails, whose fourth moment is hardly above the
    squared second.
    """
    law = Pareto(d=3, moment_order=4.0, margin=90.0, decay=1.5)
    x = law.sample(400_000, np.random.default_rng(3)).x
    squares = np.square(x)
    at_axes = (squares * squares.sum(axis=1)[:, None]).mean(axis=0) - squares.mean(axis=0) ** 2
    assert int(at_axes.argmax()) == 0
    certified = law.fourth_moment_trace - law.largest_second_moment**2
    assert certified == pytest.approx(float(at_axes.max()), rel=0.02)


def test_a_geometric_median_of_unequal_scales_needs_symmetry() -> None:
    parts: dict[str, Any] = {
        "problem": "geometric-median", "n": 10, "d": 3, "budget": ZCDP(rho=1.0),
        "moment_order": 3.0, "margin": 0.5, "offset": 0.5, "radius": 2.0, "decay": 1.0,
    }  # fmt: skip
    with pytest.raises(
        InvalidInput,
        match="log-normal and the problem geometric-median",
    ):
        make_instance(distribution="log-normal", **parts)
    assert make_instance(distribution="student-t", **parts).problem.minimiser[0] > 0


def test_floors_near_the_data_alone_are_refused_where_scales_differ() -> None:
    floors = [b.card.slug for b in BOUNDS if b.card.of_law and "mean" in b.card.problems]
    equal = evaluate_all(Scenario(), floors)
    assert any(e.value and not e.failures for e in equal)
    for evaluation in evaluate_all(Scenario(decay=0.5), floors):
        is_near_floor = evaluation.bound.card.name.startswith("Floor near ")
        assert evaluation.failures == ((UNEQUAL,) if is_near_floor else ())
        assert (evaluation.value > 0) != is_near_floor


def test_the_class_of_a_mean_holds_the_law() -> None:
    """The bound on the trace is that of equal scales, and the moment is that of the largest
    coordinate.
    """
    law = StudentT(d=5, decay=1.0)
    constants = MeanEstimation(distribution=law, mean_bound=2.0).constants
    assert constants.coordinate_moment == pytest.approx(law.moment(3.0), rel=1e-12)
    assert law.variance_trace <= constants.variance_trace == pytest.approx(5.0, rel=1e-12)
    assert law.variance_trace == pytest.approx(StudentT(d=5).variance_trace, rel=1e-12)


def test_a_law_whose_scales_cannot_differ_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"^decay must be 0 for the distribution spike, got"):
        Scenario(distribution="spike", decay=1.0).validate()
    assert Scenario(axis="decay", grid=(0.0, 1.0)).validate().at(1.0).decay == 1.0


def test_rows_are_multiplied_by_the_scales_and_otherwise_unchanged() -> None:
    law, even = StudentT(d=4, decay=1.0, offset=1.0), StudentT(d=4, offset=1.0)
    x, y = (one.sample(50, np.random.default_rng(1)).x - one.mean for one in (law, even))
    np.testing.assert_allclose(x, y * law.scales, rtol=1e-9, atol=1e-12)
    assert float(law.scales @ law.scales) == pytest.approx(4.0)
    assert dense(law.stream(50, np.random.default_rng(1))).tobytes() == (
        law.sample(50, np.random.default_rng(1)).x.tobytes()
    )
