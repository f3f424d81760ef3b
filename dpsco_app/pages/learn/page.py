"""Learn: three doors, and a guided path of lessons: question, prediction, measured answer."""

from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from dpsco_app.front import links
from dpsco_app.lessons import words
from dpsco_app.lessons.figures import TOP, figures, heights, room_for_names
from dpsco_app.lessons.findings import LessonEvidence
from dpsco_app.lessons.handle import choices_in_figure, handle, handle_colours
from dpsco_app.lessons.lessons import (
    BY_SLUG,
    SLUGS,
    Lesson,
    step_name,
)
from dpsco_app.lessons.report import (
    HANDED_IN,
    REPORT_STYLE,
    SENTENCE,
    Answered,
    progress_text,
    report,
)
from dpsco_app.lessons.verdict import CLOSE
from dpsco_app.lessons.view import (
    ASSIGN,
    HAND_IN,
    MOST_LETTERS,
    START,
    LessonsView,
    name_of,
    next_label,
)
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import WHOLE, draw_page
from dpsco_app.pages.learn import state
from dpsco_app.pages.learn.assignment import draw_assignment, draw_replies
from dpsco_app.pages.learn.state import STATE
from dpsco_app.parts.drawing import theme
from dpsco_app.parts.export import download, setting_line
from dpsco_app.parts.html import html_page
from dpsco_app.parts.insides import DeltaGenerator
from dpsco_app.parts.options import with_units
from dpsco_app.parts.page import explore_query, link
from dpsco_app.parts.touch.asking import draw_choices, draw_question, to_the_top
from dpsco_app.shell import teaching, window
from dpsco_app.shell.names import EXPLORE, LEARN
from dpsco_app.shell.places import draw_views, link_to
from dpsco_core.scenario import Scenario

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "doors"
# The width of a figure in pixels, by the size of the page.
WIDTHS = {"medium": 820, "large": 1090}
STYLE = """<style>
.st-key-learn_text p { max-width: 46rem; }
.st-key-learn_place, .st-key-learn_text { gap: 0.5rem; }
.st-key-learn_doors img { border: 1px solid rgba(128, 128, 128, 0.3); }
[class*="st-key-learn_door_"] { position: relative; cursor: pointer; }
/* All of a card leads where its link does. */
[class*="st-key-learn_door_"] :is(:has(a), .st-key-learn_next) { position: static; }
[class*="st-key-learn_door_"] :is(a, .st-key-learn_next button)::after {
  content: ""; position: absolute; inset: 0; z-index: 1;
}
.st-key-learn_doors button { min-height: 0; padding: 0.25rem 0.5rem; }
/* The one link of a card looks like one. */
.st-key-learn_doors :is(a, button) p {
  font-weight: 600; text-decoration: underline;
}
.st-key-learn_doors .st-key-learn_next { margin: -0.375rem 0 -0.3rem; }  /* as a link has them */
/* What comes after the question stands below the figure, where there is room for it. */
.st-key-learn_after { gap: 0.75rem; max-width: 46rem; }
.st-key-learn_follow button { padding: 0.6rem 1.25rem; }
.st-key-learn_follow button p { font-size: 1.05rem; font-weight: 600; }
.st-key-learn_below_figure, .st-key-learn_below_figure > * { gap: 0; }
.st-key-learn_below_figure h3 { font-size: 1rem; padding: 0; }
@media (min-width: 1101px) {
  .st-key-sides_learn { display: grid; grid-template: auto 1fr / minmax(0, 3fr) minmax(0, 2fr);
    gap: 0.25rem 2.5rem; }
  .st-key-sides_learn > :has(> .st-key-second_side_learn) { grid-area: 1 / 2 / 3 / 3; }
  /* Below two figures there is no room, but beside them there is. */
  .st-key-sides_learn:has(.st-key-learn_below_figure) {
    > :has(> .st-key-first_side_learn) { grid-area: 1 / 1 / 3 / 2; }
    > :has(> .st-key-second_side_learn) { grid-area: 1 / 2; }
  }
}
@media (max-width: 1100px) {  /* below each other, where both would be narrow */
  .st-key-sides_learn > div { flex: 1 0 100% !important; }
}
.head p:empty { display: none; }
@media (min-width: 1101px) {
  .head h2 { min-height: 2.0625rem; }
}
</style>"""
PAPER = """
body { font: 16px/1.5 Arial, sans-serif; max-width: 1000px; margin: 0 auto; padding: 1rem; }
p { overflow-wrap: anywhere; }
"""


def page() -> None:
    """Draw the page Learn at the step that its address names."""
    st.html(STYLE)
    draw_views(LEARN)
    top = st.container()
    row = st.container(horizontal=True, vertical_alignment="center", key="learn_place")
    draw = {WHOLE: partial(_draw, top, row)}
    draw_page(STATE, draw, {WHOLE: words.QUESTION}, with_side=(WHOLE,), has_foot=False)


def _draw(
    top: DeltaGenerator, row: DeltaGenerator, screen: FirstScreen, view: LessonsView, _: Scenario
) -> None:
    """Draw the current step, and in the `row` above it the buttons to the other steps."""
    with top:
        # A new step scrolls the page up to this place.
        to_the_top(view.lesson, run=".st-key-learn_run button")
    with row:
        score = _draw_steps(view)
    if view.lesson == START:
        _draw_doors(screen)
    elif view.lesson == ASSIGN:
        draw_assignment(screen, view)
    elif view.lesson == HAND_IN:
        _draw_hand_in(screen, view)
    else:
        _draw_lesson(screen, BY_SLUG[view.lesson], view)
    # The step of handing in has the score as its headline; the step of making an assignment has
    # none.
    if view.lesson not in (HAND_IN, ASSIGN):
        # The answers in the address are measured by this call.
        score_text = progress_text(state.all_answered(view), view)
        score.caption(score_text, width="content")


def _draw_steps(view: LessonsView) -> DeltaGenerator:
    """Draw the list of steps and the buttons Back and Next; return the place of the score."""
    st.selectbox(
        "Step",
        view.steps if view.is_assignment else (START, *SLUGS, HAND_IN, ASSIGN),
        format_func=name_of,
        key=STATE.key("lesson"),
        label_visibility="collapsed",
        width=380,
    )
    if view.lesson in BY_SLUG:
        index = view.lessons.index(view.lesson)
        if index or not view.is_assignment:
            _draw_step_button("Back", (START, *view.lessons)[index])
        _draw_step_button("Next", view.steps[index + 1])
    score = st.empty()
    if view.is_assignment:
        st.button("All lessons", on_click=state.leave_assignment, key="learn_leave")
    if view.answers:
        st.button("Forget my answers", on_click=state.forget, key="learn_forget")
    return score


def _draw_step_button(way: str, target: str, label: str = "", **look: Any) -> None:
    """Draw a button that leads to the step `target`; `way` is its key and its default label.

    The icon points left if `way` is "Back".
    """
    st.button(
        label or way,
        icon=":material/arrow_back:" if way == "Back" else ":material/arrow_forward:",
        help=name_of(target),
        on_click=STATE.change,
        args=({"lesson": target},),
        key=f"learn_{way.lower()}",
        **look,
    )


def _draw_doors(screen: FirstScreen) -> None:
    """Draw the first page, with a link to each way into the dashboard."""
    screen.say(words.QUESTION, words.ANSWER, words.INTRODUCTION)
    with st.container(key="learn_doors"):
        # A link to a lesson stays on this page; links to other pages may be hidden by a teacher.
        doors = {
            k: v for k, v in words.DOORS.items() if k == LEARN or not teaching.is_part_hidden("nav")
        }
        columns = st.columns(3)[: len(doors)]
        for (slug, door), column in zip(doors.items(), columns, strict=True):
            name, question, description = door
            with column, st.container(key=f"learn_door_{slug}", border=True, height="stretch"):
                st.markdown(f"**{question}**")
                picture = (ASSETS / f"{slug}.svg").read_text(encoding="utf-8")
                st.image(picture, width="stretch", alt=name)
                if slug == LEARN:
                    _draw_step_button("Next", SLUGS[0], name, type="tertiary")
                else:
                    link_to(slug, name)
                st.caption(description)
    _draw_step_button("Assign", ASSIGN, name_of(ASSIGN), type="tertiary")


def _draw_lesson(screen: FirstScreen, lesson: Lesson, view: LessonsView) -> None:
    """Draw a lesson: its figure, its question, and what was measured."""
    slug, count_measured = lesson.slug, state.path().measured
    screen.say(step_name(slug), lesson.words.preview_title)
    with screen.side, st.container(key="learn_text"):
        st.markdown(with_units(lesson.words.text))
        question = st.empty()
        status = _draw_run_row(lesson)
        verdict_place = st.container(key="learn_said")
    with screen.sides, st.container(key="learn_after"):
        reason = st.container()
        _draw_ways_on(lesson, view)
    if lesson.choices:
        _draw_choices(lesson, question)
    with status:
        answered = state.answered(slug, view)
        if answered is None:
            evidence, title = state.measure(lesson, is_preview=True), lesson.words.preview_title
        else:
            evidence, title = answered.evidence, answered.finding.headline
        if state.prediction_of(slug) is None:
            st.markdown("Predict first.")
    screen.say(step_name(slug), title)
    all_figures = figures(lesson, evidence, title, has_run=answered is not None)
    main, *further_figures = all_figures
    height, *lower = (round(h * theme().size.scale) for h in heights(len(all_figures)))
    width = WIDTHS.get(window.size(), 780)
    lengths: dict[str, Any] = {"width": width, "right": room_for_names(main), "top": TOP}
    screen.draw(main, **lengths, height=height)
    if lesson.spots:
        draw_choices(
            state.CLICKED,
            partial(state.click, slug),
            figure="learn_figure",
            **choices_in_figure(lesson, state.prediction_of(slug), theme()),
        )
    screen.draw_files(main, setting=setting_line(lesson.scenario))
    for i, (figure, low) in enumerate(zip(further_figures, lower, strict=True)):
        with screen.left, st.container(key="learn_below_figure"):
            screen_below = FirstScreen(f"learn_below_{i}")
            screen_below.head.html(f"<h3>{escape(figure.alt)}</h3>")
            screen_below.draw(figure, **lengths, height=low)
    if lesson.numbers:
        with question:
            _draw_handle(lesson, evidence, answered, fresh=state.path().measured > count_measured)
    if answered is not None:
        with verdict_place:
            box = st.success if answered.verdict.close else st.info
            box(with_units(f"{answered.verdict.sentence}\n\n{answered.finding.text}"))
        with reason:
            st.markdown(with_units(f"**Why.** {lesson.words.explanation}"))
            follower = view.steps[view.steps.index(slug) + 1]
            _draw_step_button("Follow", follower, label=next_label(follower), type="primary")


def _draw_choices(lesson: Lesson, place: DeltaGenerator) -> None:
    """Draw a lesson's question in `place`, with the answers among which a visitor chooses one."""
    key = state.prediction_key(lesson.slug)
    # The prediction is set in every run: if a run was stopped, the browser may not have got it.
    st.session_state[key] = state.prediction_of(lesson.slug)
    place.radio(
        f"**{lesson.words.question}**",
        list(lesson.choices),
        format_func=lesson.choices.__getitem__,
        key=key,
        on_change=state.choose,
        args=(lesson.slug,),
    )


def _draw_run_row(lesson: Lesson) -> DeltaGenerator:
    """Draw the Run button of a lesson; return the place of the status line beside it."""
    with st.container(horizontal=True, vertical_alignment="center", key="learn_run_row"):
        st.button(
            "Run and see",
            icon=":material/play_arrow:",
            shortcut="Ctrl+Enter",
            on_click=state.press_run,
            args=(lesson.slug,),
            disabled=state.prediction_of(lesson.slug) is None,
            key="learn_run",
        )
        return st.container()


def _draw_handle(
    lesson: Lesson, evidence: LessonEvidence, answered: Answered | None, *, fresh: bool
) -> None:
    """Draw the handle with which a visitor predicts a number in the figure of a lesson.

    After the run it also shows the measurement, at first with its motion if `fresh`.
    """
    finding = None if answered is None else answered.finding
    draw_question(
        state.prediction_key(lesson.slug),
        partial(state.take_answer, lesson.slug),
        handle_colours(lesson, theme()),
        figure="learn_figure",
        fresh=state.path().measured * fresh,
        **handle(lesson, evidence, state.prediction_of(lesson.slug), finding),
    )


def _draw_ways_on(lesson: Lesson, view: LessonsView) -> None:
    """Draw the links from a lesson to other pages, and to the lesson itself."""
    with st.container(horizontal=True, key="learn_elsewhere"):
        label = "Open in Explore" if lesson.experiment is None else "Explore such data"
        link_to(EXPLORE, label, explore_query(lesson.scenario, against=lesson.second_set))
        for slug, label in lesson.further_pages:
            link_to(slug, label, links.query(lesson.scenario))
        blank_view = replace(view, lesson=lesson.slug, answers="", sentence="", replies="")
        link(STATE, blank_view, introduction=words.HOMEWORK)


# -- what is handed in --------------------------------------------------------------------------


def _draw_hand_in(screen: FirstScreen, view: LessonsView) -> None:
    """Draw the step at which a student reviews all answers, adds a text and saves the report."""
    answers = state.all_answered(view)
    handed, score = report(answers, view), progress_text(answers, view)
    screen.say(HANDED_IN, score)
    draw_replies(view)
    with st.container(horizontal=True, key="learn_hand_in_files"):
        address = f"<p>To be measured again at: {escape(STATE.address(view))}</p>"
        make = partial(
            html_page, HANDED_IN, REPORT_STYLE + PAPER, f"<p>{score}</p>{handed}{address}"
        )
        download("Download to print or send (HTML)", make, "dpsco-lessons.html", key="learn_report")
        link(STATE, view)
    st.caption(f"{CLOSE} {words.HANDING_IN}")
    st.text_area(
        SENTENCE,
        key=STATE.key("sentence"),
        max_chars=MOST_LETTERS,
        height=80,
    )
    st.html(f"<style>{REPORT_STYLE}</style>{handed}")
