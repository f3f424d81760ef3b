"""The sample mean: the non-private baseline."""

from dataclasses import dataclass

import numpy as np

from dpsco_core.base.cards import FOLKLORE, MethodCard
from dpsco_core.data.rows import Rows
from dpsco_core.methods.base import Method, MethodCost, Plan, Release
from dpsco_core.methods.mean.base import sum_of_rows
from dpsco_core.methods.mean.sentences import EXAMPLE, NO_BOUND
from dpsco_core.methods.story import Story
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class SampleMeanPlan(Plan):
    """The sample mean has no parameters."""


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
    )
    story = Story(
        what="Adds all records and divides by n. Among unbiased estimators it has the least "
        "variance for Gaussian data, and its mean squared error is the trace of the covariance "
        "over n. It is the grey reference of every figure: no privacy at all.",
        steps=(r"Return $\bar X = \frac1n\sum_{i=1}^n X_i$.",),
        assumptions=("A finite variance, so that the error has a mean square.",),
        privacy=None,
        smooth="no loss",
        order=r"O(nd)",
        cost="One pass over the records.",
        when="As the reference without privacy.",
        pitfalls=(
            NO_BOUND,
            "One wild record can move it anywhere: with heavy tails its error has heavy tails too.",
        ),
        example=EXAMPLE,
    )
    colour = "grey"
    symbol = "circle"

    def plan(self, setting: Setting) -> SampleMeanPlan:
        """Return the (empty) parameters."""
        return SampleMeanPlan(setting=setting)

    def release(
        self, rows: Rows, plan: SampleMeanPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Return the average; nothing is spent and nothing is protected."""
        return Release(value=sum_of_rows(rows, 0, rows.n) / rows.n, ledger=ledger)
