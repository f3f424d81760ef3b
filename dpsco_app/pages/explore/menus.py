"""The menus of Explore: presets with their gallery, a stored study, and which bounds are drawn."""

import streamlit as st

from dpsco_app.pages.explore.open_study import draw_open
from dpsco_app.pages.explore.runs import press_run
from dpsco_app.parts import controls
from dpsco_app.parts.folding import fold
from dpsco_app.parts.options import AGAINST, BOUND, FORMULA, MEASURE, PIN, SHOW, VIEWS, unmarked
from dpsco_app.parts.presets import KINDS, PRESETS, Preset
from dpsco_app.parts.shown_bounds import cards
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.formula import parse_formulas
from dpsco_core.catalogue import bound
from dpsco_core.results.overlay import check_drawable
from dpsco_core.scenario import Scenario

MENU = "presets_menu"
GALLERY_STYLE = """<style>
[data-testid="stDialog"] [data-testid="stImage"] img { width: 100%; }
</style>"""
ABOUT_FORMULA = (
    "Separate several by ;. Letters: n, d, m, p, q, epsilon (ε), delta (δ), rho (ρ, the budget of "
    "Gaussian noise), D (diameter), L (Lipschitz constant), kappa (κ, condition number) and width "
    "(Gaussian width). Signs: + - \\* / ^ and brackets; functions: sqrt, log, exp, min, max."
)
EXAMPLE = "(d/(n*sqrt(rho)))^(1-1/p)"
VIEW_NAMES = {
    "upper bounds": "Each method's proven bound",
    "lower bounds": "Every lower bound",
    "rates": "Rates, with constant 1",
}


# -- presets --------------------------------------------------------------------------------------
MEASURE_TYPED = "measure_typed"  # what the switch of the figure has been set to


def draw_presets() -> None:
    """Draw the menu of what can be opened: presets, their gallery, a stored study."""
    # Followed, so that it can be closed: what is chosen is behind it, and a dialog below it.
    menu = st.container(width="content", key="presets")
    with menu, st.popover("Presets", key=MENU, on_change="rerun"):
        for kind, name in KINDS.items():
            st.caption(name)
            with st.container(horizontal=True):
                for preset in (preset for preset in PRESETS if preset.kind == kind):
                    st.button(
                        preset.name,
                        key=f"preset_{preset.name}",
                        help=preset.look_for,
                        on_click=start_preset,
                        args=(preset,),
                    )
        st.caption("More")
        with st.container(horizontal=True):
            icon = ":material/grid_view:"
            if st.button("Gallery", icon=icon, key="gallery_open", on_click=_close_menu):
                _gallery()
            draw_open(_close_menu)


def _close_menu() -> None:
    st.session_state[MENU] = False


@st.dialog("Gallery of presets", width="large")
def _gallery() -> None:
    st.html(GALLERY_STYLE)
    st.markdown("Each makes one point. The lines are those of its run, in the colours of Explore.")
    for kind, name in KINDS.items():
        st.markdown(f"**{name}**")
        for i, preset in enumerate(preset for preset in PRESETS if preset.kind == kind):
            if i % 3 == 0:
                columns = st.columns(3)
            with columns[i % 3], st.container(border=True):
                picture = preset.picture.read_text(encoding="utf-8")
                st.image(picture, width="stretch", alt=f"Lines of {preset.name}")
                if st.button(
                    preset.name,
                    key=f"gallery_{preset.name}",
                    width="stretch",
                    on_click=start_preset,
                    args=(preset,),
                ):
                    st.rerun()
                st.caption(preset.look_for)


def start_preset(preset: Preset) -> None:
    """Run a preset; a callback."""
    _close_menu()
    st.session_state[AGAINST] = preset.against
    st.session_state[MEASURE] = st.session_state[MEASURE_TYPED] = preset.measure
    st.session_state[PIN] = ""
    start(preset.scenario)


def start(scenario: Scenario) -> None:
    """Put a scenario into the controls and run it; a callback."""
    controls.load(scenario)
    press_run()


# -- bounds ---------------------------------------------------------------------------------------


def draw_bounds_menu(scenario: Scenario) -> None:
    """Draw the menu of bounds: those of a kind, any by name, and formulas of one's own."""
    fold("Bounds", lambda: _bounds(scenario), "explore_bounds", kind="popover")


def _bounds(scenario: Scenario) -> None:
    state = st.session_state
    views = st.pills(
        "Beside the window, draw",
        VIEWS,
        selection_mode="multi",
        default=state[SHOW],
        format_func=lambda view: VIEW_NAMES[view],
        key="show_typed",
    )
    known = ["", *(c.slug for c in cards(scenario.problem, scenario.level))]
    now = state[BOUND] if state[BOUND] in known else ""
    named = st.selectbox(
        "A bound by name",
        known,
        known.index(now),
        format_func=lambda slug: bound(slug).card.name if slug else "none",
        key="bound_typed",
    )
    formula = _formulas(scenario)
    chosen = {SHOW: list(views), BOUND: named, FORMULA: formula}
    if chosen != {SHOW: list(state[SHOW]), BOUND: now, FORMULA: state[FORMULA]}:
        state.update(chosen)
        st.rerun()


def _formulas(scenario: Scenario) -> str:
    """Draw the field for formulas; return what is typed if it can be drawn, else what was."""
    now: str = st.session_state[FORMULA]
    text = st.text_input(
        "Formulas of your own", now, placeholder=EXAMPLE, help=ABOUT_FORMULA, key="formula_typed"
    ).strip()
    if scenario.axis is None:
        st.caption("A formula is drawn over an axis: choose one to sweep.")
    try:
        for formula in parse_formulas(text):
            check_drawable(scenario, formula)
    except InvalidInput as problem:
        st.error(unmarked(str(problem)))
        return now
    return text
