"""The window between proven bounds: one class, one notion of privacy, and what widens it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.classes import of_class
from dpsco_core.catalogue import BOUND_SLUGS, bound, problem_card
from dpsco_core.explain.window import notions_of, spans, window, worst_start
from dpsco_core.scenario import Scenario

DEFAULT = Scenario(p=2.0)


def test_at_the_default_scenario_the_window_for_zcdp_is_narrow() -> None:
    gap = window(DEFAULT, "zcdp")
    assert 1 < gap.ratio <= 2.3
    assert gap.upper is not None and gap.lower is not None
    of_setting = of_class(DEFAULT.setting)
    assert gap.ratio == pytest.approx(gap.upper.value(of_setting) / gap.lower.value(of_setting))
    assert gap.uppers[gap.upper.card.slug] == gap.ratio
    assert gap.lowers[gap.lower.card.slug] == pytest.approx(1 / gap.ratio)
    assert list(gap.uppers.values()) == sorted(gap.uppers.values())
    assert all(0 <= share < 1 for share in gap.shares.values())
    # Causes that do the same within a few per cent are named with the largest.
    largest = max(gap.shares.values())
    assert gap.widest == ("privacy noise", "clipping bias")
    assert [n for n, share in gap.shares.items() if share < largest - 0.05] == ["sampling"]


def test_bounds_on_every_algorithm_leave_a_wider_window() -> None:
    wide, narrow = window(DEFAULT, "approx"), window(DEFAULT, "zcdp")
    assert wide.ratio > narrow.ratio
    assert wide.lower is not None
    assert wide.lower.card.privacy in ("approx", "none")
    assert not any(bound(slug).card.privacy == "zcdp" for slug in wide.lowers)


@pytest.mark.parametrize("n", [1000, 30_000])
@pytest.mark.parametrize("d", [2, 50])
@pytest.mark.parametrize("p", [2.0, 6.0])
@pytest.mark.parametrize("problem", ["mean", "linear", "quadratic"])
def test_no_window_is_below_a_ratio_of_one(problem: str, n: int, d: int, p: float) -> None:
    scenario = replace(DEFAULT, problem=problem, n=n, d=d, p=p, methods=())
    for notion in ("approx", "zcdp"):
        assert window(scenario, notion).ratio >= 1  # type: ignore[arg-type]
    pure = replace(scenario, delta=0.0)
    assert window(pure, "pure").ratio >= 1


@pytest.mark.parametrize(
    "budget", [{}, {"delta": 0.0}, {"epsilon": None, "delta": None, "rho": 0.2}]
)
def test_the_window_of_squared_distances_is_at_most_half_the_square_of_a_means(
    budget: dict[str, float | None],
) -> None:
    """The mean, projected on the set, is an optimiser; the set contains every mean of norm R."""
    mean = replace(DEFAULT, methods=(), **budget)  # type: ignore[arg-type]
    risk = replace(mean, problem="quadratic")
    for notion in notions_of(mean):
        error = window(mean, notion).ceiling
        assert window(risk, notion).ceiling == pytest.approx(error**2 / 2, rel=1e-9)
    [span] = spans(risk)
    assert span.upper is not None and span.upper.card.problems == ("quadratic",)
    assert span.low < span.high < worst_start(risk) / 50


def test_the_window_of_linear_losses_uses_bounds_made_for_every_norm() -> None:
    """The reference is B4 of theory/su-zhao-wang.md, 3.6, at q = 2, beta = 0 and variance d,
    written out here.
    """
    scenario = replace(DEFAULT, problem="linear", n=50_000, d=20, epsilon=5.0, methods=())
    [span] = spans(scenario)
    of_setting = of_class(scenario.setting)
    rows = [
        row
        for slug in BOUND_SLUGS
        if (row := bound(slug)).card.geometry == "lq"
        and (row.card.kind, row.card.constant) == ("upper", "explicit")
        and row.card.applies_to(problem_card("linear").loss_class)
        and not row.failures(of_setting)
    ]
    of_norms = min(row.value(of_setting) for row in rows)
    radius, gradient = of_setting.constants.diameter / 2, of_setting.constants.mean_gradient_bound
    assert (radius, gradient, of_setting.constants.variance_trace) == (2, 1, pytest.approx(20))

    def b4(steps: int, room: float) -> float:
        """Return bound B4 with a number of steps, truncated at the gradient bound plus `room`."""
        batch = scenario.n // steps
        ratio = max(1.0, gradient / room)
        bias = min(20 / room * (1 + gradient / room), 20**0.5 * ratio)
        noise = 4 * (gradient + room) ** 2 * 20 / (2 * of_setting.gaussian_rho * batch**2)
        spread = 20 * ratio**2 / batch + noise
        return radius * (spread / steps) ** 0.5 + 2 * radius * bias

    smallest = min(b4(t, x) for t in (1, 2, 5, 20) for x in np.geomspace(1, 1e4, 500))
    assert of_norms == pytest.approx(smallest, rel=1e-3)
    # The bound by one step is sharper.
    assert span.low < span.high < of_norms < worst_start(scenario) / 5


def test_on_its_own_instance_the_class_is_distinguished_from_the_law() -> None:
    scenario = replace(DEFAULT, distribution="hypercube")
    assert window(scenario, "zcdp").ratio == pytest.approx(window(DEFAULT, "zcdp").ratio, rel=1e-9)
    assert of_class(scenario.setting).spike_probability is None


@pytest.mark.parametrize(
    ("point", "notion"),
    [
        (DEFAULT, "pure"),
        (replace(DEFAULT, delta=0.0), "zcdp"),
        (replace(DEFAULT, epsilon=None, delta=None, rho=0.1), "approx"),
    ],
)
def test_a_notion_that_the_budget_lacks_is_named(point: Scenario, notion: str) -> None:
    with pytest.raises(InvalidInput, match="notion must be"):
        window(point, notion)  # type: ignore[arg-type]
