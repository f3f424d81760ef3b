"""User-level accelerated ERM for losses with kinks: Lowy, Liu and Asi (2024), Theorem 4.1."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import LOWY_2024, SCO_PROBLEMS, MethodCard
from dpsco_core.base.errors import require
from dpsco_core.data.rows import rows_per_block
from dpsco_core.methods.base import MethodCost, Plan, PrivateMethod, Release
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT, Losses, lipschitz_losses
from dpsco_core.methods.story import Proof, Story
from dpsco_core.methods.user.accelerated.model import landscape
from dpsco_core.methods.user.accelerated.plans import practical_plan, theory_plan
from dpsco_core.methods.user.accelerated.run import run_phases
from dpsco_core.methods.user.accelerated.schedule import AcceleratedPlan, halving_layouts
from dpsco_core.methods.user.base import FILTER_STAGE, approximate_budget, check_users, user_level
from dpsco_core.methods.user.level import UserLevel
from dpsco_core.methods.user.printed_schedules import smoothed_smoothness, smoothing_radius
from dpsco_core.methods.user.sentences import (
    FEW,
    FILTERED,
    IID,
    LIPSCHITZ,
    PRINTED,
    SENSITIVITY,
    SHARED,
    STEPS_NOISE,
)
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.point_losses import PointLoss
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.problems.samples.users import ItemSample, MeanSample, UserSample


def ball_points(count: int, d: int, radius: float, rng: np.random.Generator) -> Vector:
    r"""Return independent uniform points of the ball, shape (count, d).

    :math:`rU^{1/d}g/\|g\|` with U uniform and g standard normal.
    """
    directions = rng.standard_normal((count, d))
    norms = np.sqrt(np.vecdot(directions, directions))
    lengths = radius * rng.random(count) ** (1 / d)
    points: Vector = directions * (lengths / np.where(norms > 0, norms, 1.0))[:, None]
    return points


def ball_coordinates(count: int, d: int, rng: np.random.Generator) -> Vector:
    r"""Return one coordinate of each of some uniform points of the unit ball in R^d.

    Its density is proportional to :math:`(1-u^2)^{(d-1)/2}`: :math:`u = 2V-1`, V of the law
    :math:`Beta(\frac{d+1}2, \frac{d+1}2)`.
    """
    coordinates: Vector = 2 * rng.beta((d + 1) / 2, (d + 1) / 2, size=count) - 1
    return coordinates


@dataclass(frozen=True, eq=False)
class MovedLoss(PointLoss):
    """A loss of points whose gradients are taken at parameters that are moved, afresh each time."""

    loss: PointLoss
    radius: float
    rng: np.random.Generator

    needs_only_the_mean = False

    def value(self, w: Vector, points: Vector) -> Vector:
        """Return the losses themselves, not moved."""
        return self.loss.value(w, points)

    def gradients(self, w: Vector, points: Vector) -> Vector:
        """Return the gradients at moved parameters, one move a point."""
        moves = ball_points(len(points), points.shape[1], self.radius, self.rng)
        return self.loss.gradients(w + moves, points)

    def gradient(self, w: Vector, point: Vector) -> Vector:
        """Return the gradient at a moved parameter."""
        return np.asarray(self.gradients(w, point[None, :])[0])


def smoothed_user_gradients(
    sample: UserSample, w: Vector, radius: float, rng: np.random.Generator
) -> Vector:
    r"""Return every user's mean of :math:`\nabla f(w+y, z)`, a fresh y each item; (users, d).

    What is drawn does not depend on the items, nor a user's row on another user's items. Users of
    whom only means are known have losses that are at most quadratic: there the gradient of
    :math:`f_r` is that of f, and nothing is drawn.

    The `radius` r is positive.
    """
    require(0 < radius < math.inf, "radius", "finite and above 0", radius)
    if isinstance(sample, MeanSample):
        return sample.user_gradients(w)
    require(isinstance(sample, ItemSample), "sample", "one of items or of means", type(sample))
    assert isinstance(sample, ItemSample)
    records = sample.records
    if isinstance(records, PointSample):
        moved = replace(records, loss=MovedLoss(records.loss, radius, rng))
        return replace(sample, records=moved).user_gradients(w)
    require(isinstance(records, LinearSample), "sample", "of points or linear", type(records))
    assert isinstance(records, LinearSample)
    return _linear(records, sample.items, w, radius, rng)


def _linear(
    records: LinearSample, m: int, w: Vector, radius: float, rng: np.random.Generator
) -> Vector:
    r"""Return it for a generalised linear loss.

    A move enters through :math:`\langle x, y\rangle` only, which has the law of :math:`\|x\|r`
    times a coordinate of a point of the unit ball.
    """
    users, d = records.n // m, records.d
    found, norms = np.empty((users, d)), records.features.norms()
    step = max(1, rows_per_block(d) // m)
    with np.errstate(over="ignore", invalid="ignore"):
        for low in range(0, users, step):
            high = min(low + step, users)
            rows = slice(low * m, high * m)
            base = records.features.read(rows)
            margins = base @ w + radius * norms[rows] * ball_coordinates(len(base), d, rng)
            if records.shrink is None:
                slopes = records.link.slope(margins, records.targets[rows])
            else:
                factors = records.shrink[rows]
                slopes = factors * records.link.slope(factors * margins, records.targets[rows])
            blocks = slopes.reshape(-1, 1, m), base.reshape(-1, m, d)
            found[low:high] = np.matmul(*blocks)[:, 0]
    found /= m
    return found


SMALLEST_RATIO, LARGEST_RATIO = 0.01, 0.05  # c_r of the practical radius


@dataclass(frozen=True, kw_only=True)
class SmoothedPhasesPlan(Plan):
    """The parameters of one run, and the radius r of the ball that losses are averaged over."""

    halts = True

    phases: AcceleratedPlan
    radius: float

    @property
    def passes(self) -> float:
        return self.phases.passes

    @property
    def gradients(self) -> int:
        return self.phases.gradients


@dataclass(frozen=True, kw_only=True)
class UserAcceleratedNonsmooth(PrivateMethod):
    r"""Filtered gradients on losses averaged over a small ball.

    :math:`f_r(x,z) = E f(x+y,z)`, y uniform on the ball of radius r, is
    :math:`L\sqrt d/r`-smooth and at most Lr above f (Lemma D.1, with its sandwich put right). Every
    item's gradient is taken at a move of its own, fresh in every step: its error averages over the
    items of a user and over the users. The moves do not depend on data; privacy is that of
    `UserAccelerated`.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        As for `UserAccelerated`.
    tuning : {"practical", "theory"}
        ``"theory"``: :math:`r = \frac{\sqrt d}{\varepsilon n\sqrt m}R` of Theorem D.3 with the
        :math:`\lambda` of Theorem C.3, which means thousands of steps. ``"practical"``:
        :math:`r = c_rR`, where :math:`c_rLR` is the modelled risk, between 0.01 and 0.05.
    """

    reads = "whole"
    cost = MethodCost(fixed=2.1e6, per_row=49, per_element=2.2, unit="step", rough_steps=(500, 8))
    card = MethodCard(
        slug="user.accelerated-nonsmooth",
        name="Filtered gradients, smoothed",
        paper=LOWY_2024,
        statement="Theorem 4.1, Algorithms 2 to 4",
        summary="As filtered gradients, with every item's gradient taken at a randomly "
        "moved point, which makes a loss with kinks smooth.",
        privacy="approx",
        level="user",
        problems=SCO_PROBLEMS,
        rate="upper.user.accelerated-nonsmooth",
        caveat="A phase needs some thousand users at epsilon = 1 for its test. The theorem's "
        "radius means thousands of passes over all items. " + BOUNDED_CAVEAT,
    )
    story = Story(
        what="Makes a loss with kinks smooth by asking for every item's gradient at a randomly "
        "moved point, and runs filtered gradients on that. The moves are fresh in "
        "every step, one an item, and their error averages out over the items. They do not depend "
        "on the data, so that privacy is that of the accelerated method.",
        steps=(
            r"Choose the radius r of the moves from the setting (1 % to 5 % of the diameter).",
            r"Take every item's gradient at $x+y$, y fresh and uniform on the ball of radius r: "
            r"the gradient of a loss that is $L\sqrt d/r$-smooth and at most $Lr$ above.",
            "Average a user's items; then test, filter, noise and AC-SA step as in the accelerated "
            "method.",
        ),
        assumptions=(
            LIPSCHITZ.replace("Lipschitz losses.", "Lipschitz losses, kinks allowed."),
            IID,
        ),
        privacy=Proof(sensitivity=SENSITIVITY, mechanism=STEPS_NOISE, composition=SHARED),
        smooth="nothing",
        order=r"O(Tnmd + Tn^2d)",
        cost="T passes over the items of a phase's users.",
        when="For losses with kinks and a thousand items per user or more.",
        pitfalls=(
            FEW,
            "The theorem's radius means thousands of passes; the practical one is a "
            "compromise between smoothing bias and steps.",
        ),
        errata=(
            PRINTED,
            "Lemma D.1's sandwich of the smoothed loss is reversed: it lies above the loss.",
            r"Theorem D.3 drops the term $n^{3/4}m^{3/2}\varepsilon^{-1/2}$ of its gradient count, "
            r"and its proof's regulariser lacks a factor $L/R$ and the private term.",
        ),
        example=FILTERED
        | {
            "problem": "absolute",
            "distribution": "student-t",
            "methods": ("user.clipped-means", "user.accelerated-nonsmooth"),
            "grid": (10.0, 30.0),
            "m": 10,
            "trials": 2,
        },
    )
    stage = FILTER_STAGE
    colour = "purple"
    symbol = "star"

    def plan(self, setting: Setting) -> SmoothedPhasesPlan:
        budget = approximate_budget(setting)
        losses = lipschitz_losses(setting, self.tuning, setting.gaussian_rho)
        at = user_level(setting, budget, losses)
        if self.tuning == "theory":
            radius = smoothing_radius(at)
            smoothed = smoothed_losses(setting, losses, at, radius)
            where = user_level(setting, budget, smoothed)
            return SmoothedPhasesPlan(
                setting=setting,
                phases=theory_plan(setting, where, smoothed, self.calibration),
                radius=radius,
            )
        radius = LARGEST_RATIO * at.diameter
        for _ in range(2):  # the risk that is modelled at the largest radius sets the radius
            smoothed = smoothed_losses(setting, losses, at, radius)
            found = practical_plan(
                setting,
                user_level(setting, budget, smoothed),
                landscape(setting, smoothed.lipschitz, smoothed.smoothness),
                smoothed,
                self.calibration,
                halving_layouts(setting.n),
            )
            used = radius
            ratio = found.modelled_risk / at.unit
            radius = min(max(ratio, SMALLEST_RATIO), LARGEST_RATIO) * at.diameter
        return SmoothedPhasesPlan(setting=setting, phases=found, radius=used)

    def release(
        self, sample: UserSample, plan: SmoothedPhasesPlan, ledger: Ledger, rng: np.random.Generator
    ) -> Release:
        """Run Algorithm 3 on the smoothed losses."""
        check_users(sample, plan.setting)

        def gradients(users: UserSample, w: Vector, rng: np.random.Generator) -> Vector:
            return smoothed_user_gradients(users, w, plan.radius, rng)

        found = run_phases(plan.phases, sample, ledger, rng, gradients)
        shown = {**found.diagnostics, "smoothing_radius": plan.radius}
        return replace(found, diagnostics=shown)


def smoothed_losses(setting: Setting, losses: Losses, at: UserLevel, radius: float) -> Losses:
    r"""Return the constants of the losses averaged over a ball of radius r.

    The smoothness is at most that of f, and :math:`L\sqrt d/r`. Half the squared distance is
    steeper by r beyond the set; other losses are Lipschitz everywhere.
    """
    beyond = radius if setting.constants.structure == "mean" else 0.0
    lipschitz = losses.lipschitz + beyond
    smooth = smoothed_smoothness(replace(at, lipschitz=lipschitz), radius)
    return replace(losses, lipschitz=lipschitz, smoothness=min(losses.smoothness, smooth))
