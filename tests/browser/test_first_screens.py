"""Pages of one question: the figure is on a laptop's first screen, and the page has an end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import leave, tab_of
from tests.browser.responsive import Ready, figure

LAPTOP = {"width": 1400, "height": 900}
LONGEST = 2400  # The limit is in pixels; the proofs end with a ladder of all forms of Fano's bound.
# Each address has the name of its first figure, or "" where the page is a text or a table.
PAGES = {
    "learn": "",
    "learn?lesson=heavy-tails": "learn",
    "learn?lesson=users": "learn",
    "learn?lesson=hand-in&answers=clipping:some": "",
    "geometry": "geometry",
    "geometry?part=width": "geometry",
    "geometry?part=noise": "geometry",
    "users?n=2000&d=2&trials=2": "users",
    "users?part=map&basis=rates": "users",
    "users?part=feasibility": "users",
    "methods": "methods",
    "methods?part=all": "",
    "methods?method=user.accelerated": "",
    "errata": "",
    "bounds": "bounds",
    "bounds?problem=quadratic": "",
    "check": "",
    "lower-bounds": "lower",
    "lower-bounds?part=prove": "",
    "lower-bounds?part=prove&hard=spike": "",
    "lower-bounds?part=prove&hard=tracing": "",
    "lower-bounds?part=prove&hard=data": "",
    "privacy": "privacy",
    "privacy?part=convert": "privacy",
    "privacy?part=subsample": "privacy",
    "privacy?part=audit": "privacy",
    "who-wins?reading=rates": "who_wins",
}


# Addresses in the quick suite: the first part of each page, and views that begin without a figure
# or are drawn during a run.
QUICK = ("learn", "geometry", "users?n=2000&d=2&trials=2", "methods", "errata", "bounds")
QUICK += ("lower-bounds", "lower-bounds?part=prove&hard=data", "privacy", "privacy?part=audit")
QUICK += ("learn?lesson=users", "methods?method=user.accelerated", "who-wins?reading=rates")
ALL_PAGES = [
    pytest.param(*case, id=case[0], marks=[] if case[0] in QUICK else pytest.mark.slow)
    for case in PAGES.items()
]
ANOTHER = """address => {
  // The browser's own: on the page, an address that is set after a step is not another step.
  History.prototype.pushState.call(history, {}, "", address)
  dispatchEvent(new PopStateEvent("popstate"))
}"""


@pytest.fixture(scope="module")
def stay(visitor: BrowserContext) -> Iterator[None]:
    """Leave the page of the session's visitor after the last test of the module."""
    yield
    leave(visitor)


@pytest.fixture
def page(visitor: BrowserContext, stay: None) -> Page:
    """Return the session's tab as the previous test has left it."""
    return tab_of(visitor)


def move_to(page: Page, dashboard: str, address: str) -> None:
    """Continue the visit at another address, as the Back button does.

    This takes a third of the time of opening the page anew.
    """
    answer = page.locator(".head h2").first
    if page.get_by_test_id("stApp").count() and answer.count():
        old_answer = answer.inner_text()
        page.evaluate(ANOTHER, f"/{address}")
        expect(answer).not_to_have_text(old_answer, timeout=60_000)
    else:
        page.goto(f"{dashboard}/{address}")


@pytest.mark.parametrize(("address", "name"), ALL_PAGES)
def test_a_page_has_its_figure_on_the_first_screen_and_is_not_too_long(
    page: Page, dashboard: str, ready: Ready, address: str, name: str
) -> None:
    page.set_viewport_size(LAPTOP)
    move_to(page, dashboard, address)
    ready(page, seconds=60)
    answer = page.locator(".head h2")
    expect(answer).not_to_be_empty(timeout=30_000)
    ready(page, seconds=60)
    long = page.get_by_test_id("stMain").evaluate("e => e.scrollHeight")
    assert long <= LONGEST
    box = answer.bounding_box()
    assert box is not None and box["y"] < 200
    if name:
        plot = figure(page, name)
        expect(plot).to_be_visible(timeout=30_000)
        box = plot.bounding_box()
        assert box is not None and box["y"] + box["height"] <= LAPTOP["height"]


@pytest.mark.parametrize(
    ("address", "name"),
    {
        "one-run?problem=huber&p=2&n=2000&trials=2": ".panels",
        "private-mean?p=2": ".below",
        "why": ".pinned",
    }.items(),
)
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_a_page_with_a_picture_has_it_on_the_first_screen_and_is_not_too_long(
    page: Page,
    dashboard: str,
    ready: Ready,
    address: str,
    name: str,
    scheme: Literal["light", "dark"],
) -> None:
    page.set_viewport_size(LAPTOP)
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{dashboard}/{address}")
    picture = page.locator(f"section.picture {name}, article {name}")
    expect(picture).to_be_visible(timeout=60_000)
    ready(page, seconds=60)
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollHeight") <= LONGEST
    box = picture.bounding_box()
    assert box is not None and box["y"] + box["height"] <= LAPTOP["height"]


# Records the fonts of all texts that are written on a canvas.
WRITTEN = """() => {
  const words = []
  const write = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
    words.push(this.font)
    return write.call(this, text, ...at)
  }
  window.dpscoWritten = words
}"""


def test_large_type_is_large_on_a_canvas_and_on_an_axis_and_numbers_stand_apart(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size(LAPTOP)
    page.add_init_script(f"({WRITTEN})()")
    sizes = {}
    for kind in ("normal", "large"):
        page.goto(f"{dashboard}/private-mean?p=2&n=200&type={kind}")
        bars = page.locator("svg.bars text")
        expect(bars.first).to_be_visible(timeout=60_000)
        ready(page, seconds=60)
        page.get_by_role("slider", name="Clip radius R").press("ArrowRight")
        page.wait_for_timeout(300)
        canvas = page.evaluate("parseFloat(window.dpscoWritten.at(-1))")
        axis = bars.first.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
        sizes[kind] = (canvas, axis)
        for svg in ("bars", "curve"):
            boxes = [text.bounding_box() for text in page.locator(f"svg.{svg} text").all()]
            visible_boxes = [box for box in boxes if box is not None]
            assert len(visible_boxes) == len(boxes) > 5
            for i, a in enumerate(visible_boxes):
                for b in visible_boxes[i + 1 :]:
                    overlap_x = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
                    overlap_y = min(a["y"] + a["height"], b["y"] + b["height"]) - max(
                        a["y"], b["y"]
                    )
                    assert min(overlap_x, overlap_y) < 4, (svg, kind, a, b)
    assert sizes["normal"] == (13, 13)
    assert sizes["large"] == (16.25, 16.25)
