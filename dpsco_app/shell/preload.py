"""The first answer to a visitor: one address for the front page, and the code of its figure.

Streamlit's page learns from the server's first messages that it is to draw a figure, and only then
asks for Plotly, which takes half a second to start. Named in the page itself, it starts at once,
while the page waits for the server.
A page below the root would first ask for the server beside itself, in vain: it is told where it is.
"""

import re
from functools import lru_cache

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpsco_app.parts.insides import STATIC
from dpsco_app.shell.names import EXPLORE, PLACES

PLOTLY = b"plotly.js v"  # how Plotly's licence begins, wherever its code is
ENTRY = re.compile(r'<script type="module"[^>]* src="([^"]+)"')
SERVER = (
    "window.__streamlit = { BACKEND_BASE_URL: "
    'location.origin + location.pathname.replace(/[^/]*$/, "") }'
)
PACKED = (b"accept-encoding", b"if-none-match", b"if-modified-since")
PAGE_PATHS = tuple(f"/{slug}" for slug in PLACES if slug != EXPLORE)


class Preload:
    """Write into the head of a page what it would have to find out (ASGI middleware)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold a page back until it is whole, and send it with more; pass all else on."""
        path = scope.get("path", "")
        if scope["type"] != "http" or path not in ("/", *PAGE_PATHS) or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        injected = links() if path == "/" else f"<script>{SERVER}</script>".encode()
        start: Message = {}
        body = bytearray()

        async def hold(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
                return
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            page = bytes(body).replace(b"</head>", injected + b"</head>", 1)
            headers = [(n, v) for n, v in start["headers"] if n.lower() != b"content-length"]
            length = (b"content-length", str(len(page)).encode())
            start["headers"] = [*headers, length]
            await send(start)
            await send({"type": "http.response.body", "body": page})

        # As it is on the disk: neither packed nor left out because the browser has the old one.
        plain = [(name, value) for name, value in scope["headers"] if name not in PACKED]
        await self._app({**scope, "headers": plain}, receive, hold)


@lru_cache(maxsize=1)
def links() -> bytes:
    """Return the element that starts Plotly, as HTML; nothing where its code is not found."""
    started = '<script type="module" crossorigin src="{}"></script>'
    return "".join(started.format(name) for name in plotly_scripts()).encode()


def plotly_scripts() -> list[str]:
    """Return the addresses of the scripts with Plotly's code, beside the one that a page names."""
    index = STATIC / "index.html"
    entry = ENTRY.search(index.read_text(encoding="utf-8")) if index.exists() else None
    if entry is None:
        return []
    folder = entry[1].rpartition("/")[0]
    scripts = sorted((STATIC / folder).glob("*.js"))
    return [f"{folder}/{script.name}" for script in scripts if PLOTLY in script.read_bytes()]


MIDDLEWARE = (Middleware(Preload),)
