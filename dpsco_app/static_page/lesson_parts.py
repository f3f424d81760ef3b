"""The parts around the figure of a lesson on the page without a server, as HTML."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from urllib.parse import urlencode

from dpsco_app.front import links
from dpsco_app.front.view import ADDRESS
from dpsco_app.lessons import words
from dpsco_app.lessons.lessons import Answer, Lesson
from dpsco_app.lessons.report import SENTENCE, Answered, report
from dpsco_app.lessons.verdict import CLOSE
from dpsco_app.lessons.view import MOST_LETTERS, MOST_REPLY, LessonsView, name_of, next_label
from dpsco_app.parts.options import with_units
from dpsco_app.static_page.screen import bold_html
from dpsco_core.base.plain_latex import plain_formula

RAISED = re.compile(r"\^(?:\(((?:[^()]|\([^()]*\))*)\)|(\w))")


def prose_html(text: str) -> str:
    r"""Return the text of a lesson as HTML; its formulas stand between dollar signs.

    Examples
    --------
    >>> prose_html(r"**Rare**, like $t^{-2.5}$.")
    "<b>Rare</b>, like <span class='formula'>t<sup>−2.5</sup></span>."
    """
    pieces = bold_html(text).split("$")
    return "".join(_formula(p) if i % 2 else p for i, p in enumerate(pieces))


def _formula(latex: str) -> str:
    """Return a LaTeX formula as HTML with raised exponents."""
    plain = escape(plain_formula(latex.replace("&gt;", ">").replace("&lt;", "<")))
    raised = RAISED.sub(lambda m: f"<sup>{m[1] or m[2]}</sup>", plain.replace("-", "−"))
    return f"<span class='formula'>{raised}</span>"


def steps(view: LessonsView) -> str:
    """Return the menu of the steps and the buttons Back and Next, as HTML."""
    current_step, steps = view.lesson, view.steps
    chosen = {current_step: " selected"}
    options = "".join(
        f"<option value='{step}'{chosen.get(step, '')}>{escape(name_of(step))}</option>"
        for step in steps
    )
    index = steps.index(current_step)
    ways = (("Back", steps[index - 1 : index]), ("Next", steps[index + 1 : index + 2]))
    buttons = "".join(
        f"<button type='button' id='lesson-{way.lower()}' data-step='{''.join(target)}' "
        f"title='{escape(''.join(map(name_of, target)))}'"
        f"{'' if target else ' disabled'}>{way}</button>"
        for way, target in ways
    )
    return f"<select id='lesson-step' aria-label='Step'>{options}</select>{buttons}"


def choices_html(lesson: Lesson, answer: Answer | None) -> str:
    """Return a lesson's answers as HTML, with the given one chosen; `data-answer` is the index.

    The text is empty if the answer is a number.
    """
    chosen = {answer: " checked"}
    boxes = "".join(
        f"<label><input type='radio' name='answer' id='answer-{i}' data-answer='{i}'"
        f"{chosen.get(key, '')}>{escape(text)}</label>"
        for i, (key, text) in enumerate(lesson.choices.items())
    )
    question = escape(lesson.words.question)
    return f"<fieldset><legend>{question}</legend>{boxes}</fieldset>" if boxes else ""


def verdict(run: Answered) -> str:
    """Return, as HTML, the verdict on a prediction and the finding of the lesson."""
    kind = "close" if run.verdict.close else "missed"
    return (
        f"<div class='verdict {kind}'><p>{bold_html(run.verdict.sentence)}</p>"
        f"<p>{bold_html(with_units(run.finding.text))}</p></div>"
    )


def reason(lesson: Lesson, follower: str) -> str:
    """Return the explanation of a lesson's result and the button to the next step, as HTML.

    `follower` is the slug of the next step.
    """
    return (
        f"<p><b>Why.</b> {prose_html(lesson.words.explanation)}</p>"
        f"<p><button type='button' id='lesson-onward' class='primary' data-step='{follower}'>"
        f"{escape(next_label(follower))}</button></p>"
    )


def ways_on(lesson: Lesson) -> str:
    """Return the link that opens the lesson's setting among the curves, as HTML."""
    view = ADDRESS.to_query(replace(ADDRESS.default, against=lesson.second_set))
    address = urlencode(links.query(lesson.scenario) | view, safe=",")
    label = "Open in Curves" if lesson.experiment is None else "See such data in Curves"
    return f"<a href='?{escape(address)}#curves' data-open='{escape(address)}'>{label}</a>"


def handed_in(answers: Sequence[Answered], view: LessonsView) -> str:
    """Return the step of handing in as HTML: fields for the student's texts, and the report."""
    return "".join(_handed_in(answers, view))


def _handed_in(answers: Sequence[Answered], view: LessonsView) -> Iterator[str]:
    """Yield the parts of the step of handing in: a note, fields for texts, and the report."""
    yield f"<p class='small'>{escape(CLOSE)} {escape(words.HANDING_IN)}</p>"
    for i, (question, reply) in enumerate(view.discussion):
        yield (
            f"<label class='sentence'><span>{escape(question)}</span>"
            f"<textarea data-question='{i}' maxlength='{MOST_REPLY}' rows='2'>{escape(reply)}"
            "</textarea></label>"
        )
    yield (
        f"<label class='sentence'><span>{escape(SENTENCE)}</span>"
        f"<textarea id='lesson-sentence' maxlength='{MOST_LETTERS}' "
        f"rows='2'>{escape(view.sentence)}</textarea></label>"
    )
    yield report(answers, view)
