"""The picture to play with and the story, from a plain file server: no engine, no other host."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from dpsco_app.front.story import TITLE, steps
from dpsco_app.parts.presets import FIRST
from dpsco_core.explain.picture import Picture, picture
from dpsco_core.explain.why import why
from dpsco_core.privacy.mechanisms import gaussian_noise_std
from dpsco_core.scenario import Scenario
from tests.site.conftest import axe, state, tab_of

SCREENS = [(w, s) for w in (1400, 390) for s in ("light", "dark")]


def screens(quick: tuple[int, str]) -> list[Any]:
    """Return all kinds of screens as parameters of a test; all but `quick` are
    in the slow suite.
    """
    return [pytest.param(*one, marks=[] if one == quick else pytest.mark.slow) for one in SCREENS]


def drag(page: Page, scenario: Scenario) -> None:
    """Drag the circle of the picture, and compare its numbers with the library."""
    page.emulate_media(reduced_motion="reduce")
    drawing = picture(scenario)
    old_summary = page.locator("p.summary").inner_text()
    canvas = page.locator("canvas.records")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    scale = (box["height"] - 2) / 2 / (1.5 * drawing.start)  # The scale is in pixels per unit.
    page.mouse.move(x + drawing.start * scale, y)
    page.mouse.down()
    page.mouse.move(x + scale, y)
    page.mouse.up()
    expect(page.locator("label [data-value=radius]")).to_have_text("1")
    assert page.locator("p.summary").inner_text() != old_summary
    # The squares agree to a pixel.
    assert squares(page) == pytest.approx(expected(drawing, 1.0)[1:], rel=0.05)
    page.locator("input[name=radius]").fill("60")
    low, high = drawing.clipped.radii[[0, -1]]
    error, *parts = expected(drawing, low * (high / low) ** (60 / 200))
    typical = f"A typical release is {error:.2g} from the true mean."
    expect(page.locator("p.summary")).to_contain_text(typical)
    assert squares(page) == pytest.approx(parts, rel=1e-6)


def expected(drawing: Picture, radius: float) -> list[float]:
    """Return the typical error at a radius, and the squares of its parts: sampling,
    bias and noise.
    """
    noise_std = gaussian_noise_std(2 * radius / drawing.n, drawing.rho)
    parts = drawing.clipped.parts(drawing.n, radius, noise_std)
    return [parts.error, parts.sampling, parts.bias, parts.noise]


def squares(page: Page) -> list[float]:
    """Return the parts that the stack of squares shows, from bottom to top."""
    bars = page.locator("svg.bars rect.part").all()
    return [float(bar.get_attribute("data-square") or "") for bar in bars]


@pytest.mark.parametrize(("width", "scheme"), screens((390, "dark")))
def test_the_prepared_picture_answers_a_drag_as_the_library_does(
    browser: Browser, live: str, width: int, scheme: Any
) -> None:
    with tab_of(browser, live, width, scheme) as page:
        page.add_init_script("delete window.WebAssembly")
        page.goto(f"{live}/#picture")
        state(page, "none")
        expect(page.get_by_role("heading", level=1)).to_have_text("How a private mean is made")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        axe(page)
        drag(page, FIRST.scenario)
        expect(page.locator("#sample")).to_contain_text("not private itself")
        page.get_by_role("link", name="Curves").click()
        expect(page.locator("#figure .annotation").first).to_be_visible()
        expect(page.locator("canvas.records")).to_be_hidden()


@pytest.mark.parametrize(("width", "scheme"), screens((1400, "light")))
def test_the_story_goes_through_all_its_steps_by_keyboard(
    browser: Browser, live: str, width: int, scheme: Any
) -> None:
    numbers = why()
    story_steps = steps(numbers)
    with tab_of(browser, live, width, scheme) as page:
        page.emulate_media(reduced_motion="reduce")
        page.goto(f"{live}/story.html?p=3")
        expect(page.get_by_role("heading", level=1)).to_have_text(TITLE)
        title_place = page.locator(".told section.here h2")
        summary = page.locator("p.summary")
        summaries = [""]
        page.get_by_role("button", name="Step 1").focus()
        for i, step in enumerate(story_steps):
            expect(page.locator("nav [aria-current=step]")).to_have_text(f"{i + 1}")
            expect(title_place).to_have_text(step.title)
            if step.state.radius is not None:
                radius = f"{step.state.radius:.2g}"
                expect(page.locator("label [data-value=radius]")).to_have_text(radius)
            expect(summary).not_to_have_text(summaries[-1])
            summaries.append(summary.inner_text())
            page.keyboard.press("ArrowRight")
        assert len(story_steps) == 9
        best = re.escape(f"{numbers.heavy.best.error:.2g}")
        assert re.search(f"A typical release is {best} from", summaries[7])
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        axe(page)
        links = page.locator("#views a").all()
        assert [link.inner_text() for link in links] == [
            *("Curves", "A private mean", "Lessons", "A story in five minutes")
        ]
        assert page.locator("#notes a").count() == 3
        links[1].click()  # This link leads back, with the settings of the visit.
        page.wait_for_url(f"{live}/index.html?p=3#picture")
        expect(page.locator("#views [aria-current]")).to_have_text("A private mean")
