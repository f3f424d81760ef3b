"""Settings of optimisation problems for the tests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dpsco_core.bounds.euclidean.rows import SCO_BOUNDS
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.problems.base import Constants, Setting

BY_SLUG = {bound.card.slug: bound for bound in SCO_BOUNDS}


def make_setting(
    n: int = 10_000,
    d: int = 20,
    order: float = 4.0,
    budget: Budget | None = None,
    spike_probability: float | None = None,
    **constants: Any,
) -> Setting:
    """Return a strongly convex, Lipschitz mean problem with unit moments, unless overridden."""
    defaults: dict[str, Any] = {
        "coordinate_moment": 1.0,
        "directional_moment": 1.0,
        "variance_trace": float(d),
        "mean_gradient_bound": 2.0,
        "diameter": 2.0,
        "smoothness": 1.0,
        "sample_smoothness": 1.0,
        "strong_convexity": 1.0,
        "sample_strong_convexity": 1.0,
        "lipschitz": 5.0,
        "lipschitz_second": 4.0,
        "lipschitz_moment": 4.5,
        "minimum_interior": True,
        "nonnegative": True,
        "twice_differentiable": True,
        "structure": "mean",
    }
    return Setting(
        n=n,
        d=d,
        moment_order=order,
        budget=ApproxDP(epsilon=0.5, delta=1e-6) if budget is None else budget,
        constants=Constants(**{**defaults, **constants}),
        spike_probability=spike_probability,
    )


def with_constants(setting: Setting, **changes: Any) -> Setting:
    """Return the setting with some of its certified constants changed."""
    return replace(setting, constants=replace(setting.constants, **changes))


def random_settings(
    count: int, seed: int, budgets: tuple[str, ...] = ("zcdp", "approx", "pure")
) -> Iterator[Setting]:
    """Yield settings with consistent constants, like those of one problem in a centred ball."""
    source = random.Random(seed)
    for _ in range(count):
        strength = 10 ** source.uniform(-3, 1)
        budget: Budget = {
            "zcdp": ZCDP(rho=strength),
            "approx": ApproxDP(epsilon=min(strength, 8.0), delta=1e-6),
            "pure": PureDP(epsilon=strength),
        }[source.choice(budgets)]
        d = source.choice([1, 2, 5, 16, 40, 200])
        order = source.choice([2, 2.5, 3, 4, 10, 100])
        scale = source.choice([1.0, 1.0, 0.3, 5.0])
        diameter = 10 ** source.uniform(-1, 1)
        modulus = 10 ** source.uniform(-1, 1)
        smoothness = modulus * source.choice([1.0, 1.0, 4.0, 100.0])
        gradient = smoothness * diameter * source.uniform(0.5, 1)
        yield make_setting(
            n=int(10 ** source.uniform(0.3, 7)),
            d=d,
            order=order,
            budget=budget,
            coordinate_moment=scale**order,
            directional_moment=d**0.5 * scale + gradient,
            variance_trace=d * scale**2,
            mean_gradient_bound=gradient,
            diameter=diameter,
            smoothness=smoothness,
            sample_smoothness=smoothness,
            strong_convexity=modulus,
            sample_strong_convexity=modulus,
            lipschitz=10 * d**0.5 * scale + gradient,
            lipschitz_second=0.8 * d**0.5 * scale + gradient,
            lipschitz_moment=d**0.5 * scale + gradient,
        )
