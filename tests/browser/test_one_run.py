"""One run in Chromium: a deep link, the slider, a phone, axe, and no other host."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.responsive import (
    Ready,
    expect_no_axe_violation,
    expect_to_fit_a_phone,
    figure,
)

SMALL = "/anatomy?problem=quadratic&n=500&d=3&trials=1"


def sentence(page: Page) -> Locator:
    return page.locator(".st-key-one_run_sentence")


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Clip radius R")


@pytest.mark.slow
def test_a_deep_link_restores_the_page_and_the_slider_moves_lines_and_sentence(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + SMALL + "&radius=0.5&seed=3&distribution=pareto")
    ready(page)
    expect(page.get_by_role("combobox", name="Distribution")).to_have_value("Pareto (symmetric)")
    expect(page.get_by_role("spinbutton", name="Seed")).to_have_value("3")
    for name in ("path", "norms", "parts"):
        expect(figure(page, name)).to_be_visible(timeout=20_000)
        expect(figure(page, name, "compact")).to_be_hidden()
    before = sentence(page).inner_text()
    radius = re.findall(r"At radius ([\d.]+)", before)[0]
    expect(figure(page, "norms")).to_contain_text(f"radius {radius}")
    slider(page).press("ArrowRight")
    expect(sentence(page)).not_to_have_text(before)
    ready(page)
    moved = re.findall(r"At radius ([\d.]+)", sentence(page).inner_text())[0]
    assert float(moved) > float(radius)
    for name in ("norms", "parts"):
        expect(figure(page, name)).to_contain_text(f"radius {moved}")
    page.wait_for_url(lambda url: "radius=0.7071" in url, timeout=10_000)


def test_a_visit_to_explore_and_back_keeps_both_pages_as_they_were(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + SMALL + "&seed=3")
    ready(page)
    page.get_by_role("link", name="Explore").first.click()
    expect(page.get_by_role("heading", name="DP-SCO Explorer")).to_be_visible(timeout=20_000)
    page.get_by_role("link", name="One run").first.click()  # before Explore is whole
    expect(page.get_by_role("heading", name="One run")).to_be_visible(timeout=20_000)
    ready(page)
    expect(page.get_by_role("spinbutton", name="Seed")).to_have_value("3", timeout=20_000)
    page.wait_for_url(lambda url: "seed=3" in url and "n=500" in url, timeout=20_000)


@pytest.mark.slow  # the test above is quick too; tests/app/shell/test_stopped.py has the cases
def test_quick_clicks_from_page_to_page_lose_nothing(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + SMALL + "&seed=3")
    one_run, explore = (
        page.get_by_role("link", name=name).first for name in ("One run", "Explore")
    )
    for pause in (0, 100, 400):
        ready(page)
        for link in (explore, one_run, explore, one_run, one_run):
            link.click()
            page.wait_for_timeout(pause)
        page.wait_for_url(lambda url: "seed=3" in url and "n=500" in url, timeout=20_000)
        expect(page.get_by_role("heading", name="One run")).to_be_visible(timeout=20_000)
        expect(page.get_by_role("spinbutton", name="Seed")).to_have_value("3", timeout=20_000)


@pytest.mark.slow
def test_on_a_phone_the_page_fits(page: Page, dashboard: str, ready: Ready) -> None:
    expect_to_fit_a_phone(page, dashboard + SMALL, ready, ("path", "norms", "parts"))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, dashboard: str, ready: Ready, scheme: str) -> None:
    expect_no_axe_violation(
        browser, dashboard + SMALL, ready, scheme, last="parts", expander="How to read"
    )
