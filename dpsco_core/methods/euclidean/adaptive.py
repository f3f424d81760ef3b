"""SCO with clipped gradients whose clip radius is chosen privately during the descent."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, MethodCard
from dpsco_core.data.rows import Rows
from dpsco_core.methods.access import AllRecords
from dpsco_core.methods.base import (
    Calibration,
    Clipped,
    Method,
    MethodCost,
    Reads,
    Release,
    Tuning,
)
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.euclidean.clipped import theorem_descent, theorem_radius
from dpsco_core.methods.euclidean.tuning import (
    curvatures,
    practical_clipping,
    practical_descent,
    typical_norm,
)
from dpsco_core.methods.mean.ladder import (
    ENOUGH_SHARE,
    candidate_radii,
    clipped_sums,
    expected_miss,
    norm_counts,
    radius_choice,
    try_wider_radius,
)
from dpsco_core.methods.records.base import check_level, clipped_mean, refuse_pure
from dpsco_core.methods.run import descend
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.statistics import Statistic
from dpsco_core.methods.steps import Descent, Moves
from dpsco_core.privacy.budget import ApproxDP, PureDP, zcdp_rho
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise
from dpsco_core.privacy.mechanisms.exponential import Exponential, PrivateChoice
from dpsco_core.privacy.selection import Shares, choice_epsilon, selection_rho
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample

LOOKS = 2  # the number of private looks at the gradients' norms in one run
LOOK_SHARE = 0.03  # the share of rho for all looks together
TEST_SHARE = 0.02  # the share of rho for the test that compares two radii
# The radius from the setting is replaced if it exceeds the radius from a look by this factor.
LOOSE = 1.5
# The descent has not converged if the spread of its points exceeds this multiple of the noise.
UNSETTLED = 4.0
# The largest candidate radius is this multiple of the certified norm of a gradient.
TOP_FACTOR = 32.0


@dataclass(frozen=True, kw_only=True)
class AdaptivelyClippedMean(Statistic):
    """The mean of clipped gradients, with a clip radius chosen by private looks at their norms."""

    records: int  # n, the number of records
    top_radius: float  # the largest candidate radius
    epsilon: float  # the epsilon of each look
    target: float  # k: the number of gradients that should be longer than the radius, approximately
    capped: bool  # whether k was cut to n/2 because there are too few records
    blind_radius: float  # the radius chosen from the setting alone, without a look at the records
    looks: int  # the number of looks; 0 if there are too few records for one
    test_rho: float  # the budget of the test
    # The radius that the first look has found; None before it, and without looks.
    found_radius: float | None = None

    label: ClassVar[str] = "mean of clipped gradients"

    @property
    def radii(self) -> Vector:
        """The candidate radii, in decreasing order."""
        return candidate_radii(self.top_radius, self.records)

    @property
    def start_radius(self) -> float:
        """The radius of the first steps: `found_radius` if it is far below `blind_radius`."""
        look_radius = self.found_radius
        if look_radius is None or look_radius * LOOSE >= self.blind_radius:
            return self.blind_radius
        return look_radius

    def look(self, rows: Rows, number: int, ledger: Ledger, rng: np.random.Generator) -> float:
        """Return the candidate radius that look `number` chooses privately by the rows' norms."""
        counts = norm_counts(rows, self.radii)
        choice = radius_choice(self.radii, counts, self.target, self.epsilon)
        return float(self.radii[ledger.release(*choice, rng, label=f"radius, look {number}")])

    def measuring(self, n: int, d: int, rho: float, steps: int) -> "RetestedRadius":
        """Return what makes the releases of a run and chooses its radius once more on the way."""
        return RetestedRadius(self, rho, steps)


class RetestedRadius:
    """The releases of one run; before one of them the radius is looked for again and tested."""

    def __init__(self, statistic: AdaptivelyClippedMean, rho: float, steps: int) -> None:
        """Begin with the radii that were chosen before the first step."""
        self.statistic, self.rho_step, self.steps = statistic, rho, steps
        # The first of these radii needs no look; the others are those that the looks have found.
        self.chosen_radii = [statistic.blind_radius]
        if statistic.found_radius is not None:
            self.chosen_radii.append(statistic.found_radius)
        # These are the radii of the steps so far, the latest last.
        self.used_radii = [statistic.start_radius]

    @property
    def diagnostics(self) -> Mapping[str, float]:
        """The radii that were used and found, and the number of looks after the first."""
        return {
            "clip_radius": self.used_radii[-1],
            "first_radius": self.used_radii[0],
            "found_radius": self.chosen_radii[-1],
            "blind_radius": self.statistic.blind_radius,
            "top_radius": self.statistic.top_radius,
            "looks": float(len(self.chosen_radii) - 1),
        }

    def take(self, rows: Rows, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Return the noisy mean of the clipped rows at step t, shape (d,).

        Before the step `second_look`, a look finds a radius again, and a test compares it with the
        radius from the setting; both are charged to the ledger.
        """
        mean, place = self.statistic, second_look(self.steps)
        if mean.looks and t == place:
            if place:
                self.chosen_radii.append(mean.look(rows, len(self.chosen_radii), ledger, rng))
            radius_pair = (
                min(self.chosen_radii[0], self.chosen_radii[-1]),
                max(self.chosen_radii[0], self.chosen_radii[-1]),
            )
            better = False
            if radius_pair[0] == radius_pair[1]:
                # The test is charged even if it is not made, because the spent budget must not
                # depend on what the looks return.
                blank = GaussianNoise(l2_sensitivity=1.0, rho=mean.test_rho)
                ledger.release(blank, np.zeros(1), rng, label="no test")
            else:
                _, better = try_wider_radius(
                    clipped_sums(rows, radius_pair) / mean.records,
                    radius_pair,
                    n=mean.records,
                    rhos=(mean.test_rho, self.rho_step * (self.steps - place)),
                    crowd=mean.target,
                    ledger=ledger,
                    rng=rng,
                )
            self.used_radii.append(radius_pair[int(better)])
        radius = self.used_radii[-1]
        noise = GaussianNoise(l2_sensitivity=2 * radius / mean.records, rho=self.rho_step)
        return ledger.release(noise, clipped_mean(rows, radius), rng, label=mean.label)


@dataclass(frozen=True, kw_only=True)
class RadiusSteps(Moves):
    """Projected steps whose number and size follow from the radius of the first look."""

    setting: Setting
    rho: float  # the budget of all steps together
    blind_radius: float
    # Steps, step size and averaging; None if they are chosen from the radius.
    own_descent: Descent | None
    # The curvature beta if the answer may be the average of points after steps of size 1/beta; None
    # if it is always the average that the steps state.
    curvature: float | None

    @property
    def steps(self) -> int:  # type: ignore[override]
        """The number of steps at the radius that is chosen without a look."""
        return self.descent_at(self.blind_radius).steps

    def descent_at(self, radius: float) -> Descent:
        """Return the steps of gradient descent whose gradients are clipped at a radius."""
        energy = 2 * self.setting.d * radius**2 / (self.rho * self.setting.n**2)
        return self.own_descent or practical_descent(self.setting, energy, radius, growing=True)


class AllRecordsUncounted(AllRecords):
    """Every step reads all records; how many steps there are depends on the first look."""

    def gradients(self, setting: Setting, steps: int) -> None:
        """Return None, because the first look decides on the number of steps."""
        return None


@dataclass(frozen=True, kw_only=True)
class AdaptiveDescent(Method):
    r"""Projected gradient descent on means of gradients clipped to a privately chosen radius.

    Two looks at the gradients' norms (exponential mechanisms on a ladder of public radii) and a
    test choose between the radius found and the one that the setting recommends. The T steps are
    those of `ClippedDescent`. Looks and test spend a fixed part of rho, and the steps share the
    rest equally. The answer is the average of the points that steps of size 1/beta would reach
    (theory/adaptive-methods.md, 3).
    """

    # The largest candidate radius, in [1e-150, 1e150]; it must not depend on the data. If None it
    # is 32 times the certified norm of a gradient, and at most the Lipschitz constant.
    radius: float | None = None
    # Steps, step size and averaging. If None they are chosen from the radii of the looks.
    descent: Descent | None = None
    # Whether the method looks at the records to choose the radius; without looks it equals
    # `ClippedDescent`. If None it looks where there are enough records.
    looks: bool | None = None
    # The accounting under an (epsilon, delta) budget: "tight" gives the looks fixed pairs and uses
    # the exact Gaussian curve; "paper" uses the conversion of Bun and Steinke (2016).
    calibration: Calibration = "tight"
    # ``"theory"``: the largest candidate radius is R of Zhao et al. (2024), equation (19), times M,
    # and T and eta are those of Theorem 4 at that radius.
    tuning: Tuning = "practical"

    reads: ClassVar[Reads] = "summed"
    clipped_values: ClassVar[Clipped] = "gradients"
    cost: ClassVar[MethodCost] = MethodCost(fixed=7e4, per_row=4.5, per_element=0.9, unit="step")
    card: ClassVar[MethodCard] = MethodCard(
        slug="sco.adaptive",
        name="Adaptively clipped gradients",
        short="Adaptively clipped",
        paper=OWN,
        statement="Choosing the clip radius privately, 3",
        summary="Gradient descent: looks at the lengths of the gradients, privately, to choose the "
        "radius that it clips them to; averages, and adds Gaussian noise at every step.",
        privacy="zcdp",
        private_radius=True,
        problems=SCO_PROBLEMS,
        caveat="No bound on its error is proven. With too few records for a look it is clipped "
        "gradients.",
    )
    colour: ClassVar[str] = "violet"
    symbol: ClassVar[str] = "circle"
    stage: ClassVar[Stage] = Stage(
        records=128,
        free_steps=True,
        clip=("radius", "top_radius"),
        # In a run of six steps both looks and the test take place.
        small=SmallRun(fields={"descent": Descent(steps=6, step_size=0.1), "looks": True}),
        others={"steps of its own": SmallRun(fields={"descent": None})},
    )

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the parameters at `setting`; raise `NotApplicable` if it cannot run there."""
        refuse_pure(setting)
        if self.looks is False:
            return self._plan(setting, looks=0)
        plan = self._plan(setting, looks=LOOKS)
        mean = plan.statistic
        assert isinstance(mean, AdaptivelyClippedMean)
        missed = 2 * mean.target + expected_miss(setting.n, mean.epsilon)
        keeps_looks = self.looks or self.tuning == "theory" or missed <= ENOUGH_SHARE * setting.n
        return plan if keeps_looks else self._plan(setting, looks=0)

    def _plan(self, setting: Setting, looks: int) -> DescentPlan:
        """Return the plan with a number of looks; with 0 it is that of `ClippedDescent`."""
        rho = looks_rho(setting, self.calibration, looks)
        test_rho = TEST_SHARE * rho if looks else 0.0
        steps_rho = (1 - LOOK_SHARE - TEST_SHARE) * rho if looks else rho
        epsilon = choice_epsilon(LOOK_SHARE * rho, LOOKS)
        theory = self.tuning == "theory"
        if self.radius is not None:
            top = self.radius
        elif theory:
            top = theorem_radius(setting, rho, "tight")
        else:
            top = min(TOP_FACTOR * typical_norm(setting), setting.constants.lipschitz)
        unit = 2 * setting.d / (steps_rho * setting.n**2)
        blind = top if theory else min(top, practical_clipping(setting, unit, growing=True).radius)
        descent = self.descent
        if descent is None and theory:
            descent = theorem_descent(setting, steps_rho, top, "tight")
        crowd_target = 1.5 * setting.d * math.sqrt(2 / rho) + 4 / epsilon
        mean = AdaptivelyClippedMean(
            records=setting.n,
            top_radius=top,
            epsilon=epsilon,
            target=min(crowd_target, setting.n / 2),
            capped=crowd_target > setting.n / 2,
            blind_radius=blind,
            looks=looks,
            test_rho=test_rho,
        )
        for name, level in (("radius", top), ("least radius", mean.radii[-1])):
            check_level(name, float(level))
        steps = RadiusSteps(
            setting=setting,
            rho=steps_rho,
            blind_radius=blind,
            own_descent=descent,
            curvature=curvatures(setting)[1] if looks and descent is None else None,
        )
        return DescentPlan(
            setting=setting,
            statistic=mean,
            access=AllRecordsUncounted(),
            descent=steps,
            rho=rho,
        )

    def release(
        self, sample: Sample, plan: DescentPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Choose the radius privately, run the descent, and return its result.

        The algorithm is that of theory/adaptive-methods.md, 3.
        """
        sample = plan.access.checked(sample, plan.setting, None)
        mean, moves, n = plan.statistic, plan.descent, plan.setting.n
        assert isinstance(mean, AdaptivelyClippedMean) and isinstance(moves, RadiusSteps)
        if mean.looks:
            gradients = sample.gradients(sample.constraint.centre)
            mean = replace(mean, found_radius=mean.look(gradients, 1, ledger, rng))
        descent = moves.descent_at(mean.start_radius)
        rho_step = moves.rho / descent.steps
        measuring = mean.measuring(n, plan.setting.d, rho_step, descent.steps)
        step_records = plan.access.open(sample, ledger, descent.steps, rng)
        # The list holds the points that steps of size 1/beta would have reached.
        tail: list[Vector] = []

        def oracle(w: Vector, t: int) -> Vector:
            """Return the noisy gradient of step t; store where a step 1/beta would lead."""
            noisy = measuring.take(*step_records(w, t), rng, t)
            if moves.curvature is not None and t >= second_look(descent.steps):
                tail.append(sample.constraint.project(w - noisy / moves.curvature))
            return noisy

        result = descend(sample.constraint, descent, oracle)
        value, averaged = result.value, descent.points
        noise = 2 * measuring.used_radii[-1] / n / math.sqrt(2 * rho_step)
        if moves.curvature is not None:
            points, spread = np.array(tail), noise / moves.curvature
            if has_settled(points, plan.setting.d * spread * spread):
                value, averaged = points.mean(axis=0), len(points)
        # A run of a single step has one look fewer, but is charged for it as well.
        for _ in range(mean.looks + 1 - len(measuring.chosen_radii)):
            ledger.release(*_blank_choice(mean.epsilon), rng, label="no look")
        return replace(result, value=value).released(
            ledger,
            # Diagnostics are released values and public numbers only: a count of norms is neither.
            {
                **measuring.diagnostics,
                "noise_std": noise,
                "target_count": mean.target,
                "target_capped": float(mean.capped),
                "steps": float(descent.steps),
                "step_size": descent.step_size,
                "averaged": float(averaged),
                "rho_step": rho_step,
            },
        )


def looks_rho(setting: Setting, calibration: Calibration, looks: int) -> float:
    """Return the total rho of the looks, the test and the steps.

    The looks depend on earlier releases, so that under an (epsilon, delta) budget only the
    composition rule for mechanisms in any order applies.
    """
    budget = setting.budget
    assert not isinstance(budget, PureDP)
    if calibration == "paper" and isinstance(budget, ApproxDP):
        return zcdp_rho(budget.epsilon, budget.delta, "paper")
    shares: Shares = ((LOOK_SHARE, looks),) if looks else ()
    return selection_rho(budget, shares, choices_first=False)


def second_look(steps: int) -> int:
    """Return the step, counted from 0, before which the second look and the test take place.

    Examples
    --------
    >>> [second_look(steps) for steps in (1, 2, 6, 24)]
    [0, 1, 1, 6]
    """
    return max(1, steps // 4) if steps > 1 else 0


def has_settled(points: Vector, energy: float) -> bool:
    """Return whether the later half of the points, shape (m, d), has about the overall average.

    The two averages may differ by what noise explains; a point's noise has the expected squared
    norm `energy`.
    """
    later = len(points) // 2
    if later == 0:
        return True
    gap = points.mean(axis=0) - points[-later:].mean(axis=0)
    return float(gap @ gap) <= UNSETTLED * energy * (1 / later - 1 / len(points))


def _blank_choice(epsilon: float) -> PrivateChoice:
    """Return a choice that reads no record and is charged like a look."""
    return PrivateChoice(Exponential(sensitivity=1.0, epsilon=epsilon), np.zeros(2))
