"""Lower bounds in Chromium: a scene, a slider, a phone, axe in both themes."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.responsive import Ready, expect_no_axe_violation, expect_to_fit_a_phone, figure

QUICK = "/lower-bounds?trials=5"
VIEWS = {
    QUICK: ("lower",),
    QUICK + "&part=prove": ("lower",),
    QUICK + "&part=prove&hard=tracing": ("lower",),
}


def test_a_scene_changes_the_address_and_a_slider_changes_the_proof(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + QUICK)
    ready(page, seconds=60)
    box = figure(page, "lower").bounding_box()
    viewport = page.viewport_size
    assert box and viewport and box["y"] + box["height"] <= viewport["height"]
    page.get_by_text("The proof", exact=True).click()
    sentence_place = page.locator(".st-key-lower_said")
    expect(sentence_place).to_contain_text("Privacy bites", timeout=30_000)
    page.get_by_role("button", name="Statistics bites").click()
    page.wait_for_url(lambda url: "rho=2" in url, timeout=20_000)
    expect(sentence_place).to_contain_text("Statistics bites")
    ready(page, seconds=60)
    slider = page.get_by_role("slider", name="Spike probability of the proof")
    slider.press("ArrowRight")
    page.wait_for_url(lambda url: "shift=1.4" in url, timeout=20_000)


@pytest.mark.slow
@pytest.mark.parametrize("query", list(VIEWS))
def test_a_phone_shows_the_figures_for_phones(
    page: Page, dashboard: str, ready: Ready, query: str
) -> None:
    expect_to_fit_a_phone(page, dashboard + query, ready, VIEWS[query])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "query", "figure_name"),
    [
        ("light", QUICK + "&part=prove", "lower"),
        ("light", QUICK + "&part=prove&hard=tracing", "lower"),
        ("dark", QUICK + "&part=prove&hard=spike", "lower"),
        ("dark", QUICK + "&part=prove&hard=tracing", "lower"),
    ],
)
def test_axe_finds_no_accessibility_fault(
    browser: Browser, dashboard: str, ready: Ready, scheme: str, query: str, figure_name: str
) -> None:
    expect_no_axe_violation(
        browser,
        dashboard + query,
        ready,
        scheme,
        figure_name=figure_name,
        expander="What the symbols mean",
    )
