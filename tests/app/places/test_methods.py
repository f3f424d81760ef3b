"""Methods: every method's page opens, its links lead somewhere, the guide follows the plans."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.front import links
from dpsco_app.front.links import BASE
from dpsco_app.pages.methods.method import cost_sentence
from dpsco_app.pages.methods.overview import (
    ALL,
    MOST_LETTERS,
    QUESTION,
    START,
    answer,
    comparison,
    in_order,
    race_figure,
    reason_for,
    row_names,
    slow_ones,
    start_with,
    with_names_above,
)
from dpsco_app.pages.methods.page import TAB
from dpsco_app.pages.methods.state import STATE, View, one_run_query, with_method
from dpsco_app.pages.methods.words import NOTIONS, family, guide
from dpsco_app.parts.evaluations import evaluations, without_data
from dpsco_app.parts.options import in_print
from dpsco_app.parts.page import explore_query
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import (
    BOUNDS,
    METHOD_SLUGS,
    METHODS,
    default_methods,
    method_card,
    methods_for,
)
from dpsco_core.explain.anatomy import risk_path
from dpsco_core.explain.methods.guide import Advice, advice, comparison_point, fitting, nearest
from dpsco_core.explain.methods.stories import example, example_point, story
from dpsco_core.explain.methods.work import Work
from dpsco_core.explain.recipe.recipe import recipe
from dpsco_core.fields import NAMES as FIELDS
from dpsco_core.runs.study import Outcome, cells, run_cell
from dpsco_core.scenario import Scenario
from tests.app.pages import (
    check_page,
    drawn_html,
    headline_text,
    ladder_numbers,
    line_below,
    press_button,
    written_text,
)
from tests.app.places.test_one_run import open_at
from tests.golden_sentences import GOLDEN

QUICK = {"problem": "mean", "p": "4", "n": "1000"}
EXAMPLE_AXES = ("n", "m", "decay")


def open_methods(**query: str) -> AppTest:
    """Return the page of methods at a query."""
    return open_at("methods", **query)


def test_a_methods_page_has_the_values_of_its_recipe() -> None:
    page = open_methods(method="mean.clipped", n="2000", p="4")
    runnable = nearest(Scenario.from_query({"n": "2000", "p": "4"}), "mean.clipped")
    expected = recipe(replace(runnable, axis=None, grid=()), "mean.clipped")
    page_text, [release] = written_text(page), expected.releases
    assert f"clip radius (max_grad_norm): **{expected.clips['clip_radius']:.4g}**" in page_text
    numbers = (
        release.on_mean,
        release.on_sum,
        release.over_sensitivity,
        release.noise_multiplier,
        release.add_remove_multiplier,
    )
    row = " | ".join(f"{value:.4g}" for value in numbers if value is not None)
    assert f"| mean of clipped records | 1 | {row} | 100 % |" in page_text
    assert f"scale={release.on_sum!r}" in next(code.value for code in page.code)
    assert "What to set" not in written_text(open_methods(method="mean.sample", n="2000", p="4"))


def test_every_method_has_a_page() -> None:
    page = open_methods(method=METHOD_SLUGS[0])
    for slug in METHOD_SLUGS:
        page.selectbox(key=STATE.key("method")).set_value(slug)
        check_page(page.run())
        method_story, page_text = story(slug), written_text(page)
        assert f"{method_card(slug).name}: how does it work?" in drawn_html(page)
        assert headline_text(page) == method_card(slug).summary
        assert method_story.what in page_text and all(
            step in page_text for step in method_story.steps
        )
        private = method_story.privacy is not None
        assert ("It is not private" in page_text) != private
        if method_story.privacy is not None:
            assert method_story.privacy.sensitivity in page_text
        assert any("def release(" in block.value for block in page.code)
        assert page.query_params["method"] == slug
        assert page.header[0].value == "Its steps"
        cards_of_method = [b.card for b in BOUNDS if b.card.method == slug]
        assert all(card.summary in page_text for card in cards_of_method)
        for warning in (*page.error, *page.warning):
            pytest.fail(warning.value)


def test_the_tabs_lead_from_one_part_to_another_and_a_method_back_to_the_table() -> None:
    page = open_methods(**QUICK)
    assert QUESTION in drawn_html(page)
    page.get_by_key(TAB).set_value("all")
    check_page(page.run())
    assert ALL in drawn_html(page) and page.query_params["part"] == "all"
    page.selectbox(key=STATE.key("method")).set_value("mean.clipped")
    check_page(page.run())
    assert "Simple clipping: how" in drawn_html(page)
    page.selectbox(key=STATE.key("method")).set_value("")
    check_page(page.run())
    assert ALL in drawn_html(page)
    page = open_methods(**QUICK, method="mean.clipped")
    page.get_by_key(TAB).set_value("which")
    check_page(page.run())
    assert QUESTION in drawn_html(page) and not {"part", "method"} & set(page.query_params)


@pytest.mark.parametrize("slug", METHOD_SLUGS)
def test_every_link_opens_the_page_that_it_names(slug: str) -> None:
    scenario = with_method(BASE, slug)
    query = explore_query(scenario)
    fields = {name: text for name, text in query.items() if name in FIELDS}
    assert Scenario.from_query(fields, BASE) == scenario and slug in scenario.methods
    anatomy = one_run_query(BASE, slug)
    card = method_card(slug)
    assert (anatomy is None) == (card.level == "user" or card.problems == ("mean",))
    if anatomy is not None:
        point, wrong = links.read(anatomy)
        assert anatomy.get("method", point.methods[0]) == slug and not wrong


def test_a_methods_page_is_about_the_visits_scenario() -> None:
    page = open_methods(method="mean.clipped", n="2000", p="4", rho="0.1")
    costs = [m.value for m in page.markdown if m.value.startswith("Here (")]
    assert "n = 2,000, d = 20, p = 4, ρ = 0.1)" in costs[0]
    assert GOLDEN["values of other methods"] in written_text(page)
    assert not any(b.label == "Use it everywhere" for b in page.button)
    point, _ = links.read({"n": "2000", "p": "4", "rho": "0.1"})
    (evaluation,) = evaluations(replace(point, axis=None, grid=()), ("upper.mean.clipped",))
    assert f"Value there: **{evaluation.value:.3g}**" in written_text(page)


def test_every_method_runs_at_the_point_of_its_page() -> None:
    zcdp = {"rho": 0.01, "epsilon": None, "delta": None}
    scenarios = [
        BASE,
        Scenario(problem="geometric-median", methods=("sco.erm",), n=500, m=3, delta=0.0),
        Scenario(problem="huber", methods=("sco.erm",), geometry="lq", q=1.5, **zcdp),
    ]
    for scenario in scenarios:
        for slug in METHOD_SLUGS:
            point = nearest(scenario, slug).validate(DASHBOARD)
            assert can_run(point, slug), (slug, scenario)
            serves = slug in methods_for(scenario.problem, "user" if scenario.m > 1 else "item")
            assert (point == scenario) == (serves and can_run(scenario, slug)), (slug, scenario)


def can_run(scenario: Scenario, slug: str) -> bool:
    """Return whether a method can run at the scenario's first point."""
    return fitting(replace(scenario, methods=(slug,), axis=None, grid=()))[0].runs


def test_a_page_says_what_was_changed_so_that_its_method_can_run() -> None:
    page = open_methods(method="sco.objective-perturbation", n="2000", rho="0.1")
    page_text = written_text(page)
    assert "Logistic regression (yours: Mean estimation)" in page_text
    assert "At your settings Objective perturbation cannot run" in page_text
    assert "n = 2,000, d = 20, p = 2, ε = 1, δ = 10⁻⁶)" in page_text
    press_button(page, "Use it everywhere")
    assert "cannot run." not in written_text(page)
    assert page.query_params["problem"] == "logistic" and page.query_params["n"] == "2000"


def test_a_method_for_this_problem_that_cannot_run_says_why() -> None:
    page = open_methods(method="mean.iterative", delta="0", n="2000", d="5")
    point = comparison_point(links.read({"delta": "0", "n": "2000", "d": "5"})[0])
    (fit,) = [fit for fit in fitting(point) if fit.slug == "mean.iterative"]
    assert not fit.runs
    remark = f"At your settings Iterative updating cannot run: {in_print(fit.refusal)}"
    assert remark in written_text(page)


@pytest.mark.parametrize("slug", ["sco.erm", "sco.clipped", "sco.objective-perturbation"])
def test_the_page_of_one_run_can_show_the_example_of_a_method(slug: str) -> None:
    query = one_run_query(BASE, slug)
    assert query is not None
    assert risk_path(replace(links.read(query)[0], n=500), slug).final >= 0


def test_the_cost_of_a_method_is_stated_in_words() -> None:
    slug = example_point("sco.erm")
    counted = Work(items=100, gradients=250, at_most=True, seconds=0.5)
    text = cost_sentence(slug, counted)
    assert "at most **250 gradients**, which is 2.5 passes; about 0.5 s" in text
    unknown = replace(counted, gradients=None)
    assert "not known beforehand" in cost_sentence(slug, unknown)
    single_pass = replace(counted, gradients=100, at_most=False)
    assert "**100 records read**, which is 1 pass;" in cost_sentence(
        example_point("mean.clipped"), single_pass
    )
    theory = cost_sentence(example_point("lp.shuffled-mirror-descent"), single_pass)
    assert "the theorem's parameters" in theory and "ε = 0.5" in theory


def spec(page: AppTest) -> dict[str, Any]:
    """Return the Plotly specification of the page's only chart."""
    (chart,) = page.get("plotly_chart")
    return dict(json.loads(chart.proto.spec))


def test_no_name_of_a_row_is_longer_than_a_phone_shows() -> None:
    """A name of 47 letters was cut off on a laptop and overflowed on a phone."""
    methods = [m for m in METHOD_SLUGS if "mean" in method_card(m).problems]
    names = row_names(methods)
    assert max(map(len, names.values())) <= MOST_LETTERS
    assert len(set(names.values())) == len(methods)
    assert names["mean.iterative-allocated"] == "Random groups"
    assert names["mean.instance-optimal"] == method_card("mean.instance-optimal").name


def test_the_overview_starts_with_the_smallest_measured_error_at_the_visits_scenario() -> None:
    page = open_methods(**QUICK)
    point = comparison_point(Scenario(methods=("mean.sample",), n=1000, p=4.0))
    running = [f.slug for f in fitting(point) if f.quick]
    outcomes = [run_cell(c) for c in cells(replace(point, methods=tuple(running)))]
    advised = advice(outcomes, default_methods("mean"), 1.0)
    assert headline_text(page) == start_with(advised, 1.0)
    assert reason_for(advised, 1.0) in line_below(page)
    # This question begins the guide to a method.
    assert "What do you estimate?" in written_text(page)
    best = method_card(advised.choice).name
    rows = ladder_numbers(page)
    names = row_names([m for m, _ in advised.ranked])
    assert [name for name in rows if name in {*names.values()}] == [
        names[m] for m, _ in advised.ranked
    ]
    for method, error in advised.ranked:
        assert float(rows[names[method]][0]) == pytest.approx(error, rel=0.06)
    dots = [t for t in spec(page)["data"] if t.get("mode") == "markers"]
    drawn_errors = sorted(x for t in dots for x in t["x"])
    assert drawn_errors == pytest.approx(sorted(o.error for o in outcomes if o.error > 0))
    press_button(page, f"About {best}")
    assert f"{best}: how does it work?" in drawn_html(page)


def plain_number(text: str) -> float:
    """Return the number that a text writes as people do: 2,500 or 9.34·10⁻⁶."""
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", ",")
    front, _, exponent = text.partition("·10")
    return float(front.translate(digits)) * 10.0 ** int(exponent.translate(digits) or 0)


def test_an_answer_without_data_is_advised_and_drawn_where_it_wins() -> None:
    """Users' gradients in noise have over ten times the error of the centre of the set."""
    users = {"problem": "quadratic", "distribution": "hypercube", "n": "2000", "d": "5"}
    page = open_methods(**users, m="500")
    assert headline_text(page).startswith("Do not use the data here")
    small_text = line_below(page)
    factor = re.search(r"has error (\S+), ([\d,]+) times smaller than .*? \((\S+)\)", small_text)
    assert factor is not None and "Start with" not in drawn_html(page)
    start, times, error = (plain_number(text) for text in factor.groups())
    point = Scenario.from_query(users | {"m": "500"}, BASE)
    assert start == pytest.approx(without_data(replace(point, axis=None, grid=())), rel=0.01)
    assert times == pytest.approx(error / start, rel=0.1)
    assert times > 10
    (line,) = [t for t in spec(page)["data"] if t.get("name") == START]
    assert line["x"] == pytest.approx([start] * 2, rel=0.01)
    assert any(START in note["text"] for note in spec(page)["layout"]["annotations"])


def test_the_guide_names_every_method_whose_card_matches() -> None:
    """These are the methods with a pure form, and those that choose their own radius."""
    (pure_text,) = re.findall(r"Under pure ε (.*?) can run", guide())
    private = [m.card for m in METHODS if m.card.privacy != "none"]
    pure = {card.name for card in private if "pure" in card.budgets}
    assert set(re.findall(r"\*\*(.*?)\*\*", pure_text)) == pure and "Output perturbation" in pure
    (chosen,) = re.findall(r"break the proof\. (.*?) choose\s", guide())
    names = {m.card.name for m in METHODS if m.card.private_radius}
    assert names == set(re.findall(r"\*\*(.*?)\*\*", chosen)) and "Adaptive clipping" in names
    special = guide().split("What is special about it?")[1]
    assert special.count("   - ") == 9
    names_in_guide = set(re.findall(r"\*\*(.*?)\*\*", special))
    assert names_in_guide < {card.name for card in private} and len(names_in_guide) >= 11
    (opacus,) = re.findall(r"Opacus: (.*?fixed norm.*?)\.", special, re.DOTALL)
    assert re.findall(r"\*\*(.*?)\*\*", opacus) == ["Minibatch DP-SGD", "Clipped gradients"]
    assert "never read off" not in guide() and "only the Laplace" not in guide()


def test_a_method_runs_under_the_budgets_that_its_card_names_and_no_other() -> None:
    """The test plans a run at the point of the method's example."""
    budgets: dict[str, dict[str, float | None]] = {
        "pure": {"epsilon": 1.0, "delta": 0.0},
        "zcdp": {"epsilon": None, "delta": None, "rho": 0.05},
        "approx": {"epsilon": 1.0, "delta": 1e-6},
    }
    for method in METHODS:
        points = {
            kind: replace(example_point(method.card.slug), **b) for kind, b in budgets.items()
        }
        able = tuple(kind for kind, point in points.items() if can_run(point, method.card.slug))
        assert able == method.card.budgets, method.card.slug


@pytest.mark.parametrize(
    ("large", "letter", "fits"),
    [({"d": "999"}, "n = 10,000", "n = 2,000"), ({"m": "100"}, "n = 10,000", "n = 5,000")],
)
def test_a_smaller_scenario_replaces_one_that_is_too_large_and_the_page_says_so(
    large: dict[str, str], letter: str, fits: str
) -> None:
    """The second case is the scenario with which Users begins."""
    page = open_methods(problem="quadratic", n="10000", **large)
    assert f"Measured at {fits}: your {letter} is too large to be run here." in line_below(page)
    assert spec(page)["data"] and "What do you estimate?" in written_text(page)
    table = open_methods(problem="quadratic", n="10000", part="all", **large)
    assert len(table.dataframe[0].value) == len(METHOD_SLUGS)


def outcomes_of(**errors: list[float]) -> list[Outcome]:
    """Return the outcomes of a run, with the errors replaced by given ones, by the names of
    estimators.
    """
    point = Scenario(methods=("mean.sample",), n=500, d=2, trials=1)
    (outcome,) = (run_cell(c) for c in cells(point))
    return [
        replace(outcome, method=f"mean.{name}", trial=i, error=error)
        for name, values in errors.items()
        for i, error in enumerate(values)
    ]


def test_a_tie_favours_the_best_default_method_and_otherwise_the_best_of_all_is_advised() -> None:
    usual = default_methods("mean")
    adaptive = [0.050, 0.052, 0.051, 0.049, 0.053]
    lucky = [0.049, 0.053, 0.050, 0.048, 0.053]  # These errors are lower by luck, if at all.
    three_times, half = [3 * e for e in adaptive], [e / 2 for e in adaptive]
    level = outcomes_of(adaptive=adaptive, clipped=three_times, plan=lucky)
    advised = advice(level, usual, 1.0)
    assert advised.ranked[0][0] == "mean.plan" and advised.choice == "mean.adaptive"
    assert advised.unbeaten == ("mean.plan", "mean.adaptive")
    better = outcomes_of(adaptive=adaptive, clipped=three_times, plan=half)
    assert advice(better, usual, 1.0).choice == "mean.plan"
    # Among several default methods the best is advised, unless it is worse than no data.
    close = [0.0525, 0.0525, 0.0520, 0.0505, 0.0530]
    both_tied = outcomes_of(adaptive=adaptive, clipped=close, plan=lucky)
    assert advice(both_tied, usual, 1.0).choice == "mean.adaptive"
    assert advice(level, usual, 0.0508).choice == "mean.plan"
    assert advice([], usual).choice == ""


def test_at_the_default_setting_the_page_advises_the_method_in_explores_headline() -> None:
    for query in ({}, {"n": "500"}):
        assert headline_text(open_methods(**query)).startswith("Start with Adaptive clipping: ")
    usual = "|".join(method_card(m).name for m in default_methods("mean"))
    reason = "no private method is measurably better in 5 runs"
    assert re.match(f"Start with ({usual}): {reason}", headline_text(open_methods(d="1")))


def test_the_advice_states_its_reason() -> None:
    ranked = (("mean.adaptive", 0.05), ("mean.clipped", 0.1))
    pair = ("mean.adaptive", "mean.clipped")
    clear = Advice(ranked=ranked, unbeaten=pair[:1], choice=pair[0])
    tied = replace(clear, unbeaten=pair)
    assert start_with(clear, 1.0).startswith("Start with Adaptive clipping: it has the smallest ")
    assert reason_for(clear, 1.0).startswith("Mean error 0.05, the smallest of 2 private methods")
    assert "2 times smaller than that of Simple clipping (0.1)" in reason_for(clear, 1.0)
    assert start_with(tied, 1.0).endswith("no private method is measurably better in 5 runs")
    assert reason_for(tied, 1.0).endswith("5 runs do not tell it apart from Simple clipping (0.1).")
    second_chosen = replace(tied, choice=pair[1])
    level = "no private method is measurably better in 5 runs"
    assert start_with(second_chosen, 1.0) == f"Start with Simple clipping: {level}"
    tie_text = "5 runs do not tell it apart from Adaptive clipping (0.05)"
    usual = "Among equals, this page names the one whose curve Explore draws"
    assert reason_for(second_chosen, 1.0) == f"Mean error 0.1; {tie_text}. {usual}."
    # A few tied methods are named, even with larger errors; many are only counted.
    three_ranked = (*ranked, ("mean.plan", 0.12))
    three_tied = Advice(
        ranked=three_ranked, unbeaten=tuple(m for m, _ in three_ranked), choice=pair[1]
    )
    assert all(
        f"{method_card(m).name} (" in reason_for(three_tied, 1.0) for m in (pair[0], "mean.plan")
    )
    many_ranked = tuple((m, 0.1 + i / 100) for i, m in enumerate(methods_for("mean", "item")))
    many_tied = Advice(
        ranked=many_ranked, unbeaten=tuple(m for m, _ in many_ranked), choice=many_ranked[0][0]
    )
    assert f"do not tell it apart from {len(many_ranked) - 1} others." in reason_for(many_tied, 1.0)
    assert start_with(clear, 0.04).startswith("Do not use the data here")
    blind_text = reason_for(clear, 0.04)
    assert (
        "has error 0.04, 1.2 times smaller than the error of Adaptive clipping (0.05)" in blind_text
    )
    assert "no larger than the error of" in reason_for(clear, 0.05)
    # With error 0 or 1 the answer without data changes nothing, since 0 means that the truth was
    # put there.
    assert start_with(clear, 0.0) == start_with(clear, 1.0)
    assert "the only private method" in reason_for(replace(clear, ranked=ranked[:1]), 1.0)


def test_on_a_phone_each_row_has_its_name_and_its_mean_above_it() -> None:
    outcomes = outcomes_of(adaptive=[0.050, 0.052], clipped=[0.1, 0.12], plan=[0.06, 0.07])
    methods = ("mean.adaptive", "mean.clipped", "mean.plan")
    wide = race_figure(Scenario(methods=methods), outcomes, 1.0, methods[0], "")
    narrow = with_names_above(wide)
    labels = {
        line.label: line.y[0]
        for line in narrow.panels[0].lines
        if line.label and line.label != START
    }
    assert [*labels] == [f"{row.name} {row.values[0]}" for row in wide.ladder.rows]
    assert len(labels) == 3 and not narrow.ladder.rows
    # Each label is above the marks of its own row, below those of the next row, and inside the
    # figure.
    for row, height in zip(wide.ladder.rows, labels.values(), strict=True):
        assert row.end + 0.3 < height < row.end + 0.7 and height + 0.3 < narrow.y.high


def test_slow_methods_are_named_and_not_run() -> None:
    fits = fitting(comparison_point(Scenario(problem="logistic", methods=(), n=100_000, d=20)))
    slow = [method_card(fit.slug).name for fit in fits if fit.runs and not fit.quick]
    assert slow and all(name in slow_ones(fits) for name in slow)
    assert slow_ones([fit for fit in fits if fit.quick]) == ""


def test_the_table_has_every_method_those_that_run_here_first() -> None:
    fits = fitting(comparison_point(Scenario(problem="hinge", methods=(), n=2000, d=5)))
    fits_by_slug = {fit.slug: fit for fit in fits}
    order = in_order(fits_by_slug)
    assert sorted(order) == sorted(METHOD_SLUGS)
    table = comparison(order, fits_by_slug)
    running = [fit.slug for fit in fits if fit.runs]
    assert order[: len(running)] == running
    assert table["Runs here"].tolist() == (
        ["yes"] * len(running)
        + ["no"] * (len(fits) - len(running))
        + ["other"] * (len(METHOD_SLUGS) - len(fits))
    )
    page = open_methods(part="all", problem="hinge", n="2000", d="5")
    assert len(page.dataframe[0].value) == len(METHOD_SLUGS) and not page.get("plotly_chart")


def test_the_answer_counts_what_runs() -> None:
    fits = fitting(comparison_point(Scenario(methods=("mean.sample",), n=2000, d=5)))
    private = [m for m in methods_for("mean", "item") if method_card(m).privacy != "none"]
    assert answer(fits).startswith(f"All {len(private)} private methods for this problem")
    pure = fitting(
        comparison_point(Scenario(problem="least-squares", methods=(), n=500, delta=0.0))
    )
    count_private = sum(method_card(fit.slug).privacy != "none" for fit in pure)
    assert answer(pure) == f"1 of the {count_private} private methods for this problem can run here"
    refused = [fit for fit in pure if not fit.runs]
    assert answer(refused) == GOLDEN["no private method can run"]


def test_errors_of_zero_are_mentioned_beside_the_logarithmic_figure() -> None:
    page = open_methods(problem="linear", geometry="linf", n="1000", d="5")
    (caption,) = [c.value for c in page.caption if "find the exact minimiser" in c.value]
    name = caption.split(": ")[1].removesuffix(".").split(", ")[0]
    assert name not in ladder_numbers(page)


def test_the_address_restores_the_page() -> None:
    view = View(method="lp.phased-sgd", part="all")
    assert STATE.from_query(STATE.to_query(view)) == (view, [])
    assert STATE.to_query(View()) == {}
    wrong, sentences = STATE.from_query({"method": "sco.nothing", "part": "all"})
    assert wrong == View(part="all") and "method must be" in sentences[0]


def test_a_method_is_chosen_and_the_scenario_of_the_visit_stays() -> None:
    page = open_methods(method="mean.clipped", problem="mean", n="2000", p="4")
    page.selectbox(key=STATE.key("method")).set_value("mean.smoothed")
    check_page(page.run())
    assert page.query_params["method"] == "mean.smoothed"
    assert (page.query_params["n"], page.query_params["p"]) == ("2000", "4")


def test_every_family_and_every_notion_of_privacy_has_a_name() -> None:
    kinds = {family(slug): slug.split(".")[0] for slug in METHOD_SLUGS}
    assert sorted(kinds.values()) == ["lp", "mean", "sco", "user"]
    assert all(kinds[family(slug)] == slug.split(".")[0] for slug in METHOD_SLUGS)
    assert {method_card(slug).privacy for slug in METHOD_SLUGS} == set(NOTIONS)


def test_every_example_leads_with_its_method() -> None:
    for slug in METHOD_SLUGS:
        scenario = example(slug)
        assert len(scenario.methods) >= 2, f"give the example of {slug} a method to compare it with"
        assert scenario.axis in EXAMPLE_AXES, (
            f"the example in the story of {slug} must have an axis, one of {EXAMPLE_AXES}, with a "
            f"grid, as those of words/methods/shared.toml have, got axis={scenario.axis}"
        )


def test_under_pure_privacy_the_page_starts_with_the_one_optimiser_that_there_is() -> None:
    page = open_at("methods", problem="least-squares", delta="0", n="1000")
    assert headline_text(page).startswith(f"Start with {method_card('sco.fresh-batches').name}: ")
    assert "Choose a private optimiser" not in written_text(page)
