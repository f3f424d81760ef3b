"""Truncated mirror descent in one pass: Su, Zhao and Wang (2023), Algorithm 4 and section 5.2."""

from dataclasses import dataclass, replace

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.lq.inputs import chosen_noise
from dpsco_core.methods.lq.mirror import Truncated, few_steps, mirror_plan
from dpsco_core.methods.lq.sentences import (
    GAUSSIAN_DUAL,
    ON_CUBE,
    ON_L1,
    PUBLIC,
    STATIONARY,
    TRUNCATED,
    ZERO,
    lq_card,
)
from dpsco_core.methods.stage import AMPLIFIED, SHAPED, SmallRun
from dpsco_core.methods.story import Proof, Story
from dpsco_core.privacy.mechanisms.shaped import Noise
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class InDualNorm(Truncated):
    """Mirror descent for q of at most 2: no mirror map of a constant without d is known beyond."""

    noise: Noise | None = None

    def plan(self, setting: Setting) -> DescentPlan:
        if setting.exponent > 2:
            raise NotApplicable(
                "This mirror descent is for parameters measured in an l_q norm with q at most 2, "
                f"and here q={setting.exponent:g}.",
                nearest="choose lp.euclidean-reduction, or set geometry=lq and q=2",
                changes=(("geometry", "lq"), ("q", 2.0)),
            )
        return self.planned(setting, chosen_noise(self.noise, self.calibration))


def _shuffled(method: InDualNorm, setting: Setting) -> DescentPlan:
    """Return the plan of a small run whose noise is for the secret order of the records."""
    noise = chosen_noise(method.noise, method.calibration)
    return few_steps(mirror_plan(setting, ("shuffled",), noise, method.calibration, method.tuning))


@dataclass(frozen=True, kw_only=True)
class ShuffledMirrorDescent(InDualNorm):
    r"""One pass of mirror descent over records in secret random order, noise on every gradient.

    Gradients beyond :math:`\tau = G + \lambda` in the dual norm become 0, G the bound on the mean
    gradient: the paper's :math:`\beta M` bounds it only if the risk is stationary somewhere in the
    set. Both accountings of `dpsco_core.methods.lq.mirror` are compared; fewer than about a hundred
    steps have less noise without shuffling, and under a zCDP budget only that one is known.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        ``"tight"``: amplification by the exact divergence of the clones, and the exact curve of
        Gaussian noise (for other noise the best conversion from zCDP). ``"paper"``: the clones'
        closed form and Lemma 3 with the printed kappa (Theorem 9); epsilon at most 1. Where the
        budget has no room for the kappa that is proven, the release is marked as flawed.
    tuning : {"practical", "theory"}
        ``"theory"``: Theorem 10; ``"practical"``: a model of typical data. See
        `dpsco_core.methods.lq.mirror_schedule`.
    noise : {"generalized gaussian", "gaussian"}, optional
        None: generalized Gaussian, as published, with ``calibration="paper"``; Gaussian with
        ``"tight"``, whose energy is no larger at equal proven privacy.
    """

    cost = MethodCost(fixed=4e5, per_row=9, per_element=1, per_piece=2e4)
    card = lq_card(
        "shuffled-mirror-descent",
        "Shuffled mirror descent",
        "Algorithm 4, Theorems 9 and 10",
        "One pass of mirror descent over records in secret random order; gradients beyond "
        "a level become 0, and every record's gets noise.",
        "Few steps have less noise without shuffling; then the method does without, and says so.",
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
    stage = replace(
        Truncated.stage, others={"shuffled": SmallRun(scenario=AMPLIFIED, plan=_shuffled)}
    )
    colour = "teal"
    symbol = "star-diamond"


@dataclass(frozen=True, kw_only=True)
class BatchedMirrorDescent(InDualNorm):
    r"""One pass of mirror descent over disjoint batches, one draw of noise each.

    The paper's variant for :math:`0 < \varepsilon < 1`, reconstructed in theory/su-zhao-wang.md,
    2.6. See `dpsco_core.methods.lq.mirror`.

    Parameters
    ----------
    calibration, tuning, noise
        As for `ShuffledMirrorDescent`, without amplification; ``"theory"`` is
        theory/su-zhao-wang.md, 2.6.
    """

    orders = ("public",)

    cost = MethodCost(fixed=3e5, per_row=6, per_element=0.9, per_piece=2e4)
    source = "reconstructed"
    card = lq_card(
        "batched-mirror-descent",
        "Batched mirror descent",
        "Section 5.2, the case of general epsilon (reconstructed)",
        "One pass of mirror descent over disjoint batches; gradients beyond a level become "
        "0, and every batch gets noise.",
        "The paper states it in an appendix that was not at hand; the steps and the noise "
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
    stage = replace(Truncated.stage, others={"shaped noise": SHAPED})
    colour = "magenta"
    symbol = "hourglass"


@dataclass(frozen=True, kw_only=True)
class EuclideanReduction(Truncated):
    r"""One pass of projected gradient descent over batches, for parameters in l_q, q >= 2.

    For :math:`q \ge 2` the l2 norm of a gradient is at most its dual norm, and the l2 diameter of
    the set at most :math:`d^{1/2-1/q}M`: the problem is taken in l2 (theory/su-zhao-wang.md, 2.7).

    Parameters
    ----------
    calibration, tuning
        As for `ShuffledMirrorDescent`, with kappa = 1 and the l2 diameter.
    """

    cost = MethodCost(fixed=3e5, per_row=9, per_element=1, per_piece=2e4)
    source = "reconstructed"
    card = lq_card(
        "euclidean-reduction",
        "Euclidean reduction",
        "Section 5.2 and Table 2, 2 <= p <= infinity (reconstructed)",
        "For q of at least 2 the problem is taken in l2: one pass of truncated gradient "
        "descent, projected on the set.",
        "The paper states it in an appendix that was not at hand; this is the simplest "
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
    stage = replace(Truncated.stage, exponent=3.0)
    colour = "brown"
    symbol = "hexagram"
    dashed = True

    def plan(self, setting: Setting) -> DescentPlan:
        if setting.exponent < 2:
            raise NotApplicable(
                "The reduction to l2 is for parameters measured in an l_q norm with q of at least "
                f"2, and here q={setting.exponent:g}.",
                nearest="choose lp.shuffled-mirror-descent, or set geometry=lq and q=2",
                changes=(("geometry", "lq"), ("q", 2.0)),
            )
        return self.planned(setting, "gaussian")
