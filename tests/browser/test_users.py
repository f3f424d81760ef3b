"""Users in Chromium: a deep link, controls that move figures, a phone, axe, no other host."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.responsive import Ready, expect_no_axe_violation, expect_to_fit_a_phone, figure

QUICK = "/users?n=2000&d=2&trials=2"
FIGURES = ("users",)


# The quick tests cover the link in tests/app, and the figures in tests/browser/test_every_page.py.
@pytest.mark.slow
def test_a_deep_link_restores_the_page_and_a_key_moves_the_budget(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + QUICK + "&epsilon=2&m=1000")
    ready(page, seconds=60)
    for name in FIGURES:
        expect(figure(page, name)).to_be_visible(timeout=30_000)
        expect(figure(page, name, "compact")).to_be_hidden()
    slider = page.get_by_role("slider", name="Privacy budget")
    expect(slider).to_have_attribute("aria-valuetext", "2")
    expect(page.get_by_text("dpsco run --problem")).to_have_count(0)
    slider.press("ArrowRight")
    page.wait_for_url(lambda url: "epsilon=5" in url, timeout=20_000)
    ready(page, seconds=60)
    page.get_by_role("radio", name="How many users").click()
    answer = page.get_by_role("heading", level=2).first
    expect(answer).to_contain_text("At ε = 5", timeout=30_000)


@pytest.mark.slow  # The quick suite covers a click into the map of the page Who wins.
def test_a_click_into_the_map_moves_the_chosen_point(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + QUICK + "&part=map&basis=rates")
    ready(page, seconds=60)
    chart = figure(page, "users")
    expect(chart).to_be_visible(timeout=30_000)
    chart.scroll_into_view_if_needed()
    box = chart.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.97 * box["width"], box["y"] + 0.5 * box["height"])
    page.wait_for_url(lambda url: "m=1000000" in url, timeout=20_000)
    ready(page, seconds=60)


@pytest.mark.slow
def test_the_numbers_of_the_crossover_can_be_downloaded(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + QUICK)
    ready(page, seconds=60)
    files = page.locator(".st-key-users_fold_numbers")
    files.locator("summary").click()
    with page.expect_download() as download:
        files.get_by_role("button", name="CSV", exact=True).click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0].startswith("Method,m,Mean excess risk") and len(lines) > 10


@pytest.mark.slow
def test_a_phone_shows_the_figures_for_phones(page: Page, dashboard: str, ready: Ready) -> None:
    expect_to_fit_a_phone(page, dashboard + QUICK, ready, FIGURES)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_accessibility_fault(
    browser: Browser, dashboard: str, ready: Ready, scheme: str
) -> None:
    expect_no_axe_violation(
        browser,
        dashboard + QUICK,
        ready,
        scheme,
        figure_name="users",
        expander="What the symbols mean",
    )
