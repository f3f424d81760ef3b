"""The common part of the estimators of a mean at user level: moments, checks and reading."""

import math
from dataclasses import replace

from dpsco_core.base.errors import require
from dpsco_core.data.rows import DenseRows
from dpsco_core.data.users import UserRows
from dpsco_core.methods.mean.below_two import sample_mean_error
from dpsco_core.methods.records.base import check_kind
from dpsco_core.problems.base import Setting


def check_user_rows(sample: UserRows, setting: Setting) -> None:
    """Raise `InvalidInput` unless a sample has the n, m and d for which the plan is private."""
    if not isinstance(sample, UserRows):
        check_kind("sample", sample, "means", "UserRows(records=DenseRows(x), items=m)")
    for name, meaning, size, planned in (
        ("n", "the number of users", sample.users, setting.n),
        ("m", "the items of a user", sample.items, setting.m),
        ("d", "the dimension of the rows", sample.d, setting.d),
    ):
        require(size == planned, name, f"{meaning}, {size}", planned)


def user_means(sample: UserRows, setting: Setting) -> DenseRows:
    """Return the mean of every user's records; raise an error unless the sizes fit."""
    check_user_rows(sample, setting)
    return sample.means()


def shrinkage(order: float, items: int, alike: float = 0.0) -> float:
    r"""Return c with :math:`\|\bar Y\|_p\le c\,\|Y\|_p` for the mean of a user's m centred items.

    .. math:: c=\min\Big\{1,
        \sqrt{\frac{\gamma+(1-\gamma)(p-1)/m}{\max\{\gamma,1-\gamma\}}}\Big\}

    with :math:`\gamma` the share `alike` that the items have in common; for independent ones it is
    :math:`\sqrt{(p-1)/m}`. Rio's inequality, and Minkowski's (theory/user-level-means.md, 1, 6.2).

    For :math:`1<p<2` and independent items, by the inequality of von Bahr and Esseen
    (theory/infinite-variance.md, 2.4), it is :math:`\min\{1,[1+2^{2-p}(m-1)]^{1/p}/m\}`, and 1 for
    items that are alike.

    Examples
    --------
    >>> shrinkage(2.0, 256), shrinkage(3.0, 1)
    (0.0625, 1.0)
    >>> shrinkage(2.0, 10**9, alike=0.5), round(shrinkage(2.0, 10**9, alike=0.1), 4)
    (1.0, 0.3333)
    >>> round(shrinkage(1.5, 64), 4), shrinkage(1.1, 2)  # at p = 1.1 two are too few to help
    (0.314, 1.0)
    """
    if order < 2:
        return 1.0 if alike else min(1.0, sample_mean_error(items, 1, order))
    square = alike + (1 - alike) * ((order - 1) / items)
    return min(1.0, math.sqrt(square / max(alike, 1 - alike)))


def of_user_means(setting: Setting) -> Setting:
    """Return a setting of n records that have the moments of users' means of m items."""
    c, p, m = setting.constants, setting.moment_order, setting.m
    factor = shrinkage(p, m, setting.alike)
    # This bounds the root of an item's central moment, by Minkowski's inequality.
    central = c.directional_moment + c.mean_gradient_bound
    constants = replace(
        c,
        coordinate_moment=c.coordinate_moment * math.pow(factor, p),
        directional_moment=min(c.directional_moment, c.mean_gradient_bound + factor * central),
        variance_trace=c.variance_trace * setting.design_effect / m,
    )
    return replace(setting, m=1, alike=0.0, constants=constants)
