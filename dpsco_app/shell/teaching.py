"""The teacher mode of every page: `?hide=` hides controls, `?type=large` is for a projector.

Both hold for the session, whatever page comes next, and are written into every address. What is
hidden keeps its value: only the style sheet knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from dpsco_app.parts.controls import NOTION, PREFIX
from dpsco_app.parts.fields import ALL_CONTROLS, GROUPS
from dpsco_core.base.parsing import shorten
from dpsco_core.fields import NAMES as FIELDS

HIDE, TYPE = "hide", "type"
NONE = "none"
SIZES = ("normal", "large")
SCALE = 1.25  # the scale of text, on a page and in its figures
HELD, WRONG = "teaching", "teaching_wrong"

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
# What the keys of the widgets of a field begin with: the notion, those of the scenario, of sets.
PREFIXES = ("", PREFIX, "geometry_field_")


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


def read(query: Mapping[str, str], teaching: Teaching) -> tuple[Teaching, list[str]]:
    """Return what an address says over what is held, and what is wrong with it."""
    hide, large, wrong = teaching.hide, teaching.large, []
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
    """Apply what the address or the session says, before a page is drawn."""
    query = {k: v for k, v in st.query_params.to_dict().items() if k in (HIDE, TYPE)}
    teaching, problems = read(query, current())
    st.session_state[HELD] = teaching
    if query != teaching.to_query():
        others = {k: v for k, v in st.query_params.to_dict().items() if k not in (HIDE, TYPE)}
        st.query_params.from_dict(others | teaching.to_query())
        st.session_state[WRONG] = problems
    if teaching != Teaching():
        st.html(f"<style>{style(teaching)}</style>")


def wrong() -> list[str]:
    """Return what is wrong in the address, until it holds something else."""
    return list(st.session_state.get(WRONG, []))


def current() -> Teaching:
    kept: Teaching = st.session_state.get(HELD, Teaching())
    return kept


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
    shown = {NOTION, *(c.field for c in ALL_CONTROLS)}
    for name in given:
        selectors += PARTS.get(name, ())
        inside = (*GROUP_FIELDS.get(name, ()), *((NOTION,) if name == "privacy" else ()), name)
        fields = [field for field in dict.fromkeys(inside) if field in shown]
        selectors += [f".st-key-{prefix}{field}" for field in fields for prefix in PREFIXES]
    return selectors
