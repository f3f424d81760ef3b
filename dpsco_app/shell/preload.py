"""The first answer to a visitor: one address for the front page, and the code of its figure.

Streamlit's page learns only from the server's first messages that it must draw a figure, and then
loads Plotly, which takes half a second. A script link in the page itself starts the download at
once.
A page below the root path would first look for the server beside itself, in vain, so the page is
told where the server is.
"""

import re
from functools import lru_cache

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpsco_app.parts.insides import STATIC
from dpsco_app.shell.names import EXPLORE, PLACES

# The beginning of Plotly's licence text, which identifies its code in any file.
PLOTLY = b"plotly.js v"
ENTRY = re.compile(r'<script type="module"[^>]* src="([^"]+)"')
SERVER = (
    "window.__streamlit = { BACKEND_BASE_URL: "
    'location.origin + location.pathname.replace(/[^/]*$/, "") }'
)
PACKED = (b"accept-encoding", b"if-none-match", b"if-modified-since")
PAGE_PATHS = tuple(f"/{slug}" for slug in PLACES if slug != EXPLORE)


class Preload:
    """Name in a page's head the addresses that the browser needs later (ASGI middleware)."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the server's ASGI application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a page with links in its head; pass other requests on."""
        path = scope.get("path", "")
        if scope["type"] != "http" or path not in ("/", *PAGE_PATHS) or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        injected = preload_links() if path == "/" else f"<script>{SERVER}</script>".encode()
        start: Message = {}
        body = bytearray()

        async def collect(message: Message) -> None:
            """Collect the messages of a page, and send it with the links once it is complete."""
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

        # The page is requested uncompressed, and even if the browser has cached an older one.
        plain = [(name, value) for name, value in scope["headers"] if name not in PACKED]
        await self._app({**scope, "headers": plain}, receive, collect)


@lru_cache(maxsize=1)
def preload_links() -> bytes:
    """Return the HTML elements that load Plotly ahead; empty if its code is not found."""
    started = '<script type="module" crossorigin src="{}"></script>'
    return "".join(started.format(name) for name in plotly_scripts()).encode()


def plotly_scripts() -> list[str]:
    """Return the addresses of the scripts with Plotly's code, besides a page's own script."""
    index = STATIC / "index.html"
    entry = ENTRY.search(index.read_text(encoding="utf-8")) if index.exists() else None
    if entry is None:
        return []
    folder = entry[1].rpartition("/")[0]
    scripts = sorted((STATIC / folder).glob("*.js"))
    return [f"{folder}/{script.name}" for script in scripts if PLOTLY in script.read_bytes()]


MIDDLEWARE = (Middleware(Preload),)
