"""The report that a student hands in: predictions and measurements in a table, and the score."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dpsco_app.lessons.findings import LessonEvidence, LessonFinding
from dpsco_app.lessons.lessons import SLUGS, Answer, Lesson, step_name
from dpsco_app.lessons.verdict import Verdict, answer_text
from dpsco_app.lessons.view import LessonsView
from dpsco_app.parts.options import with_units

HANDED_IN = "What you predicted, and what was measured"
SENTENCE = "In one sentence: what have you learnt? Add your name if you hand it in."
VERDICTS = ("Right or close", "Missed")
COLUMNS = ("Lesson", "Predicted", "Measured", "Verdict")
# The style sheet of the report, for the screen and for print.
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


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A lesson that has been run, for one prediction."""

    lesson: Lesson
    prediction: Answer
    evidence: LessonEvidence
    finding: LessonFinding
    verdict: Verdict


def verdict_of(answer: Answered) -> str:
    """Return "Right or close" or "Missed" for the prediction in an answer."""
    return VERDICTS[not answer.verdict.close]


def progress_text(answers: Sequence[Answered], view: LessonsView) -> str:
    """Return how many lessons of the path are answered, and which of them well."""
    lesson_count, question_count = len(view.lessons), len(view.question_texts)
    counts = [
        f"{name}: {', '.join(str(SLUGS.index(one.lesson.slug) + 1) for one in alike)}"
        for name in VERDICTS
        if (alike := [one for one in answers if verdict_of(one) == name])
    ]
    parts = []
    if lesson_count:
        noun = "lesson" + "s" * (lesson_count != 1)
        parts.append(f"{len(answers)} of {lesson_count} {noun} answered")
    if question_count:
        noun = "question" + "s" * (question_count != 1)
        counts.append(f"{sum(map(bool, view.reply_texts))} of {question_count} {noun} answered")
    return " · ".join([*parts, *counts])


def report(answers: Sequence[Answered], view: LessonsView) -> str:
    """Return the HTML table of predictions, measurements and the student's own texts."""
    rows = [
        (
            step_name(answer.lesson.slug),
            answer_text(answer.lesson, answer.prediction),
            with_units(answer.finding.text.replace("**", "")),
            verdict_of(answer),
        )
        for answer in answers
    ]
    heads = "".join(f"<th scope='col'>{name}</th>" for name in COLUMNS)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    table = (
        f"<table class='report'><caption>{HANDED_IN}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )
    sentence = escape(view.sentence)
    sentence_html = f"<p><b>In one sentence:</b> {sentence}</p>" if sentence else ""
    discussion = "".join(
        f"<p><b>{escape(question)}</b><br>{escape(reply) or 'Not answered.'}</p>"
        for question, reply in view.discussion
    )
    empty = "<p>No lesson is answered yet.</p>" if view.lessons else ""
    return (table if rows else empty) + discussion + sentence_html
