"""The lessons in Chromium, from a plain file server: predicted, run by the engine, judged."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from dpsco_app.lessons.lessons import BY_SLUG, SLUGS, Lesson
from dpsco_app.lessons.measure import measure, work
from dpsco_app.lessons.verdict import judge
from dpsco_app.lessons.words import WORDS
from dpsco_app.static_page.lessons import KeptResults
from tests.site.conftest import TAUGHT, axe, state, tab_of
from tests.site.test_views import screens

OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
# This selects the grip of the prediction, once Plotly has drawn and the layer lies over the figure.
GRIP = "svg.prediction .grip"


def said_natively(lesson: Lesson, answer: int) -> str:
    """Return the verdict on an answer to a lesson, from runs in this process."""
    results = KeptResults()
    for item in work(lesson):
        results.run(item)
    finding = lesson.find(measure(lesson, results))
    return judge(lesson, lesson.answers[answer], finding).sentence.replace("**", "")


def at_step(page: Page, slug: str) -> None:
    """Wait until the step of a lesson is drawn."""
    page.wait_for_function(
        "slug => new URLSearchParams(document.body.dataset.address).get('lesson') === slug"
        " && document.body.dataset.drawn === 'done'",
        arg=slug,
        timeout=90_000,
    )


def test_a_predicted_number_is_compared_with_the_engines_measurement(tab: Page, live: str) -> None:
    lesson = BY_SLUG["heavy-tails"]
    tab.goto(f"{live}/#lessons")
    expect(tab.locator("#lesson-figure .main-svg").first).to_be_visible()
    state(tab, "live")
    expect(tab.get_by_role("button", name="Run and see")).to_be_disabled()
    box = tab.locator(GRIP).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x, y + 40, steps=4)
    tab.mouse.up()
    place = tab.locator("#handle input")
    answer = int(place.input_value())
    # The grip began in the middle, and was moved down.
    assert 0 <= answer < len(lesson.numbers) // 2
    tab.get_by_role("button", name="Run and see").click()
    expect(tab.locator("#verdict")).to_contain_text(said_natively(lesson, answer))
    expect(tab.locator("svg.prediction")).to_contain_text("measured: ")
    expect(tab.locator("#lesson-head h1")).to_have_text("1. What is a heavy tail?")
    assert f"answers=heavy-tails:{lesson.numbers[answer]:g}" in tab.url
    expect(tab.locator("#score")).to_contain_text("1 of 15")
    axe(tab)


def test_the_next_lesson_can_be_run_and_handed_in_and_a_link_restores_it(
    tab: Page, live: str
) -> None:
    lesson = BY_SLUG["clipping"]
    if not tab.url.startswith(live):
        tab.goto(f"{live}/#lessons")
    state(tab, "live")
    tab.locator("#lesson-step").select_option("clipping")
    at_step(tab, "clipping")
    expect(tab.get_by_text("Predict first.")).to_be_visible()
    tab.get_by_label(lesson.choices["most"]).check()
    tab.get_by_role("button", name="Run and see").click()
    expect(tab.locator("#verdict")).to_contain_text(said_natively(lesson, 2))
    expect(tab.locator("#reason")).to_contain_text("Why. A small radius distorts")
    tab.locator("#reason").get_by_role("button", name="Next lesson: 5. Choosing").click()
    at_step(tab, "look")
    tab.get_by_role("button", name="Back").click()
    at_step(tab, "clipping")
    expect(tab.locator("#verdict")).to_contain_text("You chose Most of them")
    assert tab.get_by_label(lesson.choices["most"]).is_checked()
    tab.locator("#lesson-step").select_option("hand-in")
    expect(tab.locator("#report tbody tr").last).to_contain_text("4. Clipping")
    tab.locator("#lesson-sentence").fill("Noise hides one record")
    tab.locator("#lesson-sentence").blur()
    expect(tab.locator("#report")).to_contain_text("In one sentence: Noise hides one record")
    axe(tab)
    rows = tab.locator("#report table").inner_text()
    tab.goto(tab.url.replace(live, f"{live}/index.html").replace("/index.html/", "/index.html"))
    state(tab, "live")
    expect(tab.locator("#report tbody tr").last).to_contain_text("4. Clipping", timeout=60_000)
    assert tab.locator("#report table").inner_text() == rows


def test_the_settings_of_a_lesson_open_among_the_curves_and_its_answers_stay(
    tab: Page, live: str
) -> None:
    if not tab.url.startswith(live):
        tab.goto(f"{live}/#lessons")
    state(tab, "live")
    tab.locator("#lesson-step").select_option("noise")
    at_step(tab, "noise")
    tab.get_by_role("link", name="Open in Curves").click()
    tab.wait_for_function("document.body.dataset.address.includes('p=4')")
    expect(tab.locator("#figure .annotation").first).to_be_visible()
    assert tab.url.endswith("#curves") and "lesson" not in tab.url
    expect(tab.locator("#learn")).to_be_hidden()
    tab.get_by_role("link", name="Lessons").click()
    at_step(tab, "noise")
    expect(tab.locator("#figure")).to_be_hidden()
    assert "p=4" in tab.url  # The link takes the settings with it.


@pytest.mark.parametrize(("width", "scheme"), screens((390, "dark")))
def test_a_prepared_lesson_asks_its_question_without_the_engine(
    browser: Browser, live: str, width: int, scheme: Any
) -> None:
    with tab_of(browser, live, width, scheme) as page:
        page.add_init_script("delete window.WebAssembly")
        page.goto(f"{live}/?lesson={SLUGS.index('clipping') + 1}#lessons")
        state(page, "none")
        for slug in TAUGHT:
            page.locator("#lesson-step").select_option(slug)
            expect(page.locator("#lesson-head h2")).to_have_text(WORDS[slug].preview_title)
            expect(page.locator("#lesson-figure .annotation").first).to_be_visible()
            expect(page.get_by_text(WORDS[slug].question)).to_be_visible()
            expect(page.get_by_role("button", name="Run and see")).to_be_disabled()
            assert page.evaluate(OVERFLOW) <= 0
            axe(page)
        expect(page.locator("#status")).to_contain_text("cannot run the engine")
