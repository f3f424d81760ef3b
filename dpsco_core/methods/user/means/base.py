"""What the estimators of a mean at user level share: moments, checks, what they read."""

import math
from dataclasses import replace

from dpsco_core.base.errors import require
from dpsco_core.data.rows import DenseRows
from dpsco_core.data.users import UserRows
from dpsco_core.methods.mean.base import check_kind
from dpsco_core.problems.base import Setting


def check_user_rows(sample: UserRows, setting: Setting) -> None:
    """Check that `sample` has the setting's size: a plan's sensitivity holds for that n, m, d."""
    if not isinstance(sample, UserRows):
        check_kind("sample", sample, "means", "UserRows(records=DenseRows(x), items=m)")
    for name, meaning, size, planned in (
        ("n", "the number of users", sample.users, setting.n),
        ("m", "the items of a user", sample.items, setting.m),
        ("d", "the dimension of the rows", sample.d, setting.d),
    ):
        require(size == planned, name, f"{meaning}, {size}", planned)


def user_means(sample: UserRows, setting: Setting) -> DenseRows:
    """Return the mean of every user's records; refuse a sample of another size."""
    check_user_rows(sample, setting)
    return sample.means()


def shrinkage(order: float, items: int) -> float:
    r"""Return c with :math:`\|\bar Y\|_p\le c\,\|Y\|_p` for means of m independent centred Y.

    .. math:: c=\min\{1,\sqrt{(p-1)/m}\}

    Rio's inequality, and Minkowski's (theory/user-level-means.md, 1).

    Examples
    --------
    >>> shrinkage(2.0, 256), shrinkage(3.0, 1)
    (0.0625, 1.0)
    """
    return min(1.0, math.sqrt((order - 1) / items))


def of_user_means(setting: Setting) -> Setting:
    """Return the setting of the users' means: n records, whose moments are those of such a mean."""
    c, p, m = setting.constants, setting.moment_order, setting.m
    factor = shrinkage(p, m)
    central = c.directional_moment + c.mean_gradient_bound  # the moment of an item, by Minkowski
    constants = replace(
        c,
        coordinate_moment=c.coordinate_moment * math.pow(factor, p),
        directional_moment=min(c.directional_moment, c.mean_gradient_bound + factor * central),
        variance_trace=c.variance_trace / m,
    )
    return replace(setting, m=1, constants=constants)
