"""How far the best proven upper bound is from the floors: over a field, and on a map."""

from dataclasses import replace

import streamlit as st

from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.lower_bounds import tables
from dpsco_app.pages.lower_bounds.build import choose_whom
from dpsco_app.pages.lower_bounds.gap_charts import map_figure, sweep_figure
from dpsco_app.pages.lower_bounds.gap_words import (
    ABOUT_MAP,
    AXIS_NAMES,
    shares_sentence,
    standing_words,
)
from dpsco_app.pages.lower_bounds.state import PLANES, STATE, SWEEPS, View
from dpsco_app.parts.export import setting_line, show_table
from dpsco_app.parts.folding import fold
from dpsco_core.base.arrays import Vector
from dpsco_core.explain.window import Notion, Standing, grid, standing, strength, swept, widths
from dpsco_core.scenario import Scenario

QUESTION = "How small an error can anybody promise?"
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


def gap_part(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the window over a field, and say what makes it wide."""
    point = bare(scenario)
    here = _standing(point)
    screen.say(QUESTION, *standing_words(here))
    with screen.controls:
        _choose("Over", SWEEPS, "over", point)
    field = _field(view.over, point)
    values, standings = _swept(point, field)
    figure = sweep_figure(values, standings, here, field)
    screen.draw(figure)
    with screen.foot:
        st.markdown(f"{figure.alt}. {shares_sentence(here)}")
        fold("Every bound here", lambda: show_table(tables.ranks_table(here)), "lower_fold_ranks")
    screen.draw_files(figure, setting=setting_line(point, runs=False))


def map_part(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw how wide the window is over n and a field."""
    point = bare(scenario)
    here = _standing(point)
    screen.say(QUESTION, *standing_words(here))
    with screen.controls, st.container(horizontal=True, key="lower_map_choices"):
        _choose("n against", PLANES, "plane", point)
        if len(here.windows) > 1:
            choose_whom()
    up = _field(view.plane, point)
    x, y, ratios = _widths(point, view.about, up)
    figure = map_figure(x, y, ratios, point, up, view.about, here.ratio(view.about))
    screen.draw(figure)
    with screen.foot:
        st.markdown(f"{figure.alt}. {ABOUT_MAP}")
    screen.draw_files(
        figure,
        lambda: tables.map_table(x, y, ratios, up),
        setting=setting_line(point, runs=False),
    )


def _choose(label: str, options: tuple[str, ...], field: str, point: Scenario) -> None:
    def name(key: str) -> str:
        return AXIS_NAMES[_field(key, point)]

    st.segmented_control(label, options, format_func=name, key=STATE.key(field), required=True)


def _field(key: str, point: Scenario) -> str:
    """Return the field that is meant: the strength of a budget is its epsilon or its rho."""
    return strength(point) if key == "strength" else key
