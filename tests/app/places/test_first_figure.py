"""The first screen: one answer, two panels, a ladder of numbers, and their reaction to the
controls.
"""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.front.costs import LESS_PREFIX, SAME_PREFIX
from dpsco_app.front.headline import limit_text
from dpsco_app.front.notice import LIGHT_DATA
from dpsco_app.front.titles import WINDOW_NOTE, ratio_text
from dpsco_app.pages.explore.doors import DOORS, DOORS_CLOSED
from dpsco_app.parts.presets import FIRST
from dpsco_app.session import screen
from dpsco_app.session.result import Result
from dpsco_core.catalogue import BOUND_SLUGS, bound
from dpsco_core.results.slopes import Verdict
from tests.app.pages import (
    ENTRY,
    annotation_texts,
    check_page,
    drawn_html,
    first_figure,
    headline_text,
    is_stale,
    ladder_numbers,
    line_below,
    open_page,
    press_button,
    shown_result,
    status_line,
    visitor_session,
    written_text,
)
from tests.golden_sentences import GOLDEN

GRID = "1000,2000,5000,20000"
PRIVATE, PUBLIC = "mean.cwme-cdp", "mean.sample"
CHOOSE = "Choose the sample mean or the median of means, too"


def price_of(outcomes: Any, method: str, x: float) -> float:
    """Return the mean error of a method over that of the reference, at one value of the axis."""
    means = {m: [o.error for o in outcomes if (o.method, o.x) == (m, x)] for m in (method, PUBLIC)}
    return float(sum(means[method]) / sum(means[PUBLIC]))


def measured(page: AppTest) -> list[dict[str, Any]]:
    """Return the lines of measured errors."""
    return [t for t in first_figure(page)["data"] if t.get("name") and t["mode"] == "lines+markers"]


def test_the_answer_is_the_price_of_the_best_private_method_in_both_panels() -> None:
    page = open_page(against="hardest", grid=GRID, n="5000", methods=f"{PUBLIC},{PRIVATE}")
    run = shown_result(page)
    assert run.beside is not None and run.beside.scenario.distribution == "hypercube"
    prices = [price_of(part.outcomes, PRIVATE, 5000) for part in (run, run.beside)]
    assert " on Student t data; " in headline_text(page)
    assert headline_text(page).endswith("; on the hardest data known ignoring the data does better")
    low, high = map(
        float,
        re.findall(r"(?:About |Between )?([\d.]+)(?: and ([\d.]+))? times", headline_text(page))[0],
    )
    assert low <= prices[0] <= high
    assert line_below(page) == (GOLDEN["whose number the headline is"])
    (text,) = [a["text"] for a in first_figure(page)["layout"]["annotations"] if "×" in a["text"]]
    low, _, high = text.removeprefix("<b>×").removesuffix("</b>").partition("–")
    assert float(low) < prices[0] < float(high) if high else low == ratio_text(prices[0])


def test_two_panels_have_few_lines_and_three_proven_shapes() -> None:
    page = open_page(against="hardest", methods=None, n="5000", trials="10")
    for axis in ("x", "x2"):
        traces = [t for t in first_figure(page)["data"] if t.get("xaxis") == axis]
        lines = {t["name"] for t in traces if t.get("error_y")}
        proven = {t["name"] for t in traces if t.get("name") and not t.get("error_y")} - lines
        assert 1 <= len(lines) <= 4
        fano = {"CDP Fano"} if axis == "x2" else set()  # This bound binds on the hardest case.
        assert proven - {"answer without data"} == {"promise for all data", "proven limit"} | fano
    assert list(ladder_numbers(page)) == sorted(
        ladder_numbers(page), key=lambda name: -_upper_end(ladder_numbers(page)[name])
    )


def test_the_page_opens_on_the_hardest_data_with_few_words_and_four_lines_that_nest() -> None:
    page = AppTest.from_file(ENTRY, default_timeout=60)
    check_page(page.run())
    assert shown_result(page).scenario == FIRST.scenario and page.query_params["distribution"]
    heads = re.findall(
        r"<h1>(.*?)</h1>|<h2>(.*?)</h2>|<p aria-live[^>]*>(.*?)</p>", drawn_html(page)
    )
    head_text = re.sub("<[^>]*>", " ", " ".join(text for head in heads for text in head))
    assert 25 <= len([word for word in head_text.split() if re.search(r"\w", word)]) <= 40
    lines = {
        t["name"]: t["y"] for t in first_figure(page)["data"] if t.get("meta") and t.get("name")
    }
    order = ["proven possible", "Adaptive clipping", "proven limit", "Sample mean"]
    assert lines.keys() == set(order)
    ladder_values = [float(ladder_numbers(page)[name][0]) for name in order]
    assert ladder_values == sorted(ladder_values, reverse=True)
    matches = [
        re.search(r"<b>×([\d.]+)</b>", text) for text in annotation_texts(first_figure(page))
    ]
    factors = sorted((float(match[1]) for match in matches if match), reverse=True)
    assert factors == pytest.approx(
        [value / ladder_values[-1] for value in ladder_values], rel=0.04
    )
    limit = limit_text(ladder_values[2] / ladder_values[-1])
    assert f"No private algorithm can promise under {limit} times for all data" in headline_text(
        page
    )
    assert f"Privacy costs {ratio_text(factors[1])} times the error" in headline_text(page)


def _upper_end(values: list[str]) -> float:
    """Return the upper end of the range that is the last nonempty cell of a table's row."""
    return float([value for value in values if value][-1].split("–")[-1])


def test_the_answer_keeps_its_method_while_a_slider_moves() -> None:
    page = open_page(p="2", grid=GRID)
    names = set()
    for p in (2, 2.5, 3, 4):
        if p > 2:
            select_value(page, "field_p", p)
            assert is_stale(page)
            press_button(page, "Run")
        assert not is_stale(page) and shown_result(page).scenario.p == p
        names.add(re.sub(r".* chosen: (.*), against .*", r"\1", line_below(page)))
    assert names == {"adaptive clipping"}


@pytest.mark.parametrize(("axis", "grid"), [("epsilon", "0.2,1,5"), ("p", "2,3,6")])
def test_another_axis_says_what_the_method_costs_at_its_ends(axis: str, grid: str) -> None:
    page = open_page(axis=axis, grid=grid)
    symbol, (lowest, *_, highest) = {"epsilon": "ε", "p": "p"}[axis], grid.split(",")
    factor = r"((about|between|at most) )?[\d.,]+( and [\d.,]+)? times"
    cost = f"({LESS_PREFIX}error|{SAME_PREFIX}error|{factor})"
    assert re.search(rf"At {symbol} = {lowest}: {cost}; at {highest}: {cost}\.$", line_below(page))
    assert ladder_numbers(page).keys() >= {"Adaptive clipping", "Simple clipping", "Sample mean"}
    assert re.search(rf"At {symbol}\W= ({lowest}|{highest}) it .*\.$", headline_text(page))


def test_there_is_an_answer_for_a_risk_for_one_panel_and_for_methods_of_one_kind() -> None:
    page = open_page(problem="quadratic", trials="2", grid="500", d="5")
    assert "non-private risk minimiser (" in line_below(page)
    page = open_page(methods="mean.clipped")
    assert headline_text(page).startswith("Error 0.") and CHOOSE in line_below(page)
    page = open_page(methods=PUBLIC)
    assert headline_text(page) == GOLDEN["no private algorithm is chosen"]
    page = open_page(delta="0", methods=f"{PUBLIC},mean.clipped")
    assert headline_text(page) == GOLDEN["no chosen private algorithm can run"]


def test_the_view_of_prices_draws_the_ratio_and_one_line_at_1() -> None:
    page = open_page(measure="price", grid="1000,5000")
    assert "**What to notice**" not in written_text(page)  # There is nothing to notice.
    lines = {t["name"]: t for t in measured(page)}
    (reference,) = [t for t in first_figure(page)["data"] if t.get("name") == "without privacy"]
    assert set(reference["y"]) == {1.0} and "Sample mean" not in lines
    outcomes = shown_result(page).outcomes
    assert lines["Adaptive clipping"]["y"] == pytest.approx(
        [price_of(outcomes, "mean.adaptive", x) for x in (1000, 5000)]
    )
    assert any("Price of privacy" in a["text"] for a in first_figure(page)["layout"]["annotations"])
    assert not [t for t in first_figure(page)["data"] if t.get("name") == "promise for all data"]


def test_a_remark_explains_data_with_light_tails() -> None:
    assert LIGHT_DATA in written_text(open_page(distribution="gaussian"))
    assert LIGHT_DATA not in written_text(open_page())


def test_the_proof_of_the_floor_is_linked_to_where_it_is_about_the_same_problem() -> None:
    for query, is_linked in (
        ({}, True),
        ({"m": "50"}, False),
        ({"distribution": "hypercube"}, False),
    ):
        links = [link.proto for link in open_page(**query).main.get("page_link")]
        proofs = [one for one in links if one.label == "The proof, with your numbers"]
        assert bool(proofs) is is_linked
        assert not proofs or "hard=data" in proofs[0].query_string


def test_the_table_of_slopes_has_ranges_and_no_theorem_fails() -> None:
    page = open_page(grid=GRID, methods=f"{PUBLIC},{PRIVATE}")
    (table,) = [table.value.set_index("Estimator") for table in page.table]
    assert list(table.columns[:4]) == ["Fitted", "95 % interval", "Predicted", "Verdict"]
    assert list(table.columns[4:]) == ["Records that halve the error"]
    # At p = 2 both terms of the rate have the same slope.
    assert table.loc["Coordinate-wise, Gaussian", "Predicted"] == "−0.50"
    assert {verdict.replace("\xa0", " ") for verdict in table["Verdict"]} <= {*get_args(Verdict)}
    assert not re.search(r"consistent|not tight|rate fails|\^slope", written_text(page))
    (law,) = [m.value for m in page.markdown if m.value.startswith("**Slopes on ")]
    assert law == GOLDEN["the title of slopes"]


def test_a_quick_change_runs_by_itself_and_a_stopped_run_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = open_page()
    select_value(page, "field_d", 10)
    assert is_stale(page) and headline_text(page) == "Not measured yet at d = 10."
    monkeypatch.setattr(screen, "LIVE_SECONDS", 1.5)
    select_value(page, "field_d", 5)
    assert not is_stale(page) and shown_result(page).scenario.d == 5 and shown_result(page).complete
    leave_unfinished(page, 3)
    assert not shown_result(check_page(page.run())).complete and "Stopped at 3 of" in status_line(
        page
    )
    monkeypatch.setattr(screen, "LIVE_SECONDS", 0.0)
    select_value(page, "field_trials", 100)
    assert is_stale(page)


def test_the_whole_screen_shows_the_old_runs_until_the_new_ones_arrive() -> None:
    """Title, lines, bounds, table and words belong to one run, whatever has been changed since."""
    page = open_page(problem="hinge", grid="500,1000", n="1000", d="5", trials="2")
    old = snapshot(page)
    for key, value in (("problem", "geometric-median"), ("geometry", "sparse")):
        check_page(page.selectbox(key=f"field_{key}").set_value(value).run())
        assert is_stale(page) and snapshot(page) == old
        # The headline attributes no old measurement to the new settings.
        assert headline_text(page) == GOLDEN["no measurement"] or "=" in headline_text(page)
    press_button(page, "Run")
    assert not is_stale(page)
    assert all(new != past for new, past in zip(snapshot(page), old, strict=True))


def test_a_run_stopped_by_a_change_is_called_unfinished() -> None:
    page = open_page()
    leave_unfinished(page, 3)
    select_value(page, "field_epsilon", 5)
    assert is_stale(page) and headline_text(page) == "Not measured yet at ε = 5."


def leave_unfinished(page: AppTest, finished: int) -> None:
    """Leave a run unfinished after a number of its cells, as Cancel does."""
    whole = shown_result(page)
    visitor_session(page).cancel()
    visitor_session(page).curves.result = Result(whole.scenario, whole.outcomes[:finished])


def snapshot(page: AppTest) -> tuple[object, ...]:
    """Return everything shown of a run: titles, lines and areas, the table, and the words."""
    titles = [a["text"] for a in first_figure(page)["layout"]["annotations"]]
    lines = [(t.get("name"), list(t["y"])) for t in first_figure(page)["data"] if t.get("meta")]
    return titles, lines, ladder_numbers(page), line_below(page)


def select_value(page: AppTest, key: str, value: object) -> None:
    """Move a select slider of the page to a value, and run the page."""
    check_page(page.select_slider(key=key).set_value(value).run())


def _newcomer_pages(page: AppTest) -> list[str]:
    """Return the pages to which the links for newcomers lead."""
    links = [link.proto for link in page.main.get("page_link")]
    return [proto.page for proto in links if proto.label in {n[0] for n in DOORS.values()}]


def _place_of_figure(page: AppTest) -> list[int]:
    """Return the position of the first screen's figure in the main part of the page."""
    parts = page.main.children.items()
    return [i for i, part in parts if hasattr(part, "children") and part.get("plotly_chart")][:1]


def test_links_for_newcomers_show_at_the_first_settings_until_another_page_is_seen() -> None:
    first_settings = dict.fromkeys(("trials", "grid", "against"))
    page = open_page(**first_settings)
    assert [place.rsplit("/", 1)[-1] for place in _newcomer_pages(page)] == list(DOORS)
    assert "New here?" in drawn_html(page)
    page.run()
    assert len(_newcomer_pages(page)) == len(DOORS)
    old_place = _place_of_figure(page)
    select_value(page, "field_p", 3.0)
    assert _newcomer_pages(page) == [] and "New here?" not in drawn_html(page)
    # At another position the browser would redraw the figure from scratch.
    assert _place_of_figure(page) == old_place
    # Large type is for a class, whose teacher needs no links for newcomers.
    assert _newcomer_pages(open_page(**first_settings, type="large")) == []
    page = open_page(**first_settings)
    page.session_state[DOORS_CLOSED] = True  # Every other page sets this flag.
    assert _newcomer_pages(check_page(page.run())) == []


def test_the_answer_names_its_settings_and_the_method_without_privacy() -> None:
    page = open_page(rho="0.5", epsilon=None, delta=None, against="hardest")
    assert "the non-private sample mean (n = 5,000, d = 20, ρ = 0.5)." in line_below(page)
    assert line_below(page).endswith(" n = 10,000 is outside of the sweep.")
    assert re.search(
        r"; on the hardest data known .*ignoring the data( does as well)?$", headline_text(page)
    )
    body = re.findall(r"<tbody>.*?</tbody>", drawn_html(page))[0]
    notes = dict(re.findall(r"</i>([^<]*)<small>([^<]*)</small>", body))
    assert notes.pop("Coordinate-wise").startswith("Calibrated: the least noise that the proof")
    assert notes.pop("proven limit") in {bound(slug).card.name for slug in BOUND_SLUGS}
    assert notes == {
        "promise for all data": WINDOW_NOTE,
        "Sample mean": "not private",
        "answer without data": GOLDEN["an answer without data"],
    }
    drawn_texts = [a["text"] for a in first_figure(page)["layout"]["annotations"]]
    assert drawn_texts.count("made anew for each n: a few records far out carry the mean") == 1
    assert not [text for text in drawn_texts if "not looking" in text or text == "not private"]


def test_points_that_become_too_large_disappear_and_return() -> None:
    """Points of a default sweep, for which nobody has asked, are left out while they are too large,
    as on the page without a server.
    """
    page = open_page()
    whole = page.session_state["field_grid"]
    select_value(page, "field_d", 500)
    assert page.session_state["field_grid"] == [x for x in whole if x * 500 <= 2_000_000] != whole
    assert not page.error
    select_value(page, "field_d", 20)
    assert page.session_state["field_grid"] == whole
