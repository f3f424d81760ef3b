"""What the dashboard uses of Streamlit's own page is still there, and does what it is used for."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from dpsco_app.parts import insides
from dpsco_app.shell.names import MENU, PLACES

Ready = Callable[..., None]
PHONE = {"width": 390, "height": 844}


def contrast(element: Locator) -> float:
    """Return the contrast of an element's letters with the white page, as WCAG 2.1 defines it."""
    colour = element.evaluate(
        """e => {
          const pixel = new OffscreenCanvas(1, 1).getContext("2d")
          pixel.fillStyle = getComputedStyle(e).color
          pixel.fillRect(0, 0, 1, 1)
          return [...pixel.getImageData(0, 0, 1, 1).data]
        }"""
    )
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in np.array(colour[:3]) / 255
    ]
    return float(1.05 / (np.dot([0.2126, 0.7152, 0.0722], linear) + 0.05))


def test_streamlits_page_has_each_element_that_the_dashboard_relies_on(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(f"{dashboard}/learn")
    caption = page.locator(insides.CAPTION, has_text="lessons answered")
    expect(caption).to_be_visible()
    expect(caption).to_have_css("opacity", "1")
    page.goto(f"{dashboard}/bounds")
    ready(page, seconds=60)
    links = page.locator(insides.MENU_LINK)
    assert links.evaluate_all("all => all.map(e => e.tagName)") == ["A"] * len(MENU)
    assert [text.strip() for text in links.all_inner_texts()] == [PLACES[slug] for slug in MENU]
    expect(page.locator(insides.MENU_BOX)).to_have_count(0)
    page.get_by_role("button", name="Link").click()
    box = page.locator(insides.MENU_BOX)
    expect(box).to_be_visible()
    copy = box.locator(insides.COPY)
    # The button is visible even if the pointer is elsewhere.
    expect(copy).to_have_css("opacity", "1")
    expect(copy.get_by_role("button", name="Copy to clipboard")).to_be_visible()
    page.goto(f"{dashboard}/methods?method=mean.clipped")
    ready(page, seconds=60)
    page.locator("summary", has_text="What to set").click()
    comment = page.locator(f"{insides.TOKEN}.comment").first
    expect(comment).to_be_visible()
    assert contrast(comment) >= 4.5


def test_a_run_is_cancelled_by_the_dashboard_s_button_alone(
    page: Page, dashboard: str, ready: Ready
) -> None:
    """Streamlit itself draws a Stop button after half a second, beside the sign that something
    runs.
    """
    # It lasts long, and a busy machine still predicts less than the limit of 120 seconds.
    methods = "mean.iterative,mean.instance-optimal,mean.clipped"
    address = f"methods={methods}&trials=200&grid=50000,70000,100000&against=none&seed=4242"
    page.goto(f"{dashboard}/?{address}")
    run = page.locator(".st-key-explore_run button")
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    expect(run.or_(cancel).first).to_be_visible(timeout=30_000)
    if run.is_visible():  # The run is shown if it is predicted to take too long to start by itself.
        run.click()
    stop = page.locator(insides.STOP)
    expect(stop).to_have_text("Stop", use_inner_text=False)
    expect(stop).to_have_css("display", "none")
    expect(page.get_by_role("img", name="Running...")).to_be_visible()
    cancel.click()
    expect(page.get_by_text("Stopped at")).to_be_visible()
    ready(page, seconds=60)


def test_on_a_phone_the_sidebar_opens_and_closes_by_its_buttons(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(dashboard)
    ready(page, seconds=60)
    expect(page.locator(insides.OPEN_SIDEBAR)).to_be_visible()
    control = page.locator(".st-key-field_n")
    expect(control).not_to_be_in_viewport()
    page.get_by_role("button", name=re.compile("Change$")).click()
    expect(control).to_be_in_viewport()
    expect(page.locator(insides.CLOSE_SIDEBAR)).to_be_visible()
    page.get_by_role("link", name="Privacy", exact=True).click()
    expect(page).to_have_url(re.compile("/privacy"))
    expect(control).not_to_be_in_viewport()


def test_a_menu_at_the_foot_of_the_first_screen_has_room(
    page: Page, dashboard: str, ready: Ready
) -> None:
    """Without the dashboard's style, Streamlit would make the menu 48 pixels high."""
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(dashboard)
    ready(page, seconds=60)
    page.get_by_role("button", name="Link", exact=True).click()
    expect(page.get_by_text("Large type, for a projector")).to_be_in_viewport()
    box = page.locator(insides.MENU_BOX).bounding_box()
    assert box is not None and box["height"] > 200


# The dashboard relies on these parts inside its own keys: a control has a label and a field.
INSIDE_KEYS = {
    ".st-key-field_problem label": 1,
    ".st-key-field_problem input": 1,
    ".st-key-field_n label button": 1,
    ".st-key-field_n input": 1,
    ".st-key-presets button": 1,
}


def test_a_control_has_a_label_and_a_field_below_its_key(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard)
    ready(page, seconds=60)
    for selector, count in INSIDE_KEYS.items():
        expect(page.locator(selector)).to_have_count(count)
    page.locator(".st-key-methods_menu button").click()
    chips = page.locator(".st-key-field_methods button[aria-pressed=true]")
    expect(chips).to_have_count(4)
    page.keyboard.press("Escape")
    box = page.locator(".st-key-field_problem")
    name, field = box.locator("label p").bounding_box(), box.locator("input")
    padding = field.evaluate("e => parseFloat(getComputedStyle(e).paddingLeft)")
    field_box = field.bounding_box()
    assert name is not None and field_box is not None
    # The name does not overlap the value.
    assert name["x"] + name["width"] <= field_box["x"] + padding


def test_hiding_downloads_and_small_print_keeps_the_links_to_other_pages(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(f"{dashboard}/methods?method=mean.clipped&hide=export,fine-print")
    ready(page, seconds=60)
    expect(page.get_by_role("link", name="See it in Explore")).to_be_visible()
    expect(page.locator(".st-key-field_n")).to_be_visible()
    for hidden in (".st-key-methods_link", ".st-key-field_more"):
        expect(page.locator(hidden)).to_have_count(1)
        expect(page.locator(hidden)).to_be_hidden()


@pytest.mark.parametrize("hide", ["sidebar", "nav"])
def test_hidden_parts_are_not_drawn_and_values_stay(
    page: Page, dashboard: str, ready: Ready, hide: str
) -> None:
    page.goto(f"{dashboard}/?n=2000&hide={hide}")
    ready(page, seconds=60)
    expect(page.locator(".st-key-field_n")).to_be_visible(visible=hide == "nav")
    expect(page.get_by_role("link", name="Bounds", exact=True)).to_be_visible(
        visible=hide == "sidebar"
    )
    expect(page).to_have_url(re.compile("n=2000"))
