"""The tree itself: bounded dependencies, no secrets, no telemetry, no address of another host."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LARGEST = 500_000  # The largest size, in bytes, of a file that is searched.

SECRETS = {
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
    "a token of AWS": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,})",
    "a token of PyPI": r"\bpypi-[A-Za-z0-9_-]{50,}",
    "a token of Slack": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a key of an API": r"\bsk-[A-Za-z0-9_-]{32,}|\bAIza[0-9A-Za-z_-]{35}\b",
    "a signed token": r"\beyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.",
    "a password": r"(?i)\b(?:password|secret|api_key|cookieSecret)\s*[:=]\s*[\"'][^\"'{}$]{6,}",
    "a password in an address": r"[a-z]+://[^/\s:@\"']+:[^/\s:@\"'{}$]+@",
}
# Addresses that a program may contain without contacting a host: names of formats, and the reader's
# own machine.
NAMES = {"www.w3.org", "json-schema.org", "localhost", "127.0.0.1"}
TELEMETRY = ("sentry", "segment.io", "mixpanel", "posthog", "google-analytics", "googletagmanager")
# Modules that open connections; `callers` adds `urllib.request` and `socket`.
CALLERS = {
    "requests",
    "httpx",
    "urllib3",
    "aiohttp",
    "ftplib",
    "smtplib",
    "telnetlib",
    "http.client",
}
# Only sources with a match are parsed.
WORTH_PARSING = re.compile(r"://|\bimport (?:.*, )?(?:socket|request)|" + "|".join(CALLERS))
# The only module that opens a connection, to the Dask scheduler named on the command line.
CONNECTS = {"dpsco_core/runs/dask_cluster.py": {"socket"}}


def tracked() -> list[Path]:
    """Return the files under version control, or all that a source archive holds."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        paths = [ROOT / name.decode() for name in listed.stdout.split(b"\0") if name]
    else:
        hidden = {".venv", "build", "dist", "test-results", "__pycache__"}
        paths = [p for p in ROOT.rglob("*") if not hidden & set(p.relative_to(ROOT).parts)]
    return [p for p in paths if p.is_file() and p.stat().st_size <= LARGEST]


def texts(suffixes: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each tracked text file with one of the suffixes, or of all if
    none is given.
    """
    for path in tracked():
        if suffixes and path.suffix not in suffixes:
            continue
        try:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def secrets_in(text: str) -> list[str]:
    """Return the kinds of secrets that a text seems to contain."""
    return [name for name, pattern in SECRETS.items() if re.search(pattern, text)]


def requirements() -> list[tuple[str, Requirement]]:
    """Return every dependency with the extra that asks for it."""
    extras = PROJECT["project"]["optional-dependencies"]
    groups = {"": PROJECT["project"]["dependencies"], **extras}
    groups["build"] = PROJECT["build-system"]["requires"]
    return [(extra, Requirement(text)) for extra, group in groups.items() for text in group]


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    """An upper bound keeps out versions that nobody has tried, and a lower one those with known
    holes.
    """
    listed = requirements()
    assert len(listed) > 10
    for extra, requirement in listed:
        kinds = {s.operator for s in requirement.specifier}
        assert kinds & {">=", ">", "==", "~="}, (extra, str(requirement))
        assert kinds & {"<", "<=", "==", "~="}, (extra, str(requirement))
        assert requirement.url is None, (extra, str(requirement))


def test_no_tracked_file_holds_a_secret() -> None:
    own_path = Path(__file__).relative_to(ROOT).as_posix()
    leaks = {
        name: wrong for name, text in texts() if (wrong := secrets_in(text)) and name != own_path
    }
    assert not leaks
    assert not [p for p in tracked() if p.name in ("secrets.toml", ".env", "id_rsa", ".netrc")]


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN RSA PRIVATE" + " KEY-----",
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "ghp_" + "a" * 36,
        "password = 'hunter" + "22'",
        "https://me:word" + "@example.org/",
    ],
)
def test_a_planted_secret_is_found(text: str) -> None:
    assert secrets_in(text)


def strings(source: str) -> Iterator[str]:
    """Yield the string values of a module, without comments and docstrings."""
    tree = ast.parse(source)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings.add(id(node.value))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            yield node.value


def hosts(source: str) -> set[str]:
    """Return the names of the hosts in the addresses that a module's strings contain."""
    addresses_of_strings = (
        re.findall(r"(?:https?|wss?|ftp)://[^\s\"'<>`)]+", text) for text in strings(source)
    )
    return {
        urlsplit(address).hostname or ""
        for addresses in addresses_of_strings
        for address in addresses
    } - NAMES


def callers(source: str) -> set[str]:
    """Return the modules that a source imports and that open connections."""
    modules = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    callers_and_sockets = CALLERS | {"urllib.request", "socket"}
    return {
        name for name in modules if name in callers_and_sockets or name.split(".")[0] in CALLERS
    }


def test_the_program_names_no_other_host_and_opens_no_connection() -> None:
    """Citations stand in documents and docstrings, and the browser opens links for people."""
    files = 0
    for name, source in texts((".py",)):
        if not name.startswith(("dpsco_core/", "dpsco_app/", "app.py")):
            continue
        files += 1
        if not WORTH_PARSING.search(source):
            continue
        assert not hosts(source), name
        assert callers(source) <= CONNECTS.get(name, set()), name
        assert not [word for word in TELEMETRY if word in source.lower()], name
    assert files > 100


def test_a_planted_host_and_a_planted_caller_are_found() -> None:
    assert hosts("x = f'https://example.org/{a}'") == {"example.org"}
    assert hosts('"""See https://example.org."""\nx = "http://www.w3.org/2000/svg"') == set()
    assert callers("from urllib import request\nimport requests.adapters\nimport urllib.parse") == {
        "urllib.request",
        "requests.adapters",
    }
