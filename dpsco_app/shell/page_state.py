"""What a page's controls and address hold: a frozen view, the widgets' state, the query string.

For the pages that are not about one scenario; those have `dpsco_app.shell.link` and `restore`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, Protocol, Self, TypeVar
from urllib.parse import urlencode

import streamlit as st

from dpsco_app.shell.visits import came_back, just_came_back
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import shorten, to_text


class PageView(Protocol):
    """A frozen dataclass of texts, numbers and switches, each with a default."""

    __dataclass_fields__: Any

    def validate(self) -> Self:
        """Return the view; raises `InvalidInput` in one sentence."""


V = TypeVar("V", bound=PageView)


@dataclass(frozen=True, kw_only=True)
class PageState(Generic[V]):
    """The state of one page.

    Parameters
    ----------
    name : str
        Of the page, for its keys in the session.
    default : PageView
        What the page shows where the address says nothing; the types of its values are those of
        the fields.
    lists : tuple of str
        Texts that hold several values separated by commas, as their widgets hold lists.
    """

    name: str
    default: V
    lists: tuple[str, ...] = ()

    @property
    def prefix(self) -> str:
        """What the keys of the page's widgets begin with."""
        return f"{self.name}_field_"

    @property
    def names(self) -> tuple[str, ...]:
        """The fields of the view: parameters of the address, and ends of the widgets' keys."""
        return tuple(f.name for f in fields(self.default))

    def key(self, field: str) -> str:
        """Return the key of a field's widget."""
        return self.prefix + field

    # -- the address ------------------------------------------------------------------------

    def from_query(self, query: Mapping[str, str]) -> tuple[V, list[str]]:
        """Return what an address says, and a sentence for every value that is not allowed."""
        view, problems = self.default, []
        for name in self.names:
            if name not in query:
                continue
            try:
                view = replace(view, **{name: self._parsed(name, query[name])}).validate()
            except InvalidInput as problem:
                problems.append(str(problem))
        return view, problems

    def to_query(self, view: V) -> dict[str, str]:
        """Return the view as parameters; what is at its default is left out."""
        return {
            name: self._written(getattr(view, name))
            for name in self.names
            if getattr(view, name) != getattr(self.default, name)
        }

    def address(self, view: V) -> str:
        """Return the whole address of a view, to be copied."""
        page, query = (st.context.url or "").split("?")[0], urlencode(self.to_query(view))
        return f"{page}?{query}" if query else page

    def _parsed(self, name: str, text: str) -> str | int | float | bool:
        kind = type(getattr(self.default, name))
        if kind is str:
            return text
        if kind is bool:
            require(text in ("yes", "no"), name, "yes or no", shorten(text))
            return text == "yes"
        wanted = "an integer" if kind is int else "a number"
        try:
            if kind is int and text.strip().lstrip("+-").isdecimal():
                return int(text)  # all of its digits
            value = float(text)
        except ValueError:
            raise InvalidInput(f"{name} must be {wanted}, got {name}={shorten(text)}.") from None
        if kind is float:
            return value
        require(math.isfinite(value) and value == int(value), name, wanted, shorten(text))
        return int(value)

    @staticmethod
    def _written(value: Any) -> str:
        return ("yes" if value else "no") if isinstance(value, bool) else to_text(value)

    # -- the widgets ------------------------------------------------------------------------

    def load(self, view: V) -> None:
        """Put a view into the widgets' state."""
        self.change({name: getattr(view, name) for name in self.names})

    def change(self, changes: Mapping[str, Any]) -> None:
        """Change some of the widgets' state; a callback of buttons."""
        for name, value in changes.items():
            held = [part for part in value.split(",") if part] if name in self.lists else value
            st.session_state[self.key(name)] = held

    def current(self) -> V:
        """Return what the widgets hold."""
        held = {name: st.session_state[self.key(name)] for name in self.names}
        for name in self.lists:
            held[name] = ",".join(held[name])
        return replace(self.default, **held).validate()

    def restore(self) -> list[str]:
        """Put the address into the widgets' state if it is new; return what is wrong with it.

        While another page is shown the state of the widgets is lost: an empty address brings the
        page back as it was left. A run of a page may be stopped wherever it reads or writes the
        session: what it has not finished, the next begins anew.
        """
        state = st.session_state
        whole = state.get(f"{self.name}_whole", False)
        here = whole and all(self.key(name) in state for name in self.names)
        query = {k: v for k, v in st.query_params.to_dict().items() if k in self.names}
        left, written = f"{self.name}_left", f"{self.name}_written"
        if not query and left in state and (not here or self._unheard(state[left])):
            if not here:
                came_back(self.name)
            self._put(state[left], [])
        elif not here or query != state.get(written):
            self._put(*self.from_query(query))
        for name in self.names:  # keeps what no widget shows at the moment
            state[self.key(name)] = state[self.key(name)]
        return list(state[f"{self.name}_wrong"])

    def _put(self, view: V, problems: list[str]) -> None:
        """Put a view into the widgets' state, and keep what is wrong with the address."""
        st.session_state[f"{self.name}_whole"] = False
        self.load(view)
        st.session_state[f"{self.name}_wrong"] = problems
        st.session_state[f"{self.name}_whole"] = True

    def _unheard(self, left: V) -> bool:
        """Whether the browser may not know yet what the page wrote when it came back."""
        return just_came_back(self.name) and bool(self.to_query(left))

    def remember(self, view: V) -> None:
        """Write the view into the address, leaving other parameters alone, and keep it."""
        query = self.to_query(view)
        every = st.query_params.to_dict()
        if query != {k: v for k, v in every.items() if k in self.names}:
            others = {k: v for k, v in every.items() if k not in self.names}
            st.query_params.from_dict({**others, **query})
        st.session_state[f"{self.name}_written"] = query
        st.session_state[f"{self.name}_left"] = view
