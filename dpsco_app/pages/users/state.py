"""What the controls and the address of the page Users hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsco_app.parts.page import Scene
from dpsco_app.shell import visit
from dpsco_app.shell.page_state import PageState, PageView, held
from dpsco_core.base.limits import SEED_MAX
from dpsco_core.base.parsing import one_of, real, whole
from dpsco_core.catalogue import default_methods, method_card
from dpsco_core.explain.contest import READINGS
from dpsco_core.explain.users.crossing import FILTERED, PLAIN
from dpsco_core.explain.users.regions import LOSSES
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.scenario import Scenario

PARTS = ("crossing", "map", "feasibility", "gradients")
OTHERS = ("user.phased-sgd", "user.accelerated-strong", "user.group-privacy")
# What the figures are drawn for, and the measured runs may cost.
N_ENDS, EPSILON_ENDS, DELTA_ENDS = (500, 100_000), (0.1, 10), (1e-12, 1e-4)
MOST_ITEMS, MOST_DIMENSIONS, MOST_TRIALS = 1_000_000, 20, 50
PROBLEM = "quadratic"  # of everything that is measured here
CONDITION_OPTIONS = (0.01, 0.1, 1, 10, 100)


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    part: str = held("crossing", one_of, PARTS)
    # users, items per user, dimension
    n: int = held(10_000, whole, *N_ENDS)
    m: int = held(100, whole, 1, MOST_ITEMS)
    d: int = held(10, whole, 1, MOST_DIMENSIONS)
    # the budget of one user
    epsilon: float = held(1.0, real, *EPSILON_ENDS)
    delta: float = held(1e-6, real, *DELTA_ENDS)
    # smoothness in units of L/R
    condition: float = held(1.0, real, CONDITION_OPTIONS[0], CONDITION_OPTIONS[-1])
    basis: str = held("measured", one_of, READINGS)  # what the map compares
    loss: str = held("smooth", one_of, LOSSES)  # of the rates
    also: str = ""  # further methods that are measured, of `OTHERS`, separated by commas
    # of the measured crossover
    trials: int = held(10, whole, 1, MOST_TRIALS)
    seed: int = held(0, whole, 0, SEED_MAX)

    def validate(self) -> View:
        for slug in self.others:
            one_of("also", slug, OTHERS)
        return super().validate()

    @property
    def others(self) -> tuple[str, ...]:
        """The further methods, in the order of `OTHERS` where they are known."""
        return tuple(dict.fromkeys(slug for slug in self.also.split(",") if slug))

    @property
    def methods(self) -> tuple[str, ...]:
        return (FILTERED, PLAIN, *self.others)

    @property
    def level(self) -> UserLevel:
        """The chosen point, in units of L and R."""
        return UserLevel(
            n=self.n,
            m=self.m,
            d=self.d,
            epsilon=self.epsilon,
            delta=self.delta,
            smoothness=self.condition,
        )


DEFAULT = View()
OF_BOTH = ("n", "d", "epsilon", "delta", "trials", "seed")  # fields of a view and a scenario


def fit(scenario: Scenario) -> Scenario:
    """Return the nearest scenario of users with several items, of sizes that are measured here."""
    found = visit.with_problem(scenario, PROBLEM, (PROBLEM,))
    if found.m == 1:
        found = replace(found, m=DEFAULT.m)
    cards = [method_card(m) for m in found.methods]
    if any(c.level == "item" and c.privacy != "none" for c in cards):
        found = replace(found, methods=default_methods(found.problem, "user"))
    if found.rho is not None:
        found = replace(found, rho=None, epsilon=DEFAULT.epsilon, delta=DEFAULT.delta)
    between = {"n": N_ENDS, "epsilon": EPSILON_ENDS, "delta": DELTA_ENDS}
    between |= {"m": (1, MOST_ITEMS), "d": (1, MOST_DIMENSIONS), "trials": (1, MOST_TRIALS)}
    values = {name: getattr(found, name) or getattr(DEFAULT, name) for name in between}
    ends = between.items()
    return replace(found, **{k: min(max(values[k], low), high) for k, (low, high) in ends})


def fill(view: View, scenario: Scenario) -> View:
    """Return the view at the sizes and the budget of a scenario."""
    assert scenario.epsilon is not None and scenario.delta is not None
    return replace(view, m=scenario.m, **{f: getattr(scenario, f) for f in OF_BOTH})


STATE = PageState(
    name="users",
    default=DEFAULT,
    lists=("also",),
    fill=fill,
    filled=("m", *OF_BOTH),
    use=visit.Use(
        fit=fit,
        why="These figures are about users with several items, an (ε, δ) budget and the squared "
        "distance.",
        sampling=False,
        without=(
            *("distribution", "p", "offset", "margin", "geometry", "q", "diameter", "rho"),
            *("methods", "axis", "grid", "tuning", "calibration"),
        ),
        problems=(PROBLEM,),
    ),
)

_AT = {"d": 10, "rho": None, "epsilon": 1.0, "delta": 1e-6}
SCENES = (
    Scene(
        name="Where the filter pays",
        look_for="n = 10,000 and ε = 1: clipped user gradients do not get better with m, filtered "
        "gradients do, and they cross near a thousand items per user.",
        changes={"part": "crossing", "also": ""},
        scenario=_AT | {"n": 10_000, "trials": 10},
    ),
    Scene(
        name="More budget, earlier",
        look_for="At ε = 5 the test takes a smaller share of the users away: the crossover comes "
        "at fewer items.",
        changes={"part": "crossing"},
        scenario=_AT | {"n": 10_000, "epsilon": 5.0, "trials": 10},
    ),
    Scene(
        name="Few users",
        look_for="With 2,000 users the printed constants are out of reach, and the calibrated ones "
        "run with a noise that only many items make small.",
        changes={"part": "feasibility"},
        scenario=_AT | {"n": 2000},
    ),
    Scene(
        name="The constant is proven",
        look_for="With every constant in place, group privacy has the smallest bound nearly "
        "everywhere; the filters win at a million items per user.",
        changes={"part": "map", "basis": "proven"},
    ),
)
