"""The state of the page Users in its controls and its address."""

from dataclasses import dataclass, replace

from dpsco_app.front.fits import with_problem
from dpsco_app.session.scenarios import Use
from dpsco_app.shell.page_state import PageState, PageView, checked
from dpsco_core.base.limits import DASHBOARD, ITEM_BLOCKS
from dpsco_core.base.parsing import one_of, real
from dpsco_core.catalogue import default_methods, method_card
from dpsco_core.explain.contest import READINGS, Reading
from dpsco_core.explain.users.alike import alike_scenario
from dpsco_core.explain.users.crossing import LAW, OFFSET
from dpsco_core.fields import MEAN
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.scenario import Scenario, default_grid

# The parts of the page, each with its question.
PARTS = {
    "crossing": "When a filter pays",
    "alike": "Items that are alike",
    "map": "Which is best where",
    "feasibility": "How many users",
}
# The ranges of the figures, which bound the cost of the measured runs.
ENDS = {
    "n": (500, 100_000),
    "m": (1, 1_000_000),
    "d": (1, 20),
    "epsilon": (0.1, 10),
    "delta": (1e-12, 1e-4),
    "trials": (1, 50),
}
PROBLEM = "quadratic"  # The problem of the measured runs.
# The numbers of items per user that replace a single item: on this page, where filters pay off, and
# in the link to a mean.
DEFAULT_ITEMS, FEW_ITEMS = 100_000, 50


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    part: str = checked("crossing", one_of, tuple(PARTS))
    basis: Reading = checked("measured", one_of, READINGS)  # The quantity that the map compares.
    # The share that the items of a user have in common, for the part on alike items.
    share: float = checked(0.1, real, 0.0, 1.0)


def user_level(scenario: Scenario) -> UserLevel:
    """Return the sizes and budget of a scenario for theorems at user level.

    Risks are then in units of L R, for losses with Lipschitz constant L and smoothness L/R on a set
    of radius R.
    """
    assert scenario.epsilon is not None and scenario.delta is not None
    return UserLevel(
        n=scenario.n,
        m=scenario.m,
        d=scenario.d,
        epsilon=scenario.epsilon,
        delta=scenario.delta,
        smoothness=1.0,
    )


def alike_study(scenario: Scenario, alike: float) -> Scenario:
    """Return the study of a mean, over m, of users whose items have a share in common."""
    assert scenario.epsilon is not None and scenario.delta is not None
    return alike_scenario(
        alike=alike,
        n=scenario.n,
        d=scenario.d,
        p=scenario.p,
        epsilon=scenario.epsilon,
        delta=scenario.delta,
        trials=scenario.trials,
        seed=scenario.seed,
    ).validate(DASHBOARD)


def mean_over_items(scenario: Scenario) -> Scenario:
    """Return the mean estimation on a scenario's data over m, up to its items per user."""
    mean = with_problem(scenario, MEAN, (MEAN,))
    room = max(2, ITEM_BLOCKS * DASHBOARD.elements // (mean.n * mean.d))
    most_items = min(mean.m if mean.m > 1 else FEW_ITEMS, room)
    return replace(
        mean,
        m=most_items,
        methods=default_methods(MEAN, "user"),
        axis="m",
        grid=(*(m for m in default_grid("m", mean.geometry) if m < most_items), most_items),
    )


def fit(scenario: Scenario) -> Scenario:
    """Return the nearest scenario of users with several items whose sizes this page can run."""
    fitted = with_problem(scenario, PROBLEM, (PROBLEM,))
    cards = [method_card(m) for m in fitted.methods]
    if any(c.level == "item" and c.privacy != "none" for c in cards):
        fitted = replace(fitted, methods=default_methods(fitted.problem, "user"))
    fitted = replace(
        fitted,
        distribution=LAW,
        offset=min(OFFSET, fitted.diameter / 2),
        decay=0.0,
        rho=None,
        epsilon=fitted.epsilon or 1.0,
        delta=fitted.delta or 1e-6,
        m=DEFAULT_ITEMS if fitted.m == 1 else fitted.m,
    )
    # All coordinates of this page's law have the same scale.
    if fitted.axis == "decay":
        fitted = replace(fitted, axis=None, grid=())
    clamped = {k: min(max(getattr(fitted, k), low), high) for k, (low, high) in ENDS.items()}
    return replace(fitted, **clamped)


STATE = PageState(
    name="users",
    default=View(),
    # The part on alike items draws a mean over m, so the scenario's problem and m do not matter.
    unused_fields=lambda view: ("problem", "m") if view.part == "alike" else (),
    use=Use(
        fit=fit,
        needs="This page needs users with several items, an (ε, δ) budget and the squared "
        "distance.",
        sampling=False,
        unused_fields=(
            *("distribution", "decay", "offset", "margin", "geometry", "q", "diameter", "rho"),
            *("methods", "axis", "grid", "tuning", "calibration"),
        ),
        problems=(PROBLEM,),
    ),
)
