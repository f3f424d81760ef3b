"""Facts about laws that the certificates rest on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpsco_core.data import (
    DISTRIBUTIONS,
    AnyLabels,
    FarPoints,
    Hypercube,
    LogNormal,
    Pareto,
    SkewedPareto,
    Tracing,
)
from dpsco_core.data.base import Distribution
from dpsco_core.data.hard import HardInstance
from dpsco_core.problems.laws import bounded_central_moment, centring_factor
from tests.problems.cases import HARD, SIGMAS


def law_of(family: Any, offset: float = 0.0) -> Any:
    """Return a law of a family; a hard instance is drawn."""
    if issubclass(family, HardInstance):
        example = family(d=4, moment_order=3.0, spike_probability=0.2)
        return example.draw(np.random.default_rng(2))
    return family(d=4, moment_order=3.0, margin=8.0, offset=offset)


@pytest.mark.parametrize("p", [2.0, 2.3, 3.0, 4.0, 7.5, 20.0])
def test_the_centring_factor_is_the_least_over_two_point_laws(p: float) -> None:
    a, x = np.meshgrid(np.geomspace(1e-4, 0.5, 400), np.geomspace(1e-3, 1e3, 801))
    mean = a * x - (1 - a)
    central = a * np.abs(x - mean) ** p + (1 - a) * np.abs(-1 - mean) ** p
    largest = float((central / (a * x**p + (1 - a))).max())
    assert largest <= centring_factor(p) * (1 + 1e-12)
    assert largest >= 0.99 * centring_factor(p)


@pytest.mark.parametrize("p", [2.0, 3.0, 4.0, 9.0])
def test_the_bounded_moment_is_the_least_over_laws_on_the_interval(p: float) -> None:
    rng = np.random.default_rng(0)
    values = rng.uniform(-1, 1, size=(20_000, 3))
    weights = rng.dirichlet([0.3] * 3, size=20_000)
    mean = (weights * values).sum(axis=1, keepdims=True)
    random = (weights * np.abs(values - mean) ** p).sum(axis=1)
    assert random.max() <= bounded_central_moment(p) * (1 + 1e-12)
    a = np.linspace(0, 1, 10_001)
    extreme = a * (2 - 2 * a) ** p + (1 - a) * (2 * a) ** p
    assert extreme.max() == pytest.approx(bounded_central_moment(p), rel=1e-6)


@pytest.mark.parametrize("family", [law for law in DISTRIBUTIONS if law is not Tracing])
def test_second_and_fourth_moments_are_those_of_a_large_sample(family: Any) -> None:
    for offset in (0.0, 0.9):
        law = law_of(family, offset)
        x = law.sample(100_000, np.random.default_rng(4)).x
        matrix = x.T @ x / len(x)
        error = math.sqrt(float(np.var(np.einsum("ni,nj->nij", x, x), axis=0).sum()) / len(x))
        values = np.linalg.eigvalsh(matrix)
        assert abs(values[-1] - law.largest_second_moment) <= SIGMAS * error
        assert abs(values[0] - law.smallest_second_moment) <= SIGMAS * error
        assert abs(np.trace(matrix) - law.second_moment_trace) <= SIGMAS * error * 2
        assert np.linalg.norm(law.mean) == pytest.approx(law.mean_norm)
        assert np.linalg.norm(x, axis=1).max() <= law.record_norm * (1 + 1e-12)
    # The log-normal law has a smaller sigma here, since at 1 its eighth moment is e^32.
    law = LogNormal(d=4, moment_order=30.0) if family is LogNormal else law_of(family)
    x = law.sample(100_000, np.random.default_rng(4)).x
    v = np.ones(4) if family is FarPoints else np.array([1.0, 2.0, -1.0, 0.5])
    v = law.spike if issubclass(family, (*HARD, AnyLabels)) else v
    terms = np.square(x @ (v / np.linalg.norm(v))) * np.square(x).sum(axis=1)
    error = terms.std() / math.sqrt(len(terms))
    assert abs(terms.mean() - law.fourth_moment_trace) <= SIGMAS * error


@pytest.mark.parametrize("family", [law for law in DISTRIBUTIONS if law is not Tracing])
@pytest.mark.parametrize("k", [1.0, 2.0, 2.6, 3.0])
def test_directional_bounds_hold_in_random_directions(family: Any, k: float) -> None:
    law = law_of(family, 0.9)
    x = law.sample(60_000, np.random.default_rng(6)).x
    rng = np.random.default_rng(7)
    directions = [*rng.standard_normal((30, 4)), np.ones(4), *np.eye(4)]
    best = {"central": 0.0, "raw": 0.0}
    for u in directions:
        u = u / np.linalg.norm(u)
        for name, shift in (("central", law.mean), ("raw", 0.0)):
            powers = np.abs((x - shift) @ u) ** k
            low = powers.mean() - SIGMAS * powers.std() / math.sqrt(len(powers))
            best[name] = max(best[name], max(low, 0.0) ** (1 / k))
    assert best["central"] <= law.central_direction(k)
    assert best["raw"] <= law.raw_direction(k)
    # The certificates give away less than half, so they are not vacuous.
    assert best["central"] >= 0.5 * law.central_direction(k)
    if family in HARD:
        column = np.abs(x[:, np.argmax(np.abs(law.mean))]) ** k
        error = SIGMAS * column.std() / math.sqrt(len(column))
        assert abs(column.mean() - law.raw_coordinate(k)) <= error


def test_central_direction_uses_the_laws_own_bound_at_its_order() -> None:
    for family in (Pareto, SkewedPareto, LogNormal, Hypercube):
        law = law_of(family)
        assert law.central_direction(3.0) == pytest.approx(law.directional_moment)


class RandomSigns(Distribution):
    """Fair signs with mean 0: a law that says nothing of its directions."""

    d, moment_order, tail_index, directional_moment = 50, 4.0, math.inf, 1.0
    mean, variance_trace, noise_law = np.zeros(50), 50.0, None

    def moment(self, k: float) -> float:
        """Return the k-th absolute moment, which is 1."""
        return 1.0

    def draw(self, rng: np.random.Generator) -> RandomSigns:
        """Return the law itself."""
        return self

    def fill(self, out: Any, rng: np.random.Generator) -> None:
        """Fill an array with random signs."""
        out[:] = rng.choice((-1.0, 1.0), size=out.shape)


def test_the_direction_of_a_law_of_ones_own_is_bounded_for_every_centred_law() -> None:
    exact = (3 - 2 / 50) ** 0.25  # Along the diagonal, E <u, X>^4 is 3 - 2/d.
    assert exact <= RandomSigns().central_direction(4.0) < 2 * exact
