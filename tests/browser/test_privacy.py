"""Privacy in Chromium: a class catches a broken mechanism; a phone; axe, no other host."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.responsive import Ready, expect_no_axe_violation, expect_to_fit_a_phone, figure


# The scenes, the faults and the link are covered by tests/app/places/test_privacy.py.
@pytest.mark.slow
def test_a_class_breaks_a_mechanism_and_sees_it_caught(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + "/privacy")
    ready(page)
    expect(figure(page, "privacy")).to_be_visible(timeout=20_000)
    page.get_by_role("radio", name="The audit").click()
    page.wait_for_url(lambda url: "part=audit" in url, timeout=20_000)
    headline_place = page.locator(".head")
    expect(headline_place).to_contain_text("is not refuted", timeout=20_000)
    page.get_by_role("radio", name="Half the noise").click()
    page.wait_for_url(lambda url: "fault=half-noise" in url, timeout=20_000)
    expect(headline_place).to_contain_text("Caught after", timeout=20_000)
    expect(figure(page, "privacy_samples")).to_be_visible()
    page.get_by_role("slider", name="Claimed ε").press("ArrowRight")
    page.wait_for_url(lambda url: "claim=2" in url, timeout=20_000)
    expect(headline_place).to_contain_text("not 2", timeout=20_000)


@pytest.mark.slow
def test_a_phone_shows_the_figures_for_phones(page: Page, dashboard: str, ready: Ready) -> None:
    address = dashboard + "/privacy?part=audit&fault=half-noise"
    expect_to_fit_a_phone(page, address, ready, ("privacy", "privacy_samples"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "query", "figure_name"),
    [("light", "part=audit", "privacy_samples"), ("dark", "part=ledger", "privacy")],
)
def test_axe_finds_no_accessibility_fault(
    browser: Browser, dashboard: str, ready: Ready, scheme: str, query: str, figure_name: str
) -> None:
    expect_no_axe_violation(
        browser,
        f"{dashboard}/privacy?{query}",
        ready,
        scheme,
        figure_name=figure_name,
        expander="What the symbols mean",
    )
