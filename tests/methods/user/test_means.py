"""Means of people with several records: limits, sensitivity, ledger and accuracy."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core import frame, study, summary
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.catalogue import make_method
from dpsco_core.data.rows import DenseRows
from dpsco_core.data.users import UserRows
from dpsco_core.methods.mean import AdaptiveClipping, SimpleClipping
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.methods.user.means import UserMeanAdaptive, UserMeanClipped, UserMeanGroup
from dpsco_core.methods.user.means.base import of_user_means, shrinkage
from dpsco_core.privacy import ZCDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.scenario import Scenario

ALL = ("user.mean-group", "user.mean-clipped", "user.mean-adaptive")
POINT = Scenario(n=200, m=8, d=3, methods=ALL)
BROKEN = (math.nan, math.inf, -math.inf, 1e300, -1e300)


def users(point: Scenario, seed: int = 0) -> UserRows:
    """Return the users of a point with their items."""
    rows = point.instance.problem.sample(point.n * point.m, np.random.default_rng(seed))
    return UserRows(records=rows, items=point.m)


def run_method(method: Any, data: Any, point: Scenario, seed: int = 1) -> Any:
    """Run a method on the data of a point; return its release."""
    plan, ledger = method.plan(point.setting), Ledger(point.budget)
    return method.release(data, plan, ledger, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("user_method", "plain"),
    [
        (UserMeanGroup(), SimpleClipping()),
        (UserMeanClipped(), SimpleClipping()),
        (UserMeanAdaptive(), AdaptiveClipping()),
    ],
)
def test_a_user_with_one_record_is_a_record(user_method: Any, plain: Any) -> None:
    point = replace(POINT, m=1, diameter=2.0)
    data = users(point)
    release = run_method(user_method, data, point).value
    assert np.array_equal(release, run_method(plain, data.records, point).value)


def test_the_mean_of_a_user_is_of_that_user_alone() -> None:
    data, rng = users(POINT), np.random.default_rng(3)
    means = data.means().x
    x = data.records.x.copy()
    x[8:16] = rng.choice(BROKEN, (8, 3))
    changed_means = UserRows(records=DenseRows(x), items=8).means().x
    assert np.array_equal(np.delete(means, 1, 0), np.delete(changed_means, 1, 0))
    assert np.allclose(means[5], data.records.x[40:48].mean(axis=0))


@pytest.mark.parametrize("slug", ALL)
@pytest.mark.parametrize("diameter", [1.0, 4.0, 1000.0])
@pytest.mark.parametrize(("n", "d"), [(30, 3), (300, 3), (300, 20), (5000, 3)])
def test_the_ledger_spends_the_budget(slug: str, diameter: float, n: int, d: int) -> None:
    for budget in ({"epsilon": None, "delta": None, "rho": 0.1}, {"epsilon": 1.0, "delta": 1e-6}):
        point = replace(POINT, n=n, d=d, diameter=diameter, offset=min(1.0, diameter / 2), **budget)
        release = run_method(make_method(slug, "tight", "practical"), users(point), point)
        if isinstance(point.budget, ZCDP):
            assert release.ledger.spent().rho == pytest.approx(0.1, rel=1e-12)
        else:
            assert release.ledger.spent().epsilon == pytest.approx(1.0, rel=1e-3)
            assert release.ledger.spent().epsilon <= 1.0


def test_the_centre_is_charged_and_released_first() -> None:
    point = replace(POINT, n=1000, m=256, d=10, p=2.0, margin=0.2, offset=1.0)
    method = UserMeanAdaptive()
    centre = method.plan(point.setting).statistic.centre
    assert centre is not None
    labels = [e.label for e in run_method(method, users(point), point).ledger.entries]
    assert labels == ["centre"] * len(centre.radii) + ["radius", "mean of clipped records"]
    assert method.plan(replace(point, m=1).setting).statistic.centre is None
    assert replace(method, tuning="theory").plan(point.setting).statistic.centre is None


@pytest.mark.parametrize(("p", "m"), [(2.0, 9), (3.0, 4), (4.0, 30), (6.0, 2)])
def test_the_moment_of_a_mean_is_at_most_what_the_radius_is_planned_for(p: float, m: int) -> None:
    """Rare signs are the worst law that is known, and the mean of m of them has an exact law."""
    for chance in (1.0, 0.5, 0.1, 0.01):
        # A symmetric record is 0, or plus or minus a value for which the p-th moment is 1.
        value = chance ** (-1 / p)
        step = np.array([chance / 2, 1 - chance, chance / 2])
        law = np.array([1.0])
        for _ in range(m):
            law = np.convolve(law, step)
        mean = value * np.arange(-m, m + 1) / m
        assert (law @ np.abs(mean) ** p) ** (1 / p) <= shrinkage(p, m) * (1 + 1e-12)
    setting = replace(POINT, p=p, m=m).setting
    constants = of_user_means(setting).constants
    assert constants.coordinate_moment == pytest.approx(shrinkage(p, m) ** p)
    assert constants.variance_trace == pytest.approx(setting.constants.variance_trace / m)


def test_a_sample_of_another_size_is_refused() -> None:
    for change in ({"n": 100}, {"m": 4, "n": 400}, {"d": 2}):
        with pytest.raises(InvalidInput):
            run_method(UserMeanClipped(), users(replace(POINT, **change)), POINT)
    with pytest.raises(InvalidInput):
        run_method(UserMeanClipped(), users(POINT).records, POINT)
    with pytest.raises(InvalidInput):
        UserRows(records=users(POINT).records, items=7)


def test_a_centre_and_users_means_beat_both_baselines() -> None:
    """The errors are those of theory/user-level-means.md, 5: in its order, and within half of its
    figures.
    """
    point = Scenario(
        n=1000, m=256, d=10, p=2.0, margin=0.2, offset=1.0, trials=6, methods=("mean.sample", *ALL)
    )
    table = summary(frame(study(point))).set_index("method")
    errors = [float(table.loc[slug, "mean_error"]) for slug in point.methods]
    pooled, group, clipped, adaptive = errors
    assert pooled < adaptive < clipped / 3 < group / 9
    assert 0.0055 < adaptive < 0.0165


def test_a_refusal_names_a_method_that_may_run_there() -> None:
    pure = replace(POINT, delta=0.0)
    with pytest.raises(NotApplicable, match="choose user.mean-adaptive"):
        UserMeanGroup().plan(pure.setting)
    release = run_method(UserMeanAdaptive(), users(pure), pure)
    assert release.ledger.spent().epsilon == pytest.approx(1.0)


@pytest.mark.parametrize("tuning", ["practical", "theory"])
def test_under_a_pure_budget_clipped_means_get_noise_that_hides_a_user(tuning: Any) -> None:
    """The density falls by epsilon over the sensitivity, and 4000 lengths have the mean of the
    gamma law.
    """
    pure = replace(POINT, delta=0.0, epsilon=0.7)
    method = UserMeanClipped(tuning=tuning)
    plan = method.plan(pure.setting)
    assert plan.noise.l2_sensitivity == 2 * plan.statistic.radius / pure.n
    release = run_method(method, users(pure), pure)
    (entry,) = release.ledger.entries
    assert (entry.mechanism, entry.epsilon) == ("spherical laplace", 0.7)
    assert entry.rho == pytest.approx(0.7 * math.tanh(0.35))
    assert entry.sensitivity == plan.noise.l2_sensitivity
    wide = replace(pure, diameter=1e6)  # The ball is so wide that no answer is projected on it.
    data = users(pure)
    plan = replace(method, radius=plan.statistic.radius).plan(wide.setting)
    rng, exact = np.random.default_rng(5), clipped_mean(data.means(), plan.statistic.radius)
    values = [
        method.release(data, plan, Ledger(wide.budget), rng).value - exact for _ in range(4000)
    ]
    lengths = np.linalg.norm(values, axis=1)
    assert lengths.mean() == pytest.approx(pure.d * plan.noise.l2_sensitivity / 0.7, rel=0.05)
    assert np.mean(np.square(values)) == pytest.approx(plan.diagnostics["noise_std"] ** 2, rel=0.1)
