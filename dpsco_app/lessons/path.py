"""A visitor's path through the lessons: the predictions, and the findings of the runs.

The view has the answers that were run, and a `LessonResults` the results of these runs.
"""

from dataclasses import replace

from dpsco_app.lessons.findings import LessonEvidence, LessonFinding
from dpsco_app.lessons.lessons import BY_SLUG, Answer
from dpsco_app.lessons.measure import LessonResults, measure
from dpsco_app.lessons.report import Answered
from dpsco_app.lessons.verdict import judge
from dpsco_app.lessons.view import LessonsView, answers_text


class LessonPath:
    """The predictions and findings of one visit."""

    def __init__(self) -> None:
        """Begin without predictions and without findings."""
        # The predictions, including those of lessons that have not been run.
        self._predictions: dict[str, Answer] = {}
        self._measured: dict[str, tuple[LessonEvidence, LessonFinding]] = {}

    @property
    def measured(self) -> int:
        """The number of lessons that have been run and judged in this visit."""
        return len(self._measured)

    def predict(self, slug: str, answer: Answer) -> None:
        """Record the visitor's prediction for the lesson with a slug."""
        self._predictions[slug] = answer

    def prediction(self, slug: str, view: LessonsView) -> Answer | None:
        """Return the prediction for a lesson, run or not; None if there is none."""
        return self._predictions.get(slug, view.predictions().get(slug))

    def answer(self, slug: str, view: LessonsView) -> LessonsView:
        """Return the view in which the visitor's prediction is the answer to a lesson."""
        prediction = self.prediction(slug, view)
        assert prediction is not None, "the button is off until there is one"
        return replace(view, answers=answers_text(view.predictions() | {slug: prediction}))

    def answered(self, slug: str, view: LessonsView, results: LessonResults) -> Answered | None:
        """Return a lesson with its verdict, measuring it if need be; None if it is unanswered."""
        lesson, predictions = BY_SLUG[slug], view.predictions()
        if slug not in predictions:
            return None
        if slug not in self._measured:
            evidence = measure(lesson, results)
            self._measured[slug] = evidence, lesson.find(evidence)
        evidence, finding = self._measured[slug]
        return Answered(
            lesson=lesson,
            prediction=predictions[slug],
            evidence=evidence,
            finding=finding,
            verdict=judge(lesson, predictions[slug], finding),
        )

    def all_answered(self, view: LessonsView, results: LessonResults) -> list[Answered]:
        """Return every lesson of the path that was answered, in its order."""
        runs = (self.answered(slug, view, results) for slug in view.lessons)
        return [run for run in runs if run is not None]

    def forget(self, view: LessonsView) -> LessonsView:
        """Forget predictions and findings; return the view without the texts to be handed in."""
        self._predictions.clear()
        self._measured.clear()
        return replace(view, answers="", sentence="", replies="")
