"""What newcomers write after the model of the printed methods, or where no code is printed.

With its tests; `test_recipes` walks it.
"""

from __future__ import annotations

from tests.printed_code import DOCSTRING, EXTEND, changed, code, section

PROBLEM = r'''"""What a newcomer has added."""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, ProblemCard
from dpsco_core.base.loss_classes import SMOOTH_STRONG
from dpsco_core.problems.base import Constants, ExcessRisk
from dpsco_core.problems.laws import mean_inside
from dpsco_core.problems.point_losses import PointLoss
from dpsco_core.problems.points import PointProblem


@dataclass(frozen=True)
class WholeSquaredDistance(PointLoss):
    r""":math:`\ell(w, z) = \|w-z\|_2^2`."""

    needs_only_the_mean = True

    def value(self, w: Vector, points: Vector) -> Vector:
        steps = w - points
        return np.asarray(np.vecdot(steps, steps))

    def gradients(self, w: Vector, points: Vector) -> Vector:
        return 2 * (w - points)

    def gradient(self, w: Vector, point: Vector) -> Vector:
        return 2 * (w - point)


@dataclass(frozen=True, kw_only=True)
class Walked(PointProblem):
    r"""The squared distance: the Hessian is twice the identity, a gradient is 2(w - Z)."""

    exact_risk = True
    card = ProblemCard(
        slug="walked",
        name="Whole squared distance",
        paper=FOLKLORE,
        statement="Squared distance",
        summary="Minimise the expected squared distance to heavy-tailed records.",
        loss_class=SMOOTH_STRONG,
    )
    loss = WholeSquaredDistance()

    @property
    def minimiser(self) -> Vector:
        return self.constraint.project(self.distribution.mean)

    def excess_risk(self, w: Vector) -> ExcessRisk:
        step, slope = w - self.minimiser, self.minimiser - self.distribution.mean
        return ExcessRisk(value=float(step @ step + 2 * slope @ step))

    @property
    def constants(self) -> Constants:
        law, p = self.distribution, self.moment_order
        farthest = self.l2_radius + law.mean_norm
        return Constants(
            coordinate_moment=2**p * law.class_moment,
            directional_moment=2 * (farthest + law.central_direction(p)),
            variance_trace=4 * law.variance_trace,
            mean_gradient_bound=2 * farthest,
            diameter=2 * self.l2_radius,
            smoothness=2.0,
            sample_smoothness=2.0,
            strong_convexity=2.0,
            sample_strong_convexity=2.0,
            lipschitz=2 * (self.l2_radius + law.record_norm),
            lipschitz_second=2 * (self.l2_radius + law.record_moment(2.0)),
            lipschitz_moment=2 * (self.l2_radius + law.record_moment(p)),
            minimum_interior=mean_inside(law, self.constraint),
            nonnegative=True,
            twice_differentiable=True,
        )
'''
PROBLEM_TEST = '''"""What a newcomer has added."""

import numpy as np
import pytest

from dpsco_core.data import Gaussian
from dpsco_core.problems import Walked

LAW = Gaussian(d=3, moment_order=2.0, offset=0.8)


def test_its_excess_risk_is_the_average_over_many_records() -> None:
    problem, rng = Walked(distribution=LAW, radius=0.5), np.random.default_rng(0)
    records, w = problem.sample(200_000, rng).points.x, np.array([0.1, -0.1, 0.05])
    losses = problem.loss.value(w, records) - problem.loss.value(problem.minimiser, records)
    error = 6 * losses.std() / np.sqrt(len(losses))
    assert problem.excess_risk(w).value == pytest.approx(losses.mean(), abs=error)


def test_its_gradients_are_the_differences_of_its_loss() -> None:
    points, w = np.random.default_rng(1).standard_normal((5, 3)), np.array([0.3, -0.2, 0.1])
    loss, step = Walked.loss, 1e-6
    for j, u in enumerate(step * np.eye(3)):
        rise = (loss.value(w + u, points) - loss.value(w - u, points)) / (2 * step)
        np.testing.assert_allclose(loss.gradients(w, points)[:, j], rise, atol=1e-8)
    np.testing.assert_array_equal(loss.gradients(w, points)[2], loss.gradient(w, points[2]))
'''
EXPLICIT = r'''"""What a newcomer has added."""

import math

from dpsco_core.base.cards import BoundCard, Paper
from dpsco_core.base.law_classes import DIRECTIONAL
from dpsco_core.bounds.base import Bound, Terms
from dpsco_core.bounds.conditions import DIRECTIONAL_MOMENT, GAUSSIAN_BUDGET
from dpsco_core.problems.base import Setting


def terms(setting: Setting) -> Terms:
    r"""Clipping at :math:`R = \sqrt dM\,x^{1/p}` with :math:`x = n\sqrt{\rho/d}`."""
    n, d, p, rho = setting.n, setting.d, setting.moment_order, setting.gaussian_rho
    moment = setting.constants.directional_moment
    signal = n * math.sqrt(rho / d)
    fall = moment * signal ** (1 / p - 1) if signal > 0 else math.inf
    return {
        "sampling": moment * math.sqrt(d / n),
        "bias": (p - 1) ** (p - 1) / p**p * fall,
        "noise": math.sqrt(2 * d) * fall,
    }


WALKED_BOUNDS = (
    Bound(
        card=BoundCard(
            slug="upper.mean.clipped-walked",
            name="Clipping at a radius in closed form",
            paper=Paper(key="You 2026", title="-", authors="You", year=2026, venue="preprint"),
            statement="Theorem 2",
            summary="Sampling, bias and noise at a radius that balances the last two.",
            kind="upper",
            constant="explicit",
            guarantee="expectation",
            latex=r"M\sqrt{\frac dn}+M\Big(\frac{(p-1)^{p-1}}{p^p}+\sqrt{2d}\Big)"
            r"\Big(\frac{\sqrt d}{n\sqrt\rho}\Big)^{1-1/p}",
            privacy="zcdp",
            method="mean.clipped",
            law_class=DIRECTIONAL,
            tables=("kamath",),
        ),
        evaluate=terms,
        hypotheses=(GAUSSIAN_BUDGET, DIRECTIONAL_MOMENT),
    ),
)
'''
EXPLICIT_TEST = r'''"""What a newcomer has added."""

import math

import pytest

from dpsco_core.catalogue import bound
from dpsco_core.methods.mean import SimpleClipping
from dpsco_core.privacy import ZCDP, PureDP
from tests.bounds.helpers import make_setting
from tests.bounds.test_upper_hold import CASES, TRIALS, assert_holds, errors_of_runs
from tests.bound_marks import run_at_parameters_of, second_implementation_of

BOUND = bound("upper.mean.clipped-walked")


@second_implementation_of("upper.mean.clipped-walked")
def test_it_is_the_sum_of_what_clipping_at_its_radius_costs() -> None:
    n, d, p, rho, moment = 4000, 9, 3.0, 0.3, 1.7
    radius = math.sqrt(d) * moment * (n * math.sqrt(rho) / math.sqrt(d)) ** (1 / p)
    bias = moment * 4 / 27 * (math.sqrt(d) * moment / radius) ** (p - 1)
    noise = math.sqrt(d) * (2 * radius / n) / math.sqrt(2 * rho)
    at = make_setting(n=n, d=d, order=p, budget=ZCDP(rho=rho), directional_moment=moment)
    assert BOUND.value(at) == pytest.approx(moment * math.sqrt(d / n) + bias + noise)


@run_at_parameters_of("upper.mean.clipped-walked")
@pytest.mark.parametrize("name", ["student", "one-sided", "elliptical"])
def test_clipping_at_its_radius_errs_less(name: str) -> None:
    which, n, rho = CASES[name]
    at = which.setting(n, ZCDP(rho=rho))
    moment = at.constants.directional_moment
    radius = math.sqrt(at.d) * moment * (n * math.sqrt(rho / at.d)) ** (1 / at.moment_order)
    method = SimpleClipping(radius=radius)
    assert_holds(BOUND, at, errors_of_runs(which, at, method, TRIALS, 1))


def test_it_says_that_pure_privacy_has_no_gaussian_noise() -> None:
    assert BOUND.failures(make_setting(budget=PureDP(epsilon=1.0)))
    assert not BOUND.failures(make_setting())
'''
STORY = code(section("Add a method"))
# This is the plainest estimator: the printed one without its rough mean, with a radius that reads
# no constant.
METHOD = f"{DOCSTRING}\n" + changed(
    code(EXTEND, "my_mean.py"),
    ("\n\nMETHODS = (Recentred,)\n", ""),
    ("((plan.rough_radius, 0.2), (plan.radius, 0.8))", "((plan.radius, 1.0),)"),
    ("rough = radius + setting.constants.mean_gradient_bound", "rough = radius"),
    ("    def plan(", f"{STORY}    stage = Stage(at_once=True)\n\n    def plan("),
    (
        "from dpsco_core.privacy.ledger",
        "from dpsco_core.methods.stage import Stage\n"
        "from dpsco_core.methods.story import Proof, Story\n"
        "from dpsco_core.privacy.ledger",
    ),
    ("mean.recentred", "mean.walked"),
    ("Recentred", "Walked"),
)
OPTIMISER = f"{DOCSTRING}\n" + changed(
    code(EXTEND, "my_optimiser.py"),
    ("\n\nMETHODS = (OneStep,)\n", ""),
    ("    def plan(", f"{STORY}\n    def plan("),
    (
        '"methods": ("mean.sample", "mean.clipped", ',
        '"problem": "quadratic",\n            "methods": ("sco.erm", ',
    ),
    (
        "from dpsco_core.problems import",
        "from dpsco_core.methods.story import Proof, Story\nfrom dpsco_core.problems import",
    ),
    ("mean.recentred", "sco.one-step"),
    ("sco.one-step", "sco.walked"),
    ("OneStep", "Walked"),
)
METHOD_TEST = '''"""What a newcomer has added."""

import numpy as np

from dpsco_core.data import DenseRows
from dpsco_core.methods.mean import Walked
from dpsco_core.privacy import Ledger
from dpsco_core.scenario import Scenario


def test_it_errs_little_on_many_records() -> None:
    where = Scenario(n=5000, d=3, methods=("mean.walked",)).setting
    rng, method, ledger = np.random.default_rng(0), Walked(), Ledger(where.budget)
    rows = DenseRows(rng.standard_normal((5000, 3)))
    release = method.release(rows, method.plan(where), ledger, rng)
    assert np.linalg.norm(release.value) < 0.2
'''
OPTIMISER_TEST = '''"""What a newcomer has added."""

import pytest

from dpsco_core import study
from dpsco_core.scenario import Scenario


def test_it_spends_its_whole_budget() -> None:
    where = Scenario(problem="quadratic", n=5000, d=3, methods=("sco.walked",), trials=1)
    (outcome,) = study(where)
    assert outcome.spent.epsilon == pytest.approx(1.0)
'''
