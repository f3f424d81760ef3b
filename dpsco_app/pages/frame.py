"""The frame of a page: its question, its answer, and the parts below."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.parts.export import draw_page_files
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.page import draw_differences, draw_parts, link, open_page
from dpsco_app.parts.refusals import on_screen
from dpsco_app.shell.page_state import PageState
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.scenario import Scenario

# Such a function draws a part of a page from the screen, the view and the scenario.
Draw = Callable[[FirstScreen, Any, Scenario], None]
# The key in `draw` and `questions` for a page that is not divided into parts.
WHOLE = ""


def draw_page(
    state: PageState[Any],
    draw: Mapping[str, Draw],
    questions: Mapping[str, str],
    *,
    names: Mapping[str, str] | None = None,
    texts: Mapping[str, str] | None = None,
    symbols: str = "",
    script: Callable[[Any, Scenario], str] | None = None,
    with_side: Collection[str] = (),
    with_own_data: Collection[str] = (),
    has_foot: bool = True,
) -> None:
    """Draw the chosen part of a page, or why the page cannot show the scenario.

    `draw`, `questions`, `names` and `texts`, the words below a figure, have one entry per part.
    `symbols` explains the letters, `script` writes the code for the page's numbers. The parts
    `with_side` have room for words beside their figure; the parts `with_own_data` do not use the
    scenario's data and describe their own. A page without `has_foot` puts its link elsewhere.
    """
    view, scenario, refused = open_page(state)
    part = st.session_state[state.key("part")] if names else WHOLE
    screen = FirstScreen(state.name, has_side=part in with_side)
    if scenario is None:
        screen.say(questions[part], "Not at these settings", refused)
        return
    with screen.controls:
        if names:
            draw_parts(names, state.key("part"))
        if part not in with_own_data:  # Other parts do not show the visitor's own scenario.
            draw_differences(state, scenario)
    # Computations come last, so that the rest of the page is already drawn.
    body, foot = st.container(), st.container()
    with foot:
        if text := (texts or {}).get(part):
            st.markdown(text)
        if symbols:
            fold_words("What the symbols mean", symbols, f"{state.name}_fold_reading")
        if has_foot:
            with st.container(horizontal=True, key=f"{state.name}_foot"):
                if script is not None:
                    draw_page_files(state.name, lambda: script(view, scenario))
                link(state, view, scenario)
    try:
        with body:
            draw[part](screen, view, scenario)
    except (InvalidInput, NotApplicable) as problem:
        screen.say(questions[part], "Not at these settings", on_screen(str(problem)))
