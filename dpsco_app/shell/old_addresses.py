"""Addresses of earlier versions, and where they lead now.

Pages had scenarios of their own then: what an old address leaves out is what its page showed.
"""

from collections.abc import Mapping

from dpsco_app.shell import visit
from dpsco_core.catalogue import default_methods, methods_for
from dpsco_core.scenario import Scenario

# Old path -> present path; the front page has none.
OLD = {
    "explore": "",
    "anatomy": "one-run",
    "regimes": "who-wins",
    "theory": "bounds",
    "algorithms": "methods",
}
BASES = {
    "anatomy": Scenario(problem="huber", methods=("sco.clipped",), n=2000, p=2.0, trials=3),
    "regimes": Scenario(
        problem="quadratic",
        methods=("sco.cwme", "sco.smoothed", "sco.cwme-strong", "sco.clipped", "sco.iterative"),
        p=2.0,
    ),
    "theory": Scenario(problem="quadratic", methods=default_methods("quadratic"), p=3.0),
}

# What the questions of Algorithms asked for is in the scenario now.
ANSWERS = {
    ("tails", "moments"): {"p": "4"},
    ("tails", "light"): {"p": "10", "distribution": "gaussian"},
    ("budget", "zcdp"): {"epsilon": "none", "delta": "none", "rho": "0.05"},
    ("budget", "pure"): {"delta": "0"},
}


def at_present(slug: str, query: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the path and the parameters that an old address has now."""
    page, now = OLD[slug], dict(query)
    if page == "bounds" and now.pop("part", "") == "errata":
        return "errata", now
    if page == "methods":
        for question in ("tails", "budget"):
            now |= ANSWERS.get((question, now.pop(question, "")), {})
    if slug not in BASES:
        return page, now
    shown = visit.query(BASES[slug])
    if not {*BASES[slug].methods} & {*methods_for(now.get("problem", shown["problem"]))}:
        del shown["methods"]  # the problem has none of them
    return page, shown | now
