"""The live page in Chromium: prepared at once, then live, with the numbers of the command line."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from dpsco_app.front.links import query, read
from dpsco_app.static_page.visit import Visit
from dpsco_core.catalogue import METHOD_SLUGS, method_card
from dpsco_core.cli.main import main
from dpsco_core.runs.study import Outcome, cells, run_cell
from dpsco_core.scenario import Scenario
from tests.site.conftest import axe, numbers, state
from tests.site.test_views import drag

SMALL = "problem=mean&methods=mean.sample,mean.clipped&axis=n&grid=500,1000&n=1000&d=5&trials=4"
WORDS = (
    *("run", "--method", "mean.sample", "--method", "mean.clipped", "--n", "1000", "--d", "5"),
    *("--axis", "n", "--grid", "500,1000", "--trials", "4", "--tail", "2", "--json"),
)
RUN = """
import json
from dpsco_core.runs.study import cells, run_cell
from dpsco_core.scenario import Scenario
made = [run_cell(next(cells(Scenario.from_json(q)))) for q in json.loads(queries)]
json.dumps([o.error for o in made])
"""
# These modules take memory, and few methods need them, or none.
NOT_AT_ONCE = ("scipy.spatial", "scipy.interpolate", "scipy.optimize", "scipy.stats")
SETS = ({}, {"geometry": "l1"}, {"geometry": "lq", "q": 1.5}, {"geometry": "lq", "q": 3.0})
BUDGETS = ({}, {"delta": 0.0}, {"epsilon": None, "delta": None, "rho": 0.5})
ITEMS = (1, 50)


def candidates(slug: str) -> Iterator[Scenario]:
    """Yield small scenarios of a method over problems, sets, budgets and items per user."""
    base = Scenario(methods=(slug,), n=2000, d=5, trials=1, seed=3)
    problems = method_card(slug).problems
    for problem, set_fields, budget, m in itertools.product(problems, SETS, BUDGETS, ITEMS):
        yield replace(base, problem=problem, m=m, **set_fields, **budget)


@cache
def outcome_of(slug: str) -> tuple[Scenario, Outcome]:
    """Return a small scenario that a method runs in, and its outcome in this process."""
    for scenario in candidates(slug):
        try:
            outcome = run_cell(next(cells(scenario.validate())))
        except ValueError:  # The method refuses this set, budget or number of items.
            continue
        if math.isfinite(outcome.error):
            return scenario, outcome
    pytest.fail(f"{slug} ran in none of the scenarios")


def native(*words: str) -> Any:
    """Run a command outside the browser; return the JSON that it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(words) == 0
    return json.loads(out.getvalue())


def go_to_link(page: Page, live: str) -> None:
    """Open the small link unless the page is open, and wait until it is live."""
    if not page.url.startswith(live):
        page.goto(f"{live}/?{SMALL}")
    state(page, "live")


def move(page: Page, field: str, position: int) -> None:
    """Set the slider of a field to a position, as a visitor does."""
    page.locator(f"#field-{field}").fill(str(position))


def test_a_link_shows_the_numbers_of_the_command_line(tab: Page, live: str) -> None:
    tab.goto(f"{live}/?{SMALL}")
    state(tab, "live")
    page_numbers: Any = numbers(tab)
    expected = native(*WORDS)
    assert [r["method"] for r in page_numbers["results"]] == [
        r["method"] for r in expected["results"]
    ]
    for row_of_page, expected_row in zip(page_numbers["results"], expected["results"], strict=True):
        for name in ("mean_error", "median_error", "standard_error"):
            assert row_of_page[name] == pytest.approx(expected_row[name], rel=1e-10)
    assert len(page_numbers["bounds"]) == len(expected["bounds"]) > 10
    for row, expected_bound in zip(page_numbers["bounds"], expected["bounds"], strict=True):
        assert row["slug"] == expected_bound["slug"]
        expected_value = expected_bound["value"]
        assert row["value"] == (
            None if expected_value is None else pytest.approx(expected_value, rel=1e-10)
        )


def test_every_method_gives_the_native_numbers_in_the_engine(tab: Page, live: str) -> None:
    go_to_link(tab, live)
    engine = tab.workers[-1]
    modules = engine.evaluate("python.runPython('import sys; \" \".join(sys.modules)')").split()
    assert "scipy.special" in modules
    assert not set(NOT_AT_ONCE) & set(modules)
    outcomes_native = [outcome_of(slug) for slug in METHOD_SLUGS]
    queries = json.dumps([scenario.to_json() for scenario, _ in outcomes_native])
    engine.evaluate("queries => python.globals.set('queries', queries)", queries)
    errors = json.loads(engine.evaluate("run => python.runPython(run)", RUN))
    wrong = {
        slug: (error, outcome.error)
        for slug, error, (_, outcome) in zip(METHOD_SLUGS, errors, outcomes_native, strict=True)
        if error != pytest.approx(outcome.error, rel=1e-10, abs=1e-14)
    }
    assert len(errors) >= 35 and wrong == {}


def test_a_slider_runs_the_new_setting_and_the_address_opens_in_the_dashboard(
    tab: Page, live: str
) -> None:
    go_to_link(tab, live)
    old_table = tab.locator("#table tbody").inner_text()
    move(tab, "epsilon", 4)
    tab.wait_for_function("document.body.dataset.address.includes('epsilon=')")
    state(tab, "live")
    assert tab.locator("#table tbody").inner_text() != old_table
    parameters = dict(part.split("=") for part in tab.url.partition("?")[2].split("&"))
    scenario, wrong = read(parameters)
    assert not wrong and scenario.epsilon == pytest.approx(0.2) and query(scenario)["d"] == "5"


def test_axe_finds_no_accessibility_fault_once_the_figure_is_live(tab: Page, live: str) -> None:
    go_to_link(tab, live)
    expect(tab.locator("#status")).to_contain_text("Live")
    tab.locator("#more summary").click()
    axe(tab)


def test_the_picture_follows_the_settings_of_the_page(tab: Page, live: str) -> None:
    go_to_link(tab, live)
    tab.get_by_role("link", name="A private mean").click()
    state(tab, "live")
    for p in (2, 3):
        if p == 3:
            values = tab.locator("#field-p").get_attribute("data-values") or ""
            move(tab, "p", json.loads(values).index(p))
            tab.wait_for_function("document.body.dataset.address.includes('p=3')")
            state(tab, "live")
        parameters = dict(
            part.split("=") for part in tab.url.partition("?")[2].split("#")[0].split("&")
        )
        scenario, wrong = read(parameters)
        assert not wrong and (scenario.n, scenario.p) == (1000, p)
        drag(tab, scenario)
    expect(tab.locator("#field-d")).to_be_hidden()
    axe(tab)
    assert tab.url.endswith("#picture")
    tab.get_by_role("link", name="Curves").click()
    state(tab, "live")
    expect(tab.locator("#figure .annotation").first).to_be_visible()
    saved: Any = numbers(tab)
    assert saved["scenario"]["p"] == 3.0 and len(saved["results"]) == 4


def test_a_move_ends_a_run_and_a_killed_worker_comes_back(tab: Page, live: str) -> None:
    go_to_link(tab, live)
    tab.locator("#presets summary").click()
    tab.get_by_role("button", name="Logistic regression in private").click()
    state(tab, "live", "growing")
    tab.workers[-1].evaluate("self.close()")
    state(tab, "starting", "growing")
    tab.locator("#presets summary").click()
    tab.get_by_role("button", name="Hardest input").click()
    state(tab, "live")
    expect(tab.locator("#status")).to_contain_text("Live")
    assert "distribution=hypercube" in tab.url


@pytest.mark.slow  # The engine starts again; tests/app/static_page checks the sentences.
def test_a_setting_that_is_not_allowed_is_reported_in_one_sentence(tab: Page, live: str) -> None:
    tab.goto(f"{live}/?problem=mean&d=-3")
    expect(tab.locator("#wrong")).to_contain_text("d must be", timeout=120_000)


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1400, "light"),
        pytest.param(390, "dark", marks=pytest.mark.slow),
        pytest.param(1400, "dark", marks=pytest.mark.slow),
        pytest.param(390, "light", marks=pytest.mark.slow),
    ],
)
def test_the_prepared_figure_is_there_and_axe_finds_nothing(
    browser: Browser, live: str, scheme: Any, width: int
) -> None:
    """Without WebAssembly the page keeps its prepared figures, and tells the visitor so."""
    size: Any = {"width": width, "height": 900}
    with browser.new_context(viewport=size, color_scheme=scheme) as context:
        page = context.new_page()
        page.add_init_script("delete window.WebAssembly")
        visit = Visit()
        visit.start("hardest-input")
        # The page is reloaded, and shows its own figure again.
        page.goto(f"{live}/?{visit.address}")
        expect(page.locator("#notes")).to_contain_text("hard instance")
        page.goto(live)
        state(page, "none")
        expect(page.locator("#head h2")).to_contain_text("Privacy costs 3.4 times the error")
        expect(page.locator("#status")).to_contain_text("prepared figures")
        expect(page.locator("#figure .annotation").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        page.locator("#presets summary").click()
        page.get_by_role("button", name="Hardest input").click()
        expect(page.locator("#notes")).to_contain_text("hard instance")
        axe(page)
