"""Pages of one question: the figure is on a laptop's first screen, and the page has an end."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.responsive import Ready, figure

LAPTOP = {"width": 1400, "height": 900}
LONGEST = 2200
# Address -> its first figure; none where the page is a text or a table.
PAGES = {
    "learn": "",
    "learn?lesson=heavy-tails": "learn",
    "learn?lesson=users": "learn",
    "learn?lesson=hand-in&answers=clipping:some": "",
    "geometry": "set",
    "geometry?part=width": "growth",
    "geometry?part=noise": "sweep",
    "users?n=2000&d=2&trials=2": "users_crossing",
    "users?part=map&basis=rates": "users_map",
    "users?part=feasibility": "users_feasibility",
    "users?part=gradients": "users_gradients",
    "methods": "methods_race",
    "methods?part=all": "",
    "methods?method=user.accelerated": "",
    "errata": "",
    "who-wins?reading=rates": "winners",
}


@pytest.mark.parametrize(("address", "name"), PAGES.items(), ids=list(PAGES))
def test_a_page_has_its_figure_on_the_first_screen_and_ends(
    page: Page, dashboard: str, ready: Ready, address: str, name: str
) -> None:
    page.set_viewport_size(LAPTOP)
    page.goto(f"{dashboard}/{address}")
    ready(page, seconds=60)
    answer = page.locator(".head h2")
    expect(answer).not_to_be_empty(timeout=30_000)
    ready(page, seconds=60)
    long = page.get_by_test_id("stMain").evaluate("e => e.scrollHeight")
    assert long <= LONGEST
    box = answer.bounding_box()
    assert box is not None and box["y"] < 200
    if name:
        drawn = figure(page, name)
        expect(drawn).to_be_visible(timeout=30_000)
        box = drawn.bounding_box()
        assert box is not None and box["y"] + box["height"] <= LAPTOP["height"]
