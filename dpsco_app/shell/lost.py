"""The answer to an address without a page: one sentence, and links to the existing pages.

Streamlit would show its front page behind a box that says neither which page was requested nor
where to go. This middleware answers instead, and passes on all other requests.
"""

from html import escape
from urllib.parse import quote

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpsco_app.figure.colours import INK, PAGE
from dpsco_app.figure.theme import FONT
from dpsco_app.shell.names import EXPLORE, MENU, PLACES
from dpsco_core.base.parsing import shorten


class LostPages:
    """Answer requests for pages that do not exist (ASGI middleware)."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the server's ASGI application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an address that names no page; pass all other requests on."""
        path = scope.get("path", "").removeprefix(_base_path()).strip("/")
        is_page = path in ("", *PLACES) and path != EXPLORE
        if scope["type"] != "http" or is_page or path.endswith(".html"):
            await self._app(scope, receive, send)
            return
        is_lost = False

        async def answer(message: Message) -> None:
            """Send a message, or the page for lost visitors in place of Streamlit's page."""
            nonlocal is_lost
            if message["type"] == "http.response.start":
                kind = dict(message["headers"]).get(b"content-type", b"")
                is_lost = message["status"] == 200 and kind.startswith(b"text/html")
                if is_lost:
                    query = scope.get("query_string", b"").decode("latin-1")
                    await _answer(path, query)(scope, receive, send)
            if not is_lost:
                await send(message)

        await self._app(scope, receive, answer)


MIDDLEWARE = (Middleware(LostPages),)


def _base_path() -> str:
    """Return the path at which the dashboard is served, without a slash at its end."""
    path = (st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def _answer(path: str, query: str) -> Response:
    """Return the response to a path without a page: a list of pages, or a way to the front page."""
    if path == EXPLORE:  # The front page has no path of its own.
        return RedirectResponse(f"{_base_path()}/{'?' * bool(query)}{query}")
    return HTMLResponse(lost_page_html(path), status_code=404)


def lost_page_html(requested: str) -> str:
    """Return the HTML that names the requested page and links to the existing ones."""
    links = "".join(
        f'<li><a href="{_base_path()}/{"" if slug == EXPLORE else quote(slug)}">'
        f"{escape(name)}</a></li>"
        for slug, name in MENU.items()
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<title>No such page</title>\n<style>'
        f"body {{ margin: 12vh auto 0; max-width: 40rem; padding: 0 1.5rem; color: {INK[0]}; "
        f"background: {PAGE[0]}; font: 1.0625rem/1.6 {FONT}; }} "
        "h1 { font-size: 1.6875rem; line-height: 1.25; overflow-wrap: anywhere; } "
        "ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; padding: 0; } "
        "a { color: inherit; } @media (prefers-color-scheme: dark) "
        f"{{ body {{ color: {INK[1]}; background: {PAGE[1]}; }} }}</style>\n</head>\n<body>\n"
        f"<h1>The dashboard has no page “{escape(shorten(requested))}”.</h1>\n"
        f"<p>These are its pages:</p>\n<ul>{links}</ul>\n</body>\n</html>\n"
    )
