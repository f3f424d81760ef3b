"""Users, settings and recorded releases for the tests of user-level accelerated descent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsco_core.data import DenseRows
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.base import Release
from dpsco_core.privacy import ApproxDP, Budget, Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.point_losses import HalfSquaredDistance
from dpsco_core.problems.samples.users import ItemSample, MeanSample, UserSample
from tests.methods.euclidean.losses import make_records, make_setting, sample

Array = NDArray[np.float64]

BUDGET = ApproxDP(epsilon=4.0, delta=1e-6)
FALSE_ALARM = 1e-6
BROKEN = (math.nan, math.inf, -math.inf, 1e300, -1e300, 1e160, 1e20, 1e5, 3.0)


def users_setting(
    kind: str, users: int, items: int, d: int = 3, budget: Budget = BUDGET, **fields: Any
) -> Setting:
    """Return the setting of a kind of loss on a unit ball, with L = 1 (L = 2 for half the squared
    distance).
    """
    return replace(make_setting(kind, users, d, budget, **fields), m=items)


def items_of(kind: str, users: int, items: int, d: int = 3, seed: int = 0) -> ItemSample:
    """Return users whose items have norm at most 1."""
    x, y = make_records(users * items, d, seed)
    return ItemSample(records=sample(kind, x, y), items=items)


def means_of(means: Array, items: int, radius: float = 1.0) -> MeanSample:
    """Return users of half the squared distance with these means."""
    return MeanSample(
        means=DenseRows(means),
        items=items,
        loss=HalfSquaredDistance(),
        constraint=Ball(d=means.shape[1], radius=radius),
    )


def replaced(kind: str, users: int, items: int, user: int, d: int = 3) -> Iterator[ItemSample]:
    """Yield users, and then other sets of them in which all items of user `user` are arbitrary."""
    x, y = make_records(users * items, d, 1)
    block = slice(user * items, (user + 1) * items)
    yield ItemSample(records=sample(kind, x, y), items=items)
    for value in BROKEN:
        changed = x.copy()
        changed[block] = value
        yield ItemSample(records=sample(kind, changed, y), items=items)
        changed = x.copy()
        changed[user * items, 0] = value
        yield ItemSample(records=sample(kind, changed, y), items=items)
    changed, targets = x.copy(), y.copy()
    changed[block], targets[block] = -x[block][:, ::-1], np.nan
    yield ItemSample(records=sample(kind, changed, y), items=items)
    yield ItemSample(records=sample(kind, x, targets), items=items)


class Recorder:
    """What went through the ledgers: scores, exact means, their noise, and the releases.

    The only noise added is a fixed one. On a replay every release equals that of the initial run,
    so both runs query gradients at the same points.
    """

    def __init__(self, patch: pytest.MonkeyPatch, jitter: float = 0.0) -> None:
        """Replace the noise of tested releases by draws that are recorded."""
        self.jitter, self.replays = jitter, False
        self.rng = np.random.default_rng(99)
        self.outputs: list[Array] = []
        self.clear()
        patch.setattr("dpsco_core.privacy.mechanisms.tested.add_gaussian_noise", self.gaussian)
        patch.setattr("dpsco_core.privacy.mechanisms.tested.add_laplace_noise", self.laplace)

    def clear(self) -> None:
        """Forget all recorded values, deviations and scores."""
        self.values: list[Array] = []
        self.stds: list[float] = []
        self.scores: list[float] = []
        self.scales: list[float] = []

    def replay(self) -> None:
        """Make later releases return the values of the releases so far."""
        self.clear()
        self.replays = True

    def gaussian(self, value: Array, std: float, rng: np.random.Generator) -> Array:
        """Record a value and its noise; return the value with a fixed noise, or on a replay that of
        the first run.
        """
        self.values.append(value.copy())
        self.stds.append(std)
        if not self.replays:
            self.outputs.append(value + self.jitter * self.rng.normal(size=value.shape))
        return self.outputs[len(self.values) - 1]

    def laplace(self, value: Array, scale: float, rng: np.random.Generator) -> Array:
        """Record a score and its noise, and return the score without noise."""
        self.scores.append(float(value[0]))
        self.scales.append(scale)
        return value


def run(method: Any, setting: Setting, users: UserSample, seed: int = 0) -> Release:
    """Run a method once, check the properties that every result has, and return its release."""
    ledger = Ledger(setting.budget)
    release: Release = method.release(
        users, method.plan(setting), ledger, np.random.default_rng(seed)
    )
    assert release.ledger is ledger and ledger.spent() == setting.budget
    assert release.value.shape == (setting.d,) and np.isfinite(release.value).all()
    assert np.linalg.norm(release.value) <= users.constraint.l2_radius * (1 + 1e-12)
    assert release.iterates is not None and release.iterate_steps is not None
    assert len(release.iterates) == len(release.iterate_steps)
    assert {"steps", "gradient_calls", "filter_radius", "score_threshold", "noise_std"} <= set(
        release.diagnostics
    )
    return release
