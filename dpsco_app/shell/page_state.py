"""A page in its address and its widgets: what they say goes to the session, or comes from it."""

import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
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


@dataclass(kw_only=True)
class AddressMemory:
    """What a page remembers of its address from one run of the dashboard to the next."""

    written: dict[str, str] | None = None  # the parameters that it has last put there
    # the addresses that it had a moment ago: when each was left, and if the page was opened at it
    recent: dict[str, tuple[float, bool]] = field(default_factory=dict)
    is_opening: bool = False  # whether the page was opened at the present one
    must_write: bool = False  # whether it is written even if the browser has named the same
    controls: tuple[PageView, Scenario] | None = None  # what they held when it was written


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
    def memory(self) -> AddressMemory:
        """What the page remembers of its address, in this visit."""
        key = f"{self.name}_address"
        if key not in st.session_state:
            st.session_state[key] = AddressMemory()
        return cast(AddressMemory, st.session_state[key])

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.names if self.use is None else (*self.names, *FIELDS)

    # -- the address ------------------------------------------------------------------------

    def address(
        self, view: V, scenario: Scenario | None = None, parameters: Mapping[str, str] | None = None
    ) -> str:
        """Return the address of a view, with `more` parameters that all pages know."""
        query = urlencode(self.to_query(view, scenario) | dict(parameters or {}), safe=",")
        page = (st.context.url or "").split("?")[0]
        return f"{page}?{query}" if query else page

    # -- the widgets ------------------------------------------------------------------------

    def fill_widgets(self, view: V) -> None:
        """Put a view into the widgets' state."""
        st.session_state[PRESENT] = ""
        for name in self.names:
            value = getattr(view, name)
            widget_value = (
                [part for part in value.split(",") if part] if name in self.lists else value
            )
            st.session_state[self.key(name)] = widget_value
        st.session_state[PRESENT] = self.name

    def change(self, changes: Mapping[str, Any], scenario: Mapping[str, Any] | None = None) -> None:
        """Change some of what the page shows, and a scenario for this page; a callback."""
        session = visit.current()
        view = replace(self.current(), **changes)
        session.look(self, view)
        self.fill_widgets(view)
        if scenario and self.use is not None:
            session.show_here(self.use.fit(replace(session.scenario, **scenario)))

    def current(self) -> V:
        """Return what the widgets hold."""
        values = {name: st.session_state[self.key(name)] for name in self.names}
        for name in self.lists:
            values[name] = ",".join(values[name])
        view = cast(V, visit.current().views.get(self.name, self.default))
        if all(getattr(view, name) == value for name, value in values.items()):
            return view
        return replace(self.default, **values).validate()

    def suit(self, view: V, scenario: Scenario) -> V:
        """Return the nearest view that a scenario has, and put it into the widgets."""
        fitted = self.fit_view(view, scenario)
        if fitted != view:
            visit.current().views[self.name] = fitted
            self.fill_widgets(fitted)
        return fitted

    def restore(self) -> list[str]:
        """Open the page in the session if its address is new; return what is wrong with that.

        While another page is shown the state of the widgets is lost, and what a stopped run of a
        page has not put into them is missing.
        """
        state, session, memory = st.session_state, visit.current(), self.memory
        query = {k: v for k, v in st.query_params.to_dict().items() if k in self.parameters}
        is_whole = state.get(PRESENT) == self.name and all(
            self.key(name) in state for name in self.names
        )
        if not is_whole:
            session.leave()
        is_open = session.page.name == self.name
        is_way_back = state.get(visit.WAY_BACK, False)
        is_new = query != memory.written
        if not is_open or (is_new and (is_way_back or not self._is_outdated(query))):
            session.open(self, query, self._unknown(), is_whole=is_way_back)
            memory.written, memory.is_opening = query, not is_open
            self.fill_widgets(cast(V, session.views[self.name]))
        else:
            session.look(self, self.current())
        if is_way_back:
            memory.must_write = True
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

    def _is_outdated(self, query: dict[str, str]) -> bool:
        """Whether the browser names an address because it has not heard of a newer one.

        The page had it until a moment ago, and either a control was moved or it is what the page
        was opened at. Back and Forward lead to such an address as well, and are told apart by what
        the browser says of them.
        """
        memory = self.memory
        left_at, was_opening = memory.recent.get(urlencode(query), (-math.inf, False))
        controls = self.current(), visit.current().scenario
        has_moved = was_opening or controls != memory.controls
        return bool(has_moved and time.monotonic() - left_at < UNHEARD_SECONDS)

    def remember(self, view: V, scenario: Scenario | None = None) -> None:
        """Write the state into the address, and keep it."""
        self.write(self.to_query(view, scenario))
        self.memory.controls = view, visit.current().scenario

    def write(self, query: dict[str, str]) -> None:
        """Put parameters into the address: those of other pages go, and what none knows stays.

        On the way back they are said even if they are those that the browser has named: it may have
        heard since of the address of a page that was left before it was drawn.
        """
        address, time_now, memory = st.query_params.to_dict(), time.monotonic(), self.memory
        if memory.must_write or query != {k: v for k, v in address.items() if k in KNOWN_SOMEWHERE}:
            unread = {k: v for k, v in address.items() if k not in KNOWN_SOMEWHERE}
            st.query_params.from_dict({**unread, **query})
        previous = urlencode(query if memory.written is None else memory.written)
        recent = {k: v for k, v in memory.recent.items() if time_now - v[0] < UNHEARD_SECONDS}
        recent[previous] = time_now, memory.is_opening
        memory.recent, memory.written = recent, query
        memory.is_opening, memory.must_write = False, False
