"""Addresses of earlier versions, and where they lead now.

Pages had scenarios of their own then: what an old address leaves out is what its page showed.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsco_app.shell import visit
from dpsco_core.catalogue import default_methods
from dpsco_core.scenario import Scenario

BASES = {
    "anatomy": Scenario(problem="huber", methods=("sco.clipped",), n=2000, p=2.0, trials=3),
    "regimes": Scenario(
        problem="quadratic",
        methods=("sco.cwme", "sco.smoothed", "sco.cwme-strong", "sco.clipped", "sco.iterative"),
        p=2.0,
    ),
    "theory": Scenario(problem="quadratic", methods=default_methods("quadratic"), p=3.0),
}


def at_present(page: str, query: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of an old address as they are written now."""
    base = BASES.get(page)
    before = {} if base is None else visit.query(base)
    return before | dict(query)
