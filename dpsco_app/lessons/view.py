"""The address of the lessons: the current step, the answers, and the texts to be handed in.

It also has a teacher's assignment: the lessons in order, and the teacher's questions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from dpsco_app.front.address import PageView
from dpsco_app.lessons.lessons import BY_SLUG, SLUGS, Answer, step_name
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import shorten, to_text

START, HAND_IN = "start", "hand-in"  # The steps before the first lesson and after the last one.
ASSIGN = "assign"  # The step on which a teacher makes an assignment.
STEPS = (*SLUGS, HAND_IN)  # The steps in order, from the first lesson on.
# The names of the steps that are not lessons.
NAMES = {START: "Three doors", HAND_IN: "Hand in", ASSIGN: "For teachers: an assignment"}
MOST_LETTERS = 300  # The largest number of characters in the sentence that is handed in.
# The largest number of questions, and of characters in a question and in a reply.
MOST_QUESTIONS, MOST_QUESTION, MOST_REPLY = 10, 200, 500


@dataclass(frozen=True, kw_only=True)
class LessonsView(PageView):
    # The slug of a lesson, or its number from 1, which becomes the slug; or `START`, `HAND_IN` or
    # `ASSIGN`.
    lesson: str = START
    answers: str = ""  # The predictions that have been run, as "clipping:some,noise:20".
    sentence: str = ""  # A sentence of the visitor, to be handed in.
    tasks: str = ""  # The lessons of an assignment in order, such as "clipping,noise".
    questions: str = ""  # The questions of an assignment, one per line.
    replies: str = ""  # The visitor's replies to the questions, one per line.

    def validate(self) -> Self:
        """Return the view with a slug for a lesson's number; raise `InvalidInput` if it is wrong.

        A step outside an assignment becomes the assignment's first one.
        """
        self.predictions()
        length = f"at most {MOST_LETTERS} characters long"
        require(len(self.sentence) <= MOST_LETTERS, "sentence", length, shorten(self.sentence))
        self._check_assignment()
        if self.lesson in (START, HAND_IN, ASSIGN, *SLUGS):
            return self._at_allowed_step()
        numbered = {str(i): slug for i, slug in enumerate(SLUGS, start=1)}
        must = f"a number from 1 to {len(SLUGS)}, or the name of a step"
        require(self.lesson in numbered, "lesson", must, shorten(self.lesson))
        return replace(self, lesson=numbered[self.lesson])._at_allowed_step()

    def predictions(self) -> dict[str, Answer]:
        """Return the answers by the lesson's slug; raise `InvalidInput` for an unknown answer."""
        answers: dict[str, Answer] = {}
        for part in filter(None, self.answers.split(",")):
            slug, _, text = part.partition(":")
            offered = {to_text(a): a for a in BY_SLUG[slug].answers} if slug in SLUGS else {}
            require(text in offered, "answers", "lessons with their answers", shorten(part))
            answers[slug] = offered[text]
        return answers

    # -- an assignment ----------------------------------------------------------------------

    @property
    def is_assignment(self) -> bool:
        """Whether the visitor sees only the lessons and questions of an assignment."""
        return bool(self.tasks or self.questions) and self.lesson != ASSIGN

    @property
    def lessons(self) -> tuple[str, ...]:
        """The lessons of the path, in their order."""
        return tuple(filter(None, self.tasks.split(","))) if self.is_assignment else SLUGS

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the path in order: the lessons, and handing in."""
        return (*self.lessons, HAND_IN)

    @property
    def question_texts(self) -> tuple[str, ...]:
        """The teacher's questions of the assignment, one for each nonempty line."""
        return tuple(filter(None, (line.strip() for line in self.questions.split("\n"))))

    @property
    def reply_texts(self) -> tuple[str, ...]:
        """The answers to the questions, one for each; a missing answer is empty."""
        lines = self.replies.split("\n") if self.replies else []
        return tuple(lines + [""] * (len(self.question_texts) - len(lines)))

    @property
    def discussion(self) -> tuple[tuple[str, str], ...]:
        """The questions of the assignment, each with its answer."""
        return tuple(zip(self.question_texts, self.reply_texts, strict=True))

    def reply(self, number: int, text: str) -> Self:
        """Return the view with a new reply to the question of this index, joined to one line."""
        lines = list(self.reply_texts)
        lines[number] = " ".join(text.split())
        return replace(self, replies="\n".join(lines) if any(lines) else "").validate()

    def _check_assignment(self) -> None:
        """Raise `InvalidInput` unless the teacher's tasks and questions are allowed."""
        slugs = [slug for slug in self.tasks.split(",") if slug]
        is_list = set(slugs) <= set(SLUGS) and len(set(slugs)) == len(slugs)
        require(is_list, "tasks", "names of lessons, each once", shorten(self.tasks))
        must = (
            f"at most {MOST_QUESTIONS} lines of up to {MOST_QUESTION} characters, a question each"
        )
        fits = len(self.question_texts) <= MOST_QUESTIONS and all(
            len(q) <= MOST_QUESTION for q in self.question_texts
        )
        require(
            fits and _is_allowed_text(self.questions), "questions", must, shorten(self.questions)
        )
        must = f"at most one line of up to {MOST_REPLY} characters for each question"
        lines = self.replies.split("\n") if self.replies else []
        fits = len(lines) <= len(self.question_texts) and all(
            len(line) <= MOST_REPLY for line in lines
        )
        require(fits and _is_allowed_text(self.replies), "replies", must, shorten(self.replies))

    def _at_allowed_step(self) -> Self:
        """Return the view, moved to the assignment's first step if its own is outside."""
        if not self.is_assignment or self.lesson in self.steps:
            return self
        return replace(self, lesson=self.steps[0])


def _is_allowed_text(text: str) -> bool:
    """Return whether every line of a text is printable."""
    return all(line.isprintable() for line in text.split("\n"))


def answers_text(predictions: Mapping[str, Answer]) -> str:
    """Return the answers by lesson in the form of the address."""
    return ",".join(f"{slug}:{to_text(answer)}" for slug, answer in predictions.items())


def name_of(step: str) -> str:
    """Return the name of a step in the list of steps."""
    return NAMES.get(step) or step_name(step)


def next_label(step: str) -> str:
    """Return the label of the button that leads from a lesson to the next step."""
    return "Hand in what you predicted" if step == HAND_IN else f"Next lesson: {name_of(step)}"
