"""Learn: three doors, and a guided path: a question, a prediction, an answer that is measured."""

from collections.abc import Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.figure.head import head
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.learn import state, words
from dpsco_app.pages.learn.figures import colour_named, figures
from dpsco_app.pages.learn.findings import LessonEvidence, curve
from dpsco_app.pages.learn.lessons import (
    BY_SLUG,
    CLOSE,
    SLUGS,
    Answer,
    Lesson,
    answer_text,
    measured_text,
    step_name,
)
from dpsco_app.pages.learn.state import HAND_IN, MOST, START, STATE, Answered, View
from dpsco_app.parts.drawing import theme
from dpsco_app.parts.export import download, setting_line
from dpsco_app.parts.html import html_page
from dpsco_app.parts.options import with_units
from dpsco_app.parts.page import explore_query, link, opened
from dpsco_app.parts.touch.asking import draw_question, to_the_top
from dpsco_app.shell import visit, window
from dpsco_app.shell.names import EXPLORE, LEARN
from dpsco_app.shell.places import draw_views, link_to

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "doors"
NAMES = {START: "Three doors", HAND_IN: "Hand in"}  # the names of the steps that are no lesson
WIDTHS = {"medium": 820, "large": 1090}  # the place of a figure, by the size of the page
STYLE = """<style>
.st-key-learn_text p { max-width: 46rem; }
.st-key-learn_place, .st-key-learn_text { gap: 0.5rem; }
[class*="st-key-learn_predict_"] [data-testid="stWidgetLabel"] p {
  font-size: 1rem; font-weight: 600;
}
.st-key-learn_doors img { border: 1px solid rgba(128, 128, 128, 0.3); }
[class*=st-key-learn_door_] { position: relative; cursor: pointer; }
/* All of a card leads where its link does. */
[class*=st-key-learn_door_] [data-testid=stElementContainer] { position: static; }
[class*=st-key-learn_door_] :is([data-testid=stPageLink] a, .st-key-learn_next button)::after {
  content: ""; position: absolute; inset: 0; z-index: 1;
}
.st-key-learn_doors button { min-height: 0; padding: 0.25rem 0.5rem; }
/* The one link of a card looks like one. */
.st-key-learn_doors :is([data-testid=stPageLink] a, button) p {
  font-weight: 600; text-decoration: underline;
}
.st-key-learn_doors .st-key-learn_next { margin: -0.375rem 0 -0.3rem; }  /* as a link has them */
@media (max-width: 1100px) {
  [data-testid=stColumn]:has([class*=st-key-learn_figure_], .st-key-learn_text) {
    min-width: calc(100% - 1.5rem);
  }
}
.head p:empty { display: none; }
@media (min-width: 1101px) {
  .head h2 { min-height: 2.0625rem; }
  [data-testid=stColumn]:has(> * > [class*=st-key-learn_figure_]) {
    position: sticky; top: 4rem; align-self: flex-start;
  }
}
</style>"""
HANDED_IN = "What you predicted, and what was measured"
VERDICTS = ("Right or close", "Missed")
COLUMNS = ("Lesson", "Predicted", "Measured", "Verdict")
# Of what is handed in, on the screen and on paper.
REPORT_STYLE = """
.report { border-collapse: collapse; width: 100%; }
.report caption { font-size: 0; height: 0; }
.report th, .report td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0;
  border-bottom: 1px solid rgba(128, 128, 128, 0.35); }
@media (max-width: 760px) {
  .report thead { display: none; }
  .report td { display: block; border: 0; padding: 0.1rem 0; }
  .report td:nth-child(2)::before { content: "Predicted: "; }
  .report td:nth-child(3)::before { content: "Measured: "; }
  .report td:first-child { font-weight: 600; padding-top: 0.75rem; }
}
"""
PAPER = """
body { font: 16px/1.5 Arial, sans-serif; max-width: 1000px; margin: 0 auto; padding: 1rem; }
p { overflow-wrap: anywhere; }
"""


def page() -> None:
    st.html(STYLE)
    draw_views(LEARN)
    view = opened(STATE)
    STATE.remember(view)
    to_the_top(view.lesson, run=".st-key-learn_run button")
    score = _place(view)
    if view.lesson == START:
        _doors()
    elif view.lesson == HAND_IN:
        _hand_in(view)
    else:
        _lesson(BY_SLUG[view.lesson], view.given())
    if view.lesson != HAND_IN:  # there the score is the headline
        # Measures here what the address has brought along.
        score.caption(progress(state.all_answered(view)), width="content")


def _place(view: View) -> DeltaGenerator:
    """Draw the list of the steps and the ways on and back; return the place of the score."""
    with st.container(horizontal=True, vertical_alignment="center", key="learn_place"):
        st.selectbox(
            "Step",
            (START, *SLUGS, HAND_IN),
            format_func=lambda slug: NAMES.get(slug) or step_name(slug),
            key=STATE.key("lesson"),
            label_visibility="collapsed",
            width=380,
        )
        if view.lesson in BY_SLUG:
            at = SLUGS.index(view.lesson)
            _step_button("Back", (START, *SLUGS)[at])
            _step_button("Next", (*SLUGS, HAND_IN)[at + 1])
        score = st.empty()
        if view.answers:
            st.button("Forget my answers", on_click=state.forget, key="learn_forget")
    return score


def _step_button(way: str, to: str, label: str = "", **look: Any) -> None:
    st.button(
        label or way,
        icon=":material/arrow_back:" if way == "Back" else ":material/arrow_forward:",
        help=NAMES.get(to) or step_name(to),
        on_click=STATE.change,
        args=({"lesson": to},),
        key=f"learn_{way.lower()}",
        **look,
    )


def _doors() -> None:
    st.html(head(words.QUESTION, [words.ANSWER], [(words.INTRODUCTION, "")], theme()))
    with st.container(key="learn_doors"):
        for (slug, door), column in zip(words.DOORS.items(), st.columns(3), strict=True):
            name, question, about = door
            with column, st.container(key=f"learn_door_{slug}", border=True, height="stretch"):
                st.markdown(f"**{question}**")
                picture = (ASSETS / f"{slug}.svg").read_text(encoding="utf-8")
                st.image(picture, width="stretch", alt=name)
                if slug == LEARN:
                    _step_button("Next", SLUGS[0], name, type="tertiary")
                else:
                    link_to(slug, name)
                st.caption(about)


def _lesson(lesson: Lesson, given: dict[str, Answer]) -> None:
    """Draw a lesson: its figure, what it asks, and what was measured."""
    slug, known = lesson.slug, len(state.measured())
    screen = FirstScreen("learn", beside=True)
    screen.say(step_name(slug), lesson.words.before)
    with screen.beside, st.container(key="learn_text"):
        st.markdown(with_units(lesson.words.text))
        question = st.empty()
        status = _run_row(lesson)
        verdict_place = st.container(key="learn_said")
        _go_on(lesson)
    if lesson.choices:
        _draw_choices(lesson, question)
    with status:
        over = state.answered(slug, given[slug]) if slug in given else None
        if over is None:
            evidence, title = state.measure(lesson, before=True), lesson.words.before
        else:
            evidence, title = over.evidence, over.finding.headline
        if state.prediction_of(slug) is None:
            st.markdown("Predict first.")
    screen.say(step_name(slug), title)
    first, *others = figures(lesson, evidence, title, done=over is not None)
    right = 110 + 7 * max((len(row.name) for row in first.ladder.rows), default=0)
    screen.draw(first, width=WIDTHS.get(window.size(), 780), right=right, height=460)
    screen.draw_files(first, setting=setting_line(lesson.scenario))
    for i, figure in enumerate(others):
        FirstScreen(f"learn_below_{i}").show_below(figure)
    if lesson.numbers:
        with question:
            _draw_handle(lesson, evidence, over, fresh=len(state.measured()) > known)
    if over is not None:
        with verdict_place:
            box = st.success if over.verdict.close else st.info
            box(with_units(f"{over.verdict.sentence}\n\n{over.finding.said}"))
            st.markdown(with_units(f"**Why.** {lesson.words.why}"))


def _draw_choices(lesson: Lesson, place: DeltaGenerator) -> None:
    key = state.prediction_key(lesson.slug)
    # Written in every run: the browser may not have heard it in one that was stopped.
    st.session_state[key] = state.prediction_of(lesson.slug)
    place.radio(
        lesson.words.question,
        list(lesson.choices),
        format_func=lesson.choices.__getitem__,
        key=key,
        on_change=state.choose,
        args=(lesson.slug,),
    )


def _run_row(lesson: Lesson) -> DeltaGenerator:
    """Draw Run; return the place of the status line."""
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
    lesson: Lesson, evidence: LessonEvidence, over: Answered | None, *, fresh: bool
) -> None:
    """Draw the handle of a number into the figure; after the run the measurement meets it."""
    prediction, measured, start = state.prediction_of(lesson.slug), None, None
    if over is not None:
        answer = over.finding.answer
        measured = (measured_text(lesson, over.finding), lesson.place(evidence, float(answer)))
    if lesson.first:
        own = curve(evidence.table, lesson.first)
        start = (float(own.index[0]), float(own.iloc[0]))
    draw_question(
        state.prediction_key(lesson.slug),
        partial(state.take_answer, lesson.slug),
        colour_named(lesson.lands),
        figure="learn_figure",
        question=lesson.words.question,
        texts=[answer_text(lesson, value) for value in lesson.numbers],
        places=[lesson.place(evidence, value) for value in lesson.numbers],
        chosen=None if prediction is None else lesson.answers.index(prediction),
        upright=lesson.height is None,
        start=start,
        measured=measured,
        trials=[] if over is None else lesson.trials(evidence),
        fresh=len(state.measured()) * fresh,
    )


def _go_on(lesson: Lesson) -> None:
    with st.container(horizontal=True, key="learn_elsewhere"):
        label = "Open in Explore" if lesson.experiment is None else "Explore such data"
        link_to(EXPLORE, label, explore_query(lesson.scenario, against=lesson.against))
        for slug, label in lesson.elsewhere:
            link_to(slug, label, visit.query(lesson.scenario))
        link(STATE, View(lesson=lesson.slug), about=words.HOMEWORK)


# -- what is handed in --------------------------------------------------------------------------


def verdict_of(one: Answered) -> str:
    return VERDICTS[not one.verdict.close]


def progress(done: Sequence[Answered]) -> str:
    """Return how many lessons are answered, and which of them well."""
    counts = [
        f"{name}: {', '.join(str(SLUGS.index(one.lesson.slug) + 1) for one in own)}"
        for name in VERDICTS
        if (own := [one for one in done if verdict_of(one) == name])
    ]
    return " · ".join([f"{len(done)} of {len(SLUGS)} lessons answered", *counts])


def report(done: Sequence[Answered], sentence: str) -> str:
    """Return the table of what was predicted and measured, and the sentence, as HTML."""
    rows = [
        (
            step_name(one.lesson.slug),
            answer_text(one.lesson, one.prediction),
            with_units(one.finding.said.replace("**", "")),
            verdict_of(one),
        )
        for one in done
    ]
    heads = "".join(f"<th scope='col'>{name}</th>" for name in COLUMNS)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    table = (
        f"<table class='report'><caption>{HANDED_IN}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )
    below = f"<p><b>In one sentence:</b> {escape(sentence)}</p>" if sentence else ""
    return (table if rows else "<p>No lesson is answered yet.</p>") + below


def _hand_in(view: View) -> None:
    done = state.all_answered(view)
    handed, score = report(done, view.sentence), progress(done)
    st.html(head(HANDED_IN, [score], [], theme()))
    with st.container(horizontal=True, key="learn_hand_in_files"):
        address = f"<p>To be measured again at: {escape(STATE.address(view))}</p>"
        make = partial(
            html_page, HANDED_IN, REPORT_STYLE + PAPER, f"<p>{score}</p>{handed}{address}"
        )
        download("Download to print or send (HTML)", make, "dpsco-lessons.html", key="learn_report")
        link(STATE, view)
    st.caption(f"{CLOSE} {words.HANDING_IN}")
    st.text_area(
        "In one sentence: what have you learnt? Add your name if you hand it in.",
        key=STATE.key("sentence"),
        max_chars=MOST,
        height=80,
    )
    st.html(f"<style>{REPORT_STYLE}</style>{handed}")
