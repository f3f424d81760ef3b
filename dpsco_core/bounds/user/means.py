r"""Upper bounds on the mean error at user level (theory/user-level-means.md, 3).

The bounds for clipped records and for clipped user means have proven constants; one more is the
rate of Agarwal et al. (2024).
"""

import math
from collections.abc import Callable

from dpsco_core.base.cards import AGARWAL_2024, BoundCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.law_classes import COORDINATE, DIRECTIONAL
from dpsco_core.bounds.base import (
    Bound,
    Hypothesis,
    Letter,
    Terms,
    TermsOfRun,
    bound_like,
    set_letters,
)
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    DIRECTIONAL_MOMENT,
    GAUSSIAN_BUDGET,
    MEAN_BOUND,
    PURE_BUDGET,
    moment_scale,
)
from dpsco_core.bounds.letters import MOMENT
from dpsco_core.bounds.mean.clipped import coordinate_bias
from dpsco_core.bounds.mean.intervals import NOISE, SAMPLE, SPREAD, at_most, interval_row
from dpsco_core.bounds.rate import Rate, bound_at_rate
from dpsco_core.bounds.tools import (
    BALL,
    IN_BALL,
    KAPPA,
    PARTS,
    Parts,
    in_ball,
    root_sum_square,
    terms_of,
    void,
)
from dpsco_core.methods.user.means import UserMeanClipped, UserMeanGroup
from dpsco_core.methods.user.means.base import of_user_means
from dpsco_core.methods.user.means.clipped import UserMeansPlan, noise_std
from dpsco_core.privacy.budget import ZCDP
from dpsco_core.privacy.mechanisms import GaussianNoise
from dpsco_core.problems.base import Setting


def at_run(plan: UserMeansPlan, clipped: Setting) -> Parts:
    r"""Return the parts of a mean-square bound on a run at user level, at its clip radius.

    The squares of the parts add up to the right-hand side. `clipped` is the setting whose records
    are the vectors that the run clips, records or users' means.

    .. math:: E\|\hat\mu-\mu\|^2\le\frac{dg^2}n\Big(\gamma+\frac{1-\gamma}m\Big)
        +\text{bias}(R)^2+d\sigma^2

    The bias is that of a record, or of a user's mean, with its own moment. :math:`\gamma` is the
    share of the variance that the items of a user have in common (theory/user-level-means.md, 6.2).
    """
    setting = plan.setting
    bias = coordinate_bias(clipped)
    variance = setting.d * setting.design_effect / (setting.n * setting.m)
    sampling = moment_scale(setting) * math.sqrt(variance)
    if math.isinf(bias.scale) or math.isinf(bias.shift):
        return void(sampling)
    # At any clip radius, clipping shortens a vector by at most this much in the mean.
    largest_bias = bias.scale + bias.shift
    noise = math.sqrt(setting.d) * noise_std(plan.noise, setting.d)
    return Parts(
        sampling=sampling,
        bias=min(bias.at_radius(plan.statistic.radius), largest_bias),
        noise=noise,
    )


def if_gaussian(plan: UserMeansPlan, parts: Parts) -> Parts:
    """Return `parts`, the terms of a bound for Gaussian noise, infinite for a run with another."""
    return parts if isinstance(plan.noise, GaussianNoise) else void(parts.sampling)


def if_pure(plan: UserMeansPlan, parts: Parts) -> Parts:
    r"""Return `parts`, the terms of a bound for Laplace noise, infinite for a run with Gaussian.

    The spherical Laplace noise of pure DP has the variance
    :math:`\sigma^2=(d+1)\big(\frac{2R}{n\varepsilon}\big)^2` per coordinate
    (theory/user-level-means.md, 3.5).
    """
    return void(parts.sampling) if isinstance(plan.noise, GaussianNoise) else parts


def at_best_pure_radius(
    parts_of_run: Callable[[UserMeansPlan], Parts],
) -> Callable[[Setting], Terms]:
    """Return the function that evaluates a pure run's bound at a setting, at the best clip radius.

    That radius minimises the sum of the squares of the terms, which `parts_of_run` computes from
    the plan of a run.
    """

    def parts(setting: Setting) -> Parts:
        """Return the parts of the bound at the radius that the theory's tuning chooses."""
        try:
            plan = UserMeanClipped(tuning="theory").plan(setting)
        except NotApplicable:
            # No moment is finite, or the mean is unbounded, and a hypothesis then says so.
            return void(math.inf)
        return if_pure(plan, parts_of_run(plan))

    return terms_of(parts)


def _of_means(plan: UserMeansPlan) -> Parts:
    """Return the parts of the bound on a run that clips users' means."""
    return at_run(plan, of_user_means(plan.setting))


def _limit_by_ball(plan: UserMeansPlan, parts: Parts) -> tuple[float, ...]:
    """Return the terms of a run's bound, scaled down to the diameter of the ball of its answer."""
    return in_ball(parts, root_sum_square, plan.answer_radius).values


def _interval_terms(plan: UserMeansPlan, clipped: Setting, averaged: int) -> Parts:
    """Return the terms whose sum is the radius of a run's 95 % interval.

    The run averages `averaged` clipped vectors, which are the records of the setting `clipped`.
    """
    return at_most(
        if_gaussian(plan, at_run(plan, clipped)), plan.statistic.radius, averaged, plan.setting.d
    )


def _epsilon_of_rate(setting: Setting) -> float:
    r"""Return the epsilon of the rate: :math:`\sqrt{2\rho}` for zCDP, else the budget's own."""
    budget = setting.budget
    return math.sqrt(2 * budget.rho) if isinstance(budget, ZCDP) else setting.pure_epsilon


def _check_enough_users(setting: Setting) -> str:
    """Return the reason why there are too few users; empty if there are enough."""
    fewest = math.ceil(setting.d / _epsilon_of_rate(setting))
    if setting.n >= fewest:
        return ""
    return f"The rate needs n >= d/epsilon = {fewest:,} people, and n={setting.n:,}."


def _common_share(setting: Setting) -> float:
    """Return the share of the variance that the items of a user have in common."""
    return setting.alike


LETTERS = (
    *BALL,
    MOMENT,
    Letter("R_0", "bound on the norm of the mean", lambda s: s.constants.mean_gradient_bound),
    Letter("R", "run's clip radius"),
    Letter(r"\sigma", "deviation of the run's noise, per coordinate"),
    Letter("m", "records of each user", lambda s: s.m),
    Letter("c", "what a mean of m records keeps of a moment's root"),
    Letter(r"\gamma", "share of the variance that a user's records have in common", _common_share),
)
_ALIKE = (
    "Users are independent, and of a user only the mean of its items enters, whose variance and "
    "moment have the part in common in them."
)
# This LaTeX is the squared sampling error of n users' means, and the factor c by which such a mean
# changes the root of the moment.
_SAMPLING = r"\frac{dg^2}n\big(\gamma+\tfrac{1-\gamma}m\big)"
_KEEPS = r"c^2=\min\Big\{1,\frac{\gamma+(1-\gamma)(p-1)/m}{\max\{\gamma,1-\gamma\}}\Big\},\ "
# The paper states the required number of people. Each term of it is solved for the error here.
_PERSON_RATE = Rate(
    terms={
        "sampling": "sqrt(d/(n*m))",
        "privacy": "d/(n*epsilon)/sqrt(m)",
        "privacy of the tail": "(d/(n*epsilon)/m)^(1-1/p)",
    },
    unit="M",
    letters=(*LETTERS, Letter(r"\varepsilon", "privacy budget", _epsilon_of_rate)),
)
_RATE = BoundCard(
    slug="upper.user.mean-adaptive",
    name="Person-level mean, rate",
    paper=AGARWAL_2024,
    statement="Abstract: sufficient and necessary number of people, solved for the error",
    printing="reworked",
    summary="The rate of the best person-level mean; constants set to 1, logarithms left out.",
    kind="upper",
    constant="rate",
    guarantee="probability 0.9",
    latex=_PERSON_RATE.latex,
    privacy="approx",
    method="user.mean-adaptive",
    law_class=DIRECTIONAL,
    level="user",
)
_GROUP = BoundCard(
    slug="upper.user.mean-group-run",
    name="Clipped records in groups, proven for this run",
    paper=AGARWAL_2024,
    statement="User-level means, 3.1",
    summary="The mean error with every constant proven, at the run's radius: it bounds what is "
    "measured.",
    kind="upper",
    constant="explicit",
    latex=IN_BALL + r"\Big[\frac{dg^2}{nm}+\min\{\kappa_p(\sqrt dg)^p(R-R_0)^{1-p},\sqrt dg+R_0\}^2"
    r"+d\sigma^2\Big]^{1/2},\ " + KAPPA,
    privacy="zcdp",
    method="user.mean-group",
    law_class=COORDINATE,
    level="user",
)
_HYPOTHESES = (GAUSSIAN_BUDGET, COORDINATE_MOMENT, MEAN_BOUND)
_BOUNDS: tuple[Bound, ...] = (
    bound_at_rate(
        _RATE,
        _PERSON_RATE,
        (DIRECTIONAL_MOMENT, Hypothesis(text="n >= d/epsilon", check=_check_enough_users)),
    ),
    Bound(
        card=_GROUP,
        evaluate=TermsOfRun(
            method=UserMeanGroup(),
            names=PARTS,
            formula=lambda plan: _limit_by_ball(plan, at_run(plan, plan.setting)),
        ),
        combine=root_sum_square,
        hypotheses=_HYPOTHESES,
    ),
    bound_like(
        _GROUP,
        slug="upper.user.mean-clipped-run",
        name="Clipped user means, proven for this run",
        statement="User-level means, 3.2",
        latex=IN_BALL + r"\Big[" + _SAMPLING + r"+\min\{\kappa_p(\sqrt dcg)^p(R-R_0)^{1-p},"
        r"\sqrt dcg+R_0\}^2+d\sigma^2\Big]^{1/2},\ " + _KEEPS + KAPPA,
        method="user.mean-clipped",
        alike_items=_ALIKE,
        evaluate=TermsOfRun(
            method=UserMeanClipped(),
            names=PARTS,
            formula=lambda plan: _limit_by_ball(plan, if_gaussian(plan, _of_means(plan))),
        ),
        combine=root_sum_square,
        hypotheses=_HYPOTHESES,
    ),
)
_PURE_LATEX = (
    r"\Big["
    + _SAMPLING
    + r"+\min\{\kappa_p(\sqrt dcg)^p(R-R_0)^{1-p},\sqrt dcg+R_0\}^2"
    + r"+d(d+1)\Big(\frac{2R}{n\varepsilon}\Big)^2\Big]^{1/2},\ "
    + _KEEPS
    + KAPPA
)
_PURE_HYPOTHESES = (PURE_BUDGET, COORDINATE_MOMENT, MEAN_BOUND)
_PURE: tuple[Bound, ...] = (
    bound_like(
        _GROUP,
        slug="upper.user.mean-clipped-pure",
        name="Clipped user means, pure DP, proven mean error",
        statement="User-level means, 3.5",
        summary="The mean error under pure DP with every constant proven, at the radius that makes "
        "this bound smallest.",
        latex=r"\min_R" + _PURE_LATEX,
        privacy="pure",
        method="user.mean-clipped",
        alike_items=_ALIKE,
        evaluate=at_best_pure_radius(_of_means),
        combine=root_sum_square,
        hypotheses=_PURE_HYPOTHESES,
    ),
    bound_like(
        _GROUP,
        slug="upper.user.mean-clipped-pure-run",
        name="Clipped user means, pure DP, proven for this run",
        statement="User-level means, 3.5",
        summary="The mean error under pure DP with every constant proven, at the run's radius: it "
        "bounds what is measured.",
        latex=IN_BALL + _PURE_LATEX,
        privacy="pure",
        method="user.mean-clipped",
        alike_items=_ALIKE,
        evaluate=TermsOfRun(
            method=UserMeanClipped(),
            names=PARTS,
            formula=lambda plan: _limit_by_ball(plan, if_pure(plan, _of_means(plan))),
        ),
        combine=root_sum_square,
        hypotheses=_PURE_HYPOTHESES,
    ),
)
_LETTERED = set_letters(LETTERS, _BOUNDS)
_GROUP_RUN, _CLIPPED_RUN = _LETTERED[1:]
_INTERVALS: tuple[Bound, ...] = (
    interval_row(
        _GROUP_RUN,
        lambda plan: _interval_terms(plan, plan.setting, plan.setting.n * plan.setting.m),
        SAMPLE % ("R^2", "(nm)")
        + r"\min\{\kappa_p(\sqrt dg)^p(R-R_0)^{1-p},\sqrt dg+R_0\}"
        + NOISE
        + SPREAD % "{nm}"
        + KAPPA,
        "User-level means, 3.4",
    ),
    interval_row(
        _CLIPPED_RUN,
        lambda plan: _interval_terms(plan, of_user_means(plan.setting), plan.setting.n),
        SAMPLE % ("R^2", "n")
        + r"\min\{\kappa_p(\sqrt dcg)^p(R-R_0)^{1-p},\sqrt dcg+R_0\}"
        + NOISE
        + r",\ \lambda="
        + _SAMPLING
        + r",\ "
        + _KEEPS
        + KAPPA,
        "User-level means, 3.4",
    ),
)
USER_MEAN_BOUNDS = (*_LETTERED, *set_letters(LETTERS, _PURE), *_INTERVALS)
