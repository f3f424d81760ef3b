"""The benchmarks time what there is: a method that is new is in their tables too."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import growth, logistic, means
from benchmarks.cost import coefficients, timed_scenario
from dpsco_core.catalogue import METHOD_SLUGS, make_method
from dpsco_core.runs.cost import cost
from dpsco_core.scenario import Scenario
from tests.folded import each


@each("slug", METHOD_SLUGS)
def test_every_method_has_a_scenario_on_which_its_cost_is_compared_with_the_clock(
    slug: str,
) -> None:
    scenario = timed_scenario(slug, 2000, 20).validate()
    assert scenario.methods == (slug,)
    assert cost(scenario).seconds > 0


@each("slug", METHOD_SLUGS)
def test_the_cost_of_every_method_can_be_fitted(slug: str) -> None:
    """A method gets the kind of records that it reads: rows, a sample, or users."""
    fitted = coefficients(slug, sizes=((1000, 2),))
    assert np.isfinite(fitted).all() and fitted.sum() > 0


@pytest.mark.parametrize("slug", [*growth.MEANS, *growth.OPTIMISERS])
def test_the_curves_of_growth_time_a_release(slug: str) -> None:
    work = growth.make_release(slug, 1000, 2)
    assert work is not None
    work()


def test_the_table_of_means_times_every_estimator_of_rows() -> None:
    scenario, rng = Scenario(n=1000, d=2), np.random.default_rng(0)
    rows = scenario.instance.problem.sample(scenario.n, rng)
    works = means.make_releases(scenario, rows, rng)
    assert works.keys() >= {"mean.sample", "mean.clipped"}
    for work in works.values():
        work()


@pytest.mark.parametrize("slug", [*logistic.METHODS, *growth.OPTIMISERS])
def test_the_other_tables_hold_optimisers_of_records(slug: str) -> None:
    assert make_method(slug, "tight", "practical").card.slug == slug
