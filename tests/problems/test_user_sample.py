"""Users with several items: their mean gradients, item by item and from the means alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import DenseRows
from dpsco_core.problems import OPTIMISATION_PROBLEMS
from dpsco_core.problems.point_losses import Distance, HalfSquaredDistance, NegativeProduct
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.users import ItemSample, MeanSample, average_users, sample_users
from dpsco_core.scenario import Scenario
from tests.problems.cases import ORDINARY, make


@pytest.mark.parametrize("problem", OPTIMISATION_PROBLEMS, ids=lambda p: p.card.slug)
@pytest.mark.parametrize(("users", "items", "d"), [(7, 5, 3), (3, 1, 2), (2, 40_000, 4)])
def test_a_users_gradient_is_the_mean_over_its_items(
    problem: Any, users: int, items: int, d: int
) -> None:
    example = make(problem, ORDINARY[0], d=d)
    records = example.sample(users * items, np.random.default_rng(0))
    sample = ItemSample(records=records, items=items)
    w = np.full(d, 0.3)
    gradients = sample.user_gradients(w)
    assert gradients.shape == (users, d)
    item_gradients = np.concatenate(list(records.gradients(w).blocks()))
    expected = item_gradients.reshape(users, items, d).mean(axis=1)
    assert np.allclose(gradients, expected, rtol=1e-10, atol=1e-12 * np.abs(item_gradients).max())
    part = sample.part(1, users)
    assert np.array_equal(part.user_gradients(w), gradients[1:])
    assert (part.users, part.items) == (users - 1, items)


@pytest.mark.parametrize("loss", [HalfSquaredDistance(), NegativeProduct()])
def test_the_means_alone_give_the_same_gradients(loss: Any) -> None:
    rng = np.random.default_rng(1)
    example = make(OPTIMISATION_PROBLEMS[0], ORDINARY[0], d=3)
    x = rng.standard_normal((6, 10, 3))
    means = MeanSample(
        means=DenseRows(x.mean(axis=1)), items=10, loss=loss, constraint=example.constraint
    )
    w = np.array([0.1, -0.2, 0.3])
    expected = loss.gradients(w, x.reshape(60, 3)).reshape(6, 10, 3).mean(axis=1)
    assert np.allclose(means.user_gradients(w), expected, rtol=1e-12)
    assert np.array_equal(means.part(2, 4).user_gradients(w), means.user_gradients(w)[2:4])


@pytest.mark.parametrize("problem", OPTIMISATION_PROBLEMS, ids=lambda p: p.card.slug)
def test_users_are_replaced_by_their_means_where_the_loss_depends_on_means_alone(
    problem: Any,
) -> None:
    made = make(problem, ORDINARY[0], d=3)
    records = made.sample(40, np.random.default_rng(0))
    sample = ItemSample(records=records, items=8)
    means, w = average_users(sample), np.full(3, 0.3)
    is_linear = isinstance(records, PointSample) and np.allclose(
        records.loss.gradients(w, records.points.x.reshape(5, 8, 3).mean(axis=1)),
        sample.user_gradients(w),
    )
    assert isinstance(means, MeanSample) == is_linear
    assert np.allclose(means.user_gradients(w), sample.user_gradients(w), rtol=1e-12)
    assert (means is sample) != is_linear
    one, shrunk = replace(sample, items=1), sample.bounded(0.5)
    assert (
        average_users(one) is one
        and average_users(shrunk) is shrunk
        and average_users(means) is means
    )


def test_a_broken_item_takes_its_own_user_out_and_nobody_else() -> None:
    made = make(OPTIMISATION_PROBLEMS[0], ORDINARY[0], d=2)
    records = made.sample(20, np.random.default_rng(2))
    before = average_users(ItemSample(records=records, items=4)).bounded(1.0).means.x
    for value in (np.nan, np.inf, 1e300):
        x = records.points.x.copy()
        x[9] = value
        broken = ItemSample(records=replace(records, points=DenseRows(x)), items=4)
        after = average_users(broken).bounded(1.0).means.x
        assert np.array_equal(after[2], np.zeros(2))
        assert np.array_equal(np.delete(after, 2, axis=0), np.delete(before, 2, axis=0))
        assert (np.linalg.norm(after, axis=1) <= 1 + 1e-12).all()


def test_another_user_changes_its_own_row_only() -> None:
    example = make(OPTIMISATION_PROBLEMS[3], ORDINARY[0], d=2)
    records = example.sample(20, np.random.default_rng(2))
    gradients_before = ItemSample(records=records, items=4).user_gradients(np.ones(2))
    x = records.features.x.copy()
    x[8:12] = np.array([np.nan, np.inf])
    changed = replace(records, features=DenseRows(x))
    gradients_after = ItemSample(records=changed, items=4).user_gradients(np.ones(2))
    assert np.array_equal(gradients_before[[0, 1, 3, 4]], gradients_after[[0, 1, 3, 4]])


def test_records_that_do_not_form_users_are_refused() -> None:
    example = make(OPTIMISATION_PROBLEMS[0], ORDINARY[0], d=2)
    records = example.sample(10, np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="m must be a divisor of the 10 records, got m=3"):
        ItemSample(records=records, items=3)
    with pytest.raises(InvalidInput, match="loss must be one whose gradient is linear"):
        MeanSample(
            means=DenseRows(np.zeros((2, 2))),
            items=3,
            loss=Distance(),
            constraint=example.constraint,
        )


@pytest.mark.parametrize("law", ["gaussian", "hypercube", "spike"])
def test_means_that_are_drawn_have_the_moments_of_means_of_items(law: str) -> None:
    """The mean and the covariance of a user's mean item are compared at m = 10^6 items, within six
    standard errors.
    """
    scenario = Scenario(problem="quadratic", distribution=law, methods=(), n=20_000, d=4)
    rng = np.random.default_rng(3)
    problem = scenario.instance.problem.draw(rng)
    m = 10**6
    sample = sample_users(problem, 20_000, m, rng)  # type: ignore[arg-type]
    assert isinstance(sample, MeanSample) and sample.items == m
    x = sample.means.x
    mean = problem.distribution.mean
    spread = np.sqrt(problem.distribution.moment(2) / m)
    assert np.abs(x.mean(axis=0) - mean).max() <= 6 * spread / np.sqrt(len(x))
    active = mean != 0 if law == "spike" else np.ones(4, dtype=bool)
    ratio = x[:, active].var(axis=0) / spread**2
    assert np.abs(ratio - 1).max() <= 6 * np.sqrt(3 / len(x))


def test_users_whose_items_fit_into_memory_are_drawn_and_others_are_refused() -> None:
    problem = make(OPTIMISATION_PROBLEMS[3], ORDINARY[0], d=2)
    rng = np.random.default_rng(0)
    assert isinstance(sample_users(problem, 10, 5, rng), ItemSample)
    with pytest.raises(InvalidInput, match="m must be smaller, for n m d items to fit"):
        sample_users(problem, 1000, 100_000, rng)


def test_bounding_the_means_leaves_honest_users_and_zeroes_broken_ones() -> None:
    example = make(OPTIMISATION_PROBLEMS[0], ORDINARY[0], d=2)
    x = np.array([[0.3, 0.4], [3.0, 4.0], [np.nan, 1.0], [1e300, 0.0]])
    sample = MeanSample(
        means=DenseRows(x), items=9, loss=HalfSquaredDistance(), constraint=example.constraint
    )
    means = sample.bounded(1.0).means.x
    assert np.array_equal(means[0], x[0])
    assert np.allclose(means[1], [0.6, 0.8]) and np.array_equal(means[2:], np.zeros((2, 2)))
