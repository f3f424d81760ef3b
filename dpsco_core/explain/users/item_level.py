"""What it would cost to protect every item by itself, where users have several: a run beside."""

from dataclasses import replace

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.catalogue import default_methods, method_card, methods_for
from dpsco_core.scenario import Scenario


def item_level(scenario: Scenario) -> Scenario:
    """Return the scenario with as many items, each of which is a record that is protected alone.

    It has n m records of the same law, and the private methods of a scenario that names none.

    Raises `InvalidInput` if users have one item, if their items are alike, over an axis, and for a
    law that depends on n.

    Examples
    --------
    >>> point = item_level(Scenario(n=1000, m=5, methods=("user.mean-clipped",)))
    >>> point.n, point.m, point.methods
    (5000, 1, ('mean.clipped', 'mean.cwme-cdp', 'mean.adaptive'))
    """
    require(scenario.axis is None, "axis", "left out beside item-level", scenario.axis)
    require(scenario.m > 1, "m", "above 1 with item-level", scenario.m)
    require(scenario.alike == 0, "alike", "0 with item-level: items are records", scenario.alike)
    usual, fitting = default_methods(scenario.problem), methods_for(scenario.problem, "item")
    private = tuple(slug for slug in fitting if method_card(slug).privacy != "none")
    methods = tuple(slug for slug in usual if slug in private) or private[:1]
    count = scenario.n * scenario.m
    point = replace(scenario, n=count, m=1, methods=methods).validate()
    if point.instance.law != scenario.instance.law:
        raise InvalidInput(
            "distribution must be one that does not depend on n with item-level, "
            f"got distribution={scenario.distribution}."
        )
    return point
