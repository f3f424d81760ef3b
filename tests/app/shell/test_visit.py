"""One scenario for a visit: every page shows it, or says what it shows instead."""

from __future__ import annotations

import sys
from dataclasses import replace
from urllib.parse import urlencode, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.front import links
from dpsco_app.front.fits import with_problem
from dpsco_app.front.links import BASE
from dpsco_app.pages import frame
from dpsco_app.parts import controls
from dpsco_app.shell import visit
from dpsco_app.shell.main import DRAW
from dpsco_app.shell.names import EXPLORE
from dpsco_core.fields import NAMES as FIELDS
from dpsco_core.scenario import Scenario
from tests.app.pages import check_page, open_page, press_button, shown_result
from tests.app.places.test_one_run import open_at

pytestmark = pytest.mark.folded  # Folded parts keep their values, so the tests leave them folded.
SCRIPT = """
import importlib
import streamlit as st
st.set_page_config(layout="wide")
name = st.session_state.get("at", "explore")
importlib.import_module(f"dpsco_app.pages.{name}.page").page()
"""
PAGES = ("one_run", "who_wins", "bounds", "privacy", "lower_bounds", "users")
# Two pages measure a map: each is in one of the tests, and in both in `make test-slow`.
BUT_MAP, BUT_USERS = (
    [pytest.param(name, marks=[pytest.mark.slow] * (name == long)) for name in PAGES]
    for long in ("who_wins", "users")
)
MY_QUERY = {
    "problem": "quadratic",
    "methods": "sco.clipped,sco.cwme",
    "n": "2000",
    "d": "3",
    "p": "4",
}
MEAN = MY_QUERY | {"problem": "mean", "methods": "mean.sample,mean.clipped"}
SMALL = {"axis": "n", "grid": "500,1000", "trials": "2"}


def fitting_query(name: str) -> dict[str, str]:
    """Return the address of a scenario that a page can show unchanged."""
    if name == "users":
        methods = "sco.erm,user.clipped-means"
        return MY_QUERY | {
            "methods": methods,
            "m": "10",
            "distribution": "gaussian",
            "offset": "0.1",
        }
    return MEAN if name == "lower_bounds" else MY_QUERY


def open_named(name: str, **query: str) -> AppTest:
    """Return a page by its name and at a query, after its first run."""
    page = AppTest.from_string(SCRIPT, default_timeout=60)
    page.session_state["at"] = name
    for key, value in query.items():
        page.query_params[key] = value
    return check_page(page.run())


def go(page: AppTest, name: str) -> AppTest:
    """Click a page's link, which has an empty address."""
    page.session_state["at"] = name
    page.query_params.clear()
    return check_page(page.run())


def visit_scenario(page: AppTest) -> Scenario:
    """Return the scenario of the visit that a page belongs to."""
    scenario: Scenario = page.session_state[visit.SESSION].visit_scenario
    return scenario


def address_scenario(page: AppTest) -> Scenario:
    """Return the scenario of the address."""
    query = {k: v for k, v in page.query_params.items() if k in FIELDS}
    return Scenario.from_query(query, BASE)


def control_value(page: AppTest, field: str) -> object:
    """Return the value of a field's control in the sidebar."""
    return page.get_by_key(controls.PREFIX + field).value


def has_button(page: AppTest, label: str) -> bool:
    """Return whether a page has a button with this label."""
    return any(b.label == label for b in page.button)


@pytest.mark.parametrize("name", BUT_MAP)
def test_every_page_shows_the_scenario_of_explore_and_explore_that_of_every_page(name: str) -> None:
    page = open_named("explore", **fitting_query(name), **SMALL)
    old_scenario = address_scenario(page)
    go(page, name)
    assert address_scenario(page) == visit_scenario(page) == old_scenario
    assert (control_value(page, "n"), control_value(page, "d")) == (2000, 3)
    assert not has_button(page, "Use it everywhere")
    page.get_by_key(controls.PREFIX + "d").set_value(5)
    check_page(page.run())
    assert visit_scenario(page) == replace(old_scenario, d=5)
    go(page, "explore")
    assert control_value(page, "d") == 5 and address_scenario(page) == visit_scenario(
        page
    ) == replace(old_scenario, d=5)


@pytest.mark.parametrize("name", BUT_USERS)
def test_the_address_of_every_page_restores_the_whole_scenario(name: str) -> None:
    page = open_named(
        "explore", **fitting_query(name), **SMALL, seed="7", tuning="theory", margin="1"
    )
    go(page, name)
    reopened = open_named(name, **{k: str(v) for k, v in page.query_params.items()})
    assert visit_scenario(reopened) == visit_scenario(page) == address_scenario(page)
    go(reopened, "explore")
    assert address_scenario(reopened) == visit_scenario(page) and visit_scenario(reopened).seed == 7


def test_a_page_that_needs_another_problem_says_so_and_keeps_the_visits_problem() -> None:
    page = open_named("explore", **SMALL, d="3", n="500")
    old_scenario = visit_scenario(page)
    assert old_scenario.problem == "mean"
    go(page, "one_run")
    assert (
        visit_scenario(page) == old_scenario
        and address_scenario(page).problem == "huber"
        and address_scenario(page).d == 3
    )
    (note,) = page.container(key="one_run_apart").markdown
    assert "(yours: Mean estimation)" in note.value
    assert "This page needs an optimisation problem" in note.value
    assert has_button(page, "Use it everywhere") and not has_button(page, "Back to mine")
    # The page shows the visit's value of this field, so it changes everywhere.
    page.get_by_key(controls.PREFIX + "n").set_value(1000)
    check_page(page.run())
    assert visit_scenario(page) == replace(old_scenario, n=1000) and not has_button(
        page, "Back to mine"
    )
    # This value is the page's own.
    page.get_by_key(controls.PREFIX + "problem").set_value("logistic")
    check_page(page.run())
    assert (
        visit_scenario(page) == replace(old_scenario, n=1000)
        and address_scenario(page).problem == "logistic"
    )
    go(page, "bounds")
    assert address_scenario(page) == visit_scenario(page)
    go(page, "one_run")
    assert address_scenario(page).problem == "logistic"
    press_button(page, "Back to mine")
    assert address_scenario(page).problem == "huber"


def test_a_page_states_its_own_needs_above_its_figure() -> None:
    """The message used to stand below the first screen, where visitors missed it."""
    page = open_named("users", **SMALL, d="3", n="500")
    (note,) = page.container(key="users_apart").markdown
    assert "m = 100,000 (yours: 1), norm of the truth 0.1 (yours: 1). This page needs" in note.value
    assert has_button(page, "Use it everywhere")
    shown_in_order = list(page.main)
    (figure,) = page.get("plotly_chart")
    assert shown_in_order.index(note) < shown_in_order.index(figure)


def test_the_scenario_of_one_page_can_be_used_on_all() -> None:
    page = open_named("explore", **SMALL, d="3", n="500")
    go(page, "one_run")
    press_button(page, "Use it everywhere")
    assert (
        visit_scenario(page) == address_scenario(page) and visit_scenario(page).problem == "huber"
    )
    assert not has_button(page, "Use it everywhere")
    go(page, "explore")
    assert control_value(page, "problem") == "huber"


def test_one_run_says_that_users_with_several_items_are_not_supported() -> None:
    page = open_named("who_wins", problem="quadratic", m="100", methods="user.accelerated")
    assert address_scenario(page).m == 1 and visit_scenario(page).m == 100
    assert "m = 1 (yours: 100)" in page.container(key="who_wins_apart").markdown[0].value


def test_a_law_that_the_problem_of_a_page_cannot_have_is_replaced() -> None:
    scenario, complaints = links.read({"distribution": "tracing"})
    assert scenario.distribution == "tracing" and not complaints
    fitted = with_problem(scenario, "logistic", ("logistic",))
    assert (fitted.problem, fitted.distribution) == ("logistic", BASE.distribution)
    assert with_problem(scenario, "linear", ("linear",)).distribution == "tracing"
    assert with_problem(scenario, "logistic", ("mean",)) == scenario


def test_two_visitors_do_not_meet() -> None:
    """The scenario, run and address of one visitor leave those of the other alone."""
    first_visit, second_visit = open_page(d="5"), open_page(d="50")
    old_state = shown_result(second_visit), dict(second_visit.query_params)
    (slider,) = [s for s in first_visit.select_slider if s.label == "Dimension d"]
    press_button(check_page(slider.set_value(2).run()), "Run")
    assert shown_result(first_visit).scenario.d == 2 and shown_result(first_visit).complete
    check_page(second_visit.run())
    assert (shown_result(second_visit), dict(second_visit.query_params)) == old_state
    assert shown_result(second_visit).scenario.d == 50 and second_visit.query_params["d"] == "50"


@pytest.mark.parametrize("slug", sorted({*DRAW} - {EXPLORE}))
def test_a_page_is_drawn_by_the_frame_which_alone_opens_it(slug: str) -> None:
    module_names = vars(sys.modules[DRAW[slug].__module__])
    assert module_names["draw_page"] is frame.draw_page
    assert not {"open_view", "open_page", "draw_wrong"} & {*module_names}


@pytest.mark.parametrize(("name", "query"), [("why", {}), ("private_mean", {"epsilon": "2"})])
def test_a_page_with_a_picture_leaves_out_parameters_of_others_and_offers_its_address(
    name: str, query: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsco_app.parts.folding.is_open", lambda _: True)
    page = open_at(name, **query, plane="n-p")
    assert page.query_params == query and not page.warning
    assert urlsplit(page.code[0].value).query == urlencode(query)
