"""The outermost layer of the server: headers on every answer, and a refusal of other sites' pages.

To check the origin of a WebSocket, Streamlit asks a web service for this machine's address if it
does not know the origin, and the server stands still meanwhile. The guard answers first: it allows
the address that the visitor's browser opened, and those that the host of the dashboard named.
"""

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpsco_app.parts.insides import STATIC, is_manually_set
from dpsco_app.shell.preload import SERVER
from dpsco_core.base.parsing import shorten

INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Pages may not load from, or send to, another host. Streamlit writes styles into its elements, and
# loads the script of a component (the buttons that save a picture) from memory.
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "media-src": "'self' data: blob:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Guard:
    """The outermost layer of the server (ASGI middleware), which checks the origin of requests."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the server's ASGI application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse requests from other sites, and add the headers to every answer."""
        kind = scope["type"]
        if kind not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        request_headers = {n.decode("latin-1"): v.decode("latin-1") for n, v in scope["headers"]}
        host, origin = request_headers.get("host", ""), request_headers.get("origin")

        async def answer(message: Message) -> None:
            """Send a message of the server after adding the guard's headers to it."""
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *encoded(headers())]
            await send(message)

        wrong = wrong_host(host)
        if kind == "websocket" and not wrong and not is_own(origin, host):
            wrong = f"Origin must be that of the dashboard, got {shorten(origin)}."
        if not wrong:
            await self._app(scope, receive, answer)
        elif kind == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": wrong})
        else:
            plain = {"Content-Type": "text/plain; charset=utf-8"}
            start = {"type": "http.response.start", "status": 421, "headers": encoded(plain)}
            await answer(start)
            await send({"type": "http.response.body", "body": wrong.encode()})


MIDDLEWARE = (Middleware(Guard),)


def encoded(values: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """Return headers as ASGI has them: pairs of bytes, the names in lower case."""
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in values.items()]


def headers() -> dict[str, str]:
    """Return the headers of every answer; named origins may show the dashboard in a frame."""
    policy = POLICY | {"frame-ancestors": " ".join(("'self'", *_named_origins()))}
    policy["script-src"] += inline_scripts()
    text = "; ".join(f"{name} {value}" for name, value in policy.items())
    return HEADERS | {"Content-Security-Policy": text}


@lru_cache(maxsize=1)
def inline_scripts() -> str:
    """Return the CSP sources, as hashes, that allow the scripts in Streamlit's page and in ours."""
    page = STATIC / "index.html"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    hashes = (sha256(script.encode()) for script in (*INLINE_SCRIPT.findall(text), SERVER))
    return "".join(f" 'sha256-{b64encode(h.digest()).decode()}'" for h in hashes)


def wrong_host(host: str) -> str:
    """Return why a request is refused that reached a local dashboard by a name that is not local.

    The text is empty for other requests.
    Another site can point its own name at this machine's address. For a server that listens beyond
    this machine, Streamlit checks the name if ``server.allowedHosts`` is set.
    """
    local = st.get_option("server.address") in LOOPBACK
    if st.get_option("server.allowedHosts") or not local or hostname(f"//{host}") in LOOPBACK:
        return ""
    return (
        f"Host must be one of {', '.join(LOOPBACK)}, got {shorten(host)}. Whoever hosts the "
        "dashboard names its host with --server.allowedHosts."
    )


def is_own(origin: str | None, host: str) -> bool:
    """Return whether an origin is the dashboard's own address or one that its settings allow.

    Programs other than browsers send no origin.
    """
    if origin is None or not st.get_option("server.enableCORS"):
        return True
    if hostname(origin, "netloc") == host:
        return True
    allowed_hosts = {hostname(name) for name in _named_origins()}
    if is_manually_set("browser.serverAddress"):
        allowed_hosts.add(st.get_option("browser.serverAddress"))
    # Another program on the visitor's own machine counts as another site, whatever its port; other
    # loopback names are accepted only if the dashboard itself was opened at a loopback name.
    if hostname(f"//{host}") in LOOPBACK and _port(f"//{host}") == _port(origin):
        allowed_hosts.update(LOOPBACK)
    return hostname(origin) in allowed_hosts


def _port(address: str) -> int | None:
    """Return the port of an address; None if it has none or a wrong one."""
    try:
        return urlsplit(address).port
    except ValueError:
        return None


def _named_origins() -> Iterable[str]:
    """Return the origins that the server's settings allow."""
    return [o.strip() for o in st.get_option("server.corsAllowedOrigins")]


def hostname(address: str, part: str = "hostname") -> str | None:
    """Return a part of an address, by default its host in lower case; None if it has none.

    `part` is an attribute of `urllib.parse.SplitResult`.
    """
    try:
        return getattr(urlsplit(address), part) or None
    except ValueError:
        return None
