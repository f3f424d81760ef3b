"""Where audits take place: small data sets for each method, and their worst neighbours."""

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

FAR = 1e6  # how far out the record is: beyond every clip of a stage
# The neighbours of two pairs that share the first.
FAR_SIDES = "at +{place} in every coordinate, against -{place} and against 0; all others are 0"
ITEMS = 4  # items of a user

Data = DenseRows | UserRows | Sample | ItemSample


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Two data sets that differ in one record, or in one user."""

    one: Data
    two: Data
    who: str  # what they differ in
    place: str  # where it is in the first
    against: str  # where it is in the second


def stage(method: str) -> Scenario:
    """Return a small scenario at which a private method is audited, if it can be.

    One dimension where the geometry allows it, few records, (1, 0.05)-DP. Delta is that large
    because an event of probability 1e-6 is never seen in 20,000 runs: the noise of a Gaussian
    mechanism differs from what epsilon alone would need in such events only.
    """
    family = method_class(method)
    card, own = family.card, family.stage
    point = Scenario(
        methods=(method,),
        n=own.records,
        d=1,
        epsilon=1.0,
        delta=0.0 if card.privacy == "pure" else 0.05,
        distribution="gaussian",
    )
    if MeanEstimation.card.slug in card.problems:
        return replace(point, m=ITEMS) if card.level == "user" else point
    point = replace(
        point,
        problem=own.problem if own.problem in card.problems else card.problems[0],
        offset=0.5,
        diameter=1000.0,
        m=ITEMS if card.level == "user" else 1,
    )
    if card.geometry == "lq":
        return replace(point, d=2, geometry="lq", q=own.exponent)
    return point


def at_printed_rho(point: Scenario, delta: float) -> tuple[Scenario, float]:
    """Return a point whose budget is the rho of its epsilon at `delta`, and that delta.

    There a constant that is printed too small shows: paper calibrations are stated in zCDP.
    """
    assert point.epsilon is not None
    rho = gaussian_rho(point.epsilon, delta)
    return replace(point, epsilon=None, delta=None, rho=rho), delta


def refuse_unseen(method: str) -> None:
    """Raise `NotApplicable` for the methods whose worst neighbours give away too little to see."""
    own = method_class(method).stage
    if own.unseen:
        raise NotApplicable(own.unseen, method=own.instead)


def neighbours(point: Scenario, plan: object = None) -> Neighbours:
    """Return the worst neighbours at `point`: one record far out, one way and the other.

    The first of `pairs`, and raises what that does.
    """
    return pairs(point, plan)[0]


def pairs(point: Scenario, plan: object = None) -> tuple[Neighbours, Neighbours]:
    """Return two pairs of neighbours: one record far out, against the other way and against 0.

    Both pairs have the same first data set. A clipped record moves a mean furthest from one side to
    the other; noise that is chosen from the data differs most between a far record and none.

    A method whose stage says where its `plan` has the worst record sees it there.

    All other records are 0, and the record is the same in every coordinate, which moves a clipped
    vector as far as any other direction and clipped coordinates further. Of a linear model the
    features are so, and the targets as large as they may be. A user's items are all alike.

    Raises `NotApplicable` where records are neither points nor features with a target.
    """
    total, far = point.n * point.m, np.zeros((point.n * point.m, point.d))
    family = method_class(point.methods[0])
    own = family.stage.place
    far[: point.m] = place = FAR if own is None or plan is None else own(plan, point.d)
    shown = f"{place:,.0f}" if place == FAR else f"{place:.4g}"
    who, (one, *others) = _data_sets(point, total, (far, -far, np.zeros_like(far)))
    opposite, origin = (
        Neighbours(one=one, two=two, who=who, place=shown, against=against)
        for two, against in zip(others, (f"-{shown}", "0"), strict=True)
    )
    return opposite, origin


def _data_sets(
    point: Scenario, total: int, places: tuple[np.ndarray, ...]
) -> tuple[str, tuple[Data, ...]]:
    """Return what the data sets differ in, and one with the records at each of `places`."""
    problem = point.instance.problem
    if isinstance(problem, MeanEstimation):
        rows = tuple(DenseRows(x) for x in places)
        if method_class(point.methods[0]).card.level != "user":
            return "one record", rows
        return _user(point), tuple(UserRows(records=x, items=point.m) for x in rows)
    sample = problem.sample(total, np.random.default_rng(0))
    who, made = "one record", tuple[Sample, ...]()
    if isinstance(sample, PointSample):
        made = tuple(replace(sample, points=DenseRows(x)) for x in places)
    elif isinstance(sample, LinearSample):
        targets = sample.link.admissible(np.full(total, FAR))  # so far that slopes are largest
        made = tuple(replace(sample, features=DenseRows(x), targets=targets) for x in places)
        who = f"one record of target {targets[0]:g}, with its features"
    else:
        raise NotApplicable(
            "The worst neighbours of this problem's records are not known here.",
            problem="quadratic",
        )
    if method_class(point.methods[0]).card.level != "user":
        return who, made
    return _user(point), tuple(ItemSample(records=x, items=point.m) for x in made)


def _user(point: Scenario) -> str:
    return f"all {point.m} items of one user" if point.m > 1 else "the item of one user"
