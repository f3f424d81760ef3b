"""Methods: the errata, one in full, and its experiment."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import WHOLE, draw_page
from dpsco_app.pages.methods.words import topic
from dpsco_app.parts.options import escaped_markdown, in_print, short_text
from dpsco_app.shell.page_state import PageState, PageView, checked
from dpsco_app.shell.places import draw_views, link_to
from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import method_card
from dpsco_core.explain.errata import (
    ERRATA,
    SEVERITIES,
    SLUGS,
    Erratum,
    Finding,
    erratum,
    methods_of,
)
from dpsco_core.scenario import Scenario

QUESTION = "What was wrong in print?"
SMALL = (
    "Found while the papers were worked out. Most results survive, with other constants or with a "
    "condition more; an entry that is valid but loose is true as printed, and needs less than it "
    "asks for."
)


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    erratum: str = checked(SLUGS[0], one_of, SLUGS)


STATE = PageState(name="errata", default=View())


def page() -> None:
    """Draw the page of the errata: a table of all, and one of them in full."""
    draw_views("errata")
    draw_page(STATE, {WHOLE: _draw}, {WHOLE: QUESTION})


def _draw(screen: FirstScreen, view: View, _: Scenario) -> None:
    """Draw the list of errata, and the chosen one in full."""
    screen.say(QUESTION, count_words(), SMALL)
    _draw_table()
    st.selectbox("Entry", SLUGS, format_func=_option_name, key=STATE.key("erratum"), width=560)
    _draw_erratum(erratum(view.erratum))


def count_words() -> str:
    """Return how many errata there are, how many have an experiment, and how many are grave."""
    runs = sum(e.experiment is not None for e in ERRATA)
    grave = sum(e.severity == SEVERITIES[0] for e in ERRATA)
    return (
        f"{len(ERRATA)} entries, {runs} with an experiment; {grave} published statements are not "
        "private as printed"
    )


def _draw_table() -> None:
    """Draw the table of all errata, with topic, kind of error and paper."""
    frame = pd.DataFrame(
        {
            "About": [topic(e) for e in ERRATA],
            "What is wrong": [e.severity for e in ERRATA],
            "Paper": [str(e.paper) for e in ERRATA],
        }
    )
    st.dataframe(frame, hide_index=True, width="stretch", height=360)


def _option_name(slug: str) -> str:
    """Return the name of an erratum in the menu: its topic and its paper."""
    entry = erratum(slug)
    return f"{topic(entry)} ({entry.paper})"


def _draw_erratum(entry: Erratum) -> None:
    """Draw an erratum: the printed statement, its error, and the correct statement."""
    st.header(f"{topic(entry)}: {entry.severity}")
    st.caption(f"{entry.paper}, {entry.statement}.")
    for label, text in (
        ("Printed", entry.printed),
        ("Wrong or missing", entry.wrong),
        ("Here instead", entry.instead),
    ):
        st.markdown(f"**{label}.** {text}")
    st.caption("In the code: " + ", ".join(f"`{m}`" for m in entry.modules))
    if methods := methods_of(entry):
        with st.container(horizontal=True, key="errata_methods"):
            for slug in methods:
                link_to("methods", method_card(slug).name, {"method": slug})
    if entry.experiment is not None:
        st.subheader(entry.experiment.name)
        _draw_experiment(entry)
        _draw_commands(entry)


def _draw_experiment(entry: Erratum) -> None:
    """Run an erratum's experiment and draw its finding as a sentence and a table."""
    finding = _finding(entry.slug)
    st.container(key="errata_found").markdown(f"**{in_print(finding.sentence)}**")
    rows = [
        [v if isinstance(v, str) else short_text(float(v)) for v in row] for row in finding.rows
    ]
    st.table(pd.DataFrame(rows, columns=list(finding.columns)), hide_index=True)
    if finding.is_in_range:
        conditions = "; ".join(condition for condition, _ in finding.conditions)
        st.caption(f"These numbers lie inside the statement's range: {conditions}.")


def _draw_commands(entry: Erratum) -> None:
    """Draw the commands that repeat an erratum's experiment; nothing without an experiment."""
    if entry.experiment is None:
        return
    inputs = escaped_markdown(entry.experiment.inputs)
    st.markdown(f"Computed from {inputs}. The same numbers from the command line:")
    st.code(entry.repeated_by, language=None, wrap_lines=True)
    if (check := entry.check) is not None:
        st.markdown("Another command that shows it:")
        st.code(check.command, language=None, wrap_lines=True)
        st.markdown(escaped_markdown(f"It prints “{check.prints}”: {check.meaning}."))


@st.cache_data(max_entries=200, show_spinner="Running the experiment")
def _finding(slug: str) -> Finding:
    """Run the experiment of the erratum with a slug, and return what it finds."""
    experiment = erratum(slug).experiment
    assert experiment is not None
    return experiment.run()
