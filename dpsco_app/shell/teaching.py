"""The teacher mode of every page: `?hide=` hides controls, `?type=large` enlarges for a projector.

With `?extent=figure` a page shows only its headline, its figure and a source line, for embedding in
another page. All of these hold for the whole session and are written into every address. Hidden
controls keep their values, since only the style sheet hides them.
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
SCALE = 1.25  # The factor by which large type enlarges the text of pages and figures.
SIDEBAR_WIDTH = 360  # The width of the sidebar with large type, in pixels.
MODE_KEY, WRONG = "teaching", "teaching_wrong"

# The key of the container of the controls while the sidebar is hidden.
CONTROLS = "hidden_controls"
# The parts that can be hidden, each with its CSS selectors: keys, or the beginnings or ends of
# keys. Menus and links to other pages are not drawn at all.
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
# The prefixes of the keys of a field's widgets: the notion of privacy, the scenario, the geometry
# page.
PREFIXES = ("", PREFIX, "geometry_field_")
PARTS |= {
    title.lower(): tuple(
        f".st-key-{prefix}{name}"
        for name in (*group, *[NOTION] * (title == "Privacy"))
        for prefix in PREFIXES
    )
    for title, group in list(GROUPS.items())[:-1]  # The last group, the fine print, is folded away.
}


ANYWHERE = ("nav", "details", "export")


def parts_on(
    hidden: Collection[str], missing_fields: Collection[str] | None, *, has_presets: bool = False
) -> list[str]:
    """Return the parts that a page offers to hide: those that it has, and those hidden now.

    `missing_fields` are the fields without a control there; None if the page has no sidebar.
    """
    offered = {*hidden, *ANYWHERE, *["presets"] * has_presets}
    if missing_fields is not None:
        offered |= {"sidebar", "fine-print"}
        offered |= {title.lower() for title, own in GROUPS.items() if {*own} - {*missing_fields}}
    return [name for name in PARTS if name in offered]


def _check_hidden(name: str, value: str) -> None:
    """Raise `InvalidInput` unless all parts in a comma-separated list are names in `PARTS`."""
    for part in hidden_names(value):
        one_of(name, part, tuple(PARTS))


@dataclass(frozen=True, kw_only=True)
class Teaching(PageView):
    """The teacher mode: hidden parts (comma-separated), the type size, and the page's extent."""

    hide: str = checked("", _check_hidden)
    type: str = checked(SIZES[0], one_of, SIZES)
    extent: str = checked(EXTENTS[0], one_of, EXTENTS)

    @property
    def large(self) -> bool:
        """Whether the text is enlarged, for a projector."""
        return self.type == SIZES[1]

    @property
    def is_figure(self) -> bool:
        """Whether the page shows only its figure."""
        return self.extent == EXTENTS[1]


ADDRESS = Address(default=Teaching(), lists=(HIDE,))


def hidden_names(hide: str) -> list[str]:
    """Return the names in a comma-separated list of parts to hide."""
    return [name.strip() for name in hide.split(",") if name.strip()]


def take() -> Teaching:
    """Read the teacher mode from the address, once a run and before anything is drawn; return it.

    Parameters that the address leaves out keep the session's values.
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
    """Write the teacher mode into the address, and draw the style sheet that hides and enlarges.

    Call this once the page is known, since only then does the address have its path.
    """
    address = st.query_params.to_dict()
    query = {k: v for k, v in address.items() if k not in NAMES}
    query |= ADDRESS.to_query(teaching)
    if address != query:
        st.query_params.from_dict(query)
    if teaching != Teaching():
        st.html(f"<style>{style(teaching)}</style>")


def is_part_hidden(name: str) -> bool:
    """Whether a part named in `PARTS` is hidden in this session."""
    return name in _hidden(current())


def _hidden(teaching: "Teaching") -> list[str]:
    """Return the names of the hidden parts; for a figure alone, controls and links are added."""
    return [*hidden_names(teaching.hide), *["sidebar", "nav"] * teaching.is_figure]


def controls_place() -> DeltaGenerator:
    """Return the container of the controls: the sidebar, or a container that the style sheet hides.

    A hidden control keeps its value only if it is drawn.
    """
    return st.container(key=CONTROLS) if is_part_hidden("sidebar") else st.sidebar


def wrong() -> list[str]:
    """Return the errors that were found in the address when it last changed."""
    return list(st.session_state.get(WRONG, []))


def current() -> Teaching:
    """Return the teacher mode of this visit."""
    mode: Teaching = st.session_state.get(MODE_KEY, Teaching())
    return mode


# With the extent "figure", an element is shown only if it matches, lies in, or contains one of
# these selectors.
_FIGURE_PARTS = ".head, .source, [class*='st-key-figure_']"


def _rule_hiding_all_but(selectors: str) -> str:
    """Return the CSS rule that hides all elements of a page but those that `selectors` match.

    Their ancestors and descendants stay visible, too.
    """
    descendants = ", ".join(f"{part} *" for part in selectors.split(", "))
    rest = f":not({selectors}, {descendants}):not(:has({selectors}))"
    return f".st-key-page {rest} {{ display: none !important; }}"


FIGURE_ALONE = (
    f"@media (min-width: 761px) {{ {_rule_hiding_all_but(_FIGURE_PARTS)} }}",
    f"@media (max-width: 760px) {{ {_rule_hiding_all_but(f'{_FIGURE_PARTS}, .ladder')} }}",
    # The words beside a page's figure are hidden, too.
    "[class*='st-key-second_side_'] { display: none !important; }",
    ".head.single h1:not(.heard) { position: static !important; }",
    ".source { font-size: 0.8rem; margin: 0; }",
)


def style(teaching: Teaching) -> str:
    """Return the CSS that hides parts and enlarges text as the teacher mode asks for."""
    rules = [
        f"{selector} {{ display: none !important; }}"
        for name in _hidden(teaching)
        for selector in PARTS[name]
    ]
    if teaching.is_figure:
        rules += FIGURE_ALONE
    if teaching.large:
        # A phone has no room for the enlarged sidebar.
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
