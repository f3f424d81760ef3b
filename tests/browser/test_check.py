"""Check a claim, in Chromium: it is checked and saved, and a click ends a long check."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import DEFAULT_OPTIONS, Axe
from playwright.sync_api import Page, expect

from tests.browser.responsive import PHONE, Ready
from tests.browser.test_first_sight import CONTROLS, LAPTOP, MOST_CONTROLS

ADDRESS = "/check?claim=d/n&n=1000&d=5&method=mean.clipped"
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_a_claim_is_checked_and_its_report_is_saved(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size(LAPTOP)
    page.goto(dashboard + ADDRESS)
    page.get_by_role("button", name="Check", exact=True).click(timeout=30_000)
    expect(page.get_by_role("button", name="Check again")).to_be_visible(timeout=90_000)
    ready(page, seconds=60)
    answer = "Refuted without a run: it is below a proven lower bound"
    expect(page.locator(".head h2")).to_have_text(answer)
    controls = page.evaluate(CONTROLS)
    assert len(controls) <= MOST_CONTROLS, controls
    with page.expect_download() as saved:
        page.get_by_role("button", name="PDF").click()
    assert saved.value.path().read_bytes().startswith(b"%PDF")
    page.set_viewport_size(PHONE)
    ready(page, seconds=60)
    assert page.evaluate(SIDEWAYS) <= 0
    report = Axe().run(page, options=DEFAULT_OPTIONS)
    assert report.violations_count == 0, report.generate_report()


def test_a_click_on_stop_ends_a_check(page: Page, dashboard: str, ready: Ready) -> None:
    page.goto(dashboard + ADDRESS.replace("d/n", "20*sqrt(d)") + "&seconds=60")
    ready(page, seconds=60)
    page.get_by_role("button", name="Check", exact=True).click(timeout=30_000)
    page.get_by_role("button", name="Stop").click(timeout=30_000)
    expect(page.get_by_role("button", name="Check", exact=True)).to_be_enabled(timeout=20_000)
    expect(page.get_by_role("progressbar")).to_have_count(0)
