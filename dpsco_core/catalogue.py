"""The catalogue: every method, problem, distribution and bound, and what was added to them.

The built-in rows stand here; `dpsco_core.extend` reads others from a file or a package and adds
them with `add`, at the end.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpsco_core.base.cards import Card, Level, MethodCard, ProblemCard
from dpsco_core.base.errors import require
from dpsco_core.base.listing import Listing
from dpsco_core.base.parsing import one_of
from dpsco_core.bounds import Bound
from dpsco_core.bounds.euclidean.rows import SCO_BOUNDS
from dpsco_core.bounds.instances.hardest import best_spike_probability
from dpsco_core.bounds.instances.tracing import (
    CONCENTRATED,
    Form,
    approximate_leakage,
    concentrated_leakage,
    hardest_tracing,
)
from dpsco_core.bounds.mean.rows import MEAN_BOUNDS
from dpsco_core.bounds.user.rows import USER_BOUNDS
from dpsco_core.data import DISTRIBUTIONS as BUILT_IN
from dpsco_core.data import Distribution, Hypercube, Spike, Tracing
from dpsco_core.geometry.geometries import L2, Geometry
from dpsco_core.methods.base import Calibration, Method, Tuning
from dpsco_core.methods.euclidean import (
    AdaptiveDescent,
    ClippedDescent,
    CoordinatewiseDescent,
    Erm,
    IterativeDescent,
    NoisyGradientDescent,
    ObjectivePerturbation,
    ObjectivePerturbationStrong,
    PhasedSgd,
    PrivateSgd,
    Sgd,
    SmoothedDescent,
    StrongCoordinatewiseDescent,
)
from dpsco_core.methods.lq import (
    BatchedMirrorDescent,
    EuclideanReduction,
    NoisyMirrorDescent,
    RegularizedMirrorDescent,
    ShuffledMirrorDescent,
    UnconstrainedPhasedSgd,
)
from dpsco_core.methods.mean import (
    AdaptiveClipping,
    CoinPress,
    CoordinatewiseCDP,
    CoordinatewisePure,
    InstanceOptimal,
    IterativeUpdating,
    MedianOfMeans,
    NoiseSmoothing,
    SampleMean,
    SimpleClipping,
)
from dpsco_core.methods.user import USER_OPTIMISERS
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP, concentrated_rho
from dpsco_core.problems import (
    Absolute,
    GeometricMedian,
    Hinge,
    Huber,
    LeastSquares,
    Linear,
    Logistic,
    MeanEstimation,
    OptimisationProblem,
    Quadratic,
)

ESTIMATORS: tuple[type[Method], ...] = (
    SampleMean,
    MedianOfMeans,
    SimpleClipping,
    IterativeUpdating,
    CoordinatewiseCDP,
    CoordinatewisePure,
    NoiseSmoothing,
    AdaptiveClipping,
    InstanceOptimal,
    CoinPress,
)
OPTIMISERS: tuple[type[Method], ...] = (
    Sgd,
    Erm,
    NoisyGradientDescent,
    PhasedSgd,
    CoordinatewiseDescent,
    SmoothedDescent,
    StrongCoordinatewiseDescent,
    ClippedDescent,
    AdaptiveDescent,
    IterativeDescent,
    PrivateSgd,
    ObjectivePerturbation,
    ObjectivePerturbationStrong,
    RegularizedMirrorDescent,
    UnconstrainedPhasedSgd,
    ShuffledMirrorDescent,
    BatchedMirrorDescent,
    EuclideanReduction,
    NoisyMirrorDescent,
)
METHODS: Listing[type[Method]] = Listing((*ESTIMATORS, *OPTIMISERS, *USER_OPTIMISERS))

# Problems whose records are points, and those whose records are features with a target.
POINT_PROBLEMS: tuple[type[Quadratic | Linear | GeometricMedian], ...]
POINT_PROBLEMS = (Quadratic, Linear, GeometricMedian)
LINEAR_MODELS: tuple[type[LeastSquares | Logistic | Huber | Hinge | Absolute], ...]
LINEAR_MODELS = (LeastSquares, Logistic, Huber, Hinge, Absolute)
PROBLEMS: tuple[type[MeanEstimation] | type[OptimisationProblem], ...] = (
    MeanEstimation,
    Quadratic,
    Linear,
    LeastSquares,
    Logistic,
    Huber,
    Hinge,
    Absolute,
    GeometricMedian,
)
BOUNDS: Listing[Bound] = Listing((*MEAN_BOUNDS, *SCO_BOUNDS, *USER_BOUNDS))
DISTRIBUTIONS: Listing[type[Distribution]] = Listing(BUILT_IN)
DEFAULT_METHODS = (
    "mean.sample",
    "mean.clipped",
    "mean.cwme-cdp",
    "mean.adaptive",
    "sco.erm",
    "sco.clipped",
    "sco.cwme",
    "user.clipped-means",
    "user.accelerated",
)
HARD_INSTANCES = (Spike.card.slug, Hypercube.card.slug, Tracing.card.slug)
# Of the other problems the risk on this law is not computed, and no bound is about it.
TRACING_PROBLEMS = (MeanEstimation.card.slug, Quadratic.card.slug, Linear.card.slug)

METHOD_SLUGS = Listing(m.card.slug for m in METHODS)
PROBLEM_SLUGS = tuple(p.card.slug for p in PROBLEMS)
DISTRIBUTION_SLUGS = Listing(d.card.slug for d in DISTRIBUTIONS)
BOUND_SLUGS = Listing(b.card.slug for b in BOUNDS)


def add(
    methods: tuple[type[Method], ...],
    bounds: tuple[Bound, ...],
    distributions: tuple[type[Distribution], ...],
) -> None:
    """Add rows at the end; `dpsco_core.extend` has checked them."""
    METHODS.extend(methods)
    METHOD_SLUGS.extend(m.card.slug for m in methods)
    BOUNDS.extend(bounds)
    BOUND_SLUGS.extend(b.card.slug for b in bounds)
    DISTRIBUTIONS.extend(distributions)
    DISTRIBUTION_SLUGS.extend(d.card.slug for d in distributions)


def method_class(slug: str) -> type[Method]:
    """Return the class of a method; raises `InvalidInput` for an unknown slug."""
    one_of("method", slug, METHOD_SLUGS)
    return METHODS[METHOD_SLUGS.index(slug)]


def method_card(slug: str) -> MethodCard:
    """Return the card of a method; raises `InvalidInput` for an unknown slug."""
    return method_class(slug).card


def distribution_class(slug: str) -> type[Distribution]:
    """Return the class of a distribution; raises `InvalidInput` for an unknown slug."""
    every = f"one of {', '.join(DISTRIBUTION_SLUGS)}"
    require(slug in DISTRIBUTION_SLUGS, "distribution", every, slug)
    return DISTRIBUTIONS[DISTRIBUTION_SLUGS.index(slug)]


def distribution_card(slug: str) -> Card:
    """Return the card of a distribution; raises `InvalidInput` for an unknown slug."""
    return distribution_class(slug).card


def bound(slug: str) -> Bound:
    """Return a bound; raises `InvalidInput` for an unknown slug."""
    require(slug in BOUND_SLUGS, "bound", f"one of {', '.join(BOUND_SLUGS)}", slug)
    return BOUNDS[BOUND_SLUGS.index(slug)]


def problem_card(slug: str) -> ProblemCard:
    """Return the card of a problem; raises `InvalidInput` for an unknown slug."""
    require(slug in PROBLEM_SLUGS, "problem", f"one of {', '.join(PROBLEM_SLUGS)}", slug)
    return PROBLEMS[PROBLEM_SLUGS.index(slug)].card


def methods_for(problem: str, level: Level | None = None) -> tuple[str, ...]:
    """Return the slugs of the methods that are made for a problem, in order.

    With a level only those that serve it: user-level ones, where users have several items, and
    those without privacy, which pool the items.
    """
    fitting = (m.card for m in METHODS if problem in m.card.problems)
    if level is None:
        return tuple(card.slug for card in fitting)
    return tuple(c.slug for c in fitting if c.level == level or c.privacy == "none")


def bounds_for(problem: str, level: Level = "item") -> tuple[Bound, ...]:
    """Return the bounds that are drawn beside a problem: first those of its smallest class.

    Those of convex losses come after those of strongly convex ones beside a strongly convex
    problem, and lower bounds that do not bind the methods for the problem after those that do.
    Otherwise they are in the order of the catalogue.

    At user level those of item level that hold there too, at n m records: lower bounds, because
    whoever hides a user hides each item, and upper bounds without privacy.
    """
    own = problem_card(problem).loss_class
    fitting = sorted(
        (b for b in BOUNDS if problem in b.card.problems),
        key=lambda b: (b.card.is_wider(own), not b.card.applies_to(own)),
    )
    if level == "item":
        return tuple(b for b in fitting if b.card.level == "item")
    return tuple(
        b
        for b in fitting
        if b.card.level == "user" or b.card.kind == "lower" or b.card.privacy == "none"
    )


def distributions_for(problem: str) -> tuple[str, ...]:
    """Return the slugs of the laws that a problem may have, in order."""
    if problem in TRACING_PROBLEMS:
        return tuple(DISTRIBUTION_SLUGS)
    # The others need the density of a law, which one that is added does not give.
    return tuple(law.card.slug for law in BUILT_IN if law is not Tracing)


def default_methods(problem: str, level: Level = "item") -> tuple[str, ...]:
    """Return the methods that a scenario has if it names none."""
    known = methods_for(problem, level)
    return tuple(slug for slug in DEFAULT_METHODS if slug in known)


def make_method(slug: str, calibration: Calibration, tuning: Tuning) -> Method:
    """Return a method of the catalogue in a calibration and a tuning.

    Those without privacy have neither. Raises `InvalidInput` for an unknown slug.
    """
    family: Any = method_class(slug)
    private = family.card.privacy != "none"
    made: Method = family(calibration=calibration, tuning=tuning) if private else family()
    return made


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A problem with, on a hard instance, the spike probability of its prior."""

    problem: MeanEstimation | OptimisationProblem
    spike_probability: float | None


@lru_cache(maxsize=4096)
def make_instance(
    *,
    problem: str = "mean",
    distribution: str,
    n: int,
    d: int,
    budget: Budget,
    moment_order: float,
    margin: float,
    # Norm in the geometry of the mean, or of the true parameter of a linear model, whose features
    # have mean 0. Hard instances have their own mean.
    offset: float,
    # half the diameter: of the set that is known to hold the mean, or of the constraint set
    radius: float,
    geometry: Geometry = L2,  # the family of that set
) -> Instance:
    """Return a problem of the catalogue on a distribution of the catalogue.

    Notes
    -----
    A hard instance takes the spike probability that maximises its own lower bound at this n, d and
    budget: the pure bound under a pure budget, the concentrated one otherwise (`Tracing`: that on
    (epsilon, delta) under those, the concentrated one under zCDP); for excess risks that of the
    linear or, where the risk is strongly convex, of the quadratic loss.

    Raises `InvalidInput` for an unknown slug, or a law that the problem cannot have.
    """
    family: Any = distribution_class(distribution)
    problem_card(problem)
    one_of("distribution", distribution, distributions_for(problem))
    linear_model = next((p for p in LINEAR_MODELS if p.card.slug == problem), None)
    order = moment_order if linear_model is None else linear_model.feature_order(moment_order)
    probability: float | None = None
    law: Distribution
    if distribution == Tracing.card.slug:
        probability, shape = _hardest_tracing(problem, n, d, budget, order, radius)
        law = Tracing(
            d=d,
            moment_order=order,
            spike_probability=probability,
            shape=shape,
            spread=CONCENTRATED,
        )
    elif distribution in HARD_INSTANCES:
        probability = _hardest(problem, distribution, n, d, budget, order, radius)
        hard = Spike if distribution == Spike.card.slug else Hypercube
        law = hard(d=d, moment_order=order, spike_probability=probability)
    else:
        even = first = 0.0
        if problem == GeometricMedian.card.slug:  # its minimiser is known for even means
            even = offset * geometry.diagonal(d, 1.0)[1]
        elif linear_model is None:
            even, first = geometry.parts(d, offset, radius)
        law = family(d=d, moment_order=order, margin=margin, offset=even * math.sqrt(d), peak=first)
    made: MeanEstimation | OptimisationProblem
    if problem == MeanEstimation.card.slug:
        made = MeanEstimation(distribution=law, mean_bound=radius, geometry=geometry)
    elif linear_model is not None:
        made = linear_model(features=law, radius=radius, offset=offset, geometry=geometry)
    else:
        point = next(p for p in POINT_PROBLEMS if p.card.slug == problem)
        made = point(distribution=law, radius=radius, geometry=geometry)
    return Instance(problem=made, spike_probability=probability)


def _hardest(
    problem: str,
    distribution: str,
    n: int,
    d: int,
    budget: Budget,
    moment_order: float,
    radius: float,
) -> float:
    pure = isinstance(budget, PureDP)
    strength = budget.epsilon if isinstance(budget, PureDP) else concentrated_rho(budget)
    cube = distribution == Hypercube.card.slug
    kind = ("hypercube" if cube else "fano") + ("-pure" if pure else "-cdp")
    if problem == MeanEstimation.card.slug:
        cap = radius
    elif problem_card(problem).loss_class.strongly_convex:
        kind, cap = f"{kind}-squared", radius
    else:
        kind, cap = (kind if cube and not pure else f"{kind}-convex"), math.inf
    probability, _ = best_spike_probability(kind, n, d, moment_order, strength, cap)
    return probability


def _hardest_tracing(
    problem: str, n: int, d: int, budget: Budget, moment_order: float, radius: float
) -> tuple[float, float]:
    match budget:
        case ZCDP(rho=rho):
            leakage = concentrated_leakage(rho)
        case PureDP(epsilon=epsilon):
            leakage = approximate_leakage(epsilon, 0.0, CONCENTRATED)
        case ApproxDP(epsilon=epsilon, delta=delta):
            leakage = approximate_leakage(epsilon, delta, CONCENTRATED)
    forms: dict[str, Form] = {MeanEstimation.card.slug: "l2", Linear.card.slug: "linear"}
    form = forms.get(problem, "squared")
    cap = math.inf if form == "linear" else radius
    return hardest_tracing(form, n, d, moment_order, leakage, cap)
