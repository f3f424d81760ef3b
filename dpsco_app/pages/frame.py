"""A page of a visit: what is asked, what answers it, and what stands below."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.parts.export import draw_page_files
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.page import draw_apart, draw_parts, link, opened_at
from dpsco_app.parts.refusals import on_screen
from dpsco_app.shell.page_state import PageState
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.scenario import Scenario

Draw = Callable[[FirstScreen, Any, Scenario], None]  # is given the view and the scenario
WHOLE = ""  # the part of a page that has no parts


def draw_page(
    state: PageState[Any],
    draw: Mapping[str, Draw],
    questions: Mapping[str, str],
    *,
    names: Mapping[str, str] | None = None,
    about: Mapping[str, str] | None = None,
    symbols: str = "",
    script: Callable[[Any, Scenario], str] | None = None,
    beside: Collection[str] = (),
    of_own: Collection[str] = (),
    has_foot: bool = True,
) -> None:
    """Draw the part of a page that is chosen, or why the page cannot show the scenario.

    `draw`, `questions`, `names` and `about`, the words below a figure, have an entry a part.
    `symbols` explains the letters, `script` makes the page's numbers, and the parts `beside` have
    room for words beside their figure. The parts `of_own` say themselves what their data are, which
    the scenario does not. A page without `has_foot` puts its link elsewhere.
    """
    view, scenario, refused = opened_at(state)
    part = st.session_state[state.key("part")] if names else WHOLE
    screen = FirstScreen(state.name, beside=part in beside)
    if scenario is None:
        screen.say(questions[part], "Not at these settings", refused)
        return
    with screen.controls:
        if names:
            draw_parts(names, state.key("part"))
        if part not in of_own:  # beside the figure: it is not about what the visitor has set
            draw_apart(state, scenario)
    # What runs comes last, so that all the rest is there.
    above, below = st.container(), st.container()
    with below:
        if text := (about or {}).get(part):
            st.markdown(text)
        if symbols:
            fold_words("What the symbols mean", symbols, f"{state.name}_fold_reading")
        if has_foot:
            with st.container(horizontal=True, key=f"{state.name}_foot"):
                if script is not None:
                    draw_page_files(state.name, lambda: script(view, scenario))
                link(state, view, scenario)
    try:
        with above:
            draw[part](screen, view, scenario)
    except (InvalidInput, NotApplicable) as problem:
        screen.say(questions[part], "Not at these settings", on_screen(str(problem)))
