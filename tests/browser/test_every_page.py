"""Every page in windows of four sizes, by its link; and two visitors at once."""

from __future__ import annotations

import os
import re
from itertools import cycle, product
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import DEFAULT_OPTIONS, Axe
from playwright.sync_api import Page, expect

from dpsco_app.figure.colours import QUIET
from dpsco_app.figure.theme import NARROW
from dpsco_app.shell.names import EXPLORE, PLACES, VIEWS
from tests.browser.responsive import PHONE, Ready, expect_to_be_marked

ROOT = Path(__file__).resolve().parents[2]
SCREENS = ROOT / "test-results" / "screens"  # The suite keeps its screenshots in this folder.
# The pages of which the README shows pictures.
README_PAGES = ("explore", "learn", "lower-bounds", "privacy", "bounds")
# The wide windows come first, so that figures for narrow windows are drawn only once.
SIZES = {
    "projector": {"width": 1920, "height": 1080},
    "laptop": {"width": 1400, "height": 950},
    "tablet": {"width": 820, "height": 1180},
    "phone": PHONE,
}
# At these addresses the pages are quick to draw but look as usual; the second text is a part of the
# address that remains.
ADDRESSES = {
    "explore": ("?trials=5&grid=1000,5000,20000", "grid=1000,5000,20000"),
    "one-run": ("one-run?problem=huber&n=500&d=3&trials=1", "problem=huber"),
    "who-wins": ("who-wins?plane=n-p&problem=quadratic", "problem=quadratic"),
    "methods": ("methods?method=mean.clipped", "method=mean.clipped"),
    "errata": ("errata?erratum=arora.one-step", "erratum=arora.one-step"),
    "users": ("users?n=2000&d=2&trials=2", "d=2"),
    "geometry": ("geometry?x1=1.2", "x1=1.2"),
    "lower-bounds": ("lower-bounds?trials=5", "trials=5"),
}
# The views that belong to the menu entry of another page, and the name of that entry.
OWNERS = {"one-run": "Explore", "who-wins": "Explore", "why": "Learn", "errata": "Methods"}
# The dark theme changes only colours; axe's other rules are checked in the light theme.
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
SCHEMES = ("light", "dark")
RULES = {
    # Only violations are listed; listing the passed rules takes three times as long.
    "light": DEFAULT_OPTIONS,
    "dark": {**DEFAULT_OPTIONS, "runOnly": COLOURS},
}
BACKGROUND = "e => getComputedStyle(e).backgroundColor"
DRAWN_IN = """quiet => [...document.querySelectorAll("style")].some(
  (style) => style.textContent.includes(".head p b") && style.textContent.includes(quiet))"""
# This selects the figure for the other kind of window, which is hidden.
HIDDEN = "[class*=figure_{}] .js-plotly-plot"
SIDEWAYS = "e => e.scrollWidth - e.clientWidth"
CHOICES = "[data-testid=stMain] [data-testid=stButtonGroup] > div:has(button)"


def open_page(page: Page, dashboard: str, ready: Ready, slug: str) -> None:
    """Open a page at its address, and check that the address stays and nothing in it is wrong."""
    address, expected_query = ADDRESSES.get(slug, (slug, ""))
    page.goto(f"{dashboard}/{address}")
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=30_000)
    ready(page, seconds=60)
    opened = urlsplit(page.url)
    assert opened.path == ("/" if slug == "explore" else f"/{slug}") and expected_query in unquote(
        opened.query
    )
    expect(page.get_by_text("In the address:")).to_have_count(0)


# A page is opened in one size of window and one theme, which differ between pages; the slow test
# opens it in all.
TURNS = list(zip(PLACES, cycle(product(SIZES, SCHEMES)), strict=False))


@pytest.mark.parametrize(("slug", "turn"), TURNS, ids=str)
def test_a_page_fits_its_window_and_axe_finds_nothing(
    page: Page, dashboard: str, ready: Ready, slug: str, turn: tuple[str, str]
) -> None:
    """A page has one title, its place is marked in the menu, nothing is wider than the window, and
    axe finds no violation.
    """
    name, scheme = turn
    page.set_viewport_size(SIZES[name])
    page.emulate_media(color_scheme=scheme)
    open_page(page, dashboard, ready, slug)
    # The heading is drawn again as a map fills.
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    views = next((views for views in VIEWS if slug in views and slug != EXPLORE), {})
    for view, title in views.items():  # Explore offers its views in a menu.
        link = page.locator(".st-key-views").get_by_role("link", name=title, exact=True)
        led = urlsplit(str(link.evaluate("e => e.href"))).path
        assert led == f"/{view}" or view == EXPLORE  # The link to Explore names no path.
    if slug in OWNERS:
        expect_to_be_marked(page, OWNERS[slug])
    expect_to_fit(page, ready, name)
    ground = page.get_by_test_id("stApp").evaluate(BACKGROUND)
    assert (max(map(int, re.findall(r"\d+", ground)[:3])) < 128) == (scheme == "dark")
    report = Axe().run(page, options=DEFAULT_OPTIONS)
    assert report.violations_count == 0, report.generate_report()


@pytest.mark.slow
@pytest.mark.parametrize("slug", PLACES)
def test_a_page_fits_every_window_and_axe_finds_nothing_in_any(
    page: Page, dashboard: str, ready: Ready, slug: str
) -> None:
    """The windows go from the widest to a phone's, in both themes.

    With DPSCO_SCREENSHOTS=1 a picture of each size is kept, and some become the README's.
    """
    keep = os.environ.get("DPSCO_SCREENSHOTS") == "1"
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.set_viewport_size(SIZES["projector"])
    open_page(page, dashboard, ready, slug)
    for name, size in SIZES.items():
        page.set_viewport_size(size)
        page.wait_for_timeout(250)  # Figures need a moment to take their new size.
        expect_to_fit(page, ready, name)
        picture = SCREENS / f"{slug}-{name}.png"
        page.screenshot(path=picture, animations="disabled")
        assert picture.stat().st_size > 10_000
        if keep and name == "laptop" and slug in README_PAGES:
            if slug == EXPLORE:  # The README shows this page as it opens.
                page.goto(dashboard)
                ready(page, seconds=60)
            page.screenshot(path=ROOT / "assets" / f"{slug}.png", animations="disabled")
        expect_axe_to_find_nothing(page, ready)
        page.emulate_media(color_scheme="light")
        ready(page, seconds=60)


def expect_to_fit(page: Page, ready: Ready, name: str) -> None:
    """Check that only the figures for this width of window are shown, and that nothing is wider
    than it.
    """
    narrow = page.get_by_test_id("stMain").evaluate("e => e.clientWidth") <= NARROW
    hidden_kind = "wide" if narrow else "compact"
    hidden_figures = page.locator(HIDDEN.format(hidden_kind)).filter(visible=True)
    expect(hidden_figures).to_have_count(0, timeout=30_000)  # The window has reported its width.
    ready(page, seconds=60)
    for target in (page.locator("html"), page.get_by_test_id("stMain")):
        wide = [target.evaluate(SIDEWAYS)]
        while wide[-1] > 0 and len(wide) < 30:  # Figures adapt to the window's width with a delay.
            page.wait_for_timeout(100)
            wide.append(target.evaluate(SIDEWAYS))
        assert wide[-1] <= 0, (name, wide)
    # No chosen option is scrolled out of sight.
    assert not any(page.locator(CHOICES).evaluate_all(f"all => all.map({SIDEWAYS})")), name


def expect_axe_to_find_nothing(page: Page, ready: Ready) -> None:
    """Check with axe, in the light and then in the dark theme, which is left on, that a page is
    accessible.
    """
    colours = []
    for scheme, rules in RULES.items():
        page.emulate_media(color_scheme=scheme)
        # The page asks for its figures in the other colours, on a busy machine a second later.
        page.wait_for_function(DRAWN_IN, arg=QUIET[scheme == "dark"], timeout=30_000)
        ready(page, seconds=60)
        colours.append(page.get_by_test_id("stApp").evaluate(BACKGROUND))
        report = Axe().run(page, options=rules)
        assert report.violations_count == 0, report.generate_report()
    assert colours[0] != colours[1]


@pytest.mark.slow
def test_two_visitors_do_not_meet(page: Page, dashboard: str, ready: Ready) -> None:
    """Each tab has a session, whose scenario, run and address leave those of the other
    tab alone.
    """
    first_tab, second_tab = page, page.context.new_page()
    first_tab.goto(f"{dashboard}/?d=5&trials=5&grid=1000,5000")
    second_tab.goto(f"{dashboard}/?d=50&trials=6&grid=1000,5000")
    for visitor, runs in ((first_tab, "Measured in 40 runs"), (second_tab, "Measured in 48 runs")):
        expect(visitor.locator(".status")).to_contain_text(runs, timeout=40_000)
    first_tab.get_by_role("slider", name="Dimension d").press("ArrowLeft")
    first_tab.wait_for_url(re.compile(r"[?&]d=2(&|$)"), timeout=20_000)
    ready(second_tab)
    expect(second_tab.locator(".status")).to_contain_text("Measured in 48 runs")
    assert "d=50" in second_tab.url and "d=50" not in first_tab.url
