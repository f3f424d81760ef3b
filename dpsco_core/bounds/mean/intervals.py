r"""Balls around a run's answer that contain the mean with probability 0.95, for every law.

The laws are those of the bound's class, and in one dimension such a ball is a confidence interval.
Its radius is not estimated from the data, so that it costs no privacy (theory/bounds-of-runs.md,
4). The sampling error and the noise may each exceed their term with probability 0.025.
"""

import math
from collections.abc import Callable
from typing import Any

from scipy.special import chdtri

from dpsco_core.base.cards import Guarantee
from dpsco_core.bounds.base import Bound, Letter, TermsOfRun, bound_like
from dpsco_core.bounds.mean.runs import RUN_BOUNDS, coordinate_parts, coordinatewise
from dpsco_core.bounds.tools import HINGE, IN_BALL, KAPPA, PARTS, Parts, in_ball, void
from dpsco_core.methods.mean.clipped import ClippedPlan
from dpsco_core.methods.mean.coordinatewise import MedianPlan
from dpsco_core.privacy.mechanisms import GaussianNoise
from dpsco_core.statements.kamath import Noise

# The sampling error exceeds its term with at most this probability, and so does the noise.
CHANCE = 0.025
GUARANTEE: Guarantee = "probability 0.95"


def at_most(parts: Parts, reach: float, records: int, d: int, noise: Noise = "gaussian") -> Parts:
    r"""Return terms whose sum bounds an l2 error with probability at least 0.95.

    The error is that of an average of `records` independent records, of norm at most `reach` after
    clipping, plus noise in d dimensions; `parts` are its bounds in mean square. The sampling error
    is bounded by its fourth moment, Gaussian noise by a quantile of its norm, and Laplace noise by
    its fourth moment.
    """
    spread = parts.sampling
    sampling = math.sqrt(spread * math.hypot(math.sqrt(3) * spread, 2 * reach / records))
    if noise == "gaussian":
        quantile = math.sqrt(chdtri(d, CHANCE) / d)
    else:
        quantile = math.pow((d + 5) / (d * CHANCE), 0.25)
    return Parts(
        sampling=sampling / math.pow(CHANCE, 0.25), bias=parts.bias, noise=quantile * parts.noise
    )


def clipped(plan: ClippedPlan) -> Parts:
    """Return the terms whose sum is the interval's radius, for a run that clips norms."""
    return at_most(coordinate_parts(plan), plan.statistic.radius, plan.setting.n, plan.setting.d)


def clipped_entries(plan: MedianPlan) -> Parts:
    """Return the terms whose sum is the interval's radius, for a run that clips every entry.

    From three blocks on they are infinite, because the median of the blocks is then not a mean.
    """
    parts, blocks = coordinatewise(plan), plan.statistic.blocks
    if blocks > 2:
        return void(parts.sampling)
    n, d = plan.setting.n, plan.setting.d
    reach = 3 * plan.statistic.threshold * math.sqrt(d)
    noise: Noise = "gaussian" if isinstance(plan.noise, GaussianNoise) else "laplace"
    return at_most(parts, reach, blocks * (n // blocks), d, noise)


def interval_row(run: Bound, formula: Callable[[Any], Parts], latex: str, statement: str) -> Bound:
    """Return the bound that is the 95 % interval of the runs that a mean-error bound is about.

    `run` is that bound, and `formula` computes the interval's terms from a plan.
    """
    assert isinstance(run.evaluate, TermsOfRun)
    short, _, _ = run.card.name.partition(", proven for this run")
    evaluate = TermsOfRun(
        method=run.evaluate.method,
        names=PARTS,
        formula=lambda plan: in_ball(formula(plan), math.fsum, plan.answer_radius).values,
    )
    return bound_like(
        run.card,
        slug=run.card.slug.replace("-run", "-interval"),
        name=f"{short}, 95 % interval of this run",
        statement=statement,
        summary="A ball about the answer that holds the mean in 95 of 100 runs at least, for every "
        "law of the class. It is computed from public numbers and costs no privacy.",
        guarantee=GUARANTEE,
        latex=IN_BALL + latex,
        evaluate=evaluate,
        hypotheses=run.hypotheses,
        letters=(*run.letters, _SPREAD, *((_QUANTILE,) if NOISE in latex else ())),
        optimal=run.optimal,
    )


# The sampling term has placeholders for the largest squared length of a record (instead of R^2) and
# for the number of records.
SAMPLE = r"\Big[\tfrac1{0.025}\Big(3\lambda^2+\frac{4%s\lambda}{%s^2}\Big)\Big]^{1/4}+"
SPREAD = r",\ \lambda=\frac{dg^2}%s,\ "
NOISE = r"+\sigma q_d"
_SPREAD = Letter(r"\lambda", "variance of what is averaged, over how many there are")
_QUANTILE = Letter("q_d", "length that one standard normal vector in 40 exceeds")
# For clipped entries the variance lambda is in moment units, like their bias.
_UNITS = r",\ \lambda=\frac dn,\ "
_BALL = r"\min\{\kappa_p(\sqrt dg)^p(R-R_0)^{1-p},\sqrt dg+R_0\}"
_ENTRIES = r"\Big[(d-1)\psi(0)+\psi(R)+(\sqrt d-1)R\psi'(0)\Big]^{1/2}"
_LEVEL = r"\psi(t)=h_p(3\tau-t)^2,\ m\le2,\ " + HINGE
_STATEMENT = "What is proven of a run, 4"
_RUNS = {bound.card.slug: bound for bound in RUN_BOUNDS}
INTERVALS: tuple[Bound, ...] = (
    interval_row(
        _RUNS["upper.mean.cwme-cdp-run"],
        clipped_entries,
        SAMPLE % (r"\cdot9\tau^2d", "n") + _ENTRIES + NOISE + _UNITS + _LEVEL,
        _STATEMENT,
    ),
    interval_row(
        _RUNS["upper.mean.cwme-pure-run"],
        clipped_entries,
        SAMPLE % (r"\cdot9\tau^2d", "n")
        + _ENTRIES
        + r"+s\Big(\tfrac{4d^2+20d}{0.025}\Big)^{1/4}"
        + _UNITS
        + _LEVEL,
        _STATEMENT,
    ),
    interval_row(
        _RUNS["upper.mean.clipped-run-coordinate"],
        clipped,
        SAMPLE % ("R^2", "n") + _BALL + NOISE + SPREAD % "n" + KAPPA,
        _STATEMENT,
    ),
)
