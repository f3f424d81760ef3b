"""Follow-ups of a study: the same study with another tail, and the records that halve an error."""

from __future__ import annotations

import math
from dataclasses import replace

from dpsco_core.catalogue import HARD_INSTANCES
from dpsco_core.scenario import Scenario

HEAVY, LIGHT = 2.0, 10.0  # Two tails are compared at these tail indices.
LIGHT_FROM = 6.0  # From here on, a tail is compared with the heavy one.
FLAT = 0.1  # A slope closer to 0 counts as flat.


def with_other_tail(scenario: Scenario) -> Scenario | None:
    """Return the study with a light tail, or with a heavy one if its own tail is light.

    Everything else stays, including the seed, so that the trials are paired. Compare the two
    studies by their prices of privacy, not by raw errors. The result is None for a sweep over the
    tail index and on hard instances.
    """
    if scenario.axis == "p" or scenario.distribution in HARD_INSTANCES:
        return None
    return replace(scenario, p=HEAVY if scenario.p >= LIGHT_FROM else LIGHT)


def times_to_halve(slope: float) -> float:
    """Return the factor by which the records must grow to halve an error; infinite if flat.

    `slope` is the exponent of the error as a power of n.

    Examples
    --------
    >>> times_to_halve(-0.5)
    4.0
    """
    return 2 ** (-1 / slope) if slope < -FLAT else math.inf
