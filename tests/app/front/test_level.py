"""Errors of exactly 0, and methods that the trials cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dpsco_app.figure.theme import Theme
from dpsco_app.front.answer import Answer, answer
from dpsco_app.front.figure import front_figure
from dpsco_app.front.screen import front_screen
from dpsco_app.front.study import Study, agreed
from dpsco_app.front.titles import NO_BREAK
from dpsco_app.front.view import View
from dpsco_app.parts.options import rounded
from dpsco_core.scenario import Scenario
from tests.app.results import run
from tests.golden_sentences import GOLDEN

PUBLIC, CLIPPED, COORDINATES = "sco.erm", "sco.clipped", "sco.cwme"
L1 = Scenario(
    problem="linear",
    methods=(PUBLIC, CLIPPED, COORDINATES),
    geometry="l1",
    d=5,
    n=1000,
    axis="n",
    grid=(500, 1000),
    trials=3,
)


def study_with_errors(*errors: Sequence[float]) -> Study:
    """Return a study whose methods, in order, have the given errors at its two points."""
    errors_of_method = dict(zip(L1.methods, errors, strict=True))
    outcomes = [replace(o, error=errors_of_method[o.method][o.x == L1.n]) for o in run(L1).outcomes]
    return Study(scenario=L1, outcomes=outcomes)


def headline_text(reply: Answer) -> str:
    """Return the headline of an answer, with ordinary spaces."""
    return reply.plain.replace(NO_BREAK, " ")


def small_line(reply: Answer) -> str:
    """Return the small print below an answer, with ordinary spaces."""
    return "".join(text for text, _ in reply.small).replace(NO_BREAK, " ")


def test_an_error_of_zero_is_drawn_at_the_edge_and_mentioned_above_the_figure() -> None:
    study = study_with_errors((0, 0), (0.5, 0), (0.6, 0.3))
    figure = front_figure([study], View(card="others"), "An answer")
    edge, label = figure.y.ticks[0]
    (panel,) = figure.panels
    lines = {line.key: line for line in panel.lines}
    heights = [list(lines[method].y) for method in L1.methods]
    assert heights == [[edge, edge], [0.5, edge], [0.6, 0.3]]
    assert label == "0" and figure.y.low < edge < 0.3 and panel.gap is None
    assert "lower edge" in str([words.lines for words in panel.words])
    assert "lower edge" in lines[CLIPPED].hover[1] and "lower edge" not in lines[CLIPPED].hover[0]
    values = {row.key: row.values[0] for row in figure.ladder.rows}
    assert [values[method] for method in L1.methods] == ["0", "0", "0.30"]
    prices = {row.key: row.values[1] for row in figure.ladder.rows}
    # A ratio to an error of 0 has no price.
    assert {prices[method] for method in L1.methods} == {""}
    (zero_label,) = [
        row.values[1]
        for row in front_figure([study_with_errors((1, 1), (2, 2), (3, 3))], View()).ladder.rows
        if row.key == CLIPPED
    ]
    assert zero_label == "2.0×"
    assert study.lead == CLIPPED
    assert headline_text(answer([study])) == GOLDEN["an excess risk of 0"]
    assert small_line(answer([study])).endswith("clipped gradients, at n = 1,000, d = 5, ε = 1.")
    at_500 = replace(study, scenario=replace(L1, n=500))
    assert headline_text(answer([at_500])) == GOLDEN["an excess risk instead of 0"]


def test_only_a_panel_with_an_error_of_zero_has_the_note_and_the_tick_for_it() -> None:
    positive, with_zeros = (
        study_with_errors((0.1, 0.1), (0.2, 0.2), (0.3, 0.3)),
        study_with_errors((0, 0), (1, 0), (1, 1)),
    )
    for studies, expected in (
        ([positive, with_zeros], [False, True]),
        ([with_zeros, with_zeros], [True, False]),
    ):
        figure = front_figure(studies, View())
        words = ["lower edge" in str([w.lines for w in panel.words]) for panel in figure.panels]
        assert words == expected and figure.y.ticks[0][1] == "0"
    figure = front_figure([positive], View())
    assert "0" not in [text for _, text in figure.y.ticks]


def test_the_best_method_is_level_with_those_that_the_trials_cannot_distinguish() -> None:
    study = study_with_errors((0.1, 0.1), (0.2, 0.2), (0.3, 0.3))
    assert study.level == () and "level" not in small_line(answer([study]))
    noise = (0.15, 0.2, 0.26)
    close = [
        replace(o, error=noise[o.trial]) if o.method == COORDINATES else o for o in study.outcomes
    ]
    tied = replace(study, outcomes=close)
    assert (tied.lead, tied.level) == (CLIPPED, (COORDINATES,))
    words = "clipped gradients (level with coordinate-wise gradients), against"
    assert words in small_line(answer([tied])) and "level" not in headline_text(answer([tied]))
    # With two panels, the answer names the method that is best, or level with the best, in both.
    tail_study = study_with_errors((0.1, 0.1), (0.2, 0.2), (0.2, 0.2))
    assert words in small_line(answer([tied, replace(tail_study, role="tail")]))
    assert "level" not in small_line(answer([study, replace(tail_study, role="tail")]))
    tail_study = study_with_errors((0.1, 0.1), (0.3, 0.3), (0.2, 0.2))
    remark = small_line(answer([tied, replace(tail_study, role="tail")]))
    words = "clipped gradients (level with coordinate-wise gradients) on the left and coordinate-"
    assert words in remark and "gradients on the right" in remark


def test_two_panels_name_one_method_if_their_trials_allow_it() -> None:
    main_study = study_with_errors((0.1, 0.1), (0.2, 0.2), (0.3, 0.3))
    noise = (0.15, 0.2, 0.22)
    close = [
        replace(o, error=noise[o.trial]) if o.method == COORDINATES else o
        for o in main_study.outcomes
    ]
    tied = replace(main_study, outcomes=close, role="tail")
    assert tied.lead == COORDINATES
    assert [study.lead for study in agreed([main_study, tied])] == [CLIPPED, CLIPPED]
    other_study = study_with_errors((0.1, 0.1), (0.3, 0.3), (0.2, 0.2))
    assert [study.lead for study in agreed([main_study, other_study])] == [CLIPPED, COORDINATES]
    figure = front_screen((main_study, tied), View(), Theme()).figure
    assert [panel.gap and panel.gap.key for panel in figure.panels] == [CLIPPED, CLIPPED]


def test_an_error_far_below_all_others_is_drawn_at_the_edge_and_does_not_stretch_the_axis() -> None:
    study = study_with_errors((1e-29, 1e-29), (0.5, 0.4), (0.6, 0.3))
    figure = front_figure([study], View())
    edge, label = figure.y.ticks[0]
    lines = {line.key: list(line.y) for line in figure.panels[0].lines}
    assert label == "≈ 0" and figure.y.low > 1e-3 and lines[PUBLIC] == [edge, edge]
    assert "far below" in str([words.lines for words in figure.panels[0].words])
    (row,) = (row for row in figure.ladder.rows if row.key == PUBLIC)
    assert row.values[0] == rounded(1e-29)


def test_a_huge_price_does_not_stretch_the_axis() -> None:
    price, low = View(measure="price"), study_with_errors((0.1, 0.1), (0.5, 0.4), (0.6, 0.3))
    high = study_with_errors((1e-29, 1e-29), (0.5, 0.4), (0.6, 0.3))
    axis_of_low, axis_of_both = (front_figure(studies, price).y for studies in ([low], [low, high]))
    assert axis_of_both.low == pytest.approx(
        axis_of_low.low
    ) and axis_of_both.high == pytest.approx(axis_of_low.high)
    assert "≈ 0" not in [text for _, text in axis_of_both.ticks]
