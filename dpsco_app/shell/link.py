"""The whole state in the address: read at the start and when it changes, written at every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import streamlit as st

from dpsco_app.pages.explore.presets import DEFAULT
from dpsco_app.parts.options import AGAINST, LARGEST_SEED, NO_SET, PIN, SHOW, SIDE, VIEWS
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import parse_field, shorten
from dpsco_core.catalogue import PROBLEM_SLUGS, method_card
from dpsco_core.runs.allowed import with_fitting_grid
from dpsco_core.scenario import Scenario

BASE = DEFAULT.scenario


@dataclass(frozen=True, kw_only=True)
class Found:
    """What an address says: the scenario, the page's own parameters, what is wrong."""

    scenario: Scenario
    extras: dict[str, str]
    problems: list[str]


@dataclass(frozen=True, kw_only=True)
class Address:
    """The address of one page.

    Parameters
    ----------
    name : str
        Of the page, for its keys in the session.
    base : Scenario
        What a field is that the address leaves out.
    extras : mapping
        The page's own parameters with their defaults.
    sampling : bool
        Whether the page draws samples, of limited size.
    problems : tuple of str
        Slugs of the problems that the page is about.
    single_items : bool
        Whether every record is its own user on the page.
    some_method : bool
        Whether the page is about a method, and needs one.
    """

    name: str
    base: Scenario
    extras: Mapping[str, str] = field(default_factory=dict)
    sampling: bool = True
    problems: tuple[str, ...] = PROBLEM_SLUGS
    single_items: bool = False
    some_method: bool = False

    @property
    def known(self) -> set[str]:
        """The parameters that the page reads."""
        return {*self.base.to_dict(), *self.extras}

    @property
    def _written(self) -> str:
        return f"{self.name}_address"

    def present(self) -> dict[str, str]:
        """Return the parameters of the present address that the page reads."""
        return {k: v for k, v in st.query_params.to_dict().items() if k in self.known}

    def read(self, *, again: bool = False) -> Found | None:
        """Return what the address says if it is new.

        A field that cannot be read, or is not allowed, is left at its default, the others are kept,
        and there is one sentence for each. None: the address is the one that this session wrote,
        unless it is to be read `again`.
        """
        query = self.present()
        if not again and st.session_state.get(self._written) == query:
            return None
        st.session_state[self._written] = dict(query)
        extras = {name: query.pop(name, default) for name, default in self.extras.items()}
        problems: list[str] = []
        readable: dict[str, str] = {}
        for name in [name for name in self.base.to_dict() if name in query]:
            try:
                parse_field(name, query[name])
                readable[name] = query[name]
            except InvalidInput as problem:
                problems.append(str(problem))
        return Found(scenario=self._scenario(readable, problems), extras=extras, problems=problems)

    def _scenario(self, query: dict[str, str], problems: list[str]) -> Scenario:
        try:
            return self._allowed(query)
        except InvalidInput as problem:
            problems.append(str(problem))
        kept: dict[str, str] = {}
        for name, value in query.items():  # keep every field that is allowed with those before it
            try:
                self._allowed({**kept, name: value})
                kept[name] = value
            except InvalidInput:
                continue  # the sentence has been said above
        return self._allowed(kept)

    def _allowed(self, query: dict[str, str]) -> Scenario:
        found = Scenario.from_query(query, self.base)
        if self.sampling and "grid" not in query:  # nobody has asked for its largest points
            found = with_fitting_grid(found, DASHBOARD)
        # A control that is given a larger one shows its default, without a word.
        must = f"at most {LARGEST_SEED:,} for {DASHBOARD.where}"
        require(found.seed <= LARGEST_SEED, "seed", must, found.seed)
        allowed = found.problem in self.problems
        require(allowed, "problem", f"one of {', '.join(self.problems)} here", found.problem)
        require(bool(found.methods) or not self.some_method, "methods", "at least one", "none")
        if self.single_items:
            require(found.m == 1, "m", "1 here", found.m)
            for slug in found.methods:
                single = method_card(slug).level == "item"
                require(single, "method", "one at item level here", slug)
        return found.validate(DASHBOARD, sampling=self.sampling)

    def query(self, scenario: Scenario, extras: Mapping[str, str]) -> dict[str, str]:
        """Return the state of the page as parameters; what is at its default is left out."""
        changed = {name: text for name, text in extras.items() if text != self.extras[name]}
        return scenario.to_query(self.base) | changed

    def write(self, scenario: Scenario, extras: Mapping[str, str]) -> None:
        """Put the state into the address, leaving other parameters alone."""
        query = self.query(scenario, extras)
        if st.session_state.get(self._written) == query == self.present():
            return
        others = {k: v for k, v in st.query_params.to_dict().items() if k not in self.known}
        st.query_params.from_dict({**others, **query})
        st.session_state[self._written] = query

    def text(self, scenario: Scenario, extras: Mapping[str, str]) -> str:
        """Return the whole address, to be copied."""
        query = urlencode(self.query(scenario, extras))
        page = (st.context.url or "").split("?")[0]
        return f"{page}?{query}" if query else page


SIDES = ("no", "yes")
EXPLORE = Address(
    name="explore",
    base=BASE,
    extras={SHOW: VIEWS[0], AGAINST: NO_SET, PIN: "", SIDE: SIDES[0]},
)


def explore_extras() -> dict[str, str]:
    """Return Explore's own parameters as they are in this session."""
    state = st.session_state
    views = views_text(state[SHOW], state[AGAINST])
    return views | {PIN: state[PIN], SIDE: SIDES[bool(state[SIDE])]}


def views_text(views: list[str], against: str = NO_SET) -> dict[str, str]:
    """Return Explore's own parameters: the views that are shown, and the set drawn beside."""
    return {SHOW: ",".join(views) or "none", AGAINST: against}


def read_views(text: str, problems: list[str]) -> list[str]:
    """Return the views that `text` names; a name that is not known is said and left out."""
    names = [name for name in text.split(",") if name not in ("", "none")]
    unknown = [name for name in names if name not in VIEWS]
    if unknown:
        problems.append(f"{SHOW} must be among {', '.join(VIEWS)}, got {SHOW}={shorten(text)}.")
    return [name for name in names if name in VIEWS]


def read_side(text: str, problems: list[str]) -> bool:
    """Return whether two figures are to stand side by side; what is not known is said."""
    if text not in SIDES:
        problems.append(f"{SIDE} must be one of {', '.join(SIDES)}, got {SIDE}={shorten(text)}.")
    return text == SIDES[1]
