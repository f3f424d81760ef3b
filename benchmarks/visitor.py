"""A visitor of the dashboard without a browser: a session over Streamlit's own protocol.

A browser page costs more than the session behind it. `Visitor` opens the same WebSocket, sends the
same messages (protobuf `BackMsg`) and reads the same answers (`ForwardMsg`), so that a load test
measures the server.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from websockets.asyncio.client import ClientConnection, connect

RUN_IS_DONE = (
    ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY,
    ForwardMsg.ScriptFinishedStatus.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
)
FAILED = (ForwardMsg.ScriptFinishedStatus.FINISHED_WITH_COMPILE_ERROR,)
LARGEST_MESSAGE = 200_000_000  # Streamlit's own limit, in bytes.


class VisitFailed(RuntimeError):
    """The error of a page that shows an exception, is too slow, or loses its connection."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The effects of one message of a visitor.

    Parameters
    ----------
    seconds : float
        Until the script had finished.
    figure : float or None
        Seconds until the first figure arrived; None if none did.
    texts : tuple of str
        Every text that the last run of the script has written.
    received : int
        Bytes.
    """

    seconds: float
    figure: float | None
    texts: tuple[str, ...]
    received: int

    def says(self, words: str) -> bool:
        """Return whether one of the texts contains these words."""
        return any(words in text for text in self.texts)


class Visitor:
    """One session of a visitor; use it as an asynchronous context manager.

    Parameters
    ----------
    address : str
        Of the server, such as ``http://127.0.0.1:8501``.
    query : str
        Of the first page's address, without the question mark.
    patience : float
        Seconds that an answer may take.
    """

    def __init__(self, address: str, query: str = "", patience: float = 120.0) -> None:
        """Prepare a visit to an address; nothing is connected yet."""
        self._stream = address.replace("http", "ws", 1) + "/_stcore/stream"
        self._query = query
        self._patience = patience
        self._socket: ClientConnection | None = None
        self._values: dict[str, WidgetState] = {}
        # The server need not send these messages again: it refers to them by their hash.
        self._cached_messages: dict[str, ForwardMsg] = {}
        self._page = ""
        # The latest description of each widget, by its key, or by its label if it has no key.
        self.widgets: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        """Connect to the server; the page itself is not opened yet."""
        self._socket = await connect(
            self._stream, subprotocols=["streamlit"], max_size=LARGEST_MESSAGE, compression=None
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connection."""
        assert self._socket is not None
        await self._socket.close()

    @property
    def shown(self) -> tuple[str, ...]:
        """The keys of the widgets on the page that have a state."""
        return tuple(key for key, widget in self.widgets.items() if widget.id in self._values)

    async def open(self) -> Answer:
        """Open the page; return the server's answer once the page is drawn."""
        return await self._send()

    async def press(self, key: str) -> Answer:
        """Click the button with this key; return the server's answer."""
        return await self._send(WidgetState(id=self.widgets[key].id, trigger_value=True))

    async def slide(self, key: str, steps: int) -> Answer:
        """Move a slider by some steps of its list of values, at most to its end."""
        slider = self.widgets[key]
        options = list(slider.options)
        place = options.index(self._values[slider.id].string_array_value.data[0]) + steps
        place = max(0, min(len(options) - 1, place))
        return await self._set(_list_state(slider.id, [options[place]]))

    async def tell(self, key: str, event: str) -> Answer:
        """Send an event of the page's component with this key; return the server's answer."""
        state = WidgetState(id=f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{self.widgets[key].id}__events")
        state.json_trigger_value = json.dumps([{"event": event, "value": True}])
        return await self._send(state)

    async def _set(self, state: WidgetState) -> Answer:
        """Set a widget to this state; return the server's answer."""
        self._values[state.id] = state
        return await self._send()

    async def _send(self, trigger: WidgetState | None = None) -> Answer:
        """Ask the server to run the page again, with a click if any; return the answer."""
        assert self._socket is not None
        message = BackMsg()
        client = message.rerun_script
        client.query_string = self._query
        client.page_script_hash = self._page
        client.widget_states.widgets.extend(self._values.values())
        client.cached_message_hashes.extend(self._cached_messages)
        client.context_info.timezone = "UTC"
        client.context_info.color_scheme = "light"
        if trigger is not None:
            client.widget_states.widgets.append(trigger)
        started = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        try:
            return await asyncio.wait_for(self._read(started), self._patience)
        except TimeoutError as timeout:
            raise VisitFailed(f"No answer within {self._patience:g} s.") from timeout

    async def _read(self, started: float) -> Answer:
        """Read messages until the script has finished, even if it restarts; return the answer.

        `started` is when the message was sent, in seconds of the performance counter.
        """
        assert self._socket is not None
        texts: list[str] = []
        widget_ids: set[str] = set()
        figure, received = None, 0
        async for frame in self._socket:
            received += len(frame)
            message = ForwardMsg()
            message.ParseFromString(frame if isinstance(frame, bytes) else frame.encode())
            kind = message.WhichOneof("type")
            if kind == "ref_hash":
                message = self._cached_messages[message.ref_hash]
                kind = message.WhichOneof("type")
            elif message.metadata.cacheable:
                self._cached_messages[message.hash] = message
            if kind == "new_session":
                self._page = message.new_session.page_script_hash
                texts.clear()
                widget_ids.clear()
                self.widgets.clear()
            elif kind == "page_info_changed":
                self._query = message.page_info_changed.query_string
            elif kind == "delta":
                element = message.delta.new_element
                what = element.WhichOneof("type")
                if what == "exception":
                    raise VisitFailed(f"{element.exception.type}: {element.exception.message}")
                if what == "plotly_chart" and figure is None:
                    figure = time.perf_counter() - started
                if what is not None:
                    widget_ids.add(self._record_widget(what, getattr(element, what)))
                    texts += _element_texts(getattr(element, what))
            elif kind == "script_finished":
                if message.script_finished in FAILED:
                    raise VisitFailed("The script could not be read.")
                if message.script_finished in RUN_IS_DONE:
                    seconds = time.perf_counter() - started
                    # A browser forgets the state of widgets that are no longer drawn.
                    if message.script_finished == RUN_IS_DONE[0]:
                        self._values = {k: v for k, v in self._values.items() if k in widget_ids}
                    return Answer(
                        seconds=seconds, figure=figure, texts=tuple(texts), received=received
                    )
        raise VisitFailed("The connection was closed.")

    def _record_widget(self, kind: str, element: Any) -> str:
        """Record a widget and its state; return its identity, empty if the element is no widget.

        What the visitor has set stays, unless the server sets another value.
        """
        identity = getattr(element, "id", "")
        if not isinstance(identity, str) or not identity.startswith("$$"):
            return ""
        key = identity.split("-", 2)[-1]  # An identity ends in the key, or in "None" without one.
        self.widgets[element.label if key == "None" else key] = element
        if identity not in self._values or getattr(element, "set_value", False):
            state = initial_state(kind, element)
            if state is not None:
                self._values[identity] = state
        return identity


def initial_state(kind: str, element: Any) -> WidgetState | None:
    """Return a new widget's state in a browser: the server's value or the default; else None."""
    fixed = element.set_value if hasattr(element, "set_value") else False
    state = WidgetState(id=element.id)
    match kind:
        case "slider" if element.options:
            raw = element.raw_value if fixed else [element.options[int(i)] for i in element.default]
            state = _list_state(element.id, raw)
        case "button_group":
            contents = [option.content for option in element.options]
            raw = element.raw_values if fixed else [contents[i] for i in element.default]
            state = _list_state(element.id, raw)
        case "selectbox":
            state.string_value = element.raw_value if fixed else element.options[element.default]
        case "number_input":
            state.double_value = element.value if fixed else element.default
        case "text_input":
            state.string_value = element.value if fixed else element.default
        case "checkbox":
            state.bool_value = element.value if fixed else element.default
        case _:  # Buttons have no state.
            return None
    return state


def _list_state(identity: str, values: Iterable[str]) -> WidgetState:
    """Return the state of the widget with this identity whose value is a list of texts."""
    state = WidgetState(id=identity)
    state.string_array_value.data.extend(values)
    return state


def _element_texts(element: Any) -> Iterator[str]:
    """Yield the texts that an element of the page shows, if any."""
    for name in ("body", "text"):
        value = getattr(element, name, "")
        if isinstance(value, str) and value:
            yield value
