"""Methods: the errata, one in full, and its experiment at the press of a button."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dpsco_app.pages.bounds import words
from dpsco_app.parts.page import draw_wrong, link, opened
from dpsco_app.shell.page_state import PageState, PageView, held
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
STYLE = """<style>
.st-key-errata_filters { gap: 0.7rem; }
.st-key-errata_said p, .st-key-errata_found p { font-size: 1.02rem; }
</style>"""


ALL = "all"


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    paper: str = held(ALL, one_of, (ALL, *dict.fromkeys(slug.split(".")[0] for slug in SLUGS)))
    severity: str = held(ALL, one_of, (ALL, *SEVERITIES))
    runs: str = held("no", one_of, ("no", "yes"))
    erratum: str = held("", one_of, ("", *SLUGS))


STATE = PageState(name="errata", default=View())


def listed(view: View) -> tuple[Erratum, ...]:
    return tuple(
        e
        for e in ERRATA
        if view.paper in (ALL, e.slug.split(".")[0])
        and view.severity in (ALL, e.severity)
        and (view.runs == "no" or e.experiment is not None)
    )


def page() -> None:
    st.html(STYLE)
    view, wrong = opened(STATE)
    STATE.remember(view)
    draw_views("errata")
    st.title("Errata: what was wrong in print")
    draw_wrong(wrong)
    st.markdown(words.ERRATA_INTRODUCTION)
    _filters()
    entries = listed(view)
    st.container(key="errata_said").markdown(_said(entries))
    if entries:
        _table(entries)
        _one(next((i for i, e in enumerate(entries) if e.slug == view.erratum), 0), entries)
    else:
        st.info("No entry passes these filters.")
    link(STATE, view)


def _filters() -> None:
    severities = {ALL: "every kind"} | {name: name for name in SEVERITIES}
    choices: tuple[tuple[str, str, Mapping[str, str]], ...] = (
        ("paper", "Paper", words.PAPER_NAMES),
        ("severity", "What is wrong", severities),
        ("runs", "Experiments", {"no": "with and without", "yes": "with an experiment"}),
    )
    with st.container(horizontal=True, key="errata_filters"):
        for name, label, names in choices:
            st.selectbox(
                label, list(names), format_func=names.__getitem__, key=STATE.key(name), width=250
            )


def _said(entries: Sequence[Erratum]) -> str:
    runs = sum(e.experiment is not None for e in entries)
    grave = sum(e.severity == SEVERITIES[0] for e in entries)
    total = "" if len(entries) == len(ERRATA) else f" of {len(ERRATA)}"
    return (
        f"**{len(entries)}{total} entries**, **{runs}** with an experiment. **{grave}** published "
        f"{'statement is' if grave == 1 else 'statements are'} not private as printed."
    )


def _table(entries: Sequence[Erratum]) -> None:
    frame = pd.DataFrame(
        {
            "About": [words.about(e) for e in entries],
            "What is wrong": [e.severity for e in entries],
            "Paper": [e.paper.key for e in entries],
            "Statement": [e.statement for e in entries],
            "Experiment": ["yes" if e.experiment else "" for e in entries],
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


def _one(place: int, entries: Sequence[Erratum]) -> None:
    entry = entries[place]
    st.header(f"{words.about(entry)}: {entry.severity}")
    with st.container(horizontal=True, key="errata_walk"):
        for label, there in (("Previous", place - 1), ("Next", place + 1)):
            inside = 0 <= there < len(entries)
            st.button(
                label,
                key=f"errata_{label}",
                disabled=not inside,
                on_click=STATE.change,
                args=({"erratum": entries[there if inside else place].slug},),
            )
    st.caption(f"{place + 1} of {len(entries)}. {entry.paper}, {entry.statement}.")
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
    found = _finding(entry.slug)
    st.container(key="errata_found").markdown(f"**{found.sentence}**")
    rows = [[v if isinstance(v, str) else words.said(float(v)) for v in row] for row in found.rows]
    st.table(pd.DataFrame(rows, columns=list(found.columns)), hide_index=True)
    if found.inside:
        met = "; ".join(condition for condition, _ in found.conditions)
        st.caption(f"These numbers lie inside the statement's range: {met}.")
    st.caption(f"The same numbers from the command line: `dpsco errata --slug {entry.slug}`")


@st.cache_data(max_entries=200, show_spinner="Running the experiment")
def _finding(slug: str) -> Finding:
    experiment = erratum(slug).experiment
    assert experiment is not None
    return experiment.run()
