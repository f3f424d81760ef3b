"""Automatic and quantile clipping: sensitivity, limits, ledger, and fixed points."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.data import DenseRows
from dpsco_core.data.rows import ScaledRows
from dpsco_core.methods.euclidean.automatic import AutomaticDescent
from dpsco_core.methods.euclidean.quantile import RANGE, RATE, QuantileDescent
from dpsco_core.methods.statistics import normalised_mean
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy import ZCDP
from dpsco_core.scenario import Scenario
from tests.folded import one_in
from tests.methods.euclidean.losses import (
    BUDGETS,
    PURE,
    Array,
    Releases,
    check_spent,
    expected_rho,
    make_records,
    make_setting,
    releases,
    run,
    sample,
)

__all__ = ["releases"]
WILD = (math.nan, math.inf, -math.inf, 1e300, 1.7e308, 5e-324, 1e-300, 0.0, 1e150, 3.0)
FAMILIES = (AutomaticDescent, QuantileDescent)
METHODS = [f(calibration=c) for f in FAMILIES for c in ("tight", "paper")]


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1.0, 1e150])
@pytest.mark.parametrize("scaled", [False, True])
def test_every_row_is_normalised_to_at_most_unit_length(scale: float, scaled: bool) -> None:
    """The rows are every pair of extreme entries, and linear-model gradients with every extreme
    coefficient.
    """
    for row in itertools.product(WILD, repeat=2):
        for c in WILD if scaled else (1.0,):
            x = DenseRows(np.array([row]))
            rows: Any = ScaledRows(x, lambda base, _, c=c: np.full(len(base), c)) if scaled else x
            mean = normalised_mean(rows, scale, 0.01 * scale)
            size = math.hypot(*(mean / scale))
            assert size <= 1 + 1e-12, (row, c)
            with np.errstate(all="ignore"):
                plain = c * np.array(row)
            norm = math.hypot(*plain) if np.isfinite(plain).all() else 0.0
            if norm > 1e-3 and max(*row, norm, c) < 1e100 and scale in (1e-3, 1.0):
                np.testing.assert_allclose(
                    mean, scale * plain / (norm + 0.01 * scale), rtol=1e-12, atol=1e-300
                )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_all_releases_together_spend_the_budget(method: Any, budget: Any) -> None:
    x, y = make_records(60, 3)
    result = run(method, make_setting("hinge", 60, 3, budget), sample("hinge", x, y))
    check_spent(method, budget, result.ledger)
    entries, diagnostics = result.ledger.entries, result.diagnostics
    rho = expected_rho(method.calibration, budget) / diagnostics["steps"]
    if isinstance(method, QuantileDescent):
        assert len(entries) == 2 * diagnostics["steps"]
        assert {e.sensitivity for e in entries[1::2]} == {1 / 60}
        gradients, part = entries[::2], 0.99
    else:
        assert len(entries) == diagnostics["steps"]
        gradients, part = entries, 1.0
    noise_std = 2 * diagnostics["clip_radius"] / 60 / math.sqrt(2 * part * rho)
    assert gradients[-1].noise == pytest.approx(noise_std, rel=1e-9)
    assert diagnostics["noise_std"] == pytest.approx(noise_std, rel=1e-9)


def test_without_noise_the_radius_follows_the_rule(releases: Releases) -> None:
    """Gradients of a linear loss have lengths 1 to 10, and the share of them within the radius
    updates it.
    """
    x = np.arange(1.0, 11.0)[:, None]
    method = QuantileDescent(radius=2.5, descent=Descent(steps=60, step_size=1e-9))
    result = run(method, make_setting("linear", 10, 1, radius=1e3), sample("linear", x, radius=1e3))
    radius, radii = 2.5, []
    for _ in range(60):
        radii.append(radius)
        radius *= math.exp(RATE * (0.5 - np.mean(x <= radius)))
    noise = [e.sensitivity * 10 / 2 for e in result.ledger.entries[::2]]
    np.testing.assert_allclose(noise, radii, rtol=1e-12)
    assert 5 <= radius < 6.2, "the median"


def test_the_adaptive_radius_stays_within_its_range(releases: Releases) -> None:
    method = QuantileDescent(radius=1.0, descent=Descent(steps=400, step_size=1e-9))
    for x, end in ((0.0, 1 / RANGE), (1e9, RANGE)):
        data = sample("linear", np.full((10, 1), x), radius=1e3)
        result = run(method, make_setting("linear", 10, 1, radius=1e3), data)
        assert result.diagnostics["clip_radius"] == pytest.approx(end, rel=1e-9)


def fixed_point(points: Array, slope: Any) -> Array:
    """Return the point where the mean of `slope(lengths)` times the directions is 0, by
    iteration.
    """
    w = points.mean(axis=0)
    for _ in range(4000):
        gap = points - w
        lengths = np.linalg.norm(gap, axis=1)
        weights = slope(lengths) / lengths
        w = weights @ points / weights.sum()
    return np.asarray(w)


def skewed_points(n: int = 4000, d: int = 3) -> Array:
    """Return log-normal points, the same on every call."""
    return np.random.default_rng(0).lognormal(size=(n, d)) / 4


def test_without_noise_automatic_clipping_finds_the_geometric_median(releases: Releases) -> None:
    """The median is smoothed by gamma, and differs from the mean (theory/practice.md, 2.3)."""
    x = skewed_points()
    method = AutomaticDescent(scale=0.2, descent=Descent(steps=4000, step_size=0.3))
    value = run(
        method, make_setting("mean", len(x), 3, radius=9.0), sample("mean", x, radius=9.0)
    ).value
    expected = fixed_point(x, lambda r: r / (r + 0.002))
    np.testing.assert_allclose(value, expected, atol=1e-6)
    assert np.linalg.norm(x.mean(axis=0) - value) > 0.1


def test_without_noise_quantile_clipping_finds_hubers_estimate(releases: Releases) -> None:
    """The estimate has the last radius, which contains half the gradients (theory/practice.md,
    3.3).
    """
    x = skewed_points()
    method = QuantileDescent(radius=1.0, descent=Descent(steps=3000, step_size=0.5))
    setting = make_setting("mean", len(x), 3, radius=9.0)
    result = run(method, setting, sample("mean", x, radius=9.0))
    radius = result.diagnostics["clip_radius"]
    expected = fixed_point(x, lambda r: np.minimum(r, radius))
    np.testing.assert_allclose(result.value, expected, atol=1e-3)
    share = np.mean(np.linalg.norm(x - result.value, axis=1) <= radius)
    assert share == pytest.approx(0.5, abs=0.01)
    assert np.linalg.norm(x.mean(axis=0) - result.value) > 0.05


def test_a_large_scale_amounts_to_no_clipping() -> None:
    """Without noise and clipping, gradients far below gamma are all scaled by R/gamma."""
    x = make_records(50, 3)[0] * 1e-9
    rows = DenseRows(x)
    np.testing.assert_allclose(normalised_mean(rows, 1.0, 1.0), x.mean(axis=0), rtol=1e-7)


@cache
def mean_risk(law: str, slug: str, n: int) -> float:
    """Return the mean excess risk of a method over four trials."""
    from dpsco_core.runs.study import study

    scenario = Scenario(
        problem="quadratic", distribution=law, methods=(slug,), n=n, d=10, p=3.0, trials=4
    )
    return float(np.mean([outcome.error for outcome in study(scenario)]))


@pytest.mark.parametrize("slug", one_in(2, [f.card.slug for f in FAMILIES]))
def test_on_skewed_data_the_error_does_not_fall_with_n(slug: str) -> None:
    """On symmetric data it does fall; clipped gradients err a twentieth as much at the larger n."""
    small, large = (
        mean_risk("skewed-pareto", slug, 30_000),
        mean_risk("skewed-pareto", slug, 300_000),
    )
    assert large > 0.7 * small
    assert large > 20 * mean_risk("skewed-pareto", "sco.clipped", 300_000)
    assert mean_risk("student-t", slug, 300_000) < 0.3 * mean_risk("student-t", slug, 30_000)


def test_unsupported_settings_are_refused_with_a_reason() -> None:
    for family in FAMILIES:
        with pytest.raises(NotApplicable, match="cannot give pure DP"):
            family().plan(make_setting("hinge", budget=PURE))
    for quantile in (0.0, 1.0, math.nan):
        with pytest.raises(InvalidInput, match="quantile must be"):
            QuantileDescent(quantile=quantile).plan(make_setting("hinge"))
    with pytest.raises(InvalidInput, match="radius must be"):
        QuantileDescent(radius=1e149).plan(make_setting("hinge"))
    with pytest.raises(InvalidInput, match="scale must be"):
        AutomaticDescent(scale=1e151).plan(make_setting("hinge"))


def test_a_share_that_is_not_charged_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsco_core.privacy.ledger.fits", lambda total, budget: True)
    monkeypatch.setattr("dpsco_core.methods.euclidean.quantile.COUNT_SHARE", -0.5)
    with pytest.raises((AssertionError, InvalidInput)):
        test_all_releases_together_spend_the_budget(QuantileDescent(), ZCDP(rho=0.5))
