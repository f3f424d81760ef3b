"""Opening a stored study in Explore: the button, its dialog, and what is shown of it."""

from collections.abc import Callable

import streamlit as st

from dpsco_app.live.running import Result
from dpsco_app.live.stored import MEGABYTES, Shelf, require_showable, served
from dpsco_app.pages.explore.runs import OPENED
from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts import controls
from dpsco_app.parts.options import AGAINST, NO_SET, PIN, SYMBOL, number_text
from dpsco_app.parts.problem_words import geometry_name, words_for
from dpsco_app.shell import visit
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import shorten
from dpsco_core.catalogue import distribution_card, problem_card
from dpsco_core.runs.allowed import refusal
from dpsco_core.scenario import Scenario

PROBLEM = "opened_study_problem"
ABOUT = (
    "`dpsco study FILE.toml --out results.sqlite` runs a long study and keeps it in a file. "
    "Open one: it is drawn as if it had been run here, between the same bounds."
)
ABOUT_FILES = (
    f"At most {MEGABYTES} MB. The file is read where this dashboard runs, and no copy of it is "
    "kept there."
)


def draw_open(on_click: Callable[[], None]) -> None:
    if st.button(
        "Open a study",
        icon=":material/folder_open:",
        key="study_open",
        help="Shows a study that `dpsco study` has kept in a file.",
        on_click=on_click,
    ):
        st.session_state[PROBLEM] = ""
        _dialog()


@st.dialog("Open a stored study", width="large")
def _dialog() -> None:
    st.markdown(ABOUT)
    here = served()
    if here is not None:
        st.markdown("**On this server**")
        _offer(here, "study_served")
        st.markdown("**From your computer**")
    upload = st.file_uploader(
        "Results file", key="study_file", max_upload_size=MEGABYTES, help=ABOUT_FILES
    )
    if upload is not None:
        _offer(Shelf(source=upload.getvalue(), name=shorten(upload.name)), "study_chosen")
    if st.session_state[PROBLEM]:
        st.error(st.session_state[PROBLEM])


def _offer(shelf: Shelf, key: str) -> None:
    """Draw the studies of a file, and the button that opens the one which is chosen."""
    try:
        studies, others = shelf.contents()
    except InvalidInput as problem:
        st.error(str(problem))
        return
    if others:
        them = "another study" if others == 1 else f"{others} other studies"
        st.caption(f"The file holds {them} of a version that this one cannot read.")
    scenario = studies[0]
    if len(studies) > 1:
        number = st.selectbox(
            f"{len(studies)} studies",
            range(len(studies)),
            format_func=lambda i: f"{i + 1}. {in_one_line(studies[i])}",
            key=f"{key}_which",
        )
        scenario = studies[number]
    else:
        st.markdown(in_one_line(scenario))
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
    """Put a study into the controls, and what its file holds of it into the result."""
    state = st.session_state
    try:
        outcomes = shelf.outcomes(scenario)
    except InvalidInput as problem:
        state[PROBLEM] = str(problem)
        return
    if not outcomes:
        state[PROBLEM] = "None of the cells of this study is in the file yet."
        return
    state[PROBLEM] = ""
    state[PIN], state[AGAINST] = "", NO_SET
    state["running"] = False
    STATE.forgive()
    state["result"] = Result(scenario, outcomes, done=len(outcomes) == scenario.cells)
    state[OPENED] = scenario
    controls.load(scenario)
    if refusal(scenario, DASHBOARD):  # no address leads to it: the page comes back as it was left
        visit.take(scenario, STATE.name)
        STATE.write({})


def in_one_line(scenario: Scenario) -> str:
    """Return a study in words: what, on which data, how large, how many algorithms and trials."""
    swept = ""
    if scenario.axis:
        ends = dict.fromkeys(map(number_text, (scenario.grid[0], scenario.grid[-1])))
        swept = f"{SYMBOL[scenario.axis]} = {' to '.join(ends)}"
    sizes = [
        f"{name} = {number_text(getattr(scenario, name))}"
        for name in ("n", "d")
        if name != scenario.axis
    ]
    budget = f"ρ = {number_text(scenario.rho)}" if scenario.rho is not None else ""
    if scenario.epsilon is not None and scenario.axis != "epsilon":
        budget = f"ε = {number_text(scenario.epsilon)}"
    count = len(scenario.methods)
    parts = [
        problem_card(scenario.problem).name,
        distribution_card(scenario.distribution).name,
        "" if scenario.geometry == "l2" else geometry_name(scenario.geometry, scenario.q),
        swept,
        *sizes,
        budget,
        f"{count} {words_for(scenario.problem).method}{'s' * (count > 1)}",
        f"{scenario.trials:,} trial{'s' * (scenario.trials > 1)}",
    ]
    return ", ".join(filter(None, parts))
