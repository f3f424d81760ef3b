"""Theory: the errata, one in full, and its experiment at the press of a button."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dpsco_app.pages.bounds import words
from dpsco_app.pages.bounds.state import ALL, CHOICES, View, key, listed
from dpsco_app.shell.places import link_to
from dpsco_core.catalogue import method_card
from dpsco_core.explain.errata import ERRATA, Erratum, Finding, erratum, methods_of

FRAME = "theory_errata_frame"
RAN = "theory_ran"  # slugs whose experiment has been run in this session
HEIGHT = 360


def errata_part(view: View) -> None:
    """Draw the errata."""
    st.markdown(words.ERRATA_INTRODUCTION)
    _filters()
    slugs = listed(view)
    with st.container(key="theory_errata_said"):
        st.markdown(_said(slugs))
    if not slugs:
        st.info("No entry passes these filters.")
        return
    chosen = view.erratum if view.erratum in slugs else slugs[0]
    _table(slugs)
    _one(erratum(chosen), slugs)


def _filters() -> None:
    severities = {name: name for name in CHOICES["severity"]} | {ALL: "every kind"}
    choices: tuple[tuple[str, str, Mapping[str, str]], ...] = (
        ("paper", "Paper", words.PAPER_NAMES),
        ("severity", "What is wrong", severities),
        ("runs", "Experiments", {"no": "with and without", "yes": "with an experiment"}),
    )
    with st.container(horizontal=True, key="theory_filters"):
        for name, label, names in choices:
            st.selectbox(
                label, list(names), format_func=names.__getitem__, key=key(name), width=250
            )


def _said(slugs: Sequence[str]) -> str:
    entries = [erratum(slug) for slug in slugs]
    runs = sum(e.experiment is not None for e in entries)
    grave = sum(e.severity == CHOICES["severity"][1] for e in entries)
    total = "" if len(slugs) == len(ERRATA) else f" of {len(ERRATA)}"
    return (
        f"**{len(slugs)}{total} entries**, **{runs}** with an experiment. **{grave}** published "
        f"{'statement is' if grave == 1 else 'statements are'} not private as printed."
    )


def _table(slugs: Sequence[str]) -> None:
    entries = [erratum(slug) for slug in slugs]
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
        on_select=lambda: _selected(list(slugs)),
        selection_mode="single-row",
    )


def _selected(slugs: list[str]) -> None:
    chosen = st.session_state[FRAME].selection.rows
    if chosen and chosen[0] < len(slugs):
        st.session_state[key("erratum")] = slugs[chosen[0]]


def _one(entry: Erratum, slugs: Sequence[str]) -> None:
    place = slugs.index(entry.slug)
    st.header(f"{words.about(entry)}: {entry.severity}")
    with st.container(horizontal=True, key="theory_walk"):
        for label, step in (("Previous", -1), ("Next", 1)):
            there = place + step
            inside = 0 <= there < len(slugs)
            st.button(
                label,
                key=f"theory_{label}",
                disabled=not inside,
                on_click=_go,
                args=(slugs[there] if inside else entry.slug,),
            )
    st.caption(f"{place + 1} of {len(slugs)}. {entry.paper}, {entry.statement}.")
    for label, text in (
        ("Printed", entry.printed),
        ("Wrong or missing", entry.wrong),
        ("Here instead", entry.instead),
    ):
        st.markdown(f"**{label}.** {text}")
    st.caption("In the code: " + ", ".join(f"`{m}`" for m in entry.modules))
    methods = methods_of(entry)
    if methods:
        with st.container(horizontal=True, key="theory_methods"):
            for slug in methods:
                link_to("algorithms", method_card(slug).name, {"method": slug})
    if entry.experiment is not None:
        _experiment(entry)


def _experiment(entry: Erratum) -> None:
    assert entry.experiment is not None
    st.subheader(entry.experiment.name)
    ran: set[str] = st.session_state.setdefault(RAN, set())
    if entry.slug not in ran:
        pressed = st.button("Run the experiment", key="theory_run", icon=":material/science:")
        if not pressed:
            return
        ran.add(entry.slug)
    found = _finding(entry.slug)
    with st.container(key="theory_found"):
        st.markdown(f"**{found.sentence}**")
    st.table(_numbers(found), hide_index=True)
    if found.inside:
        met = "; ".join(condition for condition, _ in found.conditions)
        st.caption(f"These numbers lie inside the statement's range: {met}.")
    st.caption(f"The same numbers from the command line: `dpsco errata --slug {entry.slug}`")


@st.cache_data(max_entries=200, show_spinner="Running the experiment")
def _finding(slug: str) -> Finding:
    experiment = erratum(slug).experiment
    assert experiment is not None
    return experiment.run()


def _numbers(found: Finding) -> pd.DataFrame:
    """Return the table of a finding as people write its numbers."""
    lines = [
        [value if isinstance(value, str) else words.said(float(value)) for value in row]
        for row in found.rows
    ]
    return pd.DataFrame(lines, columns=list(found.columns))


def _go(slug: str) -> None:
    st.session_state[key("erratum")] = slug
