"""A stored study in Chromium: chosen from the computer, drawn, and still there after a visit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from dpsco_core.runs.store import Store
from dpsco_core.runs.study import cells, run_cell
from dpsco_core.scenario import Scenario


@pytest.mark.slow  # A quick test in tests/app/places/test_open_study.py opens a study too.
def test_a_study_above_the_caps_opens_from_a_file(
    page: Page, dashboard: str, ready: Callable[..., None], tmp_path: Path
) -> None:
    large = Scenario(methods=("mean.clipped",), n=500, axis="n", grid=(500, 10**8), trials=300)
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        store.begin(large)
        for cell in list(cells(large))[:6]:
            small = replace(cell, point=replace(cell.point, n=500))
            store.put(cell, replace(run_cell(small), x=cell.x))
    page.goto(dashboard + "/?trials=5&grid=1000,5000")
    ready(page)
    page.get_by_role("button", name="Presets").click()
    page.get_by_role("tab", name="Open a study").click()
    dialog = page.get_by_test_id("stDialog")
    dialog.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(path)
    expect(dialog.get_by_text("cannot be run on")).to_be_visible()
    page.wait_for_timeout(500)  # The dialog's transition has to end first.
    report = Axe().run(page)
    # Streamlit's own drop zone is presentational and has a label, which is a minor fault that only
    # Streamlit can mend.
    accepted_violations = {"presentation-role-conflict"}
    assert {v["id"] for v in report.response["violations"]} <= accepted_violations, (
        report.generate_report()
    )
    dialog.get_by_role("button", name="Open this study").click()
    expect(dialog).to_be_hidden()
    status = page.locator(".status")
    expect(status).to_contain_text("Stored: 6 of 600 runs")
    ready(page)
    expect(page.get_by_role("button", name="Run Shortcut")).to_be_disabled()
    page.get_by_role("link", name="Learn", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).not_to_contain_text("what does privacy cost")
    ready(page)
    page.get_by_role("link", name="Explore", exact=True).first.click()
    expect(status).to_contain_text("Stored: 6 of 600 runs")
    ready(page)
    figure = page.locator(".st-key-figure_wide .js-plotly-plot").last
    expect(figure).not_to_contain_text(re.compile("previous settings"))
