"""Correlated items of a user: their moments, their correlation, and their draws."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from dpsco_core.base.errors import InvalidInput
from dpsco_core.data import (
    EllipticalT,
    Gaussian,
    LogNormal,
    Pareto,
    SkewedPareto,
    Spike,
    StudentT,
)
from dpsco_core.data.alike import AlikeItems, alike_items, draw_users, mixed_moment, share_in_common
from dpsco_core.data.base import ScaledLaw
from dpsco_core.scenario import Scenario
from tests.folded import each

LAWS = (StudentT, Pareto, SkewedPareto, LogNormal, Gaussian, EllipticalT)
SHARES = (0.05, 0.3, 0.5, 1.0)


def expanded(law: ScaledLaw, share: float, order: int) -> float:
    """Return a moment of even order up to 4 of an item that shares a part with its user, for
    symmetric laws.

    Odd moments vanish, so the binomial theorem has the even terms only.
    """
    return sum(
        math.comb(order, k)
        * share ** (k / 2)
        * (1 - share) ** ((order - k) / 2)
        * law.moment(k)
        * law.moment(order - k)
        for k in range(0, order + 1, 2)
    )


@each("family", LAWS)
@each("share", SHARES)
def test_moments_of_a_mixture_are_those_of_the_binomial_theorem(family: Any, share: float) -> None:
    for margin in (1e-4, 0.5):
        law = family(d=2, moment_order=4.0, margin=margin)
        assert mixed_moment(law, share, 4.0) == pytest.approx(expanded(law, share, 4), rel=1e-7)
        assert mixed_moment(law, share, 2.0) == pytest.approx(law.moment(2), rel=1e-12)
    if family in (StudentT, Pareto, Gaussian, EllipticalT):
        law = family(d=2, moment_order=6.0)
        assert mixed_moment(law, share, 6.0) == pytest.approx(expanded(law, share, 6), rel=1e-7)


def characteristic(law: ScaledLaw, t: float) -> float:
    """Return the characteristic function of a symmetric Pareto coordinate, integrated by parts."""
    density = law.univariate
    assert density is not None
    value, _ = quad(
        lambda x: 2 * float(density.density(np.array([x]))[0]),
        density.scale,
        math.inf,
        weight="cos",
        wvar=t,
        limlst=400,
    )
    return float(value)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_a_moment_of_order_three_is_that_of_the_characteristic_function(share: float) -> None:
    """For a symmetric X of variance v, E|X|^3 is (12/pi) times the integral of t^-4 (f(t) - 1 + t^2
    v/2) over t > 0, with f the characteristic function.
    """
    law = Pareto(d=1, moment_order=3.0, margin=3.0)
    variance, fourth_moment = law.moment(2), expanded(law, share, 4)

    def integrand(t: float) -> float:
        """Return the integrand of the third absolute moment."""
        phi = characteristic(law, math.sqrt(share) * t) * characteristic(
            law, math.sqrt(1 - share) * t
        )
        return (phi - 1 + t * t * variance / 2) / t**4

    low, high = 0.05, 60.0
    middle = sum(
        quad(integrand, a, b, limit=200)[0]
        for a, b in itertools.pairwise((low, 0.5, 2, 5, 10, 20, high))
    )
    # Below the grid the series of phi is used, and above the grid phi is small beside t^2 v/2.
    start = fourth_moment * low / 24
    end = variance / (2 * high) - 1 / (3 * high**3)
    expected = 12 / math.pi * (start + middle + end)
    assert mixed_moment(law, share, 3.0) == pytest.approx(expected, rel=2e-3)


@each("family", LAWS)
@each("order", (2.0, 2.5, 3.0, 4.0))
def test_the_moment_of_the_law_is_that_of_the_setting(family: Any, order: float) -> None:
    for share in SHARES:
        law = alike_items(family(d=3, moment_order=order, decay=0.5), share)
        assert law.moment(order) == pytest.approx(law.unit_moment, rel=1e-9)
        assert law.unit_moment == pytest.approx(law.base.unit_moment)
        assert law.moment(2) <= law.unit_moment ** (2 / order) * (1 + 1e-9)
        assert law.moment(0) == 1 and law.moment(law.tail_index) == math.inf
        even = alike_items(family(d=3, moment_order=order, unit="variance"), share)
        assert even.moment(2) == pytest.approx(1.0) and even.factor == 1
        assert even.unit_moment == pytest.approx(even.moment(order))


@pytest.mark.parametrize("family", [StudentT, SkewedPareto])
def test_draws_have_the_moment_and_the_correlation(family: Any) -> None:
    """A false alarm has a chance below 1e-6, and a moment without the factor would fail."""
    law = alike_items(family(d=2, moment_order=3.0, margin=6.0, offset=1.0), 0.3)
    n, m = 100_000, 4
    rows = draw_users(law, n, m, np.random.default_rng(0))
    items = rows.records.x.reshape(n, m, 2) - law.mean
    cubes = (np.abs(items) ** 3).mean(axis=(1, 2))
    assert abs(cubes.mean() - 1) < 5 * cubes.std() / math.sqrt(n)
    pairs = (items[:, 0] * items[:, 1]).mean(axis=1)
    assert abs(pairs.mean() - 0.3 * law.moment(2)) < 5 * pairs.std() / math.sqrt(n)
    means = (items.mean(axis=1) ** 2).mean(axis=1)
    exact = law.moment(2) * (0.3 + 0.7 / m)
    assert abs(means.mean() - exact) < 5 * means.std() / math.sqrt(n)
    strangers = (items[:-1, 0] * items[1:, 0]).mean(axis=1)
    assert abs(strangers.mean()) < 5 * strangers.std() / math.sqrt(n)
    squares = (law.sample(n, np.random.default_rng(1)).x - law.mean) ** 2
    assert abs(squares.mean() - law.moment(2)) < 5 * squares.std() / math.sqrt(2 * n)


def test_items_that_are_fully_alike_are_equal_and_more_users_keep_the_first_ones() -> None:
    law = alike_items(StudentT(d=3, moment_order=2.5), 1.0)
    items = draw_users(law, 20, 5, np.random.default_rng(0)).records.x.reshape(20, 5, 3)
    assert np.array_equal(items, np.repeat(items[:, :1], 5, axis=1))
    part = alike_items(StudentT(d=3, moment_order=2.5), 0.4)
    short, long = (draw_users(part, n, 7, np.random.default_rng(3)).records.x for n in (10, 40_000))
    assert np.array_equal(short, long[:70])


def test_a_law_without_a_density_or_a_variance_is_refused() -> None:
    for law, share, message in (
        (StudentT(d=2, moment_order=1.5), 0.3, "^p must be at least 2 where the items"),
        (StudentT(d=2), 1.5, "^alike must be from 0 to 1"),
        (LogNormal(d=2, moment_order=3.0), -0.1, "^alike must be from 0 to 1"),
    ):
        with pytest.raises(InvalidInput, match=message):
            alike_items(law, share)
    with pytest.raises(InvalidInput, match="^p must be smaller for the distribution"):
        mixed_moment(SkewedPareto(d=1, moment_order=50.0), 0.3, 50.0)
    assert share_in_common(StudentT(d=2)) == 0.0


def test_a_scenario_with_alike_items_draws_from_the_law_and_others_draw_as_before() -> None:
    plain = Scenario(n=50, m=4, d=2, p=2.5, methods=("user.mean-clipped",))
    assert not isinstance(plain.validate().instance.law, AlikeItems)
    assert plain.setting.alike == 0 and plain.setting.design_effect == 1
    alike = replace(plain, alike=0.3).validate()
    assert isinstance(alike.instance.law, AlikeItems)
    assert alike.setting.alike == 0.3 and alike.setting.design_effect == pytest.approx(1.9)
    # With one item per user all items are independent.
    single = replace(alike, m=1).validate()
    assert single.setting.alike == 0 and isinstance(single.instance.law, AlikeItems)
    for changes, message in (
        ({"distribution": "spike"}, "^alike must be 0 for the distribution spike, which draws"),
        (
            {"problem": "quadratic", "methods": ("user.clipped-means",)},
            "^alike must be 0 for the problem quadratic, whose methods take a user's items",
        ),
        ({"p": 1.5}, "^p must be at least 2 where the items of a user are alike"),
        ({"alike": 1.2}, "^alike must be at least 0 and at most 1"),
    ):
        with pytest.raises(InvalidInput, match=message):
            Scenario(**{"n": 50, "m": 4, "alike": 0.3, "methods": (), **changes}).validate()
    assert Spike.has_prior
