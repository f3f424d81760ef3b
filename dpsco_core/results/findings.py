"""What a sweep shows: the study with the other tail, records to halve an error."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dpsco_core.catalogue import HARD_INSTANCES
from dpsco_core.scenario import Scenario

if TYPE_CHECKING:
    pass

HEAVY, LIGHT = 2.0, 8.0  # the tail indices that are compared
LIGHT_FROM = 6.0  # from this tail index on the heavy one is the other one
FLAT = 0.1  # a slope closer to 0 does not halve anything in reach


def with_other_tail(scenario: Scenario) -> Scenario | None:
    """Return the study with a light tail, or with a heavy one if its own is light.

    Everything else stays, the seed included: trials are paired. What compares the two is the price
    of privacy; raw errors at two tails do not. None along the tail index itself, and on hard
    instances.
    """
    if scenario.axis == "p" or scenario.distribution in HARD_INSTANCES:
        return None
    return replace(scenario, p=HEAVY if scenario.p >= LIGHT_FROM else LIGHT)


def times_to_halve(slope: float) -> float:
    """Return how many times the records halve an error that is a power of n; infinity if flat.

    Examples
    --------
    >>> times_to_halve(-0.5)
    4.0
    """
    return 2 ** (-1 / slope) if slope < -FLAT else math.inf
