"""Users: its figures hold the numbers of the core, its address restores it, its words fit."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.figure.render import plotly
from dpsco_app.figure.theme import COMPACT, Theme
from dpsco_app.figure.values import Figure, Line
from dpsco_app.front.links import BASE
from dpsco_app.pages.contest import contest_figure, contest_table, nearest_cell, winner
from dpsco_app.pages.first_screen import numbers_of
from dpsco_app.pages.users import page as users_page
from dpsco_app.pages.users.figures import (
    crossing_figure,
    crossing_table,
    frontier_figure,
)
from dpsco_app.pages.users.page import METHODS, _cells, _measured
from dpsco_app.pages.users.state import (
    PARTS,
    PROBLEM,
    STATE,
    View,
    fit,
    mean_over_items,
    user_level,
)
from dpsco_app.pages.users.words import (
    NEED_NAMES,
    OF_MAP,
    QUESTIONS,
    best_ranges,
    crossing_answer,
    frontier_answer,
    frontier_small,
)
from dpsco_app.parts import controls
from dpsco_app.parts.evaluations import without_data
from dpsco_app.parts.options import rounded
from dpsco_app.runs.running import cached_cell
from dpsco_app.shell import visit
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.limits import DASHBOARD, LIBRARY
from dpsco_core.bounds.user.complexity import COMPARISON
from dpsco_core.catalogue import BOUNDS, method_card, problem_card
from dpsco_core.explain.contest import READINGS, TRIALS, measured_contest
from dpsco_core.explain.tables.table import paper_table
from dpsco_core.explain.users.crossing import (
    FILTERED,
    LAW,
    OFFSET,
    PLAIN,
    Errors,
    crossing_scenario,
    errors_of,
)
from dpsco_core.explain.users.frontier import (
    EPSILONS,
    NEEDS,
    frontier,
    printed_accelerated_run,
)
from dpsco_core.explain.users.regions import (
    BOUNDED,
    GROUPS,
    MEASURED,
    MEASURED_ITEMS,
    MEASURED_USERS,
    bounds_map,
    measured_through,
)
from dpsco_core.runs.study import Cell, Outcome, planned, study
from dpsco_core.scenario import Scenario
from tests.app.pages import check_page, drawn_html, headline_text, line_below, written_text
from tests.app.places.test_one_run import open_at, values
from tests.golden_sentences import GOLDEN

QUICK = {"n": "2000", "d": "2", "trials": "2", "basis": "rates"}


def open_users(**query: str) -> AppTest:
    """Return the page of users at a quick setting."""
    return open_at("users", **(QUICK | query))


def errors_with(method: str, means: list[float]) -> Errors:
    """Return the errors of a method at 1, 10, 100, ... items per user; its two trials average to
    the given means.
    """
    items = 10.0 ** np.arange(len(means))
    return Errors(method=method, items=items, risks=np.array([[m, 1.2 * m] for m in means]) / 1.1)


FALLING, FLAT = errors_with(FILTERED, [2, 0.2, 0.02, 0.002]), errors_with(PLAIN, [0.05] * 4)
SCENARIO = fit(BASE)
LEVEL = user_level(SCENARIO)


def lines(figure: Figure) -> dict[str, Line]:
    """Return the lines of a figure by their names; of two lines of one name, the last one."""
    for theme in (Theme(), Theme(dark=True, size=COMPACT)):
        assert plotly(figure, theme)["data"]
    return {line.name: line for line in figure.panels[0].lines}


def test_the_map_shows_the_smallest_bound_of_each_cell_and_marks_the_chosen_point() -> None:
    (whole,) = bounds_map("rates", "smooth", 10, 1.0, 1e-6, 1.0)
    figure = contest_figure(whole, SCENARIO, "rates")
    cells = figure.panels[0].cells
    assert cells is not None and np.array_equal(cells.shows, whole.smallest)
    assert cells.chosen == (SCENARIO.m, SCENARIO.n)
    assert figure.y.title == "Users n" and figure.panels[0].x.title == "Items per user m"
    share = 100 * whole.share(whole.methods.index("user.group-privacy"))
    assert f"{share:.0f} %" in winner(whole, SCENARIO, "rates")


@pytest.mark.parametrize("diameter", [1e-6, 0.2, 1.0, 1e6])
def test_the_means_of_this_page_lie_in_the_set_whatever_its_size(diameter: float) -> None:
    assert fit(replace(SCENARIO, diameter=diameter)).offset == min(OFFSET, diameter / 2)


def test_the_map_compares_methods_and_says_what_an_answer_without_data_errs_on_its_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """These are the data of the map, whose mean is near 0, and not the visitor's data."""
    cell = _cells(SCENARIO)[0]
    assert (cell.point.distribution, cell.point.offset) == (LAW, OFFSET)
    first_map = next(_measured(SCENARIO))
    assert (first_map.winners == first_map.smallest).all()
    small = OF_MAP.format(start=rounded(without_data(cell.point)), trials=SCENARIO.trials)
    assert f"an error of {rounded(without_data(cell.point))}" in small
    assert f"averages {SCENARIO.trials} runs, and the map {TRIALS}" in small

    def run_first_trial(cell: Cell) -> Outcome:
        """Return the outcome of a cell's first trial for every trial, so that each method runs
        once.
        """
        return replace(cached_cell(replace(cell, trial=0)), trial=cell.trial)

    monkeypatch.setattr(users_page, "cached_cell", run_first_trial)
    assert small.strip() in line_below(open_at("users", part="map"))


def test_where_no_method_beats_an_answer_without_data_the_map_crowns_none() -> None:
    """With one item per user no method beats the answer without data at the chosen point."""
    scenario = replace(SCENARIO, n=500, m=1, d=20)
    first_map = next(_measured(scenario))
    row, column = nearest_cell(first_map.plane, scenario)
    assert first_map.start is not None
    assert first_map.start[row, column] == without_data(_cells(scenario)[0].point)
    assert first_map.values[:, row, column].min() > first_map.start[row, column]
    assert first_map.winners[row, column] == len(MEASURED)
    sentence = winner(first_map, scenario, "measured").replace("\xa0", " ")
    assert sentence.startswith("At m = 1, n = 500, no method of this map beats an answer without")
    best = contest_table(first_map)["Best"].to_numpy().reshape(first_map.smallest.shape)
    assert best[row, column] == "an answer without data"


def test_the_shares_in_headline_and_table_are_shares_of_the_whole_map() -> None:
    (bounds,) = bounds_map("rates", "smooth", 10, 1.0, 1e-6, 1.0)
    smallest_values = np.where(bounds.holds, bounds.values, np.inf).min(axis=0)
    cell = nearest_cell(bounds.plane, SCENARIO)
    partly_idle = replace(
        bounds,
        start=np.where(
            np.arange(smallest_values.shape[1]) < 9, 0.0, np.full_like(smallest_values, 9)
        ),
    )
    best, left = (
        int(partly_idle.smallest[cell]),
        (partly_idle.winners >= 0) & (partly_idle.winners < len(partly_idle.methods)),
    )
    assert partly_idle.winners[cell] == best and 0 < left.sum() < left.size
    share = f"{100 * (partly_idle.winners == best).mean():.0f} %"
    assert share != f"{100 * (partly_idle.winners[left] == best).mean():.0f} %"
    assert winner(partly_idle, SCENARIO, "measured").endswith(f"as on {share} of the map")
    rows = contest_figure(partly_idle, SCENARIO, "measured").ladder.rows
    assert rows[0].values[1] == share
    shares = [float(row.values[1].removesuffix(" %")) for row in rows]
    assert sum(shares) == pytest.approx(100, abs=2)
    assert rows[-1].values[1] == f"{100 * partly_idle.share(len(partly_idle.methods)):.0f} %"
    all_idle = replace(bounds, start=np.zeros_like(smallest_values))
    assert [
        row.values[1] for row in contest_figure(all_idle, SCENARIO, "measured").ladder.rows
    ] == [
        *["0 %"] * len(all_idle.methods),
        f"{100 * all_idle.share(len(all_idle.methods)):.0f} %",
    ]


def test_the_map_has_a_cell_at_the_chosen_point_and_the_runs_of_the_figure_over_m() -> None:
    scenario = replace(SCENARIO, n=700, m=20, d=2)
    first_map = next(_measured(scenario))
    assert (700 in first_map.plane.y, 20 in first_map.plane.x) == (True, True)
    assert "at m = 20, n = 700" in winner(first_map, scenario, "measured").replace("\xa0", " ")
    swept = list(
        study(replace(crossing_scenario(n=700, d=2, p=scenario.p, methods=METHODS), grid=(20.0,)))
    )
    means = [
        np.mean([o.error for o in swept if o.method == m and o.trial < TRIALS]) for m in MEASURED
    ]
    row, column = (
        (int(np.flatnonzero(~np.isnan(first_map.values[0]))[0]) // len(first_map.plane.x)),
        0,
    )
    column = int(np.flatnonzero(~np.isnan(first_map.values[0]))[0]) % len(first_map.plane.x)
    assert first_map.values[:, row, column] == pytest.approx(means)


def test_a_map_without_results_says_so() -> None:
    empty = measured_contest(measured_through(SCENARIO.n, 60), MEASURED, {})
    sentence = winner(empty, replace(SCENARIO, m=60), "measured").replace("\xa0", " ")
    assert sentence.startswith("Measuring, from m = 60, n = 10,000 ")
    assert plotly(contest_figure(empty, SCENARIO, "measured"), Theme(size=COMPACT))["data"]


def test_the_best_method_is_named_beside_the_answer_without_data() -> None:
    figure = crossing_figure([FALLING, FLAT], 0.03, 90)
    assert figure.ladder.title == "At m = 100"
    assert [row.values for row in figure.ladder.rows] == [["0.0200"], ["0.050"]]
    lines_by_name = lines(figure)
    assert lines_by_name["m = 100"].x == [100, 100]
    for curve in (FALLING, FLAT):
        assert lines_by_name[method_card(curve.method).name].y == pytest.approx(curve.mean)
    assert lines_by_name["always answering 0"].y == [0.03, 0.03]
    assert sorted(lines_by_name["always answering 0"].x) == [1, 1000]
    guide = lines_by_name["1/m"]
    assert guide.y[1] / guide.y[0] == pytest.approx(guide.x[0] / guide.x[1])
    assert guide.y[0] == pytest.approx(FALLING.mean[-1])
    # The title and the map compare methods by the same mean errors.
    assert best_ranges([FALLING, FLAT]) == GOLDEN["phases by items per user"]
    assert best_ranges([FLAT]) == "clipped user gradients"
    tied = ["", "", "in a tie", "in a tie", "in a tie", "in a tie", "", ""]
    assert crossing_table([FALLING, FLAT])["Smallest"].tolist() == tied
    clear = [replace(c, risks=c.mean[:, None] * [0.99, 1.0, 1.01]) for c in (FALLING, FLAT)]
    expected = [text.replace("in a tie", "yes") for text in tied]
    assert crossing_table(clear)["Smallest"].tolist() == expected


STEADY, DIP = (
    errors_with(GROUPS, [0.5, 0.4, 0.03, 0.02]),
    errors_with(GROUPS, [0.5, 0.01, 0.5, 0.01]),
)


@pytest.mark.parametrize(
    ("curves", "start", "expected"),
    [
        (
            [FALLING, FLAT],
            0.03,
            "Up to m = 10 items per user, nothing beats always answering 0; from m = 100 on, "
            "filtered gradients are best",
        ),
        # Another method is best from the number of items at which a method first beats the answer
        # 0.
        (
            [FALLING, FLAT],
            0.06,
            "Always answering 0 is never best; from m = 100 on, filtered gradients are best",
        ),
        (
            [FALLING, STEADY],
            1.0,
            "Always answering 0 is never best; from m = 10 on, filtered gradients are best",
        ),
        (
            [STEADY],
            0.45,
            "Up to m = 1 item per user, nothing beats always answering 0; from m = 10 on, filtered "
            "SGD is best",
        ),
        (
            [FALLING, FLAT],
            1e-4,
            "Up to m = 1,000 items per user, nothing beats always answering 0; filtered gradients "
            "are nearest",
        ),
        (
            [DIP],
            0.1,
            "Up to m = 100 items per user, hardly anything beats always answering 0; from "
            "m = 1,000 on, filtered SGD is best",
        ),
        (
            [FLAT],
            1.0,
            "Always answering 0 is never best; at every m, clipped user gradients are best",
        ),
    ],
)
def test_the_answer_says_from_which_m_on_a_method_beats_the_answer_without_data(
    curves: list[Errors], start: float, expected: str
) -> None:
    assert crossing_answer(curves, start) == expected


def test_the_page_links_to_the_study_of_a_mean_over_m() -> None:
    mean = mean_over_items(replace(BASE, m=50))
    assert (mean.problem, mean.axis, mean.grid[0], mean.grid[-1]) == ("mean", "m", 1, 50)
    # A visitor whose users have one item sees the effect of more items.
    assert mean_over_items(BASE).m == 50
    large = mean_over_items(replace(BASE, n=50_000, m=1000))
    assert large.m == 10 == large.grid[-1] and large.validate(DASHBOARD)
    (link,) = [x.proto for x in open_users().get("page_link") if "items per user" in x.proto.label]
    assert "axis=m" in link.query_string


def test_the_frontier_has_the_number_of_users_that_each_method_needs() -> None:
    assert set(NEED_NAMES) == {need.slug for need in NEEDS}
    needs = frontier(LEVEL)
    needs_here = {need.slug: need.least_users(LEVEL) for need in NEEDS}
    figure = frontier_figure(needs, needs_here, math.inf, 1e4, LEVEL)
    lines_by_name = lines(figure)
    for need in NEEDS:
        assert lines_by_name[NEED_NAMES[need.slug]].y == pytest.approx(needs[need.slug])
        assert lines_by_name[NEED_NAMES[need.slug]].x == pytest.approx(EPSILONS)
    assert (lines_by_name["chosen point"].x, lines_by_name["chosen point"].y) == ([1.0], [10_000])
    assert {row.name: row.values[0] for row in figure.ladder.rows}[
        NEED_NAMES["step-calibrated"]
    ] == f"{needs_here['step-calibrated']:,.0f}"
    assert len(numbers_of(figure)) == len(EPSILONS)
    sentence = frontier_small(needs_here, math.inf, 1e4, LEVEL)
    assert NEED_NAMES["step-calibrated"] in sentence and "Theorem C.1" not in sentence
    # The sentence states both conditions if no n meets them.
    assert f"n ≥ {needs_here['theorem-c1']:,.0f} (privacy)" in sentence
    assert "δ < 1/(nm), so n < 10,000 (accuracy)" in sentence
    at_500 = frontier_small(needs_here, 256_310, 1e4, replace(LEVEL, n=500, epsilon=0.1))
    assert "256,310" in at_500 and "(accuracy)" not in at_500


def test_the_headline_does_not_promise_a_theorem_that_no_number_of_users_meets() -> None:
    needs_here = {need.slug: need.least_users(LEVEL) for need in NEEDS}
    unrunnable, runnable = (frontier_answer(needs_here, runs, 1.0) for runs in (math.inf, 256_310))
    opening = (
        f"At ε = 1, filtered gradients can run from {needs_here['step-calibrated']:,.0f} users on; "
    )
    assert unrunnable == f"{opening}the published version cannot run with any number of users"
    assert runnable == f"{opening}their published theorem asks for {needs_here['theorem-c1']:,.0f}"
    assert math.isinf(printed_accelerated_run(LEVEL))
    page = open_users(part="feasibility", m="2")
    point = replace(LEVEL, n=2000, d=2, m=2)
    assert f"n = {printed_accelerated_run(point):,.0f} on" in line_below(page)
    assert "as published" not in headline_text(page)
    assert "Batches of the published size would be up to" in written_text(page)


def test_the_headline_has_the_least_number_of_users_with_which_the_filter_can_run() -> None:
    least_users = int(
        next(need for need in NEEDS if need.slug == "step-calibrated").least_users(LEVEL)
    )
    point = Scenario(
        problem="quadratic", distribution="hypercube", methods=(FILTERED,), m=LEVEL.m, d=LEVEL.d
    )
    assert planned(replace(point, n=least_users, epsilon=1.0, delta=1e-6), FILTERED)
    with pytest.raises(NotApplicable, match=f"it needs {least_users}"):
        planned(replace(point, n=least_users - 1, epsilon=1.0, delta=1e-6), FILTERED)


def test_the_page_links_to_the_table_of_gradient_counts() -> None:
    page = open_users(part="feasibility")
    (link,) = [x.proto for x in page.get("page_link") if x.proto.label.startswith("How many grad")]
    assert link.page == "bounds" and link.query_string == "table=lowy-gradients"
    gradient_bounds = {b.card.slug for b in BOUNDS if b.card.quantity == "item gradients"}
    assert set(paper_table("lowy-gradients").slugs) == gradient_bounds and len(
        gradient_bounds
    ) >= len(COMPARISON)


@pytest.mark.parametrize("part", PARTS)
def test_each_part_answers_one_question_with_one_figure(part: str) -> None:
    page = open_users(part=part)
    assert not page.warning
    (chart,) = page.get("plotly_chart")
    assert QUESTIONS[part] in drawn_html(page)
    assert (
        headline_text(page) == chart.proto.alt.replace("\xa0", " ")
        and len(headline_text(page)) > 20
    )
    assert len(page.dataframe) == 1


@pytest.mark.parametrize("p", [BASE.p, 6.0])
def test_the_page_opens_on_the_measured_crossover_at_the_visits_tail_index(p: float) -> None:
    page = open_users(p=f"{p:g}")
    assert page.select_slider(key=controls.PREFIX + "p").value == p
    (chart,) = page.get("plotly_chart")
    # The figure and the answer are those of the core's study.
    scenario = crossing_scenario(n=2000, d=2, p=p, trials=2, methods=METHODS)
    outcomes = list(study(scenario))
    curves = [errors_of(outcomes, m) for m in METHODS]
    start = without_data(scenario.at(scenario.grid[-1]))
    assert headline_text(page) == crossing_answer(curves, start)
    assert best_ranges(curves) in line_below(page)
    traces = {t.get("name"): t for t in json.loads(chart.proto.spec)["data"]}
    for curve in curves:
        assert values(traces[method_card(curve.method).name]) == pytest.approx(curve.mean)


def test_the_crossover_and_the_map_are_of_the_same_methods() -> None:
    assert set(METHODS) == set(MEASURED)


def test_a_link_restores_the_whole_page() -> None:
    query = {"part": "map", "basis": "rates", "share": "0.3"}
    assert set(query) == set(View.__dataclass_fields__)
    query |= {"n": "1000", "m": "1000", "d": "2", "epsilon": "5", "delta": "1e-08"}
    query |= {"trials": "2", "seed": "3"}
    query |= {"problem": "quadratic", "methods": "sco.erm,user.accelerated"} | {"grid": "500,1000"}
    query |= {"distribution": LAW, "offset": f"{OFFSET:g}"}
    assert STATE.from_query(query)[1] == []
    page = open_at("users", **query)
    assert not page.warning and "Use it everywhere" not in [b.label for b in page.button]
    assert dict(page.query_params.items()) == query


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("basis", "luck"),
        ("part", "end"),
    ],
)
def test_an_invalid_address_field_is_reported_and_ignored(name: str, text: str) -> None:
    view, problems = STATE.from_query({name: text})
    assert view == View()
    assert len(problems) == 1 and problems[0].startswith(name) and problems[0].endswith(".")


def test_the_page_reports_an_invalid_address() -> None:
    page = open_users(part="kinked")
    assert [w.value for w in page.warning] and "part must be" in page.warning[0].value
    assert "part" not in page.query_params


def test_values_between_the_options_are_kept() -> None:
    page = open_users(n="1234", epsilon="1.7", delta="3e-07")
    assert not page.warning
    assert page.query_params["n"] == "1234" and page.query_params["epsilon"] == "1.7"


def test_a_slider_moves_the_figure() -> None:
    page = open_users(part="feasibility")
    old_charts = [c.proto.spec for c in page.get("plotly_chart")]
    page.select_slider(key=controls.PREFIX + "m").set_value(10_000)
    new_charts = [c.proto.spec for c in check_page(page.run()).get("plotly_chart")]
    assert page.query_params["m"] == "10000"
    assert len(old_charts) == len(new_charts) == 1 and old_charts != new_charts


@pytest.mark.slow
def test_the_measured_map_is_drawn_from_five_runs_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    cells_run = []

    def quick(cell: Any) -> Outcome:
        """Return an outcome at once, by far the smallest for the first method."""
        cells_run.append(cell)
        rank = BOUNDED.index(cell.method)
        # The first method has by far the smallest error everywhere.
        error = 1e-9 * (1 + rank + 0.01 * cell.trial)
        return Outcome(
            method=cell.method, x=cell.x, trial=cell.trial, error=error, seconds=0.0, spent=None
        )

    monkeypatch.setattr(users_page, "cached_cell", quick)
    query = {"problem": "geometric-median", "m": "1000"}
    page = open_users(part="map", basis="measured", **query)
    users = len({*MEASURED_USERS, 2000})
    cells = users * len(MEASURED_ITEMS) * len(MEASURED) * TRIALS
    of_map = [c for c in cells_run if c.x is None]
    assert len(of_map) == cells and (of_map[0].point.m, of_map[0].point.n) == (1000, 2000)
    start = "The smallest measured error at m = 1,000, n = 2,000: "
    start += "Clipped user gradients"
    assert headline_text(page) == f"{start}, as on 100 % of the map"


def test_the_sidebar_and_the_text_name_the_same_loss() -> None:
    page = open_users()
    (problem,) = [box for box in page.sidebar.selectbox if box.label == "Estimate"]
    assert problem.value == PROBLEM == crossing_scenario().problem
    assert "half the squared distance" in written_text(page)
    assert problem.options == [problem_card(PROBLEM).name]


def test_the_map_opens_on_what_the_title_above_it_is_about() -> None:
    """The map and the title both show measured errors; the theorems' rates may favour another
    method.
    """
    assert View().basis == "measured" == READINGS[-1]
    assert "Measured errors may name another method" in written_text(open_users(part="map"))


def test_a_sample_that_is_too_large_is_refused_by_the_sizes_of_the_sliders() -> None:
    """The refusal does not name a number of items at which the figure would have been drawn."""
    page = open_users(n="10000")
    page.session_state[visit.SESSION].change("d", 1000)
    assert line_below(check_page(page.run())) == (GOLDEN["too many numbers for the dashboard"])


def test_a_method_that_cannot_run_says_why() -> None:
    page = open_users(n="500", epsilon="0.1", d="2")
    assert any("cannot run" in info.value for info in page.info)


def test_tables_are_csv_that_parses() -> None:
    table = crossing_table([FALLING, FLAT])
    parsed = pd.read_csv(io.StringIO(table.to_csv(index=False)))
    assert list(parsed.columns) == list(table.columns) and len(parsed) == len(table)
    assert crossing_table([FLAT])["m"].tolist() == [1, 10, 100, 1000]


def test_a_scenario_with_decay_is_fitted_to_equal_coordinates() -> None:
    sweep = Scenario(d=3, axis="decay", grid=(0.0, 0.5))
    for scenario in (sweep, replace(sweep, axis=None, grid=(), decay=0.5)):
        fitted = fit(scenario)
        assert (fitted.decay, fitted.axis) == (0, None)
        assert fit(fitted.validate(LIBRARY, sampling=False)) == fitted


def test_the_page_opens_with_the_margin_of_hard_data_that_have_no_tail_index() -> None:
    # A random test once found this address: the page's own law is Gaussian and ignores the margin.
    hard = replace(BASE, distribution="hypercube", p=1.999, margin=1e-6)
    assert fit(hard).validate(LIBRARY, sampling=False).distribution == "gaussian"
