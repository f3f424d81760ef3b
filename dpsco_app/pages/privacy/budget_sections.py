"""The calculator of the page Privacy: four tools on one budget."""

import numpy as np
import streamlit as st

from dpsco_app.pages.privacy import tables
from dpsco_app.pages.privacy.charts import (
    composed_figure,
    conversions_figure,
    shuffled_figure,
    subsampled_figure,
)
from dpsco_app.pages.privacy.state import (
    BATCH_OPTIONS,
    DELTA_OPTIONS,
    RECORD_OPTIONS,
    RELEASE_OPTIONS,
    STATE,
    TOOLS,
    View,
)
from dpsco_app.pages.privacy.words import (
    ABOUT_NEIGHBOURS,
    ABOUT_TOOL,
    LOOK_AT_TOOL,
    TOOL_NAMES,
    said_advanced,
    said_composed,
    said_conversions,
    said_odds,
    said_shuffled,
    said_subsampled,
    title_composed,
    title_conversions,
    title_shuffled,
    title_subsampled,
)
from dpsco_app.parts.figures import responsive
from dpsco_app.parts.page import slider
from dpsco_core.base.errors import InvalidInput
from dpsco_core.explain.budgets import (
    BudgetCurves,
    Composed,
    Point,
    Shuffled,
    advanced_range,
    batched,
    composed,
    conversions,
    epsilon_curves,
    promises,
    release_counts,
    shuffling,
    subsampled,
    subsampling_curve,
)

SHUFFLED_RECORDS = (10, 32, 100, 316, 1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000)


def _choose_delta(view: View) -> None:
    """Draw the control of the delta at which a pure or a zCDP budget is read."""
    if view.kind != "approx":
        words = "Of a pure or a zCDP budget: where ε is read."
        slider(STATE, "Read ε at δ (delta)", "read_at", DELTA_OPTIONS, help=words)


def budget_part(view: View) -> None:
    """Draw the calculator."""
    st.header("The budget calculator")
    st.segmented_control(
        "Tool", TOOLS, format_func=lambda key: TOOL_NAMES[key], key=STATE.key("tool"), required=True
    )
    st.markdown(ABOUT_TOOL[view.tool])
    draw = {"convert": _convert, "compose": _compose, "shuffle": _shuffle, "subsample": _subsample}
    draw[view.tool](view)
    st.caption(LOOK_AT_TOOL[view.tool])


def _approximate(view: View) -> Point:
    """Return the budget as an (epsilon, delta) one, by the best conversion."""
    return Point(kind="approx", epsilon=conversions(view.point)[-1].epsilon, delta=view.delta)


def _said(text: str) -> None:
    with st.container(key="privacy_said"):
        st.markdown(text)


@st.cache_data(max_entries=200, show_spinner=False)
def _curves(delta: float, low: float, high: float) -> dict[str, list[float]]:
    found = epsilon_curves(delta, low, high)
    return {name: getattr(found, name).tolist() for name in ("rho", "paper", "tight", "gaussian")}


def _convert(view: View) -> None:
    _choose_delta(view)
    found = conversions(view.point)
    _said(f"{said_conversions(view, found)}\n\n{said_odds(view.point)}")
    rhos = [c.rho for c in found]
    low, high = min(rhos) / 10, 10 * max(rhos)
    held = _curves(view.delta, low, high)
    curves = BudgetCurves(**{name: np.array(values) for name, values in held.items()})
    chosen = [(c.name, c.rho, c.epsilon) for c in found]
    responsive(
        "privacy_convert",
        title_conversions(view, found),
        lambda look: conversions_figure(curves, chosen, look),
        table=lambda: tables.curves_table(curves),
    )
    number = st.column_config.NumberColumn
    table = tables.conversions_table(found, view.kind == "pure")
    formats = {c: number(format="%.5g") for c in table.columns[1:]}
    st.dataframe(table, hide_index=True, width="stretch", column_config=formats)
    st.subheader("Replaced, or taken out")
    st.markdown(ABOUT_NEIGHBOURS)
    st.dataframe(tables.promises_table(promises(view.point)), hide_index=True, width="stretch")


def _compose(view: View) -> None:
    _choose_delta(view)
    slider(STATE, "Releases k", "releases", RELEASE_OPTIONS)
    at, most = composed(view.point, view.releases), max(1000, view.releases)
    rows, better = _composed_rows(view.point, most)
    _said(f"{said_composed(view, at)} {said_advanced(better, most)}")
    pure = view.kind == "pure"
    responsive(
        "privacy_compose",
        title_composed(at),
        lambda look: composed_figure(rows, at, look, pure=pure),
        table=lambda: tables.composed_table(rows, pure=pure),
    )


@st.cache_data(max_entries=200, show_spinner=False, hash_funcs={Point: repr})
def _composed_rows(point: Point, most: int) -> tuple[list[Composed], tuple[int, int] | None]:
    rows = [composed(point, k) for k in release_counts(most)]
    return rows, advanced_range(point, most)


def _shuffle(view: View) -> None:
    _choose_delta(view)
    point = _approximate(view)
    slider(STATE, "Records", "records", RECORD_OPTIONS)
    found = _shuffled(view.records, point.epsilon, point.delta)
    _said(said_shuffled(view, point, found))
    rows = [(n, _shuffled(n, point.epsilon, point.delta)) for n in SHUFFLED_RECORDS]
    responsive(
        "privacy_shuffle",
        title_shuffled(view.records, found),
        lambda look: shuffled_figure(rows, (view.records, found), look),
        table=lambda: tables.shuffled_table(rows),
    )


@st.cache_data(max_entries=500, show_spinner=False)
def _shuffled(records: int, epsilon: float, delta: float) -> tuple[Shuffled, ...]:
    return shuffling(records, epsilon, delta)


def _subsample(view: View) -> None:
    _choose_delta(view)
    point = _approximate(view)
    left, middle, right = st.columns(3)
    with left:
        slider(STATE, "Records", "records", RECORD_OPTIONS)
    with middle:
        slider(STATE, "Records in the batch", "batch", BATCH_OPTIONS)
    with right:
        slider(STATE, "Releases k", "releases", RELEASE_OPTIONS, help="Each on a new secret batch.")
    budget = (point.epsilon, point.delta)
    try:
        made = subsampled(*budget, view.batch, view.records)
    except InvalidInput as problem:
        st.info(str(problem), icon=":material/info:")
        return
    many = batched(*budget, view.batch, view.records, view.releases)
    bare = composed(Point(kind="approx", epsilon=budget[0], delta=budget[1]), view.releases).exact
    _said(said_subsampled(view, made, many, bare))
    marks = (float(view.batch), made.epsilon, many)
    curve = _batches(*budget, view.records, view.releases)
    responsive(
        "privacy_subsample",
        title_subsampled(view, point.epsilon, made, many),
        lambda look: subsampled_figure(curve, marks, view.releases, look),
        table=lambda: tables.subsampled_table(curve),
    )


_batches = st.cache_data(max_entries=200, show_spinner=False)(subsampling_curve)
