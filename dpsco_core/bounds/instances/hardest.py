"""Where the hard instances are hardest: the best spike probability of each private lower bound."""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, Literal

from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import Form
from dpsco_core.base.parsing import one_of
from dpsco_core.bounds.instances import (
    assouad,
    distance,
    hypercube,
    packing,
    rate_distortion,
    spikes,
    two_sided,
)
from dpsco_core.bounds.instances.blocks import BlockWords
from dpsco_core.bounds.instances.corners import CornerWords
from dpsco_core.bounds.instances.cubes import hardest_cube, has_cubes, holds_whole_cube
from dpsco_core.bounds.instances.leakage import (
    CONCENTRATED,
    approximate_leakage,
    concentrated_leakage,
)
from dpsco_core.bounds.instances.level import binding_level
from dpsco_core.bounds.instances.sets import blocks_of, corners_of, lq_signs_of
from dpsco_core.bounds.instances.tracing import hardest_tracing
from dpsco_core.bounds.instances.words import Argument, WordPrior, words_bound
from dpsco_core.bounds.instances.words import best as best_words
from dpsco_core.data.hard import HardInstance, Hypercube, Spike
from dpsco_core.data.hidden import Corners, SignBlocks
from dpsco_core.data.tracing import Tracing
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.geometries import GROUP_SIZE
from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP, concentrated_rho


def largest_spike_probability(
    instance: Literal["spike", "hypercube"], d: int, moment_order: float, mean_bound: float
) -> float:
    r"""Return the largest p whose instance has mean norm at most `mean_bound`.

    :math:`\min(1,(R/\sqrt w)^{1/a})` with :math:`w=\lfloor d/2\rfloor` for the packing and w = d
    for the hypercube; k > 1, and R >= 0 may be infinite. See theory/kamath-liu-zhang.md, 4.1 and
    8, item 35.
    """
    weight = d if instance == "hypercube" else d // 2
    return spikes.largest_probability(weight, moment_order, mean_bound)


# A function of (p, n, d, moment_order, rho or epsilon) that returns a lower bound at p.
ValueAt = Callable[[float, int, int, float, float], float]
# A function of (n, d, moment_order, rho or epsilon, largest p) that returns the best p.
Best = Callable[[int, int, float, float, float], float]


def _linear_risk_form(value_at: ValueAt) -> ValueAt:
    """Return the function for the risk of linear losses, from that for the packing's l2 error."""
    return lambda p, n, d, order, level: spikes.convex_factor(d) * value_at(p, n, d, order, level)


def _bind_form(value_at: ValueAt, best: Best, **form: bool | str) -> tuple[ValueAt, Best]:
    """Return a bound and its maximiser with the keyword arguments that select an error's form."""
    return partial(value_at, **form), partial(best, **form)


# Each form has a function for the bound at p, and one for the p at which it is largest. The convex
# forms of the packing, and of the hypercube under concentrated DP, are fixed multiples of the l2
# forms, so they share their maximiser.
FORMS: dict[str, tuple[ValueAt, Best]] = {
    "fano-cdp": (spikes.spike_fano_cdp, spikes.best_cdp),
    "fano-pure": (spikes.spike_pure, spikes.best_pure),
    "hypercube-cdp": (hypercube.hypercube_cdp, hypercube.best_cdp),
    "hypercube-pure": (hypercube.hypercube_pure, hypercube.best_pure),
    "fano-cdp-squared": _bind_form(spikes.spike_fano_cdp, spikes.best_cdp, squared=True),
    "fano-pure-squared": _bind_form(spikes.spike_pure, spikes.best_pure, squared=True),
    "hypercube-cdp-squared": _bind_form(hypercube.hypercube_cdp, hypercube.best_cdp, squared=True),
    "hypercube-pure-squared": _bind_form(
        hypercube.hypercube_pure, hypercube.best_pure, form="squared"
    ),
    "fano-cdp-convex": (_linear_risk_form(spikes.spike_fano_cdp), spikes.best_cdp),
    "fano-pure-convex": (_linear_risk_form(spikes.spike_pure), spikes.best_pure),
    "hypercube-cdp-convex": (hypercube.hypercube_cdp, hypercube.best_cdp),
    "hypercube-pure-convex": _bind_form(
        hypercube.hypercube_pure, hypercube.best_pure, form="linear"
    ),
}
SPIKE_BOUNDS = tuple(FORMS)


def best_spike_probability(
    kind: str,
    n: int,
    d: int,
    moment_order: float,
    rho_or_epsilon: float,
    mean_bound: float = math.inf,
) -> tuple[float, float]:
    r"""Return the spike probability at which a lower bound is largest, and the bound there.

    Parameters
    ----------
    kind : str
        One of `SPIKE_BOUNDS`: ``"fano-..."`` on the packing or ``"hypercube-..."``, ``-cdp`` or
        ``-pure``, and then nothing for the expected l2 error (slug ``lower.mean.<kind>``),
        ``-squared`` for the squared one (half of it is the risk of :math:`\frac12\|w-x\|^2`) or
        ``-convex`` for the excess risk of :math:`-\langle w,x\rangle` on the unit ball.
    moment_order : float
        k > 1.
    rho_or_epsilon : float
        rho for the ``-cdp`` kinds, epsilon for the ``-pure`` ones.
    mean_bound : float
        R: only instances whose mean has norm at most R are allowed. For the quadratic loss the
        mean must be in the constraint set: R is its radius. Linear losses need no bound.

    Returns
    -------
    p : float
        In (0, 1]; 0 only if `mean_bound` is 0.
    value : float
        The bound on the expected error or risk at p, for moments scaled to 1.

    Examples
    --------
    >>> p, value = best_spike_probability("hypercube-cdp", 10_000, 200, 4, 0.5)
    >>> round(value, 6)
    0.031848
    """
    one_of("kind", kind, tuple(SPIKE_BOUNDS))
    require(n >= 1, "n", "a positive integer", n)
    require(d >= 1, "d", "a positive integer", d)
    name = "epsilon" if "-pure" in kind else "rho"
    require(0 < rho_or_epsilon < math.inf, name, "positive", rho_or_epsilon)
    instance: Literal["spike", "hypercube"] = "spike" if kind.startswith("fano") else "hypercube"
    largest = largest_spike_probability(instance, d, moment_order, mean_bound)
    if largest == 0:
        return 0.0, 0.0
    value_at, best = FORMS[kind]
    p = best(n, d, moment_order, rho_or_epsilon, largest)
    return p, value_at(p, n, d, moment_order, rho_or_epsilon)


@lru_cache(maxsize=4096)
def hardest_signs(
    form: Form, n: int, d: int, moment_order: float, budget: Budget, mean_bound: float = math.inf
) -> float:
    r"""Return the spike probability at which the hypercube of signs is hardest under a budget.

    At that probability the sharpest lower bound for all algorithms of the budget is largest. The
    bounds compared are packing and Assouad under :math:`(\varepsilon,\delta)` and pure budgets, and
    under zCDP two-sided information, Fano's by distance and two older ones.

    Parameters
    ----------
    form : {"l2", "squared", "linear"}
        What is bounded: the mean error, its square, or the excess risk of linear losses.
    mean_bound : float
        R: only instances whose mean has norm at most R are allowed.

    Examples
    --------
    >>> round(hardest_signs("l2", 10_000, 20, 2.0, ApproxDP(epsilon=1.0, delta=1e-6)), 5)
    0.00072
    """
    largest = largest_spike_probability("hypercube", d, moment_order, mean_bound)
    if largest == 0:
        return 0.0
    return max(_bounds_on_signs(form, n, d, moment_order, budget, largest))[1]


def _bounds_on_signs(
    form: Form, n: int, d: int, order: float, budget: Budget, largest: float
) -> Iterator[tuple[float, float]]:
    """Yield each private bound on the hypercube at its best spike probability, and the latter."""
    if isinstance(budget, ZCDP):
        rho, squared = budget.rho, form == "squared"
        q = hypercube.best_cdp(n, d, order, rho, largest, squared=squared)
        yield hypercube.hypercube_cdp(q, n, d, order, rho, squared=squared), q
        # The rate distortion bound has no linear form.
        if form != "linear":
            q = rate_distortion.best(n, d, order, rho, largest, squared=squared)
            yield rate_distortion.distortion(q, n, d, order, rho, squared=squared), q
        q = distance.best(n, d, order, rho, largest, form)
        yield distance.fano_distance(q, n, d, order, rho, form), q
        q = two_sided.best(n, d, order, rho, largest, form)
        yield two_sided.two_sided(q, n, d, order, rho, form), q
        return
    delta = budget.delta if isinstance(budget, ApproxDP) else 0.0
    level = budget.epsilon, delta
    q = packing.best(form, n, d, order, *level, largest)
    yield packing.packing(form, q, n, d, order, *level), q
    q = assouad.best(form, n, order, *level, largest)
    yield assouad.assouad(form, q, n, d, order, *level), q


def hardest_prior(
    family: type[HardInstance],
    form: Form,
    n: int,
    d: int,
    moment_order: float,
    budget: Budget,
    mean_bound: float = math.inf,
    body: ConstraintSet | None = None,
) -> dict[str, Any]:
    """Return the fields of a hard instance at which the sharpest bound proven on it is largest.

    The keys are fields of the law `family`, `spike_probability` among them. Only bounds count that
    bind every algorithm of the budget, for means or answers in the set `body`; None stands for the
    l2 ball. See `hardest_signs` for the other parameters.
    """
    words_of = _WORDS.get(family)
    if form == "linear" and words_of is not None:
        words = None if body is None else words_of(body)
        if words is not None:
            q = hardest_words(words, n, moment_order, budget, mean_bound)
            signed = {"signed": words.signed} if isinstance(words, CornerWords) else {}
            return {"spike_probability": q} | signed
    if form != "linear" and family is Hypercube and body is not None:
        return _hardest_signs_in(body, form, n, moment_order, budget, mean_bound)
    return _PRIORS[family](form, n, d, moment_order, budget, mean_bound)


@lru_cache(maxsize=4096)
def hardest_words(
    words: WordPrior, n: int, moment_order: float, budget: Budget, mean_bound: float = math.inf
) -> float:
    """Return the spike probability at which a lower bound for linear losses is largest.

    The bound is the sharpest one over hidden `words` that binds every algorithm of the budget;
    `mean_bound` is as in `hardest_signs`.
    """
    largest = spikes.largest_probability(words.weight, moment_order, mean_bound)
    if largest == 0:
        return 0.0
    level = binding_level(budget)
    arguments: tuple[Argument, ...] = ("approx",)
    if isinstance(budget, ZCDP):
        arguments = ("two-sided", "fano")
    tried = (best_words(words, a, n, moment_order, level, largest) for a in arguments)
    return max(
        (words_bound(words, a, q, n, moment_order, level), q)
        for a, q in zip(arguments, tried, strict=True)
    )[1]


def _hardest_packing(
    form: Form, n: int, d: int, moment_order: float, budget: Budget, mean_bound: float
) -> dict[str, float]:
    """Return the parameters of the packing with the largest Fano bound for the budget."""
    pure = isinstance(budget, PureDP)
    strength = budget.epsilon if isinstance(budget, PureDP) else concentrated_rho(budget)
    kind = f"fano-{'pure' if pure else 'cdp'}"
    kind += {"l2": "", "squared": "-squared", "linear": "-convex"}[form]
    p, _ = best_spike_probability(kind, n, d, moment_order, strength, mean_bound)
    return {"spike_probability": p}


def _hardest_signs(
    form: Form, n: int, d: int, moment_order: float, budget: Budget, mean_bound: float
) -> dict[str, float]:
    """Return the parameters of the hypercube with the largest bound for the budget."""
    p = hardest_signs(form, n, d, moment_order, budget, mean_bound)
    return {"spike_probability": p}


def _hardest_biased_signs(
    form: Form, n: int, d: int, moment_order: float, budget: Budget, mean_bound: float
) -> dict[str, float]:
    """Return the parameters of the tracing instance.

    They are the spike probability with the largest bound, and the shape and spread of the
    catalogue's data.
    """
    if isinstance(budget, ZCDP):
        leakage = concentrated_leakage(budget.rho)
    else:
        delta = budget.delta if isinstance(budget, ApproxDP) else 0.0
        leakage = approximate_leakage(budget.epsilon, delta, d, CONCENTRATED)
    p, shape = hardest_tracing(form, n, d, moment_order, leakage, mean_bound)
    return {"spike_probability": p, "shape": shape, "spread": CONCENTRATED}


def _hardest_signs_in(
    body: ConstraintSet, form: Form, n: int, moment_order: float, budget: Budget, mean_bound: float
) -> dict[str, Any]:
    """Return the parameters of signs on the hardest cube inside a set."""
    if holds_whole_cube(body) or not has_cubes(body):
        largest_mean = body.l2_radius if holds_whole_cube(body) else mean_bound
        return _hardest_signs(form, n, body.d, moment_order, budget, largest_mean)
    cube, _ = hardest_cube(form, n, moment_order, budget, body)
    largest_mean = cube.side * math.sqrt(cube.signs)
    q = hardest_signs(form, n, cube.signs, moment_order, budget, largest_mean)
    cube_fields = {"support": cube.support, "centre": cube.centre, "paired": cube.paired}
    return {"spike_probability": q} | cube_fields


def _hardest_corner(
    form: Form, n: int, d: int, moment_order: float, budget: Budget, mean_bound: float
) -> dict[str, float]:
    """Return the parameters of a hidden corner of the l1 ball.

    The ball stands in for sets without corners, and for all sets if the error is not linear.
    """
    words = CornerWords(d=max(2, d), signed=True)
    return {"spike_probability": hardest_words(words, n, moment_order, budget, mean_bound)}


def _hardest_block(
    form: Form, n: int, d: int, moment_order: float, budget: Budget, mean_bound: float
) -> dict[str, float]:
    """Return the parameters of a hidden block among groups of `GROUP_SIZE` coordinates.

    The groups stand in for sets without blocks, and for all sets if the error is not linear.
    """
    words = BlockWords(groups=max(1, d // GROUP_SIZE))
    return {"spike_probability": hardest_words(words, n, moment_order, budget, mean_bound)}


_PRIORS: dict[type[HardInstance], Callable[..., dict[str, float]]] = {
    Spike: _hardest_packing,
    Hypercube: _hardest_signs,
    Tracing: _hardest_biased_signs,
    Corners: _hardest_corner,
    SignBlocks: _hardest_block,
}
# Some laws hide words of a set; these functions return the words of a set, or None.
_WORDS: dict[type[HardInstance], Callable[[ConstraintSet], WordPrior | None]] = {
    Corners: corners_of,
    SignBlocks: blocks_of,
    Hypercube: lq_signs_of,
}
