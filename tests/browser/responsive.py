"""What the pages with one figure for wide windows and one for phones are checked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

PHONE = {"width": 390, "height": 844}
Ready = Callable[..., None]
MARK = "e => getComputedStyle(e).backgroundColor"
UNMARKED = "rgba(0, 0, 0, 0)"


def figure(page: Page, name: str, kind: str = "wide") -> Locator:
    """Return a figure of a page by the name of its container; `kind` is "wide" or "compact"."""
    return page.locator(f".st-key-{name}_figure_{kind} .js-plotly-plot").last


def expect_to_be_marked(page: Page, owner: str) -> None:
    """Expect the menu to mark the place of the view that is shown, and no other."""
    menu = page.get_by_role("navigation", name="App pages")
    expect(menu.get_by_role("link")).to_have_count(7, timeout=30_000)
    expect(menu.get_by_role("link", name=owner, exact=True)).not_to_have_css(
        "background-color", UNMARKED
    )
    marks = {link.inner_text(): link.evaluate(MARK) for link in menu.get_by_role("link").all()}
    assert [name for name, mark in marks.items() if mark != UNMARKED] == [owner]


def expect_to_fit_a_phone(page: Page, address: str, ready: Ready, names: Sequence[str]) -> None:
    """Expect a phone to show the compact figures and not the wide ones, with nothing that scrolls
    sideways.
    """
    page.set_viewport_size(PHONE)
    page.goto(address)
    ready(page)
    for name in names:
        expect(figure(page, name, "compact")).to_be_visible(timeout=20_000)
        expect(figure(page, name)).to_be_hidden()
        right = figure(page, name, "compact").evaluate("e => e.getBoundingClientRect().right")
        assert right <= PHONE["width"]
    for target in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert page.evaluate(f"{target}.scrollWidth - {target}.clientWidth") <= 0


def expect_no_axe_violation(
    browser: Browser, address: str, ready: Ready, scheme: str, *, figure_name: str, expander: str
) -> None:
    """Check that axe finds no fault once the figure is drawn and the `expander` is open."""
    with browser.new_context(
        color_scheme=scheme, viewport={"width": 1280, "height": 900}
    ) as context:
        page = context.new_page()
        page.goto(address)
        ready(page)
        expect(figure(page, figure_name)).to_be_visible(timeout=20_000)
        page.locator("summary", has_text=expander).click()
        page.wait_for_timeout(500)  # The expander's transition has to end first.
        ready(page)  # Streamlit shows elements of an earlier run pale for a moment.
        report = Axe().run(page)
        assert report.violations_count == 0, report.generate_report()
