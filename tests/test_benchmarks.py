"""The benchmarks time what there is: a method that is new is in their tables too."""

from __future__ import annotations

import pytest

from benchmarks import growth, logistic
from benchmarks.cost import timed
from dpsco_core.catalogue import METHOD_SLUGS, make_method
from dpsco_core.runs.cost import cost


@pytest.mark.parametrize("slug", METHOD_SLUGS)
def test_every_method_has_a_scenario_on_which_its_cost_is_compared_with_the_clock(
    slug: str,
) -> None:
    scenario = timed(slug, 2000, 20).validate()
    assert scenario.methods == (slug,)
    assert cost(scenario).seconds > 0


@pytest.mark.parametrize("slug", [*logistic.METHODS, *growth.OPTIMISERS])
def test_the_other_tables_hold_optimisers_of_records(slug: str) -> None:
    assert make_method(slug, "tight", "practical").card.slug == slug
