"""The teacher mode of every page: `?hide=` hides controls, `?type=large` is for a projector.

Both hold for the session, whatever page comes next, and are written into every address. What is
hidden keeps its value: only the style sheet knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dpsco_app.parts.controls import NOTION, PREFIX
from dpsco_app.parts.fields import ALL_CONTROLS, GROUPS
from dpsco_app.parts.look import BESIDE, above_title, moved_apart, wrapped
from dpsco_core.base.parsing import shorten
from dpsco_core.fields import NAMES as FIELDS

HIDE, TYPE = "hide", "type"
NONE = "none"
SIZES = ("normal", "large")
SCALE = 1.25  # of text, on a page and in its figures
HELD = "teaching"

MAIN = "[data-testid=stMain]"
SIDEBAR = "[data-testid=stSidebar]"
# Name -> what it hides, as selectors of the style sheet.
PARTS: dict[str, tuple[str, ...]] = {
    "sidebar": (SIDEBAR, "[data-testid=stExpandSidebarButton]"),
    "nav": ("[data-testid=stTopNav]", "[data-testid=stTopNavLinkContainer]"),
    "presets": (".st-key-presets", f"{MAIN} [class*='_scenes']"),
    "details": (f"{MAIN} [data-testid=stExpander]",),
    "export": (
        "[data-testid=stDownloadButton]",
        "[class*='_files']",
        f"{MAIN} [class*='_export']",
        f"{MAIN} [class*='_link']:has([data-testid=stPopover])",
    ),
    "fine-print": (f"{SIDEBAR} [data-testid=stExpander]",),
}
GROUP_FIELDS = {title.lower(): tuple(c.field for c in group) for title, group in GROUPS}
# What the keys of the widgets of a field begin with: those of the scenario, and those of sets.
PREFIXES = (PREFIX, "geometry_field_")


@dataclass(frozen=True, kw_only=True)
class Teaching:
    """What a session hides, and whether its type is large."""

    hide: tuple[str, ...] = ()
    large: bool = False

    def to_query(self) -> dict[str, str]:
        query = {HIDE: ",".join(self.hide)} if self.hide else {}
        return query | ({TYPE: SIZES[1]} if self.large else {})


def names() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*PARTS, *GROUP_FIELDS, NOTION, *FIELDS)))


def read(query: Mapping[str, str], held: Teaching) -> tuple[Teaching, list[str]]:
    """Return what an address says over what is held, and what is wrong with it."""
    hide, large, wrong = held.hide, held.large, []
    if HIDE in query:
        given = [name.strip() for name in query[HIDE].split(",") if name.strip()]
        hide = tuple(dict.fromkeys(name for name in given if name in names()))
        unknown = [name for name in given if name not in names() and name != NONE]
        if unknown:
            known = ", ".join((*PARTS, *GROUP_FIELDS))
            wrong.append(
                f"{HIDE} must be among {known} and the fields of a scenario, "
                f"got {HIDE}={shorten(','.join(unknown))}."
            )
    if TYPE in query:
        large = query[TYPE] == SIZES[1]
        if query[TYPE] not in SIZES:
            wrong.append(
                f"{TYPE} must be one of {', '.join(SIZES)}, got {TYPE}={shorten(query[TYPE])}."
            )
    return Teaching(hide=hide, large=large), wrong


def apply() -> None:
    """Apply what the address or the session says, before a page is drawn; say what is wrong."""
    query = {k: v for k, v in st.query_params.to_dict().items() if k in (HIDE, TYPE)}
    found, wrong = read(query, held())
    st.session_state[HELD] = found
    if query != found.to_query():
        others = {k: v for k, v in st.query_params.to_dict().items() if k not in (HIDE, TYPE)}
        st.query_params.from_dict(others | found.to_query())
        said = st.session_state["teaching_wrong"] = wrong
    else:
        said = st.session_state.get("teaching_wrong", [])
    if found != Teaching():
        st.html(f"<style>{style(found)}</style>")
    for sentence in said:
        st.warning(f"In the address: {sentence} It is left out.", icon=":material/link:")


def held() -> Teaching:
    found: Teaching = st.session_state.get(HELD, Teaching())
    return found


def style(teaching: Teaching) -> str:
    rules = [f"{selector} {{ display: none !important; }}" for selector in hidden(teaching.hide)]
    if teaching.large:
        # A phone has no room for it.
        rules.append(
            "@media (min-width: 761px) { "
            f"html {{ font-size: {16 * SCALE:.1f}px !important; }} "
            f"{SIDEBAR}[data-collapsed=false] {{ min-width: 18rem !important; }} "
            f"{MAIN} .stMainBlockContainer {{ padding: 4rem 1.5rem 1.5rem !important; }} "
            f"{MAIN} h1 {{ font-size: 1.25rem !important; padding: 0 0 0.75rem !important; }} "
            f"{MAIN} [data-testid=stVerticalBlock] {{ gap: 0.3rem; }} }}"
        )
    return "\n".join(rules)


def hidden(given: Sequence[str]) -> list[str]:
    selectors: list[str] = []
    drawn = {c.field for c in ALL_CONTROLS}
    for name in given:
        selectors += PARTS.get(name, ())
        inside = (*GROUP_FIELDS.get(name, ()), *((NOTION,) if name == "privacy" else ()), name)
        for field in dict.fromkeys(inside):
            if field == NOTION:
                selectors.append(f".st-key-{NOTION}")
            elif field in drawn:
                selectors += [f".st-key-{prefix}{field}" for prefix in PREFIXES]
    return selectors


def enlarged(figure: go.Figure) -> go.Figure:
    """Return a figure with larger type, marks and margins, for a projector; as high as before."""
    plain = figure.to_plotly_json()
    layout = _larger(plain["layout"])
    if title := (layout.get("title") or {}).get("text"):
        text = wrapped(title.replace("<br>", ""), 62)
        layout["title"] |= {"text": text, "pad": {"t": SCALE * above_title(text)}}
    for name, usual in (("height", 450), ("font", {"size": 12}), ("hoverlabel", {})):
        layout.setdefault(name, usual)
    named = [
        a for a in layout.get("annotations", ()) if (a.get("x"), a.get("yref")) == (BESIDE, "y")
    ]
    named.sort(key=lambda annotation: annotation["y"])
    if named:  # the names at the right edge move apart, as they have grown
        low, high = layout["yaxis"]["range"]
        inside = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
        line = 1.3 * named[0]["font"]["size"] * (high - low) / inside
        sizes = [line * (1 + annotation["text"].count("<br>")) for annotation in named]
        heights = moved_apart([annotation["y"] for annotation in named], sizes, high)
        for annotation, height in zip(named, heights, strict=True):
            annotation["y"] = height
    layout["hoverlabel"] = {"font": {"size": 13 * SCALE}} | layout["hoverlabel"]
    return go.Figure(data=[_larger(trace) for trace in plain["data"]], layout=layout)


# Lengths in pixels, wherever they stand in a figure.
LENGTHS = {"size", "l", "r", "t", "b", "xshift", "yshift", "width", "tracegroupgap"}


def _larger(part: Any, name: str = "") -> Any:
    if isinstance(part, dict):
        return {name: _larger(value, name) for name, value in part.items()}
    if isinstance(part, list | tuple) and any(isinstance(v, dict) for v in part):
        return [_larger(v) for v in part]
    return SCALE * part if name in LENGTHS and isinstance(part, int | float) else part
