"""Truncated gradient descent for q >= 2, reduced to l2: Su, Zhao and Wang (2023), Table 2."""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.cards import SCO_PROBLEMS, SU_2023, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.base import MethodCost, PrivateMethod, Release, Stage
from dpsco_core.methods.lq.mirror import MirrorPlan, mirror_plan, run_mirror
from dpsco_core.methods.lq.sentences import ON_CUBE, PUBLIC, STATIONARY, TRUNCATED
from dpsco_core.methods.lq.shuffled import inside
from dpsco_core.methods.story import Proof, Story
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample


@dataclass(frozen=True, kw_only=True)
class EuclideanReduction(PrivateMethod):
    r"""One pass of projected gradient descent over batches, for parameters in l_q, q >= 2.

    For :math:`q \ge 2` the l2 norm of a gradient is at most its dual norm, and the l2 diameter of
    the set at most :math:`d^{1/2-1/q}M`. The problem is taken in l2: kappa is 1, noise Gaussian,
    the mirror step the Euclidean projection on the set. The algorithms are those of
    `dpsco_core.methods.lq.mirror`, with both accountings (theory/su-zhao-wang.md, 2.7).

    Parameters
    ----------
    calibration : {"tight", "paper"}
        ``"tight"``: the exact divergence of the clones and the exact Gaussian curve. ``"paper"``:
        the clones' closed form and Lemma 3; epsilon at most 1.
    tuning : {"practical", "theory"}
        ``"theory"``: Theorem 10 with kappa = 1 and the l2 diameter; ``"practical"``: a
        model of typical data. See
        `dpsco_core.methods.lq.mirror.mirror_plan`.
    """

    reads = "whole"
    cost = MethodCost(fixed=2.9e5, per_row=69, per_element=0.9)
    card = MethodCard(
        slug="lp.euclidean-reduction",
        name="Euclidean reduction",
        paper=SU_2023,
        statement="Section 5.2 and Table 2, 2 <= p <= infinity (reconstructed)",
        summary="For q of at least 2 the problem is taken in l2: one pass of truncated gradient "
        "descent, projected on the set.",
        privacy="zcdp",
        geometry="lq",
        problems=SCO_PROBLEMS,
        rate="upper.lp.euclidean-reduction",
        caveat="The paper states it in an appendix that was not at hand; this is the simplest "
        "algorithm with that reduction.",
    )
    story = Story(
        what="For sets with q of at least 2, such as a cube, the problem is simply taken in ℓ₂. "
        "Then it is one pass of gradient descent over batches, projected on the set, with long "
        "gradients set to 0. The price of the reduction is the set's ℓ₂ diameter, which grows with "
        "the dimension.",
        steps=(
            r"Choose T, $\tau$ and the step size from the setting, with the set's ℓ₂ diameter.",
            r"Sum the gradients of a batch whose ℓ₂ norm is at most $\tau$, add Gaussian noise, "
            "divide by b.",
            r"Step and project on the set; return the average of the points.",
        ),
        assumptions=(STATIONARY, "A set with q of at least 2 that contains 0."),
        privacy=Proof(
            sensitivity=TRUNCATED.replace("dual ball", "ℓ₂ ball").replace("_{q'}", "_2"),
            mechanism=r"Gaussian noise of standard deviation $2\tau/\sqrt{2\rho}$ on the sum of a "
            "batch; or, in secret random order, a draw for every record with amplification by "
            "shuffling. The account with less noise is used.",
            composition=PUBLIC + " Shuffled, all n steps are certified together.",
        ),
        smooth="the risk",
        order=r"O(nd)",
        cost="One pass; a projection at every batch.",
        when="On cubes with heavy tails when one pass must do; clipped gradients, with more "
        "passes, usually errs less.",
        pitfalls=("On a cube the diameter is √d times its side: at large d noise dominates.",),
        errata=(
            "The paper states it in an appendix that was not at hand; this is the simplest "
            "algorithm with that reduction.",
            "The first term of its row in Table 2 lacks the division by √n.",
        ),
        example=ON_CUBE | {"methods": ("sco.erm", "sco.clipped", "lp.euclidean-reduction")},
    )
    stage = Stage(exponent=3.0, place=inside)
    colour = "plum"
    symbol = "hexagram"

    def plan(self, setting: Setting) -> MirrorPlan:
        if setting.exponent < 2:
            raise NotApplicable(
                "The reduction to l2 is for parameters measured in an l_q norm with q of at least "
                f"2, and here q={setting.exponent:g}.",
                nearest="choose lp.shuffled-mirror-descent, or set geometry=lq and q=2",
                changes=(("geometry", "lq"), ("q", 2.0)),
            )
        return mirror_plan(
            setting, ("shuffled", "public"), "gaussian", self.calibration, self.tuning
        )

    def release(
        self, sample: Sample, plan: MirrorPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run the reduced method."""
        return run_mirror(plan, sample, ledger, rng)
