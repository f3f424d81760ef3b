"""Methods: one page a method, and which one when."""

import streamlit as st

from dpsco_app.pages.methods.method import method_page
from dpsco_app.pages.methods.overview import overview
from dpsco_app.pages.methods.state import ORDER, STATE, View, neighbours
from dpsco_app.pages.methods.words import method_label
from dpsco_app.parts.page import draw_apart, draw_controls, draw_wrong, link, opened
from dpsco_app.shell.places import draw_views
from dpsco_core.catalogue import method_card

STYLE = """<style>
.st-key-methods_open, .st-key-methods_links { gap: 0.5rem; }
.st-key-methods_said { min-height: 3rem; }
.st-key-methods_table table { font-size: 0.85rem; }
.st-key-methods_table td, .st-key-methods_table th { padding: 0.35rem 0.5rem; }
@media (max-width: 760px) {
  .st-key-methods_table th:nth-child(n+3), .st-key-methods_table td:nth-child(n+3) {
    display: none;
  }
}
</style>"""


def page() -> None:
    st.html(STYLE)
    draw_views("methods")
    view, wrong = opened(STATE)
    scenario, refused = draw_controls(STATE)
    STATE.remember(view, scenario)
    name = method_card(view.method).name if view.method else "which one when"
    st.title(f"Methods: {name}")
    draw_wrong(wrong)
    _choose(view)
    if scenario is None:
        st.error(refused)
    elif view.method:
        method_page(view.method, scenario)
    else:
        draw_apart(STATE, scenario)
        overview(view, scenario)
    link(STATE, view, scenario)


def _choose(view: View) -> None:
    """Draw the selector of the method, and the buttons to the ones before and after."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    left.selectbox("Method", ORDER, format_func=method_label, key=STATE.key("method"))
    turns = zip(("Previous", "Next"), ("back", "forward"), neighbours(view.method), strict=True)
    with right, st.container(horizontal=True, key="methods_turn"):
        for label, way, to in turns:
            st.button(
                label,
                icon=f":material/arrow_{way}:",
                disabled=to is None,
                help=None if to is None else method_label(to),
                on_click=STATE.change,
                args=({"method": to or ""},),
            )
