"""Whether a prediction is close to the measurement, in one sentence that states both."""

import math
from dataclasses import dataclass

from dpsco_app.lessons import findings as find
from dpsco_app.lessons.lessons import Answer, Lesson
from dpsco_app.parts.options import number_text

EXACT = 1.1  # A predicted number whose ratio to the measured one is at most this is right.
ONE_POINT = 1.0  # A predicted share within this many percentage points is right.
# The ratio within which a number counts as close, and the percentage points within which a share
# does.
CLOSE_RATIO, CLOSE_POINTS = 1.5, 6.0
CLOSE = (
    f"A prediction is close within a factor of {CLOSE_RATIO:g} of what was measured, and a "
    f"percentage within {CLOSE_POINTS:g} points."
)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    close: bool
    sentence: str


def judge(lesson: Lesson, prediction: Answer, finding: find.LessonFinding) -> Verdict:
    """Compare a prediction with a finding, in one sentence that holds both."""
    measured, direction = finding.answer, ""
    if isinstance(measured, str) or isinstance(prediction, str):
        close = exact = prediction == measured
    else:
        nearest = max(min(prediction, measured), finding.lower_end or measured)
        ratio = prediction / nearest if nearest > 0 else math.inf
        percent = lesson.unit == " %"
        points = abs(prediction - measured)
        close = points <= CLOSE_POINTS if percent else 1 / CLOSE_RATIO <= ratio <= CLOSE_RATIO
        close = close and prediction <= lesson.largest_allowed
        exact = close and (points <= ONE_POINT if percent else 1 / EXACT <= ratio <= EXACT)
        direction = "too high" if ratio > 1 else "too low"
        if percent:
            direction += f" by {points:.0f} percentage point{'s' * (round(points) != 1)}"
        elif 0 < ratio < math.inf:
            direction += f" by a factor of {find.short(max(ratio, 1 / ratio))}"
        direction += ", and more than ε allows" * (prediction > lesson.largest_allowed)
    remark = "Right" if exact else f"Close, {direction}" if close else direction.capitalize()
    predicted_words, measured_words = (
        answer_text(lesson, prediction),
        measured_text(lesson, finding),
    )
    verb = "chose" if isinstance(prediction, str) else "predicted"
    comparison = "the answer is " + (
        "the same" if predicted_words == measured_words else f"**{measured_words}**"
    )
    sentences = [f"You {verb} **{predicted_words}**; {comparison}", remark]
    return Verdict(close=close, sentence=" ".join(f"{s}." for s in sentences if s))


def answer_text(lesson: Lesson, answer: Answer) -> str:
    """Return a prediction or a measured answer as people read it."""
    if isinstance(answer, str):
        return lesson.choices.get(answer, "none of these")
    written = find.short(answer) if answer not in lesson.numbers else number_text(answer)
    if lesson.unit.startswith("="):  # A unit that begins with "=" marks a point on an axis.
        return f"{lesson.unit[1:]}{written}"
    unit = " time" if (written, lesson.unit) == ("1", " times") else lesson.unit
    return f"{written}{unit}"


def measured_text(lesson: Lesson, finding: find.LessonFinding) -> str:
    """Return the measured answer as people read it: a number, or the two
    numbers it lies between.
    """
    text = answer_text(lesson, finding.answer)
    if finding.lower_end is None:
        return text
    return f"{answer_text(lesson, finding.lower_end)} to {text.removeprefix(lesson.unit[1:])}"
