"""The state of the view Who wins."""

from dataclasses import dataclass, replace

from dpsco_app.front.fits import item_level
from dpsco_app.session.scenarios import Use
from dpsco_app.shell.page_state import PageState, PageView, checked
from dpsco_core.base.parsing import one_of
from dpsco_core.explain.contest import READINGS, Reading
from dpsco_core.explain.regimes import Plane, axis_values
from dpsco_core.scenario import Scenario

PLANES = {"n-epsilon": "n and ε", "d-epsilon": "d and ε", "n-p": "n and p"}
ENDS = {"n": (100, 1_000_000), "d": (1, 1000), "epsilon": (0.01, 10), "p": (2, 20)}
# Columns and rows of a map.
SIZES: dict[Reading, tuple[int, int]] = {"rates": (33, 25), "proven": (17, 13), "measured": (9, 7)}


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    plane: str = checked("n-epsilon", one_of, tuple(PLANES))  # The axes of the map.
    # Whether methods are compared by measured errors, proven bounds or rates.
    reading: Reading = checked("measured", one_of, READINGS)


def with_plane(view: View, scenario: Scenario) -> View:
    """Return the view, with the scenario's first plane if the scenario lacks the view's own."""
    offered = planes_for(scenario)
    return view if view.plane in offered else replace(view, plane=offered[0])


STATE = PageState(
    name="who_wins",
    default=View(),
    fit_view=with_plane,
    use=Use(
        fit=item_level,
        needs="This page needs m = 1, one item per user.",
        sampling=False,
        unused_fields=("m", "axis", "grid", "trials"),
    ),
)


def plane(name: str, point: Scenario, size: tuple[int, int]) -> Plane:
    """Return the plane named by its fields, as in ``"n-epsilon"``, with the point in one cell.

    `size` is the number of its columns and rows.
    """
    x, y = name.split("-")
    return Plane(
        x_axis=x,
        y_axis=y,
        x=axis_values(x, *ENDS[x], size[0], included=float(getattr(point, x))),
        y=axis_values(y, *ENDS[y], size[1], included=float(getattr(point, y))),
    )


def planes_for(scenario: Scenario) -> tuple[str, ...]:
    """Return the names of the planes that suit a scenario.

    A zCDP budget has no epsilon, and groups of coordinates need a d that they divide.
    """
    excluded = "epsilon" if scenario.rho is not None else "none"
    grouped = scenario.geometry == "group-l1"
    return tuple(name for name in PLANES if excluded not in name and not (grouped and "d-" in name))
