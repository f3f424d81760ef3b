"""What the optimisers share: the path of the iterates, and the bounded surrogate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import NotApplicable, require
from dpsco_core.methods.mean.base import check_kind
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample

KEPT_ITERATES = 200


def check_sample(sample: Sample, setting: Setting) -> None:
    """Check that `sample` has the setting's size: a plan's sensitivity holds for that n and d."""
    check_kind("sample", sample, "gradients", "PointSample or LinearSample")
    require(sample.n == setting.n, "n", f"the number of records, {sample.n}", setting.n)
    require(sample.d == setting.d, "d", f"the dimension of the sample, {sample.d}", setting.d)


class Path:
    """The iterates of a run: some hundred of them are kept, whatever their number."""

    def __init__(
        self,
        start: Vector,  # the point before the first step
        steps: int,  # number of steps to come
    ) -> None:
        spread = np.linspace(0, steps, min(steps, KEPT_ITERATES) + 1).round()
        self._wanted = set(np.unique(spread).astype(np.int64).tolist())
        self._steps = [0]
        self._points = [start.copy()]

    def add(self, step: int, w: Vector) -> None:
        """Keep `w`, reached after step number `step` (from 1), if it is wanted."""
        if step in self._wanted:
            self._steps.append(step)
            self._points.append(w.copy())

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps that are kept, shape (k,)."""
        return np.array(self._steps, dtype=np.int64)

    @property
    def points(self) -> Vector:
        """The points after them, shape (k, d)."""
        return np.array(self._points)


@dataclass(frozen=True, kw_only=True)
class Surrogate:
    """Certified constants of the losses of `Sample.bounded`, for every possible record."""

    radius: float
    lipschitz: float
    smoothness: float


def surrogate(setting: Setting, radius: float) -> Surrogate:
    r"""Return the constants of the losses after their records are shrunk to norm `radius`.

    A generalised linear loss with :math:`|\phi'| \le a`, :math:`\phi'' \le b` has
    :math:`L = aR`, :math:`\beta = bR^2`. Half the squared distance has :math:`L = R + M/2` and
    :math:`\beta = 1`; a linear loss L = R and 0.

    Raises `NotApplicable` for a loss that stays unbounded, such as a squared one.
    """
    constants = setting.constants
    model = constants.linear_model
    if model is not None and np.isfinite(model.slope):
        return Surrogate(
            radius=radius,
            lipschitz=model.slope * radius,
            smoothness=model.curvature * radius**2,
        )
    if constants.structure == "mean":
        half = constants.diameter / 2
        return Surrogate(radius=radius, lipschitz=radius + half, smoothness=1.0)
    if constants.structure == "linear":
        return Surrogate(radius=radius, lipschitz=radius, smoothness=0.0)
    raise NotApplicable(
        "The method needs a Lipschitz loss, and this one stays unbounded even where records are "
        "shrunk into a ball.",
        nearest="choose sco.clipped, which clips gradients, or the problem logistic",
        changes=(("problem", "logistic"),),
    )
