"""Learn: the path from first to last, its address, its session, and links for teachers."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.figure import colours
from dpsco_app.figure.theme import Theme
from dpsco_app.front.links import BASE
from dpsco_app.lessons import figures, words
from dpsco_app.lessons.findings import curve, lowest_x
from dpsco_app.lessons.lessons import (
    BY_SLUG,
    LESSONS,
    SLUGS,
    Lesson,
    step_name,
)
from dpsco_app.lessons.report import Answered
from dpsco_app.lessons.verdict import CLOSE, answer_text
from dpsco_app.lessons.view import HAND_IN, MOST_LETTERS, START, STEPS, LessonsView
from dpsco_app.lessons.words import WORDS
from dpsco_app.pages.first_screen import numbers_of
from dpsco_app.pages.learn.page import ASSETS
from dpsco_app.pages.learn.state import (
    STATE,
    measure,
    prediction_key,
)
from dpsco_app.parts.options import rounded
from dpsco_app.static_page.lessons import KeptResults
from dpsco_core.base.errors import InvalidInput
from dpsco_core.explain import lessons as experiments
from dpsco_core.explain.budgets import guess_ceiling
from dpsco_core.scenario import Scenario
from tests.app.doors import door_picture
from tests.app.pages import check_page, drawn_html, headline_text, visitor_session, written_text
from tests.app.places.test_one_run import open_at
from tests.golden_sentences import GOLDEN


def shorten_lesson(lesson: Lesson) -> Lesson:
    """Return the lesson with few trials: 2 at each end of its axis, or 20 if it has no axis."""
    scenario = lesson.scenario
    changes: dict[str, object] = {"trials": 20}
    if scenario.axis is not None:
        ends = {"n": (500.0, 2000.0), "d": (2.0, 10.0)}
        grid = ends.get(scenario.axis, (scenario.grid[0], scenario.grid[-1]))
        changes = {"grid": grid, "trials": 2, "n": min(scenario.n, 2000), "d": min(scenario.d, 10)}
    return replace(lesson, scenario=replace(scenario, **changes).validate())


@pytest.fixture
def short_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every lesson small."""
    for lesson in LESSONS:
        monkeypatch.setitem(BY_SLUG, lesson.slug, shorten_lesson(lesson))
        if lesson.experiment is not None:
            monkeypatch.setitem(experiments.TRIALS, lesson.experiment, 2)


def predict(page: AppTest, slug: str) -> AppTest:
    """Choose the first answer, or the second number, as the slider in the browser does."""
    lesson, key = BY_SLUG[slug], prediction_key(slug)
    assert page.button(key="learn_run").disabled
    if lesson.choices:
        return check_page(page.radio(key=key).set_value(next(iter(lesson.choices))).run())
    visitor_session(page).lessons.predict(slug, lesson.numbers[1])
    return check_page(page.run())


def answered(page: AppTest, slug: str) -> Answered:
    """Return what a page has measured of a lesson, judged for the prediction in its address."""
    view = LessonsView(answers=page.query_params["answers"])
    run = visitor_session(page).lessons.answered(slug, view, KeptResults())
    assert run is not None
    return run


def verdict(page: AppTest) -> str:
    """Return the text of the only verdict on a prediction, with ordinary spaces."""
    (box,) = [*page.container(key="learn_said").success, *page.container(key="learn_said").info]
    return str(box.value).replace("\N{NO-BREAK SPACE}", " ")


def written(page: AppTest) -> str:
    """Return all text of the page, with ordinary spaces."""
    return written_text(page).replace("\N{NO-BREAK SPACE}", " ")


def test_the_path_leads_from_the_first_step_to_the_last(short_path: None) -> None:
    page = open_at("learn")
    assert headline_text(page) == words.ANSWER and "0 of 15 lessons answered" in written_text(page)
    page = check_page(page.button(key="learn_next").click().run())
    for slug in SLUGS:
        lesson_words = WORDS[slug]
        assert (
            step_name(slug) in drawn_html(page)
            and headline_text(page) == lesson_words.preview_title
        )
        assert STATE.from_query(dict(page.query_params))[0].lesson == slug
        assert lesson_words.explanation not in written(page)
        assert lesson_words.preview_title in [chart.proto.alt for chart in page.get("plotly_chart")]
        page = predict(page, slug)
        page = check_page(page.button(key="learn_run").click().run())
        run = answered(page, slug)
        assert run.verdict.sentence in verdict(page) and run.finding.text in verdict(page)
        assert run.finding.headline in [chart.proto.alt for chart in page.get("plotly_chart")]
        assert (
            lesson_words.explanation in written(page)
            and headline_text(page) == run.finding.headline
        )
        button = page.button(key="learn_follow")
        if slug != SLUGS[-1]:
            follower = STEPS[STEPS.index(slug) + 1]
            assert button.label == f"Next lesson: {step_name(follower)}"
            page = check_page(button.click().run())
    assert button.label == "Hand in what you predicted"
    marks = " · ".join(c.value for c in page.caption)
    assert f"{len(SLUGS)} of {len(SLUGS)} lessons answered" in marks
    for number, slug in enumerate(SLUGS, start=1):
        close = answered(page, slug).verdict.close
        name = "Right or close" if close else "Missed"
        group = re.search(rf"{name}: ([0-9]+(?:, [0-9]+)*)", marks)
        assert group and str(number) in group[1].split(", "), slug
    # The last step after the lessons lists each prediction with its measurement.
    page = check_page(page.button(key="learn_next").click().run())
    with pytest.raises(KeyError):
        page.button(key="learn_next")
    assert any(c.value.startswith(CLOSE) for c in page.caption)
    rows = re.findall(r"<tr>((?:<td>.*?</td>)+)</tr>", drawn_html(page))
    assert len(rows) == len(SLUGS)
    for row, slug in zip(rows, SLUGS, strict=True):
        run = answered(page, slug)
        plain = unescape(row).replace("\N{NO-BREAK SPACE}", " ")
        cells = re.findall(r"<td>(.*?)</td>", plain)
        assert cells == [
            step_name(slug),
            answer_text(BY_SLUG[slug], run.prediction),
            run.finding.text.replace("**", ""),
            "Right or close" if run.verdict.close else "Missed",
        ]
    # Answers and results remain when a step is visited again, and can be forgotten.
    page = check_page(page.selectbox(key=STATE.key("lesson")).set_value(SLUGS[1]).run())
    assert "You chose" in verdict(page)
    page = check_page(page.button(key="learn_forget").click().run())
    assert visitor_session(page).lessons.measured == 0
    assert "answers" not in page.query_params and "0 of 15 lessons answered" in written_text(page)
    assert page.radio(key=prediction_key(SLUGS[1])).value is None


def test_the_verdict_is_about_the_prediction_that_was_run() -> None:
    page = predict(open_at("learn", lesson="epsilon"), "epsilon")
    page = check_page(page.button(key="learn_run").click().run())
    assert "You predicted **51 %**; the answer is **70 %**. Too low by 19 percentage" in verdict(
        page
    )
    visitor_session(page).lessons.predict("epsilon", 71)
    page = check_page(page.run())
    # The verdict stays until the lesson is run again.
    assert "You predicted **51 %**" in verdict(page)
    page = check_page(page.button(key="learn_run").click().run())
    assert GOLDEN["a prediction that is right"] in verdict(page)
    assert page.container(key="learn_said").success


def test_answers_survive_a_reload(short_path: None) -> None:
    page = predict(open_at("learn", lesson="clipping"), "clipping")
    page = check_page(page.button(key="learn_run").click().run())
    query = dict(page.query_params)
    assert query["answers"] == "clipping:none"
    reopened = open_at("learn", **query)
    assert verdict(reopened) == verdict(page)
    # The first page measures the answered lessons again, too.
    at_start = open_at("learn", **(query | {"lesson": START}))
    assert answered(at_start, "clipping").verdict == answered(page, "clipping").verdict
    assert "1 of 15 lessons answered" in written_text(at_start)
    for wrong in ("clipping:all", "luck:1", "noise:7.77"):
        with pytest.raises(InvalidInput, match="answers must be lessons with their answers"):
            LessonsView(answers=wrong).validate()


def test_a_prediction_is_kept_while_other_steps_are_read(short_path: None) -> None:
    page = predict(open_at("learn", lesson="clipping"), "clipping")
    page = check_page(page.button(key="learn_next").click().run())
    page = check_page(page.button(key="learn_back").click().run())
    assert page.radio(key=prediction_key("clipping")).value == "none"
    assert not page.button(key="learn_run").disabled


def test_a_finished_lesson_is_not_run_again(
    short_path: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = predict(open_at("learn", lesson="clipping"), "clipping")
    page = check_page(page.button(key="learn_run").click().run())
    old_verdict = verdict(page)
    monkeypatch.delitem(experiments.RUNS, "radius")
    reopened = open_at("learn", **dict(page.query_params))  # A reload starts another session.
    assert verdict(reopened) == verdict(check_page(page.run())) == old_verdict


@pytest.mark.parametrize("text", ["3", "epsilon"])
def test_a_link_opens_a_step_by_number_or_name(text: str) -> None:
    page = open_at("learn", lesson=text)
    assert step_name("epsilon") in drawn_html(page)
    assert dict(page.query_params) == {"lesson": "epsilon"}
    assert not page.warning


@pytest.mark.parametrize("text", ["0", "16", "tails", "-1", "3.0"])
def test_an_unknown_step_is_reported_and_the_first_step_is_shown(text: str) -> None:
    with pytest.raises(InvalidInput, match="lesson must be a number from 1 to 15"):
        LessonsView(lesson=text).validate()
    view, problems = STATE.from_query({"lesson": text})
    assert view.lesson == START
    must = "a number from 1 to 15, or the name of a step"
    assert problems == [f"lesson must be {must}, got lesson={text}."]


def test_every_step_opens_in_explore(short_path: None) -> None:
    page = open_at("learn", lesson="geometry")
    links = {link.proto.label: link.proto for link in page.get("page_link")}
    query = parse_qs(links["Open in Explore"].query_string)
    fields = {k: v[0] for k, v in query.items() if k not in ("show", "against")}
    assert Scenario.from_query(fields, BASE) == BY_SLUG["geometry"].scenario
    assert query["against"] == ["l2"]
    to_users = {
        link.proto.label: link.proto for link in open_at("learn", lesson="users").get("page_link")
    }["Users: the whole map"]
    query_there = {k: v[0] for k, v in parse_qs(to_users.query_string).items()}
    assert Scenario.from_query(query_there, BASE) == BY_SLUG["users"].scenario


def test_a_link_for_homework_opens_the_step_without_its_answer(short_path: None) -> None:
    page = predict(open_at("learn", lesson="clipping"), "clipping")
    page = check_page(page.button(key="learn_run").click().run())
    page.button_group(key="learn_link_hide").set_value(["details", "export"])
    page.toggle(key="learn_link_large").set_value(True)
    page = check_page(page.run())
    query = {k: v[0] for k, v in parse_qs(urlsplit(page.code[0].value).query).items()}
    assert query == {"lesson": "clipping", "hide": "details,export", "type": "large"}


def test_the_numbers_behind_a_study_name_the_set_where_there_are_two() -> None:
    lesson = shorten_lesson(BY_SLUG["geometry"])
    evidence = measure(lesson)
    (figure,) = figures.figures(lesson, evidence, "", has_run=True)
    table = numbers_of(figure)
    for set_name, points in (("ℓ₁ ball", evidence.points), ("ℓ₂ ball", evidence.second_points)):
        for method, name in (
            ("sco.erm", "Risk minimiser"),
            ("sco.objective-perturbation", "Objective perturbation"),
        ):
            assert list(table[f"{name}, {set_name}"]) == list(curve(points, method).values())
    one_set = shorten_lesson(BY_SLUG["noise"])
    (figure,) = figures.figures(one_set, measure(one_set), "", has_run=True)
    assert [line.name for line in figure.panels[0].lines] == ["Sample mean", "Simple clipping"]


def test_learn_opens_with_three_doors_and_their_pictures() -> None:
    page = open_at("learn")
    leads = [link.proto.page for link in page.main.get("page_link")]
    assert {slug for slug in words.DOORS if any(path.endswith(slug) for path in leads)} >= {
        "why",
        "private-mean",
    }
    assert page.button(key="learn_next").label == words.DOORS["learn"][0]
    assert "differentially private stochastic convex optimization" in drawn_html(page)
    assert len(page.main.image) == len(words.DOORS)
    written = {m.value for m in page.markdown}
    for name, question, _ in words.DOORS.values():
        assert question.endswith("?") and f"**{question}**" in written and name not in written


@pytest.mark.parametrize("slug", words.DOORS)
def test_the_picture_of_a_door_is_drawn_from_its_numbers(slug: str) -> None:
    assert (ASSETS / f"{slug}.svg").read_text(encoding="utf-8") == door_picture(slug)


def test_the_texts_to_hand_in_survive_a_reload(short_path: None) -> None:
    student_text = "Noise <b>hides</b> one record; A. Student"
    page = open_at("learn", lesson=HAND_IN, answers="clipping:some,epsilon:51")
    assert "2 of 15 lessons answered" in headline_text(page)
    page = check_page(page.text_area(key=STATE.key("sentence")).set_value(student_text).run())
    reopened = open_at("learn", **dict(page.query_params))
    for opened in (page, reopened):
        assert "hides&lt;/b&gt; one record; A. Student" in drawn_html(opened)
        assert step_name("clipping") in drawn_html(opened) and step_name("noise") not in drawn_html(
            opened
        )
    assert drawn_html(reopened) == drawn_html(page)
    assert parse_qs(urlsplit(page.code[0].value).query)["sentence"] == [student_text]
    reopened = check_page(reopened.button(key="learn_forget").click().run())
    assert "0 of 15 lessons answered" in headline_text(reopened) and "Student" not in drawn_html(
        reopened
    )
    with pytest.raises(InvalidInput, match="sentence must be at most 300 characters long"):
        LessonsView(sentence="x" * (MOST_LETTERS + 1)).validate()


def test_the_figures_have_the_measured_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(experiments.TRIALS, "radius", 2)
    evidence = measure(BY_SLUG["clipping"])
    (figure,) = figures.figures(BY_SLUG["clipping"], evidence, "", has_run=True)
    lines = {line.name: line for line in figure.panels[0].lines}
    radius = lowest_x(curve(evidence.points, experiments.PRIVATE))
    best = {row.name: row.values for row in figure.ladder.rows}
    for series in (experiments.PRIVATE, *figures.PARTS):
        name = figures.SERIES[series][0]
        values = curve(evidence.points, series)
        assert list(lines[name].y) == list(values.values())
        assert best[name] == [rounded(values[radius])]
    assert set(lines) == {*best, ""}
    monkeypatch.setitem(experiments.TRIALS, "neighbours", 3)
    evidence = measure(BY_SLUG["epsilon"])
    counts, shares = experiments.running_share(evidence.rows)
    figure, _ = figures.figures(BY_SLUG["epsilon"], evidence, "", has_run=True)
    (line,) = (one for one in figure.panels[0].lines if one.key == experiments.RIGHT)
    assert list(line.x) == list(counts)
    assert list(line.y) == pytest.approx(list(100 * shares))
    (region,) = figure.panels[0].regions
    assert region.look is colours.IMPOSSIBLE
    assert region.lower[0] == pytest.approx(100 * guess_ceiling(experiments.GAME_EPSILON))
    preview, _ = figures.figures(BY_SLUG["epsilon"], evidence, "", has_run=False)
    assert not preview.panels[0].regions and len(preview.panels[0].lines) == 1


def test_the_figure_of_bad_luck_and_the_sentence_have_the_same_numbers() -> None:
    lesson = BY_SLUG["the-mean"]
    evidence = measure(lesson)
    (figure,) = figures.figures(lesson, evidence, "", has_run=True)
    worst = [row.values[0] for row in figure.ladder.rows]
    assert list(numbers_of(figure).columns[1:]) == ["Sample mean", "Median of means"]
    assert f"of **{worst[0]}** and **{worst[1]}**." in lesson.find(evidence).text
    for line in figure.panels[0].lines:
        assert list(line.x) == sorted(line.x) and line.y[0] == 100


def test_only_a_bias_may_leave_the_figure_and_its_number_is_at_the_last_visible_point() -> None:
    lesson = BY_SLUG["clipping"]
    (figure,) = figures.figures(lesson, measure(lesson, is_preview=True), "", has_run=False)
    (line,), (row,) = figure.panels[0].lines, figure.ladder.rows
    visible = [(x, y) for x, y in zip(line.x, line.y, strict=True) if y >= figure.y.low]
    assert 1 < len(visible) < len(line.x) and line.y[0] <= figure.y.high
    assert row.values == [rounded(visible[-1][1])]
    assert figure.ladder.title == f"At R = {visible[-1][0]:g}"


def test_if_every_row_has_its_own_radius_only_the_best_one_is_named() -> None:
    lesson = BY_SLUG["look"]
    (figure,) = figures.figures(lesson, measure(lesson), "", has_run=True)
    private = next(line for line in figure.panels[0].lines if line.key == experiments.PRIVATE)
    best = private.x[int(np.argmin(private.y))]
    (row,) = [row for row in figure.ladder.rows if row.key == experiments.PRIVATE]
    assert figure.ladder.title == "" and row.name == f"Best fixed radius ({best:g})"
    assert row.end == min(private.y) and row.values == [rounded(row.end)]


def test_the_parts_of_an_error_have_their_colours_and_no_other_line_has_them() -> None:
    code = {"bias": colours.BIAS, "sampling": colours.SAMPLING, "noise": colours.NOISE}
    assert {part: figures.colour_named(part) for part in figures.PARTS} == code
    colours_used = {
        s: figures.colour_named(s) for lesson in LESSONS for s in lesson.scenario.methods
    }
    colours_used |= {
        s: figures.colour_named(s)
        for s in (*set(figures.SERIES) - set(figures.PARTS), *figures.CHOOSES)
    }
    red = (colours.IMPOSSIBLE.edge, colours.IMPOSSIBLE.ink)
    assert not {*code.values(), *red} & set(colours_used.values())


def contrast(colour: str, page: str) -> float:
    """Return the contrast of two colours, as the guidelines for accessible content define it."""

    def light(colour: str) -> float:
        """Return the relative luminance of a colour, plus 0.05."""
        shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return sum(w * x for w, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True)) + 0.05

    pair = light(colour), light(page)
    return max(pair) / min(pair)


@pytest.mark.parametrize("dark", [False, True])
def test_the_names_of_parts_can_be_read(dark: bool) -> None:
    page = colours.PAGE[dark]
    for part in figures.PARTS:
        ink = Theme(dark=dark).colour(colours.PART_INKS[figures.colour_named(part)])
        assert contrast(ink, page) >= 4.5, part


ANSWERS: dict[str, tuple[float, float] | str | int] = {
    "heavy-tails": (15, 40),
    "the-mean": "split",
    "epsilon": (67, 73),
    "clipping": "some",
    "look": (0.9, 1.3),
    "noise": (20, 60),
    "free": (1, 5),
    "dimension": (1.8, 3.2),
    "optimisation": "start",
    "geometry": (5, 20),
    "users": 1000,
    "lower-bound": (1.2, 4),
    "packing": "lower-right",  # the candidate nearest to the first star
    "budgets": (2.1, 2.2),
    "attacker": (97, 99.3),
}


# These lessons take long, and the page treats each of them like a shorter one that the test keeps.
LONG = ("geometry", "dimension", "noise")


@pytest.mark.parametrize(
    "slug", [pytest.param(s, marks=[pytest.mark.slow] * (s in LONG)) for s in SLUGS]
)
def test_the_measured_result_of_a_lesson_is_what_the_lesson_claims(slug: str) -> None:
    page = predict(open_at("learn", lesson=str(SLUGS.index(slug) + 1)), slug)
    page = check_page(page.button(key="learn_run").click().run())
    assert not any("chosen " in chart.proto.spec for chart in page.get("plotly_chart"))
    run, expected = answered(page, slug), ANSWERS[slug]
    answer = run.finding.answer
    if not isinstance(expected, tuple):
        assert answer == expected
    else:
        assert expected[0] <= answer <= expected[1]
    points = run.evidence.points
    for x, floor in run.evidence.floor.items():  # The last lesson's sentence states this floor.
        private = [p.mean for p in points if p.x == x and p.series != "mean.sample"]
        assert len(private) == 2 and min(private) > floor


def test_two_laws_have_different_lines_and_a_number_each() -> None:
    figure = figures.densities()
    lines = figure.panels[0].lines
    assert len({line.colour for line in lines}) == len(lines) == 2
    assert [row.key for row in figure.ladder.rows] == [line.key for line in lines]
    assert list(numbers_of(figure).columns[1:]) == [line.name for line in lines]
