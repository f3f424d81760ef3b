"""Where audits take place: small data sets for each method, and their worst neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import METHOD_SLUGS, method_card
from dpsco_core.data import DenseRows
from dpsco_core.geometry.norms import lq_norm
from dpsco_core.methods.lq.mirror import MirrorPlan
from dpsco_core.problems import MeanEstimation, Sample
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.users import ItemSample
from dpsco_core.scenario import Scenario

FAR = 1e6  # how far out the record is: beyond every clip of a stage
RECORDS, ITEMS = 8, 4
# Of methods that look at one record a step, or at one secret group of records: with a single one
# everything that is let out is about it. Phases are of whole halves.
OTHER_RECORDS = {
    "mean.iterative": 1,
    "sco.iterative": 1,
    "sco.private-sgd": 1,
    "lp.noisy-mirror-descent": 1,
    "sco.phased-sgd": 16,
    "lp.phased-sgd": 16,
    "user.group-privacy": 16,
}
FILTERS = (
    "user.phased-sgd",
    "user.accelerated",
    "user.accelerated-strong",
    "user.accelerated-nonsmooth",
)
# The loss whose gradient is the record itself is the sharpest, where a method allows it.
OTHER_PROBLEMS = {
    "sco.cwme-strong": "quadratic",
    "sco.objective-perturbation": "quadratic",
    "sco.objective-perturbation-strong": "quadratic",
    "user.accelerated-strong": "quadratic",
    "lp.regularized-mirror-descent": "huber",
    "lp.phased-sgd": "huber",
}
OTHER_EXPONENTS = {"lp.phased-sgd": 3.0, "lp.euclidean-reduction": 3.0}
INSIDE = 0.999  # of the level beyond which a gradient becomes 0

Data = DenseRows | Sample | ItemSample


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Two data sets that differ in one record, or in one user.

    Parameters
    ----------
    one, two : rows of a mean, a sample, or users
    words : str
        What they are.
    """

    one: Data
    two: Data
    words: str


def stage(method: str) -> Scenario:
    """Return a small scenario at which a private method is audited, if it can be.

    One dimension where the geometry allows it, few records, (1, 0.05)-DP. Delta is that large
    because an event of probability 1e-6 is never seen in 20,000 runs: the noise of a Gaussian
    mechanism differs from what epsilon alone would need in such events only.
    """
    one_of("method", method, METHOD_SLUGS)
    card = method_card(method)
    base = Scenario(
        methods=(method,),
        n=OTHER_RECORDS.get(method, RECORDS),
        d=1,
        epsilon=1.0,
        delta=0.0 if card.privacy == "pure" else 0.05,
        distribution="gaussian",
    )
    if method.startswith("mean."):
        return base
    base = replace(
        base,
        problem=OTHER_PROBLEMS.get(method, "linear"),
        offset=0.5,
        diameter=1000.0,
        m=ITEMS if card.level == "user" else 1,
    )
    if card.geometry == "lq":
        return replace(base, d=2, geometry="lq", q=OTHER_EXPONENTS.get(method, 1.5))
    return base


def refuse_filters(method: str) -> None:
    """Raise `NotApplicable` for the methods whose worst neighbours give away too little to see."""
    if method in FILTERS:
        raise NotApplicable(
            "The worst neighbours of a robust filter have a crowd at the edge of its radius, and "
            "what they give away is too rare to be seen in runs; their privacy profile is computed "
            "exactly in the tests.",
            nearest="choose user.clipped-means",
            changes=(("method", "user.clipped-means"),),
        )


def neighbours(point: Scenario, plan: object = None) -> Neighbours:
    """Return the worst neighbours at `point`: one record far out, one way and the other.

    A method whose `plan` turns gradients beyond a level to 0 sees records just inside of it.

    All other records are 0, and the record is the same in every coordinate, which moves a clipped
    vector as far as any other direction and clipped coordinates further. Of a linear model the
    features are so, and the targets as large as they may be. A user's items are all alike.

    Raises
    ------
    NotApplicable
        Where records are neither points nor features with a target.
    """
    problem = point.instance.problem
    total, far = point.n * point.m, np.zeros((point.n * point.m, point.d))
    place, others = FAR, "all others are 0"
    if isinstance(plan, MirrorPlan):
        place = INSIDE * plan.threshold / lq_norm(np.ones(point.d), plan.space.dual)
    far[: point.m] = place
    shown = f"{place:,.0f}" if place == FAR else f"{place:.4g}"
    where = f"at +{shown} or at -{shown} in every coordinate; {others}"
    if isinstance(problem, MeanEstimation):
        return Neighbours(
            one=DenseRows(far),
            two=DenseRows(-far),
            words=f"one record {where}",
        )
    sample = problem.sample(total, np.random.default_rng(0))
    what = "one record"
    one: Sample
    two: Sample
    if isinstance(sample, PointSample):
        one, two = (replace(sample, points=DenseRows(x)) for x in (far, -far))
    elif isinstance(sample, LinearSample):
        targets = sample.link.admissible(np.full(total, FAR))  # so far that slopes are largest
        one, two = (replace(sample, features=DenseRows(x), targets=targets) for x in (far, -far))
        what = f"one record of target {targets[0]:g}, with its features"
    else:
        raise NotApplicable(
            "The worst neighbours of this problem's records are not known here.",
            nearest="choose the problem quadratic",
            changes=(("problem", "quadratic"),),
        )
    if method_card(point.methods[0]).level == "user":
        items = point.m
        who = f"all {items} items of one user" if items > 1 else "the item of one user"
        return Neighbours(
            one=ItemSample(records=one, items=items),
            two=ItemSample(records=two, items=items),
            words=f"{who} {where}",
        )
    return Neighbours(
        one=one,
        two=two,
        words=f"{what} {where}",
    )
