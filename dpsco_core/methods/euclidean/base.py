"""What the optimisers share: the path of the iterates."""

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.interrupt import between_steps
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
        between_steps()
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
