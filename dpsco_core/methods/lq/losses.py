r"""Losses for the methods on all of :math:`R^d`: Lipschitz and smooth everywhere, for every record.

This is Assumption 3 of Su, Zhao and Wang (2023). In the catalogue it holds for generalised linear
losses with a bounded slope a and a bounded curvature b, once features are shrunk to dual norm R:
:math:`L = aR`, and :math:`\beta = bR^2`, since :math:`|\langle x, w-v\rangle| \le R\|w-v\|_q`.
"""

import math
from dataclasses import dataclass

from dpsco_core.base.errors import NotApplicable
from dpsco_core.geometry.norms import dual_exponent
from dpsco_core.methods.base import Tuning
from dpsco_core.methods.euclidean.lipschitz import Losses
from dpsco_core.methods.lq.inputs import dual_energy, space_of
from dpsco_core.problems.base import LinearModel, Setting
from dpsco_core.problems.dual import dual_constants
from dpsco_core.problems.samples.protocol import Sample

# the factor 1/64 of `practical_dual_radius`, as in `dpsco_core.methods.euclidean.tuning`
GROWING = 1 / 64
LP_CAVEAT = (
    "It works on all of R^d, and its result may leave the constraint set. Where features are "
    "unbounded, the practical tuning shrinks them into a ball, whose radius is feature_bound."
)


@dataclass(frozen=True, kw_only=True)
class DualLosses(Losses):
    r"""Losses whose constants hold with respect to :math:`\|\cdot\|_q`."""

    # q', the exponent of the norm to which features are shrunk and by which gradients are measured
    dual: float

    def of(self, sample: Sample) -> Sample:
        """Return the sample with features that are shrunk, in the dual norm, to their bound."""
        return sample.bounded(self.feature_bound, exponent=self.dual)


def check_everywhere_smooth(setting: Setting) -> LinearModel:
    """Return the model of losses that are Lipschitz and smooth on all of R^d.

    Raises `NotApplicable` for any other losses.
    """
    model, structure = setting.constants.linear_model, setting.constants.structure
    if model is not None and math.isfinite(model.slope) and math.isfinite(model.curvature):
        return model
    reason = "this one has kinks"
    if structure == "mean" or (model is not None and math.isfinite(model.curvature)):
        reason = "the slope of this one grows without bound"
    elif structure == "linear":
        reason = "this one has no minimum without a constraint"
    raise NotApplicable(
        f"The method works on all of R^d and needs a loss that is Lipschitz and smooth there, and "
        f"{reason}.",
        nearest="choose the problem huber or logistic",
        changes=(("problem", "huber"),),
    )


def dual_losses(setting: Setting, tuning: Tuning, rho: float) -> DualLosses:
    """Return the losses to minimise: the problem's if they are Lipschitz, or with shrunk features.

    `rho` is the budget from which `practical_dual_radius` bounds the features.

    Raises `NotApplicable` for losses that are not Lipschitz and smooth on all of R^d, if the set
    that contains the minimiser is unbounded, and with ``tuning="theory"`` for unbounded features.
    """
    model = check_everywhere_smooth(setting)
    if setting.constraint is None and math.isinf(setting.constants.diameter):
        raise NotApplicable(
            "The constants are sized by the distance to the minimiser, and the constraint set "
            "is unbounded.",
            diameter=4.0,
        )
    certified = math.isfinite(setting.constants.lipschitz)
    if certified:
        bound = dual_constants(setting).lipschitz / model.slope
    elif tuning == "theory":
        raise NotApplicable(
            "The theorem needs a Lipschitz loss for every record, and the features of this problem "
            "are unbounded.",
            nearest="set tuning=practical, which shrinks features into a ball",
            changes=(("tuning", "practical"),),
        )
    else:
        bound = practical_dual_radius(setting, rho)
    return DualLosses(
        lipschitz=model.slope * bound,
        smoothness=model.curvature * bound**2,
        feature_bound=bound,
        certified=certified,
        dual=dual_exponent(setting.exponent),
    )


def practical_dual_radius(setting: Setting, rho: float) -> float:
    r"""Return the dual norm to which unbounded features are shrunk.

    .. math::
        R = B\max\Big\{1, \frac1{64}\Big(\frac{n\sqrt\rho}{\sqrt d}\Big)^{1/p}\Big\},\qquad
        B^2 = \min\Big\{E\|X\|_2^2\,\frac{E\|\xi\|_{q'}^2}d,\ d^{2/k}\max_j(E|X_j|^p)^{2/p}\Big\}

    with :math:`k = \min(q', p)`. The second entry is certified to be at least
    :math:`E\|X\|_{q'}^2`, as in `dual_constants`, by the moments that bound those of the gradient.
    The first one assumes that features are spread over their coordinates as a normal vector
    :math:`\xi` is, which concerns accuracy only and is exact at q = 2. For q > 2, where no method
    needs it, B is that of l2.
    """
    constants, d, order = setting.constants, setting.d, setting.moment_order
    model = constants.linear_model
    assert model is not None
    space = space_of(setting)
    # `dual_energy` is stated for noise of variance l2_ratio^2/2 per coordinate.
    spread = math.sqrt(2 * dual_energy(space, "gaussian") / d) / space.l2_ratio
    root = math.pow(constants.coordinate_moment, 1 / order) / model.slope
    typical = min(model.feature_norm * spread, math.pow(d, 1 / min(space.dual, order)) * root)
    if not 0 < typical < math.inf:
        raise NotApplicable(
            "The radius of the features follows from their moments, and the problem certifies "
            "none.",
            distribution="gaussian",
        )
    growing = GROWING * math.pow(setting.n * math.sqrt(rho / d), 1 / order)
    return typical * max(1.0, growing)
