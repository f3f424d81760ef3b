"""The menus of Explore: presets and stored studies, and which bounds are drawn."""

import streamlit as st

from dpsco_app.pages.explore.open_study import GALLERY, OPEN, draw_open
from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts.options import BOUND, FORMULA, SHOW, escaped_markdown
from dpsco_app.parts.options import VIEWS as BOUND_VIEWS
from dpsco_app.parts.presets import KINDS, PRESETS, Preset
from dpsco_app.parts.shown_bounds import cards
from dpsco_app.shell import teaching, visit
from dpsco_app.shell.names import EXPLORE, VIEWS, WHY
from dpsco_app.shell.places import place
from dpsco_app.shell.window import arrive
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.formula import parse_formulas
from dpsco_core.results.overlay import check_drawable
from dpsco_core.scenario import Scenario

# The other views of Explore.
WAYS = {s: name for views in VIEWS if EXPLORE in views for s, name in views.items() if s != EXPLORE}
STORY = {WHY: "The story in five minutes"}
CARD_WIDTH = 290  # The pixels of a card, so that four fit in a row of a wide dialog.
ABOUT_FORMULA = (
    "Separate several by ;. Letters: n, d, m, p, q, epsilon (ε), delta (δ), rho (ρ, the budget of "
    "Gaussian noise), D (diameter), L (Lipschitz constant), kappa (κ, condition number), "
    "width (Gaussian width; of sparse vectors its upper bound), G_2 and G_p (roots of the moments "
    "of a record's Lipschitz constant), M (that of a gradient in its worst direction) and k (p). "
    "Signs: + - \\* / ^ and brackets; "
    "functions: sqrt, log, exp, min, max."
)
EXAMPLE = "(d/(n*sqrt(rho)))^(1-1/p)"
TYPED = "formula_typed"
DRAWN_FORMULAS = "formula_drawn"  # The session key of the formulas for which the field was drawn.
VIEW_NAMES = {
    "upper bounds": "Each method's proven bound",
    "lower bounds": "Every lower bound",
    "rates": "Rates, with constant 1",
}


# -- presets --------------------------------------------------------------------------------------


def draw_presets() -> None:
    """Draw the button that opens the gallery of presets, and stored studies.

    The gallery stays over the page while a run under it draws the page anew.
    """
    st.button("Presets", key="presets", on_click=st.session_state.update, args=(OPEN,))
    if st.session_state.get(GALLERY):
        _draw_gallery()


def draw_ways() -> None:
    """Draw the menu of further pages: the other views of Explore, the story, the lessons."""
    if teaching.is_part_hidden("nav"):
        return
    with st.popover("⋯", key="ways", help="Other views"):
        for slug, name in (WAYS | STORY).items():
            st.page_link(place(slug), label=name)


def close_gallery() -> None:
    """Close the gallery of presets."""
    st.session_state[GALLERY] = False


@st.dialog("Presets and stored studies", width="large", on_dismiss=close_gallery)
def _draw_gallery() -> None:
    """Draw the dialog with the presets, one tab for each kind, and a tab for stored studies."""
    *kinds, stored = st.tabs([*KINDS.values(), "Open a study"])
    for kind, tab in zip(KINDS, kinds, strict=True):
        with tab, st.container(horizontal=True):
            for preset in (preset for preset in PRESETS if preset.kind == kind):
                _draw_card(preset)
    with stored:
        draw_open()


def _draw_card(preset: Preset) -> None:
    """Draw the card of a preset, with its picture and a button."""
    with st.container(border=True, width=CARD_WIDTH, height="stretch"):
        st.image(
            preset.picture.read_text(encoding="utf-8"),
            width="stretch",
            alt=f"Lines of {preset.name}",
        )
        chosen = st.button(
            preset.name,
            key=f"preset_{preset.name}",
            width="stretch",
            on_click=start_preset,
            args=(preset,),
        )
        st.caption(preset.card)
    if chosen:
        st.rerun()


def start_preset(preset: Preset) -> None:
    """Close the gallery, put a preset into the controls and run it; a callback."""
    close_gallery()
    arrive()
    session = visit.current()
    session.start_preset(preset)
    STATE.fill_widgets(session.view)


# -- bounds ---------------------------------------------------------------------------------------


def draw_bounds_menu(scenario: Scenario) -> None:
    """Draw the menu of bounds: those of a kind, any by name, and formulas of one's own."""
    state = st.session_state
    with st.popover("Bounds", key="explore_bounds"):
        st.pills(
            "In the figure, draw",
            BOUND_VIEWS,
            selection_mode="multi",
            default=state[SHOW],
            format_func=VIEW_NAMES.__getitem__,
            key=SHOW,
        )
        card_names = {"": "none"} | {
            c.slug: c.name for c in cards(scenario.problem, scenario.level)
        }
        typed = f"{BOUND}_typed"
        state[typed] = state[BOUND] if state[BOUND] in card_names else ""
        st.selectbox(
            "A bound by name",
            list(card_names),
            format_func=card_names.__getitem__,
            key=typed,
            on_change=take,
            args=(BOUND,),
        )
        _draw_formula_field(scenario)


def take(name: str) -> None:
    """Copy the value of the widget for the field `name` into the view; a callback."""
    st.session_state[name] = st.session_state[f"{name}_typed"]


def _draw_formula_field(scenario: Scenario) -> None:
    """Draw the field for formulas, and copy its text into the view if they can be drawn.

    A wrong text stays in the field to be corrected, until Back or Forward changes the formulas.
    """
    state = st.session_state
    formulas: str = state[FORMULA]
    if TYPED not in state or state[DRAWN_FORMULAS] != formulas:
        state[TYPED] = state[DRAWN_FORMULAS] = formulas
    text = st.text_input(
        "Formulas of your own", placeholder=EXAMPLE, help=ABOUT_FORMULA, key=TYPED
    ).strip()
    if scenario.axis is None:
        st.caption("A formula is drawn over an axis: choose one to sweep.")
    try:
        for formula in parse_formulas(text) if text else ():
            check_drawable(scenario, formula)
    except InvalidInput as problem:
        st.error(escaped_markdown(str(problem)))
        return
    if text != formulas:
        state[FORMULA] = text
        st.rerun()
