"""What one run of a method asks for: steps and gradients, from its plan, before any data is seen.

The mean estimators take no gradients: there a record counts as one.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_core.catalogue import make_method
from dpsco_core.methods.base import Method
from dpsco_core.methods.euclidean.adaptive import AdaptiveDescentPlan
from dpsco_core.methods.euclidean.erm import ErmPlan
from dpsco_core.methods.euclidean.framework import FrameworkPlan
from dpsco_core.methods.euclidean.noisy_gd import NoisyPlan
from dpsco_core.methods.euclidean.objective_plan import ObjectivePlan
from dpsco_core.methods.euclidean.phased_sgd import PhasedPlan
from dpsco_core.methods.euclidean.private_sgd import PrivateSgdPlan
from dpsco_core.methods.euclidean.sgd import SgdPlan
from dpsco_core.methods.lq.mirror import MirrorPlan
from dpsco_core.methods.lq.noisy import NoisyPlan as NoisyMirrorPlan
from dpsco_core.methods.lq.regularized import RegularizedPlan
from dpsco_core.methods.user.accelerated.nonsmooth import SmoothedPlan
from dpsco_core.methods.user.accelerated.schedule import AcceleratedPlan
from dpsco_core.methods.user.clipped_means import MeansPlan
from dpsco_core.methods.user.group_privacy import ChainPlan
from dpsco_core.methods.user.phased_sgd import GroupsPlan
from dpsco_core.problems.samples.users import fits
from dpsco_core.runs.cost import machine_speed, release_seconds
from dpsco_core.runs.study import own_setting
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one run asks for.

    Parameters
    ----------
    items : int
        Records, or items of all users, that there are.
    gradients : int or None
        Item gradients that are taken; None where the solver stops by what it sees.
    at_most : bool
        Whether `gradients` is an upper bound.
    seconds : float
        Predicted on this machine.
    """

    items: int
    gradients: int | None
    at_most: bool
    seconds: float

    @property
    def passes(self) -> float | None:
        """Gradients over items."""
        return None if self.gradients is None else self.gradients / self.items


def work(point: Scenario, slug: str) -> Work:
    """Return what one run of a method at a single point asks for.

    Raises
    ------
    NotApplicable
        Where the method does not run.
    """
    setting = own_setting(point, slug)
    method: Method = make_method(slug, point.calibration, point.tuning)
    plan = method.plan(setting)
    items = setting.n * (setting.m if fits(setting.n, setting.m, setting.d) else 1)
    counted = items if slug.startswith("mean.") else gradients(plan, setting.n, setting.m)
    return Work(
        items=setting.n * setting.m,
        gradients=counted,
        at_most=isinstance(plan, ErmPlan | AcceleratedPlan | SmoothedPlan | GroupsPlan),
        seconds=release_seconds(point, slug) * machine_speed(),
    )


def gradients(plan: object, n: int, m: int) -> int | None:
    """Return the item gradients of an optimiser's plan for n users with m items each.

    A test that fails early takes fewer.
    """
    match plan:
        case FrameworkPlan():
            steps = plan.descent.steps
            return steps * (n // steps if plan.disjoint else n)
        case AdaptiveDescentPlan():  # the first look decides on the steps
            return None
        case NoisyPlan():
            return gradients(plan.framework, n, m)
        case RegularizedPlan():
            return plan.steps * n
        case MirrorPlan():
            return plan.steps * plan.batch_size
        case PhasedPlan():
            return plan.phases[-1].stop
        case PrivateSgdPlan():
            return plan.gradient_calls
        case NoisyMirrorPlan():
            return plan.sgd.gradient_calls
        case SgdPlan():
            return n
        case ErmPlan():
            return plan.most_gradients * n
        case ObjectivePlan():
            return None if plan.hessian is None else n
        case MeansPlan():
            return plan.choice.steps * n * m
        case ChainPlan():
            return plan.phases[-1].stop * m
        case GroupsPlan():
            return plan.groups * m * sum(phase.members for phase in plan.phases)
        case AcceleratedPlan():
            return sum(phase.steps * phase.users for phase in plan.phases) * plan.items
        case SmoothedPlan():
            return gradients(plan.phases, n, m)
    raise AssertionError(f"a plan without a count: {type(plan).__name__}")
