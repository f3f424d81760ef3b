"""Batched truncated mirror descent, for every epsilon: Su, Zhao and Wang (2023), section 5.2."""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.cards import SCO_PROBLEMS, SU_2023, MethodCard
from dpsco_core.methods.base import MethodCost, PrivateMethod, Release, Stage
from dpsco_core.methods.lq.mirror import MirrorPlan, mirror_plan, run_mirror
from dpsco_core.methods.lq.noise import chosen_noise
from dpsco_core.methods.lq.sentences import (
    GAUSSIAN_DUAL,
    ON_L1,
    PUBLIC,
    STATIONARY,
    TRUNCATED,
    ZERO,
)
from dpsco_core.methods.lq.shuffled import inside, refuse_beyond_two
from dpsco_core.methods.story import Proof, Story
from dpsco_core.privacy.generalized_gaussian import Noise
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample


@dataclass(frozen=True, kw_only=True)
class BatchedMirrorDescent(PrivateMethod):
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

    noise: Noise | None = None

    reads = "whole"
    cost = MethodCost(fixed=3e5, per_row=140, per_element=4.8)
    card = MethodCard(
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
    story = Story(
        what="One pass of mirror descent over disjoint batches, with one draw of noise each. "
        "Gradients that are too long become 0. It needs no secret order, and so it works for every "
        "ε and under zCDP.",
        steps=(
            r"Choose T, $\tau$ and $\gamma$ from the setting; cut the records into T batches of "
            r"$b=\lfloor n/T\rfloor$.",
            r"At step t sum the gradients of the batch whose dual norm is at most $\tau$, add one "
            "draw of noise, and divide by b.",
            r"Mirror step on the set with weight $\gamma$.",
            "Return the average of the points.",
        ),
        assumptions=(STATIONARY, ZERO, "q of at most 2."),
        privacy=Proof(
            sensitivity=TRUNCATED,
            mechanism=f"One draw of noise a batch for $\\Delta_{{q'}}$: {GAUSSIAN_DUAL}.",
            composition=PUBLIC,
        ),
        smooth="the risk",
        order=r"O(nd)",
        cost="One pass; a mirror step at every batch.",
        when="On ℓ₁ balls and other sets with q of at most 2, with heavy tails, when one pass must "
        "do.",
        pitfalls=("Truncation to 0 is a larger bias than clipping, where τ is small.",),
        errata=(
            "The paper states it in an appendix that was not at hand: steps and noise are "
            "reconstructed such that they have the rate of its Table 2.",
            "The printed κ is up to e times too small, as for the shuffled version.",
        ),
        example=ON_L1
        | {"methods": ("sco.erm", "lp.batched-mirror-descent", "lp.shuffled-mirror-descent")},
    )
    stage = Stage(place=inside)
    colour = "teal"
    symbol = "hourglass"

    def plan(self, setting: Setting) -> MirrorPlan:
        refuse_beyond_two(setting)
        noise = chosen_noise(self.noise, self.calibration)
        return mirror_plan(setting, ("public",), noise, self.calibration, self.tuning)

    def release(
        self, sample: Sample, plan: MirrorPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run the batched variant."""
        return run_mirror(plan, sample, ledger, rng, two_accountings=False)
