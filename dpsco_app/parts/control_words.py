"""The words beside the names of controls, in the dashboard and on the page without a server."""

from collections.abc import Callable, Collection, Sequence

from dpsco_app.figure.methods import short_names
from dpsco_app.parts.differences import READ
from dpsco_app.parts.evaluations import hardest_law
from dpsco_app.parts.options import inside
from dpsco_core.catalogue import method_card
from dpsco_core.scenario import Scenario

HARDEST_NAME = "Hardest known"
# The names that the label of a fold gives to the controls folded in it.
NAMES_AT_FOLD = {"geometry": "geometry", "delta": "δ"}


def laws_in_order(options: Sequence[str], scenario: Scenario) -> list[str]:
    """Return the laws that can be chosen, with the hardest known one first."""
    law = hardest_law(scenario)
    return sorted(options, key=lambda slug: slug != law)


def law_name(scenario: Scenario) -> Callable[[str], str]:
    """Return the function from a law's slug to its name in the menu of data of a scenario."""
    law, read = hardest_law(scenario), READ["distribution"]
    return lambda slug: HARDEST_NAME if slug == law else read(slug)


def contents_of_fold(fields: Collection[str]) -> list[str]:
    """Return the names of the folded controls that other pages show openly.

    Examples
    --------
    >>> contents_of_fold({"delta", "geometry", "q"}), contents_of_fold(())
    (['geometry', 'δ'], [])
    """
    return [name for field, name in NAMES_AT_FOLD.items() if field in fields]


def methods_text(scenario: Scenario, lead: str) -> tuple[str, str]:
    """Return the label and the value that sum up the chosen methods; `lead` is the best one.

    As long as none is known to be the best, the value is how many algorithms are chosen.

    Examples
    --------
    >>> methods_text(Scenario(), "mean.clipped"), methods_text(Scenario(), "")
    (('3 algorithms, best:', 'simple clipping'), ('Algorithms', '4 chosen'))
    """
    if lead not in scenario.methods:
        return "Algorithms", f"{len(scenario.methods)} chosen"
    private = sum(method_card(m).privacy != "none" for m in scenario.methods)
    name = inside(short_names(scenario.methods)[lead])
    return (f"{private} algorithms, best:" if private > 1 else "Algorithm", name)
