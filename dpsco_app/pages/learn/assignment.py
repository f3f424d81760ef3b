"""An assignment: a teacher makes one, as a link and a sheet; a student answers its questions."""

from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st

from dpsco_app.lessons.figures import figures
from dpsco_app.lessons.lessons import BY_SLUG, SLUGS, Lesson, step_name
from dpsco_app.lessons.view import (
    MOST_QUESTION,
    MOST_QUESTIONS,
    MOST_REPLY,
    LessonsView,
)
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.learn.state import STATE, measure
from dpsco_app.parts.export import download
from dpsco_app.parts.html import html_page
from dpsco_app.parts.options import escaped_markdown, with_units
from dpsco_app.shell.teaching import ADDRESS, Teaching
from dpsco_app.static_page.lesson_parts import prose_html
from dpsco_core.base.errors import InvalidInput

TITLE = "Make an assignment"
EXPLANATION = (
    "Choose lessons and add questions of your own. Students who open the link see only these, in "
    "this order. At the end they hand in a page or a link with their predictions, what was "
    "measured, and their answers. Nothing is stored: all of it is in the link."
)
TYPED, WRONG = "learn_questions_typed", "learn_questions_wrong"
LONGEST = 8000  # Every server and mail program passes on a link of this many characters.
SHEET_TITLE = "Learning from private data: an assignment"
SHEET_STYLE = """
body { font: 16px/1.5 Arial, sans-serif; max-width: 800px; margin: 0 auto; padding: 1rem; }
section { break-inside: avoid; margin: 0 0 1.5rem; }
figure { break-inside: avoid; margin: 0.5rem 0; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { color: #555; font-size: 0.8rem; }
h2 { font-size: 1.15rem; margin: 0 0 0.25rem; }
ul { list-style: "\\2610\\00a0\\00a0"; }
.line { border-bottom: 1px solid #888; height: 2rem; }
.address { overflow-wrap: anywhere; font-size: 0.8rem; }
@media print { body { font-size: 12pt; max-width: none; padding: 0; } }
"""


def draw_assignment(screen: FirstScreen, view: LessonsView) -> None:
    """Draw the choice of lessons and questions, and the resulting link and sheet."""
    screen.say(TITLE, "A link and a sheet for a class", EXPLANATION)
    st.multiselect(
        "Lessons, in their order",
        SLUGS,
        format_func=step_name,
        key=STATE.key("tasks"),
        placeholder="Choose lessons",
    )
    st.session_state.setdefault(TYPED, view.questions)
    st.text_area(
        f"Questions of your own: one a line, up to {MOST_QUESTIONS}, of at most {MOST_QUESTION} "
        "characters each",
        key=TYPED,
        height=150,
        on_change=_take_questions,
    )
    if wrong := st.session_state.get(WRONG):
        st.error(escaped_markdown(wrong))
        return
    if not (view.tasks or view.questions):
        st.caption("Choose a lesson or write a question, and the link and the sheet appear here.")
        return
    is_apart = st.checkbox("Leave out the ways to other pages", value=True, key="learn_apart")
    hidden = Teaching(hide="nav" if is_apart else "")
    address = STATE.address(assignment_of(view), None, ADDRESS.to_query(hidden))
    if len(address) > LONGEST:
        st.error(
            f"This link would have {len(address):,} characters. Some mail programs and servers cut "
            f"links after {LONGEST:,}: shorten the questions."
        )
        return
    st.markdown(
        f"**The link for students**, {len(address):,} characters long (links of up to {LONGEST:,} "
        "characters are safe to send)."
    )
    st.code(address, language=None, wrap_lines=True)
    make = partial(sheet, assignment_of(view), address)
    download("Sheet to print (HTML)", make, "dpsco-assignment.html", key="learn_sheet")


def _take_questions() -> None:
    """Store the questions that were typed, or the error in them; a callback."""
    questions = "\n".join(line.strip() for line in st.session_state[TYPED].split("\n"))
    try:
        view = replace(STATE.current(), questions=questions, replies="").validate()
    except InvalidInput as problem:
        st.session_state[WRONG] = str(problem)
        return
    st.session_state[WRONG] = ""
    STATE.change({"questions": "\n".join(view.question_texts), "replies": ""})


def assignment_of(view: LessonsView) -> LessonsView:
    """Return the view at which a student opens the assignment in a teacher's view."""
    questions = "\n".join(view.question_texts)
    return LessonsView(tasks=view.tasks, questions=questions).validate()


def sheet(view: LessonsView, address: str) -> str:
    """Return an assignment as an HTML page to print; `address` is its link for students."""
    lessons = "".join(_lesson_html(BY_SLUG[slug]) for slug in view.lessons)
    questions = "".join(
        f"<section><h2>{escape(question)}</h2>{3 * _LINE}</section>"
        for question in view.question_texts
    )
    return html_page(
        SHEET_TITLE,
        SHEET_STYLE,
        f"<p>Name and date:</p>{_LINE}{lessons}{questions}"
        f"<p>Open this address, predict, run each lesson, and compare:</p>"
        f"<p class='address'>{escape(address)}</p>",
    )


_LINE = "<div class='line'></div>"


def _lesson_html(lesson: Lesson) -> str:
    """Return a lesson as a section of the printed assignment, with its figure before the run."""
    # Importing Matplotlib takes a second, so it waits for the first sheet.
    from dpsco_app.figure.slide import picture

    words = lesson.words
    choices = "".join(f"<li>{escape(choice)}</li>" for choice in lesson.choices.values())
    answer = f"<ul>{choices}</ul>" if choices else f"<p>Your prediction:</p>{_LINE}"
    evidence = measure(lesson, is_preview=True)
    pictures = "".join(
        f"<figure>{picture(figure)}<figcaption>{escape(figure.alt)}</figcaption></figure>"
        for figure in figures(lesson, evidence, words.preview_title, has_run=False)
    )
    return (
        f"<section><h2>{escape(step_name(lesson.slug))}</h2>{pictures}<p>{prose_html(with_units(words.text))}</p>"
        f"<p><b>{escape(with_units(words.question))}</b></p>{answer}"
        f"<p>What was measured, and why it differs:</p>{_LINE}</section>"
    )


def draw_replies(view: LessonsView) -> None:
    """Draw the questions of an assignment, each with a place for its answer."""
    for i, (question, reply) in enumerate(view.discussion):
        # The question is drawn as HTML, because a label would read its signs as Markdown.
        st.html(f"<p><b>{escape(question)}</b></p>")
        key = f"learn_reply_{i}"
        st.session_state[key] = reply
        st.text_area(
            f"Your answer to question {i + 1}",
            key=key,
            max_chars=MOST_REPLY,
            height=80,
            on_change=_take_reply,
            args=(i, key),
        )


def _take_reply(number: int, key: str) -> None:
    """Store the visitor's reply to a teacher's question, given by its index; a callback.

    `key` is that of the text field.
    """
    view = STATE.current()
    STATE.change({"replies": view.reply(number, st.session_state[key]).replies})
