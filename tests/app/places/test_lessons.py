"""Lessons: what they find follows from the numbers, what they say holds both, all of them run."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pandas as pd
import pytest

from dpsco_app.pages.learn import drawing
from dpsco_app.pages.learn import findings as find
from dpsco_app.pages.learn.findings import LessonEvidence, LessonFinding
from dpsco_app.pages.learn.lessons import BY_SLUG, LESSONS, SLUGS, Lesson, answer_text, judge
from dpsco_app.pages.learn.state import LessonRun, evidence_before, given
from dpsco_app.pages.learn.words import WORDS
from dpsco_app.parts.page import explore_query
from dpsco_app.shell import visit
from dpsco_app.shell.names import PLACES
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import bound
from dpsco_core.explain.lessons import (
    BIAS,
    CUT,
    GAUSSIAN,
    NOISE,
    PRIVATE,
    RIGHT,
    SAMPLING,
    STUDENT,
    LessonRow,
)
from dpsco_core.explain.window import window
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

Curves = dict[str, dict[float, float]]


def study_of(curves: Curves) -> pd.DataFrame:
    """Return a summary with these mean errors by method and x."""
    return pd.DataFrame(
        [
            {"method": method, "x": float(x), "mean_error": error}
            for method, errors in curves.items()
            for x, error in errors.items()
        ]
    )


def series_of(curves: Curves, trials: int = 1) -> pd.DataFrame:
    """Return a table of an experiment with these means, which are the medians too."""
    return pd.DataFrame(
        [
            {"series": name, "x": float(x), "trials": trials, "mean": value, "median": value}
            for name, values in curves.items()
            for x, value in values.items()
        ]
    )


# -- judging ------------------------------------------------------------------------------------

NUMBER = replace(BY_SLUG["dimension"], near=1.5)
CHOICE = BY_SLUG["clipping"]


def finding_of(answer: str | float) -> LessonFinding:
    return LessonFinding(answer=answer, headline="", said="")


@pytest.mark.parametrize(
    ("lesson", "prediction", "answer", "close", "sentence"),
    [
        (NUMBER, 2, 2.43, True, "Measured: **2.4 times**. Close, too low by a factor of 1.2."),
        (
            NUMBER,
            1,
            2.43,
            False,
            "**1 time**. Measured: **2.4 times**. Too low by a factor of 2.4.",
        ),
        (NUMBER, 5, 2.43, False, "Too high by a factor of 2.1."),
        (NUMBER, 2.5, 2.43, True, "Right."),
        (NUMBER, 3, 2.0, True, "Close, too high"),
        (NUMBER, 3, 1.99, False, "Too high by a factor of 1.5."),
        (NUMBER, 3, -1.0, False, "Too high."),
        (CHOICE, "none", "none", True, "Right."),
        (CHOICE, "none", "some", False, "Measured: **Some: more than one"),
        (CHOICE, "none", "other", False, "Measured: **none of these**"),
        (BY_SLUG["free"], 2, 2.0, True, "**ε = 2**. Measured: **ε = 2**. Right."),
        (BY_SLUG["free"], 0.5, 2.0, False, "Too low by a factor of 4."),
        (BY_SLUG["users"], 10_000, find.NEVER, False, "**m = 10,000**. Measured: **never**."),
        (BY_SLUG["epsilon"], 70, 69.5, True, "Right."),
        (BY_SLUG["epsilon"], 67, 70.0, True, "Close, too low by 3 percentage points."),
        (BY_SLUG["epsilon"], 60, 70.0, False, "Too low by 10 percentage points."),
    ],
)
def test_a_prediction_is_compared_with_what_was_measured(
    lesson: Lesson, prediction: str | float, answer: str | float, close: bool, sentence: str
) -> None:
    verdict = judge(lesson, prediction, finding_of(answer))
    assert verdict.close is close
    assert sentence in verdict.sentence and verdict.sentence.startswith("You predicted: **")
    assert ("Right." in verdict.sentence or "Close, " in verdict.sentence) is close


# -- finding ------------------------------------------------------------------------------------


def test_the_largest_record_is_the_median_at_the_last_n() -> None:
    table = series_of({GAUSSIAN: {10: 2, 10_000: 4}, STUDENT: {10: 1, 10_000: 40}})
    answer = find.largest_record(LessonEvidence(table=table))
    assert answer.answer == 40 and "10 times" in answer.headline and "**40**" in answer.said


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
def test_the_sturdier_one_is_found_in_the_middle_and_in_the_tail(
    mean: list[float], sturdy: list[float], answer: str
) -> None:
    rows = {"mean.sample": mean, "mean.median-of-means": sturdy}
    errors = pd.DataFrame([{"method": m, "error": e} for m, es in rows.items() for e in es])
    assert find.sturdier(LessonEvidence(table=errors, errors=errors)).answer == answer


def test_right_guesses_are_counted_over_all_parts() -> None:
    table = series_of({RIGHT: {100: 0.7}}, trials=40)
    answer = find.right_guesses(LessonEvidence(table=table))
    assert answer.answer == pytest.approx(70) and "4,000" in answer.said and "73" in answer.headline


@pytest.mark.parametrize(("cut", "answer"), [(0.0, "none"), (0.1, "some"), (0.9, "most")])
def test_the_share_that_is_cut_is_read_at_the_best_radius(cut: float, answer: str) -> None:
    table = series_of(
        {
            PRIVATE: {1: 3.0, 5: 1.0, 20: 2.0},
            BIAS: {1: 3.0, 5: 0.6, 20: 0.0},
            SAMPLING: {1: 0.1, 5: 0.48, 20: 0.5},
            NOISE: {1: 0.1, 5: 0.64, 20: 1.9},
            CUT: {1: 1.0, 5: cut, 20: 0.0},
        }
    )
    finding = find.share_cut(LessonEvidence(table=table))
    assert finding.answer == answer and "radius, 5," in finding.headline
    assert "sampling **23 %**, clipping bias **36 %**, noise **41 %**" in finding.said


@pytest.mark.parametrize(
    ("last", "word"), [(0.1, "as fast as"), (0.01, "faster than"), (0.5, "more slowly than")]
)
def test_the_fall_compares_the_ends(last: float, word: str) -> None:
    table = study_of(
        {"mean.sample": {500: 0.1, 50_000: 0.01}, "mean.clipped": {500: 1.0, 50_000: last}}
    )
    finding = find.fall(LessonEvidence(table=table))
    assert finding.answer == pytest.approx(1 / last) and word in finding.headline


@pytest.mark.parametrize(
    ("private", "answer"),
    [
        ((5, 2, 1.05, 1.0), 2.0),
        ((1.0, 1.0, 1.0, 1.0), 0.5),
        ((5, 1.05, 1.5, 1.0), 5.0),  # from there on, not only there
        ((5, 2, 2, 2), find.NEVER),
    ],
)
def test_free_means_from_there_on(private: tuple[float, ...], answer: float | str) -> None:
    xs = (0.5, 1, 2, 5)
    table = study_of(
        {
            "mean.sample": dict.fromkeys(xs, 1.0),
            "mean.clipped": dict(zip(xs, private, strict=True)),
        }
    )
    assert find.free_from(LessonEvidence(table=table)).answer == answer


def test_laplace_over_gaussian_is_read_at_the_last_dimension() -> None:
    table = study_of({"mean.cwme-pure": {2: 1.0, 100: 6.0}, "mean.cwme-cdp": {2: 2.0, 100: 2.0}})
    finding = find.laplace_over_gaussian(LessonEvidence(table=table))
    assert finding.answer == 3 and "d = 100" in finding.headline and "0.5" in finding.said


@pytest.mark.parametrize(("start", "answer"), [(0.1, "start"), (0.9, "sco.clipped")])
def test_the_least_risk_may_need_no_data(start: float, answer: str) -> None:
    table = study_of(
        {
            "sco.erm": {500: 0.05, 20_000: 0.01},
            "sco.cwme": {500: 0.6, 20_000: 0.03},
            "sco.clipped": {500: 0.3, 20_000: 0.02},
        }
    )
    finding = find.least_risk(LessonEvidence(table=table, start={500.0: start, 20_000.0: start}))
    assert finding.answer == answer and "clipped gradients: 2 times" in finding.headline


def test_the_width_gain_is_what_privacy_adds_on_the_ball_over_the_cross() -> None:
    method = "sco.objective-perturbation"
    cross = {method: {5: 1.0, 200: 0.02}, "sco.erm": {5: 0.1, 200: 0.01}}
    ball = {method: {5: 1.0, 200: 0.11}, "sco.erm": {5: 0.1, 200: 0.03}}
    evidence = LessonEvidence(table=study_of(cross), beside=study_of(ball), start={200.0: 0.05})
    finding = find.width_gain(evidence)
    assert finding.answer == pytest.approx(8) and "**3 times** smaller" in finding.said
    assert "more than the risk of the answer 0" in finding.said


@pytest.mark.parametrize(
    ("filtered", "answer"),
    [((9, 3, 1, 0.1), 100.0), ((9, 1, 3, 0.1), 1000.0), ((9, 9, 9, 9), find.NEVER)],
)
def test_the_filter_pays_from_there_on(filtered: tuple[float, ...], answer: float | str) -> None:
    xs = (1, 10, 100, 1000)
    table = study_of(
        {
            "user.clipped-means": dict.fromkeys(xs, 2.0),
            "user.accelerated": dict(zip(xs, filtered, strict=True)),
        }
    )
    assert find.filter_pays(LessonEvidence(table=table)).answer == answer
    finding = find.filter_pays(
        LessonEvidence(table=table, start=dict.fromkeys(map(float, xs), 0.5))
    )
    last = "from m = **1,000** on" if filtered[-1] < 0.5 else "has a smaller error than filtered"
    assert last in finding.said and "never is" in finding.said


@pytest.mark.parametrize(("error", "said"), [(0.4, "No line"), (0.05, "By the luck")])
def test_the_floor_is_compared_with_the_best_private_line(error: float, said: str) -> None:
    table = study_of(
        {
            "mean.sample": {500: 0.01, 20_000: 0.001},
            "mean.clipped": {500: error, 20_000: 0.3},
            "mean.cwme-cdp": {500: 2.0, 20_000: 0.5},
        }
    )
    finding = find.above_floor(LessonEvidence(table=table, floor={500.0: 0.2, 20_000.0: 0.1}))
    assert finding.answer == pytest.approx(3) and said in finding.said
    assert "error of simple clipping" in finding.headline


# -- the table of lessons -----------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LESSONS, ids=SLUGS)
def test_a_lesson_is_whole(lesson: Lesson) -> None:
    words = lesson.words
    texts = (words.title, words.text, words.question, words.before, words.why)
    assert all(texts) and words.question.endswith(("?", "%.", "4."))
    assert sum(text.count("$") for text in texts) // 2 <= 2
    assert bool(lesson.choices) != bool(lesson.numbers)
    assert all(a < b for a, b in pairwise(lesson.numbers))
    scenario = lesson.scenario.validate(DASHBOARD)
    assert set(lesson.given) < set(scenario.methods) or lesson.experiment is not None
    assert lesson.experiment is not None or lesson.given
    assert scenario.cells <= 400  # a few seconds; the times are measured by the slow tests
    assert {slug for slug, _ in lesson.elsewhere} <= set(PLACES)
    query = explore_query(scenario, (), lesson.against)
    assert (
        Scenario.from_query(
            {k: v for k, v in query.items() if k not in ("show", "against")}, visit.BASE
        )
        == scenario
    )
    for answer in (*lesson.choices, *lesson.numbers):
        assert answer_text(lesson, answer)


# -- where the answers to choose from stand in the figure ---------------------------------------


def test_every_choice_stands_in_the_figure_and_no_other() -> None:
    choices = [lesson for lesson in LESSONS if lesson.choices]
    for lesson in LESSONS:
        assert isinstance(lesson.draw, drawing.Choosing) == bool(lesson.choices)
    for lesson in choices:
        assert isinstance(lesson.draw, drawing.Choosing)
        for known in (False, True):
            run = LessonRun(lesson=lesson, prediction="")
            if known:
                assert list(run.steps())
                places = lesson.draw.places(run.evidence)
            else:
                outcomes: list[Outcome] = []
                if lesson.experiment is None:
                    *_, (outcomes, _) = given(lesson)
                places = lesson.draw.places(evidence_before(lesson, outcomes))
            assert set(places) == set(lesson.choices)


def luck_of(errors: dict[str, list[float]]) -> LessonEvidence:
    rows = [
        {"method": method, "trial": trial, "x": 1.0, "error": error}
        for method, own in errors.items()
        for trial, error in enumerate(own)
    ]
    return LessonEvidence(table=pd.DataFrame(), errors=pd.DataFrame(rows))


def test_the_median_of_means_is_predicted_beside_the_sample_mean() -> None:
    own = [float(e) for e in range(1, 101)]
    shuffled = own[50:] + own[:50]
    places = drawing.luck(luck_of({"mean.sample": shuffled}))
    at = {answer: {round(y, 9): x for x, y in line} for answer, line in places.items()}
    # The error that 1 % of the samples reach is 100; the one that all reach is 1.
    assert at["mean"][1.0] == pytest.approx(100 * drawing.MORE)
    assert at["split"][1.0] == at["sturdy"][1.0] == pytest.approx(100 * drawing.LESS)
    assert at["split"][100.0] == pytest.approx(1.0)
    assert at["sturdy"][100.0] == pytest.approx(drawing.LESS)
    # Trials land in their order, each where its rank is.
    trials = drawing.luck_trials(luck_of({"mean.median-of-means": [3.0, 1.0, 2.0, 4.0]}))
    assert [(x, y) for x, y, _ in trials] == [(3.0, 50.0), (1.0, 100.0), (2.0, 75.0), (4.0, 25.0)]


def test_the_bands_hold_the_radii_that_cut_so_many() -> None:
    shares = {1.0: 0.9, 2.0: 0.6, 4.0: 0.3, 8.0: 0.02, 16.0: 0.001}
    rows = [
        LessonRow(series=CUT, x=radius, trial=0, value=share) for radius, share in shares.items()
    ]
    rows += [
        LessonRow(series=PRIVATE, x=x, trial=trial, value=abs(x - 2.0 ** (trial + 1)) + 1)
        for trial in (0, 1)
        for x in shares
    ]
    evidence = LessonEvidence(table=pd.DataFrame(), rows=tuple(rows))
    bands = {answer: (a[0], b[0]) for answer, (a, b) in drawing.cut(evidence).items()}
    assert bands == {
        "most": (1.0, pytest.approx(8**0.5)),
        "some": (pytest.approx(8**0.5), pytest.approx(128**0.5)),
        "none": (pytest.approx(128**0.5), 16.0),
    }
    assert drawing.cut_trials(evidence) == [(2.0, 1.0, PRIVATE), (4.0, 1.0, PRIVATE)]


def test_the_marks_of_the_least_risk_begin_at_the_answer_without_data() -> None:
    errors = pd.DataFrame(
        [
            {"method": method, "trial": trial, "x": x, "error": trial + x}
            for method in ("sco.erm", "sco.cwme", "sco.clipped")
            for trial in (1, 0)
            for x in (500.0, 1000.0)
        ]
    )
    evidence = LessonEvidence(table=errors, errors=errors, start={500.0: 0.2, 1000.0: 0.2})
    places = drawing.least(evidence)
    assert places["start"] == [(500.0, 0.2)]
    heights = [y for [(_, y)] in places.values()]
    assert heights == sorted(heights, reverse=True) and len(set(heights)) == 3
    assert drawing.least_trials(evidence) == [
        (500.0, 500.0, "sco.clipped"),
        (500.0, 500.0, "sco.cwme"),
        (500.0, 501.0, "sco.clipped"),
        (500.0, 501.0, "sco.cwme"),
    ]


def test_every_word_belongs_to_a_lesson() -> None:
    assert tuple(WORDS) == SLUGS and len(SLUGS) == len(set(SLUGS)) == 12


def test_the_floor_of_a_lesson_is_the_largest_by_privacy_that_binds_every_algorithm() -> None:
    lesson = BY_SLUG["lower-bound"]
    at = window(replace(lesson.scenario, axis=None, grid=()), "approx")
    private = [slug for slug in at.lowers if bound(slug).card.privacy == "approx"]
    assert private[0] == lesson.floor  # the largest comes first
