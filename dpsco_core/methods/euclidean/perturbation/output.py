"""Output perturbation in phases, under pure DP: after Lowy (2026)."""

from dataclasses import dataclass

from dpsco_core.base.cards import BOUNDED_PROBLEMS, LOWY_2026, MethodCard
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT
from dpsco_core.methods.euclidean.perturbation.minimisers import PhasedMinimisers
from dpsco_core.methods.euclidean.perturbation.output_schedule import output_plan
from dpsco_core.methods.euclidean.solver import CLOSED_FORM
from dpsco_core.methods.phases import PhasedMethod
from dpsco_core.methods.stage import PARTS, Stage
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class OutputPerturbation(PhasedMethod):
    r"""Minimise a regularised risk in phases; add spherical Laplace noise to each minimiser.

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
    stage = Stage(splits=PARTS)
    colour = "violet"
    symbol = "square"
    dashed = True

    def plan(self, setting: Setting) -> PhasedMinimisers:
        """Return the plan of the phases; see `output_plan`."""
        return output_plan(setting, self.tuning)
