"""The user's numbers through the methods: by the ledger, in their own unit, at public values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import make_method, method_card, methods_for
from dpsco_core.data import DenseRows
from dpsco_core.explain.columns.own_records import (
    Public,
    clip_advice,
    of_numbers,
    own_releases,
    point_of,
    setting_of_records,
)
from dpsco_core.methods.base import released
from dpsco_core.methods.mean import SimpleClipping
from dpsco_core.methods.records.base import clipped_mean, hinge_bias
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.runs.study import planned
from dpsco_core.scenario import Scenario

VALUES = 1001 + np.random.default_rng(0).random(2000) ** (-1 / 3)
RECORDS = VALUES[:, None]
PUBLIC = Public(guess=1000.0, within=4.0, unit=1.5)


def point(**changes: object) -> Scenario:
    """Return the point of the visitor's numbers, from a scenario with some fields changed."""
    start = replace(Scenario(), **changes)  # type: ignore[arg-type]
    matching = of_numbers(start, law="student-t", order=2.5, count=len(VALUES))
    return point_of(matching, [PUBLIC])


def test_numbers_are_one_dimensional_records_of_the_mean() -> None:
    for start in (
        Scenario(),
        Scenario(problem="quadratic", methods=("sco.erm",), geometry="l1", axis="d", grid=(2, 4)),
        Scenario(problem="quadratic", methods=("user.clipped-means",), m=10),
    ):
        scenario = of_numbers(start, law="student-t", order=2.5, count=500).validate()
        assert (scenario.problem, scenario.d, scenario.m, scenario.geometry) == ("mean", 1, 1, "l2")
        assert scenario.axis != "d" and scenario.n == 500 and scenario.p == 2.5
        assert set(scenario.methods) <= set(methods_for("mean"))


def test_every_method_releases_the_mean_of_the_numbers_in_their_unit_through_the_ledger() -> None:
    scenario = point(methods=methods_for("mean"))
    releases = own_releases(RECORDS, [PUBLIC], scenario, np.random.default_rng(1))
    assert [r.method for r in releases] == list(scenario.methods)
    finished = [r for r in releases if not r.refusal]
    assert {r.method for r in finished} >= {"mean.sample", "mean.clipped", "mean.adaptive"}
    for release in finished:
        private = method_card(release.method).privacy != "none"
        assert release.values[0] == pytest.approx(VALUES.mean(), abs=1.5)
        assert (release.spent is not None) == private
        if private:
            assert release.spent.epsilon <= scenario.budget.epsilon  # type: ignore[union-attr]
    exact = next(r for r in releases if r.method == "mean.sample")
    assert exact.values[0] == pytest.approx(VALUES.mean(), rel=1e-12)
    refused = own_releases(RECORDS, [PUBLIC], point(delta=0.0), np.random.default_rng(1))
    assert any("pure DP" in r.refusal and not r.values for r in refused)


def test_a_release_is_that_of_the_method_on_the_records_with_the_planned_noise() -> None:
    scenario = point(methods=("mean.clipped",))
    plan = SimpleClipping().plan(scenario.setting)
    clipped = clipped_mean(DenseRows(((VALUES - 1000) / 1.5)[:, None]), plan.statistic.radius)
    rng = np.random.default_rng(2)
    draws = [own_releases(RECORDS, [PUBLIC], scenario, rng)[0].values[0] for _ in range(600)]
    noise = 1.5 * plan.noise.noise_std
    # A deviation beyond 5 standard errors has probability 6e-7.
    assert np.mean(draws) == pytest.approx(1000 + 1.5 * clipped[0], abs=5 * noise / 600**0.5)
    assert np.std(draws) == pytest.approx(noise, rel=5 / (2 * 600) ** 0.5)


def test_the_plan_does_not_depend_on_the_numbers() -> None:
    scenario = point(methods=("mean.clipped",))
    other_values = np.random.default_rng(3).standard_normal(2000) * 1e6
    own_advice, other_advice = (
        clip_advice(values[:, None], [PUBLIC], scenario) for values in (VALUES, other_values)
    )
    assert (own_advice.radius, own_advice.noise, own_advice.bias) == (
        other_advice.radius,
        other_advice.noise,
        other_advice.bias,
    )
    assert own_advice.clipped < other_advice.clipped
    wild = np.where(np.arange(2000) < 3, [np.inf, -np.inf, 1e308] * 666 + [0, 0], VALUES)
    (release,) = own_releases(wild[:, None], [PUBLIC], scenario, np.random.default_rng(4))
    assert abs(release.values[0] - VALUES.mean()) < 3


def test_the_advice_to_clip_balances_noise_and_a_bias_that_no_law_exceeds() -> None:
    scenario = point()
    advice = clip_advice(RECORDS, [PUBLIC], scenario)
    assert advice.low == (1000 - advice.radius,) and advice.high == (1000 + advice.radius,)
    assert advice.clipped == int((np.abs(VALUES - 1000) > advice.radius).sum())
    overshoot = np.maximum(np.abs(VALUES - 1000) - advice.radius, 0).mean()
    assert overshoot <= advice.bias  # The unit bounds the moment of these numbers.
    assert 0.1 < advice.bias / advice.noise < 10
    half, doubled = (clip_advice(RECORDS, [replace(PUBLIC, unit=u)], scenario) for u in (0.75, 3.0))
    assert half.noise < advice.noise < doubled.noise


@pytest.mark.parametrize(
    ("name", "value"), [("unit", 0.0), ("within", -1.0), ("guess", float("nan"))]
)
def test_public_values_are_checked(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=name):
        replace(PUBLIC, **{name: value})


def test_the_setting_has_the_number_of_records_of_the_data() -> None:
    with pytest.raises(InvalidInput, match="numbers must be as many as n=2000"):
        own_releases(RECORDS[:-1], [PUBLIC], point(), np.random.default_rng(5))


@pytest.mark.parametrize("distance", [1e30, 1e-30])
def test_a_distance_that_is_out_of_range_is_refused_under_its_own_name(distance: float) -> None:
    with pytest.raises(InvalidInput, match=r"^within must be 5e-07 to 500000 at unit=1, got"):
        Public(guess=0.0, within=distance, unit=1.0)


WIDE = np.column_stack([VALUES, -7e6 + 2e5 * np.random.default_rng(6).standard_normal(2000)])
PUBLICS = [PUBLIC, Public(guess=-7.1e6, within=3e5, unit=2e5)]


def wide_point(publics: Sequence[Public] = PUBLICS, **changes: object) -> Scenario:
    """Return the point of the visitor's records with several columns."""
    start = replace(Scenario(), **changes)  # type: ignore[arg-type]
    d = len(publics)
    return point_of(of_numbers(start, law="student-t", order=2.5, count=2000, columns=d), publics)


@settings(max_examples=25, deadline=None)
@given(
    guess=st.floats(-1e6, 1e6),
    distance=st.floats(0.5, 20),
    unit=st.floats(0.1, 100),
    seed=st.integers(0, 2**32),
)
def test_one_column_gives_the_numbers_of_the_methods_on_scaled_records(
    guess: float, distance: float, unit: float, seed: int
) -> None:
    """The formulas for a single column are written out; results agree to the last bit."""
    values = guess + unit * np.random.default_rng(seed).standard_t(3, 300)
    public = Public(guess=guess, within=distance * unit, unit=unit)
    matching = of_numbers(
        replace(Scenario(), methods=("mean.sample", "mean.clipped", "mean.cwme-cdp")),
        **{"law": "student-t", "order": 2.5, "count": 300},
    )
    point = point_of(matching, [public])
    assert point == replace(
        matching,
        **{"axis": None, "grid": (), "trials": 1, "offset": 0.0, "tuning": "practical"},
        diameter=2 * (distance * unit) / unit,
    )
    rng, other_values = np.random.default_rng(seed), np.random.default_rng(seed)
    releases = own_releases(values[:, None], [public], point, rng)
    records = DenseRows(((values - guess) / unit)[:, None])
    for release in releases:
        method = make_method(release.method, point.calibration, point.tuning)
        expected = released(
            method, records, planned(point, release.method), Ledger(point.budget), other_values
        )
        assert release.values == (guess + unit * float(expected.value[0]),)
        assert repr(release.spent) in (repr(expected.ledger.spent()), "None")
    plan = SimpleClipping(calibration=point.calibration).plan(point.setting)
    advice = clip_advice(values[:, None], [public], point)
    assert (advice.radius, advice.noise) == (
        plan.statistic.radius * unit,
        plan.noise.noise_std * unit,
    )
    overshoot = plan.statistic.radius - point.setting.constants.mean_gradient_bound
    assert advice.bias == hinge_bias(overshoot, 2.5) * unit
    assert advice.clipped == np.count_nonzero(np.abs(values - guess) > advice.radius)


def test_columns_of_different_scales_form_one_record_in_their_units() -> None:
    point = wide_point(methods=methods_for("mean"))
    assert point.d == 2
    assert point.diameter == pytest.approx(2 * np.hypot(4 / 1.5, 1.5))
    releases = own_releases(WIDE, PUBLICS, point, np.random.default_rng(1))
    finished = {r.method: r for r in releases if not r.refusal}
    assert set(finished) >= {"mean.sample", "mean.clipped", "mean.adaptive"}
    units = np.array([1.5, 2e5])
    for release in finished.values():
        errors = (np.array(release.values) - WIDE.mean(axis=0)) / units
        assert np.linalg.norm(errors) < 1, release.method
    assert finished["mean.sample"].values == pytest.approx(WIDE.mean(axis=0).tolist(), rel=1e-12)


def test_a_change_of_units_of_a_column_changes_only_its_mean() -> None:
    point, factors = wide_point(), np.array([64.0, 2.0**-20])
    other_values = [
        Public(guess=p.guess * f, within=p.within * f, unit=p.unit * f)
        for p, f in zip(PUBLICS, factors.tolist(), strict=True)
    ]
    assert wide_point(other_values) == point
    own_advice = own_releases(WIDE, PUBLICS, point, np.random.default_rng(1))
    other_advice = own_releases(WIDE * factors, other_values, point, np.random.default_rng(1))
    for release, scaled_release in zip(own_advice, other_advice, strict=True):
        assert scaled_release.values == tuple((np.array(release.values) * factors).tolist())
        assert repr(release.clip) == repr(scaled_release.clip)


def test_the_noise_of_several_columns_is_the_planned_one_in_the_unit_of_each() -> None:
    point = wide_point(methods=("mean.clipped",))
    advice = clip_advice(WIDE, PUBLICS, point)
    rng = np.random.default_rng(2)
    draws = np.array([own_releases(WIDE, PUBLICS, point, rng)[0].values for _ in range(600)])
    for k, unit in enumerate((1.5, 2e5)):
        # A deviation beyond 5 standard errors has probability 6e-7.
        noise = advice.noise * unit
        assert np.std(draws[:, k]) == pytest.approx(noise, rel=5 / (2 * 600) ** 0.5)
        assert advice.high[k] - PUBLICS[k].guess == pytest.approx(advice.radius * unit)
    clipped = own_releases(WIDE, PUBLICS, point, rng)[0].clip
    assert clipped == advice.radius
    norms = np.linalg.norm((WIDE - [1000, -7.1e6]) / [1.5, 2e5], axis=1)
    assert advice.clipped == np.count_nonzero(norms > advice.radius)


@pytest.mark.parametrize("order", [2.0, 2.5, 4.0])
def test_no_dependence_between_columns_gives_more_than_the_stated_bias(order: float) -> None:
    """The hardest cases are equal columns, and entries of two values whose moment is the unit."""
    matching = of_numbers(Scenario(), law="student-t", order=order, count=2000, columns=3)
    publics = [Public(guess=0.0, within=0.5, unit=1.0)] * 3
    point = point_of(matching, publics)
    advice = clip_advice(np.zeros((2000, 3)), publics, point)
    assert setting_of_records(point).constants.directional_moment >= np.sqrt(3) * (1 + 0.5) - 1e-12
    for size in np.geomspace(1.05, 50, 60) * advice.radius / np.sqrt(3):
        chance = size**-order
        bias = chance * max(np.sqrt(3) * size - advice.radius, 0.0)
        assert bias <= advice.bias * (1 + 1e-12)
    lengths = np.geomspace(1.01, 20, 4000) * advice.radius
    worst = max((lengths - advice.radius) * (np.sqrt(3) / lengths) ** order)
    assert worst > 0.5 * advice.bias  # Such columns come near the bound on the bias.


def test_columns_that_are_jointly_too_far_are_refused_by_the_name_of_the_distance() -> None:
    wide_publics = [Public(guess=0.0, within=5e5, unit=1.0)] * 2
    with pytest.raises(InvalidInput, match=r"^within must be at most 500000 units in the l2 norm"):
        wide_point(wide_publics)
    with pytest.raises(InvalidInput, match="columns must be as many as d=2"):
        point_of(wide_point(), [PUBLIC])
