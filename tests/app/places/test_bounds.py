"""The page Bounds: its figure and table show the core's values, and its links lead where they
say.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.front import links
from dpsco_app.front.links import BASE as START
from dpsco_app.pages.bounds import words
from dpsco_app.pages.bounds.figure import (
    FADED,
    FEW_ROWS,
    MOST_ROWS,
    bounds_figure,
    room_for_names,
    symbol_of,
)
from dpsco_app.pages.bounds.groups import group_key, grouped, select
from dpsco_app.pages.bounds.state import STATE, explore_address, fitting_table
from dpsco_app.parts import controls
from dpsco_app.parts.citations import bibtex
from dpsco_app.parts.formulas import formula_markdown
from dpsco_app.parts.options import in_print
from dpsco_app.parts.problem_words import words_for
from dpsco_core.base.cards import ZHAO_2024
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.catalogue import BOUNDS, PROBLEM_SLUGS, bound
from dpsco_core.explain.anatomy import starting_risk
from dpsco_core.explain.tables.best import (
    by_value,
    comparable,
    counts,
    empty_theorems,
    floor,
    is_vacuous,
    leading,
)
from dpsco_core.explain.tables.letters import conditions
from dpsco_core.explain.tables.ratios import class_ratios
from dpsco_core.explain.tables.table import TABLE_KEYS, Row, canonical_point, paper_table, rows
from dpsco_core.explain.window import spans, standing, worst_start
from dpsco_core.fields import NAMES as FIELDS
from dpsco_core.scenario import Scenario
from tests.app.pages import (
    BASES,
    check_page,
    headline_text,
    ladder_numbers,
    line_below,
    written_text,
)
from tests.app.places.test_one_run import open_at
from tests.golden_sentences import GOLDEN

BASE = BASES["bounds"]
MEAN = Scenario(methods=("mean.sample",))
TWO_LINES = 160  # The largest number of letters in a headline on a laptop, two lines.


def open_bounds(**query: str) -> AppTest:
    """Return the page of bounds at a query."""
    return open_at("bounds", **query)


def rows_of(point: Scenario = BASE, table: str = "zhao") -> tuple[Row, ...]:
    """Return the bounds of a paper's table, evaluated at a point."""
    return rows(point, paper_table(table).slugs)


def specs(page: AppTest) -> list[dict[str, Any]]:
    """Return the Plotly specifications of all charts of a page."""
    return [json.loads(chart.proto.spec) for chart in page.get("plotly_chart")]


def marks_of(page: AppTest) -> list[float]:
    """Return the values of the marks of the page's figure."""
    return [t["x"][0] for t in specs(page)[0]["data"] if t.get("mode") == "markers"]


def text_of(page: AppTest, key: str = "bounds_said") -> str:
    """Return the text that a container of the page shows first."""
    return str(page.container(key=key).markdown[0].value)


def test_the_figure_holds_every_comparable_value() -> None:
    table_rows = comparable(rows_of(MEAN, "kamath"), "l2 error")
    figure = bounds_figure(table_rows, "axis", "lower.mean.fano-cdp")
    (panel,) = figure.panels
    marks = {line.key: line for line in panel.lines if line.symbol}
    marked_rows = by_value(table_rows, MOST_ROWS)
    assert (
        len(marks) == len(figure.ladder.rows) == len(marked_rows) == min(len(table_rows), MOST_ROWS)
    )
    marked_rows = [r for r in marked_rows if r.bound.card.slug in marks]
    # The rows are the chosen one and the best of every group.
    assert len(marked_rows) >= MOST_ROWS - 3
    heights = []
    for row in sorted(marked_rows, key=lambda r: -marks[r.bound.card.slug].y[0]):
        mark = marks[row.bound.card.slug]
        assert list(mark.x) == [row.value]
        assert mark.symbol == symbol_of(row.bound.card)
        assert mark.opacity == (1.0 if counts(row) else FADED)
        heights.append(mark.y[0])
        (name,) = [r for r in figure.ladder.rows if r.key == mark.key]
        assert name.values == [words.in_digits(row.value)] and name.end == mark.y[0]
        assert name.bold == (mark.key == "lower.mean.fano-cdp")
    assert heights == sorted(heights, reverse=True) and len(set(heights)) == len(heights)
    assert panel.x.low < min(r.value for r in marked_rows) and panel.x.high > max(
        r.value for r in marked_rows
    )


def test_a_mark_says_which_way_it_bounds_and_whether_its_constant_is_proven() -> None:
    marks = {slug: symbol_of(bound(slug).card) for slug in ("upper.sco.clipped", "upper.sco.sgd")}
    assert marks == {"upper.sco.clipped": "triangle-down-open", "upper.sco.sgd": "triangle-down"}
    assert symbol_of(bound("lower.mean.fano-cdp").card) == "triangle-up"


def test_a_long_table_is_cut_to_the_best_of_both_kinds_that_hold() -> None:
    table_rows = comparable(rows_of(BASE, "all"), "excess risk")
    shown_rows = by_value(table_rows, MOST_ROWS)
    assert len(table_rows) > MOST_ROWS == len(shown_rows)
    assert all(counts(r) for r in shown_rows)
    assert {r.bound.card.kind for r in shown_rows} == {"upper", "lower"}
    for kind, best in (("upper", min), ("lower", max)):
        values = [r.value for r in table_rows if r.bound.card.kind == kind and counts(r)]
        assert best(values) in [r.value for r in shown_rows if r.bound.card.kind == kind]
    floor_row = floor(table_rows)
    assert floor_row in shown_rows


def test_the_first_five_rows_include_the_chosen_row_and_those_of_the_headline() -> None:
    for table in ("kamath", "all"):
        table_rows = comparable(rows_of(MEAN, table), "l2 error")
        chosen = next(r.bound.card.slug for r in table_rows if not counts(r))
        figure = bounds_figure(table_rows, "axis", chosen, most_rows=FEW_ROWS)
        slugs = {row.key for row in figure.ladder.rows}
        assert len(figure.ladder.rows) == FEW_ROWS and chosen in slugs
        for row in (leading(table_rows), floor(table_rows)):
            assert row is not None and row.bound.card.slug in slugs
        assert figure.ladder.title == f"5 of {len(table_rows)} bounds"
        upper = [
            r for r in table_rows if r.bound.card.slug in slugs and r.bound.card.kind == "upper"
        ]
        assert all(r.bound.card.privacy != "none" for r in upper)
    three_rows = table_rows[:3]
    assert {r.bound.card.slug for r in select(three_rows, FEW_ROWS, "")} == {
        r.bound.card.slug for r in three_rows
    }


def test_the_rows_of_a_method_are_grouped_and_named_by_their_differences() -> None:
    table_rows = comparable(rows_of(MEAN, "all"), "l2 error")
    rows_by_name = {
        (group.title, name): row
        for group in grouped(table_rows, table_rows)
        for row, name in zip(group.rows, group.names, strict=True)
    }
    assert len(rows_by_name) == len(table_rows)  # No two rows of a group have the same name.
    assert rows_by_name["Simple clipping", "rate"].bound.card.method == "mean.clipped"
    assert ("Coordinate-wise, Gaussian", "proven at 95 %") in rows_by_name
    assert ("Sample mean", "not private") in rows_by_name
    assert ("Lower bounds on every (ε, δ)-DP algorithm", "Packing") in rows_by_name
    assert ("Lower bounds on every zCDP algorithm", "CDP tracing") in rows_by_name
    figure = bounds_figure(table_rows, "axis", "")
    names = {row.key: row.name for row in figure.ladder.rows}
    assert not any("Coordinate-wise" in name for name in names.values())
    heads = {line.key: line for line in figure.panels[0].lines if line.key.startswith("group:")}
    heights = sorted([h.y[0] for h in heads.values()], reverse=True)
    for row in (r for r in table_rows if r.bound.card.slug in names):
        (end,) = [r.end for r in figure.ladder.rows if r.key == row.bound.card.slug]
        head_height = min(y for y in heights if y > end)
        assert heads[f"group:{group_key(row.bound.card)}"].y[0] == head_height
    assert room_for_names(figure) < 400  # The plot takes more than half of the width.


@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_a_headline_has_at_most_two_lines_and_keeps_its_numbers(problem: str) -> None:
    for change in ({}, {"m": 100}, {"n": 200_000}):
        point = canonical_point(replace(Scenario(problem=problem, methods=()), **change))
        for key in TABLE_KEYS:
            table_rows = comparable(rows_of(point, key), words_for(problem).quantity)
            title = words.title(table_rows)
            assert len(title) <= TWO_LINES
            upper, lower = leading(table_rows), floor(table_rows)
            for row in (upper, lower):
                assert row is None or words.in_digits(row.value) in title


def test_the_title_has_the_smallest_upper_bound_and_the_algorithms_that_the_floor_binds() -> None:
    table_rows = comparable(rows_of(MEAN, "kamath"), "l2 error")
    title = words.title(table_rows)
    holding = [
        r
        for r in table_rows
        if r.holds and r.bound.card.kind == "upper" and r.bound.card.privacy != "none"
    ]
    rates = [r for r in holding if r.bound.card.constant == "rate"]
    proven = [r for r in holding if r not in rates and r.bound.card.guarantee == "expectation"]
    best = min(proven, key=lambda r: r.value)
    value = words.in_digits(best.value)
    assert title.startswith(f"Proven in this table: error at most {value}; in the worst case at ")
    assert "“" not in title and f"“{words.short(best.bound.card)}”" in words.leader(table_rows)
    best = min(rates, key=lambda r: r.value)
    unproven = [r for r in table_rows if r not in proven]
    title, rate = words.title(unproven), words.in_digits(best.value)
    assert title.startswith(f"The smallest rate of this table is {rate}; proven: in the worst case")
    assert words.leader(unproven) == f"Smallest upper bound: “{words.short(best.bound.card)}”. "
    floor_row = floor(table_rows)
    assert floor_row is not None and floor_row.bound.card.privacy == "zcdp"
    assert title.endswith(f"at least {words.in_digits(floor_row.value)} for every zCDP algorithm")
    assert words.leader([floor_row]) == ""
    assert "no row" not in title.lower()


def test_the_floor_of_a_strongly_convex_problem_is_of_strongly_convex_losses() -> None:
    table_rows = rows_of(Scenario(problem="quadratic", methods=()), "kamath")
    floor_row = floor(table_rows)
    assert floor_row is not None and floor_row.bound.card.loss_class.strongly_convex
    wider = [r for r in table_rows if r.holds and not r.applies]
    assert max(r.value for r in wider) > floor_row.value
    column = words.table_frame(table_rows, 1.0)["Class"]
    assert {text.removeprefix("coordinate moments; ") for text in column} == {
        "smooth convex losses",
        "smooth strongly convex losses",
        GOLDEN["a class that does not bind"],
        "variance; mean estimation",
        "mean estimation",
    }


def test_the_leading_bound_has_the_class_of_the_floor_or_names_its_class() -> None:
    """On the data of this test the method has an upper bound of 0.347 by their moments in every
    direction, and the lower bound for all data of the class is 0.375.
    """
    point = Scenario(
        n=20_000, d=75, p=2.0, epsilon=0.2, delta=1e-4, diameter=1.0, offset=0.3, methods=()
    )
    table_rows = [
        r for r in rows_of(point, "all") if r.holds and r.bound.card.quantity == "l2 error"
    ]
    floor_row, leader = floor(table_rows), leading(table_rows)
    assert floor_row is not None and leader is not None
    assert (
        leader.bound.card.is_comparable_with(floor_row.bound.card, leader.covers)
        and leader.value > floor_row.value
    )
    by_slug = {r.bound.card.slug: r for r in table_rows}
    expected_bound = by_slug["upper.mean.clipped-expected"]
    assert expected_bound.value < floor_row.value
    for ratio in class_ratios(table_rows):
        assert ratio.lower is not None and ratio.ratio >= 1
        assert ratio.lower.bound.card.laws in ratio.upper.covers
        sentence = words.ratio_sentence(ratio)
        assert f"and {ratio.lower.bound.card.laws.words}, the smallest" in sentence
    assert {r.lower.bound.card.laws for r in class_ratios(table_rows) if r.lower} >= {COORDINATE}
    assert words.marked(expected_bound) == GOLDEN["a bound for directional moments"]
    assert words.marked(leader) == words.short(leader.bound.card)
    open_to_all = next(r for r in rows_of(MEAN, "all") if r.bound.card.name == "Sample mean")
    assert words.marked(open_to_all) == "Sample mean, not private"
    pair = [expected_bound, by_slug["lower.mean.fano-cdp"]]
    start = "Proven in this table: error at most 0.347, for these directional moments; in the "
    assert words.title(pair).startswith(start)


def test_the_table_lists_the_algorithms_the_class_and_the_statement_of_a_bound() -> None:
    relevant = [r for r in rows_of(Scenario(methods=()), "all") if r.is_relevant]
    table = words.table_frame(relevant, 1.0).set_index("Bound")
    row = table.loc["CDP tracing"]
    assert row["Binds"] == "every zCDP algorithm (ρ = 0.02801)"
    assert row["Class"] == "coordinate moments; mean estimation"
    assert row["Statement"] == "approx-lower-bounds, section 3, (T1) with Lemma B"
    assert table.loc["Simple clipping, proven mean error"]["Binds"] == ""


def test_a_floor_for_pure_privacy_only_is_labelled_so() -> None:
    pure_rows = [r for r in rows_of(MEAN, "kamath") if r.bound.card.slug == "lower.mean.fano-pure"]
    title = words.title(pure_rows)
    assert title.startswith("Proven in this table: error in the worst case at least ")
    assert title.endswith(" for every ε-DP algorithm")
    assert words.title([]).startswith("No row of this table")
    failing = [r for r in rows_of(MEAN, "kamath") if r.is_relevant and not r.holds]
    assert "No theorem about a private method holds" in words.title(failing)


def test_the_sentence_counts_what_holds() -> None:
    table_rows = rows_of(MEAN, "kamath")
    compared = comparable(table_rows, "l2 error")
    [span] = spans(MEAN)
    counted = words.count_sentence(table_rows, ())
    with_window = words.count_sentence(table_rows, [span])
    assert (
        with_window.startswith(counted)
        and f"{words.in_digits(span.low)} is the proven limit" in with_window
    )
    assert f"{words.in_digits(span.high)} is proven possible for all data" in with_window
    text = words.sentence(compared, paper_table("zhao"), 0.2)
    relevant = [r for r in table_rows if r.is_relevant]
    assert counted.startswith(f"{sum(r.holds for r in relevant)} of {len(relevant)} ")
    assert counted.endswith(f"the table has {len(table_rows)}.")
    (ratio,) = class_ratios(compared)
    assert ratio.lower is not None and f"**{words.in_digits(ratio.lower.value)}**" in text
    assert "times** the largest lower bound on every zCDP algorithm" in text
    vacuous = [r for r in compared if is_vacuous(r, 0.2)]
    upper = [r for r in compared if r.holds and r.bound.card.kind == "upper"]
    assert 0 < len(vacuous) < len(upper)
    assert f"**{len(vacuous)} of the {len(upper)}** upper bounds that hold say nothing" in text
    assert "say nothing" not in words.sentence(compared, paper_table("zhao"), 1e9)


def test_the_button_sets_a_scenario_that_the_table_covers_and_a_way_back() -> None:
    page = open_bounds(problem="quadratic", table="arora")
    old_query = dict(page.query_params)
    (button,) = [b for b in page.button if b.key == "bounds_covered"]
    check_page(button.click().run())
    assert page.query_params["problem"] == "logistic"
    assert page.query_params["distribution"] == "hypercube"
    (back_button,) = [b for b in page.button if b.label == "Back to mine"]
    check_page(back_button.click().run())
    assert dict(page.query_params) == old_query


def test_the_figure_marks_the_worst_case_without_data_and_the_table_what_is_vacuous() -> None:
    page = open_bounds(problem="quadratic", table="zhao")
    start = worst_start(canonical_point(BASE))
    (line,) = [t for t in specs(page)[0]["data"] if t.get("name") == "without data, worst case"]
    assert line["x"] == pytest.approx([start, start])
    (frame,) = [d.value for d in page.dataframe]
    vacuous = frame["Holds"] == "yes, vacuous"
    assert vacuous.any() and (frame["Value"][vacuous] >= start).all()
    useful = frame[(frame["Holds"] == "yes") & (frame["Kind"] == "upper") & ~vacuous]
    assert (useful["Value"] < start).all()
    # A bound over all data can exceed the error without data on these data and still be
    # informative.
    assert worst_start(canonical_point(MEAN)) == standing(MEAN).start == 2
    at_500 = replace(MEAN, n=500)
    upper = [r for r in comparable(rows_of(at_500, "all"), "l2 error") if r.holds]
    useless = [r for r in upper if starting_risk(canonical_point(at_500)) < r.value < 2]
    assert useless and {words.holds_text(r, 2) for r in useless} == {"yes"}


@pytest.mark.parametrize("problem", ["logistic", "hinge", "geometric-median"])
def test_the_worst_case_without_data_is_drawn_for_every_loss_and_can_lead_the_table(
    problem: str,
) -> None:
    page = open_bounds(problem=problem, n="100", table="all")
    point = canonical_point(replace(BASE, problem=problem, n=100, methods=()))
    assert "ignores these data" not in line_below(page)
    assert any("Dashed" in caption.value for caption in page.caption)
    (line,) = [t for t in specs(page)[0]["data"] if t.get("name") == "without data, worst case"]
    assert line["x"] == pytest.approx([worst_start(point)] * 2)
    (frame,) = [d.value for d in page.dataframe]
    fixed = frame[frame["Bound"].str.startswith("Answering without data")]
    assert len(fixed) and not (fixed["Holds"] == "yes, vacuous").any()


def test_a_row_shows_its_conditions_with_numbers_and_text_to_copy() -> None:
    page = open_bounds(problem="mean", table="all", bound="upper.mean.smoothed", n="500", d="20")
    theorem = bound("upper.mean.smoothed")
    point = canonical_point(Scenario(methods=("mean.sample",), n=500, d=20, p=BASE.p))
    for condition in conditions(point, theorem):
        assert words.condition_text(condition) in written_text(page)
    (failing,) = [c for c in conditions(point, theorem) if c.text == "n >= 100 sqrt(d/rho)"]
    assert failing.failure and words.condition_text(failing).startswith("✗ n ≥ 100 √(d/ρ): fails:")
    copied = [code.value for code in page.code]
    assert theorem.card.latex in copied
    assert any(text.startswith("@") for text in copied)


def test_explore_shows_the_bound_that_it_is_opened_for() -> None:
    point = canonical_point(Scenario(problem="huber", methods=("sco.erm",), n=2000, d=5))
    count_drawn = 0
    for theorem in BOUNDS:
        address = explore_address(point, theorem.card)
        query = {k: v for k, v in address.items() if k in FIELDS}
        scenario = Scenario.from_query(query, START)
        alike = words_for(scenario.problem).quantity == theorem.card.quantity
        assert alike == (address.get("bound") == theorem.card.slug)
        count_drawn += alike
    assert count_drawn >= 100


def test_a_scenario_that_explore_does_not_run_is_refused_in_a_sentence() -> None:
    huge = {"problem": "huber", "n": "1000000", "d": "100", "m": "1000"}
    page = open_bounds(**huge, table="all", bound="upper.user.accelerated")
    (refused,) = [c.value for c in page.caption if "Explore does not run" in c.value]
    assert "must be" in refused
    assert not [x for x in page.get("page_link") if x.proto.label == "Open in Explore"]


def test_the_page_draws_the_table_of_its_address() -> None:
    page = open_bounds(problem="mean", table="kamath", epsilon="2", bound="lower.mean.fano-cdp")
    point = Scenario(methods=("mean.sample",), epsilon=2.0)
    compared = comparable(rows_of(point, "kamath"), "l2 error")
    assert len(marks_of(page)) == FEW_ROWS < len(compared)
    assert {"CDP Fano, paper's packing", "proven mean error"} < set(ladder_numbers(page))
    assert any(words.ZCDP in caption.value for caption in page.caption)
    (frame,) = [d.value for d in page.dataframe]
    table_rows = rows_of(point, "kamath")
    relevant = [r for r in table_rows if r.is_relevant]
    assert len(frame) == len(table_rows) > len(relevant)
    assert list(frame["Holds"] == "another problem") == [not r.is_relevant for r in table_rows]
    by_name = {r.bound.card.slug: v for r, v in zip(table_rows, frame["Value"], strict=True)}
    (fano,) = [r for r in relevant if r.bound.card.slug == "lower.mean.fano-cdp"]
    assert by_name["lower.mean.fano-cdp"] == fano.value
    assert not set(frame["Bound"][: len(relevant)]) & set(frame["Bound"][len(relevant) :])
    assert formula_markdown(fano.bound.card.latex) in written_text(page)
    assert words.in_digits(fano.value) in written_text(page)
    counted = f"{sum(r.holds for r in relevant)} of {len(relevant)} "
    assert line_below(page).startswith(words.leader(compared) + counted)
    assert headline_text(page) == words.title(compared)
    (link,) = [x.proto for x in page.get("page_link") if x.proto.label == "Open in Explore"]
    assert "epsilon=2" in link.query_string and "bound=lower.mean.fano-cdp" in link.query_string


def test_users_have_their_own_rows() -> None:
    page = open_bounds(problem="geometric-median", m="100", table="lowy", rows="all")
    assert "are hidden at once" in text_of(page)
    page.select_slider(key=controls.PREFIX + "m").set_value(1000)
    check_page(page.run())
    assert page.query_params["m"] == "1000"
    point = Scenario(problem="geometric-median", methods=("sco.erm",), m=1000, p=BASE.p)
    expected = comparable(rows_of(point, "lowy"), "excess risk")
    assert FEW_ROWS < len(expected) <= MOST_ROWS
    assert sorted(marks_of(page)) == pytest.approx(sorted(r.value for r in expected))
    page.segmented_control(key=STATE.key("rows")).set_value("few")
    check_page(page.run())
    assert len(marks_of(page)) == FEW_ROWS and "rows" not in page.query_params


def test_after_a_change_of_the_problem_the_page_is_drawn_without_an_error() -> None:
    page = open_bounds()
    for problem in ("mean", "linear", "least-squares"):
        page.selectbox(key=controls.PREFIX + "problem").set_value(problem)
        check_page(page.run())
        assert page.query_params.get("problem", "mean") == problem
        assert specs(page)


def test_an_invalid_address_is_reported() -> None:
    page = open_bounds(table="none", epsilon="-1")
    warnings = " ".join(w.value for w in page.warning)
    assert "table must be one of" in warnings
    assert "epsilon must be" in warnings
    assert specs(page)


def test_a_small_number_of_a_sentence_is_written_as_a_power_of_ten() -> None:
    assert in_print("needs 1e-06 and 2.5e+10, at n=500.") == "needs 10⁻⁶ and 2.5·10¹⁰, at n = 500."
    page = open_bounds(problem="geometric-median", table="lowy", m="100", n="1000000", d="2")
    page_text = " ".join(d.value.to_string() for d in page.dataframe) + written_text(page)
    assert "10⁻⁶" in page_text and "1e-06" not in page_text


@pytest.mark.parametrize(
    "query",
    [
        {"problem": "logistic"},
        {"problem": "hinge", "geometry": "lq", "q": "1.5"},
        {"problem": "mean", "delta": "0"},
        {"problem": "quadratic", "m": "100"},
    ],
    ids=str,
)
def test_the_page_opens_a_table_with_a_theorem_that_holds(query: dict[str, str]) -> None:
    page = open_bounds(**query)
    point = canonical_point(links.read(dict(page.query_params))[0])
    table = fitting_table(point)
    assert any(row.holds for row in rows(point, table.slugs))
    tables_before = TABLE_KEYS[: TABLE_KEYS.index(table.key)]
    assert not any(row.holds for k in tables_before for row in rows(point, paper_table(k).slugs))
    assert f"{table.title} (holds here)" in page.selectbox(key=STATE.key("table")).options
    reopened = open_bounds(**query, table="all")
    assert f"{table.title} (holds here)" in reopened.selectbox(key=STATE.key("table")).options


def test_the_entry_of_zhao_et_al_is_that_of_its_publication() -> None:
    entry = bibtex([ZHAO_2024])
    assert entry.startswith("@inproceedings{zhao2025differential,")
    assert "booktitle = {AAAI 2025}" in entry and "year = {2025}" in entry
    assert "doi = {10.1609/aaai.v39i21.34440}" in entry


def test_vacuous_theorems_are_listed_with_the_bounds_behind_the_window() -> None:
    page = open_bounds(problem="linear", n="10000", d="20", table="zhao")
    point = Scenario(problem="linear", n=10_000, d=20, methods=("sco.clipped",))
    start = worst_start(canonical_point(point))
    empty = empty_theorems(rows_of(point), start)
    assert empty and all(r.value >= start for r in empty)
    assert all(r.bound.card.constant == "explicit" for r in empty)
    text = written_text(page)
    for row in empty[: words.MOST_EMPTY]:
        assert f"{words.in_digits(row.value)} ({words.short(row.bound.card)})" in text
    [span] = spans(canonical_point(point))
    assert span.upper is not None
    name = words.short(span.upper.card)
    value = words.in_digits(span.high)
    assert f"The least proven possible for all data is {value}, by “{name}”." in text
    assert f"ignores the data has an error of at most {words.in_digits(start)}." in text


def test_no_vacuous_theorem_is_reported_if_every_theorem_is_informative() -> None:
    compared = comparable(rows_of(MEAN), "l2 error")
    assert words.finding(compared, spans(MEAN), 1e9) == ""


def test_the_page_says_that_the_papers_measure_nothing() -> None:
    page = open_bounds()
    assert words.NO_EXPERIMENTS in [caption.value for caption in page.caption]


def test_each_mark_has_its_name_on_a_phone() -> None:
    """On a phone the table of names is a screen below the figure; a long name is shortened."""
    for table in ("zhao", "kamath"):
        key = next(key for key in TABLE_KEYS if key.startswith(table))
        compared = comparable(rows(canonical_point(Scenario()), paper_table(key).slugs), "l2 error")
        (panel,) = bounds_figure(compared, "axis", "", has_names=True).panels
        marks = [line for line in panel.lines if line.symbol and line.label]
        names = [row.name for row in bounds_figure(compared, "axis", "").ladder.rows]
        assert len(marks) == len(names) > 5
        for mark, name in zip(marks, names, strict=True):
            label, plain = mark.label.removesuffix("…"), name.strip("()")
            assert plain.startswith(label) and (label == plain or len(label) >= 12)
            share = math.log(mark.x[0] / panel.x.low) / math.log(panel.x.high / panel.x.low)
            assert (mark.away[0] > 0) is (share <= 0.5)
    (wide,) = bounds_figure(compared, "axis", "").panels
    assert not any(line.label for line in wide.lines if line.symbol)
