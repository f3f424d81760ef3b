"""A mean at user level: a private centre, then users' means in a radius chosen privately."""

from dataclasses import dataclass, replace

from dpsco_core.base.cards import AGARWAL_2024, MethodCard
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.mean.adaptive import AdaptiveClipping, AdaptiveMean
from dpsco_core.methods.mean.sentences import KNOWN_SET
from dpsco_core.methods.mean.shares import Mode
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.story import Proof, Story
from dpsco_core.methods.user.means.base import (
    SAME_NUMBER,
    USERS_OVER_M,
    of_user_means,
    user_means,
)
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class UserMeanAdaptive(MeanMethod):
    """Adaptive clipping of the users' means; see theory/user-level-means.md, 2.3.

    At m = 1 it is `AdaptiveClipping`.
    """

    radius: float | None = None  # the largest of the ladder; None: that of clipped user means
    mode: Mode | None = None  # as of `AdaptiveClipping`

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
        caveat="How its centre and its radius are chosen is this project's "
        "(theory/user-level-means.md, 2.3). No explicit bound is proven for it.",
    )
    story = Story(
        what="Averages each user's records and runs adaptive clipping on the averages. They lie "
        "close together, by the root of m closer than records do, but around a mean that is "
        "known only to a public bound. A small part of the budget finds a centre among them "
        "and a radius that holds most of them; the noise is then as small as they are close.",
        steps=(
            r"Average: $\bar X_i=\frac1m\sum_jX_{ij}$ for every user i.",
            r"Where the public bound is large beside the spread of users' means, subtract a "
            r"private centre: rounds of clipping to a ball about the last one, each smaller.",
            r"Draw a radius from a ladder by the exponential mechanism, beyond which about k of "
            r"the users' means lie.",
            r"Clip the users' means to it, average, add $N(0,\sigma^2I_d)$, "
            r"$\sigma=\frac{2R}{n\sqrt{2\rho'}}$, and add the centre.",
        ),
        assumptions=(
            "A bounded p-th moment of a record; a user's records are independent. Privacy needs "
            "neither.",
            KNOWN_SET,
            SAME_NUMBER,
        ),
        privacy=Proof(
            sensitivity=r"A user's average depends on that user alone: replacing all records of a "
            r"user replaces one of n averages. A count of averages beyond a radius changes by at "
            r"most 1, and the mean of averages that are clipped to a ball of radius R by at "
            r"most $\Delta_2=2R/n$.",
            mechanism=r"Exponential mechanisms choose the radius; Gaussian noise of standard "
            r"deviation $\Delta_2/\sqrt{2\rho'}$ per coordinate, in the rounds and at the end, is "
            r"$\rho'$-zCDP. Under a pure budget the noise is spherical Laplace, and "
            r"there is no centre.",
            composition=r"Adaptive clipping of n records is private for one record, and is run "
            r"here on n averages: shares of $\rho$ that are fixed in advance add up.",
        ),
        smooth="no loss",
        order=r"O(nmd+n\ln\ln n)",
        cost="One pass over all records, two over the users' means, and one for each round of a "
        "centre.",
        when="The first choice for a mean where users have several records, and there are some "
        "hundred users or more.",
        pitfalls=(
            "Privacy is a user's: it needs many users, and more records a user do not replace "
            "them.",
            "With too few users for a look it is clipped user means, about a centre where the "
            "bound on the mean is wide.",
        ),
        example=USERS_OVER_M,
    )
    stage = Stage(
        records=128,  # enough for a look
        small=SmallRun(fields={"mode": "single"}),
        others={
            "centre": SmallRun(scenario={"n": 128, "diameter": 1000.0}),
            "pure": SmallRun(scenario={"delta": 0.0}),
        },
    )
    colour = "violet"
    symbol = "circle"

    def plan(self, setting: Setting) -> MeanPlan[AdaptiveMean, None]:
        item = AdaptiveClipping(
            radius=self.radius, mode=self.mode, calibration=self.calibration, tuning=self.tuning
        )
        return replace(item.plan(of_user_means(setting)), setting=setting, read=user_means)
