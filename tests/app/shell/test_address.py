"""A bad address costs one sentence and one field; a good address restores the whole page."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.front import links
from dpsco_app.front.links import BASE
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_app.pages.explore.state import STATE
from dpsco_app.pages.privacy.state import View as Privacy
from dpsco_app.parts import controls
from dpsco_app.parts.options import VIEWS
from dpsco_app.shell.names import PLACES
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.fields import parse
from dpsco_core.scenario import Scenario
from tests.app.pages import (
    ENTRY,
    SMALL,
    address_scenario,
    check_page,
    headline_text,
    is_stale,
    open_page,
    shown_result,
)
from tests.app.places.test_one_run import open_at

SURVIVING = {"seed": "5", "margin": "1"}
BAD = {
    "n=abc": "n must be an integer, got n=abc.",
    "n=0": "n must be an integer between 1 and",
    "n=1e12": "n must be an integer between 1 and",
    "n=1e400": "n must be an integer, got n=1e400.",
    "n=": "n must be given",
    "epsilon=-1": "epsilon must be at least",
    "epsilon=nan": "epsilon must be at least",
    "delta=1": "delta must be at least 0 and below 1, got delta=1.",
    "p=1.05": "p must be at least 1.1",
    "d=5000": "d must be an integer between 1 and 1,000, got",
    "rho=0": "rho must be at least",
    "offset=3": "offset must be at least 0 and at most 2, got offset=3.",
    "distribution=foo": "distribution must be one of student-t,",
    "methods=mean.clipped,mean.foo": "method must be one of ",
    "methods=mean.clipped,mean.clipped": "methods must be distinct",
    "problem=foo": "problem must be one of mean, quadratic,",
    "axis=foo": "axis must be one of n, d, m, epsilon, p, q, diameter, decay, got axis=foo.",
    "grid=1,x": "grid must be a list of numbers, got grid=x.",
    "grid=5,2": "grid must be increasing, got grid=5,2.",
    "grid=1.5,2": "grid must be a list of integers for the axis n",
    "trials=100000": "trials must be an integer between 1 and 200, got",
    "tuning=<b>": "tuning must be one of practical, theory, got tuning=<b>.",
    "show=foo": f"show must be among {', '.join(VIEWS)}, got show=foo.",
    "n=" + "9" * 1000: "n must be an integer, got n=999",
    "distribution=" + "a" * 1000: "distribution must be one of student-t,",
    "show=" + "x" * 1000: "show must be among",
}
# Examples of fields of the scenario and of the page: unreadable, not allowed, and with markup.
SHOWN_BAD = ("n=abc", "offset=3", "methods=mean.clipped,mean.foo", "tuning=<b>", [*BAD][-1])


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad[:30])
def test_a_bad_value_costs_one_sentence_and_its_own_field(bad: str) -> None:
    name, value = bad.split("=")
    query = SMALL | SURVIVING | {name: value}
    view, wrong = STATE.from_query(query)
    scenario, problems = links.read(query)
    (complaint,) = wrong + problems
    assert BAD[bad] in complaint and len(complaint) < 400
    assert (view.show == View().show) and (view.against == SMALL["against"])
    # The grid of one axis is invalid for another.
    fields_lost = {name, "grid"} if name == "axis" else {name}
    assert (
        scenario
        == links.read({k: v for k, v in (SMALL | SURVIVING).items() if k not in fields_lost})[0]
    )
    if name != "show":
        assert getattr(scenario, name) == getattr(BASE, name)


@pytest.mark.parametrize("bad", SHOWN_BAD, ids=lambda bad: bad[:30])
def test_the_page_reports_an_invalid_value_once_and_runs_without_it(bad: str) -> None:
    name, value = bad.split("=")
    page = open_page(**(SURVIVING | {name: value}))
    (warning,) = page.warning
    assert BAD[bad] in warning.value
    assert warning.value.startswith("In the address: ") and len(warning.value) < 400
    scenario = address_scenario(page)
    assert (scenario.seed, scenario.margin, scenario.trials) == (5, 1, 5)
    assert shown_result(page).complete and headline_text(page)
    assert not is_stale(page)
    check_page(page.get_by_key("measure").set_value("price").run())
    assert not page.warning


def test_every_bad_field_has_its_own_sentence() -> None:
    page = open_page(n="abc", d="x", p="3")
    (warning,) = page.warning
    assert warning.value.count("\n- ") == 2 and "\n- n must be" in warning.value
    assert address_scenario(page).p == 3


@pytest.mark.parametrize(
    ("query", "remark"),
    [
        (
            {"axis": "q", "grid": "1.5,2", "geometry": "l2"},
            "geometry must be lq for the axis q, got geometry=l2. So axis=q and grid=1.5,2",
        ),
        (
            {"axis": "n", "grid": "100,200,1000000000"},
            "got n=1000000000. So grid=100,200,1000000000 is left out.",
        ),
        ({"axis": "foo", "grid": "5,6"}, "got axis=foo. So axis=foo and grid=5,6 are left out."),
        ({"distribution": "spike", "d": "1"}, "for the distribution spike, got d=1."),
        ({"rho": "1", "epsilon": "2"}, "beside rho, got epsilon=2"),
    ],
)
def test_one_sentence_lists_all_ignored_fields(query: dict[str, str], remark: str) -> None:
    scenario, problems = links.read(query | {"n": "700"})
    (sentence,) = problems
    assert remark in sentence and scenario.n == 700
    fields_lost = {k for k, v in query.items() if getattr(scenario, k) != parse(k, v)}
    assert fields_lost
    assert all(f"{name}={query[name]}" in sentence for name in fields_lost)


SMALL_MAP = {"n": "500", "d": "3", "trials": "2", "reading": "rates"}


@pytest.mark.parametrize("slug", sorted(PLACES))
def test_every_page_names_an_unknown_parameter_in_its_one_box(slug: str) -> None:
    page = open_at(slug, **SMALL_MAP, eps="0.5", lesson="zebra")
    (warning,) = page.warning
    assert "eps" in warning.value and warning.value.count("In the address:") == 1


def test_errors_in_an_address_are_shown_until_the_next_move() -> None:
    page = open_at("bounds", n="abc", d="3")
    for _ in range(2):  # A rerun without a move changes nothing.
        (warning,) = page.warning
        assert "got n=abc" in warning.value and "n" not in page.query_params
        page = page.run()
    page.select_slider(key=controls.PREFIX + "n").set_value(1000)
    assert not page.run().warning and page.query_params["n"] == "1000"


@pytest.mark.parametrize("slug", ["learn", "methods", "users"])
def test_parameters_of_another_page_are_removed_silently(slug: str) -> None:
    """On the way back from Explore the browser may still name Explore's parameters."""
    page = open_at(slug, methods="mean.sample,mean.clipped", n="5000", against="l2", erratum="x")
    assert not page.warning
    assert not {"against", "erratum"} & set(page.query_params)
    assert slug != "learn" or not dict(page.query_params)


def test_unknown_parameters_stay_in_the_address() -> None:
    page = open_page(utm="7")
    (warning,) = page.warning
    assert warning.value.startswith("In the address: utm is no setting of this page. ")
    assert page.query_params["utm"] == "7"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            {
                "grid": "80000,85000,90000,95000,100000",
                "trials": "200",
                "problem": "logistic",
                "methods": "sco.iterative,sco.smoothed",
            },
            "the dashboard allows 120 s",
        ),
        ({"axis": "epsilon", "grid": "1,2", "n": "1000000"}, "n times d must be at most"),
    ],
)
def test_a_run_that_is_too_heavy_is_refused_in_one_sentence(
    query: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsco_core.runs.cost.machine_speed", lambda: 1.0)
    page = open_page(**query)
    complaints = [*page.error, *page.warning]
    assert len(complaints) == 1 and words in complaints[0].value
    if page.error:
        assert [b.disabled for b in page.button if b.label == "Run"] == [True]


def test_the_link_restores_the_scenario_and_the_views() -> None:
    query = {
        "distribution": "pareto",
        "methods": "mean.clipped,mean.cwme-pure",
        "d": "7",
        "rho": "0.3",
        "p": "2.5",
        "axis": "d",
        "grid": "3,9",
        "trials": "2",
        "show": "rates,upper bounds",
        "calibration": "paper",
    }
    page = open_page(**query)
    reopened = AppTest.from_file(ENTRY, default_timeout=60)
    written = dict(page.query_params)
    for name, value in written.items():
        reopened.query_params[name] = value
    reopened.run()
    assert not reopened.warning and not reopened.exception
    assert shown_result(reopened).scenario == shown_result(page).scenario == address_scenario(page)
    assert reopened.session_state["show"] == page.session_state["show"] == ["rates", "upper bounds"]
    assert dict(reopened.query_params) == written
    copied = page.code[0].value.split("?")[1]
    assert dict(parse_qsl(copied)) == written


def test_an_old_address_without_views_is_that_of_the_default() -> None:
    page = open_page(show="none")
    assert not page.warning
    assert page.session_state["show"] == [] and "show" not in page.query_params


def test_a_new_address_in_an_open_page_is_loaded_and_run() -> None:
    page = open_page()
    page.query_params["d"] = "5"
    page.run()
    assert shown_result(page).scenario.d == 5 and not is_stale(page)


def test_the_default_page_has_an_empty_address() -> None:
    assert STATE.to_query(View(), BASE) == {}
    assert STATE.to_query(View(show="rates"), Scenario())["show"] == "rates"


def test_the_page_links_to_the_ledger_of_its_run() -> None:
    page = open_page(methods="mean.sample,mean.clipped,mean.adaptive", d="5", epsilon="2")
    study = Study(scenario=shown_result(page).scenario, outcomes=shown_result(page).outcomes)
    # The leading method is not the first private one.
    assert study.lead == "mean.adaptive" != study.scenario.methods[1]
    leads = {link.proto.label: link.proto for link in page.get("page_link")}
    query = dict(parse_qsl(leads["Where the budget went"].query_string.lstrip("?")))
    assert "part" not in query and Privacy().part == "ledger"
    assert query["method"] == study.lead
    assert (query["epsilon"], query["d"], query["problem"]) == ("2", "5", "mean")
    page = open_page(methods="mean.sample")
    assert "Where the budget went" not in {link.proto.label for link in page.get("page_link")}


def test_a_default_grid_is_cut_where_the_address_asks_for_larger_records() -> None:
    page = open_page(d="50", grid=None)
    assert not page.warning
    scenario = address_scenario(page)
    assert scenario.d == 50 and shown_result(page).scenario == scenario
    allowed = [n for n in BASE.grid if n * 50 <= DASHBOARD.elements]
    assert list(scenario.grid) == allowed and len(allowed) == len(BASE.grid) - 1


def test_the_default_grid_of_an_axis_is_cut_as_well() -> None:
    page = open_page(axis="d", n="50000", grid=None)
    assert not page.warning
    assert (address_scenario(page).n, address_scenario(page).grid) == (50_000, (2, 5, 10, 20))
