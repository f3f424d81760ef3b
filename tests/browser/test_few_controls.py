"""Every page asks one question with few controls, and its headline stands close to what follows."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.responsive import Ready
from tests.browser.test_first_sight import CONTROLS, LAPTOP, MOST_CONTROLS

PAGES = (
    "who-wins?reading=rates",
    "methods",
    "privacy?part=convert",
    "privacy?part=subsample",
    "privacy?part=audit&runs=2000",
    "geometry?part=noise",
    "users?part=map&basis=rates",
    "users?part=feasibility",
    "bounds",
    "check",
    "lower-bounds",
)
# The script measures the gap from the lowest letter of the headline to what stands below it.
HOLE = """() => {
  const answer = document.querySelector(".head h2"), range = document.createRange()
  range.selectNodeContents(answer)
  return document.querySelector(".head p").getBoundingClientRect().top
    - range.getBoundingClientRect().bottom
}"""


@pytest.mark.parametrize(
    "address", [PAGES[0], *(pytest.param(a, marks=pytest.mark.slow) for a in PAGES[1:])]
)
def test_a_page_has_few_controls_and_no_gap_below_its_headline(
    page: Page, dashboard: str, ready: Ready, address: str
) -> None:
    page.set_viewport_size(LAPTOP)
    page.goto(f"{dashboard}/{address}")
    expect(page.locator(".head h2")).not_to_be_empty(timeout=60_000)
    ready(page, seconds=60)
    # The page has one question and one answer.
    assert len(page.locator(".head h1, .head h2").all()) == 2
    controls = page.evaluate(CONTROLS)
    assert len(controls) <= MOST_CONTROLS, controls
    assert page.evaluate(HOLE) < 20


MIDDLES = """e => [...e.querySelectorAll("a, button")].map((part) => {
  const box = part.getBoundingClientRect()
  return box.top + box.height / 2
})"""


@pytest.mark.slow
def test_the_link_of_a_lesson_is_level_with_the_text_beside_it(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size(LAPTOP)
    page.goto(f"{dashboard}/learn?lesson=heavy-tails")
    row = page.locator(".st-key-learn_elsewhere")
    expect(row.get_by_role("button", name="Link")).to_be_visible(timeout=60_000)
    ready(page, seconds=60)
    middles = row.evaluate(MIDDLES)
    assert len(middles) > 1 and max(middles) - min(middles) < 1, middles
