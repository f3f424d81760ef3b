"""The state of the page Lower bounds in its controls and its address."""

from dataclasses import dataclass, replace
from typing import Any

from dpsco_app.front.fits import item_level, with_problem
from dpsco_app.parts.page import Scene
from dpsco_app.session.scenarios import Use
from dpsco_app.shell.page_state import PageState, PageView, checked
from dpsco_core.base.parsing import one_of, real
from dpsco_core.explain.fano.instance import MeanInstance
from dpsco_core.explain.window import Notion, notions_of
from dpsco_core.fields import MEAN
from dpsco_core.scenario import Scenario

PARTS = {"gap": "The window", "prove": "The proof"}
SWEEPS = ("n", "d", "strength", "p")  # The strength is the budget's epsilon or rho.
WHOM_NAMES = {"every": "Every (ε, δ) algorithm", "zcdp": "Every zCDP algorithm"}
PROOF_NAMES = {
    "hypercube": "All sign patterns",
    "spike": "The paper's packing",
    "tracing": "Tracing",
    "data": "On your data",
}
SHIFT_OPTIONS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1, 1.4, 2, 3, 5, 10, 20)


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    """What the page shows: the window along a field, or one of the proofs."""

    part: str = checked("gap", one_of, tuple(PARTS))
    over: str = checked("n", one_of, SWEEPS)  # The field along which the window is drawn.
    hard: str = checked("hypercube", one_of, tuple(PROOF_NAMES))  # The proof that is shown.
    # The algorithms that a proof binds under an (epsilon, delta) budget: all of them, or the zCDP
    # ones at the rho of Gaussian noise.
    whom: str = checked("every", one_of, tuple(WHOM_NAMES))
    # The spike probability of the proof, as a multiple of the best one.
    shift: float = checked(1.0, real, 1e-3, 1e3)


def notion_of_proof(view: View, scenario: Scenario) -> Notion:
    """Return the notion of privacy that a proof is about: the budget's, or zCDP if chosen."""
    notion = notions_of(scenario)[0]
    return "zcdp" if notion == "approx" and view.whom == "zcdp" else notion


def instance_of(view: View, scenario: Scenario) -> MeanInstance:
    """Return the hard instance of the chosen proof at the scenario's sizes and budget.

    Raises `InvalidInput` for a spike or a bias in dimension 1.
    """
    point = replace(
        scenario, distribution=view.hard, offset=min(1.0, scenario.diameter / 2), axis=None, grid=()
    )
    return MeanInstance(scenario=point.validate(sampling=False))


def fit(scenario: Scenario) -> Scenario:
    """Return the nearest scenario that the page can show: a mean at item level in the l2 ball."""
    hard = with_problem(item_level(scenario), MEAN, (MEAN,))
    axis, grid = (hard.axis, hard.grid) if hard.axis != "q" else (None, ())
    return replace(hard, geometry="l2", q=None, m=1, axis=axis, grid=grid)


STATE = PageState(
    name="lower",
    default=View(),
    has_presets=True,
    use=Use(
        fit=fit,
        needs="The proof is about a mean in the round ball.",
        sampling=False,
        unused_fields=(
            *("distribution", "offset", "margin", "m", "geometry", "q"),
            *("methods", "axis", "grid", "tuning", "calibration"),
        ),
        problems=(MEAN,),
    ),
)

_SIGNS: dict[str, Any] = {"part": "prove", "hard": "hypercube", "shift": 1.0}
_SIZES: dict[str, Any] = {"problem": MEAN, "n": 10_000, "d": 200, "p": 4.0, "diameter": 4.0}
SCENES = (
    Scene(
        name="Privacy bites",
        look_for="ρ = 0.01: the limit with privacy, 0.32, is 2.5 times what 10,000 records cost "
        "without privacy, 0.127.",
        changes=_SIGNS,
        scenario=_SIZES | {"rho": 0.01, "epsilon": None, "delta": None},
    ),
    Scene(
        name="Statistics bites",
        look_for="ρ = 2: the limit of zCDP algorithms, 0.030, falls below the 0.127 that sampling "
        "alone costs. Privacy of this strength is not what limits the accuracy.",
        changes=_SIGNS,
        scenario=_SIZES | {"rho": 2.0, "epsilon": None, "delta": None},
    ),
    Scene(
        name="The constant is 15 times too small",
        look_for="ρ = 0.5 on the paper's own packing: with its best spike probability it proves "
        "0.0035, tracing 0.0538. With the constant 1 that the paper prints the packing proves "
        "nothing at all.",
        changes=_SIGNS | {"hard": "spike"},
        scenario=_SIZES | {"rho": 0.5, "epsilon": None, "delta": None},
    ),
    Scene(
        name="Pure costs more",
        look_for="Pure DP at ε = 1: its proven limit is 0.227, that of the zCDP algorithms it "
        "implies (ρ = ½) 0.054. Laplace noise pays for the dimension d, Gaussian noise for √d.",
        changes=_SIGNS,
        scenario=_SIZES | {"rho": None, "epsilon": 1.0, "delta": 0.0},
    ),
)
