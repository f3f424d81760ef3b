"""The state of the view One run, besides the scenario."""

from dataclasses import dataclass, replace
from typing import Self

from dpsco_app.front import links
from dpsco_app.front.fits import item_level, with_problem
from dpsco_app.session.scenarios import Use
from dpsco_app.shell.page_state import PageState, PageView
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of, to_text
from dpsco_core.catalogue import METHOD_SLUGS, default_methods, method_card
from dpsco_core.explain.anatomy import FACTORS
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.scenario import Scenario

CLIPPED = "sco.clipped"
PROBLEM = "huber"
MOST_TRIALS = 3  # The largest number of trials over which the parts of the error are averaged.


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    # The method of the run; empty for clipped gradients, or without them the first private one.
    method: str = ""
    radius: float = 1.0  # The clip radius over the chosen one, between the ends of `FACTORS`.

    def validate(self) -> Self:
        """Return the view with its radius in the range of `FACTORS`.

        Raises `InvalidInput` for an unknown method or a radius that is no positive number.
        """
        if self.method:
            one_of("method", self.method, METHOD_SLUGS)
        must = f"a factor between {FACTORS[0]:g} and {FACTORS[-1]:g}"
        require(0 < self.radius < 1e6, "radius", must, to_text(self.radius))
        return replace(self, radius=min(max(self.radius, FACTORS[0]), FACTORS[-1]))


def fit(scenario: Scenario) -> Scenario:
    """Return the nearest scenario of which the page can show one run."""
    fitted = item_level(with_problem(scenario, PROBLEM, SCO_PROBLEMS))
    return fitted if offered(fitted) else replace(fitted, methods=default_methods(fitted.problem))


def offered(scenario: Scenario) -> tuple[str, ...]:
    """Return the methods of a scenario of which the page can show one run."""
    cards = (method_card(m) for m in scenario.methods)
    return tuple(c.slug for c in cards if c.privacy != "none" and c.level == "item")


def chosen(scenario: Scenario, view: View) -> str:
    """Return the method whose run is shown: the chosen one, or a default."""
    methods = offered(scenario)
    default = CLIPPED if CLIPPED in methods or not methods else methods[0]
    return view.method if view.method in methods else default


STATE = PageState(
    name="one_run",
    default=View(),
    use=Use(
        fit=fit,
        needs="This page needs an optimisation problem, and m = 1.",
        unused_fields=("m", "axis", "grid", "trials"),
        problems=SCO_PROBLEMS,
    ),
)


def anatomy_query(scenario: Scenario, method: str = "") -> dict[str, str]:
    """Return the parameters of the page for one run of a method at a scenario."""
    return links.query(scenario) | STATE.to_query(View(method=method))
