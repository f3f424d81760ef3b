"""Truncated mirror descent in one pass: Su, Zhao and Wang (2023), Algorithm 4 and section 5.2."""

from dataclasses import dataclass, replace

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.lq.card import lq_card
from dpsco_core.methods.lq.inputs import chosen_noise
from dpsco_core.methods.lq.mirror import Truncated, few_steps, mirror_plan
from dpsco_core.methods.stage import AMPLIFIED, SHAPED, SmallRun
from dpsco_core.privacy.mechanisms.shaped import Noise
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class InDualNorm(Truncated):
    """Truncated mirror descent in l_q for q <= 2, where mirror maps need no factor that grows in d.

    For larger q there is `EuclideanReduction`.
    """

    noise: Noise | None = None  # the law of the noise; None if the calibration decides

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan in the dual norm; raise `NotApplicable` for q > 2."""
        if setting.exponent > 2:
            raise NotApplicable(
                "This mirror descent is for parameters measured in an l_q norm with q at most 2, "
                f"and here q={setting.exponent:g}.",
                nearest="choose lp.euclidean-reduction, or set geometry=lq and q=2",
                changes=(("geometry", "lq"), ("q", 2.0)),
            )
        return self.plan_with_noise(setting, chosen_noise(self.noise, self.calibration))


def _plan_shuffled_run(method: InDualNorm, setting: Setting) -> DescentPlan:
    """Return the plan of a small run whose noise relies on the secret order of the records."""
    noise = chosen_noise(method.noise, method.calibration)
    return few_steps(mirror_plan(setting, ("shuffled",), noise, method.calibration, method.tuning))


@dataclass(frozen=True, kw_only=True)
class ShuffledMirrorDescent(InDualNorm):
    r"""One pass of mirror descent over records in secret random order, with noise per gradient.

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
    stage = replace(
        Truncated.stage, others={"shuffled": SmallRun(scenario=AMPLIFIED, plan=_plan_shuffled_run)}
    )
    colour = "teal"
    symbol = "star-diamond"


@dataclass(frozen=True, kw_only=True)
class BatchedMirrorDescent(InDualNorm):
    r"""One pass of mirror descent over disjoint batches, with one noise draw per batch.

    It is the paper's variant for :math:`0 < \varepsilon < 1`, reconstructed in
    theory/su-zhao-wang.md, 2.6. See `dpsco_core.methods.lq.mirror`.

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
    stage = replace(Truncated.stage, exponent=3.0)
    colour = "brown"
    symbol = "hexagram"
    dashed = True

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan in l2; raise `NotApplicable` for q < 2."""
        if setting.exponent < 2:
            raise NotApplicable(
                "The reduction to l2 is for parameters measured in an l_q norm with q of at least "
                f"2, and here q={setting.exponent:g}.",
                nearest="choose lp.shuffled-mirror-descent, or set geometry=lq and q=2",
                changes=(("geometry", "lq"), ("q", 2.0)),
            )
        return self.plan_with_noise(setting, "gaussian")
