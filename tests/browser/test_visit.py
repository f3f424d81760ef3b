"""The navigation, in Chromium; and one scenario a visit: set on Explore, shown everywhere."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from dpsco_app.shell.places import APART, MENU, PLACES, VIEWS
from tests.browser.responsive import Ready

START = "/?problem=quadratic&methods=sco.clipped&n=2000&d=3&trials=5&grid=500,1000"
# Places with the scenario's controls beside their figure; a picture has its own.
SHOWING = {"bounds", "lower-bounds", "privacy", *VIEWS[0]} - {"private-mean"}


def slider(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stSidebar").get_by_role("slider", name=name)


def expect_scenario(page: Page, ready: Ready, d: int) -> None:
    ready(page, seconds=60)
    expect(slider(page, "Records n")).to_have_attribute("aria-valuetext", "2,000")
    expect(slider(page, "Dimension d")).to_have_attribute("aria-valuetext", str(d))


def test_the_navigation_leads_to_every_page_with_the_scenario_of_explore_and_back(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto(dashboard + START)
    expect_scenario(page, ready, 3)
    heading = page.get_by_role("heading", level=1)
    menu = page.get_by_role("navigation", name="App pages")
    titles = {heading.inner_text()}
    views = [slug for view in VIEWS for slug in (next(iter(view)), *view) if slug != "explore"]
    # The present page's own link does nothing.
    for slug in (*views, *(s for s in MENU if s not in (*views, "explore"))):
        before, strip = heading.inner_text(), page.locator(".st-key-views")
        links = menu if slug in MENU else strip
        if page.url.split("?")[0].endswith(slug):
            continue
        links.get_by_role("link", name=PLACES[slug], exact=True).click()
        page.wait_for_url(re.compile(rf"/{slug}(\?.*)?$"), timeout=20_000)
        expect(heading).to_have_count(1, timeout=20_000)
        expect(heading).not_to_have_text(before, timeout=20_000)
        titles.add(heading.inner_text())
        if slug in SHOWING:
            expect_scenario(page, ready, 3)
            page.wait_for_url(lambda url: "n=2000&" in url and "&d=3&" in url, timeout=20_000)
    assert len(titles) == len(PLACES) - len(APART)
    slider(page, "Dimension d").press("ArrowRight")
    page.wait_for_url(lambda url: "&d=5&" in url, timeout=20_000)
    menu.get_by_role("link", name="Explore", exact=True).click()
    expect(heading).to_contain_text("DP-SCO", timeout=20_000)
    expect_scenario(page, ready, 5)


def test_a_page_that_needs_another_value_says_so_and_leads_back(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + START)
    ready(page, seconds=60)
    page.get_by_test_id("stTopNav").get_by_role("link", name="Lower bounds", exact=True).click()
    note = page.locator(".st-key-lower_apart")
    expect(note).to_contain_text(re.compile(r"Mean estimation \(yours: .+\)"), timeout=20_000)
    page.get_by_role("radio", name="Build", exact=True).click()
    page.get_by_role("button", name="Statistics bites").click()
    ready(page, seconds=60)
    expect(note).to_contain_text("d = 200 (yours: 3)")
    page.get_by_role("button", name="Back to mine").click()
    expect_scenario(page, ready, 3)
    page.get_by_role("button", name="Use it everywhere").click()
    expect(note).to_have_count(0)
