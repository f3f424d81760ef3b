"""The scenario of the visit, and the scenarios of pages that show a different one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dpsco_app.front.address import Address, V
from dpsco_app.front.links import BASE
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import METHOD_SLUGS, PROBLEM_SLUGS
from dpsco_core.fields import NAMES
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Use:
    """How a page uses the visit's scenario."""

    # The function that returns the nearest scenario that the page can show.
    fit: Callable[[Scenario], Scenario] = lambda scenario: scenario
    # What the page needs of its scenario, in words; empty if it shows the visit's scenario.
    needs: str = ""
    sampling: bool = True  # Whether the page draws samples, whose size is limited.
    unused_fields: tuple[str, ...] = ()  # The fields that have no meaning on the page.
    problems: tuple[str, ...] = PROBLEM_SLUGS  # The slugs of the problems that the page covers.


@dataclass(frozen=True, kw_only=True)
class Page(Address[V]):
    """A page of the dashboard: its name, its view, and how it uses the visit's scenario."""

    name: str
    use: Use | None = None  # How the page uses the scenario; None for a page without one.


class Scenarios:
    """The scenario of the visit, and the scenarios of pages that show a different one."""

    def __init__(self, page_scenarios: Mapping[str, Scenario] | None = None) -> None:
        """Start with `page_scenarios`, which pages show until the visitor chooses something."""
        self.visit_scenario = BASE
        self._page_scenarios: dict[str, Scenario] = dict(page_scenarios or {})
        # The pages with a scenario of their own that the visitor has not chosen.
        self._unchosen = set(self._page_scenarios)

    def scenario_for(self, page: Page[Any]) -> Scenario:
        """Return the scenario of a page: the one set there alone, or the nearest to the visit's."""
        return self._page_scenarios.get(page.name) or self._nearest_scenario(page)

    def take(self, scenario: Scenario, page: str) -> None:
        """Make a scenario that of the visit and of a page, by name.

        Pages whose own scenario the visitor has not chosen show it, too.
        """
        for name in {page, *self._unchosen}:
            self.show_here(None, name)
        self._unchosen.clear()
        self.visit_scenario = with_methods_in_order(scenario)

    def begin(self, scenario: Scenario, page: str) -> None:
        """Show a scenario on one page until the visitor chooses something there."""
        self.show_here(scenario, page)
        self._unchosen = {page}

    def show_here(self, scenario: Scenario | None, page: str) -> None:
        """Set the scenario of one page; without a scenario, use the nearest to the visit's."""
        if scenario is None:
            self._page_scenarios.pop(page, None)
        else:
            self._page_scenarios[page] = with_methods_in_order(scenario)

    def is_apart(self, page: str) -> bool:
        """Return whether a page shows another scenario than the visit."""
        return page in self._page_scenarios

    def follow(self, controls: Scenario, page: Page[Any]) -> None:
        """Apply an allowed change in a page's controls, whose scenario is `controls`.

        A field in which the page shows the visit's value changes for the whole visit; any other
        field changes for this page alone.
        """
        scenario_before, visit_before = self.scenario_for(page), self.visit_scenario
        is_unchosen = page.name in self._unchosen
        changed = {
            name: getattr(controls, name)
            for name in NAMES
            if getattr(controls, name) != getattr(scenario_before, name)
            and (is_unchosen or getattr(scenario_before, name) == getattr(visit_before, name))
        }
        visit_scenario = replace(visit_before, **changed)
        try:
            self.visit_scenario = (
                visit_scenario
                if visit_scenario == controls
                else visit_scenario.validate(DASHBOARD, sampling=False)
            )
        except InvalidInput:  # The value is valid only together with the page's other values.
            self.visit_scenario = visit_before
        self.show_here(None if controls == self._nearest_scenario(page) else controls, page.name)

    def _nearest_scenario(self, page: Page[Any]) -> Scenario:
        """Return the visit's scenario, changed as little as the page needs."""
        return with_methods_in_order(
            page.use.fit(self.visit_scenario) if page.use is not None else self.visit_scenario
        )


def with_methods_in_order(scenario: Scenario) -> Scenario:
    """Return a scenario with its methods in the order of the catalogue."""
    return replace(scenario, methods=tuple(m for m in METHOD_SLUGS if m in scenario.methods))
