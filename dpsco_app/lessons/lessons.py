"""The lessons in order: their questions, their runs, and how each answer is found."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from dpsco_app.lessons import findings as find
from dpsco_app.lessons.findings import LessonEvidence
from dpsco_app.lessons.odds import missed_members
from dpsco_app.lessons.plane import candidate_place
from dpsco_app.lessons.words import WORDS, LessonWords
from dpsco_app.parts.options import HARDEST
from dpsco_app.parts.presets import DEFAULT, GRID_EPSILON
from dpsco_core.audit.attacker import MISSED
from dpsco_core.catalogue import bound, method_card
from dpsco_core.explain.budgets import guess_ceiling
from dpsco_core.explain.fano import by_hand
from dpsco_core.explain.lessons import (
    ADAPTIVE,
    ADDED,
    BIAS,
    BLIND,
    GAME_EPSILON,
    GAUSSIAN,
    LAST_POINTS,
    PRIVATE,
    RADIUS_POINT,
    RELEASE,
    RELEASES,
    RIGHT,
    STUDENT,
    SUMMED,
    TAILS,
    Experiment,
    running_share,
)
from dpsco_core.explain.users.crossing import LAW, OFFSET
from dpsco_core.scenario import Scenario

Answer = str | float
Point = tuple[float, float]
FACTORS: tuple[float, ...] = (
    *(1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 8),
    *(10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100),
)
USERS_ITEMS = (1, 10, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson: a question, the choices or numbers for a guess, and the runs that answer it."""

    slug: str  # The name of the lesson in addresses and in the table of its words.
    # The scenario that is run, unless there is an experiment, and that opens in Explore.
    scenario: Scenario
    find: find.Find  # The function that reads the answer from the measurements.
    # The answers to choose from; empty if the answer is a number.
    choices: dict[str, str] = field(default_factory=dict)
    numbers: tuple[float, ...] = ()  # The values that a predicted number may have.
    unit: str = ""  # The unit after the number, including the space before it.
    largest_allowed: float = math.inf  # The largest number that ε allows.
    # The function that returns the height of a number in the figure; None if the number is read on
    # the horizontal axis.
    height: Callable[[LessonEvidence, float], float] | None = None
    # The points of the choices in the figure, in order, if the choices are drawn.
    spots: tuple[Point, ...] = ()
    # The method, or the experiment's line, whose trials are drawn beside the predicted number.
    lands: str = ""
    # One of `dpsco_core.explain.lessons.EXPERIMENTS`, which runs in place of the scenario.
    experiment: Experiment | None = None
    preview_methods: tuple[str, ...] = ()  # The methods that are drawn before the run.
    # A method whose first point is drawn before the run, as the starting point of the prediction.
    start_method: str = ""
    second_set: str = HARDEST  # The geometry in the second panel of Explore.
    floor: str = ""  # The slug of the lower bound that is drawn; empty for none.
    # The slug and the label of each page to visit next.
    further_pages: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> LessonWords:
        """The texts of the lesson, from the folder of words."""
        return WORDS[self.slug]

    @property
    def last_x(self) -> float:
        """The last value on the axis of the lesson's figure."""
        return (
            float(self.scenario.grid[-1])
            if self.experiment is None
            else LAST_POINTS[self.experiment]
        )

    @property
    def second_scenario(self) -> Scenario | None:
        """The same scenario on the second set, if the lesson has one."""
        if self.second_set == HARDEST:
            return None
        return replace(self.scenario, geometry=self.second_set, q=None)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers that the lesson accepts: choices and numbers."""
        return (*self.choices, *self.numbers)

    def place(self, evidence: LessonEvidence, number: float) -> Point:
        """Return the point of a number in the figure, from which a visitor's handle starts."""
        if self.height is not None:
            return self.last_x, self.height(evidence, number)
        # A handle that moves sideways stays at half the height.
        errors = [point.mean for point in evidence.points]
        return number, float((min(errors) * max(errors)) ** 0.5)

    def trials(self, evidence: LessonEvidence) -> list[Point]:
        """Return the points of the trials, which are drawn beside the prediction."""
        if self.lands == RIGHT:  # This line is the share of right guesses so far, in percent.
            counts, shares = running_share(evidence.rows)
            return [(float(n), 100 * float(s)) for n, s in zip(counts, shares, strict=True)]
        if self.experiment is not None:
            return [(r.x, r.value) for r in evidence.rows if r.series == self.lands]
        cells = (o for o in evidence.outcomes if o.method == self.lands)
        return [(float(o.x), o.error) for o in cells if o.x is not None]


def step_name(slug: str) -> str:
    """Return the number and the title of a lesson, such as "1. What is a heavy tail?"."""
    return f"{SLUGS.index(slug) + 1}. {BY_SLUG[slug].words.title}"


LESSONS: tuple[Lesson, ...] = (
    Lesson(
        slug="heavy-tails",
        scenario=replace(DEFAULT.scenario, trials=5),
        experiment="tails",
        preview_methods=(GAUSSIAN,),
        find=find.largest_record,
        numbers=(4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500),
        height=lambda _, number: number,
        lands=STUDENT,
    ),
    Lesson(
        slug="the-mean",
        scenario=replace(
            TAILS,
            methods=("mean.sample", "mean.median-of-means"),
            n=1000,
            # With d = 1, 200 samples do not show which of the two methods has the larger worst
            # error.
            d=2,
            margin=0.1,
            trials=200,
        ),
        find=find.sturdier_average,
        choices={
            "mean": "The sample mean in both",
            "split": "About equal in a typical one; the median of means in the worst",
            "sturdy": "The median of means in both",
        },
        preview_methods=("mean.sample",),
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
        numbers=tuple(range(50, 101)),
        unit=" %",
        largest_allowed=100 * guess_ceiling(GAME_EPSILON),
        height=lambda _, number: number,
        lands=RIGHT,
        further_pages=(("privacy", "The page Privacy"),),
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
        preview_methods=(BIAS,),
        further_pages=(("one-run", "One run: what clipping and noise do to it"),),
        find=find.share_cut,
        choices={
            "none": "None, or hardly one in a hundred",
            "some": "Some: more than one in a hundred, less than half",
            "most": "Most of them",
        },
    ),
    Lesson(
        slug="look",
        scenario=replace(RADIUS_POINT, methods=("mean.clipped", "mean.adaptive"), trials=10),
        experiment="look",
        preview_methods=(PRIVATE, BLIND),
        find=find.private_look,
        numbers=FACTORS[:13],
        unit=" times",
        height=lambda e, times: times * min(find.curve(e.points, PRIVATE).values()),
        lands=ADAPTIVE,
        further_pages=(("one-run", "One run: what clipping and noise do to it"),),
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
        find=find.fall_of_error,
        numbers=FACTORS,
        unit=" times",
        height=lambda e, times: find.first_height(find.curve(e.points, "mean.clipped")) / times,
        lands="mean.clipped",
        preview_methods=("mean.sample",),
        start_method="mean.clipped",
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
        find=find.epsilon_of_free_privacy,
        numbers=GRID_EPSILON,
        unit="=ε = ",
        lands="mean.clipped",
        preview_methods=("mean.sample",),
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
        numbers=FACTORS[:17],
        unit=" times",
        height=lambda e, times: times * find.at_end(e.points, "mean.cwme-cdp"),
        lands="mean.cwme-pure",
        preview_methods=("mean.sample", "mean.cwme-cdp"),
    ),
    Lesson(
        slug="optimisation",
        scenario=Scenario(
            problem="logistic",
            methods=("sco.erm", *find.COMPARED),
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
        choices={"start": "The answer without data"}
        | {slug: method_card(slug).name for slug in find.COMPARED},
        preview_methods=("sco.erm",),
        further_pages=(("methods", "The methods, one by one"),),
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
        numbers=FACTORS,
        unit=" times",
        height=lambda e, times: (
            find.added_risk(e.second_points) / times + find.at_end(e.points, "sco.erm")
        ),
        lands="sco.objective-perturbation",
        preview_methods=("sco.erm",),
        second_set="l2",
        further_pages=(("geometry", "Geometry: sets, widths and noise"),),
    ),
    Lesson(
        slug="users",
        scenario=Scenario(
            problem="quadratic",
            distribution=LAW,
            offset=OFFSET,
            methods=("user.accelerated", "user.clipped-means"),
            n=20_000,
            d=5,
            m=10_000,
            axis="m",
            grid=USERS_ITEMS,
            trials=5,
        ),
        find=find.items_at_which_filter_pays,
        numbers=USERS_ITEMS,
        unit="=m = ",
        lands="user.accelerated",
        preview_methods=("user.clipped-means",),
        further_pages=(("users", "Users: the whole map"),),
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
        numbers=FACTORS,
        unit=" times",
        height=lambda e, times: times * e.floor[max(e.floor)],
        lands="mean.clipped",
        preview_methods=("mean.sample",),
        floor=bound("lower.mean.approx-packing").card.slug,
        further_pages=(("lower-bounds", "Lower bounds: the proof, step by step"),),
    ),
    Lesson(
        slug="packing",
        scenario=Scenario(
            distribution="hypercube",
            methods=("mean.sample", "mean.clipped"),
            epsilon=None,
            delta=None,
            rho=by_hand.RHO,
            p=by_hand.ORDER,
            d=by_hand.SIGNS,
            n=by_hand.RECORDS,
            axis="n",
            grid=(500, 1000, 2000, 5000, 10_000, 20_000),
            trials=10,
        ),
        experiment="packing",
        find=find.named_candidate,
        choices={slug: slug.replace("-", " ").capitalize() for slug in by_hand.CANDIDATES},
        spots=tuple(candidate_place(slug) for slug in by_hand.CANDIDATES),
        further_pages=(("lower-bounds", "Lower bounds: the proof, step by step"),),
    ),
    Lesson(
        slug="budgets",
        scenario=Scenario(
            methods=("mean.sample", "mean.clipped"),
            epsilon=None,
            delta=None,
            rho=RELEASE.rho * RELEASES[-1],
            axis="n",
            grid=(500, 1000, 2000, 5000, 10_000, 20_000),
            trials=10,
        ),
        experiment="budgets",
        find=find.sum_of_budgets,
        numbers=(0.2, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20),
        unit="=ε = ",
        height=lambda _, epsilon: epsilon,
        lands=SUMMED,
        preview_methods=(ADDED,),
        further_pages=(("privacy", "The page Privacy"),),
    ),
    Lesson(
        slug="attacker",
        scenario=replace(DEFAULT.scenario, trials=5),
        experiment="attacker",
        find=missed_members,
        numbers=tuple(range(101)),
        unit=" %",
        height=lambda _, number: number,
        lands=MISSED,
        further_pages=(("privacy", "The page Privacy: the same curve with an audit"),),
    ),
)
SLUGS = tuple(lesson.slug for lesson in LESSONS)
BY_SLUG = {lesson.slug: lesson for lesson in LESSONS}
