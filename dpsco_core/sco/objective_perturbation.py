"""Approximate objective perturbation: Su, Zhao and Wang (2023), Algorithms 1 and 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpsco_core.card import SU_2023, MethodCard
from dpsco_core.errors import NotApplicable
from dpsco_core.mean.base import Calibration, Release, Tuning
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.sample import Sample
from dpsco_core.sco.base import check_sample
from dpsco_core.sco.lipschitz import BOUNDED_CAVEAT, lipschitz_losses
from dpsco_core.sco.objective_plan import (
    ObjectivePlan,
    approximate_budget,
    objective_plan,
    refuse_other_losses,
)
from dpsco_core.sco.solver import minimise_strongly_convex

Vector = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbation:
    r"""Minimise the empirical risk plus a random linear term and a ridge; perturb the result.

    .. math:: \theta_2 \approx \arg\min_W \hat L(\theta) + \frac{\langle G, \theta\rangle}n
        + \lambda\|\theta\|^2,\qquad \hat\theta = \Pi_W(\theta_2 + H)

    with :math:`G \sim N(0, \sigma_1^2 I_d)` and :math:`H \sim N(0, \sigma_2^2 I_d)`. The solver
    is deterministic and certifies :math:`\theta_2` to :math:`\alpha`, for every data set, so that
    it lies within :math:`\sqrt{\alpha/\lambda}` of the exact minimiser, which G makes private; H
    hides the rest. Where the objective has a closed form (half the squared distance, and linear
    losses) there is neither H nor a cost of the change of variables. The points of the solver are
    not private and are not part of the result.

    Proven for generalised linear and mean-type losses that are twice differentiable, and only for
    them (note to the paper, section 2.1 (b)).

    Parameters
    ----------
    calibration : {"tight", "paper"}
        ``"paper"``: the printed :math:`\sigma_1, \sigma_2` and a quarter of epsilon for the
        change of variables, with epsilon < 1. ``"tight"``: exact requirements at shares that leave
        nearly all of the budget to G; every epsilon.
    tuning : {"practical", "theory"}
        ``"theory"``: lambda of Theorem 2, L/(sqrt(n) M) with M the diameter, or what privacy
        needs. ``"practical"``: with ``"tight"``, the lambda that balances its own bias and the
        noise on a quadratic; with ``"paper"``, the least that privacy needs.
    """

    calibration: Calibration = "tight"
    tuning: Tuning = "practical"

    card: ClassVar[MethodCard] = MethodCard(
        slug="sco.objective-perturbation",
        name="Objective perturbation",
        paper=SU_2023,
        statement="Algorithm 1, Theorems 1 and 2",
        summary="Adds a random linear term to the empirical risk, minimises it to a certified "
        "accuracy, and hides what the solver left open.",
        privacy="approx",
        problems=("quadratic", "linear", "logistic"),
        rate="upper.sco.objective-perturbation",
        caveat="Needs twice differentiable generalised linear or mean-type losses; for others the "
        "paper's privacy is unproven. The rank in the ridge is doubled without the paper's minimum "
        "with d, which would overspend. " + BOUNDED_CAVEAT,
    )

    def plan(self, setting: Setting) -> ObjectivePlan:
        """Return the parameters at `setting`; raises `NotApplicable` where it cannot run."""
        return objective_plan(setting, self.calibration, self.tuning, strong=False)

    def release(
        self, sample: Sample, setting: Setting, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run Algorithm 1."""
        return run(self.plan(setting), sample, setting, ledger, rng)


@dataclass(frozen=True, kw_only=True)
class StrongObjectivePerturbation:
    pass
