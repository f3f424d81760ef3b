"""The picture of the data shows the scenario's own data, and its caption holds along the axis."""

from __future__ import annotations

import base64
import re
from dataclasses import replace

import numpy as np
import pytest

from dpsco_app.figure.theme import Theme
from dpsco_app.front.figure import front_figure
from dpsco_app.front.panel import factor_text
from dpsco_app.front.pictures.data import BARS, MOST_SPIKED, data_html, far_records
from dpsco_app.front.questions.cards import cards_of
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_app.parts.presets import FIRST
from dpsco_core.data.hard import HardInstance
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

GRID = (1000, 10_000)
HARDEST = replace(FIRST.scenario, trials=2, grid=GRID)
TEXTBOOK = Scenario(p=2, axis="n", grid=GRID)


def drawing_of_data(html: str) -> str:
    """Return the decoded SVG of the only embedded picture of a page."""
    (code,) = re.findall(r"base64,([^']+)'", html)
    return base64.b64decode(code).decode()


def complete_study(scenario: Scenario) -> Study:
    """Return a study of the hardest data with all its cells run."""
    return Study(scenario=scenario, outcomes=tuple(study(scenario)), role="hardest")


def test_the_far_records_of_the_picture_are_those_of_the_instance() -> None:
    far = far_records(HARDEST)
    point = HARDEST.at(10_000)
    law = point.instance.law
    assert far is not None and isinstance(law, HardInstance)
    rows = law.draw(np.random.default_rng(0)).sample(400_000, np.random.default_rng(1)).x
    is_far = np.any(rows != 0, axis=1)
    # The count has mean 290 and standard deviation sqrt(290), so six standard deviations are a
    # third of it.
    assert is_far.mean() * point.n == pytest.approx(far.count, rel=0.4)
    assert far.count + far.other_count == point.n
    distance = np.abs(rows[is_far]).max() / np.sqrt(law.moment(2))
    assert far.distance == pytest.approx(distance, rel=1e-9)
    html = data_html(Study(scenario=HARDEST, role="hardest"), Theme())
    assert drawing_of_data(html).count("<circle") == far.count
    assert f"{far.other_count:,} alike" in drawing_of_data(html)
    assert f"{far.count} far records carry the mean" in html


def words_beside(scenario: Scenario) -> str:
    """Return the words beside the picture of the hardest data."""
    html = data_html(Study(scenario=scenario, role="hardest"), Theme())
    return re.sub(r"<[^>]+>", "", html)


def test_the_caption_says_that_the_hardest_data_differ_at_each_point_of_an_axis() -> None:
    for axis, grid in (("n", GRID), ("d", (5, 20)), ("epsilon", (0.5, 1.0))):
        scenario = replace(HARDEST, axis=axis, grid=grid)
        sign = {"epsilon": "ε"}.get(axis, axis)
        title = front_figure([complete_study(scenario)], View()).panels[0].x.title
        assert f"the hardest data are new for each {sign}" in title
        # Only along n does the number of far records stay the same.
        assert ("here" in words_beside(scenario)) == (axis != "n")
    assert "here" not in words_beside(replace(HARDEST, axis=None, grid=()))


def test_the_caption_says_every_n_only_if_the_number_of_far_records_is_constant() -> None:
    far = far_records(HARDEST)
    assert far is not None and far.is_steady
    along_d = far_records(replace(HARDEST, axis="d", grid=(5, 20)))
    assert along_d is not None and not along_d.is_steady
    alone = far_records(replace(HARDEST, axis=None, grid=()))
    assert alone is not None and not alone.is_steady
    uneven = far_records(replace(HARDEST, epsilon=0.3, n=10_000, grid=(60, 10_000)))
    assert uneven is None or not uneven.is_steady


def test_many_far_records_have_no_picture() -> None:
    many = replace(HARDEST, epsilon=0.02, axis=None, grid=(), n=500)
    law = many.instance.law
    assert isinstance(law, HardInstance) and law.spike_probability > MOST_SPIKED
    assert far_records(many) is None
    assert data_html(Study(scenario=many, role="hardest"), Theme()) == ""
    assert far_records(TEXTBOOK) is None


@pytest.mark.parametrize(
    ("problem", "law"), [("geometric-median", "far-points"), ("hinge", "corner-labels")]
)
def test_far_records_are_drawn_only_for_instances_that_hide_a_mean(problem: str, law: str) -> None:
    scenario = replace(HARDEST, problem=problem, distribution=law, methods=("sco.erm",))
    assert isinstance(scenario.instance.law, HardInstance)
    assert far_records(scenario) is None
    assert data_html(Study(scenario=scenario, role="hardest"), Theme()) == ""


def test_a_heavy_tail_is_drawn_with_isolated_far_dots_and_a_light_tail_as_a_bell() -> None:
    heavy = data_html(Study(scenario=TEXTBOOK), Theme())
    light = data_html(Study(scenario=replace(TEXTBOOK, distribution="gaussian")), Theme())
    bars = [drawing_of_data(html).count("<rect") for html in (heavy, light)]
    assert bars[0] < BARS / 4 < BARS / 2 < bars[1]
    assert drawing_of_data(heavy).count("<circle") > 3
    times = [float(re.findall(r"is ([\d.]+) medians out", html)[0]) for html in (heavy, light)]
    assert times[0] > 20 and 4 < times[1] < 8
    assert data_html(Study(scenario=replace(TEXTBOOK, m=10)), Theme()) == ""


def test_the_axis_has_the_ratio_at_its_ends_and_the_proof_says_why_it_is_constant() -> None:
    steps = {}
    for p in (2.0, 10.0):
        scenario = replace(HARDEST, p=p)
        shown = complete_study(scenario)
        title = front_figure([shown], View()).panels[0].x.title
        assert title.startswith("Records n (drag the dot")
        for n in GRID:
            row = shown.row_at(shown.lead, n)
            assert row is not None and row.price is not None
            assert f"{factor_text(row.price)} at n = {n:,}" in title.replace(
                "\N{NO-BREAK SPACE}", " "
            )
        proof = next(c for c in cards_of(shown, scenario, "proof") if c.slug == "proof")
        steps[p] = " ".join(proof.steps)
    assert "again have about 7, farther out: so the ratio stays" in steps[2.0]
    assert "so the ratio stays" not in steps[10.0]


def test_without_a_picture_the_axis_says_that_the_data_differ_at_each_point() -> None:
    many = replace(HARDEST, epsilon=0.02, n=500, grid=(400, 500))
    assert far_records(many) is None
    title = front_figure([complete_study(many)], View()).panels[0].x.title
    assert "new for each n" in title
