"""Small problems with Lipschitz losses, and a ledger that records every noisy release of a run.

The settings certify a Lipschitz constant of 1 on records of norm 1 and a ball of radius 1 (2 for
half the squared distance). The samples may contain any record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsco_core.data import DenseRows
from dpsco_core.geometry.ball import Ball
from dpsco_core.methods.base import Release
from dpsco_core.privacy import ZCDP, ApproxDP, Budget, Ledger, PureDP, gaussian_rho, zcdp_rho
from dpsco_core.problems.base import Constants, LinearModel, Setting
from dpsco_core.problems.links import HingeLink, HuberLink, LogisticLink
from dpsco_core.problems.point_losses import Distance, HalfSquaredDistance, NegativeProduct
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.protocol import Sample
from tests.broken_records import ADVERSARIAL, adversarial

Array = NDArray[np.float64]

FALSE_ALARM = 1e-6
CONCENTRATED, APPROXIMATE = ZCDP(rho=0.5), ApproxDP(epsilon=0.8, delta=1e-6)
BUDGETS: tuple[Budget, ...] = (
    CONCENTRATED,
    APPROXIMATE,
    ZCDP(rho=1e-4),
    ZCDP(rho=40.0),
    ApproxDP(epsilon=0.1, delta=1e-9),
    ApproxDP(epsilon=0.05, delta=1e-5),
    ApproxDP(epsilon=30.0, delta=1e-5),
)
PURE = PureDP(epsilon=1.0)
LINKS = {"logistic": LogisticLink(), "huber": HuberLink(), "hinge": HingeLink()}
POINTS = {"mean": HalfSquaredDistance(), "linear": NegativeProduct(), "other": Distance()}
SMOOTH = ("logistic", "huber", "mean", "linear")


def constants(kind: str, *, lipschitz: bool = True, radius: float = 1.0, d: int = 3) -> Constants:
    """Return the certified constants of a kind of loss on a ball; without `lipschitz` no Lipschitz
    constant is certified.
    """
    link = LINKS.get(kind)
    model = None
    if link is not None:
        model = LinearModel(slope=1.0, curvature=link.curvature_bound, feature_norm=1.0)
    certified = {"mean": 1 + radius}.get(kind, 1.0) if lipschitz else np.inf
    smoothness = {"hinge": np.inf, "other": np.inf, "linear": 0.0, "logistic": 0.25}
    return Constants(
        coordinate_moment=1.0,
        directional_moment=1.0,
        variance_trace=1.0,
        mean_gradient_bound=1.0 + radius,
        diameter=2 * radius,
        smoothness=smoothness.get(kind, 1.0),
        sample_strong_convexity=1.0 if kind == "mean" else 0.0,
        strong_convexity=1.0 if kind == "mean" else 0.0,
        lipschitz=certified,
        twice_differentiable=kind in ("logistic", "mean", "linear"),
        linear_model=model,
        structure="linear-model" if model is not None else kind,  # type: ignore[arg-type]
    )


def make_setting(
    kind: str,
    n: int = 40,
    d: int = 3,
    budget: Budget = CONCENTRATED,
    *,
    lipschitz: bool = True,
    radius: float = 1.0,
) -> Setting:
    """Return a setting for a kind of loss on a ball."""
    return Setting(
        n=n,
        d=d,
        moment_order=2.0,
        budget=budget,
        constants=constants(kind, lipschitz=lipschitz, radius=radius, d=d),
    )


def sample(kind: str, x: Array, y: Array | None = None, radius: float = 1.0) -> Sample:
    """Return a sample of a kind of loss with these records."""
    ball = Ball(d=x.shape[1], radius=radius)
    if kind in POINTS:
        return PointSample(points=DenseRows(x), loss=POINTS[kind], constraint=ball)
    targets = np.ones(len(x)) if y is None else y
    return LinearSample(features=DenseRows(x), targets=targets, link=LINKS[kind], constraint=ball)


def make_records(n: int, d: int, seed: int = 0, shift: float = 0.0) -> tuple[Array, Array]:
    """Return records of norm at most 1, and targets that are valid for all links."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) / np.sqrt(d) + shift
    x /= np.maximum(1, np.linalg.norm(x, axis=1))[:, None]
    return x, (rng.random(n) < 0.5).astype(float)


def neighbours(n: int, d: int, index: int, seed: int = 0) -> list[tuple[Array, Array]]:
    """Return data sets (x, y) that differ in the record `index`, which takes any value.

    All of them share a second record that is as extreme.
    """
    x, y = make_records(n, d, seed)
    x[(index + 1) % n] = adversarial((1e300, -1e9), d)
    pairs = [(x, y)]
    for pattern in (*ADVERSARIAL, (1.0,), (-1.0,), (1.0, -1.0)):
        changed = x.copy()
        changed[index] = adversarial(pattern, d)
        pairs.append((changed, y))
    for target in (np.nan, np.inf, -np.inf, 1e300, 1 - y[index]):
        changed = y.copy()
        changed[index] = target
        pairs.append((x, changed))
    return pairs


@dataclass
class Releases:
    """The exact values and noise deviations of all releases; no noise is added.

    Steps and the linear term of an objective consist of noise alone, and become 0.
    """

    values: list[Array] = field(default_factory=list)
    stds: list[float] = field(default_factory=list)

    def add(self, value: Array, noise_std: float, rng: np.random.Generator) -> Array:
        """Record a value and its noise, and return the value without noise."""
        self.values.append(np.array(value))
        self.stds.append(noise_std)
        return value

    def no_noise(self, shape: Any, noise_std: float, rng: np.random.Generator) -> Array:
        """Record the deviation of a noise, and return zeros."""
        self.stds.append(noise_std)
        return np.zeros(shape)


@pytest.fixture
def releases(monkeypatch: pytest.MonkeyPatch) -> Releases:
    """Record each noiseless release, and return the record."""
    recorded = Releases()
    monkeypatch.setattr("dpsco_core.privacy.mechanisms.gaussian.add_gaussian_noise", recorded.add)
    monkeypatch.setattr("dpsco_core.privacy.mechanisms.objective.gaussian_noise", recorded.no_noise)
    monkeypatch.setattr("dpsco_core.privacy.mechanisms.steps.gaussian_noise", recorded.no_noise)
    return recorded


def run(
    method: Any,
    setting: Setting,
    losses: Sample,
    seed: int = 0,
    rng: np.random.Generator | None = None,
) -> Release:
    """Release once, check that the result is finite and in the ball, and return it."""
    ledger = Ledger(setting.budget)
    rng = np.random.default_rng(seed) if rng is None else rng
    result: Release = method.release(losses, method.plan(setting), ledger, rng)
    assert result.ledger is ledger
    assert result.value.shape == (setting.d,)
    assert np.linalg.norm(result.value) <= losses.constraint.radius * (1 + 1e-12)
    assert result.iterates is not None and result.iterate_steps is not None
    assert len(result.iterates) == len(result.iterate_steps)
    assert np.isfinite(result.iterates).all()
    return result


def expected_rho(calibration: str, budget: Budget) -> float:
    """Return the rho of a Gaussian method, from the papers' formulas."""
    if isinstance(budget, ZCDP):
        return budget.rho
    assert isinstance(budget, ApproxDP)
    if calibration == "paper":
        return zcdp_rho(budget.epsilon, budget.delta, "paper")
    return gaussian_rho(budget.epsilon, budget.delta)


def check_spent(method: Any, budget: Budget, ledger: Ledger) -> None:
    """Check that the budget is spent, or less where a paper's conversion to zCDP is loose."""
    spent = ledger.spent()
    if method.calibration == "tight" or isinstance(budget, ZCDP):
        assert spent == budget
        return
    assert isinstance(spent, ApproxDP) and isinstance(budget, ApproxDP)
    assert spent.delta == budget.delta
    assert 0.5 * budget.epsilon < spent.epsilon < budget.epsilon
