"""What the controls and the address of the page Methods hold, and its links to other pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from dpsco_app.pages.one_run.state import anatomy_query
from dpsco_app.parts.problem_words import MEAN
from dpsco_app.shell import visit
from dpsco_app.shell.page_state import PageState
from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import METHOD_SLUGS, method_card
from dpsco_core.explain.methods.guide import nearest
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class View:
    method: str = ""  # the slug of the method that is told; empty for the overview
    slow: bool = False  # whether the methods that take their time are measured too
    every: bool = True  # whether the table shows the methods that do not run here too

    def validate(self) -> View:
        if self.method:
            one_of("method", self.method, METHOD_SLUGS)
        return self


DEFAULT = View()
STATE = PageState(
    name="methods",
    default=DEFAULT,
    use=visit.Use(without=("methods", "axis", "grid", "trials")),
)
ORDER: tuple[str, ...] = ("", *METHOD_SLUGS)


def neighbours(method: str) -> tuple[str | None, str | None]:
    """Return the pages before and after that of a method; the overview comes first."""
    padded = (None, *ORDER, None)
    at = padded.index(method)
    return padded[at - 1], padded[at + 1]


method_scenario = lru_cache(maxsize=1000)(nearest)


def method_anatomy_query(scenario: Scenario, slug: str) -> dict[str, str] | None:
    """Return the address of one run of a method; None where that view does not show it."""
    card = method_card(slug)
    if card.level == "user" or card.problems == (MEAN,):
        return None
    return anatomy_query(with_method(scenario, slug), slug)


def with_method(scenario: Scenario, slug: str) -> Scenario:
    """Return the nearest scenario at which a method runs, with it among the methods."""
    found = method_scenario(scenario, slug)
    return replace(found, methods=tuple(m for m in METHOD_SLUGS if m in {*found.methods, slug}))
