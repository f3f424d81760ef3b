"""The server over HTTP: headers, origins, tokens, paths. One server for the module."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit import net_util

from dpsco_app.shell import guard, preload
from dpsco_app.shell.names import EXPLORE, MENU
from tests.attack.server import ROOT, ask, knock, serving

CONFIGURATION = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
FOREIGN_ORIGINS = (
    "https://evil.example",
    "http://evil.example:8501",
    "null",
    "",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://evil.example@",
    "http://[",
    "file://",
)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Yield the port of a running server."""
    with serving(tmp_path_factory.mktemp("server")) as (number, _):
        yield number


def test_every_answer_carries_the_headers(port: int) -> None:
    paths = ("/", "/users", "/_stcore/health", "/media/none", "/favicon.png", "/..%2f..%2fx")
    statuses = set()
    for path in paths:
        status, headers, _ = ask(port, "GET", path)
        statuses.add(status)
        for name, value in guard.HEADERS.items():
            assert headers.get_all(name) == [value], (path, name)
        (policy,) = headers.get_all("Content-Security-Policy") or []
        assert "default-src 'self'" in policy and "frame-ancestors 'self'" in policy
        for wide in ("*", "http:", "https:", "'unsafe-eval'"):
            assert wide not in policy.split()
        scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
        assert "'unsafe-inline'" not in scripts
    assert {200, 404, 400} <= statuses


def test_the_page_of_streamlit_runs_under_the_policy(port: int) -> None:
    """The policy allows Streamlit's inline script and the project's by their hashes; all pages
    carry both.
    """
    assert guard.inline_scripts().count(" 'sha256-") == 2
    for path in preload.PAGE_PATHS:
        _, _, body = ask(port, "GET", path, {"Accept-Encoding": "gzip", "If-None-Match": "*"})
        assert f"<script>{preload.SERVER}</script></head>".encode() in body, path


def test_an_address_without_a_page_gets_a_page_that_says_so_and_has_links(port: int) -> None:
    for path, name in (("/nosuch", "nosuch"), ("/learn/x", "learn/x"), ("/%3Cb%3E", "&lt;b&gt;")):
        status, _, body = ask(port, "GET", path)
        assert status == 404, path
        assert f"The dashboard has no page “{name}”." in body.decode(), path
        for slug in MENU:
            assert f'href="/{slug * (slug != EXPLORE)}"' in body.decode(), slug
    status, headers, _ = ask(port, "GET", "/explore?n=700")
    # The answer redirects to the front page, and keeps the query.
    assert (status, headers["Location"]) == (307, "/?n=700")
    for path in ("/", "/learn", "/users?n=5", "/_stcore/health"):
        assert ask(port, "GET", path)[0] == 200, path


def test_no_other_site_may_read_an_answer(port: int) -> None:
    for path in ("/", "/_stcore/health", "/_stcore/host-config", "/_stcore/metrics", "/media/x"):
        for method in ("GET", "OPTIONS"):
            _, headers, _ = ask(port, method, path, {"Origin": FOREIGN_ORIGINS[0]})
            assert "Access-Control-Allow-Origin" not in headers, path


def test_a_websocket_opens_for_the_dashboards_own_page_only(port: int) -> None:
    assert knock(port, f"http://localhost:{port}") == 101
    assert knock(port, f"http://127.0.0.1:{port}", f"127.0.0.1:{port}") == 101
    assert knock(port, None) == 101  # A client that is no browser sends no origin.
    for origin in (*FOREIGN_ORIGINS, f"http://localhost:{port + 1}", "http://localhost"):
        assert knock(port, origin) == 403, origin


def test_another_name_for_this_machine_is_refused(port: int) -> None:
    """A site that gave its own name this machine's address would otherwise share the server's
    origin.
    """
    evil = f"evil.example:{port}"
    status, _, body = ask(port, "GET", "/", {"Host": evil})
    assert status == 421
    assert body.decode() == (
        f"Host must be one of localhost, 127.0.0.1, ::1, got {evil}. Whoever hosts the dashboard "
        "names its host with --server.allowedHosts."
    )
    assert knock(port, f"http://{evil}", evil) == 403


def test_nobody_is_asked_who_is_calling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's own check would ask a web service for this machine's address."""
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda *_, **__: pytest.fail("asked"))
    assert not any(guard.is_own(origin, "localhost:8501") for origin in FOREIGN_ORIGINS)
    assert guard.is_own("https://here.example", "here.example")
    assert guard.is_own("http://localhost:8501", "127.0.0.1:8501")


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:1"])
def test_a_program_on_the_visitors_machine_is_another_site(origin: str) -> None:
    assert not guard.is_own(origin, "dpsco.example")
    assert not guard.is_own(origin, "dpsco.example:3000")
    assert not guard.is_own(origin, "localhost:8501")


def test_whoever_hosts_the_dashboard_can_name_its_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = {
        "server.address": "0.0.0.0",
        "server.allowedHosts": [],
        "server.corsAllowedOrigins": ["https://school.example"],
        "server.enableCORS": True,
    }
    monkeypatch.setattr(guard.st, "get_option", options.__getitem__)
    monkeypatch.setattr(guard, "is_manually_set", lambda _: False)
    assert guard.wrong_host("dpsco.example") == ""
    assert guard.is_own("https://school.example", "dpsco.example")
    assert not guard.is_own("https://other.example", "dpsco.example")
    policy = guard.headers()["Content-Security-Policy"]
    assert policy.endswith("frame-ancestors 'self' https://school.example")
    options["server.address"] = "localhost"
    assert guard.wrong_host("dpsco.example").startswith("Host must be one of ")
    options["server.allowedHosts"] = ["dpsco.example"]  # Streamlit itself checks this option.
    assert guard.wrong_host("dpsco.example") == ""


def test_an_upload_needs_the_token_of_the_page(port: int) -> None:
    path = "/_stcore/upload_file/session/file"
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n1\r\n--x--\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    assert ask(port, "PUT", path, kind, body)[0] == 403
    forged = kind | {"X-Xsrftoken": "guess", "Cookie": "_streamlit_xsrf=guess"}
    assert ask(port, "PUT", path, forged, body)[0] == 403
    _, headers, _ = ask(port, "GET", "/_stcore/host-config")
    assert "SameSite=none" not in str(headers.get("Set-Cookie", ""))


SECRET = b"[build-system]"  # A line of an existing file that the server must never return.
PATHS = (
    *("/../pyproject.toml", "/../../../../etc/passwd", "/./../app.py", "//etc/passwd"),
    *("/static/../../../../../../etc/passwd", "/static/..%2f..%2f..%2fpyproject.toml"),
    *("/%2e%2e/%2e%2e/etc/passwd", "/..%5c..%5cpyproject.toml", "/%252e%252e%252fetc/passwd"),
    *("/media/../pyproject.toml", "/media/%2e%2e%2fpyproject.toml", "/media//etc/passwd"),
    *("/component/dpsco_touch_picture/../../../pyproject.toml", "/component/..%2f..%2fetc/passwd"),
    *("/_stcore/bidi-components/dpsco_touch_picture/../../../pyproject.toml",),
    *("/_stcore/bidi-components/..%2f..%2fetc%2fpasswd", "/app/static/../pyproject.toml"),
    *("/app/static/%2e%2e/pyproject.toml", "/app/static/pyproject.toml", "/media/%00"),
    *(
        "/pyproject.toml",
        "/.streamlit/config.toml",
        "/.git/config",
        "/app.py",
        "/dpsco_app/link.py",
    ),
    *("/\\\\host\\share", "/file:///etc/passwd", "/C:/windows/win.ini", "/%00", "/" + "a" * 20_000),
    *("/_stcore/upload_file/..%2f../x", "/_stcore/agent/interact", "/_stcore/script-health-check"),
)


def test_no_path_leads_to_a_file(port: int) -> None:
    """The server answers with a refusal or with the page itself; an address that is no page is not
    found.
    """
    _, _, front = ask(port, "GET", "/")
    _, _, other_page = ask(port, "GET", "/learn")
    for path in PATHS:
        status, _, body = ask(port, "GET", path)
        assert SECRET not in body and b"root:" not in body and b"[core]" not in body, path
        assert status in (400, 403, 404, 405, 414, 422) or body in (front, other_page), (
            path,
            status,
        )
        if ".." in path or "%2e" in path.lower():
            assert status in (400, 403, 404) or body in (front, other_page), (path, status)


def test_the_server_does_not_offer_the_pages_to_programs(port: int) -> None:
    for path, message in (
        ("/_stcore/agent/interact", b"{}"),
        ("/_stcore/agent/mcp", b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'),
    ):
        status, _, body = ask(
            port, "POST", path, {"Content-Type": "application/json", "Accept": "*/*"}, message
        )
        assert status in (400, 403, 404, 405), (path, status)
        assert b"not_available" in body or status in (404, 405), (path, body)


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("server", "address", "localhost"),
        ("server", "enableCORS", True),
        ("server", "enableXsrfProtection", True),
        ("server", "enableStaticServing", False),
        ("server", "fileWatcherType", "none"),
        ("browser", "gatherUsageStats", False),
        ("client", "showErrorDetails", "none"),
        ("client", "showErrorLinks", False),
        ("client", "toolbarMode", "viewer"),
    ],
)
def test_the_configuration_that_is_shipped_is_the_closed_one(
    section: str, name: str, value: object
) -> None:
    assert CONFIGURATION[section][name] == value


def test_the_configuration_bounds_what_a_visitor_sends() -> None:
    assert 0 < CONFIGURATION["server"]["maxUploadSize"] <= 64  # The largest upload, in megabytes.
    assert 0 < CONFIGURATION["server"]["maxMessageSize"] <= 64


def test_the_wheel_ships_the_same_configuration() -> None:
    project = tomllib.loads(Path(ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert shipped[".streamlit/config.toml"] == "dpsco_app/.streamlit/config.toml"
