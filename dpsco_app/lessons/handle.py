"""The handle in the figure of a lesson: the numbers that can be predicted, and their places."""

from typing import Any

from dpsco_app.figure.colours import ACCENT, INK, PAGE, Pair
from dpsco_app.figure.theme import Theme
from dpsco_app.lessons.figures import colour_named
from dpsco_app.lessons.findings import LessonEvidence, LessonFinding, curve, first_height
from dpsco_app.lessons.lessons import Answer, Lesson
from dpsco_app.lessons.verdict import answer_text, measured_text

CHOSEN = ACCENT  # The colour of the ring around a chosen point.


def handle(
    lesson: Lesson,
    evidence: LessonEvidence,
    prediction: Answer | None,
    finding: LessonFinding | None,
) -> dict[str, Any]:
    """Return the data with which `prediction.js` lets a visitor drag a predicted number.

    With the `finding` of a finished run, the data include the measurement and its trials.
    """
    measured, start = None, None
    if finding is not None:
        place = lesson.place(evidence, float(finding.answer))
        measured = (measured_text(lesson, finding), place)
    if lesson.start_method:
        line = curve(evidence.points, lesson.start_method)
        start = (min(line), first_height(line))
    return {
        "question": lesson.words.question,
        "texts": [answer_text(lesson, value) for value in lesson.numbers],
        "places": [lesson.place(evidence, value) for value in lesson.numbers],
        "chosen": None if prediction is None else lesson.answers.index(prediction),
        "upright": lesson.height is None,
        "start": start,
        "measured": measured,
        "trials": [] if finding is None else lesson.trials(evidence),
    }


def choices_in_figure(lesson: Lesson, prediction: Answer | None, theme: Theme) -> dict[str, Any]:
    """Return the data with which `choices.js` draws a lesson's choices inside its figure."""
    return {
        "places": lesson.spots,
        "chosen": None if prediction is None else lesson.answers.index(prediction),
        "colour": theme.colour(CHOSEN),
    }


def handle_colours(lesson: Lesson, theme: Theme) -> dict[str, str]:
    """Return the colours of a handle, of the measurement beside it, and of the page, by name."""
    pairs: dict[str, Pair] = {"you": INK, "measured": colour_named(lesson.lands), "page": PAGE}
    return {name: theme.colour(pair) for name, pair in pairs.items()}
