"""A mean at user level: a private centre, then users' means in a radius chosen privately."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.base.cards import AGARWAL_2024, MethodCard
from dpsco_core.data.rows import DenseRows
from dpsco_core.data.users import UserRows
from dpsco_core.methods.base import MethodCost, Plan, PrivateMethod, Release, Stage
from dpsco_core.methods.mean.adaptive import AdaptiveClipping, AdaptivePlan, Mode, look_shares
from dpsco_core.methods.mean.base import clipped_mean, into_ball
from dpsco_core.methods.mean.clipped import ClippedPlan, SimpleClipping
from dpsco_core.methods.mean.sentences import KNOWN_SET
from dpsco_core.methods.story import Proof, Story
from dpsco_core.methods.user.means.base import (
    SAME_NUMBER,
    USERS_OVER_M,
    check_user_rows,
    of_user_means,
)
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP, zcdp_rho
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.selection import selection_rho
from dpsco_core.problems.base import Setting

COARSE_SHARE = 0.1  # a share of rho, for the coarse centre
WORTHWHILE = 0.7  # a share of the ball around 0: a coarse centre must leave at most so much of it


@dataclass(frozen=True, kw_only=True)
class UserAdaptivePlan(Plan):
    fine: AdaptivePlan  # the run on the users' means less the coarse centre
    mean_bound: float  # the answer is projected on the ball of this
    coarse: ClippedPlan | None = None  # the run for the coarse centre; None: there is none, it is 0


@dataclass(frozen=True, kw_only=True)
class UserMeanAdaptive(PrivateMethod):
    """Adaptive clipping of the users' means; see theory/user-level-means.md, 2.3.

    At m = 1 it is `AdaptiveClipping`, but for the coarse centre where the public bound is wide.
    """

    radius: float | None = None  # the largest of the ladder; None: that of clipped user means
    mode: Mode | None = None  # as of `AdaptiveClipping`

    reads = "whole"
    cost = MethodCost(fixed=1.5e5, per_row=3, per_element=0.8)
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
        caveat="Its centre and its radius are this project's (theory/user-level-means.md, 2.3); "
        "the paper finds a centre by rounds of clipping. No explicit bound is proven for it.",
    )
    story = Story(
        what="Averages each user's records and runs adaptive clipping on the averages. They lie "
        "close together, by the root of m closer than records do, but around a mean that is "
        "known only to a public bound. A small part of the budget finds a centre among them "
        "and a radius that holds most of them; the noise is then as small as they are close.",
        steps=(
            r"Average: $\bar X_i=\frac1m\sum_jX_{ij}$ for every user i.",
            r"Where the public bound is large beside the spread of users' means, subtract a "
            r"private centre: with many users medians of the coordinates on a public grid, else "
            r"clipped user means at a tenth of $\rho$.",
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
            r"most 1, a rank in a median by at most 1, and the clipped mean by at most "
            r"$\Delta_2=2R/n$.",
            mechanism=r"Exponential mechanisms choose the radius, and medians where they are "
            r"the centre; Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho'}$ per "
            r"coordinate is $\rho'$-zCDP. Under a pure budget the noise is spherical Laplace, and "
            r"there is no centre.",
            composition=r"Adaptive clipping of n records is private for one record, and is run "
            r"here on n averages: shares of $\rho$ that are fixed in advance add up.",
        ),
        smooth="no loss",
        order=r"O(nmd+n\ln\ln n)",
        cost="One pass over all records, three over the users' means.",
        when="The first choice for a mean where users have several records, and there are some "
        "hundred users or more.",
        pitfalls=(
            "Privacy is a user's: it needs many users, and more records a user do not replace "
            "them.",
            "With too few users for a look it is clipped user means.",
        ),
        example=USERS_OVER_M,
    )
    stage = Stage(records=128)  # enough for a look
    colour = "violet"
    symbol = "circle"

    def plan(self, setting: Setting) -> UserAdaptivePlan:
        means = of_user_means(setting)
        alone = UserAdaptivePlan(
            setting=setting,
            fine=self._on_means(self.mode).plan(means),
            mean_bound=setting.constants.mean_gradient_bound,
        )
        pure = isinstance(setting.budget, PureDP)
        if pure or self.tuning == "theory" or alone.fine.centre is not None:
            return alone
        tried = self._coarse(alone, self.mode, setting.gaussian_rho)
        if tried is None:
            return alone
        # The looks that it takes decide what may be spent in all.
        mode = tried.fine.mode
        return self._coarse(alone, mode, self._total_rho(setting, mode)) or alone

    def _total_rho(self, setting: Setting, mode: Mode) -> float:
        """Return the rho of everything: the coarse centre comes before the looks."""
        budget = setting.budget
        assert not isinstance(budget, PureDP)
        if self.calibration == "paper" and isinstance(budget, ApproxDP):
            return zcdp_rho(budget.epsilon, budget.delta, "paper")
        shares = tuple((s * (1 - COARSE_SHARE), k) for s, k in look_shares(mode, setting.d))
        return selection_rho(budget, shares, choices_first=False)

    def _coarse(
        self, alone: UserAdaptivePlan, mode: Mode | None, rho: float
    ) -> UserAdaptivePlan | None:
        """Return the plan with a coarse centre; None where that would leave too much."""
        means = of_user_means(alone.setting)
        spent = COARSE_SHARE * rho
        coarse = SimpleClipping().plan(replace(means, budget=ZCDP(rho=spent)))
        # How far the centre is off, at most: noise, sampling, and as much again for clipping.
        spread = math.sqrt(means.constants.variance_trace)
        noise = coarse.noise_std * (math.sqrt(means.d) + 3)
        near = noise + 4 * spread / math.sqrt(means.n)
        if not near + spread <= WORTHWHILE * (alone.mean_bound + spread):
            return None
        constants = replace(means.constants, mean_gradient_bound=near)
        inner = replace(means, constants=constants, budget=ZCDP(rho=rho - spent))
        fine = self._on_means(mode).plan(inner)
        return None if fine.centre is not None else replace(alone, coarse=coarse, fine=fine)

    def release(
        self, sample: UserRows, plan: UserAdaptivePlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        check_user_rows(sample, plan.setting)
        means, fine = sample.means(), self._on_means(plan.fine.mode)
        if plan.coarse is None:
            return fine.release(means, plan.fine, ledger, rng)
        coarse = plan.coarse
        centre = ledger.gaussian(
            clipped_mean(means, coarse.clip_radius),
            l2_sensitivity=coarse.l2_sensitivity,
            rho=coarse.rho,
            rng=rng,
            label="coarse centre",
        )
        centre = into_ball(centre, plan.mean_bound)
        with np.errstate(over="ignore", invalid="ignore"):
            rest = DenseRows(means.read(slice(None)) - centre)
        released = fine.release(rest, plan.fine, ledger, rng)
        return replace(
            released,
            value=into_ball(centre + released.value, plan.mean_bound),
            diagnostics={**released.diagnostics, "centre_norm": float(np.linalg.norm(centre))},
        )

    def _on_means(self, mode: Mode | None) -> AdaptiveClipping:
        return AdaptiveClipping(
            radius=self.radius, mode=mode, calibration=self.calibration, tuning=self.tuning
        )
