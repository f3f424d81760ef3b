"""The catalogue: every method, problem, distribution and bound, in explicit tuples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dpsco_core.bounds import MEAN_BOUNDS, Bound, best_spike_probability
from dpsco_core.card import Card, MethodCard
from dpsco_core.data import (
    DISTRIBUTIONS,
    Distribution,
    EllipticalT,
    Gaussian,
    Hypercube,
    LogNormal,
    Pareto,
    SkewedPareto,
    Spike,
    StudentT,
)
from dpsco_core.errors import require
from dpsco_core.mean import (
    CoordinatewiseCDP,
    CoordinatewisePure,
    IterativeUpdating,
    MeanEstimator,
    MedianOfMeans,
    NoiseSmoothing,
    SampleMean,
    SimpleClipping,
)
from dpsco_core.mean.base import Calibration, Tuning
from dpsco_core.privacy.budget import Budget, PureDP, concentrated_rho
from dpsco_core.problems import MeanEstimation

METHODS: tuple[type[MeanEstimator], ...] = (
    SampleMean,
    MedianOfMeans,
    SimpleClipping,
    IterativeUpdating,
    CoordinatewiseCDP,
    CoordinatewisePure,
    NoiseSmoothing,
)
PROBLEMS: tuple[type[MeanEstimation], ...] = (MeanEstimation,)
BOUNDS: tuple[Bound, ...] = MEAN_BOUNDS
HARD_INSTANCES = (Spike.card.slug, Hypercube.card.slug)

ORDINARY: tuple[type[StudentT | Pareto | SkewedPareto | LogNormal | Gaussian | EllipticalT], ...]
ORDINARY = (StudentT, Pareto, SkewedPareto, LogNormal, Gaussian, EllipticalT)

METHOD_SLUGS = tuple(m.card.slug for m in METHODS)
PROBLEM_SLUGS = tuple(p.card.slug for p in PROBLEMS)
DISTRIBUTION_SLUGS = tuple(d.card.slug for d in DISTRIBUTIONS)
BOUND_SLUGS = tuple(b.card.slug for b in BOUNDS)


def method_card(slug: str) -> MethodCard:
    """Return the card of a method; raises `InvalidInput` for an unknown slug."""
    require(slug in METHOD_SLUGS, "method", f"one of {', '.join(METHOD_SLUGS)}", slug)
    return METHODS[METHOD_SLUGS.index(slug)].card


def distribution_card(slug: str) -> Card:
    """Return the card of a distribution; raises `InvalidInput` for an unknown slug."""
    require(
        slug in DISTRIBUTION_SLUGS, "distribution", f"one of {', '.join(DISTRIBUTION_SLUGS)}", slug
    )
    return DISTRIBUTIONS[DISTRIBUTION_SLUGS.index(slug)].card


def bound(slug: str) -> Bound:
    """Return a bound; raises `InvalidInput` for an unknown slug."""
    require(slug in BOUND_SLUGS, "bound", f"one of {', '.join(BOUND_SLUGS)}", slug)
    return BOUNDS[BOUND_SLUGS.index(slug)]


def make_method(slug: str, calibration: Calibration, tuning: Tuning) -> MeanEstimator:
    """Return a method of the catalogue in the given calibration and tuning.

    The baselines without privacy have neither.
    """
    method_card(slug)
    match slug:
        case "mean.sample":
            return SampleMean()
        case "mean.median-of-means":
            return MedianOfMeans()
        case "mean.clipped":
            return SimpleClipping(calibration=calibration, tuning=tuning)
        case "mean.iterative":
            return IterativeUpdating(calibration=calibration, tuning=tuning)
        case "mean.cwme-cdp":
            return CoordinatewiseCDP(calibration=calibration, tuning=tuning)
        case "mean.cwme-pure":
            return CoordinatewisePure(calibration=calibration, tuning=tuning)
        case _:
            return NoiseSmoothing(calibration=calibration, tuning=tuning)


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A problem with, on a hard instance, the spike probability of its prior."""

    problem: MeanEstimation
    spike_probability: float | None


@lru_cache(maxsize=4096)
def make_instance(
    *,
    distribution: str,
    n: int,
    d: int,
    budget: Budget,
    moment_order: float,
    margin: float,
    offset: float,
    mean_bound: float,
) -> Instance:
    """Return mean estimation on a distribution of the catalogue.

    A hard instance takes the spike probability that maximises its own lower bound at this n, d and
    budget: the pure bound under a pure budget, the concentrated one otherwise. Its mean stays
    within `mean_bound`. `margin` and `offset` apply to the other distributions.
    """
    distribution_card(distribution)
    law: Distribution
    if distribution in HARD_INSTANCES:
        probability = _hardest(distribution, n, d, budget, moment_order, mean_bound)
        hard = Spike if distribution == Spike.card.slug else Hypercube
        law = hard(d=d, moment_order=moment_order, spike_probability=probability)
        return Instance(
            problem=MeanEstimation(distribution=law, mean_bound=mean_bound),
            spike_probability=probability,
        )
    family = next(f for f in ORDINARY if f.card.slug == distribution)
    law = family(d=d, moment_order=moment_order, margin=margin, offset=offset)
    return Instance(
        problem=MeanEstimation(distribution=law, mean_bound=mean_bound), spike_probability=None
    )


def _hardest(
    distribution: str, n: int, d: int, budget: Budget, moment_order: float, mean_bound: float
) -> float:
    pure = isinstance(budget, PureDP)
    strength = budget.epsilon if isinstance(budget, PureDP) else concentrated_rho(budget)
    if distribution == Hypercube.card.slug:
        kind = "hypercube-pure" if pure else "hypercube-cdp"
    else:
        kind = "fano-pure" if pure else "fano-cdp"
    probability, _ = best_spike_probability(kind, n, d, moment_order, strength, mean_bound)
    return probability
