"""Neighbours that an adversary would choose, one pair after the other, for any method.

Losses of a linear model have gradients c x, whose length leaves the doubles where neither factor
does: a method that clips gradients is tried on them as well as on the loss of its stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.records import groups
from dpsco_core.methods.steps import Descent
from dpsco_core.problems import Logistic, MeanEstimation, Quadratic
from tests.broken_records import RECORDS, TARGETS, adversarial
from tests.trust.cases import Case, case, rows_of, with_rows, with_target
from tests.trust.checks import compare

LOSSES = (Logistic.card.slug, Quadratic.card.slug)
# The clip levels go from the smallest to the largest that are allowed.
LEVELS = (1e-150, 6.9e-16, 1e15, 1e150)
# The levels for runs that themselves move on from the given level.
NARROWER = (1e-120, 6.9e-16, 1e15, 1e120)
DIMENSIONS = 3
# The length of this gradient is 10^325 times the smallest level, so the ratio of the two has no
# digits.
STEEP = (((1.234e23, 0.0, 0.0), -1e150), ((1.234e23, 0.0, 0.0), 1e150))
ORDINARY = (1.0, -2.0, 0.3)
# These features get a target of either sign.
FLIPPED = ((1.0, -2.0, 0.5), (1e9, 0.0, 0.0), (1e149, 1e149, 0.0))
MOST_PLACES = 64
TWO_STEPS = Descent(steps=2, step_size=0.1)


def wide(name: str) -> Case:
    """Return a case in three dimensions."""
    place = case(name)
    return replace(place, point=replace(place.point, d=DIMENSIONS))


def other_losses(name: str) -> tuple[str, ...]:
    """Return the problems of LOSSES that a method takes, other than that of its stage."""
    return tuple(problem for problem in every_other_loss(name) if problem in LOSSES)


def every_other_loss(name: str) -> tuple[str, ...]:
    """Return all problems that a method takes, other than that of its stage and means."""
    place = case(name)
    problems = place.method.card.problems
    return tuple(p for p in problems if p not in (place.point.problem, MeanEstimation.card.slug))


def with_loss(name: str, problem: str) -> Case:
    """Return a wide case with the losses of another problem."""
    place = wide(name)
    return replace(in_two_steps(place), point=replace(place.point, problem=problem))


def in_two_steps(place: Case) -> Case:
    """Return the case with two steps if the number of steps is a field of its method, so that no
    plan has to search for one.
    """
    if not place.method.stage.free_steps:
        return place
    return replace(place, method=replace(place.method, descent=TWO_STEPS))


def runs(place: Case) -> bool:
    """Whether the method of a case has a plan at its point."""
    try:
        place.plan()
    except NotApplicable:
        return False
    return True


def levels(name: str) -> tuple[float, ...]:
    """Return the clip levels at which a case is tried; none where it has no field for it."""
    method = case(name).method
    if method.stage.clip is None:
        return ()
    return NARROWER if method.card.private_radius else LEVELS


def at_level(place: Case, level: float) -> Case:
    """Return the case with another clip level."""
    assert place.method.stage.clip is not None
    field, _ = place.method.stage.clip
    return replace(place, method=replace(in_two_steps(place).method, **{field: level}))


def check_where_it_runs(places: Iterable[Case]) -> int:
    """Check the cases whose method has a plan there; return how many these are."""
    running = [place for place in places if runs(place)]
    for place in running:
        check_any_record(place)
    return len(running)


def check_any_record(place: Case) -> None:
    """Check that no record moves a statistic further than the ledger says, however broken some or
    all records are.

    The first record, or user, is replaced: each of a list by the next one; then an ordinary one
    among records that are all broken; then one target by another.
    """
    with without_the_walk():
        _replace_records(place)


@contextmanager
def without_the_walk() -> Iterator[None]:
    """Skip the search of iterative updating, which sees only what is released."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "walk_to_centre", lambda points, *_: points.mean(axis=0))
        yield


def _replace_records(place: Case) -> None:
    """Check the moves when the first record, or all items of the first user, are replaced by each
    of a list of extreme ones.
    """
    data, replaced = place.crowd(0), slice(0, place.point.m)
    records = (*RECORDS, *STEEP)
    for old, new in zip(records, (*records[1:], records[0]), strict=True):
        compare(place, with_records(data, replaced, *old), with_records(data, replaced, *new))
    for pattern, target in RECORDS[::3]:
        broken = with_records(data, slice(None), pattern, target)
        compare(place, broken, with_records(broken, replaced, ORDINARY, 1.0))
    if with_target(data, replaced, 0.5) is data:
        return
    for features in FLIPPED:
        for old, new in zip(TARGETS, (*TARGETS[1:], TARGETS[0]), strict=True):
            compare(
                place,
                with_records(data, replaced, features, old),
                with_records(data, replaced, features, new),
            )


def with_records(data: Any, block: slice, pattern: tuple[float, ...], target: float) -> Any:
    """Return the data with the records in `block` replaced by one pattern and one target."""
    rows = np.array(rows_of(data))
    rows[block] = adversarial(pattern, rows.shape[1])
    return with_target(with_rows(data, rows), block, target)


def check_every_place(place: Case) -> None:
    """Wherever the record is that a neighbour replaces, it is in one part of a partition.

    Of many records every so many are tried. It is as far out as the stage says: some methods leave
    out what is farther.
    """
    point, data, worst = place.point, place.crowd(0), place.method.stage.place
    distance = 1e9 if worst is None else worst(place.plan(), point.d)
    for i in np.unique(np.linspace(0, point.n - 1, MOST_PLACES).astype(int)):
        block = slice(i * point.m, (i + 1) * point.m)
        compare(
            place,
            with_records(data, block, (distance,), 1.0),
            with_records(data, block, (-distance,), 0.0),
        )
