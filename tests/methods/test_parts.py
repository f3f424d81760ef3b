"""Parts of which descents are built: statistics, access to records, and steps."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsco_core.base.errors import NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.geometry.ball import Ball
from dpsco_core.geometry.regular_space import RegularSpace
from dpsco_core.methods.access import (
    ALL_RECORDS,
    Access,
    Batches,
    BatchesInOrder,
    MeanOfAll,
    OwnBlocks,
    PhasesOfBatches,
)
from dpsco_core.methods.statistics import (
    ClippedMean,
    MedianOfClippedMeans,
    NormalisedMean,
    SmoothlyTruncatedMean,
    Statistic,
)
from dpsco_core.methods.steps import Descent, MirrorSteps, Moves, PrefixSums
from dpsco_core.methods.tune import choose_cheapest, choose_parameter
from dpsco_core.methods.user.clipped_means import ClippedUserMean
from dpsco_core.privacy import ZCDP, Ledger
from tests.methods.euclidean.framework.helpers import quadratic_problem

Array = NDArray[np.float64]
N, D = 12, 3
BALL = Ball(d=D, radius=2.0)
WORST = (np.zeros(D), np.full(D, 1e9), np.full(D, -1e9), np.full(D, math.nan), np.full(D, 1e300))
STATISTICS: tuple[Statistic, ...] = (
    ClippedMean(radius=0.7),
    MedianOfClippedMeans(threshold=0.3, blocks=3),
    MedianOfClippedMeans(threshold=0.3, blocks=4),
    MedianOfClippedMeans(threshold=0.3, blocks=4, printed=True),
    SmoothlyTruncatedMean(tau=0.5, smoothing_variance=1.0),
    NormalisedMean(scale=0.7, stability=0.01),
    ClippedUserMean(lipschitz=0.7),
)
# One record cannot attain the sensitivity of these two medians.
LOOSE = (STATISTICS[2], STATISTICS[3])


def value(statistic: Statistic, x: Array) -> Array:
    """Return a statistic of records; a statistic of users takes their gradients as they are."""
    return statistic.value(x if isinstance(statistic, ClippedUserMean) else DenseRows(x))


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_a_record_moves_a_statistic_by_at_most_its_stated_sensitivity(statistic: Statistic) -> None:
    """This holds for any record at every place; some record nearly attains the sensitivity."""
    rng, largest = np.random.default_rng(0), 0.0
    claim = statistic.sensitivity(N, D)
    for place in range(N):
        x = rng.standard_normal((N, D))
        values = []
        for worst in WORST:
            x[place] = worst
            values.append(value(statistic, x))
        gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(values, 2)]
        largest = max(largest, float(max(gaps)))
    assert largest <= claim * (1 + 1e-9)
    assert statistic in LOOSE or largest > 0.5 * claim


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_a_step_is_one_release_of_the_statistic_at_its_share(statistic: Statistic) -> None:
    ledger, x = Ledger(ZCDP(rho=0.3)), np.random.default_rng(0).standard_normal((N, D))
    measuring, noise = statistic.measuring(N, D, 0.1, 3), statistic.noise(N, D, 0.1)
    rows = x if isinstance(statistic, ClippedUserMean) else DenseRows(x)
    for t in range(3):
        released = measuring.take(rows, ledger, np.random.default_rng(t), t)
        expected = noise.draw(value(statistic, x), np.random.default_rng(t))
        np.testing.assert_array_equal(released, expected)
    assert [entry.rho for entry in ledger.entries] == [0.1] * 3
    assert ledger.spent() == ZCDP(rho=0.3)


@dataclass(frozen=True)
class TwoSteps:
    """A phase of two steps on three records each."""

    start: int
    batch: int = 3
    steps: int = 2


# Each entry lists the records that each step uses.
ACCESS: tuple[tuple[Access, int, list[list[int]]], ...] = (
    (ALL_RECORDS, 2, [[*range(N)]] * 2),
    (MeanOfAll(), 2, [[*range(N)]] * 2),
    (OwnBlocks(), 5, [[2 * t, 2 * t + 1] for t in range(5)]),
    (Batches(size=5), 3, [[*range(5)], [*range(5, 10)], [10, 11]]),
    (BatchesInOrder(size=5, secret=False), 2, [[*range(5)], [*range(5, 10)]]),
    (
        PhasesOfBatches(phases=(TwoSteps(0), TwoSteps(6))),
        4,
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]],
    ),
)


def mean_seen(rows: Any) -> float:
    """Return the mean of the first entries of a step's input."""
    if isinstance(rows, np.ndarray):  # The input is a mean gradient.
        return float(rows[0])
    places = getattr(rows, "places", None)
    all_rows = getattr(rows, "rows", rows)
    return float(all_rows.take(np.arange(all_rows.n) if places is None else places)[:, 0].mean())


@pytest.mark.parametrize(("access", "steps", "expected"), ACCESS, ids=repr)
def test_a_step_uses_the_records_given_by_its_access(
    access: Access, steps: int, expected: list[list[int]]
) -> None:
    sizes = 3.0 ** np.arange(N)  # The mean of some of these sizes identifies them.
    x = np.zeros((N, D))
    x[:, 0] = -sizes
    problem = quadratic_problem(D)
    sample = replace(problem.sample(N, np.random.default_rng(0)), points=DenseRows(x))
    setting = problem.setting(N, ZCDP(rho=1.0))
    step_rows = access.open(
        access.checked(sample, setting, None),
        Ledger(setting.budget),
        steps,
        np.random.default_rng(0),
    )
    means = [mean_seen(step_rows(np.zeros(D), t)[0]) for t in range(steps)]
    assert means == pytest.approx([float(sizes[places].mean()) for places in expected])
    assert access.gradients(setting, steps) == sum(map(len, expected))


def test_a_secret_order_is_new_every_time_and_takes_every_record_once() -> None:
    sample = quadratic_problem(D).sample(N, np.random.default_rng(0))
    access, rng, orders = BatchesInOrder(size=4, secret=True), np.random.default_rng(1), []
    for _ in range(2):
        step_rows = access.open(sample, Ledger(ZCDP(rho=1.0)), 3, rng)
        orders.append([i for t in range(3) for i in step_rows(np.zeros(D), t)[0].places.tolist()])
    assert sorted(orders[0]) == sorted(orders[1]) == [*range(N)]
    assert orders[0] != orders[1]


def test_disjoint_blocks_have_separate_ledgers() -> None:
    sample = quadratic_problem(D).sample(N, np.random.default_rng(0))
    ledger = Ledger(ZCDP(rho=1.0))
    step_rows = OwnBlocks().open(sample, ledger, 3, np.random.default_rng(0))
    mean, rng = ClippedMean(radius=1.0).measuring(4, D, 1.0, 3), np.random.default_rng(0)
    for t in range(3):
        mean.take(*step_rows(np.zeros(D), t), rng, t)
    assert [entry.part for entry in ledger.entries] == [(1, 0), (1, 1), (1, 2)]
    assert ledger.spent() == ZCDP(rho=1.0)


MOVES: tuple[Moves, ...] = (
    Descent(steps=400, step_size=0.1),
    PrefixSums(descents=(Descent(steps=200, step_size=0.1), Descent(steps=200, step_size=0.05))),
    MirrorSteps(space=RegularSpace(d=D, exponent=2.0), steps=4000, weight=10.0),
)


@pytest.mark.parametrize("moves", MOVES, ids=repr)
def test_steps_along_exact_gradients_arrive_and_keep_their_path(moves: Moves) -> None:
    target, numbers = np.array([0.5, -0.3, 0.2]), list[int]()

    def oracle(w: Array, t: int) -> Array:
        """Record the number of a step, and return the gradient of the squared distance."""
        numbers.append(t)
        return w - target

    descended = moves.run(BALL, oracle)
    assert numbers == [*range(moves.steps)], "every step is asked for once, in order"
    assert np.linalg.norm(descended.value - target) < 5e-3
    assert descended.path.steps[-1] == moves.steps
    assert moves.diagnostics["steps"] == moves.steps


def test_a_given_parameter_is_kept_and_a_missing_one_chosen_by_the_tuning() -> None:
    assert choose_parameter(3, "theory", theory=lambda: 1, practical=lambda: 2) == 3
    assert choose_parameter(None, "theory", theory=lambda: 1, practical=lambda: 2) == 1
    assert choose_parameter(None, "practical", theory=lambda: 1, practical=lambda: 2) == 2


def test_the_cheapest_sufficient_candidate_is_chosen() -> None:
    risks = {1: 5.0, 2: 1.04, 3: 1.0, 4: math.nan}

    def take(share: float) -> int:
        """Return the cheapest candidate whose risk is within this factor of the least."""
        return choose_cheapest(
            [*risks],
            risks.__getitem__,
            float,
            risk_limit=lambda least_risk: share * least_risk,
            what="steps",
        )

    assert [take(share) for share in (1.0, 1.05, 6.0)] == [3, 2, 1]
    with pytest.raises(NotApplicable):
        choose_cheapest([4], risks.__getitem__, float, risk_limit=float, what="steps")
