"""One run in Chromium: played, scrubbed and clipped; a phone, axe, and no other host."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from dpsco_app.figure.colours import INK
from dpsco_app.parts.touch.modules import script
from dpsco_app.parts.touch.run import RunLine, run_page
from dpsco_core.explain.anatomy import single_runs
from dpsco_core.explain.frames import frames
from dpsco_core.scenario import Scenario
from tests.browser.responsive import Ready, expect_no_axe_violation, expect_to_fit_a_phone

SMALL = "/one-run?problem=quadratic&n=500&d=3&trials=1&methods=sco.clipped&p=2"
PLAYED = SMALL.replace("quadratic&n=500", "least-squares&n=5000")


def sentence(page: Page) -> Locator:
    """Return the sentence of the page."""
    return page.locator(".st-key-one_run_sentence")


def compute(page: Page, expression: str, **values: Any) -> Any:
    """Return the value that an expression of lengths.js has in the browser, with `values` as its
    variables.
    """
    body = f"(({{{', '.join(values)}}}) => {{ {script('lengths.js')}\nreturn {expression} }})"
    return page.evaluate(body, values)


def test_a_run_is_played_scrubbed_and_clipped_and_its_sums_are_those_of_numpy(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + PLAYED + "&radius=0.5&seed=3")
    ready(page)
    scrub = page.get_by_role("slider", name="Step of the run")
    summary = page.locator("p.summary")
    panels = [page.locator(f"svg.{name}") for name in ("plane", "risks", "norms")]
    scrub.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator("b.step")).to_have_text(re.compile("Step 3 of"))
    expect(summary).to_contain_text("after 3 steps")
    panels_at_step_3 = [panel.inner_html() for panel in panels]
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play again")).to_be_visible(timeout=20_000)
    expect(summary).to_contain_text("The point that is released has")
    assert all(a != b.inner_html() for a, b in zip(panels_at_step_3, panels, strict=True))
    scrub.fill("3")
    expect(summary).to_contain_text("after 3 steps")
    assert panels_at_step_3 == [panel.inner_html() for panel in panels]

    old_sentence = sentence(page).inner_text()
    radius = page.get_by_role("slider", name="Clip radius R")
    radius.press("ArrowRight")
    expect(sentence(page)).not_to_have_text(old_sentence, timeout=20_000)
    box = panels[2].bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2)
    # Until the mouse is released, path and error are those of the old radius, and the page says so.
    expect(summary).to_contain_text("Path and error are still those of R =")
    expect(page.locator("section.run")).to_have_class(re.compile(r"\bold\b"))
    page.mouse.up()
    match = re.search(r"At radius ([\d.]+), ([\d.]+) %", summary.inner_text())
    assert match is not None
    expect(sentence(page)).to_contain_text(f"At radius {match[1]} ", timeout=20_000)
    ready(page)
    assert summary.inner_text().startswith("Excess risk after 3 steps")
    expect(page.locator("section.run")).not_to_have_class(re.compile(r"\bold\b"))
    headline = page.get_by_role("heading", level=2).first
    expect(headline).to_contain_text(f"At R = {match[1]}")
    expect(summary).to_contain_text(f"private run (R = {match[1]})")

    old_plane = panels[0].inner_html()
    page.get_by_role("button", name="Look closer").click()
    expect(page.get_by_role("button", name="Look closer")).to_have_attribute("aria-pressed", "true")
    assert panels[0].inner_html() != old_plane
    page.get_by_text("How this picture is drawn").click()
    with page.expect_download() as saved:
        page.locator("section.run button[name=svg]").click()
    words = [e.text for e in ElementTree.parse(saved.value.path()).iter() if e.tag.endswith("text")]
    assert "Lengths of gradients" in words and "start" in words
    with page.expect_download() as saved:
        page.locator("section.run button[name=png]").click()
    assert saved.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"

    norms = [0.0, *np.random.default_rng(0).pareto(2.0, 399).round(5).tolist()]
    for tried in (1e-3, 0.3, 1.0, 4.0, 1e3):
        shares = compute(page, "[shareClipped(n, r), shareLost(n, r)]", n=norms, r=tried)
        share_lost = np.maximum(np.array(norms) - tried, 0).sum() / np.sum(norms)
        assert shares == pytest.approx([np.mean(np.array(norms) > tried), share_lost], abs=1e-9)
    counts = compute(page, "binCounts(n, ends, 9)", n=norms, ends=[0.01, 100.0])
    in_range = np.clip([norm for norm in norms if norm > 0], 0.01, 100.0)
    assert counts == np.histogram(in_range, np.geomspace(0.01, 100.0, 10))[0].tolist()
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()


def test_the_exported_run_opens_from_a_file_and_respects_reduced_motion(
    page: Page, tmp_path: Path
) -> None:
    point = Scenario(problem="linear", methods=("sco.clipped",), n=200, d=3)
    runs = single_runs(point, "sco.clipped")
    lines = [RunLine(name=name, path=path, colour=INK) for name, path in runs.items()]
    file = tmp_path / "run.html"
    html = run_page(frames(point, runs), lines, dark=True, identity="", title="One run")
    file.write_text(html, encoding="utf-8")
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(file.as_uri())
    page.get_by_role("button", name="To the end").click()
    expect(page.get_by_role("button", name="Play again")).to_be_visible(timeout=2_000)
    expect(page.locator("p.summary")).to_contain_text("The point that is released has")
    page.get_by_role("slider", name="Clip radius R").press("Home")
    expect(page.locator("p.summary")).to_contain_text("100 % of the gradients")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()


# The cases are covered by tests/app/shell/test_stopped.py, and a visit by test_visit.py.
@pytest.mark.slow
def test_quick_clicks_from_page_to_page_lose_no_setting(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + SMALL + "&seed=3")
    explore = page.get_by_role("link", name="Explore", exact=True)
    bounds = page.get_by_role("link", name="Bounds", exact=True)
    for pause in (0, 100, 400):
        ready(page)
        for link in (explore, bounds, explore, bounds, bounds):
            link.click()
            page.wait_for_timeout(pause)
        page.wait_for_url(lambda url: "seed=3" in url and "n=500" in url, timeout=20_000)
        expect(page).to_have_url(re.compile("/bounds"))
    ready(page)
    explore.click()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar).to_contain_text("Seed = 3", timeout=20_000)


@pytest.mark.slow
def test_on_a_phone_the_page_fits(page: Page, dashboard: str, ready: Ready) -> None:
    expect_to_fit_a_phone(page, dashboard + PLAYED, ready, ("one_run_parts",))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_accessibility_fault(
    browser: Browser, dashboard: str, ready: Ready, scheme: str
) -> None:
    expect_no_axe_violation(
        browser,
        dashboard + PLAYED,
        ready,
        scheme,
        figure_name="one_run_parts",
        expander="How to read",
    )
