"""How far the best proven upper bound is from the floors: over a field, on a map, by bounds."""

from dataclasses import replace

import numpy as np
import streamlit as st

from dpsco_app.pages.lower_bounds import tables
from dpsco_app.pages.lower_bounds.gap_charts import map_figure, ranks_figure, sweep_figure
from dpsco_app.pages.lower_bounds.gap_words import (
    ABOUT_MAP,
    WHOM_NAMES,
    axis_name,
    map_title,
    ranks_title,
    shares_sentence,
    standing_sentence,
    sweep_title,
)
from dpsco_app.pages.lower_bounds.state import PLANES, STATE, SWEEPS, WHOM, View
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.figures import responsive
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.window import Notion, Standing, grid, standing, strength, swept, widths
from dpsco_core.scenario import Scenario

SWEPT, ACROSS, UP = 25, 10, 9  # values of a sweep, and of a map


def bare(scenario: Scenario) -> Scenario:
    """Return the single point of mean estimation that is meant, whatever the law and the study."""
    return replace(
        scenario,
        problem="mean",
        distribution="gaussian",
        offset=0.0,
        methods=(),
        axis=None,
        grid=(),
        trials=1,
        seed=0,
    )


@st.cache_resource(max_entries=200, show_spinner=False, hash_funcs={Scenario: repr})
def _standing(point: Scenario) -> Standing:
    return standing(point)


@st.cache_resource(max_entries=100, show_spinner=False, hash_funcs={Scenario: repr})
def _swept(point: Scenario, field: str) -> tuple[Vector, tuple[Standing, ...]]:
    values = grid(point, field, SWEPT)
    return values, swept(point, field, values)


@st.cache_resource(max_entries=100, show_spinner=False, hash_funcs={Scenario: repr})
def _widths(point: Scenario, notion: Notion, field: str) -> tuple[Vector, Vector, Vector]:
    x, y = grid(point, "n", ACROSS), grid(point, field, UP)
    return x, y, widths(point, notion, ("n", x), (field, y))


def draw_standing(scenario: Scenario) -> None:
    """Say in one sentence what is proven at the scenario."""
    with st.container(key="lower_standing"):
        st.markdown(standing_sentence(_standing(bare(scenario))))


def gap_part(view: View, scenario: Scenario) -> None:
    """Draw the window over a field, and say what makes it wide."""
    point = bare(scenario)
    here = _standing(point)
    _choose("Over", SWEEPS, "over", point)
    field = _field(view.over, point)
    values, found = _swept(point, field)
    responsive(
        "lower_sweep",
        sweep_title(found, field),
        lambda look: sweep_figure(values, found, here, field, look),
        table=lambda: tables.sweep_table(values, found, field),
        setting=setting_line(point, runs=False),
    )
    st.markdown(shares_sentence(here))


def rows_part(scenario: Scenario) -> None:
    """Draw every bound that holds, in order."""
    point = bare(scenario)
    here = _standing(point)
    responsive(
        "lower_ranks",
        ranks_title(here),
        lambda look: ranks_figure(here, look),
        bar=False,
        table=lambda: tables.ranks_table(here),
        setting=setting_line(point, runs=False),
    )


def map_part(view: View, scenario: Scenario) -> None:
    """Draw how wide the window is over n and a field."""
    point = bare(scenario)
    here = _standing(point)
    left, right = st.columns(2)
    with left:
        _choose("n against", PLANES, "plane", point)
    if len(here.windows) > 1:
        with right:
            st.segmented_control(
                "For", WHOM, format_func=WHOM_NAMES.get, key=STATE.key("whom"), required=True
            )
    up = _field(view.plane, point)
    x, y, ratios = _widths(point, view.about, up)
    responsive(
        "lower_map",
        map_title(ratios, here.ratio(view.about), view.about),
        lambda look: map_figure(x, y, np.minimum(ratios, 999.0), point, up, look),
        table=lambda: tables.map_table(x, y, ratios, up),
        setting=setting_line(point, runs=False),
    )
    st.caption(ABOUT_MAP)


def _choose(label: str, options: tuple[str, ...], held: str, point: Scenario) -> None:
    def name(key: str) -> str:
        return axis_name(_field(key, point))

    st.segmented_control(label, options, format_func=name, key=STATE.key(held), required=True)


def _field(key: str, point: Scenario) -> str:
    """Return the field that is meant: the strength of a budget is its epsilon or its rho."""
    return strength(point) if key == "strength" else key
