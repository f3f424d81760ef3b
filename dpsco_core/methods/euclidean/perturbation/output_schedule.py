r"""The phases of localised output perturbation: sizes, regularisers, sensitivities.

Phase i minimises :math:`\hat F_i(w) + \frac{\lambda_i}2\|w-w_{i-1}\|^2` over the set, with records
of its own. The minimiser moves by at most :math:`2L/(\lambda_in_i)` if a record is replaced; what
the solver leaves open adds its certified distance (theory/pure-optimisers.md, 1.2 and 1.3).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import nothing_finite, smallest, smallest_index
from dpsco_core.methods.base import Tuning
from dpsco_core.methods.euclidean.lipschitz import Losses, lipschitz_losses, surrogate_constants
from dpsco_core.methods.euclidean.perturbation.minimisers import OutputPhase, PhasedMinimisers
from dpsco_core.methods.euclidean.perturbation.objective_plan import certified_digits, open_distance
from dpsco_core.methods.euclidean.tuning import curvatures
from dpsco_core.methods.records.base import tail_excess
from dpsco_core.problems.base import Setting

OPEN = 0.01  # the share of the sensitivity left for the solver's error, where doubles allow it
MOST_PHASES = 5  # the largest number of phases that are compared
GROWTHS = (1.0, 2.0, 4.0, 8.0, 16.0)  # growth factors of the regulariser from phase to phase
FACTORS = (1.0, 1.4, 2.0, 2.8, 4.0, 5.7)  # multiples of the bound on the feature vectors
# How much shrinking changes the mean gradient, as a measured share of the change under the worst
# law: see `shrinking_bias`.
SHRUNK_SHARE = 0.04
WIDEST, NARROWEST = 1.0, 1e-3  # the largest and smallest width over which a kink is rounded off

Lengths = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class PhaseLayout:
    """A candidate of the search: the lengths of the phases and their regularisers."""

    lengths: Lengths  # the number of records of each phase
    first: Any  # λ_1: a number, or an array of all values that a search compares
    growth: float  # the ratio of the regularisers of consecutive phases

    @property
    def regularisers(self) -> tuple[Any, ...]:
        """The regulariser λ of every phase."""
        return tuple(self.first * self.growth**i for i in range(len(self.lengths)))


@dataclass(frozen=True, kw_only=True)
class PhaseModel:
    """The constants from which a phase is computed."""

    setting: Setting
    losses: Losses
    epsilon: float
    hessian: float | None
    gap: float  # the largest distance between the gradients of two records at one point

    def noise_scale(self, regulariser: Any, length: int) -> Any:
        """Return the scale of a phase's noise, without the part that the solver's error adds."""
        strong = regulariser + (self.hessian or 0.0)
        return self.gap / (strong * length * self.epsilon)


@lru_cache(maxsize=4096)
def output_plan(setting: Setting, tuning: Tuning) -> PhasedMinimisers:
    """Return the parameters at `setting`; raise `NotApplicable` if the method cannot run there."""
    constants, epsilon = setting.constants, setting.pure_epsilon
    refuse_other_losses(setting)
    theory = tuning == "theory"
    if theory and constants.structure == "linear-model":
        losses, layout = theorem_layout(setting)
    elif theory:
        losses = lipschitz_losses(setting, tuning, equal_rho(setting))
        layout = best_layout(phase_model(setting, losses), bounded_risk)
    else:
        losses, layout = practical_layout(setting)
    model, linear_model = phase_model(setting, losses), constants.linear_model
    curvature = 0.0 if linear_model is None else linear_model.curvature
    kinked = math.isinf(curvature)
    if kinked:
        curvature = 1 / min(WIDEST, max(NARROWEST, modelled_risk(model, layout) / 2))
    bound = losses.feature_bound
    smoothness = curvature * bound**2 if model.hessian is None else model.hessian
    return PhasedMinimisers(
        setting=setting,
        losses=losses,
        hessian=model.hessian,
        curvature=curvature,
        kinked=kinked,
        epsilon=epsilon,
        phases=tuple(_phases(model, layout, smoothness)),
    )


def refuse_other_losses(setting: Setting) -> None:
    """Raise `NotApplicable` for losses that stay unbounded even if features are bounded."""
    constants = setting.constants
    if constants.structure == "other" or math.isinf(constants.diameter):
        raise NotApplicable(
            "The method needs a bounded set, and generalised linear losses, linear ones or half "
            "the squared distance.",
            problem="logistic",
        )


def equal_rho(setting: Setting) -> float:
    r"""Return the rho at which Gaussian and Laplace noise are about as long.

    It is :math:`\varepsilon^2/(2d)`.

    Gaussian noise has a length of about :math:`\Delta\sqrt{d/(2\rho)}`, and spherical Laplace noise
    of :math:`\Delta d/\varepsilon`. Clip radii are chosen for this rho.
    """
    return setting.pure_epsilon**2 / (2 * setting.d)


def phase_model(setting: Setting, losses: Losses) -> PhaseModel:
    """Return the constants from which the phases are computed."""
    hessian = {"mean": 1.0, "linear": 0.0}.get(setting.constants.structure)
    # If all losses have the same Hessian, the gradients of two records at a point differ by their
    # features only.
    gap = 2 * (losses.lipschitz if hessian is None else losses.feature_bound)
    return PhaseModel(
        setting=setting, losses=losses, epsilon=setting.pure_epsilon, hessian=hessian, gap=gap
    )


def _phases(model: PhaseModel, layout: PhaseLayout, smoothness: float) -> Iterator[OutputPhase]:
    """Yield the phases of a layout, each with its accuracy, sensitivity and noise."""
    start = 0
    for length, level in zip(layout.lengths, layout.regularisers, strict=True):
        exact, accuracy, left = model.gap / ((level + (model.hessian or 0.0)) * length), 0.0, 0.0
        if model.hessian is None:
            accuracy = max(
                level * (OPEN * exact) ** 2 / 8, reachable_accuracy(model, level, smoothness)
            )
            left = open_distance(model.setting, accuracy, level / 2)
        yield OutputPhase(
            start=start,
            stop=start + length,
            regulariser=level,
            accuracy=accuracy,
            l2_sensitivity=exact + left,
            noise_scale=(exact + left) / model.epsilon,
        )
        start += length


def reachable_accuracy(model: PhaseModel, regulariser: float, smoothness: float) -> float:
    r"""Return the accuracy that a gradient's digits can certify: :math:`\nu^2/(2\lambda)`.

    :math:`\nu` is a part, `certified_digits`, of the largest size of a gradient,
    :math:`L + \beta r + 2\lambda r` with r the largest norm of the set.
    """
    radius = model.setting.constants.diameter / 2
    size = model.losses.lipschitz + (smoothness + 2 * regulariser) * radius
    return (certified_digits(model.setting.body) * size) ** 2 / (2 * regulariser)


def bounded_risk(model: PhaseModel, layout: PhaseLayout) -> Any:
    r"""Return a bound on the expected excess risk of the shrunk losses.

    It is proven for an exact solver; the solver's error is allowed for by two per cent more noise.

    .. math:: \frac{\lambda_1r^2}2 + \sum_{i\ge2}\frac{\lambda_i}2d(d+1)s_{i-1}^2
        + \sum_i\frac{2L^2}{\lambda_in_i} + Lds_k

    (theory/pure-optimisers.md, 1.4), r half the diameter.
    """
    d, limit = model.setting.d, model.losses.lipschitz
    energy, risk, scale = (model.setting.constants.diameter / 2) ** 2, 0.0, 0.0
    for length, level in zip(layout.lengths, layout.regularisers, strict=True):
        risk += level / 2 * energy + 2 * limit**2 / (level * length)
        scale = (1 + 2 * OPEN) * model.noise_scale(level, length)
        energy = d * (d + 1) * scale**2
    return risk + limit * d * scale


def modelled_risk(model: PhaseModel, layout: PhaseLayout) -> Any:
    r"""Return the excess risk if the risk is a quadratic with its worst curvature h.

    If e is the distance of the point from the minimiser before a phase of n records, its square
    afterwards is :math:`\big(\frac{\lambda}{h+\lambda}\big)^2e^2 + \frac V{n(h+\lambda)^2} +
    d(d+1)s^2`, and at most the squared diameter. V is the trace of the gradients' covariance, and s
    the scale of the noise. The curvatures are those of `tuning.curvatures`.
    """
    setting = model.setting
    d, constants = setting.d, setting.constants
    low, high = (model.hessian, model.hessian) if model.hessian else curvatures(setting)
    variance = min(constants.variance_trace, model.losses.lipschitz**2)
    worst: Any = 0.0
    bias = shrinking_bias(model)
    for h in (low, math.sqrt(low * high), high):
        square: Any = (constants.diameter / 2) ** 2
        for length, level in zip(layout.lengths, layout.regularisers, strict=True):
            remaining = (level / (h + level)) ** 2 * square + variance / (length * (h + level) ** 2)
            noise = d * (d + 1) * model.noise_scale(level, length) ** 2
            square = np.minimum(remaining + noise, constants.diameter**2)
        worst = np.maximum(worst, h / 2 * square + bias**2 / (2 * h))
    return worst


def shrinking_bias(model: PhaseModel, share: float = SHRUNK_SHARE) -> float:
    r"""Return the modelled change of the mean gradient when features are shrunk.

    It is `share` times the change under the worst law that has the setting's moment.
    """
    setting, constants = model.setting, model.setting.constants
    if model.losses.certified:
        return 0.0
    p, linear_model = setting.moment_order, constants.linear_model
    if linear_model is None:
        moment, length = constants.coordinate_moment ** (1 / p), model.losses.feature_bound
    else:
        moment, length = constants.directional_moment, model.losses.lipschitz
    moment *= math.sqrt(setting.d)
    if moment == 0:
        return 0.0
    if math.isinf(moment):
        return 0.0 if share < 1 else math.inf
    return share * float(moment) * tail_excess(length / moment, p)


def practical_layout(setting: Setting) -> tuple[Losses, PhaseLayout]:
    """Return the losses and the layout of the least modelled risk, over bounds on the features."""
    losses = lipschitz_losses(setting, "practical", equal_rho(setting))
    bounds = [losses.feature_bound * f for f in ((1.0,) if losses.certified else FACTORS)]

    def bounded(bound: float) -> Losses:
        """Return the losses whose features are shrunk to the norm `bound`."""
        if losses.certified:
            return losses
        lipschitz, smoothness = surrogate_constants(setting, bound)
        return replace(losses, lipschitz=lipschitz, smoothness=smoothness, feature_bound=bound)

    def best(bound: float) -> PhaseLayout:
        """Return the layout with the least modelled risk for features within `bound`."""
        return best_layout(phase_model(setting, bounded(bound)), modelled_risk)

    def risk(bound: float) -> float:
        """Return the modelled risk of the best layout for features within `bound`."""
        return float(modelled_risk(phase_model(setting, bounded(bound)), best(bound)))

    bound = smallest(bounds, risk, what="bound on the records")
    return bounded(bound), best(bound)


def best_layout(model: PhaseModel, risk: Callable[[PhaseModel, PhaseLayout], Any]) -> PhaseLayout:
    """Return the layout with the least risk, among phases that are equal or halve in length."""
    unit = 2 * model.losses.lipschitz / model.setting.constants.diameter
    firsts = unit * 2.0 ** (np.arange(-24, 21) / 2)
    shapes = list(shapes_of_phases(model.setting.n, firsts))
    with np.errstate(all="ignore"):  # Candidates whose risk is not finite are skipped.
        risks = np.concatenate([np.broadcast_to(risk(model, s), firsts.shape) for s in shapes])
    best = int(smallest_index(risks))
    if best < 0:
        raise nothing_finite("regulariser")
    shape, place = divmod(best, len(firsts))
    return replace(shapes[shape], first=float(firsts[place]))


def shapes_of_phases(n: int, firsts: NDArray[np.float64]) -> Iterator[PhaseLayout]:
    """Yield candidate layouts of n records, each with all first regularisers `firsts` at once."""
    for count in range(1, MOST_PHASES + 1):
        for ratio in (1.0, 0.5):
            lengths = split(n, count, ratio)
            if lengths is None or (count == 1 and ratio != 1):
                continue
            for growth in GROWTHS if count > 1 else (1.0,):
                yield PhaseLayout(lengths=lengths, first=firsts, growth=growth)


def split(n: int, count: int, ratio: float) -> Lengths | None:
    """Return the lengths of `count` phases, each `ratio` of the previous one; None if one is 0."""
    weights = [ratio**i for i in range(count)]
    lengths = [int(n * w / sum(weights)) for w in weights]
    lengths[0] += n - sum(lengths)
    return tuple(lengths) if lengths[-1] > 0 else None


def theorem_layout(setting: Setting) -> tuple[Losses, PhaseLayout]:
    r"""Return the losses and the layout that minimise the proven bound for heavy-tailed features.

    The bound is `bounded_risk` for losses clipped to the Lipschitz constant L, plus the bias
    :math:`D\,E(a\|x\|-L)_+` of shrinking features, with D the diameter and a the largest slope.
    The bias follows from :math:`(E\|g\|^p)^{1/p} \le \sqrt d\,M`, with M the directional moment
    (theory/pure-optimisers.md, 1.4).
    """
    constants, p = setting.constants, setting.moment_order
    linear_model = constants.linear_model
    assert linear_model is not None
    if not math.isfinite(linear_model.slope):
        # This call raises an error, which says why losses without a bounded slope are refused.
        lipschitz_losses(setting, "practical", equal_rho(setting))
    moment = math.sqrt(setting.d) * constants.directional_moment
    if not math.isfinite(moment):
        raise NotApplicable(
            "The theorem needs a bound on the features' moment, and the problem certifies none.",
            nearest="set tuning=practical",
            changes=(("tuning", "practical"),),
        )

    def model_at(limit: float) -> PhaseModel:
        """Return the constants of losses clipped to a Lipschitz constant of `limit`."""
        bound = limit / linear_model.slope
        smoothness = linear_model.curvature * bound**2
        certified = limit >= constants.lipschitz
        losses = Losses(
            lipschitz=limit, smoothness=smoothness, feature_bound=bound, certified=certified
        )
        return phase_model(setting, losses)

    def risk(limit: float) -> float:
        """Return the proven bound, with the bias of shrinking, at a Lipschitz constant."""
        bias = 0.0
        if limit < constants.lipschitz:
            bias = moment * ((p - 1) * moment / (p * limit)) ** (p - 1) / p
        model = model_at(limit)
        proven = bounded_risk(model, best_layout(model, bounded_risk))
        return constants.diameter * bias + float(proven)

    limits = {min(constants.lipschitz, moment * 2.0 ** (k / 2)) for k in range(-4, 17)}
    limit = smallest(sorted(limits), risk, what="clip radius")
    return model_at(limit).losses, best_layout(model_at(limit), bounded_risk)
