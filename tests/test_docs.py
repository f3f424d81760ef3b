"""The documentation's site: every page is in its menu, says what is so, and asks no other host."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpsco_app.front.links import BASE
from dpsco_core import Scenario
from dpsco_core.cli.main import main
from dpsco_core.fields import NAMES, TABLE

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
INTERFACES = (DOCS / "interfaces.md").read_text(encoding="utf-8")
SETTING = ["--n", "200", "--d", "2", "--method", "mean.clipped"]

# A formula's number may have these characters; math-core refuses a prime, for example.
TAG = re.compile(r"[\w, ]+")
# This matches what makes a browser, or the build, contact another host; a link that a reader
# follows does not count.
FETCHES = (
    r"(?i)\b(?:src|srcset|data|poster|action)\s*=\s*[\"']?\s*(?:https?:)?//",
    r"(?i)<link\b[^>]*(?:https?:)?//",
    r"(?i)\burl\(\s*[\"']?\s*(?:https?:)?//",
    r"(?i)@import\b.*//",
    r"(?i)!\[[^\]]*\]\(\s*(?:https?:)?//",
    r"(?i)\b(?:fetch|import|importScripts|Worker|open|sendBeacon)\(\s*[\"'`](?:https?:)?//",
)


def pages(menu: list[Any]) -> list[str]:
    """Return the files that a menu of mkdocs names."""
    names = []
    for entry in menu:
        for value in entry.values():
            names += [value] if isinstance(value, str) else pages(value)
    return names


def strings(value: Any) -> list[str]:
    """Return every text of a value that YAML has read, keys included."""
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


def fetches(text: str) -> list[str]:
    """Return the parts of a page, a style or a script that are fetched from another host."""
    return [match[0] for pattern in FETCHES for match in re.finditer(pattern, text)]


def foreign(config: str) -> list[str]:
    """Return the settings of the site's configuration that take something from another host."""
    values = yaml.safe_load(config)
    hosts = [text for text in strings(values) if re.match(r"(?:https?:)?//", text)]
    if values["theme"].get("font", True) is not False:
        hosts.append("the fonts of the theme")
    polyfills = values.get("extra", {}).get("polyfills", [])
    if "offline" in values["plugins"] and not any("iframe-worker" in p for p in polyfills):
        hosts.append("the search of a page from the disk")
    return hosts


def test_the_menu_names_every_page_once() -> None:
    files = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    assert sorted(pages(yaml.safe_load(CONFIG)["nav"])) == files


def test_every_file_that_the_site_is_built_with_exists() -> None:
    config = yaml.safe_load(CONFIG)
    (python,) = [p["mkdocstrings"] for p in config["plugins"] if "mkdocstrings" in p]
    modules = [*config["hooks"], *python["handlers"]["python"]["options"]["extensions"]]
    served = [*config["extra_css"], *config["extra"]["polyfills"]]
    for path in (*modules, *(f"docs/{name}" for name in served)):
        assert (ROOT / path).is_file(), path
    assert config["strict"] is True


def test_the_site_asks_no_other_host() -> None:
    assert foreign(CONFIG) == []
    for path in DOCS.rglob("*"):
        if path.suffix in (".md", ".css", ".js", ".html", ".py"):
            addresses = fetches(path.read_text(encoding="utf-8"))
            assert not addresses, f"{path.relative_to(ROOT)}: {addresses}"


def strange_tags(text: str) -> list[str]:
    """Return the numbers of formulas that `make docs` cannot show."""
    return [tag for tag in re.findall(r"\\tag\{([^}]*)\}", text) if not TAG.fullmatch(tag)]


def test_every_number_of_a_formula_can_be_shown() -> None:
    for path in DOCS.rglob("*.md"):
        tags = strange_tags(path.read_text(encoding="utf-8"))
        assert not tags, f"{path.relative_to(ROOT)}: {tags}; use letters and digits"
    assert strange_tags(r"$$x \tag{A1', A2} y \tag{E1, E2}$$") == ["A1', A2"]


@pytest.mark.parametrize(
    "planted",
    [
        '<script src="https://cdn.example/katex.js"></script>',
        "<img src=//images.example/a.png>",
        '<link rel="stylesheet" href="https://cdn.example/style.css">',
        '@font-face { src: url("https://fonts.example/a.woff2"); }',
        '@import "https://fonts.example/css";',
        "![a badge](https://badges.example/a.svg)",
        'fetch("https://api.example/")',
    ],
)
def test_a_planted_request_is_found(planted: str) -> None:
    assert fetches(planted)


@pytest.mark.parametrize(
    ("text", "planted"),
    [
        ("font: false", "language: en"),
        ("[site/site.css]", "['https://cdn.example/style.css']"),
        ("site/iframe-worker.js", "site/other.js"),
    ],
)
def test_a_planted_host_of_the_configuration_is_found(text: str, planted: str) -> None:
    assert text in CONFIG
    assert foreign(CONFIG.replace(text, planted))


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_interfaces_has_the_row_of_every_field(name: str) -> None:
    assert row_of(name) in INTERFACES, "this row belongs into docs/interfaces.md"


def test_the_page_of_interfaces_says_what_an_address_of_the_dashboard_starts_from() -> None:
    query, text = {"d": "30"}, " ".join(INTERFACES.split())
    shown, library = Scenario.from_query(query, BASE), Scenario.from_query(query)
    begins = f"where p = {shown.p:g}, there are {shown.trials} trials and {shown.axis} is swept"
    assert f"{begins}: `?d=30` has p = {shown.p:g} there, and p = {library.p:g} in" in text


def row_of(name: str) -> str:
    """Return the row of a field, made of the table of fields."""
    value = getattr(Scenario(), name)
    if value in (None, ()):
        default = "none"
    elif name == "delta":
        digits = str(round(math.log10(value)))
        default = "10" + digits.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    else:
        values = value if isinstance(value, tuple) else (value,)
        default = ", ".join(f"`{v}`" if isinstance(v, str) else f"{v:g}" for v in values)
    return f"| `{name}` | {TABLE[name].description} | {default} |"


def test_the_page_of_interfaces_has_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = set(re.findall(r"^    ([a-z]+)\b", capsys.readouterr().out, re.MULTILINE))
    assert len(commands) > 10
    assert set(re.findall(r"^\| `dpsco ([a-z]+)", INTERFACES, re.MULTILINE)) == commands


@pytest.mark.parametrize(
    "command",
    [
        ["catalogue"],
        ["run", *SETTING, "--trials", "2", "--workers", "1"],
        ["bounds", *SETTING],
        ["audit", "--method", "mean.clipped", "--trials", "100"],
    ],
    ids=lambda command: command[0],
)
def test_the_page_of_interfaces_has_every_key(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    lists = [value for value in values.values() if isinstance(value, list)]
    rows = [row for rows in lists for row in rows[:1] if isinstance(row, dict)]
    keys = {*values, *(key for row in rows for key in row)}
    of_looks = {"trials", "epsilon_lower_bound"}
    missing = {key for key in keys - of_looks if f"`{key}`" not in INTERFACES}
    assert not missing
