"""Upper bounds of the methods without privacy."""

import math

from dpsco_core.base.cards import FOLKLORE, KAMATH_2022, BoundCard
from dpsco_core.base.errors import require
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Terms, lettered
from dpsco_core.bounds.conditions import COORDINATE_MOMENT, FINITE_VARIANCE, moment_scale
from dpsco_core.bounds.tools import BETA, enough_records
from dpsco_core.problems.base import Setting


def median_blocks(d: int, beta: float) -> int:
    r"""Return :math:`m=\lceil4\ln(2d/\beta)\rceil`, the number of blocks of Algorithm 3."""
    require(0 < beta < 1, "beta", "between 0 and 1", beta)
    return math.ceil(4 * math.log(2 * d / beta))


def median_of_means(setting: Setting, beta: float) -> float:
    r"""Explicit bound without privacy and clipping: :math:`10\sqrt{d/b}` with probability 1 - beta.

    :math:`m=\lceil4\ln(2d/\beta)\rceil` blocks, those of Algorithm 3 and of the method; the sample
    part of Theorem 4.1, which fails with probability beta/2. Infinite for n < m.
    """
    blocks = median_blocks(setting.d, beta)
    if setting.n < blocks:
        return math.inf
    return moment_scale(setting) * (10 * math.sqrt(setting.d / (setting.n // blocks)))


def _median_rate_terms(setting: Setting) -> Terms:
    log_size = math.log(setting.d / BETA)
    return {"sampling": moment_scale(setting) * math.sqrt(setting.d * log_size / setting.n)}


_BLOCKS = enough_records("m = 4 ln(2d/0.05)", lambda setting: median_blocks(setting.d, BETA))


_SAMPLING_BOUNDS: tuple[Bound, ...] = (
    Bound(
        card=BoundCard(
            slug="upper.mean.sample",
            name="Sample mean",
            paper=FOLKLORE,
            statement="variance of an average",
            summary="The root mean square error of the plain average, which is not private.",
            kind="upper",
            constant="explicit",
            latex=r"\sqrt{\mathrm{tr\,Cov}(X)/n}",
            privacy="none",
            method="mean.sample",
            tables=("kamath",),
        ),
        evaluate=lambda s: {"sampling": math.sqrt(s.constants.variance_trace / s.n)},
        hypotheses=(FINITE_VARIANCE,),
    ),
    Bound(
        card=BoundCard(
            slug="upper.mean.median-of-means",
            name="Median of means, rate",
            paper=KAMATH_2022,
            statement="Theorem 4.1, first part, without clipping",
            summary="Medians of block averages keep a small failure probability cheap even when "
            "tails are heavy; not private, hidden constant set to 1.",
            kind="upper",
            constant="rate",
            guarantee="probability 0.95",
            latex=r"\sqrt{\frac{d\ln(d/\beta)}n}",
            privacy="none",
            method="mean.median-of-means",
        ),
        evaluate=_median_rate_terms,
        hypotheses=(COORDINATE_MOMENT, _BLOCKS),
    ),
    Bound(
        card=BoundCard(
            slug="upper.mean.median-of-means-probability",
            name="Median of means, proven at 95 %",
            paper=KAMATH_2022,
            statement="Theorem 4.1, first part, constants of its proof, without clipping",
            summary="The explicit error of coordinate-wise medians of block averages that holds "
            "in 95 of 100 runs; not private.",
            kind="upper",
            constant="explicit",
            guarantee="probability 0.95",
            latex=r"10\sqrt{\frac d{\lfloor n/m\rfloor}},\quad m=\lceil4\ln\tfrac{2d}\beta\rceil",
            privacy="none",
            method="mean.median-of-means",
        ),
        evaluate=lambda s: {"sampling": median_of_means(s, BETA)},
        hypotheses=(COORDINATE_MOMENT, _BLOCKS),
    ),
)
SAMPLING_BOUNDS = lettered(letters.BLOCKS, _SAMPLING_BOUNDS)
