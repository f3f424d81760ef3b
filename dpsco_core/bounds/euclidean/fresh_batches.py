r"""The excess risk of one pass of clipped gradients on fresh batches, for convex losses.

Losses need not be smooth, and tails may be arbitrarily heavy (theory/fresh-batches.md, 1). Bounds
for pure budgets are separate, with noise of density :math:`\propto e^{-\varepsilon\|z\|/\Delta_2}`.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import OWN, BoundCard, Privacy
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.law_classes import COORDINATE, DIRECTIONAL
from dpsco_core.bounds.base import Bound, Letter, Terms, TermsOfRun, bound_like
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    DIRECTIONAL_MOMENT,
    FINITE_VARIANCE,
    GAUSSIAN_BUDGET,
    PURE_BUDGET,
    moment_scale,
)
from dpsco_core.bounds.euclidean.conditions import DIAMETER, GRADIENT_BOUND, OTHER_PARAMETERS
from dpsco_core.bounds.tools import KAPPA
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.euclidean.batches import (
    BatchedSteps,
    Moments,
    best_batches,
    clipped_gradient,
    risk_terms,
)
from dpsco_core.methods.euclidean.fresh_batches import FreshBatches
from dpsco_core.methods.statistics import ClippedMean
from dpsco_core.methods.steps import Descent
from dpsco_core.privacy.budget import PureDP
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

TERMS = ("optimisation", "sampling", "privacy noise", "clipping bias")
VOID = (math.inf,) * len(TERMS)


def at_batches(
    setting: Setting, batches: BatchedSteps, rho: float, moments: Moments
) -> tuple[float, ...]:
    """Return the terms of the risk bound, named `TERMS`, for given steps, radius and budget."""
    clipped = clipped_gradient(setting, np.array([batches.radius]), moments)
    return risk_terms(setting, batches, batches.noise_energy(setting, rho), clipped)


def at_best(setting: Setting, moments: Moments, privacy: Privacy) -> tuple[float, ...]:
    """Return the terms of the risk bound at the steps and the clip radius that minimise it.

    They are infinite if the budget does not fit `privacy` or a constant is missing.
    """
    if not _budget_fits(setting, privacy):
        return VOID
    rho = setting.gaussian_rho
    try:
        best = best_batches(setting, rho, moments)
    except NotApplicable:
        # No moment is finite, or the set is unbounded, and a hypothesis then says so.
        return VOID
    return at_batches(setting, best, rho, moments)


def of_run(plan: DescentPlan, privacy: Privacy) -> tuple[float, ...]:
    """Return the terms of the bound under directional moments, at the parameters of a run."""
    if not _budget_fits(plan.setting, privacy):
        return VOID
    statistic, descent = plan.statistic, plan.descent
    assert isinstance(statistic, ClippedMean) and isinstance(descent, Descent)
    batches = BatchedSteps(
        steps=descent.steps, radius=statistic.radius, step_size=descent.step_size
    )
    return at_batches(plan.setting, batches, plan.rho, "directional")


def _budget_fits(setting: Setting, privacy: Privacy) -> bool:
    """Whether the budget is pure if the bound is for pure DP, and not pure otherwise."""
    return isinstance(setting.budget, PureDP) == (privacy == "pure")


# For p >= 2 the practical tuning needs a finite variance; for p < 2 it uses a proven choice, which
# does not.
_PRACTICAL = replace(
    FINITE_VARIANCE, check=lambda s: "" if s.moment_order < 2 else FINITE_VARIANCE.check(s)
)
_LETTERS = (
    Letter("C", "clip radius, the best one"),
    Letter("T", "number of steps, the best one"),
    Letter("b", "records of a step: n/T, rounded down"),
    Letter("D_0", "largest distance from the start to a point of the set"),
    Letter("D", "diameter of the set"),
    Letter("M", "directional moment (its root)", lambda s: s.constants.directional_moment),
)
_RUN_LETTERS = (
    *(replace(x, meaning=x.meaning.replace("best one", "run's")) for x in _LETTERS),
    Letter(r"\eta", "step size of the run"),
)
_COORDINATE_LETTERS = (
    *_LETTERS[:-1],
    Letter("R", "bound on the population gradient", lambda s: s.constants.mean_gradient_bound),
    Letter("g", "root of the coordinates' moment", moment_scale),
)
_NOISE: dict[Privacy, str] = {
    "zcdp": r"\frac{2dC^2}{\rho b^2}",
    "pure": r"\frac{4d(d+1)C^2}{\varepsilon^2b^2}",
}
_BEST = (
    r"\min_{T,C}\ \frac{D_0}{\sqrt T}\Big[G^2+\frac{\min\{%s,C^2\}}b+%s\Big]^{1/2}+D\beta,\ "
    r"\beta=\min\{%s\},\ G=\min\{%s\},\ "
)
_OF_RUN = (
    r"\frac{D_0^2}{2\eta T}+\frac\eta2\Big[G^2+\frac{\min\{%s,C^2\}}b+%s\Big]+D\beta,\ "
    r"\beta=\min\{%s\},\ G=\min\{%s\},\ "
)
_CLASSES: dict[Moments, tuple[str, str, str]] = {
    "directional": ("dM^2", r"\kappa_pd^{(p-1)/2}M^pC^{1-p},M", r"M,R+\beta,C"),
    "coordinate": ("dg^2", r"\kappa_p(\sqrt dg)^p(C-R)^{1-p},\sqrt dg+R", r"R+\beta,C"),
}


def _make_latex(form: str, moments: Moments, privacy: Privacy) -> str:
    """Return the LaTeX of a bound: `form` filled in for a kind of moments and of noise."""
    variance, bias, slope = _CLASSES[moments]
    return form % (variance, _NOISE[privacy], bias, slope) + KAPPA


def _terms_at_best(moments: Moments, privacy: Privacy) -> Callable[[Setting], Terms]:
    """Return the function that evaluates `at_best` at a setting and names its terms."""

    def terms(setting: Setting) -> Terms:
        """Return the terms of the bound at its best parameters, by their names."""
        return dict(zip(TERMS, at_best(setting, moments, privacy), strict=True))

    return terms


def _rows_of_privacy(privacy: Privacy) -> tuple[Bound, ...]:
    """Return the three bounds for pure budgets, or for those with Gaussian noise."""
    pure = privacy == "pure"
    budget = PURE_BUDGET if pure else GAUSSIAN_BUDGET
    card = BoundCard(
        slug="upper.sco.fresh-batches" + "-pure" * pure,
        name="Fresh batches" + ", pure DP" * pure + ", proven",
        paper=OWN,
        statement="Fresh batches, 1",
        summary="The mean excess risk of one pass of clipped subgradients, each step on records of "
        "its own, with every constant proven; no loss must be smooth. " + OTHER_PARAMETERS,
        kind="upper",
        quantity="excess risk",
        constant="explicit",
        latex=_make_latex(_BEST, "directional", privacy),
        privacy=privacy,
        method=FreshBatches.card.slug,
        loss_class=classes.CONVEX,
        law_class=DIRECTIONAL,
        problems=SCO_PROBLEMS,
        infinite_variance="For p < 2 the p-th moment of a gradient's norm is d times that of a "
        "coordinate, and the variance of a clipped one grows with the radius to the power 2 - p.",
    )
    directional = (budget, DIRECTIONAL_MOMENT, DIAMETER)
    return (
        bound_like(
            card,
            evaluate=_terms_at_best("directional", privacy),
            hypotheses=directional,
            letters=_LETTERS,
        ),
        bound_like(
            card,
            slug=f"{card.slug}-coordinate",
            name=f"{card.name}, coordinate moments",
            law_class=COORDINATE,
            latex=_make_latex(_BEST, "coordinate", privacy),
            evaluate=_terms_at_best("coordinate", privacy),
            hypotheses=(budget, COORDINATE_MOMENT, GRADIENT_BOUND, DIAMETER),
            letters=_COORDINATE_LETTERS,
        ),
        bound_like(
            card,
            slug=f"{card.slug}-run",
            name=f"{card.name} for this run",
            summary="The mean excess risk of one pass of clipped subgradients, at the steps, the "
            "radius and the noise of the run: it bounds what is measured.",
            latex=_make_latex(_OF_RUN, "directional", privacy),
            evaluate=TermsOfRun(
                method=FreshBatches(), names=TERMS, formula=lambda plan: of_run(plan, privacy)
            ),
            hypotheses=(*directional, _PRACTICAL),
            letters=_RUN_LETTERS,
        ),
    )


FRESH_BATCHES_RISKS: tuple[Bound, ...] = (*_rows_of_privacy("zcdp"), *_rows_of_privacy("pure"))
