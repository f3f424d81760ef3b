"""The navigation, in Chromium; and one scenario a visit: set on Explore, shown everywhere."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from dpsco_app.front.answer import QUESTION
from dpsco_app.parts.touch.modules import script
from dpsco_app.shell.names import EXPLORE, MENU, PLACES, VIEWS
from tests.browser.responsive import Ready

START = "/?problem=quadratic&methods=sco.clipped&n=2000&d=3&trials=5&grid=500,1000"
# These places show the scenario's controls beside their figure; the picture has controls of its
# own.
SHOWING = {"bounds", "lower-bounds", "privacy", *VIEWS[0]} - {"private-mean"}


def slider(page: Page, name: str) -> Locator:
    """Return a slider of the sidebar by its name."""
    return page.get_by_test_id("stSidebar").get_by_role("slider", name=name)


def expect_scenario(page: Page, ready: Ready, d: int) -> None:
    """Wait until the sidebar shows 2,000 records in d dimensions."""
    ready(page, seconds=60)
    expect(slider(page, "Records n")).to_have_attribute("aria-valuetext", "2,000")
    expect(slider(page, "Dimension d")).to_have_attribute("aria-valuetext", str(d))


def path_of(link: Locator) -> str:
    """Return where a link leads to, without the host and the query."""
    return urlsplit(str(link.evaluate("e => e.href"))).path.strip("/")


def test_the_navigation_names_every_place_and_leads_there_with_the_scenario_and_back(
    page: Page, dashboard: str, ready: Ready
) -> None:
    """The test uses the menu and the views of one place; tests/app/shell/test_visit.py opens every
    place.
    """
    page.goto(f"{dashboard}{START}&seed=abc")
    expect_scenario(page, ready, 3)
    # The message about the error in the link is still shown after the page has run.
    expect(page.get_by_text("In the address: seed must be an integer")).to_be_in_viewport()
    heading = page.get_by_role("heading", level=1)
    menu = page.get_by_role("navigation", name="App pages")
    for slug, name in MENU.items():
        assert path_of(menu.get_by_role("link", name=name, exact=True)) == slug.replace(EXPLORE, "")
    other_views = page.get_by_role("button", name="⋯", exact=True)
    other_views.click()
    entries = page.get_by_test_id("stPopoverBody")
    for slug in set(VIEWS[0]) - {EXPLORE}:
        assert path_of(entries.get_by_role("link", name=PLACES[slug], exact=True)) == slug
    page.keyboard.press("Escape")
    for links, slug in ((menu, "bounds"), (menu, EXPLORE), (entries, "one-run")):
        old_heading = heading.inner_text()
        if links is entries:
            other_views.click()
        links.get_by_role("link", name=PLACES[slug], exact=True).click()
        expect(heading).not_to_have_text(old_heading, timeout=20_000)
        # The test leaves Explore before its figure is complete, so no scenario is expected there.
        if slug != EXPLORE:
            expect_scenario(page, ready, 3)
            page.wait_for_url(
                lambda url, target=slug: (
                    f"/{target}?" in url and "n=2000&" in url and "&d=3&" in url
                ),
                timeout=20_000,
            )
    slider(page, "Dimension d").press("ArrowRight")
    page.wait_for_url(lambda url: "&d=5&" in url, timeout=20_000)
    menu.get_by_role("link", name="Explore", exact=True).click()
    expect(heading).to_have_text(QUESTION, timeout=20_000)
    expect_scenario(page, ready, 5)


@pytest.mark.slow
def test_the_navigation_leads_to_every_page_with_the_scenario_of_explore_and_back(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto(dashboard + START)
    expect_scenario(page, ready, 3)
    heading = page.get_by_role("heading", level=1)
    menu = page.get_by_role("navigation", name="App pages")
    titles = {heading.inner_text()}
    views = [slug for view in VIEWS for slug in (next(iter(view)), *view) if slug != "explore"]
    # The first entry is skipped where it is the present page, whose own link does nothing.
    for slug in (*views, *(s for s in MENU if s not in (*views, "explore"))):
        old_heading, strip = heading.inner_text(), page.locator(".st-key-views")
        if page.url.split("?")[0].endswith(slug):
            continue
        links = menu if slug in MENU else strip
        # Explore offers its views in a menu.
        if heading.inner_text() == QUESTION and slug not in MENU:
            page.get_by_role("button", name="⋯").click()
            links = page.get_by_test_id("stPopoverBody")
        links.get_by_role("link", name=PLACES[slug], exact=True).click()
        page.wait_for_url(re.compile(rf"/{slug}(\?.*)?$"), timeout=20_000)
        expect(heading).to_have_count(1, timeout=20_000)
        expect(heading).not_to_have_text(old_heading, timeout=20_000)
        titles.add(heading.inner_text())
        if slug in SHOWING:
            expect_scenario(page, ready, 3)
            page.wait_for_url(lambda url: "n=2000&" in url and "&d=3&" in url, timeout=20_000)
    assert len(titles) == len(PLACES)
    slider(page, "Dimension d").press("ArrowRight")
    page.wait_for_url(lambda url: "&d=5&" in url, timeout=20_000)
    menu.get_by_role("link", name="Explore", exact=True).click()
    expect(heading).to_have_text(QUESTION, timeout=20_000)
    expect_scenario(page, ready, 5)


@pytest.mark.slow  # The same visit runs without a browser in tests/app/shell/test_visit.py.
def test_a_page_that_needs_another_value_says_so_and_leads_back(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + START)
    ready(page, seconds=60)
    page.get_by_test_id("stTopNav").get_by_role("link", name="Lower bounds", exact=True).click()
    note = page.locator(".st-key-lower_apart")
    expect(note).to_contain_text(re.compile(r"Mean estimation \(yours: .+\)"), timeout=20_000)
    page.get_by_role("radio", name="The proof", exact=True).click()
    page.get_by_role("button", name="Statistics bites").click()
    ready(page, seconds=60)
    expect(note).to_contain_text("d = 200 (yours: 3)")
    page.get_by_role("button", name="Back to mine").click()
    expect_scenario(page, ready, 3)
    page.get_by_role("button", name="Use it everywhere").click()
    expect(note).to_have_count(0)


def test_each_step_back_is_a_page_with_parameters_of_its_own(
    page: Page, dashboard: str, ready: Ready
) -> None:
    """Streamlit may come to a page by its path first, or by its parameters first."""

    def expect_address(end: str) -> None:
        """Wait until the page is at an address that ends so."""
        page.wait_for_url(lambda url: url.endswith(end), timeout=60_000)
        ready(page, seconds=60)
        assert page.url.endswith(end)
        expect(page.get_by_text("In the address:")).to_have_count(0)

    page.goto(f"{dashboard}/bounds?d=3")
    ready(page, seconds=60)
    page.get_by_role("slider", name="Dimension d").press("ArrowRight")
    expect_address("/bounds?d=5")
    ends = ["/bounds?d=3", "/bounds?d=5"]
    for name in ("Geometry & users", "Privacy", "Methods", "Errata"):
        page.get_by_role("link", name=name, exact=True).first.click()
        end = "/errata" if name == "Errata" else f"/{name.split()[0].lower()}?d=5"
        expect_address(end)
        ends.append(end)
    expect(page.get_by_role("heading", level=1)).to_have_text("What was wrong in print?")
    for end in reversed(ends[:-1]):
        page.go_back()
        expect_address(end)
    expect(page.get_by_role("slider", name="Dimension d")).to_have_attribute("aria-valuetext", "3")
    for end in ends[1:]:
        page.go_forward()
        expect_address(end)
    # Steps follow each other so fast that messages of earlier pages arrive late; they change no
    # address.
    for steps in (-1, 1, -1, -1, 1, -1, -1, -1):
        page.evaluate("steps => history.go(steps)", steps)
        page.wait_for_timeout(60)
    expect_address("/bounds?d=5")
    for end in ends[2:]:
        page.go_forward()
        expect_address(end)


def test_a_late_message_of_a_left_page_changes_neither_history_nor_address(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(f"{dashboard}/bounds?d=3")
    ready(page, seconds=60)
    page.get_by_role("slider", name="Dimension d").press("ArrowRight")
    page.wait_for_url(lambda url: url.endswith("?d=5"), timeout=20_000)
    page.get_by_role("slider", name="Records n").press("ArrowRight")
    page.wait_for_url(lambda url: "&d=5" in url, timeout=20_000)
    ready(page, seconds=60)
    push_reordered = """() => {
      const before = history.length
      const parameters = location.search.slice(1).split("&")
      history.pushState({}, "", "/bounds?" + parameters.reverse().join("&"))
      return history.length - before
    }"""
    assert page.evaluate(push_reordered) == 0
    go_back = """() => new Promise((resolve) => {
      addEventListener("popstate", () => {
        const before = history.length
        history.replaceState({}, "", "/bounds?d=9")
        history.pushState({}, "", "/privacy?d=9")
        resolve([location.pathname + location.search, history.length - before])
      }, { once: true })
      history.back()
    })"""
    assert page.evaluate(go_back) == ["/bounds?d=5", 0]
    ready(page, seconds=60)
    assert page.url.endswith("/bounds?d=5")
    expect(page.get_by_role("slider", name="Dimension d")).to_have_attribute("aria-valuetext", "5")


LINKS = """<body data-test-script-state="notRunning">
<main class="st-key-page"><div id="place" style="--st-background-color: #000"></div>
  <a href="/one-run">One run</a> <a href="/">Explore</a>
</main></body>"""
SERVER_SIDE = """() => {
  window.asked = 0
  window.told = []
  window.come = (path) => {  // what the server sends: the address, then the page
    window.leave?.()
    history.pushState(null, "", path)
    if (path === "/") window.leave = arrive({ setTriggerValue: () => (window.asked += 1) })
  }
  document.addEventListener("click", (event) => event.preventDefault())
  watch({
    data: { place: "", places: ["one-run"], dark: false, widths: {}, close: "#none" },
    parentElement: document.getElementById("place"),
    setStateValue: (name) => told.push(name),
  })
  window.come("/")
  document.querySelector("a").click()
}"""


def test_a_visitor_who_has_clicked_away_is_not_brought_back_by_a_slow_server(
    page: Page, dashboard: str
) -> None:
    def count_asked(path: str = "") -> int:
        """Go to a path if one is given; return how often the server has been asked for a page after
        20 seconds of the fake clock.
        """
        if path:
            page.evaluate(f"come('{path}')")
        page.clock.run_for(20_000)
        return int(page.evaluate("asked"))

    page.clock.install()
    page.goto(dashboard + "/_stcore/health")
    page.set_content(LINKS)
    for name, module in (("watch", "window.js"), ("arrive", "arrival.js")):
        code = script(module).replace("export default", f"window.{name} =")
        page.evaluate(f"() => {{ {code} }}")
    page.evaluate(SERVER_SIDE)
    assert count_asked() == 0  # The server has not answered yet, so no page has been asked for.
    assert count_asked(path="/") == 0  # The page that was requested before the click arrives.
    assert count_asked(path="/one-run") == 0
    # The theme is not reported yet, since the report would run Explore again.
    assert page.evaluate("told") == []
    page.get_by_role("link", name="Explore").click()
    assert count_asked(path="/") == 1
    assert "dark" in page.evaluate("told")
