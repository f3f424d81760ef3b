"""What the controls and the address of the page Methods hold, and its links to other pages."""

from dataclasses import dataclass, replace

from dpsco_app.pages.one_run.state import anatomy_query
from dpsco_app.session.scenarios import Use
from dpsco_app.shell.page_state import PageState, PageView, checked
from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import METHOD_SLUGS, method_card
from dpsco_core.explain.methods.guide import nearest
from dpsco_core.fields import MEAN
from dpsco_core.scenario import Scenario

PARTS = {"which": "Which one", "all": "Every method"}


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    part: str = checked("which", one_of, tuple(PARTS))
    # The slug of the method whose page is shown; empty for the table of all.
    method: str = checked("", one_of, ("", *METHOD_SLUGS))


STATE = PageState(
    name="methods",
    default=View(),
    use=Use(sampling=False, unused_fields=("methods", "axis", "grid", "trials")),
)


def one_run_query(scenario: Scenario, slug: str) -> dict[str, str] | None:
    """Return the query of the page One run for a method; None if that page does not show it."""
    card = method_card(slug)
    if card.level == "user" or card.problems == (MEAN,):
        return None
    return anatomy_query(with_method(scenario, slug), slug)


def with_method(scenario: Scenario, slug: str) -> Scenario:
    """Return the nearest scenario at which a method runs, with this method added to its own."""
    runnable = nearest(scenario, slug)
    return replace(
        runnable, methods=tuple(m for m in METHOD_SLUGS if m in {*runnable.methods, slug})
    )
