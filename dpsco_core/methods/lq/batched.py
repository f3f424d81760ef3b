"""Batched truncated mirror descent, for every epsilon: Su, Zhao and Wang (2023), section 5.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.cards import SCO_PROBLEMS, SU_2023, MethodCard
from dpsco_core.methods.base import (
    Calibration,
    Method,
    MethodCost,
    Reads,
    Release,
    Stage,
    Tuning,
)
from dpsco_core.methods.lq.mirror import MirrorPlan, mirror_plan, run_mirror
from dpsco_core.methods.lq.noise import chosen_noise
from dpsco_core.methods.lq.shuffled import inside, refuse_beyond_two
from dpsco_core.privacy.generalized_gaussian import Noise
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample


@dataclass(frozen=True, kw_only=True)
class BatchedMirrorDescent(Method):
    r"""One pass of mirror descent over disjoint batches, one draw of noise each.

    The paper's variant for :math:`0 < \varepsilon < 1`, whose statement is in an appendix that is
    not at hand; reconstructed in theory/su-zhao-wang.md, 2.6, such that it has the rate of
    the paper's Table 2. A record enters one batch, so that the whole run costs what one release
    does, without shuffling. See `dpsco_core.methods.lq.mirror`.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        ``"tight"``: the exact curve of Gaussian noise, or the best conversion from zCDP.
        ``"paper"``: Lemma 3 with the printed kappa; epsilon at most 1. Where kappa is printed too
        small and the budget has no room for that, the release is marked as flawed.
    tuning : {"practical", "theory"}
        ``"theory"``: theory/su-zhao-wang.md, 2.6; ``"practical"``: a model of typical data. See
        `dpsco_core.methods.lq.mirror.mirror_plan`.
    noise : {"generalized gaussian", "gaussian"}, optional
        None: generalized Gaussian with ``calibration="paper"``, Gaussian with ``"tight"``.
    """

    calibration: Calibration = "tight"
    tuning: Tuning = "practical"
    noise: Noise | None = None

    reads: ClassVar[Reads] = "whole"
    cost: ClassVar[MethodCost] = MethodCost(fixed=3e5, per_row=140, per_element=4.8)
    card: ClassVar[MethodCard] = MethodCard(
        slug="lp.batched-mirror-descent",
        name="Batched mirror descent",
        paper=SU_2023,
        statement="Section 5.2, the case of general epsilon (reconstructed)",
        summary="One pass of mirror descent over disjoint batches; gradients beyond a level become "
        "0, and every batch gets noise.",
        privacy="zcdp",
        geometry="lq",
        problems=SCO_PROBLEMS,
        rate="upper.lp.batched-mirror-descent",
        caveat="The paper states it in an appendix that was not at hand; the steps and the noise "
        "are a reconstruction with the same rate.",
    )
    stage: ClassVar[Stage] = Stage(place=inside)
    colour: ClassVar[str] = "teal"
    symbol: ClassVar[str] = "hourglass"

    def plan(self, setting: Setting) -> MirrorPlan:
        refuse_beyond_two(setting)
        noise = chosen_noise(self.noise, self.calibration)
        return mirror_plan(setting, ("public",), noise, self.calibration, self.tuning)

    def release(
        self, sample: Sample, plan: MirrorPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run the batched variant."""
        return run_mirror(plan, sample, ledger, rng, two_accountings=False)
