"""The map of regimes shows the values of the bounds and their largest terms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import bound
from dpsco_core.explain.regimes import Plane, axis_values, regimes
from dpsco_core.scenario import Scenario

SLUGS = ("upper.mean.clipped", "upper.mean.cwme-cdp", "upper.mean.smoothed")
RISKS = ("upper.sco.clipped", "upper.sco.cwme", "upper.sco.smoothed", "upper.sco.iterative")


def plane(x: str = "n", y: str = "epsilon") -> Plane:
    """Return a plane of two axes, with five columns and four rows."""
    ends = {"n": (200, 50_000), "d": (2, 300), "epsilon": (0.05, 5), "p": (2, 9)}
    return Plane(x_axis=x, y_axis=y, x=axis_values(x, *ends[x], 5), y=axis_values(y, *ends[y], 4))


CASES = [
    (Scenario(p=2.0), SLUGS),
    (Scenario(distribution="hypercube", rho=None), SLUGS),
    (Scenario(problem="quadratic", methods=("sco.clipped",), p=2.0), RISKS),
    (Scenario(problem="logistic", methods=("sco.clipped",), offset=2, diameter=10), RISKS),
]


@pytest.mark.parametrize(("scenario", "slugs"), CASES)
@pytest.mark.parametrize(("x", "y"), [("n", "epsilon"), ("d", "epsilon"), ("n", "p")])
def test_every_value_is_that_of_the_bound_at_the_point(
    scenario: Scenario, slugs: tuple[str, ...], x: str, y: str
) -> None:
    """A setting that is reused for too many points, or a swapped axis, would give another value."""
    plane_used = plane(x, y)
    contest = regimes(scenario, plane_used, slugs)
    assert (
        contest.values.shape
        == (len(slugs), len(plane_used.y), len(plane_used.x))
        == contest.holds.shape
    )
    for i, v in enumerate(plane_used.y):
        for j, u in enumerate(plane_used.x):
            number = int(u) if x in ("n", "d") else float(u)
            setting = replace(scenario, **{x: number, y: float(v)}).setting
            setting = replace(setting, spike_probability=None)
            for k, slug in enumerate(slugs):
                assert contest.values[k, i, j] == pytest.approx(bound(slug).value(setting))
                assert contest.holds[k, i, j] == (not bound(slug).failures(setting))


def test_no_term_dominates_where_the_bound_is_infinite() -> None:
    pure = regimes(Scenario(delta=0.0), plane(), SLUGS)
    assert np.isinf(pure.values).all() and (pure.dominant == -1).all()


def test_the_dominant_term_is_the_largest_term_of_the_first_bound() -> None:
    scenario, plane_used = Scenario(p=2.0), plane("d", "epsilon")
    contest = regimes(scenario, plane_used, SLUGS)
    assert len(np.unique(contest.dominant)) > 1
    for i, epsilon in enumerate(plane_used.y):
        for j, d in enumerate(plane_used.x):
            setting = replace(scenario, d=int(d), epsilon=float(epsilon)).setting
            terms = bound(SLUGS[0]).terms(setting)
            assert tuple(terms) == contest.terms
            assert terms[contest.terms[contest.dominant[i, j]]] == max(terms.values())


def test_the_scenarios_own_axis_does_not_matter() -> None:
    swept = Scenario(axis="n", grid=(100, 200))
    regions, same_regions = (
        regimes(s, plane(), SLUGS) for s in (swept, replace(swept, axis=None, grid=()))
    )
    assert (regions.values == same_regions.values).all()


def test_axes_are_increasing_logarithmic_and_whole_where_they_count() -> None:
    n = axis_values("n", 100, 1_000_000, 36)
    assert (n[0], n[-1]) == (100, 1_000_000) and (n == n.round()).all()
    d = axis_values("d", 1, 10, 30)
    assert (np.diff(d) >= 1).all() and len(d) == 10
    epsilon = axis_values("epsilon", 0.01, 10, 4)
    assert epsilon == pytest.approx([0.01, 0.1, 1, 10])


@pytest.mark.parametrize("slug", ["upper.mean.clipped", "upper.sco.clipped"])
def test_simple_clipping_is_optimal_up_to_one_over_root_d(slug: str) -> None:
    optimal = bound(slug).optimal
    assert optimal is not None
    assert [optimal.epsilon(d) for d in (1, 4, 100)] == pytest.approx([1, 0.5, 0.1])


def test_bad_planes_and_missing_bounds_are_named() -> None:
    regions = np.array([1.0])
    with pytest.raises(InvalidInput, match="x_axis must be one of n, d, m, epsilon, p"):
        Plane(x_axis="x", y_axis="n", x=regions, y=regions)
    with pytest.raises(InvalidInput, match="y_axis must be another than x_axis"):
        Plane(x_axis="n", y_axis="n", x=regions, y=regions)
    with pytest.raises(InvalidInput, match="bounds must be at least one"):
        regimes(Scenario(), plane(), ())
    assert math.isfinite(regimes(Scenario(), plane(), SLUGS[:1]).values.max())
