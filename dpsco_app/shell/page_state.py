"""What a page's controls and address hold: its own view, and the scenario of the visit."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dpsco_app.front.address import Address, PageView, V, checked
from dpsco_app.parts import controls
from dpsco_app.shell import visit
from dpsco_app.shell.teaching import HIDE, TYPE
from dpsco_core.base.parsing import shorten
from dpsco_core.scenario import Scenario

__all__ = ["PageState", "PageView", "V", "checked"]
PRESENT = "visit_page"  # the page whose state the widgets hold, once it is whole
# What a page writes into the address is known to the browser a moment later. Who moves a control
# before that, or clicks on the page's link again, asks for the page at an address that it had.
UNHEARD_SECONDS = 3.0
# The parameters that some page knows. On the way back from one page to another, the browser may
# still name those of the page it has left.
KNOWN_SOMEWHERE = set(visit.FIELDS)


@dataclass(frozen=True, kw_only=True)
class PageState(Address[V]):
    """A view in the address and in the widgets of a page."""

    name: str  # the name of the page, for its keys in the session
    # what the keys of the widgets begin with; by default it is made of the page's name
    prefix: str | None = None
    # what the page makes of the visit's scenario, which then stands in its address
    use: visit.Use | None = None
    has_presets: bool = False  # whether it has presets, or scenes of its own

    def __post_init__(self) -> None:
        KNOWN_SOMEWHERE.update(self.names)

    def key(self, field: str) -> str:
        return (f"{self.name}_field_" if self.prefix is None else self.prefix) + field

    @property
    def known(self) -> tuple[str, ...]:
        return self.names if self.use is None else (*self.names, *visit.FIELDS)

    # -- the address ------------------------------------------------------------------------

    def address(
        self, view: V, scenario: Scenario | None = None, more: Mapping[str, str] | None = None
    ) -> str:
        """Return the address of a view, with `more` parameters that all pages know."""
        query = urlencode(self.to_query(view, scenario) | dict(more or {}), safe=",")
        page = (st.context.url or "").split("?")[0]
        return f"{page}?{query}" if query else page

    # -- the widgets ------------------------------------------------------------------------

    def change(self, changes: Mapping[str, Any], scenario: Mapping[str, Any] | None = None) -> None:
        """Change some of the widgets' state, and a scenario for this page; a callback."""
        for name, value in changes.items():
            kept = [part for part in value.split(",") if part] if name in self.lists else value
            st.session_state[self.key(name)] = kept
        if scenario and self.use is not None:
            shown = self.use.fit(replace(controls.read(), **scenario))
            visit.show_here(shown, self.name)
            controls.load(shown)

    def current(self) -> V:
        """Return what the widgets hold."""
        values = {name: st.session_state[self.key(name)] for name in self.names}
        for name in self.lists:
            values[name] = ",".join(values[name])
        return replace(self.default, **values).validate()

    def restore(self) -> list[str]:
        """Put the address into the widgets' state if it is new; return what is wrong with it.

        While another page is shown the state of the widgets is lost: an empty address brings the
        page back as it was left, and one without a scenario shows the visit's. A run of a page may
        be stopped wherever it reads or writes the session: what it has not finished, the next
        begins anew.
        """
        state = st.session_state
        query = {k: v for k, v in st.query_params.to_dict().items() if k in self.known}
        here = state.get(PRESENT) == self.name and all(
            self.key(name) in state for name in self.names
        )
        if not here or (self.use is not None and not controls.loaded()):
            self._open(query)
        elif query != state[f"{self.name}_written"] and not self._late(query):
            view, problems = self.from_query(query)
            self._put(query, view, problems, self._read(query, problems))
        elif self._now() != state.get(f"{self.name}_left"):  # something was moved
            self.forgive()
        for name in self.names:  # keeps what no widget shows at the moment
            state[self.key(name)] = state[self.key(name)]
        return list(state[f"{self.name}_wrong"])

    def fresh(self) -> bool:
        return bool(st.session_state.pop(f"{self.name}_fresh", False))

    def back_to_mine(self) -> None:
        assert self.use is not None
        visit.show_here(None, self.name)
        controls.load(visit.shown(self.name, self.use))

    def forgive(self) -> None:
        st.session_state[f"{self.name}_wrong"] = []

    def _open(self, query: dict[str, str]) -> None:
        left = st.session_state.get(f"{self.name}_left")
        view, problems = (left[0], []) if left and not query else self.from_query(query)
        asked = any(name in query for name in visit.FIELDS)
        scenario = self._read(query, problems) if asked else None
        self._put(query, view, problems, scenario)
        st.session_state[f"{self.name}_opening"] = True

    def _read(self, query: dict[str, str], problems: list[str]) -> Scenario | None:
        """Return the scenario of an address, if the page has any; say what is wrong there."""
        if self.use is None:
            return None
        scenario, wrong = visit.read(query, sampling=self.use.sampling)
        problems[:0] = wrong
        return scenario

    def _put(
        self, query: dict[str, str], view: V, problems: list[str], scenario: Scenario | None
    ) -> None:
        """Put a view into the widgets' state, and a scenario, by default the visit's."""
        state = st.session_state
        state[PRESENT] = ""
        if scenario is not None:
            visit.take(scenario, self.name)
        self.change({name: getattr(view, name) for name in self.names})
        if self.use is not None:
            controls.load(visit.shown(self.name, self.use))
        state[f"{self.name}_wrong"] = [*problems, *self._unknown()]
        state[f"{self.name}_written"] = query
        state[f"{self.name}_fresh"] = True
        state[PRESENT] = self.name

    def _unknown(self) -> list[str]:
        """Return a sentence that names the parameters of the address which no page reads."""
        read = {*KNOWN_SOMEWHERE, HIDE, TYPE}
        others = [name for name in st.query_params.to_dict() if name not in read]
        verb = "is no setting" if len(others) == 1 else "are no settings"
        return [f"{', '.join(map(shorten, others))} {verb} of this page."] if others else []

    def _late(self, query: dict[str, str]) -> bool:
        """Whether the browser names an address because it has not heard of a newer one.

        The page had it until a moment ago, and either a control was moved, which the way back does
        not do, or it is what the page was opened at.
        """
        addresses = st.session_state.get(f"{self.name}_addresses", {})
        then, opening = addresses.get(urlencode(query), (-math.inf, False))
        moved = opening or self._now() != st.session_state.get(f"{self.name}_left")
        return bool(moved and time.monotonic() - then < UNHEARD_SECONDS)

    def _now(self) -> tuple[V, Scenario | None]:
        return self.current(), controls.read() if self.use else None

    def remember(self, view: V, scenario: Scenario | None = None) -> None:
        """Write the state into the address, and keep it; `scenario` is followed by the visit."""
        if scenario is not None and self.use is not None:
            visit.follow(scenario, self.name, self.use)
        self.write(self.to_query(view, scenario))
        st.session_state[f"{self.name}_left"] = view, controls.read() if self.use else None

    def write(self, query: dict[str, str]) -> None:
        """Put parameters into the address: those of other pages go, and what none knows stays."""
        every, now = st.query_params.to_dict(), time.monotonic()
        if query != {k: v for k, v in every.items() if k in KNOWN_SOMEWHERE}:
            others = {k: v for k, v in every.items() if k not in KNOWN_SOMEWHERE}
            st.query_params.from_dict({**others, **query})
        before = urlencode(st.session_state.get(f"{self.name}_written", query))
        addresses = st.session_state.get(f"{self.name}_addresses", {})
        late = {k: v for k, v in addresses.items() if now - v[0] < UNHEARD_SECONDS}
        late[before] = now, st.session_state.pop(f"{self.name}_opening", False)
        st.session_state[f"{self.name}_addresses"] = late
        st.session_state[f"{self.name}_written"] = query
