r"""Lower bounds on the excess risk of one known loss, on the one-hot instance.

The bounds are worst cases over laws of features with mean 0 and of targets that follow the
problem's own model, with gradients of bounded moments. Other lower bounds use linear losses, which
are not in that class: only the bounds of this file bind methods that know the loss.
"""

import math

from dpsco_core.base.cards import OWN, BoundCard, Privacy
from dpsco_core.base.loss_classes import CONVEX
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms
from dpsco_core.bounds.conditions import COORDINATE_MOMENT, moment_scale
from dpsco_core.bounds.euclidean.conditions import DIAMETER
from dpsco_core.bounds.euclidean.lower_spikes import binding_words
from dpsco_core.bounds.instances.level import level_at
from dpsco_core.bounds.instances.prior import APPROXIMATE_BUDGET
from dpsco_core.bounds.letters import SCALE
from dpsco_core.bounds.losses.one_hot import OneHotBounds, largest_value
from dpsco_core.data.hidden.one_hot import OneHot, hidden_corner
from dpsco_core.problems import Absolute, Hinge, Huber, Logistic
from dpsco_core.problems.base import Setting
from dpsco_core.problems.linear_models import LinearModelProblem


def one_hot_at(
    setting: Setting, problem: type[LinearModelProblem], privacy: Privacy
) -> OneHotBounds | None:
    """Return the one-hot bounds of a problem's loss at a setting.

    None says that a constant is missing, that the set has no cube of true parameters, or that the
    budget does not fit.
    """
    constants, scale, level = setting.constants, moment_scale(setting), level_at(setting, privacy)
    if not (
        0 < scale < math.inf and constants.diameter < math.inf and constants.mean_gradient_bound > 0
    ):
        return None
    corner = hidden_corner(setting.body)
    if level is None or corner is None or problem.guess is None:
        return None
    return OneHotBounds(
        n=setting.n,
        moment_order=setting.moment_order,
        corner=corner,
        guess=problem.guess,
        level=level,
        scale=scale,
        mean_bound=constants.mean_gradient_bound,
        diameter=constants.diameter,
    )


CORNERS = Hypothesis(
    text="a set that holds a cube of true parameters",
    check=lambda s: (
        ""
        if math.isinf(s.constants.diameter) or hidden_corner(s.body) is not None
        else "The bound hides the true parameter in the corners of a cube, and none is known in "
        f"{s.body.name}."
    ),
    is_about_set=True,
)
_LEFT: dict[Privacy, str] = {
    "zcdp": r"\big(1-T(\rho B^2)\big),\ 2T\,\mathrm{artanh}\,T=\kappa\text{ at }T(\kappa)",
    "approx": r"o_B,\ o_b=\min_x\big[1-G^{\circ b}(x)+x\big],\ "
    r"G(x)=\min\big(1,\,e^\varepsilon x+\delta,\,1-e^{-\varepsilon}(1-\delta-x)\big)",
}
LETTERS = (
    SCALE,
    Letter("s", "probability of features that are not 0, the best one"),
    Letter("k", "hidden signs"),
    Letter("t", "half the edge of the cube of true parameters"),
    Letter("w", "coordinates of a spiked record that are not 0: 1, or 2 on simplices"),
    Letter("z", "size of the true margins"),
    Letter("h", ""),
    Letter("B", "number of records that tell of a sign, at random"),
    Letter("T", "largest mean size of the posterior mean of a sign"),
    Letter(r"\tau", "share of labels that tell"),
    Letter("o", "mass that two outputs have in common"),
    Letter("G", "largest power against one changed record of a test with false alarm x"),
    Letter("x", ""),
    Letter(r"\kappa", "what the output may tell"),
)
_COUNT = r",\ B\sim\mathrm{Bin}(n,\tfrac sk)"
_CLASS = r",\ z=t\min\big\{g(\tfrac ks)^{1/p},\tfrac Rs\sqrt{\tfrac kw}\big\}"


def _make_row(
    problem: type[LinearModelProblem],
    privacy: Privacy,
    losses: str,
    summary: str,
    price: str,  # LaTeX of the loss of a guess, which multiplies the mean
    ending: str,  # LaTeX of the number B's law, and of what the class allows
    statement: str,
) -> Bound:
    """Return the catalogue's lower bound for one problem's loss and one notion of privacy."""
    slug = problem.card.slug
    notion = "zCDP" if privacy == "zcdp" else "every (ε, δ)"
    card = BoundCard(
        slug=f"lower.sco.{slug}-{'cdp' if privacy == 'zcdp' else 'approx'}",
        name=f"{problem.card.name}, hidden parameter, {notion}",
        paper=OWN,
        statement=statement,
        summary=f"{summary} A worst case over {losses}: features of mean 0 and gradients with "
        f"bounded p-th moments and a mean within R. {binding_words(privacy)}",
        kind="lower",
        quantity="excess risk",
        constant="explicit",
        latex=price + _LEFT[privacy] + ending,
        privacy=privacy,
        instance=OneHot.card.slug,
        proof="hidden signs",
        instance_problem=slug,
        loss_class=CONVEX,
        instance_class=CONVEX,
        losses=losses,
        problems=(slug,),
    )

    def evaluate(setting: Setting) -> Terms:
        """Return the private term of the bound at a setting."""
        bounds, s = one_hot_at(setting, problem, privacy), setting.spike_probability
        if bounds is None:
            return {"privacy": 0.0}
        return {"privacy": largest_value(bounds) if s is None else bounds.value(s)}

    budget = (APPROXIMATE_BUDGET,) if privacy == "approx" else ()
    conditions = (COORDINATE_MOMENT, DIAMETER, CORNERS, *budget)
    return Bound(card=card, evaluate=evaluate, hypotheses=conditions, letters=LETTERS)


_SIGN = "Each record tells of one sign of the true parameter, and privacy hides the few that do."
_ROWS: tuple[tuple[type[LinearModelProblem], str, str, str, str, str], ...] = (
    (
        Absolute,
        "the absolute loss with labels that a linear model gives, up to noise of mean 0",
        f"{_SIGN} The hardest labels have no noise.",
        r"\max_ss\,z\,E",
        _COUNT + _CLASS,
        "docs/theory/bounds-everywhere.md, 6.2",
    ),
    (
        Huber,
        "Huber's loss with labels that a linear model gives, up to noise of mean 0",
        f"{_SIGN} The hardest labels have no noise.",
        r"\max_ss\,h(z)\,E",
        _COUNT + _CLASS + r",\ h(z)=\min\big\{\tfrac{z^2}2,\,z-\tfrac12\big\}\text{ at }z\le1,\ge1",
        "docs/theory/bounds-everywhere.md, 6.2",
    ),
    (
        Hinge,
        "the hinge loss with labels that a margin of at least 1 gives",
        f"{_SIGN} It is weak: the loss of the answer 0 is 1 at every record, so that heavy tails "
        "do not enter, and the best upper bound is about a hundred times larger.",
        r"\max_ss\,E",
        _COUNT + r",\ s\le\min\big\{k(gt)^p,Rt\sqrt{\tfrac kw}\big\}",
        "docs/theory/bounds-everywhere.md, 6.3",
    ),
    (
        Logistic,
        "the logistic loss with labels that a logistic model gives",
        f"{_SIGN} It is weak: the loss of the answer 0 is ln 2 at every record, so that heavy "
        "tails do not enter.",
        r"\max_{s,z}s\big[\ln2-h(\tfrac{1+\tau}2)\big]E",
        r",\ B\sim\mathrm{Bin}(n,\tfrac{s\tau}k),\ \tau=\tanh\tfrac z2"
        + _CLASS.replace("z=", r"z\le ")
        + r",\ h(x)=-x\ln x-(1-x)\ln(1-x)",
        "docs/theory/bounds-everywhere.md, 6.4",
    ),
)
HIDDEN_PARAMETER_RISKS: tuple[Bound, ...] = tuple(
    _make_row(problem, privacy, losses, summary, price, ending, statement)
    for problem, losses, summary, price, ending, statement in _ROWS
    for privacy in ("zcdp", "approx")
)
