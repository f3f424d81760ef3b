"""The ES modules of this folder as one script: Streamlit takes a component's script as one text."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

HERE = Path(__file__).parent
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+\.js)"\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
DEFAULT = re.compile(r"^export default .*?^\}\n", re.MULTILINE | re.DOTALL)


@cache
def text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


@cache
def script(name: str) -> str:
    """Return a module with what it imports before it, each once; only its default export stays."""
    wanted: list[str] = []
    _collect(name, wanted)
    parts = [IMPORT.sub("", text(part)) for part in wanted]
    parts[:-1] = [DEFAULT.sub("", part) for part in parts[:-1]]
    return "\n".join(EXPORT.sub("", part) for part in parts)


@cache
def component(name: str, *styles: str, html: str | None = None) -> Any:
    """Return the component of a module; made at its first use, when there is a server."""
    markup = text(f"{name}.html") if html is None else html
    css, js = "".join(map(text, styles)), script(f"{name}.js")
    return st.components.v2.component(f"dpsco_touch_{name}", html=markup, css=css, js=js)


def _collect(name: str, wanted: list[str]) -> None:
    for part in IMPORT.findall(text(name)):
        _collect(part, wanted)
    if name not in wanted:
        wanted.append(name)
