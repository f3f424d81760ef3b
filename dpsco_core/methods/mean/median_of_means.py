"""Coordinate-wise median of means: the robust non-private baseline."""

import math
from dataclasses import dataclass

import numpy as np

from dpsco_core.base.cards import KAMATH_2022, MethodCard
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.data.rows import Rows
from dpsco_core.methods.base import Method, MethodCost, Plan, Release
from dpsco_core.methods.mean.base import FAILURE_PROBABILITY, check_rows, sum_of_rows
from dpsco_core.methods.mean.sentences import NO_BOUND, OVER_N
from dpsco_core.methods.story import Story
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class MedianOfMeansPlan(Plan):
    """`blocks` consecutive blocks of `block_size` records each."""

    blocks: int
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
    colour = "pale grey"
    symbol = "circle-open"

    def __post_init__(self) -> None:
        ok = self.blocks is None or (isinstance(self.blocks, int) and self.blocks >= 1)
        require(ok, "blocks", "a positive integer", self.blocks)

    def plan(self, setting: Setting) -> MedianOfMeansPlan:
        """Return the number and the size of the blocks."""
        blocks = self.blocks
        if blocks is None:
            blocks = min(setting.n, math.ceil(4 * math.log(2 * setting.d / FAILURE_PROBABILITY)))
        if setting.n < blocks:
            raise NotApplicable(
                f"{blocks} blocks need at least as many records, and n={setting.n}.",
                nearest=f"set n={blocks}",
                changes=(("n", blocks),),
            )
        return MedianOfMeansPlan(setting=setting, blocks=blocks, block_size=setting.n // blocks)

    def release(
        self, rows: Rows, plan: MedianOfMeansPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Return the median of the block means; nothing is spent and nothing is protected."""
        check_rows(rows, plan.setting)
        size = plan.block_size
        means = np.stack(
            [sum_of_rows(rows, i * size, (i + 1) * size) / size for i in range(plan.blocks)]
        )
        return Release(
            value=np.median(means, axis=0), ledger=ledger, diagnostics={"blocks": plan.blocks}
        )
