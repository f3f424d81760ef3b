"""The base of generalised linear problems: features, a true parameter, and the excess risk."""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.data.base import Distribution, overrides_answer
from dpsco_core.data.blocks import BlockStreams, draw_key, stream_rows
from dpsco_core.data.hidden import CornerLabels, HiddenParameter
from dpsco_core.data.rows import DenseRows
from dpsco_core.geometry.geometries import Geometry, check_offset
from dpsco_core.problems.base import Constants, ExcessRisk, LinearModel
from dpsco_core.problems.evaluation import average, evaluation_rows
from dpsco_core.problems.guesses import Guess
from dpsco_core.problems.laws import centring_factor
from dpsco_core.problems.links import Link
from dpsco_core.problems.posed import OptimisationProblem
from dpsco_core.problems.samples.generated import GeneratedSample
from dpsco_core.problems.samples.linear import LinearSample


@dataclass(frozen=True, kw_only=True)
class LinearModelProblem(OptimisationProblem):
    r"""Features X with mean 0, a target Y that depends on X, and a loss of the margin.

    Given X, the conditional risk is smallest at the margin :math:`\langle X, w^*\rangle`, so
    :math:`w^*` minimises the population risk and every record's conditional excess is at least 0.
    Its average over a fixed evaluation sample therefore has a small relative error. If X is a
    hard instance it takes two values, and the average is exact.
    """

    features: Distribution  # the distribution of X: an ordinary one with mean 0, or a hard instance
    offset: float  # the norm of w* in the geometry, at most `radius`: see `Geometry.point`
    link: ClassVar[Link]  # the loss of the margin
    gradient_units: ClassVar[tuple[str, ...]] = ("features",)
    # The cost of guessing a hidden sign; None if no lower bound uses it.
    guess: ClassVar[Guess | None] = None
    # the two values of the target, if targets are labels
    classes: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse an offset that the set does not contain, and features with a mean other than 0."""
        super().__post_init__()
        check_offset(self.offset, self.radius)
        if self.features.two_point is None:
            norm = self.features.mean_norm
            require(norm == 0, "features", "a law with mean 0", f"one with mean of norm {norm:g}")

    @classmethod
    def unmet_condition(cls, family: type[Distribution]) -> str:
        """Return the condition that the features' law fails, as words after "must be"; or ""."""
        if lack := super().unmet_condition(family):
            return lack
        is_usable = (
            overrides_answer(family, "two_point")
            or not family.has_prior
            or issubclass(family, HiddenParameter)
        )
        return "" if is_usable else "one with mean 0, or with a single record that is not 0"

    @classmethod
    def mean_parts(
        cls, geometry: Geometry, d: int, offset: float, radius: float
    ) -> tuple[float, float]:
        """Return zeros: features have mean 0, and the offset belongs to the true parameter."""
        return 0.0, 0.0

    @classmethod
    def on_law(cls, law: Any, *, offset: float, radius: float, geometry: Geometry) -> Self:
        """Return the problem with features of this law, on a set of this geometry and radius."""
        return cls(features=law, radius=radius, offset=offset, geometry=geometry)

    @abstractmethod
    def targets(self, margins: Vector, rng: np.random.Generator) -> Vector:
        """Draw the targets of records from their true margins; both have shape (rows,)."""

    def truth(self, true_margins: Vector) -> Vector:
        """Return what `conditional_excess` needs of the true margins, shape (..., n).

        By default it is the margins themselves.
        """
        return true_margins

    @abstractmethod
    def conditional_excess(self, margins: Vector, truth: Vector) -> Vector:
        """Return the excess risk of `margins`, given the features and their `truth`; at least 0."""

    @property
    def reach(self) -> float:
        r"""An upper bound on :math:`\|w-w^*\|_2` over the constraint set."""
        if self.hidden is not None:  # This bound holds for every parameter of the prior.
            return 2 * self.l2_radius
        return self.l2_radius + float(np.linalg.norm(self.minimiser))

    @property
    def hidden(self) -> HiddenParameter | None:
        """The features' distribution if its prior hides the true parameter; otherwise None."""
        return self.features if isinstance(self.features, HiddenParameter) else None

    @property
    def minimiser(self) -> Vector:
        """The minimiser of the risk in the set, shape (d,)."""
        if self.hidden is not None:
            return self.hidden.parameter(self.constraint)
        return self.geometry.point(self.features.d, self.offset, self.radius)

    def draw(self, rng: np.random.Generator) -> Self:
        """Return the problem with a law of the features that is drawn from its prior."""
        return replace(self, features=self.features.draw(rng))

    @property
    def law(self) -> Distribution:
        """The law of the features."""
        return self.features

    def sample(self, n: int, rng: np.random.Generator) -> LinearSample:
        """Return n records, whose targets are drawn block by block."""
        features = self.features.sample(n, rng)
        streams, size = BlockStreams(draw_key(rng)), stream_rows(self.features.d)
        targets = np.concatenate(
            [
                self._block_targets(
                    features.read(slice(i * size, (i + 1) * size)), streams.generator(i)
                )
                for i in range(-(-features.n // size))
            ]
        )
        return self._with_targets(features, targets)

    def stream(self, n: int, rng: np.random.Generator) -> GeneratedSample:
        """Return n records that are drawn block by block as they are read."""
        return GeneratedSample.from_keys(self, draw_key(rng), draw_key(rng), n)

    def records(self, rows: DenseRows, rng: np.random.Generator) -> LinearSample:
        """Return records with the given features and freshly drawn targets."""
        return self._with_targets(rows, self._block_targets(rows.read(slice(None)), rng))

    def _block_targets(self, features: Vector, rng: np.random.Generator) -> Vector:
        """Return freshly drawn targets of a block of features, shape (rows,)."""
        if isinstance(self.features, CornerLabels):
            low, high = self.classes
            return np.where(features @ self.features.label_direction < 0, low, high)
        return self.targets(features @ self.minimiser, rng)

    def _with_targets(self, features: DenseRows, targets: Vector) -> LinearSample:
        """Return records with these features and targets, and the problem's link and set."""
        return LinearSample(
            features=features, targets=targets, link=self.link, constraint=self.constraint
        )

    def excess_risk(self, w: Vector) -> ExcessRisk:
        """Return the excess risk of `w`, shape (d,): exact on a hard instance.

        Otherwise it is the average over the evaluation sample, with its standard error.
        """
        if self.hidden is not None:
            # A feature and its negative, each with its own target, have equal losses, so one of the
            # two is enough.
            margins, best = (self.hidden.spike_margins(v) for v in (w, self.minimiser))
            if self.hidden.hides == "classes":
                labels = np.full(len(margins), self.classes[1])
                losses = self.link.value(margins, labels) - self.link.value(best, labels)
            else:
                losses = self.conditional_excess(margins, self.truth(best))
            loss = float(losses.mean())
            return ExcessRisk(value=self.hidden.spike_probability * loss)
        two_point = self.features.two_point
        if two_point is not None:
            spike = two_point.spike
            margins = np.array([spike @ w])
            truth = self.truth(np.array([spike @ self.minimiser]))
            excess = self.conditional_excess(margins, truth)
            # A zero record has margin 0 at every parameter, so its excess is 0.
            return ExcessRisk(value=two_point.spike_probability * float(excess[0]))
        return self.average_risk(w)

    def average_risk(self, w: Vector, rows: int | None = None) -> ExcessRisk:
        """Return the mean excess risk over the evaluation sample, or over its first `rows`."""
        truth = _evaluation_truth(self)[..., :rows]
        blocks = evaluation_rows(self.features).blocks(0, truth.shape[-1])
        margins = np.concatenate([block @ w for block in blocks])
        return average(self.conditional_excess(margins, truth))

    @property
    def linear_model(self) -> LinearModel:
        """The bounds on the link's slope and curvature, and the features' root mean square norm."""
        return LinearModel(
            slope=self.link.slope_bound,
            curvature=self.link.curvature_bound,
            feature_norm=math.sqrt(self.features.second_moment_trace),
        )

    def bounded_slope_constants(
        self,
        *,
        curvature: float,  # bound on the second derivative of the conditional risk in the margin
        squared_slope: float | None = None,  # a bound on E‖g‖² that may be sharper than S² E‖X‖²
        twice_differentiable: bool = False,  # whether the link is twice differentiable
    ) -> Constants:
        r"""Return the constants of a problem whose link has a bounded slope.

        With S the bound on :math:`|\phi'|`, a gradient is :math:`g = \phi' X`, so that

        - :math:`E|g_j - Eg_j|^p \le C_p S^p E|X_j|^p`, with the sharp `centring_factor`;
        - :math:`(E|\langle u,g\rangle|^p)^{1/p} \le S (E|\langle u,X\rangle|^p)^{1/p}`;
        - :math:`\mathrm{tr\,Cov}(g) \le E\|g\|^2 \le S^2 E\|X\|^2`;
        - the Lipschitz constant of a record's loss is at most :math:`S\|X\|`;
        - :math:`\langle u, \nabla F(w)\rangle \le S E|\langle u, X\rangle|`, and
          :math:`\|\nabla F(w)\| \le \beta\|w-w^*\|`, since :math:`\nabla F(w^*) = 0`;
        - :math:`\nabla^2 F \preceq \kappa\,E XX^\top = \beta`, with kappa the curvature of the
          conditional risk.

        On a law that hides the true parameter, centring does not increase the moment
        (`class_moment`). Where no parameter fits the labels, the gradient at the minimiser is
        not 0.
        """
        law, p = self.features, self.moment_order
        slope, largest = self.link.slope_bound, law.record_norm
        raw = law.class_moment if self.hidden else centring_factor(p) * law.raw_coordinate(p)
        fits = self.hidden is None or self.hidden.fits_model
        trace = slope**2 * law.second_moment_trace
        smoothness = curvature * law.largest_second_moment
        return Constants(
            coordinate_moment=slope**p * raw,
            directional_moment=slope * law.raw_direction(p),
            variance_trace=trace if squared_slope is None else min(trace, squared_slope),
            mean_gradient_bound=min(
                slope * law.raw_direction(1.0), smoothness * self.reach if fits else math.inf
            ),
            diameter=2 * self.l2_radius,
            smoothness=smoothness,
            sample_smoothness=self.link.curvature_bound * largest**2,
            lipschitz=slope * largest,
            lipschitz_second=slope * law.record_moment(2.0),
            lipschitz_moment=slope * law.record_moment(p),
            minimum_interior=fits,
            nonnegative=True,
            twice_differentiable=twice_differentiable,
            linear_model=self.linear_model,
            structure="linear-model",
        )


@lru_cache(maxsize=8)
def _evaluation_truth(problem: LinearModelProblem) -> Vector:
    """Return `truth` at the true margins of the evaluation sample; the last few are cached."""
    true = problem.minimiser
    blocks = evaluation_rows(problem.features).blocks()
    truth = problem.truth(np.concatenate([block @ true for block in blocks]))
    truth.flags.writeable = False
    return truth.view()
