"""Who wins in Chromium: a deep link, a click into a map, the way to Explore, a phone, axe."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from dpsco_app.front.answer import QUESTION
from tests.browser.responsive import Ready, expect_no_axe_violation, expect_to_fit_a_phone, figure

PLAIN = "/who-wins?problem=mean&methods=mean.clipped,mean.cwme-cdp&p=2&trials=5"


@pytest.mark.slow
def test_a_deep_link_restores_the_map(page: Page, dashboard: str, ready: Ready) -> None:
    page.goto(dashboard + PLAIN + "&plane=d-epsilon&n=50000")
    ready(page, seconds=60)
    compare = page.get_by_role("button", name="Compare measured, over d and ε")
    compare.click()
    expect(page.get_by_role("radio", name="d and ε")).to_be_checked()
    page.keyboard.press("Escape")
    expect(figure(page, "who_wins")).to_contain_text("Dimension d", timeout=20_000)
    expect(figure(page, "who_wins")).to_be_visible()
    slider = page.get_by_role("slider", name="Records n")
    expect(slider).to_have_attribute("aria-valuetext", "50,000")


def click_map(page: Page) -> None:
    """Click into the map, a quarter of the way along it and in the middle of its height."""
    figure(page, "who_wins").scroll_into_view_if_needed()
    box = figure(page, "who_wins").locator(".nsewdrag").first.bounding_box()
    assert box is not None
    place = box["x"] + 0.25 * box["width"], box["y"] + 0.5 * box["height"]
    # Plotly reads the pointer's position every 50 ms.
    for x in (place[0] + 30, place[0]):
        page.mouse.move(x, place[1])
        page.wait_for_timeout(200)
    page.mouse.click(*place)


def test_a_click_into_a_map_moves_the_point_which_opens_in_explore(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + PLAIN)
    ready(page, seconds=60)
    expect(figure(page, "who_wins")).to_be_visible(timeout=20_000)
    chosen = page.get_by_role("heading", level=2).first
    expect(chosen).to_contain_text("n = 10,000, ε = 1", timeout=30_000)
    ready(page, seconds=60)
    click_map(page)
    expect(chosen).not_to_contain_text("n = 10,000, ε = 1", timeout=10_000)
    ready(page, seconds=60)
    n = int(re.findall(r"n\s=\s([\d,]+)", chosen.inner_text())[0].replace(",", ""))
    # The expected value lies a quarter of the way from 100 to 100,000 on a logarithmic axis.
    assert 200 < n < 2000
    page.wait_for_url(lambda url: f"n={n}" in url, timeout=10_000)
    slider = page.get_by_role("slider", name="Records n")
    slider.press("End")
    expect(chosen).not_to_contain_text(f"n = {n:,}", timeout=10_000)
    ready(page, seconds=60)
    # A second click on the same place chooses the same point again.
    click_map(page)
    expect(chosen).to_contain_text(f"n = {n:,}", timeout=10_000)
    ready(page, seconds=60)
    page.get_by_role("link", name="Open this point in Explore").click()
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible(timeout=20_000)
    ready(page, seconds=60)
    page.wait_for_url(lambda url: f"n={n}" in url and "who-wins" not in url, timeout=10_000)
    expect(page.locator(".status")).to_contain_text("Measured in ", timeout=30_000)


@pytest.mark.slow
def test_on_a_phone_the_map_fits(page: Page, dashboard: str, ready: Ready) -> None:
    expect_to_fit_a_phone(page, dashboard + PLAIN, ready, ("who_wins",))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_accessibility_fault(
    browser: Browser, dashboard: str, ready: Ready, scheme: str
) -> None:
    expect_no_axe_violation(
        browser, dashboard + PLAIN, ready, scheme, figure_name="who_wins", expander="Numbers behind"
    )
