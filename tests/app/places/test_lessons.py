"""Lessons: findings follow from the numbers, sentences state prediction and measurement, all can
run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_app.figure.theme import Theme
from dpsco_app.front.links import BASE
from dpsco_app.lessons import findings as find
from dpsco_app.lessons.figures import figures
from dpsco_app.lessons.findings import LessonEvidence, LessonFinding
from dpsco_app.lessons.handle import choices_in_figure
from dpsco_app.lessons.lessons import BY_SLUG, LESSONS, SLUGS, Lesson
from dpsco_app.lessons.verdict import answer_text, judge
from dpsco_app.lessons.words import WORDS
from dpsco_app.pages.learn.state import measure
from dpsco_app.parts.options import number_text
from dpsco_app.parts.page import explore_query
from dpsco_app.shell.names import PLACES
from dpsco_core.audit.attacker import ACCUSED, MISSED
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import bound
from dpsco_core.explain.fano import by_hand
from dpsco_core.explain.lessons import (
    BIAS,
    CUT,
    GAUSSIAN,
    NOISE,
    PRIVATE,
    RADII,
    RADII_SHOWN,
    RIGHT,
    SAMPLING,
    STUDENT,
    SeriesPoint,
    parts,
    radius_parts,
    run_part,
    series_points,
)
from dpsco_core.explain.window import window
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

Curves = dict[str, dict[float, float]]


def test_a_choice_that_is_a_point_of_the_figure_is_drawn_there() -> None:
    lesson = BY_SLUG["packing"]
    (figure,) = figures(lesson, measure(lesson, is_preview=True), "", has_run=False)
    points = {(line.x[0], line.y[0]) for line in figure.panels[0].lines if len(line.x) == 1}
    assert len(set(lesson.spots)) == len(lesson.choices) == 4 and {*lesson.spots} <= points
    light, dark = Theme(dark=False), Theme(dark=True)
    for number, slug in enumerate(lesson.choices):
        data = choices_in_figure(lesson, slug, light)
        assert data["chosen"] == number
        x, y = data["places"][number]
        assert slug == f"{'upper' if y > 0 else 'lower'}-{'right' if x > 0 else 'left'}"
        assert data["colour"] != choices_in_figure(lesson, slug, dark)["colour"]
    assert choices_in_figure(lesson, None, light)["chosen"] is None
    assert not any(one.spots for one in LESSONS if one is not lesson)


def test_the_limit_on_attacks_is_drawn_only_after_the_run_and_below_the_measured_point() -> None:
    lesson = BY_SLUG["attacker"]
    evidence = measure(lesson)
    for has_run in (False, True):
        (figure,) = figures(lesson, evidence, "", has_run=has_run)
        panel = figure.panels[0]
        assert bool(panel.regions) == has_run and len(panel.lines) == 1 + has_run
        assert figure.y.low == 0 and figure.y.high == 100, "every prediction is in sight"
        assert panel.x.low < lesson.place(evidence, 50)[0] == 1 < panel.x.high
    (region,) = panel.regions
    edge = np.interp(1.0, region.x, region.upper)
    assert edge == pytest.approx(98.1675, abs=1e-2)
    finding = lesson.find(evidence)
    assert finding.answer == pytest.approx(panel.lines[-1].y[0])
    text = finding.text.replace("**", "")
    for reading in ("ε = 1 at δ = ", "ρ = 0.028", "μ = 0.237", "98.2 %", "promise 97.3 %", "9.4 p"):
        assert reading in text
    assert not judge(lesson, 37, finding).close and judge(lesson, 98, finding).close


def test_a_measured_share_below_the_proven_limit_is_shown_with_its_interval() -> None:
    """The limits of Clopper and Pearson turn the binomial tails into 2.5 % each."""
    lesson = BY_SLUG["attacker"]
    evidence = measure(lesson)
    (line,) = [
        line for line in figures(lesson, evidence, "", has_run=True)[0].panels[0].lines if line.half
    ]
    low, high = (line.y[0] - line.down[0]) / 100, (line.y[0] + line.half[0]) / 100
    missed = round(4000 * line.y[0] / 100)
    assert binom.sf(missed - 1, 4000, low) == pytest.approx(0.025)
    assert binom.cdf(missed, 4000, high) == pytest.approx(0.025)
    text = lesson.find(evidence).text
    assert f"interval: {100 * low:.1f} % to {100 * high:.1f} %" in text
    # The measurement lies below the limit on the average, and its interval holds the limit.
    assert line.y[0] < 98.1675 < 100 * high and "The limit lies inside that interval" in text
    far_points = series_of({MISSED: {1: 95.0}, ACCUSED: {1: 1.0}}, trials=40)
    assert (
        "The limit lies outside that interval"
        in lesson.find(LessonEvidence(points=far_points)).text
    )


def test_ten_rounds_are_played_and_the_best_guess_is_judged_not_the_luck() -> None:
    lesson = BY_SLUG["packing"]
    evidence = measure(lesson)
    (preview,), (whole,) = (
        figures(lesson, evidence, "", has_run=has_run) for has_run in (False, True)
    )
    hits, misses, star = whole.panels[0].lines[:3]
    (outcome,) = [row.values for row in whole.ladder.rows if row.key == "first"]
    assert outcome == ["a hit" if (star.x[0] in hits.x) else "a miss"]
    assert len(hits.x) + len(misses.x) == 10 and len(preview.panels[0].lines[0].x) == 1
    for line, outcome in ((hits, True), (misses, False)):
        for x, y, text in zip(line.x, line.y, line.hover, strict=True):
            assert (by_hand.nearest(x, y).replace("-", " ") in text) is outcome
    finding = lesson.find(evidence)
    assert finding.answer == by_hand.nearest(star.x[0], star.y[0])
    assert judge(lesson, finding.answer, finding).close
    text = finding.text.replace("**", "")
    assert f"right {len(hits.x)} times" in text and "right 2.5 times in 10 on average" in text
    assert f"more than {10 * by_hand.naming_chance():.1f} times" in text


def series_of(curves: Curves, trials: int = 1) -> tuple[SeriesPoint, ...]:
    """Return points with the given means, which are the medians and the quantiles of the points
    too.
    """
    return tuple(
        SeriesPoint(series=name, x=float(x), trials=trials, mean=y, median=y, q10=y, q90=y)
        for name, values in curves.items()
        for x, y in values.items()
    )


def outcomes_of(errors: Mapping[str, Sequence[float]]) -> tuple[Outcome, ...]:
    """Return an outcome for each method and trial, with the given errors."""
    return tuple(
        Outcome(method=method, x=None, trial=i, error=error, seconds=0.0, spent=None)
        for method, errors_of_method in errors.items()
        for i, error in enumerate(errors_of_method)
    )


NUMBER = BY_SLUG["dimension"]
CHOICE = BY_SLUG["clipping"]


def finding_of(answer: str | float) -> LessonFinding:
    """Return a lesson's finding that has an answer and no text."""
    return LessonFinding(answer=answer, headline="", text="")


@pytest.mark.parametrize(
    ("lesson", "prediction", "answer", "close", "sentence"),
    [
        (
            NUMBER,
            2,
            2.43,
            True,
            "the answer is **2.4 times**. Close, too low by a factor of 1.2.",
        ),
        (
            NUMBER,
            1,
            2.43,
            False,
            "**1 time**; the answer is **2.4 times**. Too low by a factor of 2.4.",
        ),
        (NUMBER, 5, 2.43, False, "Too high by a factor of 2.1."),
        (NUMBER, 2.5, 2.43, True, "Right."),
        (NUMBER, 3, 2.0, True, "Close, too high"),
        (NUMBER, 3, 1.99, False, "Too high by a factor of 1.5."),
        (NUMBER, 3, -1.0, False, "Too high."),
        (CHOICE, "none", "none", True, "Right."),
        (
            CHOICE,
            "none",
            "some",
            False,
            "one in a hundred**; the answer is **Some: more than",
        ),
        (CHOICE, "none", "other", False, "the answer is **none of these**."),
        (BY_SLUG["free"], 2, 2.0, True, "**ε = 2**; the answer is the same. Right."),
        (BY_SLUG["free"], 5, 2.0, False, "Too high by a factor of 2.5."),
        (BY_SLUG["heavy-tails"], 50, 25.0, False, "Too high by a factor of 2."),
        (BY_SLUG["look"], 1.5, 1.1, True, "Close, too high by a factor of 1.4."),
        (
            BY_SLUG["users"],
            10_000,
            2000.0,
            False,
            "**m = 10,000**; the answer is **m = 2,000**.",
        ),
        (BY_SLUG["epsilon"], 70, 69.5, True, "Right."),
        (BY_SLUG["epsilon"], 67, 70.0, True, "Close, too low by 3 percentage points."),
        (BY_SLUG["epsilon"], 64, 70.0, True, "Close, too low by 6 percentage points."),
        (BY_SLUG["epsilon"], 63, 70.0, False, "Too low by 7 percentage points."),
        (BY_SLUG["epsilon"], 73, 71.6, True, "Close, too high by 1 percentage point."),
        # No share of right guesses can exceed e/(1 + e), however close it is to the measured one.
        (
            BY_SLUG["epsilon"],
            74,
            73.1,
            False,
            "Too high by 1 percentage point, and more than ε allows.",
        ),
    ],
)
def test_a_prediction_is_compared_with_what_was_measured(
    lesson: Lesson, prediction: str | float, answer: str | float, close: bool, sentence: str
) -> None:
    verdict = judge(lesson, prediction, finding_of(answer))
    assert verdict.close is close
    verb = "chose" if isinstance(prediction, str) else "predicted"
    assert sentence in verdict.sentence and verdict.sentence.startswith(f"You {verb} **")
    assert ("Right." in verdict.sentence or "Close, " in verdict.sentence) is close


@pytest.mark.parametrize(
    ("prediction", "verdict"),
    [
        (1000, "Right."),
        (2000, "Right."),
        (500, "Too low by a factor of 2."),
        (10_000, "Too high by a factor of 5."),
    ],
)
def test_both_ends_of_the_measured_interval_count_as_right(prediction: float, verdict: str) -> None:
    finding = replace(finding_of(2000.0), lower_end=1000.0)
    sentence = judge(BY_SLUG["users"], prediction, finding).sentence
    assert f"the answer is **m = 1,000 to 2,000**. {verdict}" in sentence


def test_the_largest_record_is_the_median_at_the_last_n() -> None:
    points = series_of({GAUSSIAN: {10: 2, 10_000: 4}, STUDENT: {10: 1, 10_000: 40}})
    answer = find.largest_record(LessonEvidence(points=points))
    assert answer.answer == 40 and "10 times" in answer.headline and "**40**" in answer.text


@pytest.mark.parametrize(
    ("mean", "sturdy", "answer"),
    [
        ([1.0] * 95 + [9.0] * 5, [1.0] * 95 + [3.0] * 5, "split"),
        ([1.0] * 100, [2.0] * 100, "mean"),
        ([2.0] * 100, [1.0] * 100, "sturdy"),
        ([1.0] * 95 + [3.0] * 5, [1.0] * 95 + [9.0] * 5, "other"),
        ([1.0] * 100, [1.0] * 100, "other"),
    ],
)
def test_the_sturdier_estimator_is_the_one_better_in_median_and_tail(
    mean: list[float], sturdy: list[float], answer: str
) -> None:
    rows = {"mean.sample": mean, "mean.median-of-means": sturdy}
    evidence = LessonEvidence(points=(), outcomes=outcomes_of(rows))
    assert find.sturdier_average(evidence).answer == answer


def test_right_guesses_are_counted_over_all_parts() -> None:
    points = series_of({RIGHT: {100: 0.7}}, trials=40)
    answer = find.right_guesses(LessonEvidence(points=points))
    assert answer.answer == pytest.approx(70) and "4,000" in answer.text and "73" in answer.headline


@pytest.mark.parametrize(("cut", "answer"), [(0.0, "none"), (0.1, "some"), (0.9, "most")])
def test_the_share_of_clipped_records_is_read_at_the_best_radius(cut: float, answer: str) -> None:
    points = series_of(
        {
            PRIVATE: {1: 3.0, 5: 1.0, 20: 2.0},
            BIAS: {1: 3.0, 5: 0.6, 20: 0.0},
            SAMPLING: {1: 0.1, 5: 0.48, 20: 0.5},
            NOISE: {1: 0.1, 5: 0.64, 20: 1.9},
            CUT: {1: 1.0, 5: cut, 20: 0.0},
        }
    )
    finding = find.share_cut(LessonEvidence(points=points))
    assert finding.answer == answer and "radius, 5," in finding.headline
    assert "sampling **23 %**, clipping bias **36 %**, noise **41 %**" in finding.text


def test_the_step_on_looking_says_that_it_has_more_radii_than_the_step_before() -> None:
    best = min(radius_parts().items(), key=lambda item: item[1].error)[0]
    counts_near_best = [
        sum(best / 2 < r < 2 * best for r in radii) for radii in (RADII, RADII_SHOWN)
    ]
    assert (
        counts_near_best[0] < counts_near_best[1]
        and "more radii near the best one" in WORDS["look"].text
    )


def test_the_fall_is_the_ratio_of_the_first_and_last_error() -> None:
    points = series_of(
        {"mean.sample": {500: 0.1, 50_000: 0.02}, "mean.clipped": {500: 1.0, 50_000: 0.1}}
    )
    finding = find.fall_of_error(LessonEvidence(points=points))
    assert finding.answer == pytest.approx(10)
    for text in (finding.headline, finding.text.replace("**", "")):
        assert "a factor of 10;" in text and "a factor of 5" in text


@pytest.mark.parametrize(
    ("private", "answer"),
    [
        ((5, 2, 1.05, 1.0), 2.0),
        ((1.0, 1.0, 1.0, 1.0), 0.5),
        ((5, 1.05, 1.5, 1.0), 5.0),  # The condition must hold from the point on, not only at it.
    ],
)
def test_privacy_counts_as_free_only_if_it_is_free_at_all_larger_epsilons(
    private: tuple[float, ...], answer: float
) -> None:
    xs = (0.5, 1, 2, 5)
    points = series_of(
        {
            "mean.sample": dict.fromkeys(xs, 1.0),
            "mean.clipped": dict(zip(xs, private, strict=True)),
        }
    )
    assert find.epsilon_of_free_privacy(LessonEvidence(points=points)).answer == answer


def test_laplace_over_gaussian_is_read_at_the_last_dimension() -> None:
    points = series_of({"mean.cwme-pure": {2: 1.0, 100: 6.0}, "mean.cwme-cdp": {2: 2.0, 100: 2.0}})
    finding = find.laplace_over_gaussian(LessonEvidence(points=points))
    assert finding.answer == 3 and "d = 100" in finding.headline and "0.5" in finding.text


@pytest.mark.parametrize(("start", "answer"), [(0.1, "start"), (0.9, "sco.clipped")])
def test_the_answer_with_the_least_risk_may_be_that_without_data(start: float, answer: str) -> None:
    points = series_of(
        {
            "sco.erm": {500: 0.05, 20_000: 0.01},
            "sco.cwme": {500: 0.6, 20_000: 0.03},
            "sco.clipped": {500: 0.3, 20_000: 0.02},
        }
    )
    finding = find.least_risk(LessonEvidence(points=points, start={500.0: start, 20_000.0: start}))
    assert finding.answer == answer and "clipped gradients: 2 times" in finding.headline


def test_the_width_gain_is_what_privacy_adds_on_the_ball_over_the_cross() -> None:
    method = "sco.objective-perturbation"
    cross = {method: {5: 1.0, 200: 0.02}, "sco.erm": {5: 0.1, 200: 0.01}}
    ball = {method: {5: 1.0, 200: 0.11}, "sco.erm": {5: 0.1, 200: 0.03}}
    evidence = LessonEvidence(
        points=series_of(cross), second_points=series_of(ball), start={200.0: 0.05}
    )
    finding = find.width_gain(evidence)
    assert finding.answer == pytest.approx(8) and "**3 times** smaller" in finding.text
    assert "more than the risk of the answer 0" in finding.text
    # The expected ratios are Explore's price on each set: 0.02 over 0.01, and 0.11 over 0.03.
    assert "**2 times** the excess risk on the ℓ₁ ball and **3.7 times** on the" in finding.text


@pytest.mark.parametrize(
    ("filtered", "answer"),
    [((9, 3, 1, 0.1), 100.0), ((9, 1, 3, 0.1), 1000.0)],
)
def test_a_filter_that_pays_must_stay_better_at_larger_m(
    filtered: tuple[float, ...], answer: float
) -> None:
    xs = (1, 10, 100, 1000)
    points = series_of(
        {
            "user.clipped-means": dict.fromkeys(xs, 2.0),
            "user.accelerated": dict(zip(xs, filtered, strict=True)),
        }
    )
    for blank, has_remark in ((0.5, True), (2.5, False)):
        start = dict.fromkeys(map(float, xs), blank)
        finding = find.items_at_which_filter_pays(LessonEvidence(points=points, start=start))
        assert finding.answer == answer and ("never do." in finding.text) is has_remark
        lower_end = number_text(answer / 10)
        assert finding.lower_end == answer / 10
        wins = f"win once users hold {lower_end} to {number_text(answer)} items"
        assert finding.headline == f"Filtered gradients {wins}"
        useful_from = "1,000" if blank == 0.5 or answer == 1000 else "100"
        assert f"Not before m = **{useful_from}** do" in finding.text


def test_the_floor_is_compared_with_simple_clipping_at_the_last_n() -> None:
    points = series_of({"mean.clipped": {500: 0.4, 20_000: 0.3}})
    finding = find.above_floor(LessonEvidence(points=points, floor={500.0: 0.2, 20_000.0: 0.1}))
    assert finding.answer == pytest.approx(3) and "n = 20,000" in finding.text
    assert "error of simple clipping is 3 times" in finding.headline


@pytest.mark.parametrize("lesson", LESSONS, ids=SLUGS)
def test_a_lesson_has_all_its_texts_and_measurements(lesson: Lesson) -> None:
    words = lesson.words
    texts = (words.title, words.text, words.question, words.preview_title, words.explanation)
    assert all(texts) and words.question.endswith(("?", "%.", "4."))
    assert sum(text.count("$") for text in texts) // 2 <= 2
    assert bool(lesson.choices) != bool(lesson.numbers)
    assert all(a < b for a, b in pairwise(lesson.numbers))
    scenario = lesson.scenario.validate(DASHBOARD)
    assert set(lesson.preview_methods) < set(scenario.methods) or lesson.experiment is not None
    assert lesson.experiment is not None or lesson.preview_methods
    # Such a scenario runs in a few seconds; the slow tests measure the times.
    assert scenario.cells <= 400
    assert {slug for slug, _ in lesson.further_pages} <= set(PLACES)
    query = explore_query(scenario, against=lesson.second_set)
    assert (
        Scenario.from_query({k: v for k, v in query.items() if k not in ("show", "against")}, BASE)
        == scenario
    )
    for answer in (*lesson.choices, *lesson.numbers):
        assert answer_text(lesson, answer)


@pytest.mark.parametrize(
    "lesson", [one for one in LESSONS if one.numbers], ids=lambda one: one.slug
)
def test_the_trials_land_on_the_line_that_is_predicted(lesson: Lesson) -> None:
    evidence = measure(lesson)
    (figure, *_) = figures(lesson, evidence, "", has_run=True)
    panel = figure.panels[0]
    trials = lesson.trials(evidence)
    for x, y in trials:
        assert panel.x.low <= x <= panel.x.high and y > 0
    if lesson.experiment is None:
        means = find.curve(evidence.points, lesson.lands)
        for x, mean in means.items():
            errors = [error for place, error in trials if place == x]
            assert len(errors) == lesson.scenario.trials and sum(errors) / len(
                errors
            ) == pytest.approx(mean)
    answer = float(lesson.find(evidence).answer)
    places = [lesson.place(evidence, number) for number in (*lesson.numbers, answer)]
    for x, y in places:  # Every predicted number lies inside the figure.
        assert panel.x.low <= x <= panel.x.high and figure.y.low <= y <= figure.y.high
    if lesson.height is None:
        assert [x for x, _ in places] == [*lesson.numbers, answer]
    else:
        assert {x for x, _ in places} == {lesson.last_x}


def test_every_text_belongs_to_a_lesson() -> None:
    assert tuple(WORDS) == SLUGS and len(SLUGS) == len(set(SLUGS)) == 15


def test_the_floor_of_a_lesson_is_the_largest_by_privacy_that_binds_every_algorithm() -> None:
    lesson = BY_SLUG["lower-bound"]
    known_bounds = window(replace(lesson.scenario, axis=None, grid=()), "approx")
    private = [slug for slug in known_bounds.lowers if bound(slug).card.privacy == "approx"]
    assert private[0] == lesson.floor  # The largest bound comes first.


def test_the_worst_of_a_hundred_is_where_the_curve_meets_one_per_cent() -> None:
    """The table, the headline and the curve give one number; and each curve has one name."""
    lesson = BY_SLUG["the-mean"]
    rng = np.random.default_rng(3)
    errors = {m: rng.pareto(2, size=200).tolist() for m in lesson.scenario.methods}
    evidence = LessonEvidence(points=(), outcomes=outcomes_of(errors))
    (figure,) = figures(lesson, evidence, "", has_run=True)
    for line, row in zip(figure.panels[0].lines, figure.ladder.rows, strict=True):
        (crossing,) = (x for x, y in zip(line.x, line.y, strict=True) if y == pytest.approx(1.0))
        assert row.values == [find.short(crossing)]
        assert not line.label
        assert f"**{crossing:.2g}**" in lesson.find(evidence).text


def test_a_table_at_the_best_radius_is_in_the_order_of_its_numbers() -> None:
    lesson = BY_SLUG["clipping"]
    rows = tuple(row for part in parts("radius") for row in run_part(part))
    evidence = LessonEvidence(points=series_points(rows), rows=rows)
    (figure,) = figures(lesson, evidence, "", has_run=True)
    ladder_rows = sorted(figure.ladder.rows, key=lambda row: -row.end)
    values = [float(row.values[0]) for row in ladder_rows]
    assert values == sorted(values, reverse=True) and len(values) == 4
    assert not figure.ladder.leaders  # Leader lines would point to other heights.
