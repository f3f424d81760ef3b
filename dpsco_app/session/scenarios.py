"""The scenario of a visit, and the scenarios of pages that show another one."""

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

    # the nearest scenario that the page can show
    fit: Callable[[Scenario], Scenario] = lambda scenario: scenario
    needs: str = ""  # what the page needs, where that is not the visit's scenario
    sampling: bool = True  # whether the page draws samples, of limited size
    unused_fields: tuple[str, ...] = ()  # fields that mean nothing on the page
    problems: tuple[str, ...] = PROBLEM_SLUGS  # slugs of the problems that the page is about


@dataclass(frozen=True, kw_only=True)
class Page(Address[V]):
    """A page as a visit knows it: its view, and how it uses the scenario."""

    name: str
    use: Use | None = None  # None for a page that is about no scenario


class Scenarios:
    """The scenario of the visit, and those of pages that show another one."""

    def __init__(self, page_scenarios: Mapping[str, Scenario] | None = None) -> None:
        """`first` is what single pages show as long as nobody has chosen anything."""
        self.visit_scenario = BASE
        self._page_scenarios: dict[str, Scenario] = dict(page_scenarios or {})
        self._unchosen = set(
            self._page_scenarios
        )  # the pages that are apart, and nobody has said so

    def scenario_for(self, page: Page[Any]) -> Scenario:
        """Return what a page shows: what was set there alone, or what is nearest to the visit's."""
        return self._page_scenarios.get(page.name) or self._nearest(page)

    def take(self, scenario: Scenario, page: str) -> None:
        """Make a scenario that of the visit, and of every page that nobody has set apart."""
        for name in {page, *self._unchosen}:
            self.show_here(None, name)
        self._unchosen.clear()
        self.visit_scenario = in_order(scenario)

    def begin(self, scenario: Scenario, page: str) -> None:
        """Show a scenario on a page that nobody has chosen: as at the beginning of a visit."""
        self.show_here(scenario, page)
        self._unchosen = {page}

    def show_here(self, scenario: Scenario | None, page: str) -> None:
        """Set what one page shows; without a scenario, what is nearest to the visit's."""
        if scenario is None:
            self._page_scenarios.pop(page, None)
        else:
            self._page_scenarios[page] = in_order(scenario)

    def is_apart(self, page: str) -> bool:
        return page in self._page_scenarios

    def follow(self, controls: Scenario, page: Page[Any]) -> None:
        """Take over what has been changed in a page's controls, and is allowed there.

        A field in which the page shows the visit's value changes for the whole visit, any other one
        for this page alone.
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
        except InvalidInput:  # it fits the page's other values only
            self.visit_scenario = visit_before
        self.show_here(None if controls == self._nearest(page) else controls, page.name)

    def _nearest(self, page: Page[Any]) -> Scenario:
        return in_order(
            page.use.fit(self.visit_scenario) if page.use is not None else self.visit_scenario
        )


def in_order(scenario: Scenario) -> Scenario:
    """Return a scenario with its methods in the order of the catalogue."""
    return replace(scenario, methods=tuple(m for m in METHOD_SLUGS if m in scenario.methods))
