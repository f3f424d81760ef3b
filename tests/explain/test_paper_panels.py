"""The panels of a reproduced paper: runs, the rate beside them, and slopes equal to a sweep's."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.catalogue import bound, method_card
from dpsco_core.explain.tables.papers.panels import PaperPanel, paper_panels
from dpsco_core.explain.tables.papers.papers import PAPERS, reproduced_paper
from dpsco_core.explain.tables.papers.slopes_table import latex_table, slope_cells
from dpsco_core.results.slopes import line_slope
from dpsco_core.runs.study import study


@pytest.fixture(scope="module")
def panels() -> tuple[PaperPanel, ...]:
    """Return the panels of a paper's figures at small sizes."""
    return paper_panels(reproduced_paper("zhao-2024"), {"trials": 3, "n": 6000})


def test_a_curve_is_the_mean_of_its_trials_and_its_slope_is_that_of_the_means(
    panels: tuple[PaperPanel, ...],
) -> None:
    for panel in panels:
        for curve in panel.curves:
            if panel.axis != "p":
                slope = line_slope(np.array(curve.x), np.array(curve.mean))
                assert curve.fitted == pytest.approx(slope, abs=1e-9)
                assert curve.predicted_low <= curve.predicted_high
            else:
                assert math.isnan(curve.fitted) and curve.slope_text == ""
    (clipped,) = (c for c in panels[0].curves if c.method == "mean.clipped")
    scenario = replace(panels[0].scenario, methods=("mean.clipped",))
    errors = [o.error for o in study(scenario) if o.x == clipped.x[0]]
    assert clipped.mean[0] == pytest.approx(sum(errors) / len(errors), rel=1e-12)


def test_a_predicted_line_is_the_rate_times_one_constant(panels: tuple[PaperPanel, ...]) -> None:
    count = 0
    for panel in panels:
        for curve in panel.curves:
            if not curve.predicted:
                continue
            row = bound(method_card(curve.method).rate)
            rates = [row.value(panel.scenario.at(x).setting) for x in curve.x]
            ratios = np.array(curve.predicted) / np.array(rates)
            assert ratios == pytest.approx(np.full(len(ratios), ratios[0]), rel=1e-9)
            misses = np.log(np.array(curve.mean) / np.array(curve.predicted))
            assert abs(misses.sum()) < 1e-9
            count += 1
    assert count >= 8


def test_every_paper_sweeps_its_sizes_its_budget_and_one_further_axis() -> None:
    for entry in PAPERS:
        for section in entry.sections:
            assert section.axes[:3] == ("n", "d", "epsilon")
            assert section.axes[3] in ("p", "q", "m") and len(section.axes) == 4
            section.figure_point({})


def test_the_latex_table_has_every_printed_slope(
    panels: tuple[PaperPanel, ...],
) -> None:
    text = latex_table(reproduced_paper("zhao-2024"), panels)
    cells = slope_cells(panels)
    assert len(cells) == 9
    assert all(f"${row[2]}" in text for row in cells)
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and "fitted" not in line]
    assert {line.count("&") for line in rows if "multicolumn" not in line} == {7}
    assert "-0.00" not in text
