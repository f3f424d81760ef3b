"""Methods in Chromium: a deep link, turning pages, a link that runs, a phone, axe."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from dpsco_core.catalogue import METHOD_SLUGS, method_class, methods_for
from tests.browser.responsive import Ready, expect_no_axe_violation, expect_to_fit_a_phone

OVERVIEW = "/methods?problem=mean&p=4&delta=0"
RACE = "methods"


def test_a_method_is_described_and_another_can_be_chosen_and_opened_in_explore(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + "/methods?method=sco.cwme-strong")
    ready(page)
    title = page.get_by_role("heading", level=1)
    expect(title).to_have_text("Coordinate-wise, strongly convex: how does it work?")
    expect(page.locator(".katex").first).to_be_visible()
    expect(page.locator(".katex-error")).to_have_count(0)
    page.get_by_role("combobox", name="Method").fill("Clipped gradients (")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "method=sco.clipped" in url, timeout=20_000)
    expect(title).to_have_text("Clipped gradients: how does it work?")
    ready(page)
    page.get_by_role("link", name="See it in Explore").click()
    page.wait_for_url(lambda url: "problem=quadratic" in url, timeout=20_000)
    headline = page.get_by_text("Best of the private algorithms chosen: clipped gradients")
    expect(headline).to_be_visible(timeout=60_000)


@pytest.mark.slow  # The guide is covered by tests/app, and the phone by test_every_page.py.
def test_a_phone_shows_the_figure_for_phones(page: Page, dashboard: str, ready: Ready) -> None:
    expect_to_fit_a_phone(page, dashboard + OVERVIEW, ready, (RACE,))
    answer = page.get_by_role("heading", level=2).first
    expect(answer).to_contain_text("Start with", timeout=20_000)
    page.get_by_role("radio", name="Every method").click()
    private = [
        slug for slug in methods_for("mean", "item") if method_class(slug).card.privacy != "none"
    ]
    words = f"of the {len(private)} private methods for this problem can run here"
    expect(answer).to_contain_text(words, timeout=20_000)
    page.goto(dashboard + "/methods?method=mean.iterative")
    ready(page)
    main = "document.querySelector('[data-testid=stMain]')"
    assert page.evaluate(f"{main}.scrollWidth - {main}.clientWidth") <= 0


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_accessibility_fault(
    browser: Browser, dashboard: str, ready: Ready, scheme: str
) -> None:
    expect_no_axe_violation(
        browser,
        dashboard + OVERVIEW,
        ready,
        scheme,
        figure_name=RACE,
        expander="Numbers behind this figure",
    )
    size = {"width": 1280, "height": 900}
    with browser.new_context(color_scheme=scheme, viewport=size) as context:
        page = context.new_page()
        page.goto(dashboard + "/methods?method=mean.cwme-cdp")
        ready(page)
        for summary in page.locator("summary").all():
            summary.click()
        page.wait_for_timeout(500)  # The expanders' transition has to end first.
        ready(page)  # Streamlit shows elements of an earlier run pale for a moment.
        report = Axe().run(page)
        assert report.violations_count == 0, report.generate_report()


@pytest.mark.slow
def test_no_formula_of_any_method_is_broken(page: Page, dashboard: str, ready: Ready) -> None:
    for slug in METHOD_SLUGS:
        page.goto(f"{dashboard}/methods?method={slug}")
        ready(page)
        expect(page.locator(".katex").first).to_be_visible(timeout=20_000)
        expect(page.locator(".katex-error")).to_have_count(0)
