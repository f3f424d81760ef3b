"""The figure of the coverage: a dot for each method, its interval, and the proven share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsco_app.pages.explore.coverage import COVERAGE_HELP, coverage_figure, coverage_text
from dpsco_core.results.coverage import Coverage
from tests.app.pages import open_page, written_text

ROWS = (
    Coverage(method="mean.clipped", trials=40, covering_trials=40),
    Coverage(method="mean.cwme-cdp", trials=40, covering_trials=37),
)


def test_each_dot_shows_the_observed_share_with_its_interval_and_a_line_the_nominal_share() -> None:
    figure = coverage_figure(ROWS)
    nominal, *dots = figure.panels[0].lines
    assert set(nominal.y) == {95.0}
    for row, dot in zip(ROWS, dots, strict=True):
        assert dot.key == row.method
        assert list(dot.y) == pytest.approx([100 * row.share])
        assert dot.y[0] + dot.half[0] == pytest.approx(100 * row.high)
        assert dot.y[0] - dot.down[0] == pytest.approx(100 * row.low)
    assert figure.y.low == 70.0 < 100 * ROWS[1].low
    assert "37 of 40 runs, 92 % (80 to 98 %)" in figure.alt


def test_the_axis_spans_80_to_100_if_every_interval_lies_there() -> None:
    figure = coverage_figure([ROWS[0]])
    assert figure.y.low == 80.0 and 100 < figure.y.high < 102
    assert [text for _, text in figure.y.ticks] == ["80", "85", "90", "95", "100"]
    assert coverage_text(replace(ROWS[0], covering_trials=38)).startswith("38 of 40 runs, 95 %")


@pytest.mark.parametrize(
    ("problem", "methods", "is_drawn"),
    [
        ("mean", "mean.clipped,mean.sample", True),
        ("mean", "mean.adaptive,mean.sample", False),
        ("quadratic", "sco.clipped,sco.erm", False),
    ],
)
def test_the_figure_of_coverage_appears_only_for_means_with_intervals(
    problem: str, methods: str, is_drawn: bool
) -> None:
    page = open_page(problem=problem, methods=methods, n="500", d="3", axis="", trials="3")
    page.session_state["fold_numbers"] = True
    page.run()
    assert (COVERAGE_HELP in written_text(page)) == is_drawn
