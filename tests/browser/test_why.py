"""The page that scrolls: the picture follows the text, by wheel, by key and by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from dpsco_app.front.story import TITLE, short, story
from dpsco_app.parts.touch.scroll import scroll_page
from dpsco_core.explain.why import why
from tests.browser.responsive import PHONE, Ready

STORY = story(why())
STEPS = STORY.steps
ROWS = (".planes", ".controls", ".summary", ".below")
HEIGHT = "document.querySelector('[data-testid=stMain]').scrollHeight"


def expect_step(page: Page | Locator, number: int) -> None:
    """Check which step is marked, and what the picture shows at it."""
    step = STEPS[number - 1]
    marker = page.locator("nav [aria-current=step]")
    expect(marker).to_have_text(str(number))
    expect(page.locator("section.here h2")).to_have_text(step.title)
    for part in (
        "records",
        "means",
        "far",
        "bars",
        "curve",
        "prices",
        "radius",
        "distance",
        "change",
    ):
        part_place = page.locator(f"[data-part={part}]")
        expect(part_place).to_be_visible(visible=part in step.state.parts)
    if step.state.radius is not None:
        expect(page.locator("label [data-value=radius]")).to_have_text(
            short(step.state.radius), timeout=10_000
        )


# The script returns what is drawn of the picture at a step, and the heading beside it, as boxes in
# pixels.
BOXES = """(root) => {
  const box = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect()
    return [x, y, width, height].map(Math.round)
  }
  const one = (query) => box(root.querySelector(query))
  const figures = [...root.querySelectorAll(".planes figure, .below figure")]
  const seen = figures.filter((figure) => figure.getClientRects().length)
  return {
    pinned: one(".pinned"), controls: one(".controls"), summary: one(".summary"),
    heading: one("section.here h2"), said: root.querySelector(".summary").scrollHeight,
    upper: seen.filter((figure) => figure.closest(".planes")).map(box),
    lower: seen.filter((figure) => figure.closest(".below")).map(box),
  }
}"""


@pytest.mark.parametrize("size", [(1400, 900), (1280, 720), (390, 844)], ids=str)
def test_the_picture_fills_one_box_from_the_first_step_to_the_last(
    page: Page, dashboard: str, ready: Ready, size: tuple[int, int]
) -> None:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{dashboard}/why")
    ready(page, seconds=60)
    # On a phone the page scrolls to the step first.
    page.get_by_role("button", name="Step 2:").click()
    boxes = []
    for number in range(1, len(STEPS) + 1):
        page.get_by_role("button", name=f"Step {number}:").click()
        expect(page.locator("nav [aria-current=step]")).to_have_text(str(number))
        page.wait_for_timeout(300)  # The text has to stand still first.
        boxes.append(page.locator("article.scroll").evaluate(BOXES))
    for number, measured in enumerate(boxes, start=1):
        top, bottom = measured["pinned"][1], measured["pinned"][1] + measured["pinned"][3]
        assert bottom <= height and measured["said"] <= measured["summary"][3] + 1, (
            number,
            measured,
        )
        for name in ("pinned", "controls", "summary"):
            # The first step of a phone is not scrolled to: the page begins there.
            compared = slice(2, 4) if width < 760 else slice(0, 4)
            assert measured[name][compared] == pytest.approx(boxes[1][name][compared], abs=2), (
                number,
                name,
            )
        if width < 760:  # A phone shows one figure, and the text below it.
            [figure] = [*measured["upper"], *measured["lower"]]
            assert figure[2] == measured["pinned"][2] and figure[1] - top < 60
            assert bottom <= measured["heading"][1] <= bottom + 40
            continue
        # Figures fill both rows, and the text begins at the top of its place.
        for row in ("upper", "lower"):
            assert sum(figure[2] for figure in measured[row]) > 0.95 * measured["pinned"][2], (
                number,
                row,
            )
        assert {f[1] for f in measured["lower"]} == {f[1] for f in boxes[0]["lower"]}
        assert bottom - max(f[1] + f[3] for f in measured["lower"]) <= 10
        assert bottom > height - 30 and abs(measured["heading"][1] - top) <= 40


def test_the_last_steps_lead_to_explore_at_the_same_settings(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(f"{dashboard}/why")
    ready(page, seconds=60)
    page.get_by_role("button", name=f"Step {len(STEPS)}:").click()
    page.locator("section.here").get_by_role("link", name="Explore at p = 2").click()
    page.wait_for_url(lambda url: "/why" not in url and "distribution=hypercube" in url)
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=30_000)
    expect(page.get_by_role("slider", name="Tail index p")).to_have_attribute("aria-valuetext", "2")


def test_the_picture_follows_the_text_scrolled_by_wheel_key_or_touch(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(f"{dashboard}/why")
    ready(page, seconds=60)
    summary = page.locator("p.summary")
    expect(summary).to_contain_text("The farthest lies 27 from the centre.", timeout=30_000)
    expect_step(page, 1)
    assert page.evaluate(HEIGHT) <= 2200
    places: list[object] = []
    for number in range(2, len(STEPS) + 1):
        # The mouse is alternately over the text and over the picture.
        page.mouse.move(200 if number % 2 else 800, 300)
        for _ in range(40):
            if page.locator("nav [aria-current=step]").inner_text() == str(number):
                break
            page.mouse.wheel(0, 100)
            page.wait_for_timeout(30)
        expect_step(page, number)
        figure = page.locator(".pinned").bounding_box()
        assert figure is not None and 0 <= figure["y"] < 200
        assert figure["y"] + figure["height"] < 900
        # Every part keeps its place from the first step to the last, so that nothing jumps.
        places.append([page.locator(part).bounding_box() for part in ROWS])
    assert all(place == places[0] for place in places)
    worst = page.locator("svg.prices .floor")
    expect(worst).to_have_count(1)
    # The visitor moves the radius, and the next step resets it.
    expect(summary).to_contain_text("No radius here has a smaller typical error.")
    page.get_by_role("slider", name="Clip radius R").press("ArrowRight")
    page.get_by_role("slider", name="Clip radius R").fill("150")
    expect(summary).to_contain_text("a smaller radius needs less")
    button = page.get_by_role("button", name=f"Step {len(STEPS)}:")
    button.focus()
    page.keyboard.press("ArrowLeft")
    expect_step(page, len(STEPS) - 1)
    expect(worst).to_have_count(0)
    expect(summary).to_contain_text(f"typical release is {short(why().light.best.error)} from")
    page.keyboard.press("ArrowUp")
    expect_step(page, len(STEPS) - 2)
    expect(summary).to_contain_text(f"typical release is {short(why().heavy.best.error)} from")
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    expect_step(page, 3)
    expect(summary).to_contain_text("Your record lies 1,000 from the centre", timeout=10_000)
    old_summary = summary.inner_text()
    page.get_by_role("slider", name="Distance of your record").press("Home")
    expect(summary).to_contain_text("Your record lies 0.1 from the centre")
    page.locator("canvas.records").focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    expect(summary).not_to_have_text(old_summary)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download this page (HTML)").click()
    assert STEPS[0].title in download.value.path().read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_the_exported_page_works_alone_fits_a_phone_and_passes_axe(
    browser: Browser, tmp_path: Path, scheme: str
) -> None:
    file = tmp_path / "why.html"
    page_text = scroll_page(TITLE, STORY, dark=scheme == "dark")
    file.write_text(page_text, encoding="utf-8")
    page = browser.new_page(viewport=PHONE)
    page.goto(file.as_uri())
    page.get_by_role("button", name="Step 6:").click()
    expect(page.locator("nav [aria-current=step]")).to_have_text("6")
    expect(page.locator("p.summary")).to_contain_text("Tossing a coin gives 50 %")
    top = "document.querySelector('.pinned').getBoundingClientRect().y"
    page.wait_for_function(f"Math.abs({top}) < 1")  # The page has to finish scrolling first.
    figure = page.locator(".pinned").bounding_box()
    assert figure is not None and figure["y"] >= 0
    assert figure["y"] + figure["height"] <= 0.56 * PHONE["height"]
    heading = page.locator("section.here h2").bounding_box()
    assert heading is not None and heading["y"] > figure["y"] + figure["height"]
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.close()
