"""The settings of audits: a small data set for each method, and its worst neighbours."""

from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import method_class
from dpsco_core.data import DenseRows
from dpsco_core.data.users import UserRows
from dpsco_core.privacy.budget import gaussian_rho
from dpsco_core.problems import MeanEstimation, Sample
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.users import ItemSample
from dpsco_core.scenario import Scenario

FAR_COORDINATE = 1e6  # the coordinate of the worst record, beyond every clip
# Both pairs of neighbours share their first data set.
FAR_SIDES = "at +{place} in every coordinate, against -{place} and against 0; all others are 0"
ITEMS = 4  # the number of items per user in an audit at user level

Data = DenseRows | UserRows | Sample | ItemSample


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Two data sets that differ in one record, or in one user."""

    data: Data
    neighbour_data: Data
    difference: str  # the difference of the two data sets, in words
    place: str  # the value of the differing record in `data`
    neighbour_place: str  # the value of the differing record in `neighbour_data`


def stage(method: str) -> Scenario:
    """Return a small scenario at which a private method can be audited.

    It has one dimension where the geometry allows it, few records, and the budget (1, 0.05)-DP.
    Delta is so large because an event of probability 1e-6 never shows in 20,000 runs, and the noise
    of a Gaussian mechanism exceeds what epsilon alone would need only in such events.
    """
    family = method_class(method)
    card, stage = family.card, family.stage
    point = Scenario(
        methods=(method,),
        n=stage.records,
        d=1,
        epsilon=1.0,
        delta=0.0 if card.privacy == "pure" else 0.05,
        distribution="gaussian",
    )
    if MeanEstimation.card.slug in card.problems:
        return replace(point, m=ITEMS) if card.level == "user" else point
    point = replace(
        point,
        problem=stage.problem if stage.problem in card.problems else card.problems[0],
        offset=0.5,
        diameter=1000.0,
        m=ITEMS if card.level == "user" else 1,
    )
    if card.geometry == "lq":
        return replace(point, d=2, geometry="lq", q=stage.exponent)
    return point


def at_printed_rho(point: Scenario, delta: float) -> tuple[Scenario, float]:
    """Return a point with the rho of its Gaussian releases at `delta` as its budget, and delta.

    Paper calibrations are stated in zCDP, so a printed constant that is too small shows there.
    """
    assert point.epsilon is not None
    rho = gaussian_rho(point.epsilon, delta)
    return replace(point, epsilon=None, delta=None, rho=rho), delta


def refuse_unseen(method: str) -> None:
    """Raise `NotApplicable` for methods whose worst neighbours show too little in an audit."""
    stage = method_class(method).stage
    if stage.unseen:
        raise NotApplicable(stage.unseen, method=stage.instead)


def neighbours(point: Scenario, plan: object = None) -> Neighbours:
    """Return the worst neighbours at `point`: one record far out, on opposite sides.

    It is the first of `pairs`, which documents the errors.
    """
    return pairs(point, plan)[0]


def pairs(point: Scenario, plan: object = None) -> tuple[Neighbours, Neighbours]:
    """Return two pairs of neighbours: a far record against the opposite side and against 0.

    Both pairs share the first data set. A clipped record moves a mean furthest from one side to the
    other; noise that is chosen from the data differs most between a far record and none. If the
    method's stage says where its `plan` has the worst record, the record lies there.

    All other records are 0. The record has equal coordinates, which move a clipped vector as far as
    any other direction, and clipped coordinates further. In a linear model this applies to the
    features, and the targets are as large as allowed. All items of a user are equal.

    Raises `NotApplicable` if records are neither points nor features with a target.
    """
    total, far_records = point.n * point.m, np.zeros((point.n * point.m, point.d))
    family = method_class(point.methods[0])
    place_of_worst = family.stage.place
    far_records[: point.m] = place = (
        FAR_COORDINATE if place_of_worst is None or plan is None else place_of_worst(plan, point.d)
    )
    place_text = f"{place:,.0f}" if place == FAR_COORDINATE else f"{place:.4g}"
    difference, (first_set, *second_sets) = data_sets(
        point, total, (far_records, -far_records, np.zeros_like(far_records))
    )
    opposite, origin = (
        Neighbours(
            data=first_set,
            neighbour_data=second_set,
            difference=difference,
            place=place_text,
            neighbour_place=second_place,
        )
        for second_set, second_place in zip(second_sets, (f"-{place_text}", "0"), strict=True)
    )
    return opposite, origin


def data_sets(
    point: Scenario, total: int, places: tuple[np.ndarray, ...]
) -> tuple[str, tuple[Data, ...]]:
    """Return the difference of the data sets in words, and one data set for each of `places`.

    `total` is the number of records; each of `places` has them, shape (total, d). Raises
    `NotApplicable` if records are neither points nor features with a target.
    """
    problem = point.instance.problem
    if isinstance(problem, MeanEstimation):
        rows = tuple(DenseRows(x) for x in places)
        if method_class(point.methods[0]).card.level != "user":
            return "one record", rows
        return _user(point), tuple(UserRows(records=x, items=point.m) for x in rows)
    sample = problem.sample(total, np.random.default_rng(0))
    difference, data_sets = "one record", tuple[Sample, ...]()
    if isinstance(sample, PointSample):
        data_sets = tuple(replace(sample, points=DenseRows(x)) for x in places)
    elif isinstance(sample, LinearSample):
        # At targets so far from 0 the slopes of the loss are largest.
        targets = sample.link.admissible(np.full(total, FAR_COORDINATE))
        data_sets = tuple(replace(sample, features=DenseRows(x), targets=targets) for x in places)
        difference = f"one record of target {targets[0]:g}, with its features"
    else:
        raise NotApplicable(
            "The worst neighbours of this problem's records are not known here.",
            problem="quadratic",
        )
    if method_class(point.methods[0]).card.level != "user":
        return difference, data_sets
    return _user(point), tuple(ItemSample(records=x, items=point.m) for x in data_sets)


def _user(point: Scenario) -> str:
    """Return the words for what the neighbour replaces at a point."""
    return f"all {point.m} items of one user" if point.m > 1 else "the item of one user"
