"""Settings, samples and checks for the tests of one-pass truncated mirror descent.

Every check raises AssertionError on a fault. Statistical checks have a false-alarm rate of 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpsco_core.data import DenseRows
from dpsco_core.geometry.geometries import Geometry
from dpsco_core.geometry.norms import dual_exponent, row_norms
from dpsco_core.methods import steps as kinds_of_steps
from dpsco_core.methods.base import Release
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.lq import mirror as lp_mirror
from dpsco_core.methods.lq.truncated import (
    BatchedMirrorDescent,
    EuclideanReduction,
    ShuffledMirrorDescent,
)
from dpsco_core.privacy import (
    ZCDP,
    ApproxDP,
    Budget,
    Ledger,
    amplify,
    gaussian_rho,
    shuffle_steps,
    zcdp_rho,
)
from dpsco_core.problems.base import Constants, LinearModel, Setting
from dpsco_core.problems.links import SquaredLink
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from tests.methods.euclidean.losses import LINKS, POINTS, make_records

Array = NDArray[np.float64]

FALSE_ALARM = 1e-6
CONCENTRATED, APPROXIMATE = ZCDP(rho=0.5), ApproxDP(epsilon=0.8, delta=1e-6)
GG, GAUSSIAN = "generalized gaussian", "gaussian"
SHUFFLED, BATCHED, REDUCED = ShuffledMirrorDescent, BatchedMirrorDescent, EuclideanReduction
MODELS = LINKS | {"least-squares": SquaredLink()}


def geometry(q: float) -> Geometry:
    """Return the geometry of an lq ball."""
    return Geometry(kind="lq", q=q)


def make_setting(
    q: float = 1.5,
    n: int = 40,
    d: int = 3,
    budget: Budget = CONCENTRATED,
    *,
    shape: Geometry | None = None,
    radius: float = 1.0,
    kind: str = "mean",
    **constants: Any,
) -> Setting:
    """Return a setting with smooth losses of bounded variance, on the set of a geometry."""
    shape = geometry(q) if shape is None else shape
    body = shape.constraint(d, radius)
    model = None
    if kind in MODELS:
        model = LinearModel(slope=1.0, curvature=1.0, feature_norm=1.0)
    certified: dict[str, Any] = {
        "coordinate_moment": 1.0,
        "directional_moment": 1.0,
        "variance_trace": float(d),
        "mean_gradient_bound": 0.5,
        "diameter": 2 * body.l2_radius,
        "smoothness": 0.0 if kind == "linear" else 1.0,
        "linear_model": model,
        "structure": "other" if kind == "other" else "mean" if model is None else "linear-model",
    }
    return Setting(
        n=n,
        d=d,
        moment_order=2.0,
        budget=budget,
        constants=Constants(**certified | constants),
        constraint=body,
        exponent=shape.exponent,
    )


def sample(setting: Setting, kind: str, x: Array, y: Array | None = None) -> Any:
    """Return a sample of a kind of loss on the setting's set."""
    if kind in POINTS:
        return PointSample(points=DenseRows(x), loss=POINTS[kind], constraint=setting.body)
    targets = np.ones(len(x)) if y is None else y
    return LinearSample(
        features=DenseRows(x), targets=targets, link=MODELS[kind], constraint=setting.body
    )


@dataclass
class Pulls:
    """The input of every mirror step, and the point at which the step was taken."""

    gradients: list[Array] = field(default_factory=list)
    points: list[Array] = field(default_factory=list)


@contextmanager
def visiting(points: Array) -> Iterator[Pulls]:
    """Make every run query the given points, whatever the gradients; yield a record of the
    gradients and points.
    """
    pulls = Pulls()

    def step(mirror: Any, constraint: Any, w: Array, gradient: Array, weight: float) -> Array:
        """Record a gradient and its point, and return the next given point."""
        pulls.gradients.append(np.array(gradient))
        pulls.points.append(w)
        return np.asarray(points[len(pulls.points) % len(points)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds_of_steps, "mirror_step", step)
        yield pulls


def run(method: Any, setting: Setting, losses: Any, seed: int = 0) -> Release:
    """Release once, check that the value and the path are finite and in the set, and return the
    release.
    """
    ledger = Ledger(setting.budget)
    result: Release = method.release(
        losses, method.plan(setting), ledger, np.random.default_rng(seed)
    )
    assert result.ledger is ledger
    assert result.value.shape == (setting.d,)
    assert result.iterates is not None and result.iterate_steps is not None
    assert len(result.iterates) == len(result.iterate_steps)
    assert result.iterate_steps[-1] == result.diagnostics["steps"]
    for point in (result.value, *result.iterates):
        assert setting.body.contains(point, 1e-9)
    return result


@contextmanager
def planned(change: Callable[[Any], Any]) -> Iterator[None]:
    """Replace the plan by `change(mirror_plan)`; such changes may be nested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lp_mirror, "mirror_plan", change(lp_mirror.mirror_plan))
        yield


def changed_plan(plan: DescentPlan, **changes: Any) -> DescentPlan:
    """Return the plan with another threshold, and other steps, weights or batches."""
    assert isinstance(plan.statistic, lp_mirror.TruncatedMeans)
    assert isinstance(plan.descent, kinds_of_steps.MirrorSteps)
    threshold = changes.get("threshold", plan.statistic.threshold)
    steps = replace(
        plan.descent,
        steps=changes.get("steps", plan.descent.steps),
        weight=changes.get("step_weight", plan.descent.weight),
    )
    batch = changes.get("batch_size", plan.gradients // plan.descent.steps)
    means = replace(plan.statistic, threshold=threshold)
    return lp_mirror.build_plan(plan.setting, means, steps, batch, plan.notes)


def with_plan(**changes: Any) -> Any:
    """Change every plan by `changes`, which are values or functions of the plan."""

    def change(honest: Any) -> Any:
        """Return the method's `plan` with the changes made."""

        def changed(*arguments: Any) -> DescentPlan:
            """Make a plan, and change it."""
            plan = honest(*arguments)
            new = {k: v(plan) if callable(v) else v for k, v in changes.items()}
            return changed_plan(plan, **new)

        return changed

    return planned(change)


def in_steps(count: int) -> Any:
    """Return a change of plans that sets their number of steps."""
    return with_plan(steps=count, batch_size=lambda plan: plan.gradients // count)


def forced(order: str) -> Any:
    """Return a context in which plans may use only one kind of privacy accounting, such as
    "shuffled".
    """
    return planned(lambda honest: lambda setting, orders, *rest: honest(setting, (order,), *rest))


def exponent_of(method: Any, setting: Setting) -> float:
    """Return the exponent of the norm in which the method measures gradients."""
    return 2.0 if isinstance(method, REDUCED) else dual_exponent(setting.exponent)


def check_noise(method: Any, setting: Setting) -> None:
    """Check by chi-square at 1e-6, with zero gradients, that every step's noise has the ledger's
    scale.

    A sum of generalized Gaussian vectors has another law: for those a shuffled batch is one record.
    """
    plan, zeros = method.plan(setting), np.zeros((setting.n, setting.d))
    with visiting(np.zeros((1, setting.d))) as visited:
        ledger = Ledger(setting.budget)
        method.release(
            sample(setting, "linear", zeros), method.plan(setting), ledger, np.random.default_rng(5)
        )
    (entry,) = ledger.entries
    shuffled, is_generalised = entry.mechanism.startswith("shuffled"), GG in entry.mechanism
    assert entry.disjoint_blocks == (setting.n if shuffled else plan.descent.steps)
    assert not (shuffled and is_generalised) or plan.access.size == 1
    scale = entry.noise * math.sqrt(plan.access.size if shuffled else 1)
    noise = plan.access.size * np.array(visited.gradients) / scale
    exponent = plan.descent.space.smooth_exponent if is_generalised else 2.0
    total = float(np.square(row_norms(noise, exponent)).sum())
    law = stats.chi2(noise.size)
    assert 2 * min(law.cdf(total), law.sf(total)) > FALSE_ALARM
    assert len(np.unique(noise)) == noise.size


def check_ledger(method: Any, setting: Setting) -> None:
    """Check that the ledger has one entry, which spends the whole budget with the noise of
    theory/su-zhao-wang.md, 2.5 and 2.6.
    """
    ledger = Ledger(setting.budget)
    rng = np.random.default_rng(0)
    x, y = make_records(setting.n, setting.d)
    result = method.release(sample(setting, "logistic", x, y), method.plan(setting), ledger, rng)
    (entry,) = ledger.entries
    plan = method.plan(setting)
    assert entry.noise == result.diagnostics["noise_std"]
    assert not ledger.flaws
    budget, noise = setting.budget, GG if GG in entry.mechanism else GAUSSIAN
    if entry.mechanism.startswith("shuffled"):
        assert ledger.spent() == budget
        assert isinstance(budget, ApproxDP)
        curve: Any = "zcdp" if noise == GG else "gaussian"
        if method.calibration == "tight":
            rho = shuffle_steps(setting.n, budget.epsilon, budget.delta, curve).rho_step
        else:
            amplified = amplify(setting.n, budget.epsilon, budget.delta, "closed")
            assert amplified is not None
            rho = amplified.epsilon_group**2 / (-4 * math.log(amplified.delta_group))
    elif isinstance(budget, ZCDP):
        rho = budget.rho
        assert ledger.spent() == budget
    elif method.calibration == "paper":
        rho = budget.epsilon**2 / (-4 * math.log(budget.delta))  # type: ignore[union-attr]
        spent = ledger.spent()
        assert isinstance(spent, ApproxDP) and spent.epsilon <= budget.epsilon  # type: ignore[union-attr]
    else:
        assert ledger.spent() == budget
        rho = (gaussian_rho if noise == GAUSSIAN else zcdp_rho)(budget.epsilon, budget.delta)  # type: ignore[union-attr]
    dual = exponent_of(method, setting)
    factor = math.sqrt(plan.descent.space.kappa) if noise == GG else setting.d ** (0.5 - 1 / dual)
    expected = factor * 2 * plan.statistic.threshold / math.sqrt(2 * rho)
    assert entry.noise == pytest.approx(expected, rel=1e-9)
