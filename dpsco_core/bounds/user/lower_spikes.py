r"""Lower bounds at user level from rare spikes, with all items of a user as one record.

The items of n users are those of the hypercube of signs, each a spike with probability q. Only
users with a spike among their m items reveal the signs. There are
:math:`B\sim\mathrm{Bin}(n,1-(1-q)^m)` of them, and privacy hides B blocks as it hides B records
(theory/bounds-everywhere.md, 7.1). The bound is only a little larger than that for all items
pooled: where a spike is rare enough to be hidden, few users have two.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.base import Bound, Letter
from dpsco_core.bounds.conditions import scaled_mean_bound
from dpsco_core.bounds.cubes import within_cubes
from dpsco_core.bounds.instances import packing
from dpsco_core.bounds.instances.binomial import Floats, expectation, maximise, search_range
from dpsco_core.bounds.instances.fano import LOG_2
from dpsco_core.bounds.instances.hardest import largest_spike_probability
from dpsco_core.bounds.instances.level import Level
from dpsco_core.bounds.instances.prior import (
    APPROX_CLASS,
    APPROXIMATE_BUDGET,
    SHRUNK,
    ZCDP_CLASS,
    approximate_level,
    prior_within,
)
from dpsco_core.bounds.instances.spikes import mean_power
from dpsco_core.bounds.instances.two_sided import curve
from dpsco_core.bounds.mean import lower_information as information
from dpsco_core.bounds.mean import lower_priors as priors
from dpsco_core.problems.base import Setting


def active_share(q: Floats, m: int) -> Floats:
    """Return the chance that a user has a spike among m items, if an item is one with chance q."""
    return np.asarray(-np.expm1(m * np.log1p(-np.minimum(q, 1 - 1e-16))))


def item_share(active: Floats, m: int) -> Floats:
    """Return the chance that an item is a spike, the inverse of `active_share` in q."""
    return np.asarray(-np.expm1(np.log1p(-np.minimum(active, 1 - 1e-16)) / m))


def _least_loss(
    d: int, level: Level, form: Form
) -> tuple[Callable[[Floats], Floats], float, float]:
    """Return the loss that privacy leaves if b users have a spike, and how far it extends.

    The parts are the least loss as a function of b, the largest b at which that loss exceeds 0, and
    the number of users over which it changes.
    """
    if isinstance(level, tuple):
        losses = packing.losses(form, d, *level)
        return losses, losses.last_count, 0.05 * losses.last_count
    phi, two_ways = curve(d, form), level * -math.expm1(-d * LOG_2)
    largest_count = math.floor(math.sqrt(phi.end / two_ways))
    return (
        lambda count: phi.value_at(two_ways * count**2),
        largest_count,
        0.1 * math.sqrt(d / level),
    )


def user_values(
    q: Floats,
    n: int,
    m: int,
    d: int,
    moment_order: float,
    level: Level,
    form: Form = "l2",
    *,
    fine: bool = False,
) -> Floats:
    r"""Return the lower bound for n users of m items at each spike probability of `q`.

    .. math:: \theta E\,\Phi\big(\rho B^2(1-2^{-d})\big),\quad B\sim\mathrm{Bin}(n,1-(1-q)^m)

    :math:`\theta` is :math:`q^a` for a moment order of at least 2, else smaller: see `mean_power`.
    Under (epsilon, delta) the expectiles of the packing take the place of :math:`\Phi`.
    """
    loss, largest_count, scale = _least_loss(d, level, form)
    share = active_share(q, m)
    mean = expectation(loss, n, share, largest=largest_count, scale=max(1.0, scale), fine=fine)
    return np.asarray(mean_power(q, moment_order, 2 if form == "squared" else 1) * mean)


@lru_cache(maxsize=4096)
def hardest_spikes(
    n: int, m: int, d: int, moment_order: float, level: Level, largest: float, form: Form = "l2"
) -> float:
    """Return the spike probability in (0, largest] that maximises `user_values`."""
    _, largest_count, _ = _least_loss(d, level, form)
    largest_share = float(active_share(np.array([largest]), m)[0])
    low, high = search_range(max(1.0, largest_count), n, largest_share)

    def value(active: Floats) -> Floats:
        """Return the bound at each share of users who have a spike."""
        return user_values(item_share(active, m), n, m, d, moment_order, level, form)

    return min(largest, float(item_share(np.array([maximise(value, low, high)]), m)[0]))


def spikes_value(setting: Setting, form: Form, cap: float, *, notion: priors.Notion) -> float:
    """Return the lower bound over rare spikes for means of norm at most `cap`, in moment units."""
    level = setting.rho if notion == "zcdp" else approximate_level(setting)
    if level is None:
        return 0.0
    n, m, d, order = setting.n, setting.m, setting.d, setting.moment_order
    q = setting.spike_probability
    if q is None:
        largest = largest_spike_probability("hypercube", d, order, cap)
        if largest == 0:
            return 0.0
        q = hardest_spikes(n, m, d, order, level, largest, form)
    return float(user_values(np.array([q]), n, m, d, order, level, form, fine=True)[0])


def _zcdp_bound(setting: Setting, form: Form, cap: float) -> float:
    """Return `spikes_value` for rho-zCDP algorithms."""
    return spikes_value(setting, form, cap, notion="zcdp")


def _approximate_bound(setting: Setting, form: Form, cap: float) -> float:
    """Return `spikes_value` for (epsilon, delta)-DP algorithms."""
    return spikes_value(setting, form, cap, notion="approx")


_USERS = Letter("m", "records of each user", lambda s: s.m)
_COUNT = r"B\sim\mathrm{Bin}\big(n,1-(1-q)^m\big)"
_OF_RECORDS = r"B\sim\mathrm{Bin}(n,q)"
_SUMMARY = (
    "Only users with a rare spike among their records tell of the hidden signs, and privacy hides "
    "whole users. "
)
_CDP = BoundCard(
    slug="lower.user.spikes-cdp",
    name="Users, CDP two-sided information",
    paper=OWN,
    statement="docs/theory/bounds-everywhere.md, 7.1",
    summary=_SUMMARY + ZCDP_CLASS,
    kind="lower",
    constant="explicit",
    latex=r"\max_qq^{1-1/p}" + information.TWO_SIDED_DISTANCE.replace(_OF_RECORDS, _COUNT),
    privacy="zcdp",
    instance="hypercube",
    level="user",
    proof="two-sided information",
    infinite_variance=SHRUNK,
)
_APPROX = replace(
    _CDP,
    slug="lower.user.spikes-approx",
    name="Users, packing, every (ε, δ)",
    statement="docs/theory/bounds-everywhere.md, 7.1 with sharper-approx-bounds, section 3, (P1)",
    summary=_SUMMARY + APPROX_CLASS,
    latex=priors.PACKED_DISTANCE.replace(_OF_RECORDS, _COUNT),
    privacy="approx",
    proof="packing",
)
_IN_CLASS = within_cubes(prior_within(priors.on_hypercube, scaled_mean_bound), strong=False)
USER_SPIKES: tuple[Bound, ...] = (
    priors.mean_bound_over_prior(
        _CDP, _zcdp_bound, _IN_CLASS, letters=(*information.BOTH_WAYS, _USERS)
    ),
    priors.mean_bound_over_prior(
        _APPROX, _approximate_bound, APPROXIMATE_BUDGET, _IN_CLASS, letters=(*priors.PACKED, _USERS)
    ),
)
