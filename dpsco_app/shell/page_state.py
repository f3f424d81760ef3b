"""The state of a page in its address and widgets, and its exchange with the session."""

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
PRESENT = "visit_page"  # The session key of the page whose widgets are complete.
# The browser learns of a new address a moment after the page has written it. If a control is moved
# or the page's link is clicked within this time, the old address still arrives.
UNHEARD_SECONDS = 3.0
# All parameters that any page reads. When the visitor goes back to another page, the browser may
# still send the parameters of the page just left.
KNOWN_SOMEWHERE = set(FIELDS)


@dataclass(kw_only=True)
class AddressMemory:
    """What a page remembers about its address between two runs of the dashboard."""

    written: dict[str, str] | None = None  # The parameters that the page last wrote.
    # The page's recent addresses: the time at which each was left, and whether it opened the page.
    recent: dict[str, tuple[float, bool]] = field(default_factory=dict)
    is_opening: bool = False  # Whether the page was opened at its present address.
    # Whether the address is written even if the browser has sent the same one.
    must_write: bool = False
    # The view and scenario of the controls when the address was written.
    controls: tuple[PageView, Scenario] | None = None


@dataclass(frozen=True, kw_only=True)
class PageState(Page[V]):
    """A page whose view is stored in its address and in its widgets."""

    # The prefix of the widgets' keys; by default it is made from the page's name.
    prefix: str | None = None
    has_presets: bool = False  # Whether the page has presets or scenes of its own.
    # The function that returns the nearest view for a scenario, since some offer fewer views.
    fit_view: Callable[[V, Scenario], V] = lambda view, _: view
    # The function that returns the fields of a scenario that mean nothing in a view, besides those
    # that mean nothing on the whole page.
    unused_fields: Callable[[V], Collection[str]] = lambda _: ()

    def __post_init__(self) -> None:
        """Add the names of the view's fields to the parameters that some page reads."""
        KNOWN_SOMEWHERE.update(self.names)

    def key(self, field: str) -> str:
        """Return the session key of the widget for a field of the view."""
        return (f"{self.name}_field_" if self.prefix is None else self.prefix) + field

    @property
    def memory(self) -> AddressMemory:
        """The page's memory of its address in this visit."""
        key = f"{self.name}_address"
        if key not in st.session_state:
            st.session_state[key] = AddressMemory()
        return cast(AddressMemory, st.session_state[key])

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters that the page's address may have."""
        return self.names if self.use is None else (*self.names, *FIELDS)

    # -- the address ------------------------------------------------------------------------

    def address(
        self, view: V, scenario: Scenario | None = None, parameters: Mapping[str, str] | None = None
    ) -> str:
        """Return the address of a view, with further `parameters` that all pages read."""
        query = urlencode(self.to_query(view, scenario) | dict(parameters or {}), safe=",")
        page = (st.context.url or "").split("?")[0]
        return f"{page}?{query}" if query else page

    # -- the widgets ------------------------------------------------------------------------

    def fill_widgets(self, view: V) -> None:
        """Set the page's widgets to the values of a view."""
        st.session_state[PRESENT] = ""
        for name in self.names:
            value = getattr(view, name)
            widget_value = (
                [part for part in value.split(",") if part] if name in self.lists else value
            )
            st.session_state[self.key(name)] = widget_value
        st.session_state[PRESENT] = self.name

    def change(self, changes: Mapping[str, Any], scenario: Mapping[str, Any] | None = None) -> None:
        """Change parts of the view, and the scenario of this page; a callback."""
        session = visit.current()
        view = replace(self.current(), **changes)
        session.look(self, view)
        self.fill_widgets(view)
        if scenario and self.use is not None:
            session.show_here(self.use.fit(replace(session.scenario, **scenario)))

    def current(self) -> V:
        """Return the view that the widgets of the page describe."""
        values = {name: st.session_state[self.key(name)] for name in self.names}
        for name in self.lists:
            values[name] = ",".join(values[name])
        view = cast(V, visit.current().views.get(self.name, self.default))
        if all(getattr(view, name) == value for name, value in values.items()):
            return view
        return replace(self.default, **values).validate()

    def suit(self, view: V, scenario: Scenario) -> V:
        """Return the nearest view that a scenario allows, and put it into the widgets."""
        fitted = self.fit_view(view, scenario)
        if fitted != view:
            visit.current().views[self.name] = fitted
            self.fill_widgets(fitted)
        return fitted

    def restore(self) -> list[str]:
        """Show the page in the session, and return the errors in the address.

        The page is opened if another one was shown, or if its address is new and the browser has
        not merely sent an outdated one; otherwise the session takes over the view of the widgets.
        The values of the widgets are set again: Streamlit drops them while another page is shown,
        and a run of the page that was stopped may not have set all of them.
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
        # Assigning a value to itself keeps the state of widgets that are not shown at the moment.
        for name in self.names:
            state[self.key(name)] = state[self.key(name)]
        return list(session.wrong)

    def back_to_mine(self) -> None:
        """Show the visit's own scenario on this page again."""
        visit.current().show_here(None)

    def _unknown(self) -> list[str]:
        """Return, as a list of at most one sentence, which address parameters no page reads."""
        read = {*KNOWN_SOMEWHERE, *NAMES}
        unread = [name for name in st.query_params.to_dict() if name not in read]
        verb = "is no setting" if len(unread) == 1 else "are no settings"
        return [f"{', '.join(map(shorten, unread))} {verb} of this page."] if unread else []

    def _is_outdated(self, query: dict[str, str]) -> bool:
        """Whether the browser sends an old address because it has not learnt of the new one yet.

        The page must have had that address until a moment ago, and either a control was moved or
        the page was opened at it. Back and Forward also lead to such addresses, but the browser
        marks them.
        """
        memory = self.memory
        left_at, was_opening = memory.recent.get(urlencode(query), (-math.inf, False))
        controls = self.current(), visit.current().scenario
        has_moved = was_opening or controls != memory.controls
        return bool(has_moved and time.monotonic() - left_at < UNHEARD_SECONDS)

    def remember(self, view: V, scenario: Scenario | None = None) -> None:
        """Write a view and a scenario into the address, and remember that they stand there."""
        self.write(self.to_query(view, scenario))
        self.memory.controls = view, visit.current().scenario

    def write(self, query: dict[str, str]) -> None:
        """Write parameters into the address; those of other pages are removed, unknown ones stay.

        On the way back they are written even if the browser has sent the same ones, since it may
        meanwhile have learnt the address of a page that was left before it was drawn.
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
