"""Broken and far records, one by one, with other losses too, and at any clip level."""

from __future__ import annotations

import pytest

from dpsco_core.problems import Quadratic
from tests.folded import one_in
from tests.trust import hostile
from tests.trust.cases import PRIVATE, VARIANTS, case

SECONDS = [pytest.mark.slow]
# These methods take hundreds of steps, or need thousands of users.
LONG = ("lp.regularized-mirror-descent", "user.accelerated-strong", "user.phased-sgd")
STAGES = {name: case(name).method.stage for name in PRIVATE}
SPLIT = [n for n in PRIVATE if STAGES[n].splits and case(n).method.card.level == "item"]
SPLIT_USERS = [n for n in PRIVATE if STAGES[n].splits and n not in SPLIT]
OPTIMISERS = [
    # A method is quick where the number of steps is a field, while other plans, users and solvers
    # take seconds.
    pytest.param(name, marks=[] if STAGES[name].free_steps else SECONDS)
    for name in PRIVATE
    if hostile.other_losses(name)
]


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=SECONDS if n in LONG else []) for n in PRIVATE],
)
def test_no_record_moves_a_statistic_further_than_the_ledger_says(name: str) -> None:
    hostile.check_any_record(hostile.wide(name))


@pytest.mark.parametrize("name", OPTIMISERS)
def test_no_record_does_with_the_losses_of_other_problems(name: str) -> None:
    places = [hostile.with_loss(name, loss) for loss in hostile.other_losses(name)]
    # The other loss has no curvature.
    needs_curvature = case(name).point.problem == Quadratic.card.slug
    assert hostile.check_where_it_runs(places) > 0 or needs_curvature


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PRIVATE if hostile.every_other_loss(name)])
def test_no_record_does_with_any_loss(name: str) -> None:
    losses = set(hostile.every_other_loss(name)) - set(hostile.other_losses(name))
    hostile.check_where_it_runs(hostile.with_loss(name, loss) for loss in sorted(losses))


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_no_record_does_in_the_second_ways_to_be_private(name: str) -> None:
    hostile.check_any_record(hostile.wide(name))


@pytest.mark.parametrize("name", one_in(3, [name for name in PRIVATE if STAGES[name].clip]))
def test_no_record_does_at_any_clip_level(name: str) -> None:
    """The length of a gradient c x overflows or underflows where neither factor does."""
    losses = hostile.other_losses(name)
    places = (hostile.wide(name), *(hostile.with_loss(name, loss) for loss in losses))
    for level in hostile.levels(name):
        at_level = [hostile.at_level(place, level) for place in places]
        assert hostile.check_where_it_runs(at_level) > 0


@pytest.mark.parametrize("name", one_in(6, SPLIT))
def test_no_record_of_any_place_is_in_two_parts(name: str) -> None:
    hostile.check_every_place(case(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", SPLIT_USERS)
def test_no_user_of_any_place_is_in_two_parts(name: str) -> None:
    hostile.check_every_place(case(name))
