"""Users: the cost of hiding a whole user, and the number of items from which a filter is better."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from dpsco_app.pages.contest import READING_NAMES, draw_contest, nearest_cell
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import draw_page
from dpsco_app.pages.scripts import users_script
from dpsco_app.pages.users import words
from dpsco_app.pages.users.alike import SHARES, alike_figure, alike_small, numbers
from dpsco_app.pages.users.figures import (
    crossing_figure,
    crossing_table,
    frontier_figure,
)
from dpsco_app.pages.users.state import (
    ENDS,
    PARTS,
    STATE,
    View,
    alike_study,
    mean_over_items,
    user_level,
)
from dpsco_app.parts.evaluations import without_data
from dpsco_app.parts.options import rounded, short_text
from dpsco_app.parts.page import draw_parts, slider, to_explore
from dpsco_app.runs.running import cached_cell, run_here
from dpsco_app.shell import visit
from dpsco_app.shell.places import draw_views, link_to
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import method_card
from dpsco_core.explain.contest import Contest, Reading, contest_cells, measured_contest
from dpsco_core.explain.users.alike import ADAPTIVE
from dpsco_core.explain.users.crossing import (
    FILTERED,
    PLAIN,
    crossing_scenario,
    errors_of,
)
from dpsco_core.explain.users.frontier import (
    NEEDS,
    batch_shortfall,
    frontier,
    most_users,
    printed_accelerated_run,
)
from dpsco_core.explain.users.regions import (
    GROUPS,
    MEASURED,
    bounds_map,
    measured_cells,
    measured_through,
)
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.runs.study import Cell, Outcome
from dpsco_core.scenario import Scenario

METHODS = (FILTERED, PLAIN, GROUPS)
_cache = partial(st.cache_data, max_entries=200, show_spinner=False, hash_funcs={UserLevel: repr})
_frontier = _cache()(frontier)


def page() -> None:
    """Draw the page Users, with the part that its address names."""
    draw_views("users")
    draw_page(
        STATE,
        DRAW,
        words.QUESTIONS,
        names=PARTS,
        texts=words.LOOK_AT,
        symbols=words.SYMBOLS,
        script=users_script,
        with_own_data=("alike",),
    )


def _draw_crossing(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Run the methods over the number of items per user, and draw their errors."""
    assert scenario.epsilon is not None and scenario.delta is not None
    study = crossing_scenario(
        n=scenario.n,
        d=scenario.d,
        p=scenario.p,
        epsilon=scenario.epsilon,
        delta=scenario.delta,
        trials=scenario.trials,
        seed=scenario.seed,
        methods=METHODS,
    ).validate(DASHBOARD)
    outcomes = run_here(study)
    for method, reason in {
        o.method: o.not_applicable for o in outcomes if o.not_applicable
    }.items():
        st.info(f"{method_card(method).name} cannot run at some of these points: {reason}")
    errors = (errors_of(outcomes, method) for method in METHODS)
    curves = [c for c in errors if not math.isnan(float(c.risks.sum()))]
    # An answer without data has the same error at every m.
    screen.show(
        words.QUESTIONS["crossing"],
        crossing_figure(curves, without_data(study.at(study.grid[-1])), scenario.m),
        f"The smallest error of the methods: {words.best_ranges(curves)}.",
        lambda: crossing_table(curves),
    )
    mean = mean_over_items(visit.current().visit_scenario)
    to_explore(mean, f"What {mean.m:,} items per user change for the mean of your data, in Explore")


def _draw_alike(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the errors of a mean on items that are alike, beside those on independent items."""
    with screen.controls:
        left, right = st.columns([2, 3], vertical_alignment="center")
        with left:
            slider(STATE, "What the items of a user have in common: γ", "share", SHARES)
        right.markdown(words.WHOSE_ITEMS)
    alike, plain = (alike_study(scenario, share) for share in (view.share, 0.0))
    outcomes = run_here(alike)
    independent = errors_of(run_here(plain), ADAPTIVE)
    curves = {slug: errors_of(outcomes, slug) for slug in alike.methods}
    figure = alike_figure(curves, independent, alike)
    screen.say(words.QUESTIONS["alike"], figure.alt, alike_small(alike))
    screen.draw(figure, height=430)
    screen.draw_files(figure, lambda: pd.DataFrame(numbers(list(curves.values()), independent)))
    to_explore(alike, "These users in Explore, with the bounds that hold for them")


def _draw_map(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the map of the smallest bound, or of the smallest measured risk, as it fills in."""
    measured = view.basis == "measured"
    with screen.controls:
        draw_parts(READING_NAMES, STATE.key("basis"), "Compare")
    screen.foot.markdown(words.LOOK_AT_MAP[view.basis])
    stages = _measured(scenario) if measured else iter([_bounds(view.basis, user_level(scenario))])
    start = rounded(without_data(_cells(scenario)[0].point))
    draw_contest(
        screen,
        words.QUESTIONS["map"],
        words.OF_MAP.format(start=start, trials=scenario.trials) if measured else "",
        stages,
        scenario,
        view.basis,
        limits={"n": ENDS["n"]},
    )


@st.cache_resource(max_entries=200, show_spinner=False, hash_funcs={UserLevel: repr})
def _bounds(basis: Reading, point: UserLevel) -> Contest:
    """Return the map of the smallest bounds over n and m; `basis` says proven bounds or rates."""
    maps = bounds_map(basis, "smooth", point.d, point.epsilon, point.delta, point.smoothness)
    return list(maps)[-1]


def _cells(scenario: Scenario) -> tuple[Cell, ...]:
    """Return the runs that the measured map needs for one of its cells."""
    point = user_level(scenario)
    return measured_cells(
        point.n, point.m, point.d, scenario.p, point.epsilon, point.delta, scenario.seed
    )


def _measured(scenario: Scenario) -> Iterator[Contest]:
    """Yield the map of measured risks as it grows by a cell, from the chosen point outwards."""
    plane = measured_through(scenario.n, scenario.m)
    outcomes: dict[tuple[int, int], list[Outcome]] = {}
    start: dict[tuple[int, int], float] = {}
    for i, j in contest_cells(plane, nearest_cell(plane, scenario)):
        todo = _cells(replace(scenario, n=int(plane.y[i]), m=int(plane.x[j])))
        todo[0].point.validate(DASHBOARD)
        outcomes[i, j] = [cached_cell(cell) for cell in todo]
        start[i, j] = without_data(todo[0].point)
        yield measured_contest(plane, MEASURED, outcomes, start)


@_cache()
def _needs(point: UserLevel) -> tuple[dict[str, float], float, float]:
    """Return the least users by algorithm, those of the printed run, and its batches' shortfall.

    The shortfall is how many times too large batches of the published size are.
    """
    least_users = {need.slug: need.least_users(point) for need in NEEDS}
    return least_users, printed_accelerated_run(point), batch_shortfall(point)


def _draw_feasibility(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the least number of users that the filtered methods need against epsilon."""
    point = user_level(scenario)
    needs, user_limit = _frontier(point.with_users(2)), most_users(point)
    needs_here, runs, shortfall = _needs(point)
    screen.show(
        words.QUESTIONS["feasibility"],
        frontier_figure(needs, needs_here, runs, user_limit, point),
        words.frontier_small(needs_here, runs, user_limit, point),
    )
    st.markdown(
        f"Batches of the published size would be up to {short_text(shortfall, 2)} times as many "
        "users as a phase has: every step takes all of them instead."
    )
    link_to("bounds", "How many gradients each takes", {"table": "lowy-gradients"})


DRAW = {
    "crossing": _draw_crossing,
    "alike": _draw_alike,
    "map": _draw_map,
    "feasibility": _draw_feasibility,
}
