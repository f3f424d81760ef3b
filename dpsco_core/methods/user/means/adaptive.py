"""A mean at user level: users' means, clipped to a private radius about a private centre."""

from dataclasses import dataclass, replace

from dpsco_core.base.cards import AGARWAL_2024, MethodCard
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.mean.adaptive import AdaptiveClipping, AdaptiveMean
from dpsco_core.methods.mean.shares import Mode
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.user.means.base import (
    of_user_means,
    user_means,
)
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class UserMeanAdaptive(MeanMethod):
    """Adaptive clipping of the users' means; see theory/user-level-means.md, 2.3.

    At m = 1 it is `AdaptiveClipping`.
    """

    # the largest candidate radius; None for the radius of clipped user means
    radius: float | None = None
    mode: Mode | None = None  # the mode of `AdaptiveClipping`

    reads = "whole"
    cost = MethodCost(fixed=1.5e5, per_row=15, per_element=2.5)
    departs = (
        Departure(
            tag="own radius",
            text="How its centre and its radius are chosen is this project’s.",
        ),
    )
    card = MethodCard(
        slug="user.mean-adaptive",
        name="Adaptive user means",
        paper=AGARWAL_2024,
        statement="Clip and noise on user means from coarse to fine, with a radius chosen "
        "privately (theory/adaptive-methods.md, 1)",
        summary="Averages each user's records, looks privately where the averages lie and how far "
        "apart they are, then clips them there, averages and adds noise.",
        privacy="zcdp",
        pure_form=True,
        private_radius=True,
        level="user",
        rate="upper.user.mean-adaptive",
        infinite_variance="It counts norms of users' means, and reads no moment of them; no centre "
        "and no smaller radius are looked for there.",
        caveat="How its centre and its radius are chosen is this project's "
        "(theory/user-level-means.md, 2.3). No explicit bound is proven for it.",
    )
    stage = Stage(
        records=128,  # This many users are enough for the tests that look for a smaller radius.
        small=SmallRun(fields={"mode": "single"}),
        others={
            "centre": SmallRun(scenario={"n": 128, "diameter": 1000.0}),
            "pure": SmallRun(scenario={"delta": 0.0}),
        },
    )
    colour = "violet"
    symbol = "circle"

    def plan(self, setting: Setting) -> MeanPlan[AdaptiveMean, None]:
        """Return the plan of `AdaptiveClipping` for the users' means."""
        item = AdaptiveClipping(
            radius=self.radius, mode=self.mode, calibration=self.calibration, tuning=self.tuning
        )
        return replace(item.plan(of_user_means(setting)), setting=setting, read=user_means)
