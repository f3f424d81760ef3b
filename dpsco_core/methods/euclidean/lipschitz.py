r"""Losses that are Lipschitz for every record, as the methods of the Lipschitz theory need them.

A problem may certify a Lipschitz constant for the records of its law, but privacy must hold for
every possible record. So records are shrunk to the norm that the constant presupposes
(`Sample.bounded`), which changes no record of the law, and gradients are clipped to the constant.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.arrays import Vector, real_array
from dpsco_core.base.errors import NotApplicable
from dpsco_core.data.rows import Rows
from dpsco_core.methods.base import Tuning
from dpsco_core.methods.euclidean.tuning import practical_radius
from dpsco_core.methods.records.base import check_level, clip_to_ball
from dpsco_core.problems.base import Constants, Setting
from dpsco_core.problems.samples.protocol import Sample

BOUNDED_CAVEAT = (
    "Where the losses have no Lipschitz constant, the practical tuning shrinks features (or "
    "records) into a ball, whose radius is feature_bound, and minimises the risk of those."
)


@dataclass(frozen=True, kw_only=True)
class Losses:
    r"""Certified constants of the losses that a method minimises.

    Raises `InvalidInput` if L or the bound is outside the range of `check_level`, where products of
    doubles overflow or lose their digits for some records.
    """

    lipschitz: float  # L: every gradient is clipped to this norm
    smoothness: float  # β of the loss of every possible record; infinite if not certified
    # The norm to which feature vectors are shrunk; infinite if they are not changed.
    feature_bound: float
    # whether the problem itself certifies L, so that no record of its distribution is shrunk
    certified: bool

    def __post_init__(self) -> None:
        """Refuse a Lipschitz constant, or a finite bound on features, outside its range."""
        check_level("lipschitz", self.lipschitz)
        if math.isfinite(self.feature_bound):
            check_level("feature_bound", self.feature_bound)

    def of(self, sample: Sample) -> Sample:
        """Return the sample with its losses changed so that these constants hold."""
        return sample if math.isinf(self.feature_bound) else sample.bounded(self.feature_bound)

    @property
    def diagnostics(self) -> dict[str, float]:
        """The clip radius and, if there is one, the bound on the records."""
        values = {"clip_radius": self.lipschitz}
        if math.isfinite(self.feature_bound):
            values["feature_bound"] = self.feature_bound
        return values


def lipschitz_losses(setting: Setting, tuning: Tuning, rho: float) -> Losses:
    """Return the losses to minimise: the problem's own if they are Lipschitz, else bounded ones.

    `rho` is the budget from which `practical_radius` bounds the records.

    Raises `NotApplicable` with ``tuning="theory"`` if the problem certifies no Lipschitz constant,
    and for losses that no bound on the records makes Lipschitz.
    """
    constants = setting.constants
    if math.isfinite(constants.lipschitz):
        bound = _record_bound(constants)
        smoothness = math.inf if math.isinf(bound) else surrogate_constants(setting, bound)[1]
        return Losses(
            lipschitz=constants.lipschitz,
            smoothness=smoothness,
            feature_bound=bound,
            certified=True,
        )
    typical = practical_radius(setting, rho)
    model = constants.linear_model
    if model is not None and math.isfinite(model.slope):
        bound = typical / model.slope
    else:
        # The typical norm is that of a gradient minus the mean gradient. The bound is on the
        # gradient itself, so it includes a bound on the mean gradient.
        offset = constants.mean_gradient_bound
        if constants.structure == "mean":
            offset = max(0.0, offset - constants.diameter / 2)
        bound = math.hypot(typical, offset)
    lipschitz, smoothness = surrogate_constants(setting, bound)
    if tuning == "theory":
        raise NotApplicable(
            "The theorem needs a Lipschitz loss for every record, and the records of this problem "
            "are unbounded.",
            nearest="set tuning=practical, which shrinks records into a ball",
            changes=(("tuning", "practical"),),
        )
    return Losses(
        lipschitz=lipschitz,
        smoothness=smoothness,
        feature_bound=bound,
        certified=False,
    )


def surrogate_constants(setting: Setting, radius: float) -> tuple[float, float]:
    r"""Return L and beta of the losses, for every record, after features are shrunk to `radius`.

    A generalised linear loss with :math:`|\phi'| \le a`, :math:`\phi'' \le b` has
    :math:`L = aR`, :math:`\beta = bR^2`. Half the squared distance has :math:`L = R + M/2` and
    :math:`\beta = 1`; a linear loss L = R and 0.

    Raises `NotApplicable` for a loss that stays unbounded, such as a squared one.
    """
    constants = setting.constants
    model = constants.linear_model
    if model is not None and np.isfinite(model.slope):
        return model.slope * radius, model.curvature * radius**2
    if constants.structure == "mean":
        return radius + constants.diameter / 2, 1.0
    if constants.structure == "linear":
        return radius, 0.0
    raise NotApplicable(
        "The method needs a Lipschitz loss, and this one stays unbounded even where records are "
        "shrunk into a ball.",
        nearest="choose sco.clipped, which clips gradients, or the problem logistic",
        changes=(("problem", "logistic"),),
    )


def _record_bound(constants: Constants) -> float:
    """Return the norm of records for which the Lipschitz constant holds; infinite for all norms."""
    model = constants.linear_model
    if model is not None and math.isfinite(model.slope):
        return constants.lipschitz / model.slope
    if constants.structure == "linear":
        return constants.lipschitz
    if constants.structure == "mean" and constants.lipschitz > constants.diameter / 2:
        return constants.lipschitz - constants.diameter / 2
    return math.inf


def clipped_gradient(sample: Sample, w: Vector, i: int, lipschitz: float) -> Vector:
    """Return the gradient of record `i` at w, clipped to the norm `lipschitz`, shape (d,).

    Call it under ``np.errstate(over="ignore", invalid="ignore")``: a record may be anything.
    """
    g = real_array("gradient", sample.gradient(w, i))
    if g.dot(g) <= lipschitz**2:
        return g
    rows, weights = clip_to_ball(g[None, :], lipschitz)
    clipped: Vector = weights[0] * rows[0]
    return clipped


def clipped_block_mean(rows: Rows, start: int, stop: int, lipschitz: float) -> Vector:
    """Return the mean of rows `start` to `stop`, each clipped to norm `lipschitz`, shape (d,)."""
    total = np.zeros(rows.d)
    for block in rows.blocks(start, stop):
        safe, weights = clip_to_ball(block, lipschitz)
        total += weights @ safe
    return total / (stop - start)
