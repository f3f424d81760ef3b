"""One's own numbers: their tail and scale, read in this session only, and what matches them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpsco_app.parts import controls
from dpsco_app.parts.options import OPTIONS, number_text
from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import distribution_card
from dpsco_core.explain.tails import Tail, central_moment, read_numbers, tail
from dpsco_core.scenario import Scenario

MEGABYTES = 1
ABOUT = (
    "Open a CSV file with one number per record. Its tail index and its scale are estimated here, "
    "and the scenario that matches is set. **This look at your numbers is not private**: the "
    "estimates reveal something about them. The file is read in this session only; nothing is "
    "stored or sent on."
)


def draw_own_numbers() -> None:
    """Draw the button that opens the dialog."""
    if st.button(
        "Use my own numbers",
        icon=":material/upload:",
        key="own_numbers",
        help="Reads the tail index and the scale of a CSV file, and sets the matching scenario.",
    ):
        _dialog()


@st.dialog("Your own numbers")
def _dialog() -> None:
    st.markdown(ABOUT)
    upload = st.file_uploader(
        "CSV file", type="csv", key="own_numbers_file", max_upload_size=MEGABYTES
    )
    if upload is None:
        return
    try:
        values = read_numbers(upload.getvalue().decode("utf-8", errors="replace"))
        found = tail(values)
    except InvalidInput as problem:
        st.error(str(problem))
        return
    now = controls.read()
    matching = fitting(found, now)
    st.markdown(in_words(found, matching, central_moment(values, matching.p)))
    if st.button("Set this scenario", type="secondary", key="own_numbers_set"):
        controls.load(matching)
        st.rerun()


def fitting(found: Tail, now: Scenario) -> Scenario:
    """Return the scenario with the law, the order p and the size nearest to the numbers'."""
    order = found.order(tuple(OPTIONS["p"]), now.margin)
    size = min(OPTIONS["n"], key=lambda n: abs(n - found.count))
    return replace(now, distribution=found.law, p=order, n=int(size))


def in_words(found: Tail, matching: Scenario, scale: float) -> str:
    """Say what the numbers look like, and which scenario matches."""
    law = distribution_card(matching.distribution).name
    index = f"{found.index:.2g} (95 % interval {found.low:.2g} to {found.high:.2g})"
    if found.law == "gaussian":
        first = f"{found.count:,} numbers with a **light tail**: no power law is seen."
    else:
        first = (
            f"{found.count:,} numbers with a **tail index of about {index}**, by Hill's estimate"
        )
        first += f" from the {found.used:,} farthest."
    if found.index < matching.p + matching.margin:
        first += " No bound here covers them: their variance may not exist; p = 2 is closest."
    return (
        f"{first}\n\nMatching scenario: {law}, p = {number_text(matching.p)}, "
        f"n = {matching.n:,}. One unit of error here is about {scale:.3g} in your numbers' unit."
    )
