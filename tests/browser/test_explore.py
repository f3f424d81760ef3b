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

ROOT = Path(__file__).resolve().parents[2]
SMALL = "/?trials=5&grid=1000,5000&against=none"
# Many cells of about 50 ms each: nobody waits for the end of it.
LONG = "/?methods=mean.iterative,mean.clipped&trials=200&grid=50000,70000,100000&against=none"
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

EXPANDERS = (
    "Numbers",
    "Bounds at the chosen point",
    "How many records do I need?",
    "Where the curves come from",
    "Formulas",
    "How to read this figure",
)

Ready = Callable[..., None]


def figure(page: Page, kind: str = "wide") -> Locator:
    """Return the figure that is shown; `kind` is wide or compact.

    While one replaces another, the browser keeps the old one for a while, out of sight.
    """
    return page.locator(f".st-key-figure_{kind} .js-plotly-plot").filter(visible=True).last


def status(page: Page) -> Locator:
    """Return the row of Run, Cancel and the status."""
    return page.locator(".st-key-run_row")


def expect_drawn(page: Page, kind: str = "wide") -> None:
    """Wait until the figure has its lines."""
    expect(figure(page, kind).locator(".scatterlayer .trace").first).to_be_attached(timeout=30_000)
    expect(figure(page, kind)).to_be_visible(timeout=30_000)


def place(shown: Locator) -> tuple[float, float]:
    """Return top and height of an element that may be replaced while one looks."""
    top, height = shown.evaluate("e => [e.getBoundingClientRect().y, e.clientHeight]")
    return top, height


def wait_for_address(page: Page, part: str) -> None:
    """Wait until the address holds `part`."""
    page.wait_for_url(lambda url: part in url, timeout=15_000)


def test_a_link_restores_the_controls_keys_reach_run_a_file_parses_and_a_quick_change_runs(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + SMALL + "&distribution=pareto&d=7&rho=0.5&seed=3&show=rates")
    ready(page)
    expect(page.get_by_role("radio", name="zCDP")).to_be_checked(timeout=20_000)
    dimension = page.get_by_role("slider", name="Dimension d")
    expect(dimension).to_have_attribute("aria-valuetext", "7")
    expect(page.get_by_role("spinbutton", name="Seed")).to_have_value("3")
    expect(page.get_by_role("combobox", name="Distribution")).to_have_value("Pareto (symmetric)")
    shown = page.locator(".st-key-views").get_by_role("button", name="rates")
    expect(shown).to_have_attribute("aria-pressed", "true")

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(11):
        page.keyboard.press("Tab")
        if "Run" in page.evaluate("document.activeElement.innerText"):
            break
    else:
        pytest.fail("Run is not within twelve presses of Tab.")
    page.keyboard.press("Enter")
    ready(page)
    expect(status(page)).to_contain_text("Finished")

    page.get_by_role("button", name="Export").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV: every cell").click()
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text(encoding="utf-8"))))
    assert waiting.value.suggested_filename == "dpsco-cells.csv"
    assert len(rows) == 40
    assert all(float(row["error"]) > 0 for row in rows)
    page.keyboard.press("Escape")

    before = page.locator(".st-key-sentence").inner_text()
    dimension.press("ArrowLeft")
    wait_for_address(page, "d=5")
    expect(page.locator(".st-key-sentence")).not_to_contain_text(before, timeout=20_000)
    expect(status(page)).to_contain_text("Finished: 40 cells", timeout=20_000)
    expect(figure(page)).not_to_contain_text("previous settings")


def test_cancel_stops_a_long_run_run_goes_on_and_a_change_waits_for_ctrl_enter(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.emulate_media(reduced_motion="no-preference")
    page.goto(f"{dashboard}{LONG}&seed={time.time_ns() % 10**6}")
    page.evaluate(WATCH)
    expect(page.get_by_test_id("stProgress")).to_be_visible(timeout=20_000)
    run, sentence = (
        page.get_by_role("button", name="Run Shortcut"),
        page.locator(".st-key-sentence"),
    )
    expect_drawn(page)
    for name in ("Presets",):  # its code is loaded late
        expect(page.get_by_role("button", name=name)).to_be_visible(timeout=20_000)
    before = run.bounding_box(), sentence.bounding_box()
    page.get_by_role("button", name="Cancel").click()
    stopped = status(page).get_by_text(re.compile(r"Stopped at [\d,]+ of 1,200 cells"))
    expect(stopped).to_be_visible(timeout=20_000)
    ready(page)
    expect_drawn(page)
    finished = int(re.findall(r"[\d,]+", stopped.inner_text())[0].replace(",", ""))
    assert 0 < finished < 1200
    # Nothing above the figure has moved when the bar became a sentence.
    after = run.bounding_box(), sentence.bounding_box()
    assert all(a and b and abs(a["y"] - b["y"]) < 2 for a, b in zip(before, after, strict=True)), (
        before,
        after,
    )
    run.click()
    expect(page.get_by_test_id("stProgress")).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Cancel").click()
    expect(stopped).to_be_visible(timeout=20_000)
    ready(page)
    again = int(re.findall(r"[\d,]+", stopped.inner_text())[0].replace(",", ""))
    assert finished <= again < 1200
    assert page.evaluate("window.seen") > 0
    assert page.evaluate("window.blank") == 0
    page.emulate_media(reduced_motion="reduce")
    run.click()
    expect(status(page)).to_contain_text(" left", timeout=20_000)
    page.get_by_role("slider", name="Dimension d").press("ArrowLeft")
    expect(status(page)).to_contain_text("Settings changed", timeout=20_000)
    expect(figure(page)).to_contain_text("previous settings")
    expect(sentence).to_contain_text("Previous settings.")
    wait_for_address(page, "d=10")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_test_id("stProgress")).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Cancel").click()


@pytest.mark.slow
def test_a_slow_machine_has_its_controls_while_a_run_goes_on(page: Page, dashboard: str) -> None:
    slowly = page.context.new_cdp_session(page)
    slowly.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.goto(f"{dashboard}{LONG}&seed={time.time_ns() % 10**6}")
    expect(page.get_by_test_id("stProgress")).to_contain_text(" left", timeout=60_000)
    assert page.get_by_test_id("stSkeleton").count() == 0
    assert page.get_by_role("button", name="Presets").is_visible()
    expect(page.get_by_test_id("stProgress")).to_be_visible()
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
    expect(figure(page)).to_contain_text("Coordinate-wise, Laplace")


def test_on_a_phone_everything_fits_and_is_at_hand_and_the_back_button_restores(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(dashboard + SMALL)
    expect(status(page)).to_contain_text("Finished", timeout=20_000)
    ready(page)
    expect_drawn(page, "compact")
    expect(figure(page, "wide")).to_be_hidden()
    assert place(figure(page, "compact"))[0] < 600
    assert figure(page, "compact").evaluate("e => e.getBoundingClientRect().right") <= 390
    for target in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert page.evaluate(f"{target}.scrollWidth - {target}.clientWidth") <= 0
    page.get_by_role("button", name="Presets").click()
    page.get_by_role("button", name="Privacy is free").click()
    wait_for_address(page, "axis=epsilon")
    expect(status(page)).to_contain_text("Finished: 240 cells", timeout=30_000)
    ready(page)
    page.go_back()
    expect(status(page)).to_contain_text("Finished: 40 cells", timeout=20_000)
    expect(figure(page, "compact")).to_contain_text("Number of records n")
    ready(page)
    page.get_by_test_id("stExpandSidebarButton").click()
    problem = page.get_by_test_id("stSidebar").get_by_role("combobox", name="Problem")
    expect(problem).to_be_in_viewport()


@pytest.mark.slow  # tests/app/places/test_pin.py has the link and the lines
def test_a_pinned_run_and_the_present_one_come_back_by_link(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + SMALL + "&epsilon=0.2")
    ready(page)
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator(".st-key-pin_row")).to_contain_text("Change a setting and run")
    page.get_by_role("slider", name="Privacy budget").press("ArrowRight")
    wait_for_address(page, "epsilon=0.5")
    expect(status(page)).to_contain_text("and as pinned", timeout=20_000)
    ready(page)
    expect(page.locator(".st-key-pin_row")).to_contain_text("Pinned, dashed: ε = 0.2.")
    expect(figure(page)).to_contain_text("Simple clipping, pinned")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(status(page)).to_contain_text("and as pinned", timeout=20_000)
    ready(page)
    expect(figure(page)).to_contain_text("Simple clipping, pinned")
    expect(page.get_by_role("button", name="Unpin")).to_be_enabled()


@pytest.mark.slow
def test_side_by_side_on_a_phone_is_one_above_the_other(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{dashboard}{SMALL}&side=yes&pin=problem%3Dmean%26epsilon%3D0.2%26trials%3D5")
    expect(status(page)).to_contain_text("and as pinned", timeout=30_000)
    ready(page)
    pair = page.locator(".st-key-pair .js-plotly-plot")
    expect(pair).to_have_count(2)
    boxes = (
        "() => { const e = [...document.querySelectorAll('.st-key-pair .js-plotly-plot')]"
        ".map(p => p.getBoundingClientRect()); return e.length === 2 && %s }"
    )
    # Once the window has said how wide it is.
    below = "e[1].top >= e[0].bottom && e.every(p => p.right <= window.innerWidth)"
    page.wait_for_function(boxes % below)
    main = "document.querySelector('[data-testid=stMain]')"
    assert page.evaluate(f"{main}.scrollWidth - {main}.clientWidth") <= 0
    page.set_viewport_size({"width": 1400, "height": 900})
    left, right = (pair.nth(i) for i in range(2))
    expect(right).to_be_visible()
    page.wait_for_function(boxes % "Math.abs(e[0].y - e[1].y) < 2")
    expect(left).to_contain_text("Now: ")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(
    browser: Browser, dashboard: str, ready: Ready, scheme: str, width: int
) -> None:
    with browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}
    ) as context:
        page = context.new_page()
        # Refusals, every view, a changed setting, open tables: as much of the page as can be.
        pin = "&pin=problem%3Dmean%26epsilon%3D0.2%26trials%3D5" + "&side=yes" * (scheme == "dark")
        page.goto(dashboard + SMALL + "&show=lower+bounds,rates,upper+bounds&delta=0" + pin)
        ready(page)
        if scheme == "light":
            expect_drawn(page, "wide" if width > 760 else "compact")
        for title in EXPANDERS:
            page.locator("summary", has_text=title).click()
            ready(page)  # the page is drawn again, and a click meanwhile would miss
        page.wait_for_timeout(500)  # the expanders' transition
        report = Axe().run(page)
        assert report.violations_count == 0, report.generate_report()


@pytest.mark.slow
@pytest.mark.parametrize("query", ["/", SMALL + "&axis=none&grid="])
def test_the_page_renders_a_picture(
    page: Page, dashboard: str, ready: Ready, query: str, tmp_path: Path
) -> None:
    """With DPSCO_SCREENSHOTS=1 the first one becomes the README's picture."""
    page.set_viewport_size({"width": 1400, "height": 950})
    page.goto(dashboard + query)
    expect(figure(page).locator(".trace").first).to_be_attached(timeout=30_000)
    ready(page)
    page.mouse.move(700, 5)
    wanted = os.environ.get("DPSCO_SCREENSHOTS") == "1" and query == "/"
    path = ROOT / "assets" / "explore.png" if wanted else tmp_path / "explore.png"
    expect(figure(page).locator(".main-svg").first).to_be_visible()
    page.screenshot(path=path, animations="disabled")
    assert path.stat().st_size > 50_000


def test_the_whole_first_figure_is_on_the_first_screen_and_a_move_of_p_moves_its_price(
    page: Page, dashboard: str, ready: Ready
) -> None:
    messages: list[str] = []
    page.on("console", lambda m: messages.append(m.text) if m.type == "error" else None)
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(dashboard)
    expect_drawn(page)
    expect(status(page)).to_contain_text("Finished: 280 cells", timeout=30_000)
    ready(page)  # the last figure replaces the live one
    expect_drawn(page)
    top, height = place(figure(page))
    assert top < 450 and height > 400 and top + height <= 900
    expect(figure(page, "compact")).to_be_hidden()
    assert messages == []
    expect(page.get_by_role("toolbar", name="Show")).to_be_in_viewport()  # of the bounds
    steady = "t p = 2 privacy multiplies the error of coordinate-wise, Gaussian by about 3.5"
    expect(figure(page)).to_contain_text(f"A{steady} at every n")
    slider = page.get_by_role("slider", name="Tail index p")
    slider.press("End")
    expect(figure(page)).to_contain_text(
        re.compile(
            r"At p = 20 .* by \d\d at n = 500 and 2\.\d at n = 50,000, at p = 2 by about 3\.5"
        ),
        timeout=30_000,
    )
    expect(status(page)).to_contain_text("Finished: 280 cells", timeout=30_000)
    # Beside the open sidebar the page is as narrow as a phone's.
    page.set_viewport_size({"width": 820, "height": 900})
    compact = figure(page, "compact")
    expect(compact).to_be_visible(timeout=20_000)
    edges = "e => e.getBoundingClientRect().right"
    assert compact.locator(".gtitle").evaluate(edges) <= compact.evaluate(edges)
    page.set_viewport_size(PHONE)
    ready(page)
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    top, height = place(compact)
    assert top + height / 2 <= 844
    page.set_viewport_size({"width": 1400, "height": 900})
    expect_drawn(page)  # once the window has said how wide it is again
    expect(compact).to_be_hidden()


# By how many pixels the ends of what is lit miss the line whose name it has.
STRETCH_OFF_ITS_LINE = """() => {
  const gd = [...document.querySelectorAll(".js-plotly-plot")].find((one) => one.clientWidth)
  const line = gd.data.find(({ name }) => name.startsWith("Simple clipping, proven"))
  const { xaxis, yaxis } = gd._fullLayout
  const points = document.querySelector("svg.parts .stretch").points
  const ends = [[0, 0], [line.x.length - 1, points.length - 1]]
  return Math.max(...ends.flatMap(([i, j]) => [
    Math.abs(xaxis.d2p(line.x[i]) - points[j].x), Math.abs(yaxis.d2p(line.y[i]) - points[j].y)]))
}"""


def test_a_hand_or_a_key_moves_the_chosen_n_in_the_figure(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(f"{dashboard}/?trials=5&grid=1000,10000,100000&against=none")
    ready(page)
    grip = page.get_by_role("slider", name="Chosen n")
    expect(grip).to_have_attribute("aria-valuetext", "n = 10,000", timeout=30_000)
    ready(page)
    grip.hover()  # once it stands still
    box = grip.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.down()
    page.mouse.move(x + 90, y, steps=6)
    held = grip.get_attribute("aria-valuetext")
    expect(page.locator("svg.hand text")).to_have_text(held or "")  # the n, while dragging
    assert held not in ("n = 10,000", None) and "?n=" not in page.url
    page.mouse.up()
    n = int((held or "").removeprefix("n = ").replace(",", ""))
    wait_for_address(page, f"?n={n}&")
    expect(page.get_by_text(f"chosen n = {n:,}", exact=True)).to_be_attached(timeout=15_000)
    expect(page.locator("svg.hand text")).to_have_count(0)
    grip.focus()
    grip.press("ArrowLeft")
    expect(grip).not_to_have_attribute("aria-valuetext", held or "")
    grip.press("End")
    wait_for_address(page, "?n=100000&")
    expect(grip).to_be_focused()  # a change of numbers leaves the focus where it is
    ready(page)
    assert Axe().run(page).violations_count == 0
    # The part of a bound that has the focus lights up its stretch of the line; none does without.
    stretch = page.locator("svg.parts .stretch")
    part = page.get_by_role("button", name="privacy noise, of Simple clipping")
    part.focus()
    expect(
        page.get_by_text("Privacy noise is the largest part of “Simple clipping")
    ).to_be_visible()
    assert page.evaluate(STRETCH_OFF_ITS_LINE) < 0.1
    part.blur()
    expect(stretch).to_have_count(0)
    part.press("Enter")  # and where it is pressed it stays lit
    part.blur()
    expect(stretch).to_have_count(1)
    assert Axe().run(page).violations_count == 0
