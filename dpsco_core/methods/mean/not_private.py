"""The references without privacy: the sample mean, and the coordinate-wise median of means."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import FOLKLORE, KAMATH_2022, MethodCard
from dpsco_core.data.rows import Rows
from dpsco_core.methods.average import Averaging, MeanPlan
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.records.base import (
    FAILURE_PROBABILITY,
    block_means,
    check_count,
    check_parts,
    sum_of_rows,
)
from dpsco_core.methods.statistics import PublicStatistic
from dpsco_core.problems.base import Setting
from dpsco_core.statements.kamath import algorithm_3_blocks

NO_MEAN_SQUARE = (
    "Below p = 2 the mean square error of the sample mean may be infinite: averages of its error "
    "over trials do not settle, and have no standard error. Its median and quantiles settle."
)


@dataclass(frozen=True, kw_only=True)
class MeanOfRows(PublicStatistic):
    """The mean of the rows, which a single row can change without limit."""

    label: ClassVar[str] = "mean of records"

    def value(self, rows: Rows) -> Vector:
        """Return the mean of the rows, shape (d,)."""
        return rows.total(sum_of_rows) / rows.n


@dataclass(frozen=True, kw_only=True)
class MedianOfBlockMeans(PublicStatistic):
    """The median, in every coordinate, of the means of consecutive blocks."""

    blocks: int  # the number of blocks; records left over are dropped

    label: ClassVar[str] = "median of block means"

    def value(self, rows: Rows) -> Vector:
        """Return the coordinatewise median of the means of blocks, shape (d,)."""
        return np.asarray(np.median(block_means(rows, self.blocks, sum_of_rows), axis=0))


@dataclass(frozen=True, kw_only=True)
class SampleMean(Averaging):
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
    colour = "grey"
    symbol = "circle"

    def plan(self, setting: Setting) -> MeanPlan[MeanOfRows, None]:
        """Return the plan of the sample mean, with a note if the law has no variance."""
        notes = (NO_MEAN_SQUARE,) if setting.moment_order < 2 else ()
        return MeanPlan(setting=setting, statistic=MeanOfRows(), noise=None, notes=notes)


@dataclass(frozen=True, kw_only=True)
class MedianOfMeans(Averaging):
    r"""Split into m blocks, average each, take the median in every coordinate; not private."""

    # The number m of blocks, at most n; None: :math:`\lceil 4\ln(2d/\beta)\rceil` with beta = 0.05.
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
    colour = "grey"
    symbol = "square"
    dashed = True

    def __post_init__(self) -> None:
        """Refuse a number of blocks that is no positive integer."""
        check_count("blocks", self.blocks)

    def plan(self, setting: Setting) -> MeanPlan[MedianOfBlockMeans, None]:
        """Return the plan, with the number of blocks of Algorithm 3 but at most n."""
        blocks = self.blocks
        if blocks is None:
            printed = math.ceil(algorithm_3_blocks(setting.d, FAILURE_PROBABILITY))
            blocks = min(setting.n, printed)
        check_parts("blocks", blocks, setting.n)
        return MeanPlan(
            setting=setting,
            statistic=MedianOfBlockMeans(blocks=blocks),
            noise=None,
            diagnostics={"blocks": blocks},
        )
