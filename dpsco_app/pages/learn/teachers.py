"""For teachers: a link to a step, with what a class should not see hidden."""

from urllib.parse import urlencode

import streamlit as st

from dpsco_app.pages.learn.lessons import BY_SLUG, SLUGS, step_name
from dpsco_app.pages.learn.state import STATE, View
from dpsco_app.parts.page import choose_hidden, explore_query, with_hidden

PLACES = ("Learn", "Explore")
ABOUT = """
A link can open a step, hide what would distract, and enlarge the type for a projector. It holds
while a visitor goes from page to page, until the browser's tab is closed. What is hidden keeps the
value that the link gives it.

- `lesson=3`, or the name of a step, opens it.
- `hide=sidebar,presets` hides parts of every page: `sidebar`, `nav` (the pages' names), `presets`,
  `details` (all that folds out), `export` (downloads and links), `fine-print`, a group of controls
  by its title (`size`, `privacy`), or one control by its name in the address (`p`, `delta`).
- `type=large` is for a projector.
"""


def for_teachers(view: View) -> None:
    """Draw the explanation, the controls, and the link that they make."""
    st.markdown(ABOUT)
    left, right = st.columns(2)
    step = left.selectbox(
        "Step",
        SLUGS,
        index=SLUGS.index(view.lesson),
        format_func=step_name,
        key=f"teachers_step_{view.lesson}",
    )
    where = left.segmented_control(
        "Opens", PLACES, default=PLACES[0], required=True, key="teachers_place"
    )
    with right:
        shown = choose_hidden("teachers")
    # The address of the step, on Learn or as a scenario in Explore.
    page = (st.context.url or "").split("?")[0]
    query = STATE.to_query(View(lesson=step))
    if where != PLACES[0]:
        page = page.removesuffix("/").removesuffix("learn")
        query = explore_query(BY_SLUG[step].scenario, against=BY_SLUG[step].against)
    url = with_hidden(f"{page}?{urlencode(query)}" if query else page, shown)
    st.code(url, language=None, wrap_lines=True)
    st.link_button("Open in a new tab", url, icon=":material/open_in_new:")
