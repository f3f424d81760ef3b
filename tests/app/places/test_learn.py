"""Learn: the path from first to last, its address, its session, and links for teachers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.pages.learn import charts
from dpsco_app.pages.learn.lessons import BY_SLUG, LESSONS, SLUGS, Lesson
from dpsco_app.pages.learn.state import (
    PREDICTIONS,
    RUNNING,
    RUNS,
    START,
    STATE,
    View,
    prediction_key,
)
from dpsco_app.pages.learn.words import WORDS
from dpsco_app.parts.look import Look
from dpsco_app.shell.teaching import Teaching
from dpsco_app.shell.visit import BASE
from dpsco_core.base.errors import InvalidInput
from dpsco_core.explain import lessons as experiments
from dpsco_core.scenario import Scenario
from tests.app.pages import checked, texts
from tests.app.places.test_one_run import open_at


def small(lesson: Lesson) -> Lesson:
    """Return a lesson that takes little time: two trials, and the ends of its axis."""
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
        monkeypatch.setitem(BY_SLUG, lesson.slug, small(lesson))
        if lesson.experiment is not None:
            monkeypatch.setitem(experiments.TRIALS, lesson.experiment, 2)


def predict(page: AppTest, slug: str) -> AppTest:
    """Choose the first answer, or the second number, as the slider in the browser does."""
    lesson, key = BY_SLUG[slug], prediction_key(slug)
    assert page.button(key="learn_run").disabled
    if lesson.choices:
        return checked(page.radio(key=key).set_value(next(iter(lesson.choices))).run())
    page.session_state[PREDICTIONS] = {slug: lesson.numbers[1]}
    return checked(page.run())


def verdict(page: AppTest) -> str:
    (box,) = [*page.container(key="learn_said").success, *page.container(key="learn_said").info]
    return str(box.value)


def test_the_path_leads_from_the_first_step_to_the_last(short_path: None) -> None:
    page = open_at("learn")
    assert not page.header and "DP-SCO" in texts(page)
    page = checked(page.button(key="learn_next").click().run())
    for slug in SLUGS:
        words = WORDS[slug]
        assert page.header[0].value == words.title
        assert STATE.from_query(dict(page.query_params))[0].lesson == slug
        assert "Why" not in [h.value for h in page.subheader]
        assert words.before in [chart.proto.alt for chart in page.get("plotly_chart")]
        page = predict(page, slug)
        page = checked(page.button(key="learn_run").click().run())
        run = page.session_state[RUNS][slug]
        assert run.done and page.session_state[RUNNING] is None
        assert run.verdict.sentence in verdict(page) and run.finding.said in verdict(page)
        assert run.finding.headline in [chart.proto.alt for chart in page.get("plotly_chart")]
        assert words.why in texts(page)
        if slug != SLUGS[-1]:
            page = checked(page.button(key="learn_next").click().run())
    marks = " · ".join(c.value for c in page.caption)
    for number, slug in enumerate(SLUGS, start=1):
        close = page.session_state[RUNS][slug].verdict.close
        group = re.search(rf"{'Right or close' if close else 'Off'}: ([0-9]+(?:, [0-9]+)*)", marks)
        assert group and str(number) in group[1].split(", "), slug
    with pytest.raises(KeyError):
        page.button(key="learn_next")
    assert "That was the path." in texts(page)
    # What is known is still there when a step is visited again, and can be forgotten.
    page = checked(page.selectbox(key=STATE.key("lesson")).set_value(SLUGS[1]).run())
    assert "You predicted" in verdict(page)
    page = checked(page.button(key="learn_forget").click().run())
    assert RUNS not in page.session_state or not page.session_state[RUNS]
    assert page.radio(key=prediction_key(SLUGS[1])).value is None


def test_the_verdict_is_about_the_prediction_that_was_run() -> None:
    page = predict(open_at("learn", lesson="epsilon"), "epsilon")
    page = checked(page.button(key="learn_run").click().run())
    assert "You predicted: **51 %**. Measured: **70 %**. Too low by 19 percentage" in verdict(page)
    page.session_state[PREDICTIONS] = {"epsilon": 71}
    page = checked(page.run())
    assert "You predicted: **51 %**" in verdict(page)  # until it is run again
    page = checked(page.button(key="learn_run").click().run())
    assert "You predicted: **71 %**. Measured: **70 %**. Right." in verdict(page)
    assert page.container(key="learn_said").success


def test_answers_survive_a_reload(short_path: None) -> None:
    page = predict(open_at("learn", lesson="clipping"), "clipping")
    page = checked(page.button(key="learn_run").click().run())
    query = dict(page.query_params)
    assert query["answers"] == "clipping:none"
    again = open_at("learn", **query)
    assert verdict(again) == verdict(page)
    other = open_at("learn", **(query | {"lesson": START}))  # measured again there, too
    assert (
        other.session_state[RUNS]["clipping"].verdict
        == page.session_state[RUNS]["clipping"].verdict
    )
    for wrong in ("clipping:all", "luck:1", "noise:7.77"):
        with pytest.raises(InvalidInput, match="answers must be lessons with their answers"):
            View(answers=wrong).validate()


def test_a_prediction_is_kept_while_other_steps_are_read(short_path: None) -> None:
    page = predict(open_at("learn", lesson="clipping"), "clipping")
    page = checked(page.button(key="learn_next").click().run())
    page = checked(page.button(key="learn_back").click().run())
    assert page.radio(key=prediction_key("clipping")).value == "none"
    assert not page.button(key="learn_run").disabled


def test_a_cancelled_run_goes_on_where_it_stopped(short_path: None) -> None:
    page = predict(open_at("learn", lesson="clipping"), "clipping")
    page = checked(page.button(key="learn_run").click().run())
    run = page.session_state[RUNS]["clipping"]
    whole = list(run.rows)
    run.rows[:] = [row for row in whole if row.trial == 0]
    run.done = False
    del run.evidence, run.finding
    page = checked(page.run())
    assert "Stopped. Run goes on from there." in texts(page)
    page = checked(page.button(key="learn_run").click().run())
    assert page.session_state[RUNS]["clipping"].rows == whole


# -- the address --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["3", "epsilon"])
def test_a_link_opens_a_step_by_number_or_name(text: str) -> None:
    page = open_at("learn", lesson=text)
    assert page.header[0].value == WORDS["epsilon"].title
    assert dict(page.query_params) == {"lesson": "epsilon"}
    assert not page.warning


@pytest.mark.parametrize("text", ["0", "13", "tails", "-1", "3.0"])
def test_another_step_is_said_and_the_picture_shown(text: str) -> None:
    with pytest.raises(InvalidInput, match="lesson must be a number from 1 to 12"):
        View(lesson=text).validate()
    view, problems = STATE.from_query({"lesson": text})
    assert view.lesson == START and len(problems) == 1


def test_every_step_opens_in_explore(short_path: None) -> None:
    page = open_at("learn", lesson="geometry")
    links = {link.proto.label: link.proto for link in page.get("page_link")}
    query = parse_qs(links["Open in Explore"].query_string)
    fields = {k: v[0] for k, v in query.items() if k not in ("show", "against")}
    assert Scenario.from_query(fields, BASE) == BY_SLUG["geometry"].scenario
    assert query["against"] == ["l2"]


def test_teachers_get_a_link(short_path: None) -> None:
    page = open_at("learn", lesson="noise")
    page.button_group(key="teachers_hide").set_value(["sidebar", "privacy"])
    page.toggle(key="teachers_large").set_value(True)
    page = checked(page.run())
    query = {k: v[0] for k, v in parse_qs(urlsplit(page.code[0].value).query).items()}
    assert query == {"lesson": "noise", "hide": "sidebar,privacy", "type": "large"}
    page.button_group(key="teachers_place").set_value("Explore")
    page = checked(page.run())
    query = {k: v[0] for k, v in parse_qs(urlsplit(page.code[0].value).query).items()}
    shown = Scenario.from_query(query, BASE)
    assert shown == BY_SLUG["noise"].scenario
    assert Teaching(hide=("sidebar", "privacy"), large=True).to_query().items() <= query.items()


# -- figures ------------------------------------------------------------------------------------


def test_the_figures_hold_the_numbers() -> None:
    rows = [row for part in experiments.parts("radius", 2) for row in experiments.run_part(part)]
    table = experiments.series_table(rows)
    drawn = {t.name: t for t in charts.radius_figure(table, Look()).data}
    for series, name in charts.RADIUS_NAMES.items():
        assert list(drawn[name].y) == list(table.loc[table["series"] == series, "mean"])
    counts, shares = experiments.running_share(
        [row for part in experiments.parts("neighbours", 3) for row in experiments.run_part(part)]
    )
    figure = charts.guesses_figure(counts, shares, 0.73, 0.7, Look(dark=True, compact=True))
    assert list(figure.data[0].y) == pytest.approx(list(100 * shares))
    outputs = experiments.output_densities(1.0)
    names = [
        t["name"] for t in json.loads(charts.densities_figure(*outputs, Look()).to_json())["data"]
    ]
    assert names == [charts.NO, charts.YES]


# -- the lessons as they are --------------------------------------------------------------------

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
    "users": 10_000,
    "lower-bound": (1.2, 4),
}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_lesson_teaches_what_it_says(slug: str) -> None:
    page = predict(open_at("learn", lesson=str(SLUGS.index(slug) + 1)), slug)
    page = checked(page.button(key="learn_run").click().run())
    assert not any("chosen " in chart.proto.spec for chart in page.get("plotly_chart"))
    answer, expected = page.session_state[RUNS][slug].finding.answer, ANSWERS[slug]
    if not isinstance(expected, tuple):
        assert answer == expected
    else:
        assert expected[0] <= answer <= expected[1]
