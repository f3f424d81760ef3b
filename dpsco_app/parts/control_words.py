"""What controls say beside their names, in the dashboard and on the page without a server."""

from collections.abc import Callable, Collection, Sequence

from dpsco_app.figure.methods import short_names
from dpsco_app.parts.differences import READ
from dpsco_app.parts.evaluations import hardest_law
from dpsco_app.parts.options import inside
from dpsco_core.catalogue import method_card
from dpsco_core.scenario import Scenario

HARDEST_NAME = "Hardest known"
# What a page that folds such controls away calls them at the fold.
NAMES_AT_FOLD = {"geometry": "geometry", "delta": "δ"}


def laws_in_order(options: Sequence[str], scenario: Scenario) -> list[str]:
    """Return the laws to choose from, the hardest known first."""
    law = hardest_law(scenario)
    return sorted(options, key=lambda slug: slug != law)


def law_name(scenario: Scenario) -> Callable[[str], str]:
    """Return what calls a law in the menu of data."""
    law, read = hardest_law(scenario), READ["distribution"]
    return lambda slug: HARDEST_NAME if slug == law else read(slug)


def contents_of_fold(fields: Collection[str]) -> list[str]:
    """Return what a fold names of what is in it, where a page folds away more than others do.

    Examples
    --------
    >>> contents_of_fold({"delta", "geometry", "q"}), contents_of_fold(())
    (['geometry', 'δ'], [])
    """
    return [name for field, name in NAMES_AT_FOLD.items() if field in fields]


def methods_text(scenario: Scenario, lead: str) -> str:
    """Return the best algorithm and of how many it is, or how many are chosen.

    Examples
    --------
    >>> methods_text(Scenario(), "mean.clipped"), methods_text(Scenario(), "")
    ('simple clipping, best of 3', '4 chosen')
    """
    if lead not in scenario.methods:
        return f"{len(scenario.methods)} chosen"
    private = sum(method_card(m).privacy != "none" for m in scenario.methods)
    name = inside(short_names(scenario.methods)[lead])
    return f"{name}{f', best of {private}' * (private > 1)}"
