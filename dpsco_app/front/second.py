"""The second panel: the hardest data, another tail, another set, or a pinned run."""

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from urllib.parse import urlencode

from dpsco_app.front.links import BASE, parameters, query
from dpsco_app.front.study import Role
from dpsco_app.parts.differences import differences
from dpsco_app.parts.evaluations import hardest, has_hardest_law
from dpsco_app.parts.options import HARDEST, NO_SET, PIN, SYMBOL, TAIL, inside
from dpsco_app.parts.problem_words import geometry_name, words_for
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import shorten
from dpsco_core.geometry import GEOMETRIES
from dpsco_core.results.findings import with_other_tail
from dpsco_core.scenario import Scenario

# l_q balls are left out, since the exponent of a second one would need a control of its own.
SECONDS = (HARDEST, TAIL, NO_SET, *(kind for kind in GEOMETRIES if kind != "lq"))
LONGEST = 2000  # The largest number of characters of a pinned scenario in the address.


@dataclass(frozen=True, kw_only=True)
class Companions:
    """The scenarios that run together with the scenario of the controls."""

    second_scenario: Scenario | None = None  # The scenario of the second panel.
    role: Role = "hardest"  # What the second panel shows.
    overlay: Scenario | None = None  # The pinned run, drawn dashed in the first panel.

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The scenarios that run beside the visitor's, if there are any."""
        return tuple(s for s in (self.second_scenario, self.overlay) if s is not None)


def companions_of(scenario: Scenario, kind: str, pin: str, card: str = "") -> Companions:
    """Return the companions of a scenario.

    `kind` says what the second panel shows, `pin` is the text of a pinned scenario or empty, and
    `card` the open question, which may need other data.
    """
    pinned_scenario = pinned(pin)
    if (
        pinned_scenario is not None
        and pinned_scenario != scenario
        and not fit_one_panel(pinned_scenario, scenario)
    ):
        return Companions(second_scenario=pinned_scenario, role="pin")
    overlay = None if pinned_scenario == scenario else pinned_scenario
    if card == "data" and kind == NO_SET and pinned_scenario is None:
        return Companions(second_scenario=other_data(scenario), role="data")
    if kind == HARDEST:
        return Companions(second_scenario=hardest(scenario), overlay=overlay)
    if kind == TAIL:
        return Companions(second_scenario=with_other_tail(scenario), role="tail", overlay=overlay)
    if kind in (NO_SET, scenario.geometry) or scenario.axis == "q":
        return Companions(overlay=overlay)
    return Companions(
        second_scenario=replace(scenario, geometry=kind, q=None), role="set", overlay=overlay
    )


def other_data(scenario: Scenario) -> Scenario | None:
    """Return the scenario on textbook data if its own are the hardest known, else on the hardest.

    The answer is None if no hardest data are known.
    """
    if has_hardest_law(scenario):
        return replace(scenario, distribution=Scenario.distribution)
    return hardest(scenario)


def second_name(kind: str) -> str:
    """Return the name of what the second panel can show, for the menu."""
    names = {NO_SET: "nothing", TAIL: "a light tail", HARDEST: "the hardest data known"}
    return names.get(kind) or f"the {geometry_name(kind)}"


def fit_one_panel(a: Scenario, b: Scenario) -> bool:
    """Return whether two scenarios fit into one panel: same axis and same quantity."""
    same = words_for(a.problem).quantity == words_for(b.problem).quantity
    return same and a.axis == b.axis


def pin_text(scenario: Scenario) -> str:
    """Return a scenario as text for a single parameter of an address, in the form of a query."""
    return urlencode(query(scenario))


@lru_cache(maxsize=256)
def checked_pin(text: str) -> str:
    """Return the canonical form of a pinned scenario's text, or an empty text unchanged.

    Raises `InvalidInput` if the text holds no scenario that can run.
    """
    try:
        return pin_text(_parsed(text)) if text else ""
    except InvalidInput as problem:
        sentence = f"{PIN} holds no scenario that can be run. {problem}"
        raise InvalidInput(sentence) from None


@lru_cache(maxsize=256)
def pinned(text: str) -> Scenario | None:
    """Return the scenario of a text made by `pin_text`; None if the text is empty."""
    return _parsed(text) if text else None


def _parsed(text: str) -> Scenario:
    """Return the scenario of a query; raise `InvalidInput` if the dashboard does not allow it."""
    require(len(text) <= LONGEST, PIN, f"at most {LONGEST:,} characters", shorten(text))
    max_fields = len(fields(Scenario))
    try:
        query = parameters(text, max_fields=max_fields)
    except ValueError:
        require(False, PIN, "a query such as epsilon=1&p=3", shorten(text))
    scenario = Scenario.from_dict(query, BASE).validate(DASHBOARD)
    require(bool(scenario.methods), "methods", "at least one", "none")
    return scenario


def in_short(pinned_scenario: Scenario, scenario: Scenario) -> str:
    """Return how a pinned scenario differs from the present one, as in "ε = 1, p = 3"."""
    texts = []
    for difference in differences(scenario, pinned_scenario):
        sign = " =" if difference.field in SYMBOL else ""
        name = difference.name if sign else inside(difference.name)
        texts.append(f"{name}{sign} {difference.there}")
    return ", ".join(texts)
