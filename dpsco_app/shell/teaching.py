"""The teacher mode of every page: `?hide=` hides controls, `?type=large` is for a projector.

With `?extent=figure` a page is its headline, its figure and a line that says where it is from:
for a frame in another page. All of these hold for the session, whatever page comes next, and are
written into every address. What is hidden keeps its value: only the style sheet knows.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

import streamlit as st

from dpsco_app.front.address import Address, PageView, checked
from dpsco_app.parts.controls import MORE_KEY, NOTION, PREFIX
from dpsco_app.parts.fields import GROUPS
from dpsco_app.parts.folding import FOLD
from dpsco_app.parts.insides import DeltaGenerator
from dpsco_core.base.parsing import one_of

HIDE, TYPE, EXTENT = "hide", "type", "extent"
NAMES = (HIDE, TYPE, EXTENT)
EXTENTS = ("page", "figure")
SIZES = ("normal", "large")
SCALE = 1.25  # the scale of text, on a page and in its figures
SIDEBAR_WIDTH = 360  # pixels, for large type
MODE_KEY, WRONG = "teaching", "teaching_wrong"

CONTROLS = "hidden_controls"  # the place of the controls while the sidebar is hidden
# Name -> what it hides, as selectors of the style sheet: by the keys, or what these begin or end
# with. Menus and links to other pages are not drawn at all.
PARTS: dict[str, tuple[str, ...]] = {
    "sidebar": (f".st-key-{CONTROLS}",),
    "nav": (".st-key-views",),
    "presets": (".st-key-presets", "[class*='st-key-'][class*='_scenes']"),
    "details": (f"[class*='st-key-{FOLD}']",),
    "export": tuple(
        f"[class*='st-key-']:is([class*='_{end} '], [class$='_{end}'])"
        for end in ("files", "export", "link")
    ),
    "fine-print": (f".st-key-{MORE_KEY}",),
}
# What the keys of the widgets of a field begin with: the notion, those of the scenario, of sets.
PREFIXES = ("", PREFIX, "geometry_field_")
PARTS |= {
    title.lower(): tuple(
        f".st-key-{prefix}{name}"
        for name in (*group, *[NOTION] * (title == "Privacy"))
        for prefix in PREFIXES
    )
    for title, group in list(GROUPS.items())[:-1]  # the last one folds away: the fine print
}


ANYWHERE = ("nav", "details", "export")


def parts_on(
    hidden: Collection[str], missing_fields: Collection[str] | None, *, has_presets: bool = False
) -> list[str]:
    """Return what the link of a page offers to hide: what the page has, and what is hidden now.

    `without` are the fields that have no control there; None if the page has no sidebar at all.
    """
    offered = {*hidden, *ANYWHERE, *["presets"] * has_presets}
    if missing_fields is not None:
        offered |= {"sidebar", "fine-print"}
        offered |= {title.lower() for title, own in GROUPS.items() if {*own} - {*missing_fields}}
    return [name for name in PARTS if name in offered]


def _all_known(name: str, value: str) -> None:
    for part in listed(value):
        one_of(name, part, tuple(PARTS))


@dataclass(frozen=True, kw_only=True)
class Teaching(PageView):
    """What a session hides, separated by commas, how large its type is, and how much is shown."""

    hide: str = checked("", _all_known)
    type: str = checked(SIZES[0], one_of, SIZES)
    extent: str = checked(EXTENTS[0], one_of, EXTENTS)

    @property
    def large(self) -> bool:
        return self.type == SIZES[1]

    @property
    def is_figure(self) -> bool:
        """Whether a page is its figure only."""
        return self.extent == EXTENTS[1]


ADDRESS = Address(default=Teaching(), lists=(HIDE,))


def listed(hide: str) -> list[str]:
    return [name.strip() for name in hide.split(",") if name.strip()]


def take() -> Teaching:
    """Take over what the address asks for, once a run and before anything is drawn; return it.

    What the address leaves out stays as the session has it.
    """
    query = {k: v for k, v in st.query_params.to_dict().items() if k in NAMES}
    teaching, problems = current(), list[str]()
    if query:
        teaching, problems = replace(ADDRESS, default=teaching).from_query(query)
    st.session_state[MODE_KEY] = teaching
    if query != ADDRESS.to_query(teaching):
        st.session_state[WRONG] = problems
    return teaching


def apply(teaching: Teaching) -> None:
    """Write what holds into the address, and draw the style sheet that hides and enlarges.

    To be called once the page is known: its path is in the address then.
    """
    address = st.query_params.to_dict()
    query = {k: v for k, v in address.items() if k not in NAMES}
    query |= ADDRESS.to_query(teaching)
    if address != query:
        st.query_params.from_dict(query)
    if teaching != Teaching():
        st.html(f"<style>{style(teaching)}</style>")


def hides(name: str) -> bool:
    """Whether a part of `PARTS` is hidden in this session."""
    return name in _hidden(current())


def _hidden(teaching: "Teaching") -> list[str]:
    """Return what is hidden: what the address names, and the ways out of a figure alone."""
    return [*listed(teaching.hide), *["sidebar", "nav"] * teaching.is_figure]


def controls_place() -> DeltaGenerator:
    """Return where the controls are drawn: the sidebar, or a place that the style sheet hides.

    What is hidden keeps its value only if it is drawn.
    """
    return st.container(key=CONTROLS) if hides("sidebar") else st.sidebar


def wrong() -> list[str]:
    """Return what is wrong in the address, until it holds something else."""
    return list(st.session_state.get(WRONG, []))


def current() -> Teaching:
    mode: Teaching = st.session_state.get(MODE_KEY, Teaching())
    return mode


# On the page of a figure alone an element is shown that is, is in, or has in it one of these.
# A phone needs the names of the lines, too, which stand in a table there.
_FIGURE_PARTS = ".head, .source, [class*='st-key-figure_']"


def _hide_all_but(selectors: str) -> str:
    """Return the rule that hides whatever else is on a page."""
    descendants = ", ".join(f"{part} *" for part in selectors.split(", "))
    rest = f":not({selectors}, {descendants}):not(:has({selectors}))"
    return f".st-key-page {rest} {{ display: none !important; }}"


FIGURE_ALONE = (
    f"@media (min-width: 761px) {{ {_hide_all_but(_FIGURE_PARTS)} }}",
    f"@media (max-width: 760px) {{ {_hide_all_but(f'{_FIGURE_PARTS}, .ladder')} }}",
    # Beside its figure a page may have words.
    "[class*='st-key-second_side_'] { display: none !important; }",
    ".head.single h1:not(.heard) { position: static !important; }",
    ".source { font-size: 0.8rem; margin: 0; }",
)


def style(teaching: Teaching) -> str:
    rules = [
        f"{selector} {{ display: none !important; }}"
        for name in _hidden(teaching)
        for selector in PARTS[name]
    ]
    if teaching.is_figure:
        rules += FIGURE_ALONE
    if teaching.large:
        # A phone has no room for it.
        rules.append(
            "@media (min-width: 761px) { "
            f"html {{ font-size: {16 * SCALE:.1f}px !important; }} "
            "h1 { font-size: 1.25rem !important; padding: 0 0 0.75rem !important; } }"
        )
        rules.append(
            "@media (min-width: 1001px) { .st-key-page { margin: -0.5rem -3.5rem 0 !important; "
            "width: calc(100% + 7rem) !important; gap: 0.3rem !important; } }"
        )
    return "\n".join(rules)
