"""Small settings, samples and worst-case replaced users for user-level optimisers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsco_core.methods.base import Release
from dpsco_core.privacy import Budget, Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.users import ItemSample, UserSample
from tests.broken_records import ADVERSARIAL, adversarial
from tests.methods.euclidean.losses import CONCENTRATED, make_records, make_setting, sample

Array = NDArray[np.float64]
Data = tuple[Array, Array]


def user_setting(
    kind: str,
    n: int = 40,
    m: int = 3,
    d: int = 3,
    budget: Budget = CONCENTRATED,
    *,
    lipschitz: bool = True,
    radius: float = 1.0,
) -> Setting:
    """Return the setting of a loss with n users of m items."""
    return replace(make_setting(kind, n, d, budget, lipschitz=lipschitz, radius=radius), m=m)


def users(kind: str, data: Data, m: int, radius: float = 1.0) -> ItemSample:
    """Return users of m consecutive records each."""
    return ItemSample(records=sample(kind, *data, radius=radius), items=m)


def honest_records(n: int, m: int, d: int, seed: int = 0, shift: float = 0.0) -> Data:
    """Return n m records of norm at most 1, and targets."""
    return make_records(n * m, d, seed, shift)


def replaced_users(n: int, m: int, d: int, user: int, seed: int = 0) -> list[Data]:
    """Return a data set, and others in which all items of user `user` are arbitrary.

    Replaced items are broken (all or one), huge, the same unit vector or its opposite, which move
    gradients most, or have invalid targets. All data sets share a bad item of another user.
    """
    x, y = honest_records(n, m, d, seed)
    x[((user + 1) % n) * m] = adversarial((1e300, -1e9), d)
    block = slice(user * m, (user + 1) * m)
    pairs = [(x, y)]
    for pattern in (*ADVERSARIAL, (1.0,), (-1.0,), (1.0, -1.0)):
        whole_block, one_item = x.copy(), x.copy()
        whole_block[block] = adversarial(pattern, d)
        one_item[user * m] = adversarial(pattern, d)
        pairs += [(whole_block, y), (one_item, y)]
    for target in (np.nan, np.inf, -np.inf, 1e300):
        targets = y.copy()
        targets[block] = target
        pairs.append((x, targets))
    for label in (0.0, 1.0):  # The items equal a unit vector: the largest effect on a linear model.
        for sign in (1.0, -1.0):
            whole_block, targets = x.copy(), y.copy()
            whole_block[block], targets[block] = sign * np.eye(d)[0], label
            pairs.append((whole_block, targets))
    return pairs


@dataclass
class TestedReleases:
    """Scores and values of the tested releases of a run; neither gets any noise."""

    __test__ = False

    scores: list[float] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    stds: list[float] = field(default_factory=list)

    def score(self, value: Array, scale: float, rng: np.random.Generator) -> Array:
        """Record a score, and return it without noise."""
        self.scores.append(float(value[0]))
        return value

    def value(self, value: Array, noise_std: float, rng: np.random.Generator) -> Array:
        """Record a value and its noise, and return the value without noise."""
        self.values.append(np.array(value))
        self.stds.append(noise_std)
        return value


@pytest.fixture
def tested(monkeypatch: pytest.MonkeyPatch) -> TestedReleases:
    """Record what passes through the noisy tests, without noise."""
    recorded = TestedReleases()
    monkeypatch.setattr("dpsco_core.privacy.mechanisms.tested.add_laplace_noise", recorded.score)
    monkeypatch.setattr("dpsco_core.privacy.mechanisms.tested.add_gaussian_noise", recorded.value)
    return recorded


def run_users(method: Any, setting: Setting, sample: UserSample, seed: int = 0) -> Release:
    """Release once; check that the result is finite, in the ball and of the setting's ledger."""
    ledger = Ledger(setting.budget)
    result: Release = method.release(
        sample, method.plan(setting), ledger, np.random.default_rng(seed)
    )
    assert result.ledger is ledger
    assert result.value.shape == (setting.d,)
    assert np.linalg.norm(result.value) <= setting.constants.diameter / 2 * (1 + 1e-12)
    assert result.iterates is not None and result.iterate_steps is not None
    assert len(result.iterates) == len(result.iterate_steps)
    assert np.isfinite(result.iterates).all()
    return result
