"""The first answer to a visitor: one address for the front page, and what it will load, named.

Streamlit's page learns from the server's first messages which controls a page has, and only then
asks for their code, one after the other. Named in the page itself, the code is there in time.
A page below the root would first ask for the server beside itself, in vain: it is told where it is.
"""

import re
from functools import lru_cache
from pathlib import Path

import streamlit
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpsco_app.shell.names import EXPLORE, PLACES

STATIC = Path(streamlit.__file__).parent / "static"
# What Streamlit calls the code of the elements on the front page. That of a figure takes half a
# second to start: it is started at once, while the page waits for the server.
FIGURE = "PlotlyChart"
ELEMENTS = (FIGURE, "Slider", "Selectbox", "ButtonGroup", "Button", "Html", "PageLink")
SERVER = (
    "window.__streamlit = { BACKEND_BASE_URL: "
    'location.origin + location.pathname.replace(/[^/]*$/, "") }'
)
PACKED = (b"accept-encoding", b"if-none-match", b"if-modified-since")
BELOW = tuple(f"/{slug}" for slug in PLACES if slug != EXPLORE)
IMPORT = re.compile(r'(?:from|import)"\./([\w.$-]+\.js)"')


class Preload:
    """Write into the head of a page what it would have to find out (ASGI middleware)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold a page back until it is whole, and send it with more; pass all else on."""
        path = scope.get("path", "")
        if scope["type"] != "http" or path not in ("/", *BELOW) or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        more = links() if path == "/" else f"<script>{SERVER}</script>".encode()
        start: Message = {}
        body = bytearray()

        async def hold(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
                return
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            page = bytes(body).replace(b"</head>", more + b"</head>", 1)
            given = [(n, v) for n, v in start["headers"] if n.lower() != b"content-length"]
            length = (b"content-length", str(len(page)).encode())
            start["headers"] = [*given, length]
            await send(start)
            await send({"type": "http.response.body", "body": page})

        # As it is on the disk: neither packed nor left out because the browser has the old one.
        plain = [(name, value) for name, value in scope["headers"] if name not in PACKED]
        await self._app({**scope, "headers": plain}, receive, hold)


@lru_cache(maxsize=1)
def links() -> bytes:
    """Return the links to the code of `ELEMENTS`, and to what that imports, as HTML."""
    named = '<link rel="modulepreload" crossorigin href="./static/js/{}">'
    started = '<script type="module" crossorigin src="./static/js/{}"></script>'
    return "".join(
        (started if name.startswith(f"{FIGURE}.") else named).format(name) for name in chunks()
    ).encode()


def chunks() -> tuple[str, ...]:
    """Return the files of `ELEMENTS`, and what they import, that Streamlit's page does not name."""
    folder = STATIC / "static" / "js"
    named = (STATIC / "index.html").read_text(encoding="utf-8")
    names: dict[str, None] = {}
    todo = [path.name for element in ELEMENTS for path in sorted(folder.glob(f"{element}.*.js"))]
    while todo:
        name = todo.pop(0)
        if name in names or name in named or not (folder / name).exists():
            continue
        names[name] = None
        with (folder / name).open(encoding="utf-8") as file:
            todo += IMPORT.findall(file.read(8192))  # a file's imports are its first words
    return tuple(names)


MIDDLEWARE = (Middleware(Preload),)
