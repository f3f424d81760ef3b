"""What Anatomy's controls and address hold."""

from __future__ import annotations

from dataclasses import replace

from dpsco_app.parts.controls import Panel
from dpsco_app.parts.fields import DETAILS, GROUPS, Control, single_items
from dpsco_app.shell.link import Address
from dpsco_core.base.cards import SCO_PROBLEMS
from dpsco_core.base.parsing import shorten
from dpsco_core.catalogue import method_card
from dpsco_core.explain.anatomy import FACTORS
from dpsco_core.scenario import Scenario

RADIUS = "radius"  # the widget's key and the address's parameter: times the chosen radius
BASE = Scenario(
    problem="huber",
    methods=("sco.clipped",),
    n=2000,
    p=2.0,
    trials=3,
)
ADDRESS = Address(
    name="anatomy",
    base=BASE,
    extras={RADIUS: "1"},
    problems=SCO_PROBLEMS,
    single_items=True,
    some_method=True,
)

_ALGORITHM = (
    Control(
        field="methods",
        kind="method",
        label="Optimiser",
        help="Whose path is drawn. The two figures below the path are about clipped gradients.",
    ),
)
_REPETITION = (
    Control(
        field="trials",
        kind="slider",
        label="Trials",
        help="Repetitions over which the parts of the error are averaged.",
    ),
    Control(
        field="seed",
        kind="integer",
        label="Seed",
        help="Which run is shown: another seed draws other data and other noise.",
    ),
)
_SHARED = tuple(
    (title, single_items(group))
    for title, group in GROUPS
    if title in ("Problem", "Data", "Geometry", "Size")
)
_PRIVACY = tuple((title, group) for title, group in GROUPS if title == "Privacy")

PANEL = Panel(
    name="anatomy",
    prefix="anatomy_",
    groups=(*_SHARED, *_PRIVACY, ("Algorithm", _ALGORITHM), ("Repetition", _REPETITION)),
    details=DETAILS,
    problems=SCO_PROBLEMS,
)


def nearest_factor(text: str, problems: list[str]) -> float:
    """Return the factor that `text` names, the nearest one that is offered; 1 if it names none."""
    try:
        wanted = float(text)
    except ValueError:
        wanted = -1.0
    if not 0 < wanted < 1e6:
        problems.append(
            f"{RADIUS} must be a factor between {FACTORS[0]:g} and {FACTORS[-1]:g}, "
            f"got {RADIUS}={shorten(text)}."
        )
        return 1.0
    return min(FACTORS, key=lambda factor: abs(factor - wanted))


def anatomy_query(scenario: Scenario) -> dict[str, str]:
    """Return the parameters of the page for one run at the chosen point of `scenario`.

    Of clipped gradients if they are among its methods, otherwise of the first private method.
    """
    cards = (method_card(m) for m in scenario.methods)
    private = [c.slug for c in cards if c.privacy != "none" and c.level == "item"]
    clipped = BASE.methods[0]
    method = private[0] if private and clipped not in private else clipped
    axis, grid = BASE.axis, BASE.grid
    point = replace(scenario, m=1, methods=(method,), axis=axis, grid=grid, trials=BASE.trials)
    return ADDRESS.query(point, ADDRESS.extras)
