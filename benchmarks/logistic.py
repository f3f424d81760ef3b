"""Logistic regression on heavy-tailed features: speed, and excess risk beside public peers.

The task of the README: Student t features with three degrees of freedom and unit variance, d = 100,
rho = 0.5. Peers are measured where they are installed (the `bench` extra), on the same data, and
said to be missing otherwise.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable

import numpy as np

from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import make_method, method_card, methods_for
from dpsco_core.data.rows import rows_per_block
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.privacy import Ledger
from dpsco_core.problems import LinearSample, Logistic
from dpsco_core.scenario import Scenario

D = 100
TRIALS = 5
PURE_EPSILON = 1.0  # The pure budget that implies rho = 0.5.
CLIPPED_STEP = "clipped step over two passes"
METHODS = tuple(slug for slug in methods_for("logistic") if method_card(slug).level == "item")


def make_task(n: int) -> Scenario:
    """Return the scenario of logistic regression on n records, without methods."""
    return Scenario(
        problem="logistic",
        distribution="student-t",
        methods=(),
        p=2,
        margin=1,
        offset=2,
        diameter=10,
        epsilon=None,
        delta=None,
        rho=0.5,
        d=D,
        n=n,
    )


def draw(n: int, trial: int) -> tuple[Logistic, LinearSample]:
    """Return the problem and a sample of n records, which the number of the trial seeds."""
    problem = make_task(n).instance.problem
    assert isinstance(problem, Logistic)
    return problem, problem.sample(n, np.random.default_rng([7, trial]))


def time_clipped_step(ratios: Callable[..., dict[str, float]]) -> dict[str, float]:
    """Return the time of a clipped gradient over that of two passes over n = 100,000 features."""
    _, sample = draw(100_000, 0)
    w = np.full(D, 0.2)
    x = sample.features.x
    size = rows_per_block(D)

    def two_passes() -> np.ndarray:
        """Return the gradient's sum by two passes over the features."""
        margins = np.empty(len(x))
        for low in range(0, len(x), size):
            margins[low : low + size] = x[low : low + size] @ w
        total = np.zeros(D)
        for low in range(0, len(x), size):
            total += margins[low : low + size] @ x[low : low + size]
        return total

    sample.features.norms()  # A run computes the norms once for all its steps: they are not timed.
    return ratios(two_passes, {CLIPPED_STEP: lambda: clipped_mean(sample.gradients(w), 10.0)})


def measure_methods(n: int) -> dict[str, tuple[float, float, str]]:
    """Return mean excess risk, median CPU seconds and a remark for every method and library.

    The remark says why nothing was measured, and is empty otherwise.
    """
    rows: dict[str, tuple[float, float, str]] = {}
    for slug in METHODS:
        rows[slug] = _measure_method(slug, n)
    for name, package, fit in PEERS:
        if importlib.util.find_spec(package) is None:
            rows[name] = (np.nan, np.nan, f"{package} is not installed")
        else:
            rows[name] = _measure_peer(fit, n)
    return rows


def _measure_method(slug: str, n: int) -> tuple[float, float, str]:
    """Return a method's mean excess risk, median CPU seconds and refusal, empty if it can run."""
    scenario = make_task(n)
    method = make_method(slug, "tight", "practical")
    setting = scenario.setting
    try:
        plan = method.plan(setting)
    except NotApplicable as refusal:
        return np.nan, np.nan, str(refusal)
    errors, clock = [], []
    for trial in range(TRIALS):
        problem, sample = draw(n, trial)
        started = time.process_time()
        release = method.release(
            sample, plan, Ledger(scenario.budget), np.random.default_rng([8, trial])
        )
        clock.append(time.process_time() - started)
        errors.append(problem.excess_risk(release.value).value)
    return float(np.mean(errors)), float(np.median(clock)), ""


Fit = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _measure_peer(fit: Fit, n: int) -> tuple[float, float, str]:
    """Return the mean excess risk and median CPU seconds of a library's fit, and an empty text."""
    errors, clock = [], []
    for trial in range(TRIALS):
        problem, sample = draw(n, trial)
        started = time.process_time()
        with warnings.catch_warnings():
            # Both libraries warn about privacy leaks and convergence.
            warnings.simplefilter("ignore")
            w = fit(sample.features.x, sample.targets)
        clock.append(time.process_time() - started)
        errors.append(problem.excess_risk(problem.constraint.project(w)).value)
    return float(np.mean(errors)), float(np.median(clock)), ""


def _scikit_learn(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the fit of scikit-learn, without privacy."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=1e6, fit_intercept=False).fit(x, y)
    return np.asarray(fitted.coef_[0], dtype=np.float64)


def _diffprivlib(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the private fit of diffprivlib."""
    from diffprivlib.models import LogisticRegression

    model = LogisticRegression(
        epsilon=PURE_EPSILON,
        data_norm=float(np.sqrt(D)),
        C=1e3,
        fit_intercept=False,
        random_state=0,
    )
    return np.asarray(model.fit(x, y).coef_[0], dtype=np.float64)


def _opacus(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the fit of full-batch private gradient descent by opacus."""
    import torch
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    # The steps are full batches, as many as `sco.clipped` takes. The noise makes them 0.5-zCDP
    # together when a record is replaced: opacus adds noise_multiplier * max_grad_norm to the sum of
    # gradients.
    steps, clip = 12, float(np.sqrt(D))
    torch.manual_seed(0)
    torch.set_num_threads(1)
    layer = torch.nn.Linear(D, 1, bias=False).double()
    torch.nn.init.zeros_(layer.weight)
    model = GradSampleModule(layer)
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=4.0),
        noise_multiplier=2 / np.sqrt(2 * 0.5 / steps),
        max_grad_norm=clip,
        expected_batch_size=len(x),
    )
    features = torch.from_numpy(x)
    targets = torch.from_numpy(y)[:, None]
    loss = torch.nn.BCEWithLogitsLoss()
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model(features), targets).backward()
        optimizer.step()
    return np.asarray(layer.weight.detach().numpy()[0], dtype=np.float64)


PEERS: tuple[tuple[str, str, Fit], ...] = (
    ("scikit-learn (not private)", "sklearn", _scikit_learn),
    ("diffprivlib (pure, epsilon = 1)", "diffprivlib", _diffprivlib),
    ("opacus (zCDP, rho = 0.5)", "opacus", _opacus),
)
