"""What the lessons hold in their address: the step, the answers, and a sentence to hand in."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from dpsco_app.front.address import PageView
from dpsco_app.lessons.lessons import BY_SLUG, SLUGS, Answer, step_name
from dpsco_core.base.errors import require
from dpsco_core.base.parsing import shorten, to_text

START, HAND_IN = "start", "hand-in"  # before the first lesson, and after the last
STEPS = (*SLUGS, HAND_IN)  # in their order, from the first lesson on
NAMES = {START: "Three doors", HAND_IN: "Hand in"}  # the names of the steps that are no lesson
MOST = 300  # letters of a sentence


@dataclass(frozen=True, kw_only=True)
class LessonsView(PageView):
    # the slug of a lesson, or its number from 1, which becomes the slug; or `START` or `HAND_IN`
    lesson: str = START
    answers: str = ""  # the predictions that have been run, as "clipping:some,noise:20"
    sentence: str = ""  # a sentence of the visitor, to be handed in

    def validate(self) -> Self:
        self.given()
        most = f"at most {MOST} letters long"
        require(len(self.sentence) <= MOST, "sentence", most, shorten(self.sentence))
        if self.lesson in (START, HAND_IN, *SLUGS):
            return self
        numbered = {str(i): slug for i, slug in enumerate(SLUGS, start=1)}
        must = f"a number from 1 to {len(SLUGS)}, or the name of a step"
        require(self.lesson in numbered, "lesson", must, shorten(self.lesson))
        return replace(self, lesson=numbered[self.lesson])

    def given(self) -> dict[str, Answer]:
        """Return the answers by lesson; raises `InvalidInput` for one that cannot be given."""
        answers: dict[str, Answer] = {}
        for part in filter(None, self.answers.split(",")):
            slug, _, text = part.partition(":")
            offered = {to_text(a): a for a in BY_SLUG[slug].answers} if slug in SLUGS else {}
            require(text in offered, "answers", "lessons with their answers", shorten(part))
            answers[slug] = offered[text]
        return answers


def answers_text(given: Mapping[str, Answer]) -> str:
    """Return answers by lesson as an address has them."""
    return ",".join(f"{slug}:{to_text(answer)}" for slug, answer in given.items())


def name_of(step: str) -> str:
    """Return what a step is called in the list of steps."""
    return NAMES.get(step) or step_name(step)


def next_label(step: str) -> str:
    """Return what the button says that leads from a lesson to the step after it."""
    return "Hand in what you predicted" if step == HAND_IN else f"Next lesson: {name_of(step)}"
