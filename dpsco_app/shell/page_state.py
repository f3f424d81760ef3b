"""A page in its address and its widgets: what they say goes to the session, or comes from it."""

import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast
from urllib.parse import urlencode

import streamlit as st

from dpsco_app.front.address import PageView, V, checked
from dpsco_app.session.scenarios import Page
from dpsco_app.shell import visit
from dpsco_app.shell.teaching import NAMES
from dpsco_core.base.parsing import shorten
from dpsco_core.fields import NAMES as FIELDS
from dpsco_core.scenario import Scenario

__all__ = ["PageState", "PageView", "V", "checked"]
PRESENT = "visit_page"  # the page whose view the widgets hold, once it is whole
# What a page writes into the address is known to the browser a moment later. Who moves a control
# before that, or clicks on the page's link again, asks for the page at an address that it had.
UNHEARD_SECONDS = 3.0
# The parameters that some page knows. On the way back from one page to another, the browser may
# still name those of the page it has left.
KNOWN_SOMEWHERE = set(FIELDS)


@dataclass(frozen=True, kw_only=True)
class PageState(Page[V]):
    """A page whose view stands in the address and in the widgets of the dashboard."""

    # what the keys of the widgets begin with; by default it is made of the page's name
    prefix: str | None = None
    has_presets: bool = False  # whether it has presets, or scenes of its own
    # the nearest view that a scenario has: another one may offer less
    fit_view: Callable[[V, Scenario], V] = lambda view, _: view
    # the fields of a scenario that mean nothing for a view, beside those of the whole page
    unused_fields: Callable[[V], Collection[str]] = lambda _: ()

    def __post_init__(self) -> None:
        KNOWN_SOMEWHERE.update(self.names)

    def key(self, field: str) -> str:
        return (f"{self.name}_field_" if self.prefix is None else self.prefix) + field

    @property
    def known(self) -> tuple[str, ...]:
        return self.names if self.use is None else (*self.names, *FIELDS)

    # -- the address ------------------------------------------------------------------------

    def address(
        self, view: V, scenario: Scenario | None = None, more: Mapping[str, str] | None = None
    ) -> str:
        """Return the address of a view, with `more` parameters that all pages know."""
        query = urlencode(self.to_query(view, scenario) | dict(more or {}), safe=",")
        page = (st.context.url or "").split("?")[0]
        return f"{page}?{query}" if query else page

    # -- the widgets ------------------------------------------------------------------------

    def put(self, view: V) -> None:
        """Put a view into the widgets' state."""
        st.session_state[PRESENT] = ""
        for name in self.names:
            value = getattr(view, name)
            kept = [part for part in value.split(",") if part] if name in self.lists else value
            st.session_state[self.key(name)] = kept
        st.session_state[PRESENT] = self.name

    def change(self, changes: Mapping[str, Any], scenario: Mapping[str, Any] | None = None) -> None:
        """Change some of what the page shows, and a scenario for this page; a callback."""
        session = visit.current()
        view = replace(self.current(), **changes)
        session.look(self, view)
        self.put(view)
        if scenario and self.use is not None:
            session.show_here(self.use.fit(replace(session.scenario, **scenario)))

    def current(self) -> V:
        """Return what the widgets hold."""
        values = {name: st.session_state[self.key(name)] for name in self.names}
        for name in self.lists:
            values[name] = ",".join(values[name])
        known = cast(V, visit.current().views.get(self.name, self.default))
        if all(getattr(known, name) == value for name, value in values.items()):
            return known
        return replace(self.default, **values).validate()

    def suit(self, view: V, scenario: Scenario) -> V:
        """Return the nearest view that a scenario has, and put it into the widgets."""
        fitted = self.fit_view(view, scenario)
        if fitted != view:
            visit.current().views[self.name] = fitted
            self.put(fitted)
        return fitted

    def restore(self) -> list[str]:
        """Open the page in the session if its address is new; return what is wrong with that.

        While another page is shown the state of the widgets is lost, and what a stopped run of a
        page has not put into them is missing.
        """
        state, session = st.session_state, visit.current()
        query = {k: v for k, v in st.query_params.to_dict().items() if k in self.known}
        is_whole = state.get(PRESENT) == self.name and all(
            self.key(name) in state for name in self.names
        )
        if not is_whole:
            session.leave()
        is_open = session.page.name == self.name
        is_way_back = state.get(visit.WAY_BACK, False)
        is_new = query != state.get(f"{self.name}_written")
        if not is_open or (is_new and (is_way_back or not self._late(query))):
            session.open(self, query, self._unknown(), is_whole=is_way_back)
            state[f"{self.name}_written"] = query
            state[f"{self.name}_opening"] = not is_open
            self.put(cast(V, session.views[self.name]))
        else:
            session.look(self, self.current())
        if is_way_back:
            state[f"{self.name}_said"] = False
            del state[visit.WAY_BACK]
        for name in self.names:  # keeps what no widget shows at the moment
            state[self.key(name)] = state[self.key(name)]
        return list(session.wrong)

    def back_to_mine(self) -> None:
        visit.current().show_here(None)

    def _unknown(self) -> list[str]:
        """Return a sentence that names the parameters of the address which no page reads."""
        read = {*KNOWN_SOMEWHERE, *NAMES}
        unread = [name for name in st.query_params.to_dict() if name not in read]
        verb = "is no setting" if len(unread) == 1 else "are no settings"
        return [f"{', '.join(map(shorten, unread))} {verb} of this page."] if unread else []

    def _late(self, query: dict[str, str]) -> bool:
        """Whether the browser names an address because it has not heard of a newer one.

        The page had it until a moment ago, and either a control was moved or it is what the page
        was opened at. Back and Forward lead to such an address as well, and are told apart by what
        the browser says of them.
        """
        addresses = st.session_state.get(f"{self.name}_addresses", {})
        left_at, was_opening = addresses.get(urlencode(query), (-math.inf, False))
        controls = self.current(), visit.current().scenario
        has_moved = was_opening or controls != st.session_state.get(f"{self.name}_left")
        return bool(has_moved and time.monotonic() - left_at < UNHEARD_SECONDS)

    def remember(self, view: V, scenario: Scenario | None = None) -> None:
        """Write the state into the address, and keep it."""
        self.write(self.to_query(view, scenario))
        st.session_state[f"{self.name}_left"] = view, visit.current().scenario

    def write(self, query: dict[str, str]) -> None:
        """Put parameters into the address: those of other pages go, and what none knows stays.

        On the way back they are said even if they are those that the browser has named: it may have
        heard since of the address of a page that was left before it was drawn.
        """
        address, time_now = st.query_params.to_dict(), time.monotonic()
        is_said = st.session_state.pop(f"{self.name}_said", True)
        if not is_said or query != {k: v for k, v in address.items() if k in KNOWN_SOMEWHERE}:
            unread = {k: v for k, v in address.items() if k not in KNOWN_SOMEWHERE}
            st.query_params.from_dict({**unread, **query})
        previous = urlencode(st.session_state.get(f"{self.name}_written", query))
        addresses = st.session_state.get(f"{self.name}_addresses", {})
        recent = {k: v for k, v in addresses.items() if time_now - v[0] < UNHEARD_SECONDS}
        recent[previous] = time_now, st.session_state.pop(f"{self.name}_opening", False)
        st.session_state[f"{self.name}_addresses"] = recent
        st.session_state[f"{self.name}_written"] = query
