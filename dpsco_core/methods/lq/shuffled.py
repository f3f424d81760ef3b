"""Shuffled truncated mirror descent: Su, Zhao and Wang (2023), Algorithm 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.cards import SCO_PROBLEMS, SU_2023, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.geometry.norms import lq_norm
from dpsco_core.methods.base import Calibration, Method, MethodCost, Reads, Release, Stage, Tuning
from dpsco_core.methods.lq.mirror import MirrorPlan, mirror_plan, run_mirror
from dpsco_core.methods.lq.noise import chosen_noise
from dpsco_core.privacy.generalized_gaussian import Noise
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample


def refuse_beyond_two(setting: Setting) -> None:
    """Raise `NotApplicable` for q > 2: no mirror map of a constant without d is known there."""
    if setting.exponent > 2:
        raise NotApplicable(
            "This mirror descent is for parameters measured in an l_q norm with q at most 2, and "
            f"here q={setting.exponent:g}.",
            nearest="choose lp.euclidean-reduction, or set geometry=lq and q=2",
            changes=(("geometry", "lq"), ("q", 2.0)),
        )


INSIDE = 0.999  # of the level beyond which a gradient becomes 0


def inside(plan: MirrorPlan, d: int) -> float:
    """Return the coordinate of a gradient, alike in all, just inside of what becomes 0."""
    return INSIDE * plan.threshold / lq_norm(np.ones(d), plan.space.dual)


@dataclass(frozen=True, kw_only=True)
class ShuffledMirrorDescent(Method):
    r"""One pass of mirror descent over records in secret random order, noise on every gradient.

    Gradients beyond :math:`\tau = G + \lambda` in the dual norm become 0, G the bound on the mean
    gradient: the paper's :math:`\beta M` bounds it only if the risk is stationary somewhere in the
    set. See `dpsco_core.methods.lq.mirror`.

    Under an (epsilon, delta) budget both accountings are compared, and the one with less noise in
    the mean of a batch is used; fewer than about a hundred steps have less without shuffling. Under
    a zCDP budget only that one is known. A release says which it was.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        ``"tight"``: amplification by the exact divergence of the clones, and the exact curve of
        Gaussian noise (for other noise the best conversion from zCDP). ``"paper"``: the clones'
        closed form and Lemma 3 with the printed kappa, which is Theorem 9 with its constant made
        explicit; epsilon at most 1. Where kappa is printed too small and the budget has no room
        for that, the release is marked as flawed.
    tuning : {"practical", "theory"}
        ``"theory"``: Theorem 10; ``"practical"``: a model of typical data. See
        `dpsco_core.methods.lq.mirror.mirror_plan`.
    noise : {"generalized gaussian", "gaussian"}, optional
        None: generalized Gaussian, as published, with ``calibration="paper"``, and Gaussian with
        ``"tight"``, which is no larger at equal proven privacy and whose sums cost no further
        factor.
    """

    calibration: Calibration = "tight"
    tuning: Tuning = "practical"
    noise: Noise | None = None

    reads: ClassVar[Reads] = "whole"
    cost: ClassVar[MethodCost] = MethodCost(fixed=3.9e5, per_row=140, per_element=5.1)
    card: ClassVar[MethodCard] = MethodCard(
        slug="lp.shuffled-mirror-descent",
        name="Shuffled mirror descent",
        paper=SU_2023,
        statement="Algorithm 4, Theorems 9 and 10",
        summary="One pass of mirror descent over records in secret random order; gradients beyond "
        "a level become 0, and every record's gets noise.",
        privacy="zcdp",
        geometry="lq",
        problems=SCO_PROBLEMS,
        rate="upper.lp.shuffled-mirror-descent",
        caveat="Few steps have less noise without shuffling; then the method does without, and "
        "says so.",
    )
    stage: ClassVar[Stage] = Stage(place=inside)
    colour: ClassVar[str] = "crimson"
    symbol: ClassVar[str] = "star-diamond"

    def plan(self, setting: Setting) -> MirrorPlan:
        refuse_beyond_two(setting)
        noise = chosen_noise(self.noise, self.calibration)
        return mirror_plan(setting, ("shuffled", "public"), noise, self.calibration, self.tuning)

    def release(
        self, sample: Sample, plan: MirrorPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run Algorithm 4."""
        return run_mirror(plan, sample, ledger, rng)
