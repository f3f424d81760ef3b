"""One's own numbers: their tail, the scenario that matches, and the methods on the records."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st
from plotly.graph_objects import Figure, Scatter

from dpsco_app.pages.explore.tables import spent_text
from dpsco_app.parts.options import OPTIONS, budget_text, in_print, number_text, short_text
from dpsco_app.parts.refusals import on_screen
from dpsco_app.shell import visit
from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import distribution_card, method_card
from dpsco_core.explain.columns.decode import LARGEST_MEGABYTES
from dpsco_core.explain.columns.digits import decimals_of, to_digits
from dpsco_core.explain.columns.table import NumberColumn, read_columns
from dpsco_core.explain.own_records import (
    ClipAdvice,
    OwnRelease,
    Public,
    clip_advice,
    fresh_releases,
    of_numbers,
    point_of,
)
from dpsco_core.explain.tails import LIGHT, Tail, cap_notes, central_moment, require_usable, tail
from dpsco_core.runs.allowed import refusal
from dpsco_core.scenario import Scenario

LOWEST = 0.7  # where the figure of the tail index begins
READ = "own_numbers_read"  # the columns that were read in this session
RELEASED = "own_numbers_released"  # what was released in this session, and of what
ABOUT = (
    "Open a CSV file with one record per line, and choose a column of numbers. Its tail index and "
    "its scale are estimated here, and the scenario that matches is set. **This look at your "
    "numbers is not private**: the estimates reveal something about them. The file is read in this "
    "session only; nothing is stored or sent on."
)
ABOUT_INDEX = (
    "Neither a shift nor a change of unit changes the estimate. There is no confidence interval: "
    "which threshold is right cannot be read off the numbers, and log-normal data look like a "
    "power law of index 4 at any size you are likely to have. Trust an index that stays level "
    "over a wide range of thresholds."
)
ABOUT_PUBLIC = (
    "A private method may rely on what is known without a look at the numbers. The values below "
    "are filled in from your numbers, and so are p and the law: **with values chosen in that way "
    "the answers are not private**. Replace them by what you know beforehand."
)
ABOUT_RELEASES = (
    "Every private row spends a budget of its own: if you use several rows, or press the button "
    "again, their budgets add up. The noise is fresh, from the operating system, and no seed is "
    "kept. It is drawn in double precision and not hardened: do not publish statistics of real "
    "people with it. The sample mean, the last column and the count of numbers beyond R look at "
    "the numbers themselves and are not private."
)


PUBLIC = {  # the label of a field of `Public`, and its help
    "guess": ("A guess of the mean", "Records are clipped around it."),
    "within": (
        "The mean is at most this far off",
        "The true mean is within this distance of the guess.",
    ),
    "unit": ("Unit", "The p-th root of a bound on the moment E|X − EX|^p of a number X."),
}


def draw_own_numbers() -> None:
    if st.button(
        "Use my own numbers",
        icon=":material/upload:",
        key="own_numbers",
        help="Sets the scenario that matches a CSV file.",
    ):
        st.dialog("Your own numbers", width="large")(draw_file)()


def draw_file() -> None:
    """Draw the field for a file, and what its numbers say."""
    st.markdown(ABOUT)
    upload = st.file_uploader(
        "CSV file", type="csv", key="own_numbers_file", max_upload_size=LARGEST_MEGABYTES
    )
    if upload is None:
        for kept in (RELEASED, READ):
            st.session_state.pop(kept, None)
        return
    try:
        chosen = _choose(upload.getvalue(), upload.file_id)
        if chosen:
            _draw(*chosen)
    except InvalidInput as problem:
        st.error(in_print(str(problem)))


def _draw(values: Vector, file: str) -> None:
    """Draw what the numbers of a file say, the scenario that matches, and their private mean."""
    fit = tail(values)
    matching = fitting(fit, visit.current().scenario)
    unit = central_moment(values, matching.p)
    st.markdown(in_words(fit, matching, unit))
    title = f"The tail index by threshold: the marker is at the {fit.used:,} farthest numbers"
    st.plotly_chart(tail_figure(fit), key="own_numbers_figure", alt=title)
    st.caption(ABOUT_INDEX)
    if st.button("Set this scenario", key="own_numbers_set"):
        visit.current().show(matching)
        st.rerun()
    _draw_releases(values, fit, file, replace(matching, n=fit.count), unit)


def tail_figure(fit: Tail) -> Figure:
    """Return the tail index over the threshold; what is `LIGHT` or more is drawn there."""
    index = np.clip(fit.indices, LOWEST, LIGHT)
    used = np.clip([fit.index], LOWEST, LIGHT)
    figure = Figure(
        [
            Scatter(x=fit.farthest, y=index, name="Tail index"),
            Scatter(x=[fit.used], y=used, name="The index that is used", mode="markers"),
        ],
        layout={
            "height": 320,
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
    # Plotly takes the height of a note on an axis of logarithms as a logarithm.
    return figure.add_annotation(
        text=words,
        x=1,
        xref="paper",
        xanchor="right",
        y=math.log10(LIGHT),
        yanchor="top",
        showarrow=False,
    )


def _choose(content: bytes, file: str) -> tuple[Vector, str] | None:
    """Let columns be chosen and say what was read; raises `InvalidInput`.

    Returns the numbers of the first that is chosen, and what they are called in the session.
    """
    (column,) = _read(content, file, None)
    if len(column.names) > 1:
        key = f"own_numbers_column_{file}"
        names = st.multiselect("Columns", column.names, default=[column.name], key=key)
        if not names:
            st.info("Choose a column.")
            return None
        columns = (column,) if names == [column.name] else _read(content, file, names)
        column = columns[0]
        if len(columns) > 1:
            st.dataframe(column_table(columns), hide_index=True)
            for other in columns[1:]:
                for note in (*other.notes, *cap_notes(other.values)):
                    st.caption(in_print(f"{other.name}: {note}"))
            st.caption(
                "Every column has a tail index of its own; nothing is said of their joint tail. "
                f"What follows is about *{in_print(column.name)}*, the first that is chosen."
            )
    st.markdown("Column: " + in_print(f"{column.name}, {len(column.values):,} numbers."))
    require_usable(column.values)
    for note in (*column.notes, *cap_notes(column.values)):
        st.caption(in_print(note))
    return column.values, f"{file}_{column.name}"


def _read(content: bytes, file: str, names: list[str] | None) -> tuple[NumberColumn, ...]:
    """Return columns of a file; a large one takes seconds, and is read once in a session."""
    asked = (file, None if names is None else tuple(names))
    known = st.session_state.setdefault(READ, {})
    if asked not in known:
        columns = read_columns(content, names)
        for other in [key for key in known if key[0] != file or key[1] is not None]:
            del known[other]  # one file and one choice are kept, and the default
        known[asked] = columns
    kept: tuple[NumberColumn, ...] = known[asked]
    return kept


def column_table(columns: Sequence[NumberColumn]) -> pd.DataFrame:
    """Return what is said of several columns, a row each; what cannot be said is in its row."""
    rows = []
    for column in columns:
        row = {"Column": column.name, "Numbers": len(column.values), "Left out": column.left_out}
        try:
            require_usable(column.values)
            fit = tail(column.values)
        except InvalidInput as problem:
            rows.append(row | {"Tail index": in_print(str(problem)), "Tail": ""})
        else:
            rows.append(row | {"Tail index": _index(fit.index), "Tail": fit.kind})
    return pd.DataFrame(rows)


def fitting(fit: Tail, now: Scenario) -> Scenario:
    """Return the scenario with the law, the order p and the size nearest to the numbers'.

    It is of one dimension. The margin is smaller than now where p = 2 needs that.
    """
    order = fit.order(tuple(OPTIONS["p"]), now.margin)
    spare = [m for m in OPTIONS["margin"] if order + m <= fit.index]
    if fit.kind == "heavy" and spare and max(spare) < now.margin:
        now = replace(now, margin=max(spare))
    size = min(OPTIONS["n"], key=lambda n: abs(n - fit.count))
    return of_numbers(now, law=fit.law, order=order, count=int(size))


def in_words(fit: Tail, matching: Scenario, scale: float) -> str:
    law = distribution_card(matching.distribution).name
    low, high = fit.range
    count = f"{fit.count:,} numbers"
    if fit.kind == "light":
        first = f"{count} with a **light tail**: no power law is seen."
    elif fit.kind == "unclear":
        first = (
            f"{count}, **too few to tell** a heavy tail from a light one; p = 2 asks for the least."
        )
    else:
        first = (
            f"{count} with a **tail index of about {_index(fit.index)}**, from the "
            f"{fit.used:,} farthest; half to twice as many give {_index(low)} to {_index(high)}."
        )
        if fit.index < matching.p + matching.margin:
            first += " No bound here covers them: their variance may not exist; p = 2 is closest."
    return (
        f"{first}\n\nMatching scenario: {law}, p = {number_text(matching.p)}, d = 1, "
        f"n = {matching.n:,}. One unit of error here is about {scale:.3g} in your numbers' unit."
    )


def _index(index: float) -> str:
    return f"{LIGHT:g} or more" if index >= LIGHT else f"{index:.2g}"


def _draw_releases(values: Vector, fit: Tail, file: str, matching: Scenario, unit: float) -> None:
    """Draw what is public, where to clip and why, and what the methods release."""
    st.markdown("**Their private mean**")
    st.markdown(ABOUT_PUBLIC)
    places = st.columns(3)
    digits = -math.floor(math.log10(unit))  # digits of a guess that is right to one unit
    filled = {
        "guess": round(fit.median, digits),
        "within": float(f"{2 * unit:.2g}"),
        "unit": float(f"{unit:.2g}"),
    }
    try:
        public = Public(
            **{
                name: place.number_input(
                    label,
                    value=filled[name],
                    format=field_format(filled[name], unit),
                    key=f"own_numbers_{name}_{file}",
                    help=about,
                )
                for place, (name, (label, about)) in zip(places, PUBLIC.items(), strict=True)
            }
        )
    except InvalidInput as problem:
        raise InvalidInput(with_labels(str(problem))) from None
    point = point_of(matching, public)
    too_large = refusal(point, DASHBOARD)
    if too_large:
        st.error(in_print(too_large))
        return
    blur = public.unit / math.sqrt(point.n)  # the error of the mean, and how exact it is written
    try:
        advice = clip_advice(values, public, point)
        blur = min(blur, advice.noise)
        st.markdown(clip_in_words(advice, point))
    except NotApplicable as problem:
        st.markdown(in_print(str(problem)))
    asked = (file, public, point)
    if st.button("Release the mean of these numbers", key="own_numbers_release"):
        st.session_state[RELEASED] = asked, fresh_releases(values, public, point)
    known, releases = st.session_state.get(RELEASED, (None, ()))
    if known == asked:
        st.dataframe(release_table(releases, fit.mean, blur), hide_index=True)
        st.caption(ABOUT_RELEASES)


def clip_in_words(advice: ClipAdvice, point: Scenario) -> str:
    """Say where simple clipping clips, and why there."""
    share = f"{advice.clipped:,} of the {point.n:,} numbers" if advice.clipped else "None of them"
    low, high = (digits_text(x, advice.radius / 10) for x in (advice.low, advice.high))
    verb = "lies" if advice.clipped <= 1 else "lie"
    return (
        f"**Clip at R = {short_text(advice.radius)}**, which keeps {low} to "
        f"{high}, because at p = {number_text(point.p)}, n = {point.n:,} and "
        f"{budget_text(point.budget)} this balances two costs of simple clipping: noise of "
        f"standard deviation {short_text(advice.noise, 2)}, which grows with R, and a bias of at "
        f"most {short_text(advice.bias, 2)}, which falls. {share} {verb} beyond."
    )


def digits_text(value: float, blur: float) -> str:
    """Return a number as people write it, down to what blurs it.

    Examples
    --------
    >>> digits_text(1_000_000.0123, 0.014), digits_text(1.23456e-9, 1e-12)
    ('1,000,000.0123', '1.23456·10⁻⁹')
    """
    front, _, exponent = to_digits(value, blur).partition("e")
    return f"{front}·{number_text(float('1e' + exponent))}" if exponent else front


def field_format(value: float, unit: float) -> str:
    """Return the format of a field for a number: to a thousandth of a unit, or by an exponent."""
    is_long = abs(value) >= 1e12 * unit or not 1e-9 < unit < 1e15
    return "%.15g" if is_long else f"%.{max(0, decimals_of(unit / 10))}f"


def with_labels(sentence: str) -> str:
    """Return a refusal of what is public with the labels of the fields for their names.

    Examples
    --------
    >>> with_labels("unit must be a finite number above 0, got unit=0.0.")
    '"Unit" must be a finite number above 0, got 0.0.'
    """
    for name, (label, _) in PUBLIC.items():
        sentence = re.sub(rf"\bgot {name}=", "got ", sentence)
        sentence = re.sub(rf"^{name}\b", f'"{label}"', sentence)
        sentence = re.sub(rf"\bat {name}=", f'where "{label}" is ', sentence)
    return sentence


def release_table(releases: Sequence[OwnRelease], mean: float, blur: float) -> pd.DataFrame:
    """Return what was released, a row a method; what one cannot release is said in its row."""

    def off(value: float) -> float:
        away = abs(value - mean)
        return away if away > max(1e-6 * blur, 4 * math.ulp(mean)) else 0.0  # floats are rounded

    rows = [
        {
            "Method": method_card(one.method).name,
            "Released": on_screen(one.refusal) or digits_text(one.value, blur),
            "Spends": "" if one.refusal else spent_text(one.method, one.spent),
            "Clipped beyond": "" if math.isnan(one.clip) else f"± {short_text(one.clip)}",
            "Off their average by": "" if one.refusal else short_text(off(one.value), 2),
        }
        for one in releases
    ]
    return pd.DataFrame(rows)
