"""Bounds in Chromium: a key that moves the table, an experiment, a phone, axe, no other host."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.responsive import Ready, expect_no_axe_violation, expect_to_fit_a_phone, figure

TABLES = "/bounds?problem=mean&p=3&table=kamath"
ERRATA = "/errata?erratum=lowy.kept-points"


# The test in test_who_wins.py clicks a mark too, and tests/app covers the address and the row.
@pytest.mark.slow
def test_a_key_moves_every_bound_and_a_mark_opens_its_row(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + TABLES)
    ready(page)
    assert page.get_by_text("In the address:").count() == 0
    chart = figure(page, "bounds")
    expect(chart).to_be_visible(timeout=20_000)
    headline_place = page.locator(".head h2")
    old_text = headline_place.inner_text()
    page.get_by_role("slider", name="Privacy budget").press("ArrowRight")
    page.wait_for_url(lambda url: "epsilon=2" in url, timeout=20_000)
    ready(page)
    expect(headline_place).not_to_have_text(old_text)
    chart.scroll_into_view_if_needed()
    mark = chart.locator(".scatterlayer .trace .points path").last.bounding_box()
    assert mark is not None
    page.mouse.click(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    page.wait_for_url(lambda url: "bound=lower.mean." in url, timeout=20_000)
    ready(page)
    page.get_by_role("link", name="Open in Explore").click()
    page.wait_for_url(lambda url: "/bounds" not in url, timeout=20_000)


@pytest.mark.slow
def test_a_phone_shows_the_figure_for_phones(page: Page, dashboard: str, ready: Ready) -> None:
    expect_to_fit_a_phone(page, dashboard + TABLES, ready, ("bounds",))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_accessibility_fault(
    browser: Browser, dashboard: str, ready: Ready, scheme: str
) -> None:
    expect_no_axe_violation(
        browser,
        dashboard + TABLES,
        ready,
        scheme,
        figure_name="bounds",
        expander="Its conditions",
    )
    with browser.new_context(color_scheme=scheme) as context:
        page = context.new_page()
        page.goto(dashboard + ERRATA)
        ready(page)
        expect(page.locator(".st-key-errata_found")).to_contain_text("0.4 K points", timeout=20_000)
        report = Axe().run(page)
        assert report.violations_count == 0, report.generate_report()
