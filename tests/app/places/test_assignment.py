"""Assignments: a teacher's choice of lessons and questions is a link, and so is a student's
work.
"""

from __future__ import annotations

import re
from html import escape
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest

from dpsco_app.figure.colours import PAGE
from dpsco_app.lessons.lessons import BY_SLUG, SLUGS, step_name
from dpsco_app.lessons.view import (
    ASSIGN,
    HAND_IN,
    MOST_QUESTION,
    MOST_QUESTIONS,
    MOST_REPLY,
    START,
    LessonsView,
)
from dpsco_app.pages.learn.assignment import (
    LONGEST,
    TYPED,
    assignment_of,
    sheet,
)
from dpsco_app.pages.learn.state import STATE, prediction_key
from dpsco_app.static_page.lessons import Lessons, lesson_theme
from dpsco_core.base.errors import InvalidInput
from tests.app.pages import check_page, drawn_html, headline_text, visitor_session, written_text
from tests.app.places.test_one_run import open_at

ATTACK = "<script>alert(1)</script> ![x](http://evil.test/x.png) **bold**"
TWO_TASKS = "noise,clipping"  # The order differs from that of the path of lessons.


def test_a_teacher_ticks_lessons_and_writes_questions_and_gets_one_link() -> None:
    page = open_at("learn")
    page = check_page(page.button(key="learn_assign").click().run())
    assert page.query_params["lesson"] == ASSIGN and not page.code
    page = check_page(
        page.multiselect(key=STATE.key("tasks")).set_value(TWO_TASKS.split(",")).run()
    )
    page = check_page(page.text_area(key=TYPED).set_value(f"Why?\n\n  {ATTACK}").run())
    (code,) = page.code
    query = {k: v[0] for k, v in parse_qs(urlsplit(code.value).query).items()}
    assert query == {
        "lesson": "noise",
        "tasks": TWO_TASKS,
        "questions": f"Why?\n{ATTACK}",
        "hide": "nav",
    }
    assert f"{len(code.value):,} characters long" in written_text(
        page
    ) and f"{LONGEST:,}" in written_text(page)
    page.checkbox(key="learn_apart").uncheck()
    assert "hide=" not in check_page(page.run()).code[0].value


def test_too_many_questions_give_one_error_and_the_text_stays_editable() -> None:
    page = open_at("learn", lesson=ASSIGN)
    typed = "\n".join(f"Question {i}?" for i in range(MOST_QUESTIONS + 1))
    page = check_page(page.text_area(key=TYPED).set_value(typed).run())
    assert page.error[0].value.startswith("questions must be at most 10 lines")
    assert page.text_area(key=TYPED).value == typed and not page.code
    page = check_page(page.text_area(key=TYPED).set_value("One?").run())
    assert not page.error and len(page.code) == 1
    long = "\n".join(MOST_QUESTIONS * ["ж" * MOST_QUESTION])
    page = check_page(page.text_area(key=TYPED).set_value(long).run())
    assert "This link would have" in page.error[0].value and not page.code


def test_a_student_sees_these_lessons_in_this_order_answers_and_hands_in() -> None:
    page = open_at("learn", tasks=TWO_TASKS, questions=f"Why?\n{ATTACK}")
    assert list(page.selectbox(key=STATE.key("lesson")).options) == [
        step_name("noise"),
        step_name("clipping"),
        "Hand in",
    ]
    assert step_name("noise") in drawn_html(page) and "0 of 2 lessons answered" in written_text(
        page
    )
    with pytest.raises(KeyError):
        page.button(key="learn_back")
    page = check_page(page.button(key="learn_next").click().run())
    assert step_name("clipping") in drawn_html(page)
    page = check_page(page.radio(key=prediction_key("clipping")).set_value("some").run())
    page = check_page(page.button(key="learn_run").click().run())
    assert page.button(key="learn_follow").label == "Hand in what you predicted"
    page = check_page(page.button(key="learn_follow").click().run())
    assert "1 of 2 lessons answered" in headline_text(page)
    page = check_page(page.text_area(key="learn_reply_1").set_value("x <b>\n y").run())
    assert page.query_params["replies"] == "\nx <b> y"
    reopened = open_at("learn", **dict(page.query_params))
    for opened in (page, reopened):
        written = drawn_html(opened)
        assert "<script>" not in written and "&lt;script&gt;alert(1)" in written
        assert "x &lt;b&gt; y" in written and "Not answered." in written
        assert not any("evil.test" in m.value for m in opened.markdown)
        assert step_name("clipping") in written and step_name("epsilon") not in written
    link = parse_qs(urlsplit(reopened.code[0].value).query)
    assert link["replies"] == ["\nx <b> y"] and link["answers"] == ["clipping:some"]
    page = check_page(reopened.button(key="learn_leave").click().run())
    assert not {"tasks", "questions", "replies"} & set(page.query_params)


def test_an_assignment_of_questions_alone_is_one_step() -> None:
    page = open_at("learn", questions="What is a tail?")
    assert list(page.selectbox(key=STATE.key("lesson")).options) == ["Hand in"]
    assert headline_text(page) == "0 of 1 question answered"
    assert "No lesson is answered" not in drawn_html(page)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tasks", "noise,noise"),
        ("tasks", "luck"),
        ("tasks", "../../etc/passwd"),
        ("questions", "\n".join(11 * ["a"])),
        ("questions", "a" * (MOST_QUESTION + 1)),
        ("questions", "a\x00b"),
        ("questions", "a\u202eb"),
        ("replies", "an answer to nothing"),
    ],
)
def test_a_hostile_link_gives_one_sentence(field: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{field} must be "):
        LessonsView(**{field: value}).validate()
    page = open_at("learn", **{field: value})
    assert not page.exception and len(page.warning) == 1
    assert page.warning[0].value.count(f"{field} must be ") == 1
    view, wrong = STATE.from_query({field: value})
    assert len(wrong) == 1 and view == LessonsView()
    with pytest.raises(InvalidInput, match="replies must be at most one line"):
        LessonsView(questions="a", replies="b" * (MOST_REPLY + 1)).validate()


@pytest.mark.parametrize("seed", range(20))
def test_twenty_random_bytes_give_one_sentence_or_nothing(seed: int) -> None:
    text = np.random.default_rng(seed).bytes(20).decode("latin-1")
    for field in ("tasks", "questions", "replies", "lesson", "answers"):
        view, wrong = STATE.from_query({field: text})
        assert len(wrong) <= 1 and all(w.startswith(f"{field} must be ") for w in wrong)
        assert view.validate() == view
        assert view == LessonsView() or not wrong


def test_the_sheet_is_one_page_with_everything_escaped() -> None:
    view = assignment_of(LessonsView(lesson=ASSIGN, tasks=TWO_TASKS, questions=ATTACK))
    sheet_html = sheet(view, 'https://host/learn?tasks=a&b="<')
    heads = re.findall(r"<h2>(.*?)</h2>", sheet_html)
    assert heads[:2] == [step_name("noise"), step_name("clipping")] and len(heads) == 3
    assert (
        "<script" not in sheet_html
        and "&lt;script&gt;" in sheet_html
        and "@media print" in sheet_html
    )
    assert "tasks=a&amp;b=&quot;&lt;" in sheet_html and "src=" not in sheet_html
    # Links lead to marks inside the pictures only.
    assert set(re.findall(r'href="(.)', sheet_html)) == {"#"}
    # This label belongs to a choice that a student ticks.
    assert "Some: more than one in a hundred" in sheet_html


def test_the_sheet_has_the_figure_of_each_lesson_as_a_light_picture_with_the_same_bytes() -> None:
    view = assignment_of(LessonsView(lesson=ASSIGN, tasks="epsilon,noise,packing"))
    sheet_html = sheet(view, "https://host/learn")
    assert sheet_html == sheet(view, "https://host/learn")
    pictures = re.findall(r"<svg .*?</svg>", sheet_html, re.DOTALL)
    assert len(pictures) == 4  # The lesson on ε has two figures.
    for element, slug in zip(pictures, ("epsilon", "", "noise", "packing"), strict=True):
        ElementTree.fromstring(element)
        title = escape(BY_SLUG[slug].words.preview_title) if slug else "factor of at most 2.7"
        assert title in element.partition(">")[0] and 'role="img"' in element
    names = re.findall(r'id="([^"]+)"', sheet_html)
    assert len(names) == len(set(names)) > 40, "pictures in one page do not share identifiers"
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', sheet_html))
    assert used and used <= set(names)
    assert "<metadata" not in sheet_html and PAGE[True] not in sheet_html


def test_the_page_without_a_server_takes_the_same_link() -> None:
    lessons = Lessons()
    lessons.open(f"tasks={TWO_TASKS}&questions=Why%3F")
    assert lessons.view.lesson == "noise" and lessons.wrong == []
    assert lessons.view.steps == ("noise", "clipping", HAND_IN)
    while lessons.step(10.0):
        pass
    lessons.run("noise", 3)
    while lessons.step(10.0):
        pass
    lessons.go(HAND_IN)
    lessons.reply(0, "Because\nof <b>")
    screen = lessons.screen(lesson_theme(800, dark=False))
    assert "1 of 2 lessons" in screen["head"] and "Because of &lt;b&gt;" in screen["report"]
    assert screen["steps"].count("<option") == 3
    with pytest.raises(InvalidInput, match="question must be a number from 0 to 0"):
        lessons.reply(1, "x")
    lessons.open("tasks=luck")
    assert lessons.wrong and lessons.view.lesson == SLUGS[0]
    lessons.open(f"lesson={ASSIGN}&tasks={TWO_TASKS}")
    assert lessons.view.lesson == "noise"


def test_forgetting_the_answers_includes_the_replies_to_questions() -> None:
    page = open_at("learn", tasks="noise", questions="a", replies="b", answers="noise:10")
    page = check_page(page.button(key="learn_forget").click().run())
    assert "replies" not in page.query_params and page.query_params["tasks"] == "noise"
    assert visitor_session(page).lessons.measured == 0 and START not in page.query_params.values()
