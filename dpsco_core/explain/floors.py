"""The floor on the data at hand: whether there is one, and its proof, number by number.

See theory/instance-floors.md, 1 to 4 and 12.
"""

import math
from dataclasses import dataclass, replace

from dpsco_core.bounds.floors.terms import (
    UNEQUAL,
    Notion,
    budget_in,
    costs_at,
    kappa_at,
    mean_radius,
    shape,
    two_shifts,
)
from dpsco_core.bounds.floors.van_trees import mean_constant, prior_information
from dpsco_core.catalogue import (
    HARD_INSTANCES,
    bounds_for,
    distribution_card,
    problem_card,
)
from dpsco_core.privacy.budget import Budget
from dpsco_core.problems import Linear
from dpsco_core.results.report import known_law
from dpsco_core.scenario import Scenario

ALIKE = "Users give each of their items a part in common: no limit is proven on such data."
HARD_DATA_ONLY = (
    "No limit on these data is known: the lower bounds for this loss are about hard data of their "
    "own."
)
NO_LOWER = "No limit on these data is known: no lower bound is proven for this loss."


def no_floor(point: Scenario) -> str:
    """Return why no floor is drawn on the data of a point; empty if one is.

    Examples
    --------
    >>> no_floor(Scenario(distribution="student-t"))
    ''
    >>> no_floor(Scenario(problem="huber", methods=("sco.erm",))).partition(": ")[2]
    'the lower bounds for this loss are about hard data of their own.'
    """
    cards = [b.card for b in bounds_for(point.problem, point.level)]
    if not any(card.of_law for card in cards):
        loss = problem_card(point.problem).loss_class
        has_lower = any(card.kind == "lower" and card.applies_to(loss) for card in cards)
        return HARD_DATA_ONLY if has_lower else NO_LOWER
    if point.distribution in HARD_INSTANCES:
        return "On a hard instance the proven limit is the lower bound on its own prior."
    if point.alike > 0:
        return ALIKE
    law = known_law(point)
    if law is None:
        return "The limit on these data is proven for means in an ℓ₂ ball, and this set is another."
    name = distribution_card(point.distribution).name
    if law.lead > 1 and point.problem == Linear.card.slug:
        return UNEQUAL
    shifts = law.shifts
    if shifts is None:
        return f"{name} does not say what a shift of it tells: no limit is proven on these data."
    if shifts.edge:
        return (
            f"No limit is drawn on these data ({name}): whoever is told the exact shape of this "
            "law finds its edge rather than its mean, with a far smaller error than any method "
            "that is not told. The limit near these data, in the table of bounds, holds here too."
        )
    if point.problem == Linear.card.slug and (point.d == 1 or point.offset == 0):
        return (
            "The limit of the linear loss is over means near that of these data, which must not "
            "be 0, in two dimensions or more."
        )
    return ""


@dataclass(frozen=True, kw_only=True)
class FloorProof:
    """The numbers of the proof of Theorem 1 on the mean problem at a point."""

    notion: Notion
    budget: Budget
    n: int
    d: int
    law: str  # the name of the law of the data
    symmetric: bool
    information: float  # the Fisher information lambda of a record
    kappa: float
    radius: float  # the radius R of the ball of means
    prior: float  # the information J of the prior
    learnt: float  # the information G of the output
    sampling: float  # the lower bound on the mean error that follows from sampling alone
    # The part that privacy adds: its square is added to the squared part of sampling.
    privacy: float
    two_shifts: float  # the lower bound of Theorem 2, from two shifts
    value: float  # the lower bound on the mean error

    @property
    def score(self) -> float:
        """The root mean square norm of the score of one record."""
        return math.sqrt(self.d * self.information)

    @property
    def whole(self) -> float:
        """The Fisher information of all n records together, without privacy."""
        return self.n * self.d * self.information


def floor_proof(point: Scenario, notion: Notion) -> FloorProof | None:
    """Return the proof of the floor on the data of a mean problem, whose coordinates scale alike.

    None where no floor is drawn on these data, and where the scales of coordinates differ.

    Examples
    --------
    >>> proof = floor_proof(Scenario(p=2.0, offset=0.0), "zcdp")
    >>> round(proof.value, 5), round(proof.kappa, 4)
    (0.02577, 0.1338)
    """
    if no_floor(point):
        return None
    setting = replace(point.setting, law=known_law(point), spike_probability=None)
    law_shifts, budget = shape(setting), budget_in(setting, notion)
    radius = mean_radius(setting)
    costs = costs_at(setting, notion, radius)
    if law_shifts is None or budget is None or costs is None:
        return None
    unit = mean_constant(point.d)
    shifts = two_shifts(setting, notion)
    return FloorProof(
        notion=notion,
        budget=budget,
        n=point.n,
        d=point.d,
        law=distribution_card(point.distribution).name,
        symmetric=law_shifts[1].symmetric,
        information=law_shifts[1].information,
        kappa=kappa_at(setting, notion),
        radius=radius,
        prior=prior_information(point.d, radius),
        learnt=1 / (costs.sampling + costs.privacy),
        sampling=unit * math.sqrt(costs.sampling),
        privacy=unit * math.sqrt(costs.privacy),
        two_shifts=shifts,
        value=max(unit / math.sqrt(costs.information), shifts),
    )
