"""One's own numbers through the methods: by the ledger, in their own unit, at public values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import method_card, methods_for
from dpsco_core.data import DenseRows
from dpsco_core.explain.own_records import (
    Public,
    clip_advice,
    of_numbers,
    own_releases,
    point_of,
)
from dpsco_core.methods.mean import SimpleClipping
from dpsco_core.methods.mean.base import clipped_mean
from dpsco_core.scenario import Scenario

VALUES = 1001 + np.random.default_rng(0).random(2000) ** (-1 / 3)
PUBLIC = Public(guess=1000.0, within=4.0, unit=1.5)


def point(**changes: object) -> Scenario:
    now = replace(Scenario(), **changes)  # type: ignore[arg-type]
    matching = of_numbers(now, law="student-t", order=2.5, count=len(VALUES))
    return point_of(matching, PUBLIC)


def test_numbers_are_one_dimensional_records_of_the_mean() -> None:
    for now in (
        Scenario(),
        Scenario(problem="quadratic", methods=("sco.erm",), geometry="l1", axis="d", grid=(2, 4)),
        Scenario(problem="quadratic", methods=("user.clipped-means",), m=10),
    ):
        scenario = of_numbers(now, law="student-t", order=2.5, count=500).validate()
        assert (scenario.problem, scenario.d, scenario.m, scenario.geometry) == ("mean", 1, 1, "l2")
        assert scenario.axis != "d" and scenario.n == 500 and scenario.p == 2.5
        assert set(scenario.methods) <= set(methods_for("mean"))


def test_every_method_releases_the_mean_of_the_numbers_in_their_unit_through_the_ledger() -> None:
    at = point(methods=methods_for("mean"))
    releases = own_releases(VALUES, PUBLIC, at, np.random.default_rng(1))
    assert [r.method for r in releases] == list(at.methods)
    ran = [r for r in releases if not r.refusal]
    assert {r.method for r in ran} >= {"mean.sample", "mean.clipped", "mean.adaptive"}
    for release in ran:
        private = method_card(release.method).privacy != "none"
        assert release.value == pytest.approx(VALUES.mean(), abs=1.5)
        assert (release.spent is not None) == private
        if private:
            assert release.spent.epsilon <= at.budget.epsilon  # type: ignore[union-attr]
    exact = next(r for r in releases if r.method == "mean.sample")
    assert exact.value == pytest.approx(VALUES.mean(), rel=1e-12)
    refused = own_releases(VALUES, PUBLIC, point(delta=0.0), np.random.default_rng(1))
    assert any("pure DP" in r.refusal and np.isnan(r.value) for r in refused)


def test_the_release_is_that_of_the_method_on_the_records_and_its_noise_is_the_plans() -> None:
    at = point(methods=("mean.clipped",))
    plan = SimpleClipping().plan(at.setting)
    clipped = clipped_mean(DenseRows(((VALUES - 1000) / 1.5)[:, None]), plan.clip_radius)
    rng = np.random.default_rng(2)
    draws = [own_releases(VALUES, PUBLIC, at, rng)[0].value for _ in range(600)]
    noise = 1.5 * plan.noise_std
    # Beyond 5 standard errors with probability 6e-7.
    assert np.mean(draws) == pytest.approx(1000 + 1.5 * clipped[0], abs=5 * noise / 600**0.5)
    assert np.std(draws) == pytest.approx(noise, rel=5 / (2 * 600) ** 0.5)


def test_the_plan_does_not_look_at_the_numbers() -> None:
    at = point(methods=("mean.clipped",))
    other = np.random.default_rng(3).standard_normal(2000) * 1e6
    ours, theirs = (clip_advice(values, PUBLIC, at) for values in (VALUES, other))
    assert (ours.radius, ours.noise, ours.bias) == (theirs.radius, theirs.noise, theirs.bias)
    assert ours.clipped < theirs.clipped
    wild = np.where(np.arange(2000) < 3, [np.inf, -np.inf, 1e308] * 666 + [0, 0], VALUES)
    (release,) = own_releases(wild, PUBLIC, at, np.random.default_rng(4))
    assert abs(release.value - VALUES.mean()) < 3


def test_the_advice_to_clip_balances_noise_and_a_bias_that_no_law_exceeds() -> None:
    at = point()
    advice = clip_advice(VALUES, PUBLIC, at)
    assert advice.low == 1000 - advice.radius and advice.high == 1000 + advice.radius
    assert advice.clipped == int((np.abs(VALUES - 1000) > advice.radius).sum())
    beyond = np.maximum(np.abs(VALUES - 1000) - advice.radius, 0).mean()
    assert beyond <= advice.bias  # the unit bounds the moment of these numbers
    assert 0.1 < advice.bias / advice.noise < 10
    half, twice = (clip_advice(VALUES, replace(PUBLIC, unit=u), at) for u in (0.75, 3.0))
    assert half.noise < advice.noise < twice.noise


@pytest.mark.parametrize(
    ("name", "value"), [("unit", 0.0), ("within", -1.0), ("guess", float("nan"))]
)
def test_what_is_public_is_checked(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=name):
        replace(PUBLIC, **{name: value})


def test_the_setting_is_of_as_many_records_as_there_are() -> None:
    with pytest.raises(InvalidInput, match="numbers must be as many as n=2000"):
        own_releases(VALUES[:-1], PUBLIC, point(), np.random.default_rng(5))


@pytest.mark.parametrize("within", [1e30, 1e-30])
def test_a_distance_that_is_out_of_range_is_refused_under_its_own_name(within: float) -> None:
    with pytest.raises(InvalidInput, match=r"^within must be 5e-07 to 500000 at unit=1, got"):
        Public(guess=0.0, within=within, unit=1.0)
