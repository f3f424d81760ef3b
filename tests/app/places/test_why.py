"""Why privacy stays expensive in the worst case: the steps, their numbers, the way there and on."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from dpsco_app.front.story import AGAINST_N, AGAINST_P, TITLE, short, steps, story
from dpsco_app.parts.touch.modules import text
from dpsco_app.parts.touch.scroll import scroll_data, scroll_page
from dpsco_app.shell import visit
from dpsco_app.shell.names import LEARN, MENU, VIEWS, WHY
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.explain.why import SCENARIO, SIZES, why
from dpsco_core.scenario import Scenario
from tests.app.places.test_one_run import open_at

STORY = story(why())
STEPS = STORY.steps
PARTS = set(re.findall(r'data-part="(\w+)"', text("picture.html"))) | {"cloud"}


def test_the_page_has_its_steps_and_leads_to_explore_and_on() -> None:
    app = open_at("why")
    assert not app.exception
    assert app.title[0].value == TITLE
    assert any("200 records" in c.value and "δ = 10⁻⁶" in c.value for c in app.caption)
    pages = [link.proto for link in app.container(key="why_next").get("page_link")]
    assert len(pages) == 5
    for proto, scenario in zip(pages, (AGAINST_N, AGAINST_P), strict=False):
        assert visit.query(scenario).items() <= dict(parse_qsl(proto.query_string)).items()


def test_it_is_a_view_of_learn_and_explore_leads_there_too() -> None:
    assert WHY not in MENU and [next(iter(views)) for views in VIEWS if WHY in views] == [LEARN]
    for name in ("learn", "explore"):
        app = open_at(name, reading="rates")  # rates are there at once
        assert not app.exception
        assert any(link.proto.page.endswith(WHY) for link in app.main.get("page_link")), name


@pytest.mark.parametrize("scenario", [AGAINST_N, AGAINST_P])
def test_what_the_links_open_is_the_same_law_and_allowed(scenario: Scenario) -> None:
    scenario.validate(DASHBOARD)
    assert (scenario.distribution, scenario.d) == (SCENARIO.distribution, SCENARIO.d)
    assert scenario.axis is not None and len(scenario.grid) >= 4


def test_every_step_shows_parts_that_there_are_and_one_of_them_on_a_phone() -> None:
    assert 7 <= len(STEPS) <= 9
    for step in STEPS:
        state = step.state
        assert set(state.parts) <= PARTS, step.title
        assert state.main in state.parts, step.title
        assert 0 <= state.sample < len(STORY.scenarios)
    assert {s.n for s in STORY.scenarios} == {SCENARIO.n}
    assert all("prices" in step.state.parts for step in STEPS[-2:])
    assert [s.state.radius is None for s in STEPS[:4]] == [True, True, True, False]
    words = sum(len(re.sub("<[^>]*>", "", p).split()) for s in STEPS for p in s.text)
    assert 500 < words < 1200  # five minutes of reading and playing


def test_the_words_follow_the_numbers() -> None:
    numbers = why()
    other = replace(
        numbers, heavy=replace(numbers.heavy, plain=0.0123, floor=0.0456, farthest=321.0)
    )
    said = " ".join(p for step in steps(other) for p in step.text)
    assert "0.012" in said and "0.046" in said and "320 away" in said
    assert "0.012" not in " ".join(p for step in STEPS for p in step.text)
    assert [step.state.floor for step in STEPS] == [False] * (len(STEPS) - 1) + [True]


def test_the_last_steps_compare_prices_and_the_figure_draws_those_of_the_text() -> None:
    numbers = why()
    drawn = scroll_data(STORY, dark=False)["prices"]
    assert tuple(drawn["sizes"]) == SIZES
    for line, side in zip(drawn["lines"], (numbers.heavy, numbers.light), strict=True):
        assert (line["p"], tuple(line["prices"])) == (side.p, side.prices)
        assert any(short(side.price) in p for p in STEPS[-2].text)
        assert any(f"{side.later:.2f}" in p for p in STEPS[-2].text)
    assert short(numbers.heavy.floor_prices[0]) in STEPS[-1].text[0]


def test_the_step_of_the_light_tail_says_what_the_title_of_the_story_says() -> None:
    numbers, step = why(), STEPS[-2]
    heavy, light = numbers.heavy, numbers.light
    assert "more records make privacy cheap" in step.title
    assert light.later < heavy.later and light.halving < 4 <= round(heavy.halving, 1)
    first, second = step.text
    assert first.endswith("<b>privacy stays expensive</b>.") and "privacy stays expensive" in TITLE
    assert first.split(". ")[-1].startswith("In the worst case") and "in the worst case" in TITLE
    assert f"{light.halving:.1f} times the records" in first
    assert f"At p = 2 it takes {heavy.halving:.1f} times, too." in first
    assert f"{light.later:.2f} here, and {heavy.later:.2f} at p = 2." in second
    assert light.price > heavy.price and light.best.error < heavy.best.error
    assert f"{short(light.price)} here, and {short(heavy.price)} at p = 2, although" in second
    # Privacy's part falls faster than sampling here because the law is lighter than p says.
    index = SCENARIO.instance.problem.distribution.tail_index
    assert second.endswith(f"their own tail index is {index:g}.") and index > SCENARIO.p


def test_the_bound_on_the_worst_data_is_not_compared_with_the_error_on_these() -> None:
    numbers, (first, second) = why(), STEPS[-1].text
    assert short(numbers.heavy.floor) in first and short(numbers.heavy.best.error) in first
    assert "milder" in first and "times better" not in first
    assert f"takes {numbers.heavy.floor_halving:.1f} times the records" in second


def test_the_page_of_its_own_holds_all_and_asks_no_host() -> None:
    page = scroll_page(TITLE, STORY)
    assert "http://" not in page and "https://" not in page and "import {" not in page
    assert page.count("export ") == 0 and "<!-- picture -->" not in page
    for step in scroll_data(STORY, dark=False)["steps"]:
        assert json.dumps(step["title"]) in page
