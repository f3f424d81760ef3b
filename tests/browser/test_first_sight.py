"""What a visitor sees at once: few controls, few words, few names, and nothing over another."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_explore import (
    LABELS,
    Ready,
    expect_drawn,
    headline,
    overlapping,
    status,
)

LAPTOP = {"width": 1400, "height": 900}
PROJECTOR = {"width": 1920, "height": 1080}
PHONE = {"width": 390, "height": 844}
MOST_CONTROLS, MOST_AT_REST, MOST_WORDS, MOST_NAMES = 24, 20, 40, 5
# The script lists what can be pressed or moved on the first screen, without the menu of pages,
# which is the same everywhere.
CONTROLS = """() => [...document.querySelectorAll(
    "[data-testid=stSidebar], [data-testid=stMain]")].flatMap((part) => [...part.querySelectorAll(
    "button, a[href], input, summary, [role=slider], [role=combobox]")])
  .filter((e) => !e.closest("[data-testid=stTooltipIcon]") && !e.closest("[inert]"))
  .filter((e) => {
    const whole = e.type === "range" ? e.closest("[data-testid=stSlider]") : e
    const box = whole.getBoundingClientRect()
    const middle = [box.x + box.width / 2, box.y + box.height / 2]
    return box.width > 2 && middle[0] > 0 && middle[1] > 0 && middle[1] < innerHeight
  })
  .filter((e) => !e.querySelector("input") && !e.closest("[data-testid=stToolbar]"))
  .filter((e) => getComputedStyle(e).opacity !== "0" || e.type === "range")
  .map((e) => `${e.tagName} ${e.innerText || e.getAttribute("aria-label") || e.type}`)"""
WORDS = """() => [...document.querySelectorAll(".head h1:not(.heard), .head h2, .head p")]
  .map((e) => e.innerText).join(" ")"""
COMPACT_LABELS = LABELS.replace("figure_wide", "figure_compact")


def open_front(page: Page, dashboard: str, ready: Ready) -> None:
    """Open the front page, and wait until its first runs are drawn."""
    page.goto(dashboard)
    expect(headline(page)).to_contain_text("hardest data known", timeout=60_000)
    expect(status(page)).to_have_text(re.compile("Measured in 560 runs"), timeout=60_000)
    ready(page)


def test_the_first_sight_has_few_controls_few_words_and_few_names(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size(LAPTOP)
    open_front(page, dashboard, ready)
    expect_drawn(page)
    controls = page.evaluate(CONTROLS)
    assert 15 <= len(controls) <= MOST_AT_REST, controls
    words = [word for word in page.evaluate(WORDS).split() if re.search(r"\w", word)]
    assert 20 <= len(words) <= MOST_WORDS, words
    texts = page.locator(".st-key-figure_wide .annotation-text").all_text_contents()
    line_names = {text for text in texts if re.match("Proven|With|No private", text)}
    assert 4 <= len(line_names) <= MOST_NAMES, line_names
    for card in ("Textbook data", "A lighter tail", "Other algorithms", "The proof", "The sliders"):
        expect(page.get_by_role("button", name=card)).to_be_in_viewport(ratio=1)


def test_one_card_is_open_at_a_time_and_says_its_answer(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size(LAPTOP)
    open_front(page, dashboard, ready)
    light = page.get_by_role("button", name="A lighter tail")
    light.click()
    expect(light).to_contain_text("Your guess at")
    expect(light).to_be_focused()
    # The figure is not drawn before the visitor has guessed.
    expect(headline(page)).to_contain_text("hardest data known")
    expect(page.get_by_role("button", name="The proof")).to_have_count(0)
    choice = page.get_by_role("button", name="under ×")
    expect(choice).to_be_in_viewport(ratio=1)
    choice.press("Enter")
    expect(light).to_contain_text("You rightly guessed under ×")
    expect(headline(page)).to_contain_text("More records cure it at p = 10, not at p = 2.")
    page.get_by_role("button", name="Other algorithms").click()
    expect(page.get_by_role("button", name="Other algorithms")).to_contain_text("Yes:")
    expect(light).to_contain_text("What if records could not lie so far out?")
    page.wait_for_url(lambda url: "card=others" in url)
    page.get_by_role("button", name="Other algorithms").click()
    page.wait_for_url(lambda url: "card=" not in url)
    page.goto(f"{dashboard}?card=light")  # A link opens the answer.
    expect(headline(page)).to_contain_text("More records cure it at p = 10", timeout=60_000)
    expect(page.get_by_role("button", name="under ×")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [LAPTOP, PROJECTOR, PHONE], ids=["laptop", "projector", "phone"])
def test_axe_finds_no_accessibility_fault_and_no_texts_overlap(
    browser: Browser,
    dashboard: str,
    ready: Ready,
    scheme: Literal["light", "dark"],
    size: dict[str, int],
) -> None:
    with browser.new_context(
        color_scheme=scheme, viewport={"width": size["width"], "height": size["height"]}
    ) as context:
        page = context.new_page()
        is_phone = size["width"] < 760
        large = "" if size is not PROJECTOR else "/?type=large"
        page.goto(dashboard + large)
        expect(headline(page)).to_contain_text("hardest data known", timeout=60_000)
        ready(page)
        expect_drawn(page, "compact" if is_phone else "wide")
        labels = page.evaluate(COMPACT_LABELS if is_phone else LABELS)
        # On a phone all factors are one label.
        assert len(labels) >= (5 if is_phone else 6) and overlapping(labels) == []
        report = Axe().run(page)
        assert report.violations_count == 0, report.generate_report()
