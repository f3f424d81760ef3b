"""Methods: the errata, one in full, and its experiment at the press of a button."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dpsco_app.pages.bounds import words
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.parts.page import draw_wrong, link, opened
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

FRAME = "errata_frame"
RAN = "errata_ran"  # slugs whose experiment has been run in this session
HEIGHT = 360
QUESTION = "What was wrong in print?"
SMALL = (
    "Found while the papers were worked out. Most results survive, with other constants or with a "
    "condition more; an entry that is valid but loose is true as printed, and needs less than it "
    "asks for."
)
ALL = "all"


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    paper: str = checked(ALL, one_of, (ALL, *dict.fromkeys(slug.split(".")[0] for slug in SLUGS)))
    severity: str = checked(ALL, one_of, (ALL, *SEVERITIES))
    erratum: str = checked("", one_of, ("", *SLUGS))


STATE = PageState(name="errata", default=View())


def listed(view: View) -> tuple[Erratum, ...]:
    return tuple(
        e
        for e in ERRATA
        if view.paper in (ALL, e.slug.split(".")[0]) and view.severity in (ALL, e.severity)
    )


def page() -> None:
    view, wrong = opened(STATE)
    STATE.remember(view)
    draw_views("errata")
    draw_wrong(wrong)
    screen = FirstScreen("errata")
    with screen.controls, st.container(horizontal=True, key="errata_filters"):
        _filter("paper", "Paper", words.PAPER_NAMES)
        severities = {ALL: "every kind"} | {name: name for name in SEVERITIES}
        _filter("severity", "What is wrong", severities)
    entries = listed(view)
    screen.say(QUESTION, _count_sentence(entries), SMALL)
    if entries:
        _table(entries)
        _one(next((e for e in entries if e.slug == view.erratum), entries[0]))
    link(STATE, view)


def _filter(name: str, label: str, names: Mapping[str, str]) -> None:
    st.selectbox(label, list(names), format_func=names.__getitem__, key=STATE.key(name), width=250)


def _count_sentence(entries: Sequence[Erratum]) -> str:
    runs = sum(e.experiment is not None for e in entries)
    grave = sum(e.severity == SEVERITIES[0] for e in entries)
    total = "" if len(entries) == len(ERRATA) else f" of {len(ERRATA)}"
    return (
        f"{len(entries)}{total} entries, {runs} with an experiment; {grave} published "
        f"{'statement is' if grave == 1 else 'statements are'} not private as printed"
    )


def _table(entries: Sequence[Erratum]) -> None:
    frame = pd.DataFrame(
        {
            "About": [words.about(e) for e in entries],
            "What is wrong": [e.severity for e in entries],
        }
    )
    st.dataframe(
        frame,
        key=FRAME,
        hide_index=True,
        width="stretch",
        height=min(HEIGHT, 38 + 35 * len(frame)),
        on_select=lambda: _selected(entries),
        selection_mode="single-row",
    )


def _selected(entries: Sequence[Erratum]) -> None:
    chosen = st.session_state[FRAME].selection.rows
    if chosen and chosen[0] < len(entries):
        STATE.change({"erratum": entries[chosen[0]].slug})


def _one(entry: Erratum) -> None:
    st.header(f"{words.about(entry)}: {entry.severity}")
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
        _experiment(entry)


def _experiment(entry: Erratum) -> None:
    assert entry.experiment is not None
    st.subheader(entry.experiment.name)
    ran: set[str] = st.session_state.setdefault(RAN, set())
    if entry.slug not in ran:
        pressed = st.button(
            "Run the experiment",
            key="errata_run",
            icon=":material/science:",
            shortcut="Ctrl+Enter",
        )
        if not pressed:
            return
        ran.add(entry.slug)
    finding = _finding(entry.slug)
    st.container(key="errata_found").markdown(f"**{finding.sentence}**")
    rows = [
        [v if isinstance(v, str) else words.in_digits(float(v)) for v in row]
        for row in finding.rows
    ]
    st.table(pd.DataFrame(rows, columns=list(finding.columns)), hide_index=True)
    if finding.inside:
        met = "; ".join(condition for condition, _ in finding.conditions)
        st.caption(f"These numbers lie inside the statement's range: {met}.")
    st.caption(f"The same numbers from the command line: `dpsco errata --slug {entry.slug}`")


@st.cache_data(max_entries=200, show_spinner="Running the experiment")
def _finding(slug: str) -> Finding:
    experiment = erratum(slug).experiment
    assert experiment is not None
    return experiment.run()
