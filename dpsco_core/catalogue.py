"""The catalogue: every method, problem, distribution and bound, and what was added to them.

The built-in rows stand here; `dpsco_core.plugins.extend` reads others from a file or a package and
adds them with `add`, at the end.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpsco_core.base.cards import Card, Level, MethodCard, Privacy, ProblemCard
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of
from dpsco_core.bounds import Bound
from dpsco_core.bounds.euclidean.rows import SCO_BOUNDS
from dpsco_core.bounds.instances.hardest import hardest_prior
from dpsco_core.bounds.losses.hardest import hardest_hidden
from dpsco_core.bounds.mean.rows import MEAN_BOUNDS
from dpsco_core.bounds.user.hardest import hardest_for_users
from dpsco_core.bounds.user.rows import ALL_USER_BOUNDS
from dpsco_core.data import DISTRIBUTIONS as BUILT_IN
from dpsco_core.data import Distribution
from dpsco_core.data.alike import alike_items
from dpsco_core.data.base import ScaledLaw, Unit, overrides_answer
from dpsco_core.geometry.geometries import L2, Geometry, check_offset
from dpsco_core.methods.base import Calibration, Method, Tuning
from dpsco_core.methods.euclidean import EUCLIDEAN_OPTIMISERS
from dpsco_core.methods.lq import LQ_OPTIMISERS
from dpsco_core.methods.mean import ESTIMATORS
from dpsco_core.methods.user import USER_ESTIMATORS, USER_OPTIMISERS
from dpsco_core.privacy.budget import Budget
from dpsco_core.problems import OPTIMISATION_PROBLEMS, MeanEstimation, Problem
from dpsco_core.problems.linear_models import LinearModelProblem

OPTIMISERS: tuple[type[Method], ...] = (*EUCLIDEAN_OPTIMISERS, *LQ_OPTIMISERS)
# The lists are extended in place by `add`, so every holder of a list sees the additions.
METHODS: list[type[Method]] = [*ESTIMATORS, *OPTIMISERS, *USER_OPTIMISERS, *USER_ESTIMATORS]

PROBLEMS: tuple[type[Problem], ...] = (MeanEstimation, *OPTIMISATION_PROBLEMS)
BOUNDS: list[Bound] = [*MEAN_BOUNDS, *SCO_BOUNDS, *ALL_USER_BOUNDS]
DISTRIBUTIONS: list[type[Distribution]] = [*BUILT_IN]
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
    "user.mean-clipped",
    "user.mean-adaptive",
)
HARD_INSTANCES = tuple(law.card.slug for law in DISTRIBUTIONS if law.has_prior)

METHOD_SLUGS = [m.card.slug for m in METHODS]
PROBLEM_SLUGS = tuple(p.card.slug for p in PROBLEMS)
LINEAR_MODELS = tuple(p.card.slug for p in PROBLEMS if issubclass(p, LinearModelProblem))
DISTRIBUTION_SLUGS = [d.card.slug for d in DISTRIBUTIONS]
BOUND_SLUGS = [b.card.slug for b in BOUNDS]


def add(
    methods: tuple[type[Method], ...],
    bounds: tuple[Bound, ...],
    distributions: tuple[type[Distribution], ...],
) -> None:
    """Append rows that `dpsco_core.plugins.extend` has checked."""
    METHODS.extend(methods)
    METHOD_SLUGS.extend(m.card.slug for m in methods)
    BOUNDS.extend(bounds)
    BOUND_SLUGS.extend(b.card.slug for b in bounds)
    DISTRIBUTIONS.extend(distributions)
    DISTRIBUTION_SLUGS.extend(d.card.slug for d in distributions)


def method_class(slug: str) -> type[Method]:
    """Return the class of a method; raises `InvalidInput` for an unknown slug."""
    return METHODS[_find_index("method", slug, METHOD_SLUGS)]


def method_card(slug: str) -> MethodCard:
    """Return the card of a method; raises `InvalidInput` for an unknown slug."""
    return method_class(slug).card


def distribution_class(slug: str) -> type[Distribution]:
    """Return the class of a distribution; raises `InvalidInput` for an unknown slug."""
    return DISTRIBUTIONS[_find_index("distribution", slug, DISTRIBUTION_SLUGS)]


def distribution_card(slug: str) -> Card:
    """Return the card of a distribution; raises `InvalidInput` for an unknown slug."""
    return distribution_class(slug).card


def bound(slug: str) -> Bound:
    """Return a bound; raises `InvalidInput` for an unknown slug."""
    return BOUNDS[_find_index("bound", slug, BOUND_SLUGS)]


def problem_class(slug: str) -> type[Problem]:
    """Return the class of a problem; raises `InvalidInput` for an unknown slug."""
    return PROBLEMS[_find_index("problem", slug, PROBLEM_SLUGS)]


def problem_card(slug: str) -> ProblemCard:
    """Return the card of a problem; raises `InvalidInput` for an unknown slug."""
    return problem_class(slug).card


def _find_index(name: str, slug: str, slugs: Sequence[str]) -> int:
    """Return the index of a slug in a list of slugs.

    Raises `InvalidInput` if the slug is missing; `name` is what the message calls it.
    """
    try:
        return slugs.index(slug)
    except ValueError:
        one_of(name, slug, slugs)
        raise


def methods_for(problem: str, level: Level | None = None) -> tuple[str, ...]:
    """Return the slugs of the methods for a problem, in the order of the catalogue.

    If a level is given, they are the private methods of that level, and all methods without
    privacy: at user level these pool the items.
    """
    return _methods_for(problem, level, len(METHODS))


@lru_cache(maxsize=256)
def _methods_for(problem: str, level: Level | None, count: int) -> tuple[str, ...]:
    """Return what `methods_for` does, of the first `count` methods of the catalogue.

    The count is a part of the cache's key, because plugins append methods.
    """
    fitting = [m.card for m in METHODS[:count] if problem in m.card.problems]
    if level is None:
        return tuple(card.slug for card in fitting)
    return tuple(c.slug for c in fitting if c.level == level or c.privacy == "none")


def methods_under(problem: str, level: Level, notion: Privacy) -> tuple[str, ...]:
    """Return the slugs of the private methods for a problem that can run under a kind of budget."""
    cards = (method_card(slug) for slug in methods_for(problem, level))
    return tuple(c.slug for c in cards if c.privacy != "none" and notion in c.budgets)


def bounds_for(problem: str, level: Level = "item") -> tuple[Bound, ...]:
    """Return the bounds shown for a problem, those of its smallest class first.

    For a strongly convex problem, bounds for convex losses come after bounds for strongly convex
    ones; lower bounds that do not bind the methods for the problem come after those that do.
    Otherwise the bounds are in the order of the catalogue.

    At user level the bounds of item level that also hold there, at n m records, are included:
    lower bounds, because whoever hides a user hides each item, and upper bounds without privacy or
    without data.
    """
    return _bounds_for(problem, level, len(BOUNDS))


@lru_cache(maxsize=256)
def _bounds_for(problem: str, level: Level, count: int) -> tuple[Bound, ...]:
    """Return what `bounds_for` does, of the first `count` bounds of the catalogue.

    The count is a part of the cache's key, because plugins append bounds.
    """
    loss_class = problem_card(problem).loss_class
    fitting = sorted(
        (b for b in BOUNDS[:count] if problem in b.card.problems),
        key=lambda b: (b.card.is_wider(loss_class), not b.card.applies_to(loss_class)),
    )
    if level == "item":
        return tuple(b for b in fitting if b.card.level == "item")
    return tuple(
        b
        for b in fitting
        if b.card.level == "user"
        or b.card.kind == "lower"
        or b.card.privacy == "none"
        or b.card.ignores_data
    )


def distributions_for(problem: str) -> tuple[str, ...]:
    """Return the slugs of the distributions that a problem accepts, in the catalogue's order."""
    kind = problem_class(problem)
    return tuple(law.card.slug for law in DISTRIBUTIONS if not kind.unmet_condition(law))


def check_law(problem: str, distribution: str) -> None:
    """Raise `InvalidInput` unless a problem accepts a distribution."""
    must = problem_class(problem).unmet_condition(distribution_class(distribution))
    require(not must, "distribution", f"{must} for the problem {problem}", distribution)


def law_can_decay(slug: str, problem: str) -> bool:
    """Return whether the coordinates of a distribution may have decreasing scales in a problem.

    Only a law that takes its draws and moments unchanged from `ScaledLaw` scales coordinates.
    """
    law = distribution_class(slug)
    is_scaled = issubclass(law, ScaledLaw) and all(
        getattr(law, name) is getattr(ScaledLaw, name) for name in ("fill", "moment")
    )
    return is_scaled and problem_class(problem).allows_unequal_scales(law)


def can_be_alike(slug: str, problem: str) -> bool:
    """Return whether the items of a user may be correlated.

    They may in mean estimation, on laws whose coordinates can be scaled. The theorems on
    optimisers need users whose items are independent.
    """
    return problem == MeanEstimation.card.slug and (
        law_can_decay(slug, problem) and overrides_answer(distribution_class(slug), "univariate")
    )


def default_methods(problem: str, level: Level = "item") -> tuple[str, ...]:
    """Return the methods of a scenario that names none."""
    slugs = methods_for(problem, level)
    return tuple(slug for slug in DEFAULT_METHODS if slug in slugs)


def make_method(slug: str, calibration: Calibration, tuning: Tuning) -> Method:
    """Return a method of the catalogue in a calibration and a tuning.

    Methods without privacy have neither. Raises `InvalidInput` for an unknown slug.
    """
    family: Any = method_class(slug)
    private = family.card.privacy != "none"
    method: Method = family(calibration=calibration, tuning=tuning) if private else family()
    return method


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A problem, with the spike probability of its prior on a hard instance."""

    problem: Problem
    spike_probability: float | None

    @property
    def law(self) -> Distribution:
        """The distribution of a record, or of its features."""
        return self.problem.law


@lru_cache(maxsize=4096)
def make_instance(
    *,
    problem: str = "mean",
    distribution: str,
    n: int,  # the number of records, over all users
    m: int = 1,  # the number of records per user
    d: int,
    budget: Budget,
    moment_order: float,
    margin: float,
    # The norm of the mean in the geometry; for a linear model, whose features have mean 0, the norm
    # of the true parameter. Hard instances have their own mean.
    offset: float,
    # Half the diameter of the set known to contain the mean, or of the constraint set.
    radius: float,
    # the family of the set known to contain the mean, or of the constraint set
    geometry: Geometry = L2,
    # The moment or other unit of a coordinate that is scaled to 1; hard instances have moments of
    # at most 1.
    scale: Unit = "moment",
    decay: float = 0.0,  # the rate at which the scales of coordinates decrease
    alike: float = 0.0,  # the share of the variance that the items of a user have in common
) -> Instance:
    """Return a problem of the catalogue on a distribution of the catalogue.

    Notes
    -----
    A hard instance takes the spike probability that maximises the sharpest lower bound proven on it
    at this n, d and budget, of those that bind every algorithm of the budget (the packing of
    `Spike`: Fano's bound, the concentrated one unless the budget is pure); for excess risks that of
    the linear or, where the risk is strongly convex, of the quadratic loss.

    Raises `InvalidInput` for an unknown slug, or a law that the problem cannot have.
    """
    family: Any = distribution_class(distribution)
    kind = problem_class(problem)
    check_law(problem, distribution)
    order = kind.feature_order(moment_order)
    probability: float | None = None
    arguments: dict[str, Any]
    if family.hides != "mean":
        constraint = geometry.constraint(d, radius)
        arguments = hardest_hidden(kind, family, constraint, n, order, budget)
        probability = arguments["spike_probability"]
    elif family.has_prior:
        form = kind.card.loss_class.form
        losses = kind.card.loss_class
        # For means, linear losses and squared distances, the hardest prior depends on the shape of
        # the constraint set, which only in l2 is a ball.
        is_about_set = form != "squared" or losses.squared_distance
        body = geometry.constraint(d, radius) if is_about_set and geometry != L2 else None
        cap = math.inf if form == "linear" else radius
        arguments = hardest_prior(family, form, n, d, order, budget, cap, body)
        if m > 1 and form == "l2" and body is None:
            arguments |= hardest_for_users(family, n // m, m, d, order, budget, radius)
        probability = arguments["spike_probability"]
    else:
        # The offset is checked here, so that an error shows the caller's value and not a part.
        check_offset(offset, radius)
        even, first_coordinate = kind.mean_parts(geometry, d, offset, radius)
        arguments = {"margin": margin, "offset": even * math.sqrt(d), "peak": first_coordinate}
        if scale != "moment":
            fits = issubclass(family, ScaledLaw)
            require(fits, "scale", f"moment for the distribution {distribution}", scale)
            arguments["unit"] = scale
    if decay > 0:
        must = f"0 for the distribution {distribution}"
        must += "" if kind.allows_unequal_scales(family) else f" and the problem {problem}"
        require(law_can_decay(distribution, problem), "decay", must, decay)
        arguments["decay"] = decay
    law = family(d=d, moment_order=order, **arguments)
    if alike > 0:
        must = (
            f"0 for the distribution {distribution}, which draws its items in a way of its own"
            if problem == MeanEstimation.card.slug
            else f"0 for the problem {problem}, whose methods take a user's items as independent"
        )
        require(can_be_alike(distribution, problem), "alike", must, alike)
        law = alike_items(law, alike)
    made = kind.on_law(law, offset=offset, radius=radius, geometry=geometry)
    return Instance(problem=made, spike_probability=probability)
