r"""A lower bound by tracing at user level, in which the items of a user average out.

The items of a user are biased signs as in tracing, and :math:`M\sim\mathrm{Bin}(m,q)` of them are
spikes. An accurate answer is correlated with the block of every user, by about the root of M, while
M records of different users would contribute M (theory/bounds-everywhere.md, 7.2). At q = 1 the
bound has the order :math:`\frac d{n\sqrt{\rho m}}` of averages, at small q that of rare spikes.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.base.errors import require
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.base import Bound, Letter
from dpsco_core.bounds.conditions import scaled_mean_bound
from dpsco_core.bounds.cubes import TWO_SIGNS
from dpsco_core.bounds.instances.binomial import Floats, log_pmf, maximise
from dpsco_core.bounds.instances.leakage import CONCENTRATED, FULL, expectile
from dpsco_core.bounds.instances.level import Level
from dpsco_core.bounds.instances.prior import (
    APPROX_CLASS,
    APPROXIMATE_BUDGET,
    ZCDP_CLASS,
    approximate_level,
    prior_within,
)
from dpsco_core.bounds.instances.spikes import spike_exponent
from dpsco_core.bounds.instances.tracing import (
    SHAPES,
    largest_tracing_probability,
    median_gain,
    tracing_shape,
)
from dpsco_core.bounds.mean import lower_priors as priors
from dpsco_core.problems.base import Setting

_SUMMED = 200.0  # Up to this mean number of spikes, the mean of the root is computed as a sum.


def mean_root(m: int, q: Floats) -> Floats:
    r"""Return :math:`E\sqrt M` for :math:`M\sim\mathrm{Bin}(m,q)` at each q, or slightly more.

    From 200 expected spikes on it is Jensen's bound :math:`\sqrt{mq}`, which is less than 0.1 %
    larger.
    """
    mean = m * q
    roots = np.sqrt(mean)
    is_summed = (mean <= _SUMMED) & (q < 1)
    if np.any(is_summed):
        summed_mean = mean[is_summed]
        largest = float(np.max(summed_mean))
        counts = np.arange(1.0, min(m, math.ceil(largest + 10 * math.sqrt(largest) + 40)) + 1)
        weights = np.exp(log_pmf(counts, m, q[is_summed][:, None]))
        # The omitted terms have a total share below 1e-15, and each counts as the whole block.
        sums = weights @ np.sqrt(counts) + 1e-15 * math.sqrt(m)
        roots[is_summed] = np.minimum(np.minimum(np.sqrt(summed_mean), summed_mean), sums)
    return np.asarray(roots)


@dataclass(frozen=True, kw_only=True)
class UserTracing:
    """The lower bound (U) of theory/bounds-everywhere.md, 7.2, on a mean's error for users."""

    n: int  # the number of users
    m: int  # the number of items of each user
    d: int  # the dimension
    moment_order: float  # the moment order p, at least 2
    level: Level  # the privacy level of the algorithms that are bound
    spread: float = FULL  # the spread r of the biases

    def __post_init__(self) -> None:
        """Refuse numbers of users, items or dimensions below 1."""
        for name in ("n", "m", "d"):
            require(getattr(self, name) >= 1, name, "a positive integer", getattr(self, name))

    def leakage(self, q: Floats) -> Floats:
        r"""Return x of (U) at each q, a bound on the leakage of all users' blocks together.

        It is for answers f with :math:`\|f\|\le1`.
        """
        root, square, mean = mean_root(self.m, q), self.spread**2, self.m * q
        if not isinstance(self.level, tuple):
            return self.n * math.sqrt(2 * self.level) * square * root
        epsilon, delta = self.level
        reach = 2 * square / (1 + math.sqrt(1 - square))
        fresh = math.sqrt(2 * max(epsilon, 0.5)) * square * root
        fresh += delta * reach * math.sqrt(self.d) * mean
        if epsilon > 600:
            return self.n * fresh
        # By Cauchy and Schwarz, E M^(3/2) is at most the root of E M times E M^2.
        blocks = np.sqrt(mean * (mean * (1 - q) + mean**2))
        c = np.maximum(expectile(epsilon), np.sqrt(delta * self.d * blocks / root))
        return self.n * np.minimum(fresh, square * (c * root + delta * self.d * blocks / c))

    def values(self, q: Floats, u: Floats) -> Floats:
        """Return the lower bound at each q (rows) and shape u (columns); 0 for d = 1."""
        gain = median_gain(u, self.d, self.spread)
        x = self.leakage(q)[:, None]
        root = 2 * gain / (x + np.sqrt(x * x + 4 * u * gain) + 1e-300)
        return np.asarray(q[:, None] ** spike_exponent(self.moment_order) * root)

    def best(self, largest: float, u: Floats = SHAPES) -> float:
        """Return the spike probability in (0, largest] with the largest bound over the shapes."""
        low = min(largest, 1e-2 / (self.n * self.m))
        return maximise(lambda q: self.values(q, u).max(axis=1), low, largest)

    def value_at(self, q: float, u: Floats = SHAPES) -> float:
        """Return the lower bound at q and at the best one of the shapes in `u`."""
        return float(self.values(np.array([q]), u).max())


@lru_cache(maxsize=4096)
def largest_tracing(bounds: UserTracing, largest: float) -> float:
    """Return the largest value of a bound over the spike probabilities in (0, largest]."""
    return bounds.value_at(bounds.best(largest))


def tracing_value(setting: Setting, _: Form, cap: float, *, notion: priors.Notion) -> float:
    """Return the lower bound by tracing at user level, for means of norm at most `cap`.

    Both are in moment units. If the setting fixes a spike probability, the prior has the spread and
    the shape of the catalogue's data. The bound is 0 if the budget does not fit the notion.
    """
    level = setting.rho if notion == "zcdp" else approximate_level(setting)
    if level is None:
        return 0.0
    d, order, q = setting.d, setting.moment_order, setting.spike_probability
    bounds = UserTracing(n=setting.n, m=setting.m, d=d, moment_order=order, level=level)
    if q is not None:
        shape = np.array([tracing_shape(d, order)])
        return replace(bounds, spread=CONCENTRATED).value_at(q, shape)
    largest = largest_tracing_probability(d, order, cap)
    return largest_tracing(bounds, largest) if largest > 0 else 0.0


_LETTERS = (
    *priors.TRACED,
    Letter("m", "records of each user", lambda s: s.m),
    Letter("M", "number of a user's records that are spikes, at random"),
)
_SUMMARY = (
    "An accurate mean is correlated with the block of each user, by the root of its records that "
    "count; privacy limits that. "
)
_ROOT = (
    r"\max_{q,u}q^{1-1/p}\frac{2G}{x+\sqrt{x^2+4uG}},\ "
    r"G=(\bar m)_+\Big(1-\frac v{2\bar m^2}\Big)_+^2,\ \bar m=\frac{du}{1+u}-1,\ "
    r"v=\frac{2du}{(1+u)^2(u+3)},\ M\sim\mathrm{Bin}(m,q),\ "
)
_CDP = BoundCard(
    slug="lower.user.tracing-cdp",
    name="Users, CDP tracing",
    paper=OWN,
    statement="docs/theory/bounds-everywhere.md, 7.2, (U)",
    summary=_SUMMARY + ZCDP_CLASS,
    kind="lower",
    constant="explicit",
    latex=_ROOT + r"x=n\sqrt{2\rho}\,E\sqrt M",
    privacy="zcdp",
    instance="tracing",
    level="user",
    proof="tracing",
)
_APPROX = replace(
    _CDP,
    slug="lower.user.tracing-approx",
    name="Users, tracing, every (ε, δ)",
    summary=_SUMMARY + APPROX_CLASS,
    latex=_ROOT + r"x=n\min\Big\{\sqrt{2\max(\varepsilon,\tfrac12)}\,E\sqrt M+2\delta\sqrt d\,mq,\ "
    r"cE\sqrt M+\frac{\delta d}cEM^{3/2}\Big\},\ (e^\varepsilon-1)E(Z-c)_+\le c",
    privacy="approx",
)


_IN_CLASS = prior_within(
    partial(largest_tracing_probability, spread=CONCENTRATED), scaled_mean_bound
)
USER_TRACING: tuple[Bound, ...] = (
    priors.mean_bound_over_prior(
        _CDP, partial(tracing_value, notion="zcdp"), _IN_CLASS, TWO_SIGNS, letters=_LETTERS
    ),
    priors.mean_bound_over_prior(
        _APPROX,
        partial(tracing_value, notion="approx"),
        APPROXIMATE_BUDGET,
        _IN_CLASS,
        TWO_SIGNS,
        letters=_LETTERS,
    ),
)
