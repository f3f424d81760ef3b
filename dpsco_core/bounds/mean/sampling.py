"""Upper bounds on the error of methods without privacy: the sample mean and median of means."""

import math

from dpsco_core.base.cards import FOLKLORE, KAMATH_2022, BoundCard
from dpsco_core.base.law_classes import VARIANCE
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Terms, TermsOfRun, bound_like, set_letters
from dpsco_core.bounds.conditions import COORDINATE_MOMENT, FINITE_VARIANCE, moment_scale
from dpsco_core.bounds.tools import BETA, enough_records
from dpsco_core.methods.base import Plan
from dpsco_core.methods.mean.coordinatewise import theory_blocks
from dpsco_core.methods.mean.not_private import SampleMean
from dpsco_core.problems.base import Setting


def _sampling_terms(plan: Plan) -> tuple[float]:
    """Return the root mean squared l2 error of the sample mean, as the single term of its run."""
    return (math.sqrt(plan.setting.constants.variance_trace / plan.setting.n),)


def _median_rate_terms(setting: Setting) -> Terms:
    """Return the rate of the median of means at 95 %, with its constant set to 1."""
    log_size = math.log(setting.d / BETA)
    return {"sampling": moment_scale(setting) * math.sqrt(setting.d * log_size / setting.n)}


def _median_of_means_terms(setting: Setting) -> Terms:
    """Return the sampling part of Kamath et al. (2022), Theorem 4.1, as a bound on the l2 error.

    The error exceeds it with probability at most beta/2. It is infinite if n is below the number of
    blocks.
    """
    size = setting.n // theory_blocks(setting.d)
    scale = moment_scale(setting)
    return {"sampling": scale * (10 * math.sqrt(setting.d / size)) if size else math.inf}


_BLOCKS = enough_records("m = 4 ln(2d/0.05)", lambda setting: theory_blocks(setting.d))
_MEDIAN_CARD = BoundCard(
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
)
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
            law_class=VARIANCE,
            tables=("kamath",),
        ),
        evaluate=TermsOfRun(method=SampleMean(), names=("sampling",), formula=_sampling_terms),
        hypotheses=(FINITE_VARIANCE,),
    ),
    Bound(card=_MEDIAN_CARD, evaluate=_median_rate_terms, hypotheses=(COORDINATE_MOMENT, _BLOCKS)),
    bound_like(
        _MEDIAN_CARD,
        slug="upper.mean.median-of-means-probability",
        name="Median of means, proven at 95 %",
        statement="Theorem 4.1, first part, constants of its proof, without clipping",
        printing="printed",
        summary="The explicit error of coordinate-wise medians of block averages that holds "
        "in 95 of 100 runs; not private.",
        constant="explicit",
        latex=r"10\sqrt{\frac d{\lfloor n/m\rfloor}},\quad m=\lceil4\ln\tfrac{2d}\beta\rceil",
        evaluate=_median_of_means_terms,
        hypotheses=(COORDINATE_MOMENT, _BLOCKS),
    ),
)
SAMPLING_BOUNDS = set_letters(letters.BLOCKS, _SAMPLING_BOUNDS)
