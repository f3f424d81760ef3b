"""Why privacy stays expensive in the worst case: the steps, their numbers, and the links."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_app.front import links
from dpsco_app.front.story import HARDEST, TITLE, TO_CURVES, setting, short, steps, story
from dpsco_app.parts.evaluations import window
from dpsco_app.parts.touch.modules import text
from dpsco_app.parts.touch.scroll import scroll_data, scroll_page
from dpsco_app.shell.names import LEARN, MENU, VIEWS, WHY
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.explain.hardest import impossible
from dpsco_core.explain.why import EPSILON, LIGHT, SCENARIO, SIZES, WORST_D, why
from dpsco_core.scenario import Scenario
from tests.app.places.test_one_run import open_at

STORY = story(why())
STEPS = STORY.steps
PARTS = set(re.findall(r'data-part="(\w+)"', text("picture.html"))) | {"cloud"}


def test_the_page_has_its_steps_and_links_to_explore_and_to_further_pages() -> None:
    app = open_at("why")
    assert not app.exception
    assert app.title[0].value == TITLE
    assert any("200 records" in c.value and "δ = 10⁻⁶" in c.value for c in app.caption)
    pages = [link.proto for link in app.container(key="why_next").get("page_link")]
    assert len(pages) == 5
    assert links.query(HARDEST).items() <= dict(parse_qsl(pages[0].query_string)).items()


def test_the_story_is_a_view_of_learn_to_which_explore_links() -> None:
    assert WHY not in MENU and [next(iter(views)) for views in VIEWS if WHY in views] == [LEARN]
    for name in ("learn", "explore"):
        app = open_at(name, reading="rates")  # The page compares rates, which need no runs.
        assert not app.exception
        assert any(link.proto.page.endswith(WHY) for link in app.main.get("page_link")), name


def test_the_links_of_the_last_steps_open_explore_at_the_same_settings() -> None:
    scenarios = [scenario for _, scenario, _ in TO_CURVES]
    step_data = scroll_data(STORY, dark=False, explore="./")["steps"]
    assert [len(step["leads"]) for step in step_data] == [0] * (len(STEPS) - 2) + [2, 1]
    for (label, address), scenario in zip(step_data[-2]["leads"], scenarios, strict=True):
        path, _, query = address.partition("?")
        assert path == "./" and f"p = {scenario.p:g}" in label
        fields = {k: v for k, v in parse_qsl(query) if k not in ("show", "measure")}
        assert Scenario.from_query(fields, links.BASE) == scenario
        assert (scenario.d, scenario.epsilon) == (WORST_D, EPSILON)
    assert step_data[-1]["leads"] == step_data[-2]["leads"][:1]
    # A standalone page has no Explore beside it, and a teacher may hide the links to other pages.
    assert not any(step["leads"] for step in scroll_data(STORY, dark=False)["steps"])


def test_every_step_fills_both_rows_of_the_picture() -> None:
    for step in STEPS:
        parts = set(step.state.parts)
        assert parts & {"records", "means"} and parts & {"far", "curve", "prices"}, step.title


def test_the_first_link_opens_data_on_which_no_private_price_falls_with_n() -> None:
    (label, opened, view), (_, milder, _) = TO_CURVES
    assert milder == replace(opened, p=LIGHT)
    opened.validate(DASHBOARD)
    assert opened == HARDEST and view.measure == "price" and "at every n" in label
    assert (opened.p, opened.d) == (SCENARIO.p, WORST_D)
    # A value outside the sweep would be missing in the first figure.
    assert opened.axis == "n" and opened.n in opened.grid
    floors = impossible(opened)
    prices = []
    for (_, point), floor in zip(opened.points(), floors, strict=True):
        law = point.instance.problem.distribution
        n, q = point.n, law.spike_probability
        counts = np.arange(200)
        # The mean error of the average is computed exactly.
        mean_distance = float(binom.pmf(counts, n, q) @ abs(counts / n - q))
        prices.append(floor.value / (law.record_norm * mean_distance))
    assert min(prices) > 2.6 and max(prices) < 1.02 * min(prices)


def test_every_step_shows_existing_parts_and_one_of_them_on_a_phone() -> None:
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
    assert 500 < words < 1200  # The text takes five minutes to read and try out.


def test_a_change_of_the_records_is_announced_and_agrees_with_the_heading() -> None:
    [number] = [i for i, step in enumerate(STEPS, start=1) if step.state.sample]
    assert f"(in step {number} p = {LIGHT:g})" in setting()
    assert "`Now p = ${sample.p}, still ${count(now.n)} records.`" in text("texts.js")
    # With 200 records noise dominates the error even at p = 10.
    assert "cheap" in STEPS[number - 1].title and "bars" not in STEPS[number - 1].state.parts


def test_no_step_refers_to_a_part_that_a_phone_does_not_show() -> None:
    assert re.search(r"@media \(max-width: 760px\)[^{]*{[^{]*\.told \.wide {", text("scroll.css"))
    for step in STEPS:
        phone_text = re.sub(r"<span class='wide'>.*?</span>", "", " ".join(step.text))
        assert step.state.main == "bars" or "the stack" not in phone_text.lower(), step.title
        assert step.state.main == "records" or "the circle" not in phone_text.lower(), step.title


def test_the_words_of_a_step_change_with_its_numbers() -> None:
    numbers = why()
    changed = replace(
        numbers, heavy=replace(numbers.heavy, plain=0.0123, floors=(4.56,), farthest=321.0)
    )
    all_text = " ".join(p for step in steps(changed) for p in step.text)
    assert "0.012" in all_text and "4.6 times" in all_text and "320 away" in all_text
    assert "0.012" not in " ".join(p for step in STEPS for p in step.text)
    assert [step.state.floor for step in STEPS] == [False] * (len(STEPS) - 1) + [True]


def test_the_figure_of_the_last_steps_draws_the_worst_case_of_the_text() -> None:
    numbers = why()
    prices = scroll_data(STORY, dark=False)["prices"]
    assert tuple(prices["sizes"]) == SIZES and f"d = {WORST_D} " in text("picture.html")
    for line, side in zip(prices["lines"], (numbers.heavy, numbers.light), strict=True):
        assert (line["p"], tuple(line["prices"])) == (side.p, side.guarantees)
        assert tuple(line["floors"]) == side.floors
        assert f"from {side.guarantees[0]:.1f} " in STEPS[-2].text[0]
    assert f"at least {short(min(numbers.heavy.floors))} times √(d/n)" in STEPS[-1].text[0]


@pytest.mark.parametrize("p", [SCENARIO.p, LIGHT])
def test_the_story_and_explore_give_the_same_factors_at_the_same_settings(p: float) -> None:
    story_side = why().heavy if p == SCENARIO.p else why().light
    # The window of Explore is about all data, whatever law it shows.
    windows = window(replace(HARDEST, distribution="student-t", p=p, grid=SIZES))
    assert [n for n, _ in windows] == list(SIZES)
    for (n, span), guarantee, floor in zip(
        windows, story_side.guarantees, story_side.floors, strict=True
    ):
        assert n is not None
        sampling = math.sqrt(WORST_D / n)
        assert span.high / sampling == pytest.approx(guarantee, rel=1e-9)
        assert span.low / sampling == pytest.approx(floor, rel=1e-9)


def test_a_factor_is_stated_with_its_reference() -> None:
    measured, guaranteed, floor = (" ".join(step.text) for step in STEPS[-3:])
    assert f"with {SCENARIO.n} records of {SCENARIO.d} numbers, at ε = {EPSILON:g}." in measured
    for text_of_step in (guaranteed, floor):
        assert f"{WORST_D} numbers per record" in text_of_step and "ε = 1" in text_of_step
    assert "A guarantee holds for all data at once" in guaranteed
    assert "Explore measures" in guaranteed


def test_the_last_steps_show_what_the_title_of_the_story_says() -> None:
    heavy, light, step = why().heavy, why().light, STEPS[-2]
    assert "more records make privacy cheap" in step.title and "in the worst case" in TITLE
    first_text, second_text = step.text
    assert (
        first_text.endswith("<b>privacy stays expensive</b>.")
        and "privacy stays expensive" in TITLE
    )
    # The light tail is cheaper at every n, and in the end costs almost nothing.
    assert all(a < b for a, b in zip(light.guarantees, heavy.guarantees, strict=True))
    assert light.guarantees[-1] < 1.05 and f"{light.guarantees[-1]:.2f} with" in first_text
    assert heavy.guarantees[-1] > 4 and f"to {heavy.guarantees[-1]:.1f}: " in first_text
    # The limit for the heavy tail is flat and above 2. The guarantee for the light tail begins
    # above it and ends below it.
    assert min(heavy.floors) > 2 and max(heavy.floors) < 1.01 * min(heavy.floors)
    assert light.guarantees[0] > heavy.floors[0] and light.guarantees[-1] < heavy.floors[-1]
    assert "the guarantee passes below it" in STEPS[-1].text[0]
    assert light.halving < 4 <= round(heavy.halving, 1)
    assert f"At p = 10, {light.halving:.1f} times the records" in second_text
    assert "At p = 2, halving either part takes 4 times the records" in second_text
    # A single law is easier than the worst case: its tail is lighter than p requires.
    index = SCENARIO.instance.problem.distribution.tail_index
    assert 1 < heavy.later < heavy.price and index > SCENARIO.p
    assert f"from {heavy.price:.1f} to {heavy.later:.1f}." in second_text


def test_the_exported_story_is_complete_and_contacts_no_host() -> None:
    page = scroll_page(TITLE, STORY)
    assert "http://" not in page and "https://" not in page and "import {" not in page
    assert page.count("export ") == 0 and "<!-- picture -->" not in page
    for step in scroll_data(STORY, dark=False)["steps"]:
        assert json.dumps(step["title"]) in page
