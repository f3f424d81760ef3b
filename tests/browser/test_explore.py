"""Explore in Chromium: what only a browser can show."""

from __future__ import annotations

import csv
import io
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from dpsco_app.parts.drawing import LOW_HEIGHT

ROOT = Path(__file__).resolve().parents[2]
SMALL = "/?trials=5&grid=1000,5000&against=none"
# This study has many cells of about 50 ms each; no test waits for its end.
LONG = (
    "/?methods=mean.iterative,mean.instance-optimal,mean.clipped&trials=200"
    "&grid=50000,70000,100000&against=none"
)
PHONE = {"width": 390, "height": 844}

# Counts the frames in which the page has no figure, from its first one on.
WATCH = """
window.seen = window.blank = 0
const look = () => {
  const plots = [...document.querySelectorAll(".st-key-figure_wide .stPlotlyChart")]
  if (plots.some((plot) => plot.clientWidth > 100)) window.seen += 1
  else if (window.seen) window.blank += 1
  requestAnimationFrame(look)
}
requestAnimationFrame(look)
"""

# The heights at which the row of the Run button and the answer begin.
TOPS = """() => [".st-key-top_row", ".st-key-presets", "h2"].map(
  (name) => document.querySelector(name).getBoundingClientRect().y)"""

EXPANDERS = (
    "Numbers",
    "Formulas and papers",
    "How to read this figure",
)

# The texts that replace the headline while runs are missing.
WAITING = re.compile("Measuring|Not measured yet")
Ready = Callable[..., None]


def figure(page: Page, kind: str = "wide") -> Locator:
    """Return the figure that is shown; `kind` is "wide" or "compact".

    While one figure replaces another, the browser keeps the old one for a while, out of sight.
    """
    return page.locator(f".st-key-figure_{kind} .js-plotly-plot").filter(visible=True).last


def status(page: Page) -> Locator:
    """Return the status line beside the Run button; a phone has no room for this line."""
    return page.locator(".status")


def headline(page: Page) -> Locator:
    """Return the headline of the page."""
    return page.get_by_role("heading", level=2)


def expect_drawn(page: Page, kind: str = "wide") -> None:
    """Wait until the figure has its lines."""
    expect(figure(page, kind).locator(".scatterlayer .trace").first).to_be_attached(timeout=30_000)
    expect(figure(page, kind)).to_be_visible(timeout=30_000)


def place(element: Locator) -> tuple[float, float]:
    """Return the top and the height of an element in pixels, in one call, since the page may
    replace the element between two.
    """
    top, height = element.evaluate("e => [e.getBoundingClientRect().y, e.clientHeight]")
    return top, height


def wait_for_address(page: Page, part: str) -> None:
    """Wait until the address holds `part`."""
    page.wait_for_url(lambda url: part in url, timeout=15_000)


def test_a_link_restores_the_controls_keys_reach_run_a_file_parses_and_a_quick_change_runs(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + SMALL + "&distribution=pareto&d=7&rho=0.5&seed=3&show=rates")
    ready(page)
    dimension = page.get_by_role("slider", name="Dimension d")
    expect(dimension).to_have_attribute("aria-valuetext", "7")
    expect(page.get_by_role("combobox", name="Data")).to_have_value("Pareto (symmetric)")

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Skip to main content")).not_to_be_focused()
    for _ in range(11):
        page.keyboard.press("Tab")
        if "Presets" in page.evaluate("document.activeElement.innerText ?? ''"):
            break
    else:
        pytest.fail("Presets is not within twelve presses of Tab.")
    expect(status(page)).to_have_text(re.compile("Measured in 40 runs"))

    more_settings = page.locator("summary", has_text="More settings")
    expect(more_settings).to_have_text(re.compile("Trials = 5, .*Seed = 3"))
    more_settings.click()
    expect(page.get_by_role("radio", name="zCDP")).to_be_checked(timeout=20_000)
    expect(page.get_by_role("spinbutton", name="Seed")).to_have_value("3")
    more_settings.click()
    ready(page)
    page.get_by_role("button", name="Bounds", exact=True).click()
    rates_button = page.get_by_test_id("stPopoverBody").get_by_role("button", name="Rates")
    expect(rates_button).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    ready(page)

    page.get_by_role("button", name="Export").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV: every cell").click()
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text(encoding="utf-8"))))
    assert waiting.value.suggested_filename == "dpsco-cells.csv"
    assert len(rows) == 40
    assert all(float(row["error"]) > 0 for row in rows)
    page.keyboard.press("Escape")

    old_table = page.locator("table.ladder").first.inner_text()
    dimension.press("ArrowLeft")
    wait_for_address(page, "d=5")
    expect(page.locator("table.ladder").first).not_to_contain_text(old_table, timeout=20_000)
    expect(status(page)).to_have_text(re.compile("Measured in 40 runs"), timeout=20_000)
    expect(headline(page)).not_to_have_text(WAITING)


def test_cancel_stops_a_long_run_run_goes_on_and_a_change_waits_for_ctrl_enter(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.emulate_media(reduced_motion="no-preference")
    page.goto(f"{dashboard}{LONG}&seed={time.time_ns() % 10**6}")
    page.evaluate(WATCH)
    progress_text, stopped_text = (
        # The browser has reported that the page's component is loaded.
        re.compile(r"^[\d,]+ of 1,800 runs, .* left"),
        re.compile(r"Stopped at .* of 1,800 runs"),
    )
    expect(status(page)).to_have_text(progress_text, timeout=20_000)
    cancel, run = (page.get_by_role("button", name=name, exact=True) for name in ("Cancel", "Run"))
    expect_drawn(page)
    expect(page.get_by_role("button", name="Presets")).to_be_visible(timeout=20_000)
    old_tops = page.evaluate(TOPS)
    cancel.click()
    expect(status(page)).to_have_text(stopped_text, timeout=20_000)
    ready(page)
    expect_drawn(page)
    finished = count(status(page))
    assert 0 < finished < 1800
    # Nothing moved when the button Cancel became Run.
    assert page.evaluate(TOPS) == pytest.approx(old_tops, abs=2)
    run.click()
    expect(cancel).to_be_visible(timeout=20_000)
    cancel.click()
    expect(status(page)).to_have_text(stopped_text, timeout=20_000)
    ready(page)
    assert finished <= count(status(page)) < 1800
    assert page.evaluate("window.seen") > 0
    assert page.evaluate("window.blank") == 0
    page.emulate_media(reduced_motion="reduce")
    page.get_by_role("slider", name="Dimension d").press("ArrowLeft")
    expect(status(page)).to_contain_text("Settings changed: 1,800 runs", timeout=20_000)
    expect(headline(page)).to_have_text(WAITING)
    wait_for_address(page, "d=10")
    page.keyboard.press("Control+Enter")
    expect(status(page)).to_have_text(progress_text, timeout=20_000)
    cancel.click()


def count(status_place: Locator) -> int:
    """Return the first number in the status line."""
    return int(re.findall(r"[\d,]+", status_place.inner_text())[0].replace(",", ""))


@pytest.mark.slow
def test_a_slow_machine_has_its_controls_while_a_run_goes_on(page: Page, dashboard: str) -> None:
    slowly = page.context.new_cdp_session(page)
    slowly.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.goto(f"{dashboard}{LONG}&seed={time.time_ns() % 10**6}")
    expect(status(page)).to_contain_text("of 1,800 runs", timeout=60_000)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0, timeout=20_000)
    assert page.get_by_role("button", name="Presets").is_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    # The status line shows that the run continues.
    expect(status(page)).to_contain_text("of 1,800 runs")
    slowly.detach()


@pytest.mark.slow
def test_a_refused_method_offers_a_way_out(page: Page, dashboard: str, ready: Ready) -> None:
    page.goto(dashboard + SMALL + "&delta=0&methods=mean.clipped")
    ready(page)
    refused = page.get_by_text("Simple clipping: Gaussian noise cannot give pure DP")
    expect(refused).to_be_visible()
    page.get_by_role("button", name="Change that").click()
    expect(refused).to_have_count(0)
    wait_for_address(page, "methods=mean.cwme-pure")
    expect(figure(page)).to_contain_text("measured:coordinate-wise")


def test_on_a_phone_everything_fits_and_the_back_button_restores_the_page(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(dashboard + SMALL)
    expect(status(page)).to_have_text(re.compile("Measured in 40 runs"), timeout=20_000)
    ready(page)
    expect_drawn(page, "compact")
    expect(figure(page, "wide")).to_have_count(0)
    assert place(figure(page, "compact"))[0] < 600
    assert figure(page, "compact").evaluate("e => e.getBoundingClientRect().right") <= 390
    for target in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert page.evaluate(f"{target}.scrollWidth - {target}.clientWidth") <= 0
    page.get_by_role("button", name="⋯").click()
    for view in ("A private mean", "One run", "Who wins"):
        expect(page.get_by_role("link", name=view, exact=True)).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(page.locator("table.ladder")).to_be_visible()  # The table has the names of the lines.
    page.get_by_role("button", name="Presets").click()
    page.get_by_role("button", name="Privacy is free").click()
    wait_for_address(page, "axis=epsilon")
    expect(figure(page, "compact")).to_contain_text("Privacy budget", timeout=30_000)
    expect(status(page)).to_have_text(re.compile("Measured in 320 runs"), timeout=30_000)
    ready(page)
    page.go_back()
    expect(status(page)).to_have_text(re.compile("Measured in 40 runs"), timeout=20_000)
    expect(figure(page, "compact")).to_contain_text("Records n")
    ready(page)
    page.get_by_role("button", name=re.compile("· Change$")).click()
    problem = page.get_by_test_id("stSidebar").get_by_role("combobox", name="Estimate")
    expect(problem).to_be_in_viewport()


@pytest.mark.slow  # The link and the lines are covered by tests/app/places/test_pin.py.
def test_a_pinned_run_and_the_present_one_come_back_by_link(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + SMALL + "&epsilon=0.2")
    ready(page)
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.get_by_text("Change a setting and run")).to_be_visible()
    page.get_by_role("slider", name="Privacy budget").press("ArrowRight")
    wait_for_address(page, "epsilon=0.5")
    expect(status(page)).to_have_text(re.compile("Measured in 80 runs"), timeout=20_000)
    ready(page)
    pinned = page.get_by_text("Pinned, dashed: ε = 0.2.")
    expect(pinned).to_be_visible()
    expect(figure(page)).to_contain_text("Pinned run")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(status(page)).to_have_text(re.compile("Measured in 80 runs"), timeout=20_000)
    ready(page)
    expect(pinned).to_be_visible()
    expect(figure(page)).to_contain_text("Pinned run")
    expect(page.get_by_role("button", name="Unpin")).to_be_enabled()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_accessibility_fault(
    browser: Browser, dashboard: str, ready: Ready, scheme: str, width: int
) -> None:
    with browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}
    ) as context:
        page = context.new_page()
        # The page shows refusals, every view, a changed setting and open tables, so that as much of
        # it as possible is checked.
        pin = "&pin=problem%3Dmean%26epsilon%3D0.2%26trials%3D5"
        page.goto(dashboard + SMALL + "&show=lower+bounds,rates,upper+bounds&delta=0" + pin)
        ready(page)
        if scheme == "light":
            expect_drawn(page, "wide" if width > 760 else "compact")
        for title in EXPANDERS:
            page.locator("summary", has_text=title).click()
            ready(page)  # The page is drawn again, and a click in the meantime would miss.
        page.wait_for_timeout(500)  # The expanders' transition has to end first.
        report = Axe().run(page)
        assert report.violations_count == 0, report.generate_report()


@pytest.mark.slow
@pytest.mark.parametrize("query", ["/", SMALL + "&axis=none&grid="])
def test_the_page_renders_a_picture(
    page: Page, dashboard: str, ready: Ready, query: str, tmp_path: Path
) -> None:
    """With DPSCO_SCREENSHOTS=1 the first picture becomes the README's."""
    page.set_viewport_size({"width": 1400, "height": 950})
    page.goto(dashboard + query)
    expect(figure(page).locator(".trace").first).to_be_attached(timeout=30_000)
    ready(page)
    page.mouse.move(700, 5)
    is_for_readme = os.environ.get("DPSCO_SCREENSHOTS") == "1" and query == "/"
    path = ROOT / "assets" / "explore.png" if is_for_readme else tmp_path / "explore.png"
    expect(figure(page).locator(".main-svg").first).to_be_visible()
    page.screenshot(path=path, animations="disabled")
    assert path.stat().st_size > 50_000


CONTROLS = ("Tail index p", "Records n", "Dimension d", "Privacy budget")
# The places of all that is written into the figure: left, top, right, bottom.
LABELS = """() => [...document.querySelectorAll(".st-key-figure_wide .annotation-text")]
  .filter((e) => e.textContent.trim())
  .map((e) => e.getBoundingClientRect())
  .map((r) => [r.left, r.top, r.right, r.bottom])"""


def overlapping(boxes: list[list[float]]) -> list[tuple[list[float], list[float]]]:
    """Return the pairs of label boxes that overlap by more than the blank in a letter's box."""
    return [
        (a, b)
        for i, a in enumerate(boxes)
        for b in boxes[:i]
        if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 3
    ]


def test_the_whole_answer_is_on_the_first_screen_and_follows_p(
    page: Page, dashboard: str, ready: Ready
) -> None:
    messages: list[str] = []
    page.on("console", lambda m: messages.append(m.text) if m.type == "error" else None)
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(dashboard)
    expect_drawn(page)
    expect(status(page)).to_have_text(re.compile("Measured in 560 runs"), timeout=30_000)
    ready(page)  # The final figure replaces the growing one.
    expect_drawn(page)
    top, height = place(figure(page))
    assert top < 450 and height > 400 and top + height <= 900
    expect(figure(page, "compact")).to_have_count(0)
    assert messages == []
    for name in CONTROLS:
        expect(page.get_by_role("group", name=name)).to_be_in_viewport(ratio=1)
    for element in (
        page.get_by_role("combobox", name="Estimate"),
        page.get_by_role("combobox", name="Data"),
        page.get_by_test_id("stSidebar").get_by_role("button", name="algorithms, best:"),
        page.get_by_role("button", name="The sliders"),
        headline(page),
    ):
        expect(element).to_be_in_viewport(ratio=1)
    labels = page.evaluate(LABELS)
    assert len(labels) > 9 and overlapping(labels) == []
    assert overlapping([labels[0], [x + 2 for x in labels[0]]])
    expect(headline(page)).to_contain_text("on the hardest data known")
    old_headline = headline(page).inner_text()
    page.get_by_role("slider", name="Tail index p").press("End")
    expect(status(page)).to_have_text(re.compile("Measured in 560 runs"), timeout=30_000)
    wait_for_address(page, "p=20")
    ready(page)
    expect(headline(page)).not_to_have_text(old_headline)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Because the tail is lighter")
    # Beside the open sidebar the page is as narrow as a phone's.
    page.set_viewport_size({"width": 820, "height": 900})
    compact = figure(page, "compact")
    expect(compact).to_be_visible(timeout=20_000)
    page.set_viewport_size(PHONE)
    ready(page)
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    top, height = place(compact)
    assert top + height / 2 <= 844
    page.set_viewport_size({"width": 1400, "height": 900})
    expect_drawn(page)  # The window has reported its new width.
    expect(compact).to_have_count(0)


@pytest.mark.parametrize("query", ["", "&type=large"])
def test_a_low_window_has_the_whole_figure_on_its_first_screen(
    page: Page, dashboard: str, ready: Ready, query: str
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(dashboard + SMALL.replace("&against=none", "") + query)
    ready(page)
    expect(figure(page)).to_have_css("height", f"{LOW_HEIGHT}px", timeout=20_000)
    # The figure shows the names of its lines.
    expect(figure(page)).to_contain_text("measured:adaptive clipping")
    top, height = place(figure(page))
    assert top + height <= 720


def test_a_drag_or_a_key_moves_the_chosen_n_in_the_figure(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(f"{dashboard}/?trials=5&grid=1000,10000,100000&against=none&show=upper+bounds")
    ready(page)
    grip = page.get_by_role("slider", name="Chosen n")
    expect(grip).to_have_attribute("aria-valuetext", "n = 10,000", timeout=30_000)
    ready(page)
    grip.hover()  # Hovering waits until the grip stands still.
    box = grip.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.down()
    page.mouse.move(x + 90, y, steps=6)
    place = grip.get_attribute("aria-valuetext")
    # The label shows n during the drag.
    expect(page.locator("svg.hand text")).to_have_text(place or "")
    assert place not in ("n = 10,000", None) and "?n=" not in page.url
    page.mouse.up()
    n = int((place or "").removeprefix("n = ").replace(",", ""))
    wait_for_address(page, f"?n={n}&")
    expect(page.locator("svg.hand text")).to_have_count(0)
    ready(page)  # The new numbers have arrived by now.
    grip.focus()
    grip.press("ArrowLeft")
    expect(grip).not_to_have_attribute("aria-valuetext", place or "")
    grip.press("End")
    wait_for_address(page, "?n=100000&")
    expect(grip).to_be_focused()  # A change of numbers leaves the focus where it is.
    ready(page)
    number = figure(page).locator(".xtick text").get_by_text("1,000", exact=True).first
    number.click(force=True)  # A press on the axis acts like one on the grip.
    wait_for_address(page, "?n=1000&")
    ready(page)
    assert Axe().run(page).violations_count == 0


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=str)
def test_a_figure_alone_has_its_headline_and_source_and_nothing_else(
    page: Page, dashboard: str, ready: Ready, size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(dashboard + "/?extent=figure&trials=2")
    plot = figure(page, "compact" if size[0] < 760 else "wide")
    expect(plot).to_be_visible(timeout=60_000)
    ready(page, seconds=60)
    source = page.locator(".source")
    expect(source).to_contain_text("DP-SCO Explorer")
    # The dot on the axis stays, so its role is not in this list.
    for role in ("button", "link", "combobox", "radio"):
        places = page.locator("[data-testid=stMain]").get_by_role(role).all()
        assert not [place for place in places if place.is_visible()], role
    head, box = page.locator(".head h2").bounding_box(), plot.bounding_box()
    assert head and box and 0 <= head["x"] < 60 and box["x"] >= 0
    assert box["x"] + box["width"] <= size[0] and head["y"] < box["y"]
    if size[0] > 760:
        foot = source.bounding_box()
        assert foot and foot["y"] + foot["height"] <= size[1]
