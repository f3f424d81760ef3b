"""Upper bounds of adaptive clipping in single mode."""

import math
from collections.abc import Callable

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, TermsOfRun, bound_like, set_letters
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    MEAN_BOUND,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.rate import bound_at_rate, two_terms
from dpsco_core.bounds.tools import BALL, IN_BALL, PARTS, Parts, in_ball
from dpsco_core.methods.average import MeanPlan
from dpsco_core.methods.mean.adaptive import AdaptiveClipping, AdaptiveMean, finds_radius
from dpsco_core.methods.mean.below_two import sample_mean_error
from dpsco_core.methods.mean.ladder import expected_miss
from dpsco_core.methods.mean.shares import GUARDED_FROM
from dpsco_core.problems.base import Setting


def _single_mode_statistic(setting: Setting) -> AdaptiveMean:
    """Return what adaptive clipping in single mode would release at a setting: its statistic."""
    return AdaptiveClipping(mode="single").plan(setting).statistic


def _check_single_mode(setting: Setting) -> str:
    """Return the reason why the method does not run in single mode; empty if it does."""
    mode = "in guarded mode, of which no bound is proven"
    guarded = f"From d={GUARDED_FROM} on the method runs {mode}, and d={setting.d}."
    return guarded if setting.d >= GUARDED_FROM else ""


def _check_no_centre(setting: Setting) -> str:
    """Return why the method clips around a centre, for which nothing is proven; else empty."""
    bound = scaled_mean_bound(setting)
    if bound <= 2 * math.sqrt(setting.d):
        return ""
    return (
        "The bound is for a method without a centre, which is chosen from the same records where "
        f"R > 2 sqrt(d) moment units, and R={bound:.4g}."
    )


def _check_records_for_radius(setting: Setting) -> str:
    """Return why there are too few records to choose a radius; empty if there are enough.

    The result is empty too if another condition fails, whose sentence is then shown.
    """
    # The method has no plan unless all of these conditions hold.
    if any(h.check(setting) for h in (GAUSSIAN_BUDGET, MEAN_BOUND, TWO_RECORDS)):
        return ""
    if setting.gaussian_rho > 0 and finds_radius(_single_mode_statistic(setting)):
        return ""
    return f"With n={setting.n} records the method does not look, and is simple clipping."


TWO_RECORDS = Hypothesis(
    text="n >= 2",
    check=lambda s: "" if s.n >= 2 else f"The statement needs n >= 2 records, and n={s.n}.",
)
CONDITIONS = (
    GAUSSIAN_BUDGET,
    COORDINATE_MOMENT,
    MEAN_BOUND,
    Hypothesis(text=f"single mode: d < {GUARDED_FROM}", check=_check_single_mode),
    Hypothesis(text="no centre: R <= 2 sqrt(d) moment units", check=_check_no_centre),
    TWO_RECORDS,
    Hypothesis(
        text="2k + Delta <= 0.85 n: records enough to look at", check=_check_records_for_radius
    ),
)


_RATE = two_terms("sqrt(d/n)", "sqrt(d)*(d/(n*sqrt(rho)))^(1-1/p)", scale=moment_scale)


def at_run(plan: MeanPlan[AdaptiveMean, None]) -> tuple[float, float, float]:
    r"""Return the sampling, bias and noise terms of a bound on a run's mean error.

    Their sum bounds the mean l2 error for every law of the class (theory/adaptive-methods.md, 1.3).
    The p-th moment of a record's norm has the root :math:`m_p=\sqrt d+R_0` at most, in moment
    units. For p < 2 it is :math:`d^{1/p}+R_0`, and the sampling term is that of `sample_mean_error`
    (theory/infinite-variance.md, 2.3). The other terms are infinite for a run in guarded mode or
    around a chosen centre, of which nothing is proven.
    """
    setting, mean = plan.setting, plan.statistic
    scale, n, d, p = moment_scale(setting), setting.n, setting.d, setting.moment_order
    reach, sampling = math.sqrt(d) + scaled_mean_bound(setting), scale * math.sqrt(d / n)
    if p < 2:
        reach = math.pow(d, 1 / p) + scaled_mean_bound(setting)
        sampling = scale * sample_mean_error(n, d, p)
    covered = mean.mode == "single" and mean.centre is None and not mean.inner_rho
    covered = covered and mean.release_rho > 0 and n > 1
    if not covered or not 0 < scale * reach < math.inf:
        return sampling, math.inf, math.inf
    top = mean.top_radius / scale
    tail = min(
        1.0, (2 * mean.target + expected_miss(n, mean.epsilon)) / n + math.pow(reach / top, p)
    )
    noise = 2.11 * math.sqrt(2 * d / mean.release_rho) / n
    parts = Parts(
        sampling=sampling,
        bias=scale * reach * math.pow(tail, 1 - 1 / p),
        noise=scale * noise * (reach * math.pow(n / mean.target, 1 / p) + top / n),
    )
    return in_ball(parts, math.fsum, plan.answer_radius).values


def _number_of_plan(value: Callable[[AdaptiveMean], float]) -> Callable[[Setting], float]:
    """Return the function that reads a number off the single mode's plan at a setting."""

    def number(setting: Setting) -> float:
        """Return the number at a setting; NaN if there is no plan in single mode."""
        if setting.gaussian_rho <= 0 or not math.isfinite(scaled_mean_bound(setting)):
            return math.nan
        return value(_single_mode_statistic(setting))

    return number


LETTERS = (
    Letter("R_0", "bound on the norm of the mean", lambda s: s.constants.mean_gradient_bound),
    Letter("R_1", "largest radius of the ladder", _number_of_plan(lambda mean: mean.top_radius)),
    Letter("k", "norms that are to be above the radius", _number_of_plan(lambda mean: mean.target)),
    Letter(r"\bar\Delta", "by how many the choice misses k, at most, in the mean"),
    Letter(r"\rho'", "share of the release", _number_of_plan(lambda mean: mean.release_rho)),
    Letter("m_p", r"root of the dimension, and the bound on the mean"),
    *BALL,
)
_CARD = BoundCard(
    slug="upper.mean.adaptive",
    name="Adaptive clipping, rate",
    paper=OWN,
    statement="Choosing the clip radius privately, 1.3",
    summary="The rate of a privately chosen radius in single mode; constants set to 1, and a "
    "logarithm of n left out.",
    kind="upper",
    constant="rate",
    latex=_RATE.latex,
    privacy="zcdp",
    method="mean.adaptive",
)
_BOUNDS: tuple[Bound, ...] = (
    bound_at_rate(_CARD, _RATE, CONDITIONS),
    bound_like(
        _CARD,
        slug="upper.mean.adaptive-expected",
        name="Adaptive clipping, proven mean error",
        statement="Choosing the clip radius privately, 1.3, class bound",
        summary="The mean error of a privately chosen radius in single mode, without a centre "
        "over the lower bounds' own class, with every constant proven, at the parameters of the "
        "run: it bounds what is measured. For guarded mode nothing is proven.",
        constant="explicit",
        latex=IN_BALL + r"\sqrt{\tfrac dn}+m_p\Big[\Big(\tfrac{2k+\bar\Delta}n+"
        r"\Big(\tfrac{m_p}{R_1}\Big)^p\Big)^{1-1/p}+\tfrac{2.11\sqrt{2d/\rho'}}n"
        r"\Big(\tfrac nk\Big)^{1/p}\Big]+2.11R_1\tfrac{\sqrt{2d/\rho'}}{n^2},\ "
        r"m_p=\sqrt d+R_0",
        evaluate=TermsOfRun(method=AdaptiveClipping(mode="single"), names=PARTS, formula=at_run),
        hypotheses=CONDITIONS,
        infinite_variance="For p < 2 the same proof gives d^(1/p) for the root of d in m_p, and "
        "what is proven of the sample mean for the first term.",
    ),
)
ADAPTIVE_BOUNDS = set_letters(LETTERS, _BOUNDS)
