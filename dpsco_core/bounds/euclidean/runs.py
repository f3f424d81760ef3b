"""Upper bounds on the mean excess risk of a run of SGD, at the parameters of that run.

Each is a `TermsOfRun`: the steps, their sizes, the points that are averaged and the batches are
those of the plan, in either tuning (theory/bounds-of-runs.md, 3).
"""

import math

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.loss_classes import LossClass
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, TermsOfRun, bound_like
from dpsco_core.bounds.conditions import FINITE_VARIANCE
from dpsco_core.bounds.euclidean.conditions import (
    GRADIENT_BOUND,
    SMOOTH,
    STRONGLY_CONVEX,
)
from dpsco_core.bounds.euclidean.descent import Walk, no_noise, risk, risk_on_set
from dpsco_core.bounds.euclidean.prior import PRIOR_RISKS
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.euclidean.sgd import Sgd, SgdSteps
from dpsco_core.problems import SCO_PROBLEMS, STRONG_PROBLEMS
from dpsco_core.problems.base import Setting


def sgd(plan: DescentPlan, rule: str) -> tuple[float, float]:
    """Return the optimisation and the variance term of a bound on the risk of one pass of SGD.

    Both are infinite unless the plan chose its steps by `rule` and the problem certifies the
    constants that this rule needs.
    """
    c, descent = plan.setting.constants, plan.descent
    assert isinstance(descent, SgdSteps)
    is_certified = math.isfinite(c.diameter) and math.isfinite(
        min(c.mean_gradient_bound, c.lipschitz)
    )
    if descent.rule != rule or not is_certified:
        return math.inf, math.inf
    strong, count = rule == "strongly convex", descent.steps
    objective = risk_on_set(plan.setting, strong=strong)
    steps = Walk(
        sizes=tuple(descent.size(t) for t in range(count)),
        weights=tuple(t + 1.0 if strong else 1.0 for t in range(count)),
        queried=rule == "lipschitz",
        pull=c.lipschitz**2,
    )
    # The last step uses all remaining records.
    last_batch = plan.setting.n - (count - 1) * descent.batch

    # The trace of the gradient's covariance is bounded in two ways: by its growth with the squared
    # distance from the minimiser, and over the whole set.
    base = c.minimum_variance if c.variance_growth > 0 else math.inf
    growth, largest = c.variance_growth, min(c.variance_trace, c.lipschitz**2)
    batch, last_step = descent.batch, count - 1

    def energy(t: int, square: float) -> float:
        """Return a bound on the mean squared norm of the noise of step t, by `risk`'s arguments."""
        return min(base + growth * square, largest) / (batch if t < last_step else last_batch)

    whole = risk(objective, steps, 0.0, energy)
    optimisation = min(whole, risk(objective, steps, 0.0, no_noise))
    return optimisation, whole - optimisation


def _condition_on_rule(rule: str, text: str, sentence: str) -> Hypothesis:
    """Return the condition that SGD chooses its steps by a rule."""

    def check(setting: Setting) -> str:
        """Return the reason why SGD uses another rule; empty if it uses this one."""
        try:
            descent = Sgd().plan(setting).descent
            return "" if isinstance(descent, SgdSteps) and descent.rule == rule else sentence
        except NotApplicable:
            # There is no run, and its plan says why, so that this condition need not.
            return ""

    return Hypothesis(text=text, check=check)


_SGD = next(b for b in PRIOR_RISKS if b.card.slug == "upper.sco.sgd")
_WALK = (
    Letter("G", "bound on the population gradient", lambda s: s.constants.mean_gradient_bound),
    Letter("r_t", "bound on the distance of step t from the minimiser"),
    Letter("v_t", "variance of the gradient of step t"),
    Letter("w_t", "weight of step t in the average"),
    Letter(r"\eta_t", "size of step t"),
    letters.SMOOTH,
)
_DISTANCE = r"r_{t+1}^2\le(1-\eta_t\lambda)^2r_t^2+\eta_t^2v_t"
_DESCENT = (
    r"\frac{\sum_tw_t\big[\frac{(1-\eta_t\lambda)r_t^2-r_{t+1}^2}{2\eta_t}+"
    r"\min\{1,\frac1{2(1-\eta_tL)}\}\eta_tv_t\big]}{\sum_tw_t}"
)


def _make_sgd_row(
    rule: str,
    slug: str,
    name: str,
    latex: str,
    losses: LossClass,
    problems: tuple[str, ...],
    *hypotheses: Hypothesis,
) -> Bound:
    """Return the catalogue's bound on runs of SGD whose steps are chosen by a rule."""
    return bound_like(
        _SGD.card,
        slug=f"upper.sco.sgd-{slug}",
        name=f"SGD, no privacy, proven for this run{name}",
        statement=f"one pass of projected SGD with the steps of a run, {rule} risks",
        summary="The mean excess risk of stochastic gradient descent, which is not private, "
        "with the steps, the batches and the average of the run: it bounds what is measured.",
        latex=latex,
        loss_class=losses,
        problems=problems,
        evaluate=TermsOfRun(
            method=Sgd(),
            names=("optimisation", "sampling"),
            formula=lambda plan: sgd(plan, rule),
        ),
        hypotheses=(*_SGD.hypotheses, GRADIENT_BOUND, FINITE_VARIANCE, *hypotheses),
        letters=_WALK,
    )


RUN_RISKS: tuple[Bound, ...] = (
    _make_sgd_row(
        "lipschitz",
        "run",
        "",
        r"\frac{\sum_tw_t\big[\frac{r_t^2-r_{t+1}^2}{2\eta_t}+\frac{\eta_t}2E\|g_t\|^2\big]}"
        r"{\sum_tw_t},\ w_t=1,\ E\|g_t\|^2\le\min\{L^2,G^2+v_t\}",
        classes.CONVEX,
        SCO_PROBLEMS,
        _condition_on_rule(
            "lipschitz",
            "the steps for risks with kinks",
            "The risk is smooth here, and the method takes the steps of smooth risks.",
        ),
    ),
    _make_sgd_row(
        "smooth",
        "run-smooth",
        ", smooth",
        _DESCENT.replace(r"(1-\eta_t\lambda)", "") + r",\ w_t=1",
        classes.SMOOTH,
        SCO_PROBLEMS,
        SMOOTH,
        _condition_on_rule(
            "smooth",
            "the steps for smooth risks",
            "The risk is strongly convex here, or not smooth, and the method takes other steps.",
        ),
    ),
    _make_sgd_row(
        "strongly convex",
        "run-strong",
        ", strongly convex",
        r"\min\Big\{\frac{\sum_tw_t\min\{Gr_{t+1},\frac L2r_{t+1}^2\}}{\sum_tw_t},"
        + _DESCENT
        + r"\Big\},\ w_t=t+1,\ "
        + _DISTANCE,
        classes.SMOOTH_STRONG,
        STRONG_PROBLEMS,
        SMOOTH,
        STRONGLY_CONVEX,
    ),
)
