"""One's own numbers, or a moment of them, and the scenario that matches; in this session only."""

from dataclasses import replace

import streamlit as st

from dpsco_app.parts import controls
from dpsco_app.parts.options import OPTIONS, number_text
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import P_MAX
from dpsco_core.catalogue import distribution_card
from dpsco_core.explain.tails import Tail, central_moment, read_numbers, tail
from dpsco_core.scenario import Scenario

MEGABYTES = 1
HAVE = ("Numbers", "A moment")
ABOUT_MOMENT = (
    "Type a moment that bounds every coordinate of your records. The bounds and the data here have "
    "moment 1, so all errors are in units of its p-th root."
)
ABOUT = (
    "Open a CSV file with one number per record. Its tail index and its scale are estimated here, "
    "and the scenario that matches is set. **This look at your numbers is not private**: the "
    "estimates reveal something about them. The file is read in this session only; nothing is "
    "stored or sent on."
)


def draw_own_numbers() -> None:
    if st.button(
        "Use my own numbers",
        icon=":material/upload:",
        key="own_numbers",
        help="Sets the scenario that matches a CSV file, or a moment that you know.",
    ):
        _dialog()


@st.dialog("Your own numbers")
def _dialog() -> None:
    have = st.segmented_control(
        "What I have", HAVE, default=HAVE[0], key="own_numbers_have", required=True
    )
    try:
        matching = _from_file() if have == HAVE[0] else _from_moment()
    except InvalidInput as problem:
        st.error(str(problem))
        return
    if matching is not None and st.button("Set this scenario", key="own_numbers_set"):
        controls.load(matching)
        st.rerun()


def _from_moment() -> Scenario:
    st.markdown(ABOUT_MOMENT)
    now = controls.read()
    order = st.number_input("Order p", 2.0, P_MAX, float(now.p), key="own_numbers_p")
    moment = st.number_input(
        "Moment E|X − EX|^p of a coordinate", 0.0, value=1.0, format="%g", key="own_numbers_moment"
    )
    require(moment > 0, "moment", "positive", moment)
    st.markdown(
        f"Matching scenario: p = {number_text(order)}. One unit of error here is "
        f"{moment ** (1 / order):.3g} in your numbers' unit."
    )
    return replace(now, p=order)


def _from_file() -> Scenario | None:
    st.markdown(ABOUT)
    upload = st.file_uploader(
        "CSV file", type="csv", key="own_numbers_file", max_upload_size=MEGABYTES
    )
    if upload is None:
        return None
    values = read_numbers(upload.getvalue().decode("utf-8", errors="replace"))
    found = tail(values)
    matching = fitting(found, controls.read())
    st.markdown(in_words(found, matching, central_moment(values, matching.p)))
    return matching


def fitting(found: Tail, now: Scenario) -> Scenario:
    """Return the scenario with the law, the order p and the size nearest to the numbers'."""
    order = found.order(tuple(OPTIONS["p"]), now.margin)
    size = min(OPTIONS["n"], key=lambda n: abs(n - found.count))
    return replace(now, distribution=found.law, p=order, n=int(size))


def in_words(found: Tail, matching: Scenario, scale: float) -> str:
    law = distribution_card(matching.distribution).name
    if found.law == "gaussian":
        first = f"{found.count:,} numbers with a **light tail**: no power law is seen."
    else:
        index = f"{found.index:.2g} (95 % interval {found.low:.2g} to {found.high:.2g})"
        first = (
            f"{found.count:,} numbers with a **tail index of about {index}**, by Hill's estimate "
            f"from the {found.used:,} farthest."
        )
    if found.index < matching.p + matching.margin:
        first += " No bound here covers them: their variance may not exist; p = 2 is closest."
    return (
        f"{first}\n\nMatching scenario: {law}, p = {number_text(matching.p)}, "
        f"n = {matching.n:,}. One unit of error here is about {scale:.3g} in your numbers' unit."
    )
