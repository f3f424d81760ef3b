"""Opening a stored study in Explore: the choice of a file and of its study."""

import streamlit as st

from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts.export import setting_line
from dpsco_app.runs.stored import MEGABYTES, Shelf, require_showable, served_shelf
from dpsco_app.shell import visit
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import shorten
from dpsco_core.runs.allowed import refusal
from dpsco_core.scenario import Scenario

GALLERY = "gallery"  # The session key that says whether the dialog for choosing a study is open.
PROBLEM = "opened_study_problem"
OPEN = {GALLERY: True, PROBLEM: ""}  # The state of the session that opens the dialog.
DIALOG_TEXT = (
    "`dpsco study FILE.toml --out results.sqlite` runs a long study and keeps it in a file. "
    "Open one: it is drawn as if it had been run here, between the same bounds."
)
ABOUT_FILES = (
    f"At most {MEGABYTES} MB. The file is read where this dashboard runs, and no copy of it is "
    "kept there."
)


def draw_open() -> None:
    """Draw the studies that this server offers, and the field for a file of the visitor."""
    st.markdown(DIALOG_TEXT)
    server_folder = served_shelf()
    if server_folder is not None:
        st.markdown("**On this server**")
        _offer(server_folder, "study_served")
        st.markdown("**From your computer**")
    upload = st.file_uploader(
        "Results file", key="study_file", max_upload_size=MEGABYTES, help=ABOUT_FILES
    )
    if upload is not None:
        _offer(Shelf(source=upload.getvalue(), name=shorten(upload.name)), "study_chosen")
    if st.session_state[PROBLEM]:
        st.error(st.session_state[PROBLEM])


def _offer(shelf: Shelf, key: str) -> None:
    """Draw the menu of the studies in a file, and the button that opens the chosen one."""
    try:
        studies, other_files = shelf.contents()
    except InvalidInput as problem:
        st.error(str(problem))
        return
    if other_files:
        them = "another study" if other_files == 1 else f"{other_files} other studies"
        st.caption(f"The file holds {them} of a version that this one cannot read.")
    number = st.selectbox(
        "Study",
        range(len(studies)),
        format_func=lambda i: f"{i + 1}. {setting_line(studies[i])}",
        key=f"{key}_which",
    )
    scenario = studies[number]
    wrong = False
    try:
        require_showable(scenario)
        if refusal(scenario, DASHBOARD):
            st.caption("Larger than a run here may be: it is shown, and cannot be run on.")
    except InvalidInput as problem:
        wrong = True
        st.warning(str(problem))
    pressed = st.button(
        "Open this study", key=key, on_click=_open, args=(shelf, scenario), disabled=wrong
    )
    if pressed and not st.session_state[PROBLEM]:
        st.rerun()


def _open(shelf: Shelf, scenario: Scenario) -> None:
    """Show a stored study in Explore, or keep the reason why that is impossible; a callback."""
    state = st.session_state
    try:
        outcomes = shelf.outcomes(scenario)
    except InvalidInput as problem:
        state[PROBLEM] = str(problem)
        return
    if not outcomes:
        state[PROBLEM] = "None of the cells of this study is in the file yet."
        return
    state.update({GALLERY: False, PROBLEM: ""})
    session = visit.current()
    session.show_stored(scenario, outcomes)
    STATE.fill_widgets(session.view)
    if session.curves.refused:
        STATE.write({})
