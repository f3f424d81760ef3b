"""Words that the help of several fields shares."""

from collections.abc import Callable
from typing import Any

from dpsco_core import catalogue
from dpsco_core.problems import MeanEstimation

HARD = (
    " The hard instances are the laws on which the lower bounds are proven; they draw a new "
    "pattern in every trial."
)
RECORD = (
    "The law of a record. Each is scaled so that every coordinate's central moment of order $p$ "
    "is 1." + HARD
)
CLIPPED = "How far the true mean is from 0, where clipping is centred."
STARTS = "is from 0, where every optimiser starts."


def words(mean: str, points: str, features: str = "") -> Callable[[Any], str]:
    """Return words of estimation, of losses of a record and, if they differ, of linear models."""

    def chosen(scenario: Any) -> str:
        if scenario.problem == MeanEstimation.card.slug:
            return mean
        return features if features and scenario.problem in catalogue.LINEAR_MODELS else points

    return chosen
