"""The hardest instances of a mean for users with several records, whose blocks privacy hides."""

from typing import Any

import numpy as np

from dpsco_core.bounds.instances.hardest import largest_spike_probability
from dpsco_core.bounds.instances.leakage import (
    CONCENTRATED,
    approximate_leakage,
    concentrated_leakage,
)
from dpsco_core.bounds.instances.level import Level, binding_level
from dpsco_core.bounds.instances.tracing import (
    TracingBounds,
    hardest_tracing,
    largest_tracing_probability,
)
from dpsco_core.bounds.user.lower_spikes import hardest_spikes
from dpsco_core.bounds.user.lower_tracing import UserTracing
from dpsco_core.data.hard import Hypercube
from dpsco_core.data.tracing import Tracing
from dpsco_core.privacy.budget import Budget


def hardest_for_users(
    family: Any,  # the class of a hard instance, such as `Hypercube`
    n: int,
    m: int,
    d: int,
    moment_order: float,
    budget: Budget,
    mean_bound: float,
) -> dict[str, float]:
    """Return the spike probability at which a mean is hardest for n users of m records each.

    There the sharpest bound for all algorithms of the budget is largest: a bound at user level or,
    on tracing, one for all n m records. The result has the one key `spike_probability`; it is empty
    if the instance has no bound at user level.
    """
    level = binding_level(budget)
    if family is Hypercube:
        largest = largest_spike_probability("hypercube", d, moment_order, mean_bound)
        if largest == 0:
            return {}
        return {"spike_probability": hardest_spikes(n, m, d, moment_order, level, largest)}
    if family is Tracing:
        return _hardest_tracing(n, m, d, moment_order, level, mean_bound)
    return {}


def _hardest_tracing(
    n: int, m: int, d: int, moment_order: float, level: Level, mean_bound: float
) -> dict[str, float]:
    """Return the spike probability of the tracing instance with the largest bound, by its name."""
    leakage = (
        approximate_leakage(*level, d, CONCENTRATED)
        if isinstance(level, tuple)
        else concentrated_leakage(level)
    )
    pooled, shape = hardest_tracing("l2", n * m, d, moment_order, leakage, mean_bound)
    largest = largest_tracing_probability(d, moment_order, mean_bound, CONCENTRATED)
    if d == 1 or largest == 0:
        return {}
    records = TracingBounds(n=n * m, d=d, moment_order=moment_order, leakage=leakage)
    users = UserTracing(n=n, m=m, d=d, moment_order=moment_order, level=level, spread=CONCENTRATED)
    shapes = np.array([shape])
    q = users.best(largest, shapes)
    return {
        "spike_probability": max(
            (records.value_at("l2", pooled, shape), pooled), (users.value_at(q, shapes), q)
        )[1]
    }
