"""Helpers shared by the tests of the l_q methods: settings with a geometry, and a recording ledger.

As in `tests.methods.euclidean.losses`, certified settings have the Lipschitz constant 1 on features
of norm 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpsco_core.geometry.geometries import L2, Geometry
from dpsco_core.privacy import Budget, Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample
from tests.methods.euclidean.losses import CONCENTRATED, Array, make_records, make_setting, sample

L1, LINF = Geometry(kind="l1"), Geometry(kind="linf")


def lq_geometry(q: float) -> Geometry:
    """Return the geometry of an lq ball."""
    return Geometry(kind="lq", q=q)


SMALL = (L1, lq_geometry(1.1), lq_geometry(1.5), L2)  # Geometries with exponent q <= 2.
LARGE = (L2, lq_geometry(4.0), lq_geometry(np.inf), LINF)  # Geometries with exponent q >= 2.


def geometric_setting(
    kind: str,
    geometry: Geometry,
    n: int = 40,
    d: int = 3,
    budget: Budget = CONCENTRATED,
    *,
    lipschitz: bool = True,
    radius: float = 1.0,
) -> Setting:
    """Return a setting of the Euclidean helper on another set, with half the diameter `radius`."""
    body = geometry.constraint(d, radius)
    flat = make_setting(kind, n, d, budget, lipschitz=lipschitz, radius=body.l2_radius)
    return replace(flat, constraint=body, exponent=geometry.exponent)


def place_on(geometry: Geometry, losses: Sample, radius: float = 1.0) -> Any:
    """Return the sample with another constraint set."""
    assert hasattr(losses, "constraint")
    return replace(losses, constraint=geometry.constraint(losses.d, radius))  # type: ignore[type-var]


def plain_records(kind: str, n: int, d: int, seed: int = 0) -> Sample:
    """Return a sample of a kind of loss with n records of norm at most 1, and targets."""
    return sample(kind, *make_records(n, d, seed))


@dataclass
class Remembering(Ledger):
    """A ledger that keeps the noisy value of every shaped release."""

    noisy: list[Array] = field(default_factory=list)

    def release(self, mechanism: Any, value: Array, rng: Any, *, label: str = "") -> Any:
        """Release a value, and keep the noisy value."""
        released = super().release(mechanism, value, rng, label=label)
        self.noisy.append(np.array(released))
        return released
