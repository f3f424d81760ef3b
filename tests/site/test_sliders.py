"""The page with sliders in Chromium, from the disk: a move changes the drawing at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from dpsco_app.static_page.sliders import sliders_page
from tests.app.static_page.test_sliders import STUDY


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the page of sliders; return its address."""
    path: Path = tmp_path_factory.mktemp("sliders") / "figure.html"
    path.write_text(sliders_page(STUDY), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        pytest.param(1280, "light", marks=pytest.mark.slow),
        (390, "dark"),
        pytest.param(1280, "dark", marks=pytest.mark.slow),
        pytest.param(390, "light", marks=pytest.mark.slow),
    ],
)
def test_a_move_draws_another_figure_without_an_accessibility_fault(
    browser: Browser, file: str, scheme: Any, width: int
) -> None:
    with browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    ) as context:
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file)
        drawing = page.locator("svg:visible").first
        expect(drawing.locator("text").first).to_be_visible()
        old_drawing = drawing.inner_html()
        page.locator("#field-epsilon").fill("0")
        assert drawing.inner_html() != old_drawing
        expect(page.locator("output").last).to_have_text("0.1")
        page.get_by_text("Every bound at the chosen point").click()
        expect(page.locator("#bounds tr").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        report = Axe().run(page)
        assert (report.violations_count, errors) == (0, []), report.generate_report()
