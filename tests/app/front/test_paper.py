"""The PDF figure shows the values of the figure on the page, with the same bytes each time."""

from __future__ import annotations

import re

from dpsco_app.figure.paper import pdf
from dpsco_app.front.figure import front_figure
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_app.parts.evaluations import hardest
from tests.app.results import SWEEP, run


def test_a_figure_for_a_paper_has_both_panels_in_one_column() -> None:
    hard = hardest(SWEEP)
    assert hard is not None
    studies = [
        Study(scenario=SWEEP, outcomes=run(SWEEP).outcomes),
        Study(scenario=hard, outcomes=run(hard).outcomes, role="hardest"),
    ]
    for count in (1, 2):
        figure = front_figure(studies[:count], View(show="upper bounds,lower bounds"), "An answer")
        content = pdf(figure, "n = 10,000")
        assert content.startswith(b"%PDF") and content == pdf(figure, "n = 10,000")
        (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", content)
        width, height = map(float, box)
        assert width < 3.4 * 72 and height > 2 * 72 * count
