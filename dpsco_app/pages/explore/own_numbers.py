"""The visitor's own numbers: the chosen columns, their tails, and the matching scenario."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st
from plotly.graph_objects import Figure, Scatter

from dpsco_app.front.changes import slider_values
from dpsco_app.pages.explore.own_releases import (
    RELEASED,
    digits_text,
    draw_releases,
    in_units,
)
from dpsco_app.parts.options import OPTIONS, escaped_markdown, in_print, number_text, short_text
from dpsco_app.shell import visit
from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import distribution_card
from dpsco_core.explain.columns.decode import LARGEST_MEGABYTES
from dpsco_core.explain.columns.own_records import fitted
from dpsco_core.explain.columns.records import (
    NumberRecords,
    names_in_words,
    read_records,
    rows_in_words,
)
from dpsco_core.explain.tails import (
    LIGHT,
    Tail,
    central_moment,
    heaviest,
    interval_in_words,
    tails,
)
from dpsco_core.scenario import Scenario

LOWEST = 0.7  # The lower end of the axis of the tail index.
READ = "own_numbers_read"  # The session key of the records that were read.
ABOUT = (
    "Open a CSV file with one record per line, and choose a column of numbers, or several: a row "
    "is then one record with a coordinate per column. Their tail index and "
    "their scale are estimated here, and the scenario that matches is set. **This look at your "
    "numbers is not private**: the estimates reveal something about them. The file is read in this "
    "session only; nothing is stored or sent on."
)
ABOUT_INDEX = (
    "Neither a shift nor a change of unit changes the estimate. The 95 % interval covers the "
    "chance of a sample and no bias: which threshold is right cannot be read off the numbers, and "
    "log-normal data look like a power law of index 4 at any size you are likely to have. Trust an "
    "index that stays level over a wide range of thresholds."
)
ABOUT_COLUMNS = (
    "All of this is about the rows that are used: a row without a number in one of the chosen "
    "columns is left out as a whole, and nothing is filled in. A unit is the p-th root of the p-th "
    "central moment."
)


def draw_own_numbers() -> None:
    """Draw the button that opens the dialog for the visitor's own file."""
    if st.button(
        "Use my own numbers",
        icon=":material/upload:",
        key="own_numbers",
        help="Sets the scenario that matches a CSV file.",
    ):
        st.dialog("Your own numbers", width="large")(draw_file)()


def draw_file() -> None:
    """Draw the field for a file, and the analysis of its numbers."""
    st.markdown(ABOUT)
    upload = st.file_uploader(
        "CSV file", type="csv", key="own_numbers_file", max_upload_size=LARGEST_MEGABYTES
    )
    if upload is None:
        for key in (RELEASED, READ):
            st.session_state.pop(key, None)
        return
    try:
        chosen = _draw_choice(upload.getvalue(), upload.file_id)
        if chosen:
            _draw_analysis(*chosen)
    except InvalidInput as problem:
        st.error(escaped_markdown(in_print(str(problem))))


def _draw_analysis(records: NumberRecords, file: str) -> None:
    """Draw the analysis of a file's records, the matching scenario, and their private mean."""
    fits = tails(records.values, records.chosen)
    for note in records.cap_notes:
        st.caption(escaped_markdown(in_print(note)))
    matching = fitting(fits, visit.current().scenario)
    units = [central_moment(values, matching.p) for values in records.values.T]
    if not records.is_single:
        st.dataframe(column_table(records, fits, units), hide_index=True)
        st.caption(ABOUT_COLUMNS)
    st.markdown(in_words(fits, records.chosen, matching, units))
    lead = fits[heaviest(fits)]
    marker_words = "marker is" if records.is_single else "markers are"
    title = (
        f"The tail index by threshold: the {marker_words} at the {lead.tail_count:,} "
        "farthest numbers"
    )
    figure = tail_figure(fits, records.chosen)
    st.plotly_chart(figure, key="own_numbers_figure", alt=title)
    st.caption(ABOUT_INDEX)
    if st.button("Set this scenario", key="own_numbers_set"):
        visit.current().show(matching)
        st.rerun()
    draw_releases(records, fits, file, replace(matching, n=records.count), units)


def tail_figure(fits: Sequence[Tail], names: Sequence[str]) -> Figure:
    """Return the figure of the tail index by threshold, one line for each column of numbers.

    Indices above `LIGHT`, which count as light, are drawn at `LIGHT`.
    """
    labels = ["Tail index"] if len(fits) == 1 else names
    used_indices = np.clip([fit.index for fit in fits], LOWEST, LIGHT)
    figure = Figure(
        [
            *(
                Scatter(x=fit.farthest, y=np.clip(fit.indices, LOWEST, LIGHT), name=label)
                for fit, label in zip(fits, labels, strict=True)
            ),
            Scatter(
                x=[fit.tail_count for fit in fits],
                y=used_indices,
                name="The index that is used",
                mode="markers",
            ),
        ],
        layout={
            "height": 300 + 20 * len(fits),  # On a phone, the legend has one name per line.
            "xaxis": {"type": "log", "title": "Numbers beyond the threshold", "dtick": 1},
            "yaxis": {
                "type": "log",
                "title": "Tail index",
                "tickvals": [1, 2, 3, 5, 10, 20],
                "range": [math.log10(LOWEST), math.log10(1.3 * LIGHT)],
            },
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        },
    )
    words = f"{LIGHT:g} or more: no sign of a heavy tail"
    figure.add_hline(LIGHT, line_dash="dash")
    # On a logarithmic axis, Plotly takes the height of a note as a logarithm.
    return figure.add_annotation(
        text=words,
        x=1,
        xref="paper",
        xanchor="right",
        y=math.log10(LIGHT),
        yanchor="top",
        showarrow=False,
    )


def _draw_choice(content: bytes, file: str) -> tuple[NumberRecords, str] | None:
    """Draw the menu of columns; return the chosen records and their key in the session.

    `file` is the identity of the file. The answer is None if no column is chosen. Raises
    `InvalidInput` if the content cannot be read.
    """
    records = _read(content, file, None)
    if len(records.names) > 1:
        key = f"own_numbers_column_{file}"
        names = st.multiselect("Columns", records.names, default=records.chosen, key=key)
        if not names:
            st.info("Choose a column.")
            return None
        if tuple(names) != records.chosen:
            records = _read(content, file, names)
    names_in_italics = names_in_words([f"*{escaped_markdown(name)}*" for name in records.chosen])
    if records.is_single:
        st.markdown(f"Column: {names_in_italics}, {records.count:,} numbers.")
        notes = records.notes
    else:
        rows = rows_in_words(records.count, records.left_out, records.examples)
        st.markdown(f"Columns: {names_in_italics}, {escaped_markdown(rows)}.")
        notes = records.assumptions
    for note in notes:
        st.caption(escaped_markdown(in_print(note)))
    return records, "_".join((file, *records.chosen))


def _read(content: bytes, file: str, names: list[str] | None) -> NumberRecords:
    """Return the records in the named columns of a file, or in those chosen by default.

    They are cached for the session, since a large file takes seconds.
    """
    request = (file, None if names is None else tuple(names))
    records_read = st.session_state.setdefault(READ, {})
    if request not in records_read:
        records = read_records(content, names)
        for outdated_key in [key for key in records_read if key[0] != file or key[1] is not None]:
            # Only one file and one choice of columns are kept, besides the default.
            del records_read[outdated_key]
        records_read[request] = records
    requested_records: NumberRecords = records_read[request]
    return requested_records


def column_table(
    records: NumberRecords, fits: Sequence[Tail], units: Sequence[float]
) -> pd.DataFrame:
    """Return a table with one row for each column: its mean, its tail and its unit."""
    blurs = [central_moment(values, 2) / math.sqrt(records.count) for values in records.values.T]
    return pd.DataFrame(
        {
            "Column": records.chosen,
            "Mean": [digits_text(fit.mean, blur) for fit, blur in zip(fits, blurs, strict=True)],
            "Tail index": [_index(fit.index) for fit in fits],
            "95 % interval": [interval_in_words(*fit.interval) for fit in fits],
            "Tail": [fit.kind for fit in fits],
            "Unit": [short_text(unit) for unit in units],
            "Rows left out for it": records.lacking,
        }
    )


def fitting(fits: Sequence[Tail], scenario: Scenario) -> Scenario:
    """Return the scenario whose law, p, n and d come nearest to the visitor's numbers.

    It has a dimension for each column, and the column with the heaviest tail decides the law. Its
    margin is smaller than the given scenario's if p needs that, and p is below 2 only if there is
    no variance.
    """
    count = fits[heaviest(fits)].count
    return fitted(
        fits,
        scenario,
        orders=slider_values("p", scenario, 2.0),
        margins=OPTIONS["margin"],
        count=int(min(OPTIONS["n"], key=lambda n: abs(n - count))),
    )


def in_words(
    fits: Sequence[Tail], names: Sequence[str], matching: Scenario, units: Sequence[float]
) -> str:
    """Return sentences on the heaviest tail of the columns and on the matching scenario."""
    lead = heaviest(fits)
    fit, is_single = fits[lead], len(fits) == 1
    law = distribution_card(matching.distribution).name
    low, high = fit.range
    count = f"{fit.count:,} numbers" if is_single else f"{fit.count:,} rows"
    name = f"*{escaped_markdown(names[lead])}*"
    interval = interval_in_words(*fit.interval)
    unclear = [
        f"*{escaped_markdown(n)}*"
        for n, one in zip(names, fits, strict=True)
        if one.kind == "unclear"
    ]
    if fit.kind == "light":
        tail = "a **light tail**" if is_single else "**light tails** in every column"
        summary = f"{count} with {tail}: no power law is seen; the 95 % interval of the tail index "
        summary += f"is {interval}."
    elif fit.kind == "unclear":
        few = "too few to tell" if is_single else f"too few to tell for {names_in_words(unclear)}"
        summary = f"{count}, **{few}** a heavy tail from a light one (95 % interval of the index: "
        summary += f"{interval}); p = 2 asks for the least."
    else:
        among = "" if is_single else f", that of {name}"
        summary = (
            f"{count} with a **tail index of about {_index(fit.index)}** (95 % interval "
            f"{interval}){among}, from the {fit.tail_count:,} farthest; half to twice as many "
            f"give {_index(low)} to {_index(high)}."
        )
        if fit.can_be_either:
            summary += " **The interval allows a light tail too**: too few numbers lie far out."
        if not is_single:
            summary += (
                " Moments of a record's norm exist where they exist for every column, so that the "
                "heaviest tail decides p."
            )
        if unclear:
            summary += f" There are too few rows to tell for {names_in_words(unclear)}, and p = 2"
            summary += " asks for the least."
        if fit.index < matching.p + matching.margin:
            what = "variance" if matching.p >= 2 else "mean"
            summary += f" No bound here covers them: their {what} may not exist; "
            summary += f"p = {number_text(matching.p)} is closest."
    if is_single:
        scale = f"One unit of error here is about {units[0]:.3g} in your numbers' unit."
    else:
        scale = f"One unit of error here is about {in_units(units, names)}."
    return (
        f"{summary}\n\nMatching scenario: {law}, p = {number_text(matching.p)}, d = {matching.d}, "
        f"n = {matching.n:,}. {scale}"
    )


def _index(index: float) -> str:
    """Return a tail index as text; from some size on it counts as light."""
    return f"{LIGHT:g} or more" if index >= LIGHT else f"{index:.2g}"
