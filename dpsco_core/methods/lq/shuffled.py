"""Shuffled truncated mirror descent: Su, Zhao and Wang (2023), Algorithm 4."""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.cards import SCO_PROBLEMS, SU_2023, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.geometry.norms import lq_norm
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
from dpsco_core.methods.story import Proof, Story
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
class ShuffledMirrorDescent(PrivateMethod):
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

    noise: Noise | None = None

    reads = "whole"
    cost = MethodCost(fixed=3.9e5, per_row=140, per_element=5.1)
    card = MethodCard(
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
    story = Story(
        what="One pass of mirror descent over batches for heavy-tailed gradients: a gradient that "
        "is too long becomes 0. Records come in a secret random order and each brings noise of its "
        "own, so that they hide one another. Where few steps are made a single draw of noise a "
        "batch is smaller; then it takes that, and says so.",
        steps=(
            r"Choose T, the level $\tau$ and the step weight $\gamma$ from the setting, and the "
            "accounting with less noise.",
            "Draw a fresh secret order of the records (if it shuffles), and cut it into T batches "
            r"of $b=\lfloor n/T\rfloor$.",
            r"At step t sum the gradients of the batch whose dual norm is at most $\tau$, and add "
            "noise: b draws if it shuffles, one draw otherwise.",
            r"Mirror step on the set: $\arg\min_{w\in W}\langle\tilde g,w\rangle+\gamma "
            r"D_\Phi(w,w_{t-1})$.",
            "Return the average of the points.",
        ),
        assumptions=(STATIONARY, ZERO, "q of at most 2."),
        privacy=Proof(
            sensitivity=TRUNCATED,
            mechanism=f"Noise for $\\Delta_{{q'}}$: {GAUSSIAN_DUAL}. Shuffled: every record's "
            "gradient gets a draw, and the secret order amplifies (clones, evaluated exactly). "
            "Unshuffled: one draw a batch.",
            composition="Shuffled: all n steps are certified together, as an adaptive sequence. "
            "Unshuffled: " + PUBLIC[0].lower() + PUBLIC[1:],
        ),
        smooth="the risk",
        order=r"O(nd)",
        cost="One pass; a mirror step at every batch.",
        when="On ℓ₁ balls with heavy tails and very many records, at small ε.",
        pitfalls=(
            "The practical tuning makes so few steps that the unshuffled account has less noise at "
            "every size we tried: the theory tuning, which the example takes, does shuffle.",
            "The order must never be released.",
        ),
        errata=(
            "The paper's noise is an O(·) whose constant is 170 to 270 when made explicit; `tight` "
            "evaluates the amplification instead.",
            r"Its truncation level $\beta M$ bounds the mean gradient only if the risk is "
            "stationary somewhere in the set; the library uses the certified bound.",
            "The library's bound has the power of κ of Theorem 10's rate with Gaussian noise; with "
            "generalized Gaussian noise it has κ^(3/4), a difference that the theorem's "
            "logarithms may hide.",
            "The printed κ is up to e times too small; where the budget has no room for that, "
            "`paper` marks the release as flawed.",
        ),
        example=ON_L1
        | {
            "methods": ("sco.erm", "lp.batched-mirror-descent", "lp.shuffled-mirror-descent"),
            "epsilon": 0.5,
            "n": 20000,
            "grid": (5000.0, 20000.0, 50000.0),
            "trials": 3,
            "tuning": "theory",
        },
    )
    stage = Stage(place=inside)
    colour = "crimson"
    symbol = "star-diamond"

    def plan(self, setting: Setting) -> MirrorPlan:
        refuse_beyond_two(setting)
        noise = chosen_noise(self.noise, self.calibration)
        return mirror_plan(setting, ("shuffled", "public"), noise, self.calibration, self.tuning)

    def release(
        self, sample: Sample, plan: MirrorPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run Algorithm 4."""
        return run_mirror(plan, sample, ledger, rng)
