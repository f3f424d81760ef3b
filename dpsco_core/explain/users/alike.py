"""The worth of more items per user if the items of a user are alike: mean errors over m."""

import math

from dpsco_core.base.errors import require
from dpsco_core.scenario import Scenario

ADAPTIVE, CLIPPED, POOLED = "user.mean-adaptive", "user.mean-clipped", "mean.sample"
LADDER = (1, 3, 10, 30, 100, 300, 1000, 3000)
# the largest n m d of a drawn sample, which takes 48 MB and some tenths of a second
MOST_ELEMENTS = 6_000_000


def items_drawn(n: int, d: int) -> tuple[float, ...]:
    """Return the numbers of items per user at which n users are drawn in d dimensions.

    They are those of which a sample takes little time, and at least two.

    Examples
    --------
    >>> items_drawn(1000, 10)
    (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
    """
    largest = max(2, MOST_ELEMENTS // (n * d))
    items = tuple(float(m) for m in LADDER if m <= largest)
    return items if len(items) > 1 else (*items, float(largest))


def alike_scenario(
    *,
    alike: float,
    n: int = 10_000,
    d: int = 10,
    p: float = 3.0,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    trials: int = 10,
    seed: int = 0,
) -> Scenario:
    """Return the study: the mean of Student t records over m, by users' means and without privacy.

    Raises `InvalidInput` for a p below 2, where no method at user level runs.
    """
    return Scenario(
        methods=(POOLED, CLIPPED, ADAPTIVE),
        n=n,
        d=d,
        m=2,
        p=p,
        epsilon=epsilon,
        delta=delta,
        trials=trials,
        seed=seed,
        alike=alike,
        axis="m",
        grid=items_drawn(n, d),
    ).validate()


def sampling_error(scenario: Scenario, items: float) -> float:
    r"""Return the root mean square error of the mean of all items, without privacy.

    .. math:: \sqrt{\frac{\mathrm{tr\,Cov}(X)}n\Big(\gamma+\frac{1-\gamma}m\Big)}

    `items` is m, and may be infinite: what users have in common stays
    (theory/user-level-means.md, 6.2).
    """
    require(items >= 1, "items", "at least 1", items)
    share, law = scenario.alike, scenario.instance.law
    return math.sqrt(law.variance_trace / scenario.n * (share + (1 - share) / items))
