"""Deliberate faults of methods that take records one by one, in phases, or behind a filter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dpsco_core.methods.euclidean.private_sgd import PrivateSgd
from dpsco_core.methods.user import phased_sgd, phased_shapes
from dpsco_core.privacy.filter import plan as filter_plan

Patch = pytest.MonkeyPatch


def noise_of_one_gradient(patch: Patch) -> None:
    """Plan for neighbours that leave a record out, although a neighbour replaces the record by
    another one.
    """
    honest = PrivateSgd.plan

    def halved(self: Any, setting: Any) -> Any:
        """Return the honest plan with half of its sensitivity and noise."""
        plan = honest(self, setting)
        return replace(plan, l2_sensitivity=plan.l2_sensitivity / 2, noise_std=plan.noise_std / 2)

    patch.setattr(PrivateSgd, "plan", halved)


def a_thousandth_of_the_filters_sensitivity(patch: Patch) -> None:
    """Divide the sharp sensitivity of filters by a thousand."""
    sharp = filter_plan.sharp_weights_sensitivity
    patch.setattr(filter_plan, "sharp_weights_sensitivity", lambda *args: 1e-3 * sharp(*args))
    # Cached plans have the honest sensitivity, so the cache is left out.
    for name in ("practical_shape", "tight_plan"):
        unkept = getattr(phased_shapes, name).__wrapped__
        patch.setattr(phased_shapes, name, unkept)
        patch.setattr(phased_sgd, name, unkept)
