"""Explicit upper bounds lie above the mean excess risk of their own method.

Each bound is evaluated at the parameters with which the method runs (``tuning="theory"``): clip
level, number of steps, step size, noise, ridge. A bound of the catalogue instead takes the
parameters that minimise it, so it is compared only where the two choices coincide.

False alarms: at most 1e-6 per comparison, one-sided, in the normal approximation of the mean over
trials with its estimated standard error (Student's quantile). Seeds are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from dpsco_core.bounds.euclidean import private_sgd as sco_private_sgd
from dpsco_core.bounds.euclidean.clipped import oracle as clipped_oracle
from dpsco_core.bounds.euclidean.strong import strong_risk
from dpsco_core.bounds.euclidean.uniform import convex_risk
from dpsco_core.bounds.mean.coordinatewise import mean_square
from dpsco_core.data import Hypercube, StudentT
from dpsco_core.methods.euclidean import (
    ClippedDescent,
    ObjectivePerturbation,
    ObjectivePerturbationStrong,
    PhasedSgd,
    PrivateSgd,
    Sgd,
    StrongCoordinatewiseDescent,
)
from dpsco_core.methods.euclidean.phased_sgd import bounded_risk
from dpsco_core.privacy import ZCDP, ApproxDP, Ledger
from dpsco_core.privacy.budget import Budget
from dpsco_core.problems import (
    Absolute,
    GeometricMedian,
    Hinge,
    Linear,
    Logistic,
    Quadratic,
    Setting,
)
from tests.bounds.euclidean.helpers import BY_SLUG
from tests.folded import one_in

FALSE_ALARM = 1e-6
APPROX = ApproxDP(epsilon=0.9, delta=1e-6)


def student_problem(problem: Any, d: int, p: float, radius: float) -> Any:
    """Return a problem on points of Student's law, with its mean at half the radius."""
    law = StudentT(d=d, moment_order=p, margin=0.5, offset=0.5 * radius)
    return problem(distribution=law, radius=radius)


def hypercube_problem(problem: Any, d: int, radius: float) -> Any:
    """Return a problem on hypercube records, half of them spikes; every record is Lipschitz."""
    law = Hypercube(d=d, moment_order=3.0, spike_probability=0.5)
    if problem in (Quadratic, Linear):
        return problem(distribution=law, radius=radius)
    return problem(features=law, radius=radius, offset=0.5 * radius)


def clipped_descent_risk_bound(setting: Setting) -> float:
    """Return the risk bound of Zhao et al., (11) with Lemma 5, at the parameters of Theorem 4."""
    plan, c = ClippedDescent(tuning="theory").plan(setting), setting.constants
    assert plan.rho == setting.gaussian_rho
    oracle = clipped_oracle(setting, plan.diagnostics["clip_radius"])
    second_moment = oracle.second_moment(plan.descent.steps)
    gradient, step = min(c.directional_moment, c.mean_gradient_bound), plan.descent.step_size
    bias = oracle.deviation + oracle.failure * oracle.reach
    risk = (c.diameter, gradient, bias, second_moment, plan.descent.steps)
    return sum(convex_risk(*risk, step=step))


def strongly_convex_risk_bound(setting: Setting) -> float:
    """Return the risk bound of Kamath et al., Theorem 3.2, at the parameters of Theorem 5.7."""
    plan, c = StrongCoordinatewiseDescent(tuning="theory").plan(setting), setting.constants
    steps, scale = plan.descent.steps, c.coordinate_moment ** (1 / setting.moment_order)
    parts = mean_square(
        replace(setting, n=setting.n // steps, budget=ZCDP(rho=plan.rho_step)),
        "gaussian",
        blocks=int(plan.diagnostics["blocks"]),
        tau=plan.diagnostics["clip_limit"] / 3 / scale,
    )
    deviation = parts.root_sum_square()
    return sum(strong_risk(c.diameter, c.strong_convexity, c.smoothness, deviation, steps)) ** 2


def private_sgd_risk_bound(setting: Setting) -> float:
    """Return the sharp form of Arora et al., Theorem 4, at the run's step size from the centre."""
    plan = PrivateSgd(tuning="theory").plan(setting)
    sharp = sco_private_sgd.sharp(setting, plan.noise_std, step=plan.step_size)
    return sum(sharp)


def phased_sgd_risk_bound(setting: Setting) -> float:
    """Return the risk bound in the proof of Feldman et al., Theorem 4.4, at the run's step size and
    phases.
    """
    plan = PhasedSgd(tuning="theory").plan(setting)
    step_size = 4 * plan.phases[0].step_size
    return bounded_risk(setting, plan.rho, setting.constants.lipschitz, len(plan.phases), step_size)


def objective_perturbation_risk_bound(setting: Setting) -> float:
    """Return the explicit bound on objective perturbation at the run's own parameters."""
    plan, c = ObjectivePerturbation(tuning="theory").plan(setting), setting.constants
    width = setting.body.gaussian_width().upper
    return (
        plan.linear_std * width / setting.n
        + plan.ridge * (c.diameter / 2) ** 2
        + c.lipschitz**2 / (plan.ridge * setting.n)
        + c.lipschitz * math.sqrt(plan.accuracy / plan.ridge)
        + c.lipschitz * math.sqrt(2 * plan.output_std * width)
    )


def catalogue_bound(slug: str) -> Callable[[Setting], float]:
    """Return the catalogue's bound `slug`, whose parameters are those of the method."""
    return BY_SLUG[slug].value


@dataclass(frozen=True, kw_only=True)
class Case:
    """A method, the problem that it solves, and a bound on its mean excess risk."""

    method: Any
    problem: Any
    bound: Callable[[Setting], float]
    n: int = 1000
    budget: Budget = APPROX
    trials: int = 20

    def risks(self, setting: Setting) -> np.ndarray:
        """Return the excess risk of every trial."""
        values = []
        for trial in range(self.trials):
            rng = np.random.default_rng([41, trial])
            drawn_problem = self.problem.draw(rng)
            sample = drawn_problem.sample(self.n, rng)
            release = self.method.release(
                sample, self.method.plan(setting), Ledger(self.budget), rng
            )
            values.append(drawn_problem.excess_risk(release.value).value)
        return np.array(values)


PSGD, PHASED = PrivateSgd(tuning="theory"), PhasedSgd(tuning="theory")
PERTURBED = ObjectivePerturbation(tuning="theory")
PAPER = ObjectivePerturbation(tuning="theory", calibration="paper")
STRONG_PAPER = ObjectivePerturbationStrong(tuning="theory", calibration="paper")
CLIPPED, STRONG = ClippedDescent(tuning="theory"), StrongCoordinatewiseDescent(tuning="theory")
ZCDP_1 = ZCDP(rho=1.0)
CASES = {
    "clipped": Case(
        method=CLIPPED,
        problem=student_problem(Quadratic, 2, 3.0, 1.0),
        bound=clipped_descent_risk_bound,
    ),
    "clipped-linear": Case(
        method=CLIPPED,
        problem=student_problem(Linear, 2, 3.0, 1.0),
        bound=clipped_descent_risk_bound,
        trials=60,
    ),
    "cwme-strong": Case(
        method=STRONG,
        problem=student_problem(Quadratic, 2, 4.0, 3.0),
        bound=strongly_convex_risk_bound,
        n=20_000,
        budget=ZCDP_1,
    ),
    "psgd-median": Case(
        method=PSGD,
        problem=student_problem(GeometricMedian, 2, 3.0, 1.0),
        bound=private_sgd_risk_bound,
    ),
    "psgd-logistic": Case(
        method=PSGD, problem=hypercube_problem(Logistic, 2, 1.0), bound=private_sgd_risk_bound
    ),
    "psgd-hinge": Case(
        method=PSGD, problem=hypercube_problem(Hinge, 2, 1.0), bound=private_sgd_risk_bound
    ),
    "psgd-linear": Case(
        method=PSGD,
        problem=hypercube_problem(Linear, 2, 1.0),
        bound=private_sgd_risk_bound,
        budget=ZCDP_1,
        trials=40,
    ),
    "psgd-utility": Case(
        method=PSGD,
        problem=hypercube_problem(Linear, 2, 1.0),
        bound=catalogue_bound("upper.sco.private-sgd-utility"),
        trials=120,
    ),
    "phased-logistic": Case(
        method=PHASED, problem=hypercube_problem(Logistic, 2, 1.0), bound=phased_sgd_risk_bound
    ),
    "phased-quadratic": Case(
        method=PHASED, problem=hypercube_problem(Quadratic, 2, 1.0), bound=phased_sgd_risk_bound
    ),
    "phased-linear": Case(
        method=PHASED,
        problem=hypercube_problem(Linear, 2, 1.0),
        bound=phased_sgd_risk_bound,
        budget=ZCDP_1,
    ),
    "perturbed-logistic": Case(
        method=PERTURBED,
        problem=hypercube_problem(Logistic, 2, 1.0),
        bound=objective_perturbation_risk_bound,
    ),
    "perturbed-linear": Case(
        method=PAPER,
        problem=hypercube_problem(Linear, 2, 1.0),
        bound=catalogue_bound("upper.sco.objective-perturbation-explicit"),
    ),
    "perturbed-paper": Case(
        method=PAPER,
        problem=hypercube_problem(Logistic, 2, 1.0),
        bound=catalogue_bound("upper.sco.objective-perturbation-explicit"),
    ),
    "perturbed-strong": Case(
        method=STRONG_PAPER,
        problem=hypercube_problem(Quadratic, 2, 1.0),
        bound=catalogue_bound("upper.sco.objective-perturbation-strong-explicit"),
    ),
    "sgd-linear": Case(
        method=Sgd(),
        problem=hypercube_problem(Linear, 2, 1.0),
        bound=catalogue_bound("upper.sco.sgd"),
        trials=40,
    ),
    "sgd-absolute": Case(
        method=Sgd(),
        problem=hypercube_problem(Absolute, 2, 1.0),
        bound=catalogue_bound("upper.sco.sgd"),
    ),
}


# Divisors of the bounds at which the check must fail.
TIGHT = {"psgd-linear": 1.5, "sgd-linear": 3.5, "psgd-utility": 6.0, "clipped-linear": 80.0}


@pytest.mark.parametrize("name", one_in(2, CASES))
def test_the_mean_excess_risk_is_below_the_bound_at_the_parameters_of_the_run(name: str) -> None:
    case = CASES[name]
    setting = case.problem.setting(case.n, case.budget)
    bound, risks = case.bound(setting), case.risks(setting)
    error = float(risks.std(ddof=1)) / math.sqrt(case.trials)
    allowance = float(student.isf(FALSE_ALARM, case.trials - 1)) * error
    assert risks.mean() - allowance <= bound
    if name in TIGHT:
        assert risks.mean() - allowance > bound / TIGHT[name]
