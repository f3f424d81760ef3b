"""The references without privacy: the sample mean, and the coordinate-wise median of means."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.cards import FOLKLORE, KAMATH_2022, MethodCard
from dpsco_core.data.rows import Rows
from dpsco_core.methods.base import Method, MethodCost, Plan, Release
from dpsco_core.methods.mean.base import (
    FAILURE_PROBABILITY,
    block_means,
    check_count,
    check_parts,
    check_rows,
    sum_of_rows,
)
from dpsco_core.methods.mean.sentences import EXAMPLE, NO_BOUND, OVER_N
from dpsco_core.methods.story import Story
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting

NO_MEAN_SQUARE = (
    "Below p = 2 the mean square error of the sample mean may be infinite: averages of its error "
    "over trials do not settle, and have no standard error. Its median and quantiles settle."
)


@dataclass(frozen=True, kw_only=True)
class SampleMean(Method):
    r"""The average of the records, without privacy: :math:`\bar X = \frac1n\sum_i X_i`."""

    reads = "summed"
    cost = MethodCost(fixed=8e3, per_row=0.2, per_element=0.27)
    card = MethodCard(
        slug="mean.sample",
        name="Sample mean",
        paper=FOLKLORE,
        statement="arithmetic mean",
        summary="The plain average of the records. Not private: it shows what privacy costs.",
        privacy="none",
        rate="upper.mean.sample",
        infinite_variance="Its mean error is finite for every p above 1; its mean square is not.",
    )
    story = Story(
        what="Adds all records and divides by n. Among unbiased estimators it has the least "
        "variance for Gaussian data, and its mean squared error is the trace of the covariance "
        "over n. It is the grey reference of every figure: no privacy at all.",
        steps=(r"Return $\bar X = \frac1n\sum_{i=1}^n X_i$.",),
        assumptions=(
            "A finite variance, so that the error has a mean square; p above 1 for a mean.",
        ),
        privacy=None,
        smooth="no loss",
        order=r"O(nd)",
        cost="One pass over the records.",
        when="As the reference without privacy.",
        pitfalls=(
            NO_BOUND,
            "One wild record can move it anywhere: with heavy tails its error has heavy tails too. "
            "Below p = 2 its mean square error is infinite, and clipping beats it at moderate n.",
        ),
        example=EXAMPLE,
    )
    colour = "grey"
    symbol = "circle"

    def plan(self, setting: Setting) -> Plan:
        return Plan(setting=setting)

    def release(self, rows: Rows, plan: Plan, ledger: Ledger, rng: np.random.Generator) -> Release:
        notes = (NO_MEAN_SQUARE,) if plan.setting.moment_order < 2 else ()
        return Release(value=rows.total(sum_of_rows) / rows.n, ledger=ledger, notes=notes)


@dataclass(frozen=True, kw_only=True)
class MedianOfMeansPlan(Plan):
    blocks: int  # so many consecutive ones
    block_size: int


@dataclass(frozen=True, kw_only=True)
class MedianOfMeans(Method):
    r"""Split into m blocks, average each, take the median in every coordinate; not private."""

    # number m of blocks; :math:`\lceil 4\ln(2d/\beta)\rceil` with beta = 0.05 if not given, at most
    # n
    blocks: int | None = None

    reads = "summed"
    cost = MethodCost(fixed=1.5e5, per_row=0.1, per_element=0.31)
    card = MethodCard(
        slug="mean.median-of-means",
        name="Median of means",
        paper=KAMATH_2022,
        statement="Algorithm 3 without clipping",
        summary="Averages the records in blocks and takes the median of the averages in every "
        "coordinate, so that few wild records cannot move it far. Not private.",
        privacy="none",
        rate="upper.mean.median-of-means",
        infinite_variance="Its blocks follow from d alone; of its error nothing is proven there.",
    )
    story = Story(
        what="Cuts the records into blocks, averages every block, and takes the median of the "
        "averages in each coordinate. A few wild records spoil a few blocks, and a median does "
        "not mind a few spoilt values. It errs little with high probability although only a "
        "variance exists; it is not private.",
        steps=(
            r"Take $m=\lceil4\ln(2d/\beta)\rceil$ consecutive blocks of $b=\lfloor n/m\rfloor$ "
            r"records, $\beta=0.05$; drop the remainder.",
            "Average the records of every block.",
            "Return the median of the averages, coordinate by coordinate.",
        ),
        assumptions=("A finite variance of every coordinate.", "At least as many records as m."),
        privacy=None,
        smooth="no loss",
        order=r"O(nd + md\ln m)",
        cost="One pass over the records.",
        when="As the robust reference without privacy: what the coordinate-wise private "
        "estimators become when clipping and noise are taken away.",
        pitfalls=(
            NO_BOUND,
            "On skewed data the median of block averages is biased towards the bulk.",
        ),
        example=OVER_N
        | {"methods": ("mean.sample", "mean.median-of-means"), "p": 2.0, "trials": 20},
    )
    colour = "grey"
    symbol = "square"
    dashed = True

    def __post_init__(self) -> None:
        check_count("blocks", self.blocks)

    def plan(self, setting: Setting) -> MedianOfMeansPlan:
        blocks = self.blocks
        if blocks is None:
            blocks = min(setting.n, math.ceil(4 * math.log(2 * setting.d / FAILURE_PROBABILITY)))
        check_parts("blocks", blocks, setting.n)
        return MedianOfMeansPlan(setting=setting, blocks=blocks, block_size=setting.n // blocks)

    def release(
        self, rows: Rows, plan: MedianOfMeansPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        check_rows(rows, plan.setting)
        value = np.median(block_means(rows, plan.blocks, sum_of_rows), axis=0)
        return Release(value=value, ledger=ledger, diagnostics={"blocks": plan.blocks})
