"""Private Frank–Wolfe: a corner of the set at every step, by the exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import TALWAR_2014, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.base.search import nothing_finite, smallest_index
from dpsco_core.data.rows import Rows
from dpsco_core.geometry.ball import L1Ball
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.geometry.simplex import Simplex, SolidSimplex
from dpsco_core.methods.access import OwnBlocks
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.descent import DescentMethod, DescentPlan
from dpsco_core.methods.euclidean.tuning import ASSUMED_SYMMETRY, curvatures, typical_norm
from dpsco_core.methods.records.base import (
    check_level,
    check_parts,
    clipped_block_means,
    hinge_constant,
)
from dpsco_core.methods.run import Descended, walk
from dpsco_core.methods.stage import PARTS, SmallRun, Stage
from dpsco_core.methods.statistics import Statistic
from dpsco_core.methods.steps import Descent, Moves, Oracle
from dpsco_core.privacy.budget import ZCDP
from dpsco_core.privacy.concentration import choice_epsilon_of
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import Exponential
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting

MOST_STEPS = 10_000  # the largest number of steps that the search considers


@dataclass(frozen=True, kw_only=True)
class CornerSteps:
    """The number of steps of a run, and the level to which gradient entries are clipped."""

    steps: int  # T, the number of steps
    limit: float  # tau: entries are clipped to [-tau, tau]


@dataclass(frozen=True, kw_only=True)
class BestCorner(Statistic):
    """The corner with the smallest product with the mean of clipped rows, chosen privately.

    A record moves an entry of the mean of b rows by at most 2 tau/b, and a score by r times that.
    """

    body: ConstraintSet  # the constraint set, with few corners
    radius: float  # r, the l1 norm of the corners
    limit: float  # tau: entries are clipped to [-tau, tau]
    epsilon: float  # the epsilon that each choice of a corner spends

    label: ClassVar[str] = "choice of a corner"

    def value(self, rows: Rows) -> Vector:
        """Return the score of every corner, which is its product with the mean, negated."""
        (mean,) = clipped_block_means(rows, self.limit, 1)
        return corner_scores(self.body, mean)

    def sensitivity(self, n: int, d: int) -> float:
        """Return the largest change of a score when one of n rows is replaced."""
        return 2 * self.limit * self.radius / n

    def measuring(self, n: int, d: int, rho: float, steps: int) -> ChosenCorner:
        """Return what chooses a corner at every step of a run, by the exponential mechanism."""
        sensitivity = self.sensitivity(n, d)
        return ChosenCorner(self, Exponential(sensitivity=sensitivity, epsilon=self.epsilon))


@dataclass(frozen=True)
class ChosenCorner:
    """The private choices of all steps, which spend equal shares of the budget."""

    statistic: BestCorner
    mechanism: Exponential
    diagnostics: ClassVar[Mapping[str, float]] = {}

    def take(self, rows: Rows, ledger: Ledger, rng: np.random.Generator, t: int) -> Vector:
        """Return the corner chosen from the rows of a step, shape (d,)."""
        best = self.statistic
        place = ledger.release(self.mechanism, best.value(rows), rng, label=best.label)
        return corner(best.body, place)


@dataclass(frozen=True, kw_only=True)
class TowardsCorners(Moves):
    r"""Steps :math:`w_{t+1} = w_t+\frac2{t+2}(c_t-w_t)` towards chosen corners, from the centre.

    The points stay in the set without a projection; the cost of a run counts one all the same. The
    output is the last point.
    """

    steps: int  # T, the number of steps
    body: ConstraintSet  # the set for which the sensitivity is stated

    @property
    def diagnostics(self) -> dict[str, float]:
        """The number of steps, as a diagnostic of the run."""
        return {"steps": float(self.steps)}

    def run(self, constraint: ConstraintSet, oracle: Oracle) -> Descended:
        """Run the steps and return the last point."""

        def step(w: Vector, t: int) -> Vector:
            """Return the point after step t, on the way from w to the chosen corner."""
            towards = oracle(w, t)
            share = 2 / (t + 2)
            return (1 - share) * w + share * towards

        descent = Descent(steps=self.steps, step_size=1.0, averaged=1)
        return walk(self.body.centre, descent, step)


@dataclass(frozen=True, kw_only=True)
class FrankWolfe(DescentMethod):
    r"""Frank–Wolfe on fresh batches, for sets with few corners: l1 balls and simplices.

    Parameters
    ----------
    corners : CornerSteps, optional
        Steps and clip level. If None they are chosen from the setting.
    calibration : {"tight", "paper"}
        The same choice: under zCDP :math:`\varepsilon_0=\sqrt{8\rho}` (above a rho of 8 that of
        any pure release), epsilon otherwise.
    tuning : {"practical", "theory"}
        ``"theory"``: the steps and the level at which the bound of theory/fresh-batches.md, 2 is
        least. ``"practical"``: the same with the moment and the clipping bias that
        `dpsco_core.methods.euclidean.tuning` assumes in place of those of the worst law.
    """

    corners: CornerSteps | None = None

    reads = "summed"
    cost = MethodCost(fixed=1e5, per_row=6, per_element=1, per_piece=5e4)
    departs = (
        Departure(
            tag="fresh batches",
            text="Every step takes a batch of its own, and clips its entries, where the paper "
            "takes all records of bounded features at every step.",
        ),
    )
    card = MethodCard(
        slug="lp.frank-wolfe",
        name="Private Frank–Wolfe",
        short="Frank–Wolfe",
        paper=TALWAR_2014,
        statement="Private Frank-Wolfe with the exponential mechanism, on fresh batches",
        summary="Moves towards one corner of the set at every step, which the exponential "
        "mechanism chooses by the batch's clipped gradient; for l1 balls and simplices.",
        privacy="pure",
        geometry="lq",
        problems=SCO_PROBLEMS,
        caveat="Its bound says nothing at the dashboard's sizes. It needs sets with few corners: "
        "an l1 ball or a simplex.",
    )
    stage = Stage(
        exponent=1.0,
        splits=PARTS,
        # Such a run has many choices of a corner, none of them certain and none mostly noise.
        small=SmallRun(
            scenario={"epsilon": 2.0}, fields={"corners": CornerSteps(steps=16, limit=0.3)}
        ),
    )
    colour = "orange"
    symbol = "star"

    def plan(self, setting: Setting) -> DescentPlan:
        """Return the plan with the given steps and level, or with those of the tuning."""
        radius = corner_norm(setting)
        epsilon = choice_epsilon(setting)
        corners = self.corners
        if corners is None:
            corners = best_corners(setting, epsilon, proven=self.tuning == "theory")
        check_level("limit", corners.limit)
        check_parts("batches", corners.steps, setting.n)
        size = setting.n // corners.steps
        descent = TowardsCorners(steps=corners.steps, body=setting.body)
        return DescentPlan(
            setting=setting,
            statistic=BestCorner(
                body=setting.body, radius=radius, limit=corners.limit, epsilon=epsilon
            ),
            access=OwnBlocks(),
            descent=descent,
            diagnostics={
                "clip_limit": corners.limit,
                **descent.diagnostics,
                "batch_size": float(size),
                "gradient_calls": float(corners.steps * size),
            },
        )


def choice_epsilon(setting: Setting) -> float:
    """Return the epsilon that one choice of a corner may spend: by rho under zCDP, or all of it."""
    if isinstance(setting.budget, ZCDP):
        return choice_epsilon_of(setting.budget.rho)
    return setting.pure_epsilon


def corner_norm(setting: Setting) -> float:
    """Return the l1 norm r of the corners; raise `NotApplicable` for sets with too many corners."""
    body = setting.body if math.isfinite(setting.constants.diameter) else None
    if isinstance(body, L1Ball | Simplex | SolidSimplex):
        return body.radius
    name = "the whole space" if body is None else body.name
    raise NotApplicable(
        f"Frank–Wolfe chooses among the corners of the set, and {name} is not the hull of a few.",
        nearest="set geometry=l1",
        changes=(("geometry", "l1"), ("q", None)),
    )


def corner_scores(body: ConstraintSet, mean: Vector) -> Vector:
    r"""Return the scores of all corners c: positive ones, negative ones, and 0.

    The score of c is :math:`-\langle c,\bar g\rangle`.
    """
    assert isinstance(body, L1Ball | Simplex | SolidSimplex)
    scores = -body.radius * mean
    if isinstance(body, L1Ball):
        return np.concatenate([scores, -scores])
    return np.append(scores, 0.0) if isinstance(body, SolidSimplex) else scores


def corner(body: ConstraintSet, place: int) -> Vector:
    """Return the corner whose score is at `place`, shape (d,)."""
    assert isinstance(body, L1Ball | Simplex | SolidSimplex)
    point = np.zeros(body.d)
    if place < body.d:
        point[place] = body.radius
    elif isinstance(body, L1Ball):
        point[place - body.d] = -body.radius
    return point


@lru_cache(maxsize=4096)
def best_corners(setting: Setting, epsilon: float, *, proven: bool) -> CornerSteps:
    r"""Return the steps and the level that minimise the bound on the excess risk.

    .. math:: \frac{2\beta_1(2r)^2}{T+2}+\frac{4\tau r}{b\varepsilon_0}\ln N
        +2r\big(\text{sampling}+\text{bias}\big)

    with T steps on b = floor(n/T) records each, :math:`\beta_1` the smoothness, :math:`\tau` the
    clip level, r the l1 norm of the corners and N their number (theory/fresh-batches.md, 2). Unless
    it is `proven`, moment and bias are those that the practical tuning assumes, and no level is
    below that moment.
    """
    radius, d, order = corner_norm(setting), setting.d, setting.moment_order
    moment = setting.constants.directional_moment
    if not proven:
        moment = typical_norm(setting) / math.sqrt(d)
    if not 0 < moment < math.inf:
        raise NotApplicable(
            "The clip level follows from the moments of the gradients, and the problem certifies "
            "none.",
            tuning="practical",
        )
    _, smoothness = curvatures(setting)
    counts = np.unique(np.floor(np.geomspace(1, min(setting.n, MOST_STEPS), 120)))[:, None]
    levels = moment * np.geomspace(0.05 if proven else 1.0, 2e3, 160)
    size = setting.n // counts
    names = len(corner_scores(setting.body, np.zeros(d)))
    choice = 4 * levels * radius / (size * epsilon) * math.log(max(names, 2))
    log, variance = math.log(2 * d), np.minimum(moment, levels) ** 2 / size
    sampling = np.minimum(
        np.minimum(np.sqrt(d * variance), levels * np.sqrt(2 * log / size)),
        np.sqrt(2 * variance * log) + 2 * levels * log / (3 * size),
    )
    if proven:
        tail = hinge_constant(order) * (moment / levels) ** (order - 1)
        bias = moment * np.minimum(tail, 1.0)
    else:
        bias = moment / ASSUMED_SYMMETRY * (moment / levels) ** 2
    moving = 2 * smoothness * (2 * radius) ** 2 / (counts + 2)
    risks = moving + choice + 2 * radius * (sampling + bias)
    place = int(smallest_index(risks.ravel()))
    if place < 0:
        raise nothing_finite("clip level")
    t, level = divmod(place, len(levels))
    return CornerSteps(steps=int(counts[t, 0]), limit=float(levels[level]))
