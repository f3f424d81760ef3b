"""Methods: every method's page opens, its links lead somewhere, the guide follows the plans."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.pages.methods.method import cost_sentence, point_text
from dpsco_app.pages.methods.overview import answer, comparison, exact, start_with
from dpsco_app.pages.methods.state import (
    DEFAULT,
    STATE,
    View,
    method_anatomy_query,
    neighbours,
    with_method,
)
from dpsco_app.pages.methods.words import (
    NOTIONS,
    family,
    formula,
    guide,
    in_table,
    method_label,
    parts,
)
from dpsco_app.parts.charts import START
from dpsco_app.parts.evaluations import evaluations, without_data
from dpsco_app.parts.page import explore_query
from dpsco_app.shell import visit
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import (
    BOUNDS,
    METHOD_SLUGS,
    METHODS,
    method_card,
    methods_for,
)
from dpsco_core.explain.anatomy import risk_path
from dpsco_core.explain.methods.guide import Advice, advice, comparison_point, fitting, nearest
from dpsco_core.explain.methods.stories import example, example_point, story
from dpsco_core.explain.methods.work import Work
from dpsco_core.runs.study import cells, run_cell
from dpsco_core.scenario import Scenario
from tests.app.pages import checked, press, texts
from tests.app.places.test_one_run import open_at

QUICK = {"problem": "mean", "p": "4", "n": "1000"}


def open_algorithms(**query: str) -> AppTest:
    return open_at("methods", **query)


# -- one page a method ---------------------------------------------------------------------------


def test_every_method_has_a_page() -> None:
    page = open_algorithms(method=METHOD_SLUGS[0])
    for slug in METHOD_SLUGS:
        page.selectbox(key=STATE.key("method")).set_value(slug)
        checked(page.run())
        found, shown = story(slug), texts(page)
        assert page.title[0].value == f"Methods: {method_card(slug).name}"
        assert found.what in shown and all(step in shown for step in found.steps)
        private = found.privacy is not None
        assert ("It is not private" in shown) != private
        if found.privacy is not None:
            assert found.privacy.sensitivity in shown
        assert "def release(" in page.code[0].value
        assert page.query_params["method"] == slug
        assert page.header[0].value == "Its steps"
        own = [b.card for b in BOUNDS if b.card.method == slug]
        assert all(card.summary in shown for card in own)
        for warning in (*page.error, *page.warning):
            pytest.fail(warning.value)


def test_the_buttons_turn_the_pages() -> None:
    page = open_algorithms(method="mean.clipped")
    press(page, "Next")
    assert page.title[0].value == "Methods: Iterative updating"
    press(page, "Previous")
    press(page, "Previous")
    assert page.title[0].value == "Methods: Median of means"
    assert neighbours("") == (None, METHOD_SLUGS[0])
    assert neighbours(METHOD_SLUGS[-1]) == (METHOD_SLUGS[-2], None)
    assert neighbours(METHOD_SLUGS[0])[0] == ""


@pytest.mark.parametrize("slug", METHOD_SLUGS)
def test_the_links_lead_to_what_they_say(slug: str) -> None:
    found = with_method(visit.BASE, slug)
    query = explore_query(found)
    kept = {name: text for name, text in query.items() if name in visit.FIELDS}
    assert Scenario.from_query(kept, visit.BASE) == found and slug in found.methods
    anatomy = method_anatomy_query(visit.BASE, slug)
    card = method_card(slug)
    assert (anatomy is None) == (card.level == "user" or card.problems == ("mean",))
    if anatomy is not None:
        point, wrong = visit.read(anatomy)
        assert anatomy.get("method", point.methods[0]) == slug and not wrong


def test_a_methods_page_is_about_the_visits_scenario() -> None:
    page = open_algorithms(method="mean.clipped", n="2000", p="4", rho="0.1")
    said = [m.value for m in page.markdown if m.value.startswith("Here (")]
    assert "p = 4, n = 2,000, d = 20, ρ = 0.1)" in said[0]
    assert "Values at the same settings." in texts(page)
    assert not any(b.label == "Use it everywhere" for b in page.button)
    point, _ = visit.read({"n": "2000", "p": "4", "rho": "0.1"})
    (own,) = evaluations(replace(point, axis=None, grid=()), ("upper.mean.clipped",))
    assert f"Value there: **{own.value:.3g}**" in texts(page)


def test_every_method_runs_at_the_point_of_its_page() -> None:
    zcdp = {"rho": 0.01, "epsilon": None, "delta": None}
    scenarios = [
        visit.BASE,
        Scenario(problem="geometric-median", methods=("sco.erm",), n=500, m=3, delta=0.0),
        Scenario(problem="huber", methods=("sco.erm",), geometry="lq", q=1.5, **zcdp),
    ]
    for scenario in scenarios:
        for slug in METHOD_SLUGS:
            found = nearest(scenario, slug).validate(DASHBOARD)
            assert runs(found, slug), (slug, scenario)
            serves = slug in methods_for(scenario.problem, "user" if scenario.m > 1 else "item")
            assert (found == scenario) == (serves and runs(scenario, slug)), (slug, scenario)


def runs(scenario: Scenario, slug: str) -> bool:
    return fitting(replace(scenario, methods=(slug,), axis=None, grid=()))[0].runs


def test_a_method_that_cannot_run_there_says_what_was_changed() -> None:
    page = open_algorithms(method="sco.objective-perturbation", n="2000", rho="0.1")
    shown = texts(page)
    assert "Logistic regression (yours: Mean estimation)" in shown
    assert "At your settings Objective perturbation cannot run" in shown
    assert "n = 2,000, d = 20, ε = 1, δ = 10⁻⁶)" in shown
    press(page, "Use it everywhere")
    assert "cannot run." not in texts(page)
    assert page.query_params["problem"] == "logistic" and page.query_params["n"] == "2000"


@pytest.mark.parametrize("slug", ["sco.erm", "sco.clipped", "sco.objective-perturbation"])
def test_anatomy_can_take_such_a_run_apart(slug: str) -> None:
    query = method_anatomy_query(visit.BASE, slug)
    assert query is not None
    assert risk_path(replace(visit.read(query)[0], n=500), slug).final >= 0


def test_the_cost_is_said_in_words() -> None:
    slug = example_point("sco.erm")
    counted = Work(items=100, gradients=250, at_most=True, seconds=0.5)
    text = cost_sentence(slug, counted)
    assert "at most **250 gradients**, which is 2.5 passes; about 0.5 s" in text
    unknown = replace(counted, gradients=None)
    assert "not known beforehand" in cost_sentence(slug, unknown)
    one = replace(counted, gradients=100, at_most=False)
    assert "**100 records read**, which is 1 pass;" in cost_sentence(
        example_point("mean.clipped"), one
    )
    where = point_text(example_point("lp.shuffled-mirror-descent"))
    assert "the theorem's parameters" in where and "ε = 0.5" in where


# -- the overview -------------------------------------------------------------------------------


def test_the_overview_starts_with_the_smallest_measured_error_at_the_visits_scenario() -> None:
    page = open_algorithms(**QUICK)
    shown = texts(page)
    point = comparison_point(Scenario(methods=("mean.sample",), n=1000, p=4.0))
    running = [f.slug for f in fitting(point) if f.quick]
    found = advice([run_cell(c) for c in cells(replace(point, methods=tuple(running)))])
    assert start_with(found, 1.0) in shown
    assert shown.index("Start with") < shown.index("What do you estimate?")  # then the guide
    assert "| Simple clipping | **yes** |" in shown
    opened = [b.label for b in page.button if (b.key or "").startswith("methods_open_")]
    assert opened == [method_card(m).name for m, _ in found.ranked]
    (wide,) = page.get("plotly_chart")
    figure = json.loads(wide.proto.spec)
    rows = [row.replace("<br>", "") for row in figure["layout"]["yaxis"]["categoryarray"]]
    private = [row for row in rows if row in opened]
    assert private == opened  # sorted by error
    press(page, opened[0])
    assert page.title[0].value == f"Methods: {opened[0]}"


def test_an_answer_without_data_is_advised_and_drawn_where_it_wins() -> None:
    """Users' gradients in noise: over ten times the error of the centre of the set."""
    users = {"problem": "quadratic", "distribution": "hypercube", "n": "2000", "d": "5"}
    page = open_algorithms(**users, m="500")
    (said,) = [m.value for m in page.markdown if "Do not use the data here" in m.value]
    factor = re.search(r"error \*\*(.*?)\*\*, (\d+) times smaller than .*\((.*?)\)", said)
    assert factor is not None and "Start with" not in texts(page)
    start, times, error = (float(text) for text in factor.groups())
    point = Scenario.from_query(users | {"m": "500"}, visit.BASE)
    assert start == pytest.approx(without_data(replace(point, axis=None, grid=())), rel=0.01)
    assert times == pytest.approx(error / start, rel=0.1)
    assert times > 10
    (wide,) = page.get("plotly_chart")
    figure = json.loads(wide.proto.spec)
    (line,) = [s for s in figure["layout"]["shapes"] if s["x0"] == s["x1"]]
    assert line["x0"] == pytest.approx(start, rel=0.01)
    assert any(START in a["text"] for a in figure["layout"]["annotations"])
    assert wide.proto.alt.startswith("An answer without data beats every private")


def test_the_guide_names_whoever_says_that_it_belongs_there() -> None:
    """Under pure ε two means run, and three methods choose their radius from the data."""
    (which,) = re.findall(r"Under pure ε (.*?) can run", guide())
    assert which == "**Coordinate-wise, Laplace** and **Adaptive clipping**"
    (chosen,) = re.findall(r"break the proof\. (.*?) choose\s", guide())
    names = {m.card.name for m in METHODS if m.card.private_radius}
    assert names == set(re.findall(r"\*\*(.*?)\*\*", chosen)) and "Adaptive clipping" in names
    assert "never read off" not in guide() and "only the Laplace" not in guide()


def test_a_method_runs_under_the_budgets_that_its_card_names_and_no_other() -> None:
    """Its plan is asked at the point of its example."""
    budgets: dict[str, dict[str, float | None]] = {
        "pure": {"epsilon": 1.0, "delta": 0.0},
        "zcdp": {"epsilon": None, "delta": None, "rho": 0.05},
        "approx": {"epsilon": 1.0, "delta": 1e-6},
    }
    for method in METHODS:
        given = {kind: replace(example_point(method.card.slug), **b) for kind, b in budgets.items()}
        able = tuple(kind for kind, point in given.items() if runs(point, method.card.slug))
        assert able == method.card.budgets, method.card.slug


def test_a_scenario_too_large_to_run_gets_one_sentence_and_the_table() -> None:
    page = open_algorithms(problem="mean", n="10000", d="999")
    (said,) = [e.value for e in page.error if "Nothing is measured here" in e.value]
    assert "got n=10,000 and d=999" in said and "What do you estimate?" in texts(page)


def test_the_advice_is_said_with_its_reason() -> None:
    ranked = (("mean.adaptive", 0.05), ("mean.clipped", 0.1))
    said = start_with(Advice(ranked=ranked, tied=False), 1.0)
    assert said.startswith("Start with **Adaptive clipping**, because its mean error")
    assert "2 times smaller than that of Simple clipping (0.1)" in said
    assert "do not tell it apart from Simple clipping" in start_with(
        Advice(ranked=ranked, tied=True), 1.0
    )
    without = start_with(Advice(ranked=ranked, tied=False), 0.04)
    assert without.startswith("**Do not use the data here.**") and "Start with" not in without
    assert (
        "has error **0.04**, 1.2 times smaller than that of the best of 2 private methods"
        in without
    )
    assert "**Adaptive clipping** (0.05)" in without
    near = start_with(Advice(ranked=ranked, tied=False), 0.05)
    assert "has error **0.05**, no larger than that of" in near
    assert start_with(Advice(ranked=ranked, tied=False), 0.0) == said  # the truth was put there
    assert "the only private method" in start_with(Advice(ranked=ranked[:1], tied=False), 1.0)


def test_the_table_filters() -> None:
    fits = fitting(comparison_point(Scenario(problem="hinge", methods=(), n=2000, d=5)))
    every, some = comparison(fits, every=True), comparison(fits, every=False)
    assert len(every.splitlines()) == len(METHOD_SLUGS) + 2
    running = [fit for fit in fits if fit.runs]
    assert len(some.splitlines()) == len(running) + 2
    assert "| Phased SGD |" in every and "| Phased SGD |" not in some
    for line in every.splitlines():
        assert line.replace(r"\|", "").count("|") == 9, line


def test_the_answer_counts_what_runs() -> None:
    fits = fitting(comparison_point(Scenario(methods=("mean.sample",), n=2000, d=5)))
    assert answer(fits).startswith("All 8 private methods for this problem")
    pure = fitting(comparison_point(Scenario(problem="logistic", methods=(), n=500, delta=0.0)))
    assert "No private method for this problem can run" in answer(pure)
    assert "pure DP" in answer(pure)


def test_what_a_logarithm_cannot_show_is_said() -> None:
    table = pd.DataFrame({"method": ["sco.erm", "sco.clipped"], "mean_error": [0.1, 0.0]})
    assert exact(table) == ["Clipped gradients"]
    page = open_algorithms(problem="linear", geometry="linf", n="1000", d="5")
    assert any("find the exact minimiser" in c.value for c in page.caption)


# -- address and words --------------------------------------------------------------------------


def test_the_address_comes_back() -> None:
    view = View(method="lp.phased-sgd", slow=True, every=False)
    assert STATE.from_query(STATE.to_query(view)) == (view, [])
    assert STATE.to_query(DEFAULT) == {}
    wrong, sentences = STATE.from_query({"method": "sco.nothing", "slow": "yes"})
    assert wrong == View(slow=True) and "method must be" in sentences[0]


def test_a_method_is_chosen_and_the_scenario_of_the_visit_stays() -> None:
    page = open_algorithms(method="mean.clipped", problem="mean", n="2000", p="4")
    page.selectbox(key=STATE.key("method")).set_value("mean.smoothed")
    checked(page.run())
    assert page.query_params["method"] == "mean.smoothed"
    assert (page.query_params["n"], page.query_params["p"]) == ("2000", "4")


def test_everything_has_a_name() -> None:
    kinds = {family(slug): slug.split(".")[0] for slug in METHOD_SLUGS}
    assert sorted(kinds.values()) == ["lp", "mean", "sco", "user"]
    assert all(kinds[family(slug)] == slug.split(".")[0] for slug in METHOD_SLUGS)
    assert {method_card(slug).privacy for slug in METHOD_SLUGS} == set(NOTIONS)
    assert len({method_label(slug) for slug in ("", *METHOD_SLUGS)}) == len(METHOD_SLUGS) + 1


def test_formulas_are_split_outside_brackets() -> None:
    for card in (b.card for b in BOUNDS):
        for part in parts(card.latex):
            assert part.count("{") == part.count("}"), card.slug
            assert part.count(r"\Big") % 2 == 0, card.slug
        assert "|" not in in_table(card.latex).replace(r"\|", "")
    assert formula("a,\\ b=1") == r"$\displaystyle a$, with $b=1$"
    assert formula("a") == r"$\displaystyle a$"


def test_every_example_leads_with_its_method() -> None:
    for slug in METHOD_SLUGS:
        found = example(slug)
        assert len(found.methods) >= 2, slug
        assert found.axis in ("n", "m")


def test_under_pure_privacy_nobody_is_asked_for_an_optimiser_that_there_is_not() -> None:
    page = open_at("methods", problem="logistic", delta="0", n="1000")
    assert "No private method for this problem can run at these settings" in texts(page)
    assert "Choose a private optimiser" not in texts(page)
