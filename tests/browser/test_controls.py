"""Controls that do what they say, in Chromium: menus that close, a camera, the menu of places."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from dpsco_app.figure.colours import INK
from dpsco_app.parts.touch.run import RunLine, run_page
from dpsco_app.shell.names import WHY
from dpsco_core.explain.anatomy import single_runs
from dpsco_core.explain.frames import frames
from dpsco_core.scenario import Scenario
from tests.browser.responsive import Ready, expect_to_be_marked

QUICK = "/?n=2000&d=5&trials=2&grid=500,1000&against=none"
SMALL_PHONE = {"width": 320, "height": 568}


def test_a_png_can_be_saved_after_an_svg_and_the_gallery_closes_over_the_figure_of_its_preset(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + QUICK)
    expect(page.locator(".status")).to_contain_text("Measured in ", timeout=60_000)
    ready(page)
    page.get_by_role("button", name="Export").click()
    with page.expect_download(timeout=60_000) as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    assert download.value.suggested_filename.endswith(".svg")
    with page.expect_download(timeout=60_000) as download:
        page.get_by_role("button", name="PNG", exact=True).click()
    assert download.value.suggested_filename.endswith(".png")
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    ready(page)
    page.get_by_role("button", name="Presets").click()
    gallery = page.get_by_role("dialog", name="Presets and stored studies")
    expect(gallery).to_be_visible()
    picture = gallery.get_by_role("img", name="Lines of Hardest input")
    assert picture.evaluate("e => e.complete && e.naturalWidth > 0")
    gallery.get_by_role("button", name="Hardest input").click()
    expect(gallery).to_have_count(0)
    page.wait_for_url(lambda url: "distribution=hypercube" in url, timeout=20_000)
    expect(page.locator(".head")).to_contain_text("the hardest data known", timeout=60_000)
    expect(page.locator(".status")).to_contain_text("Measured in ", timeout=60_000)
    ready(page, seconds=120)
    page.get_by_role("button", name="Presets").click()  # This click opens the gallery again.
    gallery.get_by_role("tab", name="Open a study").click()
    expect(gallery.get_by_test_id("stFileUploader")).to_be_visible()


def test_a_slider_shows_its_limits_and_keeps_quick_keys_and_a_menu_at_the_foot_fits_the_window(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard)
    ready(page, seconds=60)
    words = page.get_by_text("how much one answer may reveal")
    expect(words).to_be_visible()
    slider = page.get_by_role("slider", name="Privacy budget ε")
    slider.focus()
    limit = page.get_by_test_id("stSlider").filter(has_text="Privacy budget ε").get_by_text("0.01")
    expect(limit).to_be_visible()
    box, words_box = limit.bounding_box(), words.bounding_box()
    next_name = page.get_by_text("algorithms, best:").first.bounding_box()
    assert box is not None and words_box is not None and next_name is not None
    assert words_box["y"] + words_box["height"] <= box["y"]
    # The letters of the name end at this share of its box.
    assert box["y"] + 0.85 * box["height"] <= next_name["y"]
    button = page.get_by_role("button", name="Export", exact=True)
    button.click()
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
    page.wait_for_function(
        """() => {
          const menu = document.querySelector("[data-testid=stPopoverBody]").getBoundingClientRect()
          return menu.height > 200 && menu.top >= 0 && menu.bottom <= innerHeight
        }"""
    )
    page.keyboard.press("Escape")
    slider.focus()
    for _ in range(4):  # The page answers only after the last of these keys.
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(120)
    expect(page).to_have_url(re.compile(r"[?&]epsilon=0\.05\b"))
    ready(page, seconds=60)
    expect(slider).to_have_attribute("aria-valuetext", "0.05")
    expect(page).to_have_url(re.compile(r"[?&]epsilon=0\.05\b"))


def test_nothing_covers_the_value_of_a_menu_and_its_label_explains_it(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + QUICK)
    ready(page, seconds=60)
    menu = page.locator("[data-testid=stSidebar] [data-testid=stSelectbox]").last
    name, sign = (menu.locator(part).first for part in ("label", "label button"))
    menu.hover()
    expect(sign).to_have_css("opacity", "0")
    name_box, sign_box = name.bounding_box(), sign.bounding_box()
    assert name_box is not None and sign_box == name_box
    page.mouse.move(name_box["x"] + 15, name_box["y"] + 8)
    explanation = page.get_by_test_id("stTooltipContent")
    expect(explanation).to_contain_text("The law of a record", timeout=10_000)


def test_the_menu_marks_the_place_of_a_view(page: Page, dashboard: str) -> None:
    """This test opens the views of Users; `test_every_page.py` opens those of other places."""
    page.goto(f"{dashboard}/users?n=500&d=2&trials=2")
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=30_000)
    expect_to_be_marked(page, "Geometry & users")


def test_on_a_phone_a_jump_in_the_article_arrives_at_its_step(
    page: Page, dashboard: str, ready: Ready
) -> None:
    """Motion is allowed in this test: the picture's height differs between steps, and the text
    stays in place.
    """
    page.set_viewport_size(SMALL_PHONE)
    page.emulate_media(reduced_motion="no-preference")
    page.goto(f"{dashboard}/{WHY}")
    ready(page, seconds=60)
    steps = page.locator("nav[aria-label=Steps] button")
    # A step is read at this height below the picture, in pixels.
    line = 0.75 * SMALL_PHONE["height"]
    for number in (9, 2, 6, 8, 4, 1):
        steps.nth(number - 1).click()
        expect(page.locator("nav [aria-current=step]")).to_have_text(str(number))
        boxes = [None, page.locator("section.here").bounding_box()]
        # The loop waits until the page stops scrolling.
        while boxes[-1] != boxes[-2] and len(boxes) < 30:
            page.wait_for_timeout(250)
            boxes.append(page.locator("section.here").bounding_box())
        section = boxes[-1]
        assert section is not None
        assert section["y"] < line < section["y"] + section["height"]
    # The page is scrolled from the first step to its end at once, as by hand.
    main = page.get_by_test_id("stMain")
    main.evaluate("e => e.scrollTo({ top: e.scrollHeight, behavior: 'instant' })")
    expect(page.locator("nav [aria-current=step]")).to_have_text("9")


def test_on_a_phone_the_sidebar_closes_when_a_page_is_chosen_in_it(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{dashboard}/privacy")
    ready(page, seconds=60)
    page.get_by_test_id("stExpandSidebarButton").click()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar).to_have_attribute("data-collapsed", "false")
    sidebar.get_by_role("link", name="Bounds", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("What is proven", timeout=20_000)
    expect(sidebar).to_have_attribute("data-collapsed", "true")


def test_a_page_that_was_chosen_comes_whatever_the_page_before_has_to_say(
    page: Page, dashboard: str, ready: Ready
) -> None:
    """The old page reports its new width between the click and the answer, which must not run that
    page again.
    """
    page.add_init_script(
        """{
          const listen = WebSocket.prototype.addEventListener
          WebSocket.prototype.addEventListener = function (type, told, ...more) {
            const late = (event) => window.slow ? setTimeout(told, 300, event) : told(event)
            listen.call(this, type, type === "message" ? late : told, ...more)
          }
        }"""
    )
    page.goto(f"{dashboard}/privacy")
    ready(page, seconds=60)
    page.evaluate(
        """() => {
          window.slow = true
          const links = [...document.querySelectorAll("a[href]")]
          links.find((link) => link.textContent.trim() === "Bounds").click()
          const main = document.querySelector("[data-testid=stMain]")
          main.style.flex = "0 0 390px"
          main.style.maxWidth = "390px"
        }"""
    )
    expect(page.get_by_role("heading", level=1)).to_contain_text("What is proven")


def test_dragging_the_radius_selects_no_text(page: Page, tmp_path: Path) -> None:
    """Dragging sets no caret either, from which a selection would grow over the numbers of the
    axis.
    """
    point = Scenario(problem="linear", methods=("sco.clipped",), n=200, d=3)
    runs = single_runs(point, "sco.clipped")
    lines = [RunLine(name=name, path=path, colour=INK) for name, path in runs.items()]
    file = tmp_path / "run.html"
    file.write_text(run_page(frames(point, runs), lines, dark=False, identity=""), encoding="utf-8")
    page.goto(file.as_uri())
    box = page.locator("svg.norms").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.92 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.92 * box["height"], steps=8)
    page.mouse.up()
    assert page.evaluate("getSelection().type") == "None"
