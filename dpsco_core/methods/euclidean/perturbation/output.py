"""Output perturbation in phases, under pure DP: after Lowy (2026)."""

from dataclasses import dataclass

from dpsco_core.base.cards import BOUNDED_PROBLEMS, LOWY_2026, MethodCard
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT
from dpsco_core.methods.euclidean.perturbation.minimisers import PhasedMinimisers
from dpsco_core.methods.euclidean.perturbation.output_schedule import output_plan
from dpsco_core.methods.euclidean.sentences import CONVEX_SET, LIPSCHITZ, LOGISTIC
from dpsco_core.methods.euclidean.solver import CLOSED_FORM
from dpsco_core.methods.phases import PhasedMethod
from dpsco_core.methods.stage import PARTS, Stage
from dpsco_core.methods.story import Proof, Story
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class OutputPerturbation(PhasedMethod):
    r"""Minimise a regularised risk in phases, and hide each minimiser by spherical Laplace noise.

    The privacy is that of the point which the solver returns, not of the exact minimiser: the
    distance that its certificate leaves open is a part of the sensitivity
    (theory/pure-optimisers.md, 1.3). The minimisers themselves are not part of the result.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        The same noise: there is one proof, and one constant.
    tuning : {"practical", "theory"}
        ``"theory"``: the phases, the regularisers and, of generalised linear losses, the bound on
        the features that minimise the proven bound on the excess risk
        (theory/pure-optimisers.md, 1.4). ``"practical"``: the phases and the regularisers that
        minimise the error on a quadratic, and the bound on the features of the other methods.
    """

    reads = "whole"
    cost = MethodCost(
        fixed=3.7e5, per_row=110, per_element=1.9, per_piece=3e4, closed_form=CLOSED_FORM
    )
    card = MethodCard(
        slug="sco.output-perturbation",
        name="Output perturbation",
        paper=LOWY_2026,
        statement="Structured losses; theory/pure-optimisers.md, 1",
        summary="Minimises a regularised risk of bounded losses in phases; spherical Laplace noise "
        "hides each minimiser, under pure DP.",
        privacy="pure",
        problems=BOUNDED_PROBLEMS,
        caveat="The paper's losses and its tools, with the library's own constants: the printed "
        "schedule is for a rate. Kinks are rounded off. " + BOUNDED_CAVEAT,
    )
    story = Story(
        what="Minimises the empirical risk with a regulariser that pulls towards the last point, "
        "and adds noise to the minimiser. A strong pull makes the minimiser insensitive to any "
        "single record, but keeps it near where it was; so there are several phases, each with "
        "records of its own. It works under pure DP, where Gaussian noise cannot be "
        "used.",
        steps=(
            "Shrink long features to a norm R that is chosen from the setting, so that every loss "
            "is L-Lipschitz; round off kinks.",
            r"In phase i, minimise $\hat F_i(w)+\frac{\lambda_i}2\|w-w_{i-1}\|^2$ over W, with "
            r"$n_i$ records of its own, to a distance $\tau_i$ that is certified for every data "
            "set.",
            r"Add noise of density $\propto e^{-\varepsilon\|z\|/\Delta_i}$ with "
            r"$\Delta_i=\frac{2L}{\lambda_in_i}+2\tau_i$, and project: this is $w_i$.",
            "Return the last one.",
        ),
        assumptions=(
            LIPSCHITZ,
            "Generalised linear losses of bounded slope (hinge, absolute, logistic, Huber), linear "
            "ones, or half the squared distance.",
            CONVEX_SET,
        ),
        privacy=Proof(
            sensitivity=r"The objective is $\lambda_i$-strongly convex, and replacing a record "
            r"moves its gradient by at most $2L/n_i$ at every point: so the minimiser by at most "
            r"$\frac{2L}{\lambda_in_i}$. What the solver returns is within $\tau_i$ of it on both "
            r"data sets: $\Delta_i=\frac{2L}{\lambda_in_i}+2\tau_i$.",
            mechanism=r"Spherical Laplace noise: its log-density changes by at most "
            r"$\frac\varepsilon{\Delta_i}\|z-z'\|\le\varepsilon$.",
            composition=r"Phases look at disjoint records: all of them together cost "
            r"$\varepsilon$, without any $\delta$.",
        ),
        smooth="nothing",
        order=r"O(Tnd)",
        cost="A few dozen to some thousand passes of a deterministic solver over each phase's "
        "records.",
        when="For a pure budget (δ = 0) where the curvature of the loss is large or unknown, and "
        "as the simplest pure optimiser.",
        pitfalls=(
            "The noise's norm grows like d, not like the square root of d: with many parameters "
            "and few records, a small δ buys much.",
            "A solver that merely stops early would break the proof: its distance must be "
            "certified for every data set.",
        ),
        example=LOGISTIC
        | {
            "methods": ("sco.erm", "sco.output-perturbation"),
            "d": 5,
            "delta": 0.0,
        },
    )
    stage = Stage(splits=PARTS)
    colour = "violet"
    symbol = "square"
    dashed = True

    def plan(self, setting: Setting) -> PhasedMinimisers:
        return output_plan(setting, self.tuning)
