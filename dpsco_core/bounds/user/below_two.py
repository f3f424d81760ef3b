r"""Upper bounds for means at user level at tail indices :math:`1<p<2`.

A user's mean of m independent records has a p-th moment that falls with m, and may have no variance
(theory/infinite-variance.md, 2.4). From p = 2 on there are sharper bounds.
"""

import math
from dataclasses import replace

from dpsco_core.base.cards import AGARWAL_2024, BoundCard
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.bounds.base import Bound, Letter, bound_like, set_letters
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    MEAN_BOUND,
    PURE_BUDGET,
)
from dpsco_core.bounds.letters import MOMENT
from dpsco_core.bounds.mean.below_two import BELOW_TWO, at_level
from dpsco_core.bounds.tools import (
    BALL,
    IN_BALL,
    KAPPA,
    Parts,
    at_run,
    root_sum_square,
)
from dpsco_core.bounds.user.means import at_best_pure_radius, if_gaussian, if_pure
from dpsco_core.methods.user.means import UserMeanClipped, UserMeanGroup
from dpsco_core.methods.user.means.base import of_user_means
from dpsco_core.methods.user.means.clipped import UserMeansPlan, noise_std
from dpsco_core.problems.base import Setting


def of_records(plan: UserMeansPlan) -> Parts:
    """Return the parts of the error bound of a run that clips all records of all users."""
    setting = plan.setting
    return _at_run(plan, replace(setting, n=setting.n * setting.m, m=1))


def of_means(plan: UserMeansPlan) -> Parts:
    """Return the parts of the error bound of a run that clips users' means."""
    return _at_run(plan, of_user_means(plan.setting))


def _at_run(plan: UserMeansPlan, clipped: Setting) -> Parts:
    """Return the parts of a run's bound; `clipped` is the setting of the vectors it clips."""
    noise = math.sqrt(clipped.d) * noise_std(plan.noise, clipped.d)
    return at_level(clipped, "norm", plan.statistic.radius, noise)


_MEANS = (
    r"\Big[\frac{dg_m^p(R+R_0)^{2-p}}n+\big(\kappa_pdg_m^p(R-R_0)^{1-p}\big)^2+%s\Big]^{1/2},\ "
    r"g_m^p=g^p\min\Big\{1,\frac{1+2^{2-p}(m-1)}{m^p}\Big\},\ " + KAPPA
)
_SPHERICAL = r"d(d+1)\Big(\frac{2R}{n\varepsilon}\Big)^2"
_LETTERS = (
    *BALL,
    MOMENT,
    Letter("R_0", "bound on the norm of the mean", lambda s: s.constants.mean_gradient_bound),
    Letter("R", "run's clip radius"),
    Letter(r"\sigma", "deviation of the run's noise, per coordinate"),
    Letter("m", "records of each user", lambda s: s.m),
    Letter("g_m", "root of the moment of a mean of m records"),
)
_CARD = BoundCard(
    slug="upper.user.mean-clipped-below-two-run",
    name="Clipped user means, infinite variance, for this run",
    paper=AGARWAL_2024,
    statement="Infinite variance, 2.4",
    summary="The mean error where records may have no variance, with every constant proven, at "
    "the radius and the noise of the run: it bounds what is measured.",
    kind="upper",
    constant="explicit",
    latex=IN_BALL + _MEANS % r"d\sigma^2",
    privacy="zcdp",
    method="user.mean-clipped",
    law_class=COORDINATE,
    level="user",
    infinite_variance="It is proven for p from 1 to 2: no step of it reads a variance of the "
    "records.",
)
_CLASS = (COORDINATE_MOMENT, BELOW_TWO, MEAN_BOUND)
USER_BELOW_TWO: tuple[Bound, ...] = set_letters(
    _LETTERS,
    (
        Bound(
            card=_CARD,
            evaluate=at_run(
                UserMeanClipped(),
                lambda plan: if_gaussian(plan, of_means(plan)),
                root_sum_square,
            ),
            combine=root_sum_square,
            hypotheses=(GAUSSIAN_BUDGET, *_CLASS),
        ),
        bound_like(
            _CARD,
            slug="upper.user.mean-group-below-two-run",
            name="Clipped records in groups, infinite variance, for this run",
            latex=IN_BALL
            + r"\Big[\frac{dg^p(R+R_0)^{2-p}}{nm}+\big(\kappa_pdg^p(R-R_0)^{1-p}\big)^2"
            + r"+d\sigma^2\Big]^{1/2},\ "
            + KAPPA,
            method="user.mean-group",
            evaluate=at_run(UserMeanGroup(), of_records, root_sum_square),
            combine=root_sum_square,
            hypotheses=(GAUSSIAN_BUDGET, *_CLASS),
        ),
        bound_like(
            _CARD,
            slug="upper.user.mean-clipped-pure-below-two",
            name="Clipped user means, infinite variance, pure DP",
            summary="The mean error under pure DP where records may have no variance, with every "
            "constant proven, at the radius that makes this bound smallest.",
            latex=r"\min_R" + _MEANS % _SPHERICAL,
            privacy="pure",
            evaluate=at_best_pure_radius(of_means),
            combine=root_sum_square,
            hypotheses=(PURE_BUDGET, *_CLASS),
        ),
        bound_like(
            _CARD,
            slug="upper.user.mean-clipped-pure-below-two-run",
            name="Clipped user means, infinite variance, pure DP, for this run",
            latex=IN_BALL + _MEANS % _SPHERICAL,
            privacy="pure",
            evaluate=at_run(
                UserMeanClipped(), lambda plan: if_pure(plan, of_means(plan)), root_sum_square
            ),
            combine=root_sum_square,
            hypotheses=(PURE_BUDGET, *_CLASS),
        ),
    ),
)
