"""The lessons of the page Learn, in their order: what is asked, what runs, and who judges."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from dpsco_app.pages.explore.presets import DEFAULT, GRID_EPSILON
from dpsco_app.pages.learn import findings as find
from dpsco_app.pages.learn.words import WORDS, LessonWords
from dpsco_app.parts.options import NO_SET, number_text
from dpsco_core.catalogue import bound
from dpsco_core.explain.lessons import RADIUS_POINT, TAILS, Experiment
from dpsco_core.scenario import Scenario

Answer = str | float
NEAR = 1.5  # a number within this factor of the measured one is close


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One step of the path.

    Parameters
    ----------
    slug : str
        Its name in the address, and of its words.
    scenario : Scenario
        What is run, unless there is an experiment, and what opens in Explore.
    find : callable
        Reads the answer off what was measured.
    choices : dict of key to label
        The answers to choose from; empty for a number.
    numbers : tuple of float
        The values of the slider, for a number.
    unit : str
        Of the number, with its space, as it follows it.
    near : float
        By which factor a number may be off to be close.
    experiment : str, optional
        One of `dpsco_core.explain.lessons.EXPERIMENTS`, run in place of the scenario.
    given : tuple of str
        The methods that are drawn before the run.
    against : str
        The set that is drawn beside.
    floor : str
        Slug of the lower bound that is drawn, if one is.
    elsewhere : tuple of (slug, label)
        Pages to go on with.
    """

    slug: str
    scenario: Scenario
    find: find.Find
    choices: dict[str, str] = field(default_factory=dict)
    numbers: tuple[float, ...] = ()
    unit: str = ""
    near: float = NEAR
    experiment: Experiment | None = None
    given: tuple[str, ...] = ()
    against: str = NO_SET
    floor: str = ""
    elsewhere: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> LessonWords:
        """What it says."""
        return WORDS[self.slug]

    @property
    def start(self) -> float:
        """Where the slider stands at first."""
        return self.numbers[0]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How a prediction compares with what was measured."""

    close: bool
    mark: str
    sentence: str


def judge(lesson: Lesson, prediction: Answer, found: find.LessonFinding) -> Verdict:
    """Compare a prediction with a finding, in one sentence that holds both.

    A choice is right if it is the one that was measured; a number is close within the lesson's
    factor.
    """
    if isinstance(found.answer, str) or isinstance(prediction, str):
        close = prediction == found.answer
    else:
        ratio = prediction / found.answer if found.answer > 0 else math.inf
        close = 1 / lesson.near <= ratio <= lesson.near
    mark = "Right" if close and lesson.choices else "Close" if close else "Not quite"
    predicted, measured = answer_text(lesson, prediction), answer_text(lesson, found.answer)
    return Verdict(
        close=close,
        mark=mark,
        sentence=f"You predicted: **{predicted}**. Measured: **{measured}**. {mark}.",
    )


def answer_text(lesson: Lesson, answer: Answer) -> str:
    """Return a prediction or a measured answer as people read it."""
    if isinstance(answer, str):
        return lesson.choices.get(answer, "never" if answer == find.NEVER else "none of these")
    written = find.short(answer) if answer not in lesson.numbers else number_text(answer)
    if lesson.unit.startswith("="):  # a point on an axis
        return f"{lesson.unit[1:]}{written}"
    unit = " time" if (written, lesson.unit) == ("1", " times") else lesson.unit
    return f"{written}{unit}"


def number(slug: str) -> int:
    """Return the number of a lesson, from 1."""
    return SLUGS.index(slug) + 1


LESSONS: tuple[Lesson, ...] = (
    Lesson(
        slug="heavy-tails",
        scenario=replace(DEFAULT.scenario, trials=5),
        experiment="tails",
        find=find.largest_record,
        numbers=(4, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500),
    ),
    Lesson(
        slug="the-mean",
        scenario=replace(
            TAILS,
            methods=("mean.sample", "mean.median-of-means"),
            n=1000,
            d=2,  # on a line, 200 samples do not tell which of the two has the worse luck
            margin=0.1,
            trials=200,
        ),
        find=find.sturdier,
        choices={
            "mean": "The sample mean in both",
            "split": "They are level typically; the median of means in the worst",
            "sturdy": "The median of means in both",
        },
        given=("mean.sample",),
    ),
    Lesson(
        slug="epsilon",
        scenario=Scenario(
            methods=("mean.sample", "mean.cwme-pure"),
            delta=0.0,
            d=5,
            axis="epsilon",
            grid=GRID_EPSILON,
            trials=5,
        ),
        experiment="neighbours",
        find=find.right_guesses,
        numbers=(50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100),
        unit=" %",
        near=1.09,
        elsewhere=(("privacy", "The page Privacy"),),
    ),
    Lesson(
        slug="clipping",
        scenario=replace(
            RADIUS_POINT,
            methods=("mean.sample", "mean.clipped"),
            axis="n",
            grid=(500, 1000, 2000, 5000, 10_000, 20_000, 50_000),
            trials=10,
        ),
        experiment="radius",
        find=find.share_cut,
        choices={
            "none": "None, or hardly one in a hundred",
            "some": "Some: more than one in a hundred, less than half",
            "most": "Most of them",
        },
        elsewhere=(("one-run", "One run, taken apart"),),
    ),
    Lesson(
        slug="noise",
        scenario=Scenario(
            p=4,
            methods=("mean.sample", "mean.clipped"),
            n=10_000,
            axis="n",
            grid=(500, 1000, 2000, 5000, 10_000, 20_000, 50_000),
            trials=10,
        ),
        find=find.fall,
        numbers=(1, 2, 3, 5, 10, 20, 30, 50, 100),
        unit=" times",
        given=("mean.sample",),
    ),
    Lesson(
        slug="free",
        scenario=Scenario(
            p=4,
            n=50_000,
            methods=("mean.sample", "mean.clipped"),
            axis="epsilon",
            grid=GRID_EPSILON,
            trials=10,
        ),
        find=find.free_from,
        numbers=GRID_EPSILON,
        unit="=ε = ",
        near=2.51,
        given=("mean.sample",),
    ),
    Lesson(
        slug="dimension",
        scenario=Scenario(
            n=20_000,
            d=100,
            methods=("mean.sample", "mean.cwme-cdp", "mean.cwme-pure"),
            axis="d",
            grid=(2, 5, 10, 20, 50, 100),
            trials=5,
        ),
        find=find.laplace_over_gaussian,
        numbers=(1, 1.5, 2, 3, 5, 10, 20),
        unit=" times",
        given=("mean.sample",),
    ),
    Lesson(
        slug="optimisation",
        scenario=Scenario(
            problem="logistic",
            methods=("sco.erm", "sco.cwme", "sco.clipped"),
            epsilon=None,
            delta=None,
            rho=0.1,
            n=500,
            d=100,
            p=2,
            margin=1.0,
            offset=2,
            diameter=10,
            axis="n",
            grid=(500, 1000, 2000, 5000, 10_000, 20_000),
            trials=5,
        ),
        find=find.least_risk,
        choices={
            "start": "The one that uses no data",
            "sco.clipped": "Clipped gradients",
            "sco.cwme": "Coordinate-wise gradients",
        },
        given=("sco.erm",),
        elsewhere=(("methods", "The methods, one by one"),),
    ),
    Lesson(
        slug="geometry",
        scenario=Scenario(
            problem="logistic",
            methods=("sco.erm", "sco.objective-perturbation"),
            geometry="l1",
            n=10_000,
            d=200,
            p=4,
            axis="d",
            grid=(5, 20, 50, 100, 200),
            trials=3,
        ),
        find=find.width_gain,
        numbers=(1, 1.5, 2, 3, 5, 10, 20, 50, 100),
        unit=" times",
        given=("sco.erm",),
        against="l2",
        elsewhere=(("geometry", "Geometry: sets, widths and noise"),),
    ),
    Lesson(
        slug="users",
        scenario=Scenario(
            problem="quadratic",
            distribution="hypercube",
            methods=("user.accelerated", "user.clipped-means"),
            n=10_000,
            d=10,
            m=10_000,
            axis="m",
            grid=(1, 10, 1000, 10_000, 100_000, 1_000_000),
            trials=5,
        ),
        find=find.filter_pays,
        numbers=(1, 10, 1000, 10_000, 100_000, 1_000_000),
        unit="=m = ",
        near=10.01,
        given=("user.clipped-means",),
        elsewhere=(("users", "Users: the whole map"),),
    ),
    Lesson(
        slug="lower-bound",
        scenario=Scenario(
            distribution="hypercube",
            methods=("mean.sample", "mean.clipped", "mean.cwme-cdp"),
            n=20_000,
            axis="n",
            grid=(500, 1000, 2000, 5000, 10_000, 20_000),
            trials=20,
        ),
        find=find.above_floor,
        numbers=(1, 1.5, 2, 3, 5, 10, 20, 50, 100),
        unit=" times",
        given=("mean.sample",),
        floor=bound("lower.mean.hypercube-cdp").card.slug,
        elsewhere=(("lower-bounds", "Lower bounds: the proof, step by step"),),
    ),
)
SLUGS = tuple(lesson.slug for lesson in LESSONS)
BY_SLUG = {lesson.slug: lesson for lesson in LESSONS}
