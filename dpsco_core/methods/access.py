"""Which records a step sees, and which ledger accounts for what it releases of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.data.rows import Rows
from dpsco_core.methods.records.base import check_kind
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample

# A function of a point and the number of the step, counted from 0. It returns the gradients of the
# step's records at that point, and the ledger of these records.
StepRecords = Callable[[Vector, int], tuple[Any, Ledger]]


class KnownLosses(Protocol):
    """Losses of which constants hold for every record, such as those of `euclidean.lipschitz`."""

    def of(self, sample: Sample) -> Sample:
        """Return the sample with its losses changed so that these constants hold."""
        ...


class Access:
    """How a run assigns records to its steps, which depends only on the steps' numbers."""

    # The phases, each on a block of records of its own; empty if the run has only one.
    phases: tuple[Any, ...] = ()
    halts: bool = False  # whether data may end a run before it has computed all its `gradients`

    def rows(self, setting: Setting, steps: int) -> int:
        """Return how many rows (records or users) a step reads; with phases, in the last one."""
        raise NotImplementedError

    def gradients(self, setting: Setting, steps: int) -> int | None:
        """Return the number of gradients of all steps together; None if it depends on the data."""
        return steps * self.rows(setting, steps)

    def passes(self, steps: int) -> float:
        """Return how often the run reads all records."""
        raise NotImplementedError

    def checked(self, sample: Any, setting: Setting, losses: KnownLosses | None) -> Any:
        """Return the sample, with `losses` if given; raise an error unless its size fits."""
        check_sample(sample, setting)
        return sample if losses is None else losses.of(sample)

    def open(
        self, sample: Any, ledger: Ledger, steps: int, rng: np.random.Generator
    ) -> StepRecords:
        """Return the function by which the steps of a run read their records."""
        raise NotImplementedError


@dataclass(frozen=True)
class AllRecords(Access):
    """Every step reads all records, so the steps share the budget."""

    def rows(self, setting: Setting, steps: int) -> int:
        """Return n: a step reads all records."""
        return setting.n

    def passes(self, steps: int) -> float:
        """Return the number of steps: each reads all records."""
        return steps

    def open(
        self, sample: Sample, ledger: Ledger, steps: int, rng: np.random.Generator
    ) -> StepRecords:
        """Return a function of point and step that gives the gradients of all records."""
        return lambda w, t: (sample.gradients(w), ledger)


ALL_RECORDS = AllRecords()


@dataclass(frozen=True)
class MeanOfAll(AllRecords):
    """Every step reads the mean gradient of all records; the losses need no clipping."""

    def open(
        self, sample: Sample, ledger: Ledger, steps: int, rng: np.random.Generator
    ) -> StepRecords:
        """Return a function of point and step that gives the mean gradient of all records."""
        return lambda w, t: (sample.mean_gradient(w), ledger)


@dataclass(frozen=True)
class OwnBlocks(Access):
    """Step t reads only block t: each record enters one step, which may spend the whole budget."""

    def rows(self, setting: Setting, steps: int) -> int:
        """Return the size of a step's own block."""
        return setting.n // steps

    def passes(self, steps: int) -> float:
        """Return 1: each record is in one block."""
        return 1

    def open(
        self, sample: Sample, ledger: Ledger, steps: int, rng: np.random.Generator
    ) -> StepRecords:
        """Return the function that reads step t's block, with a ledger of that block alone."""
        size, ledgers = sample.n // steps, ledger.disjoint(steps)

        def step_records(w: Vector, t: int) -> tuple[Any, Ledger]:
            """Return the gradients of block t at w, and the ledger of the block."""
            return sample.part(t * size, (t + 1) * size).gradients(w), ledgers[t]

        return step_records


@dataclass(frozen=True, kw_only=True)
class Batches(Access):
    """Step t reads the mean gradient of the next records in order; each record is used once."""

    size: int  # the number of records per step; the last step may have fewer

    def rows(self, setting: Setting, steps: int) -> int:
        """Return the number of records in a batch."""
        return self.size

    def gradients(self, setting: Setting, steps: int) -> int:
        """Return n: each record has one gradient."""
        return setting.n

    def passes(self, steps: int) -> float:
        """Return 1: each record is in one batch."""
        return 1

    def open(
        self, sample: Sample, ledger: Ledger, steps: int, rng: np.random.Generator
    ) -> StepRecords:
        """Return the function that reads the next batch of records at every step."""
        n, size = sample.n, self.size

        def step_records(w: Vector, t: int) -> tuple[Vector, Ledger]:
            """Return the mean gradient of batch t at w, and the ledger."""
            low = t * size
            high = min(low + size, n)
            if high - low == 1:
                return sample.gradient(w, low), ledger
            return sample.part(low, high).mean_gradient(w), ledger

        return step_records


@dataclass(frozen=True, eq=False, kw_only=True)
class Selected:
    """The rows of all records and the positions of those that a step reads."""

    rows: Rows
    places: NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class BatchesInOrder(Access):
    """Step t reads the t-th batch of the records, in their own order or in a fresh secret order."""

    size: int  # the number of records per step; a remainder too small for a step is not used
    secret: bool  # whether the order is drawn uniformly at random and never released

    def rows(self, setting: Setting, steps: int) -> int:
        """Return the number of records in a batch."""
        return self.size

    def passes(self, steps: int) -> float:
        """Return 1: each record is in at most one batch."""
        return 1

    def open(
        self, sample: Sample, ledger: Ledger, steps: int, rng: np.random.Generator
    ) -> StepRecords:
        """Return the function that reads batch t of the records' order."""
        order = rng.permutation(sample.n) if self.secret else np.arange(sample.n)

        def step_records(w: Vector, t: int) -> tuple[Selected, Ledger]:
            """Return the gradients of batch t at w as a selection, and the ledger."""
            places = order[t * self.size : (t + 1) * self.size]
            return Selected(rows=sample.gradients(w), places=places), ledger

        return step_records


@dataclass(frozen=True, kw_only=True)
class PoissonSamples(Access):
    """Step t reads a secret Poisson sample: every record is included independently.

    How many records a sample has is a part of the secret, and may be 0.
    """

    rate: float  # the probability that a step includes a given record

    def rows(self, setting: Setting, steps: int) -> int:
        """Return the expected number of rows that a step reads."""
        return max(1, round(self.rate * setting.n))

    def gradients(self, setting: Setting, steps: int) -> int:
        """Return the expected number of gradients that all steps compute together."""
        return round(steps * self.rate * setting.n)

    def passes(self, steps: int) -> float:
        """Return the expected number of steps that read a record."""
        return steps * self.rate

    def open(
        self, sample: Sample, ledger: Ledger, steps: int, rng: np.random.Generator
    ) -> StepRecords:
        """Return the function that draws a fresh Poisson sample at every step."""

        def step_records(w: Vector, t: int) -> tuple[Selected, Ledger]:
            """Return the gradients of a fresh sample at w as a selection, and the ledger."""
            places = poisson_sample(sample.n, self.rate, rng)
            return Selected(rows=sample.gradients(w), places=places), ledger

        return step_records


def poisson_sample(n: int, rate: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the positions, shape (k,), of a fresh sample of n records.

    The sample includes each record independently with probability `rate`. It does not depend on the
    data or on other samples; privacy is void if its positions are released.
    """
    return np.flatnonzero(rng.random(n) < rate)


@dataclass(frozen=True, kw_only=True)
class AllocatedRecords(Access):
    """Step t reads the records allocated to it: each record is in one secret, random step.

    How many records a step has is a part of the secret, and may be 0.
    """

    def rows(self, setting: Setting, steps: int) -> int:
        """Return the expected number of rows that a step reads, rounded down."""
        return setting.n // steps

    def gradients(self, setting: Setting, steps: int) -> int:
        """Return n: each record is allocated to one step."""
        return setting.n

    def passes(self, steps: int) -> float:
        """Return 1: each record is allocated to one step."""
        return 1

    def open(
        self, sample: Sample, ledger: Ledger, steps: int, rng: np.random.Generator
    ) -> StepRecords:
        """Allocate the records to the steps, and return the function that reads them."""
        order, sizes = allocated_order(sample.n, steps, rng)
        ends = np.cumsum(sizes)

        def step_records(w: Vector, t: int) -> tuple[Selected, Ledger]:
            """Return the gradients at w of the records of step t, and the ledger."""
            places = order[ends[t] - sizes[t] : ends[t]]
            return Selected(rows=sample.gradients(w), places=places), ledger

        return step_records


def allocated_order(
    n: int, steps: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Allocate each of n records to one of T steps, uniformly and independently of the others.

    Return the records in the order of their steps, shape (n,), and the number of records in each
    step, shape (T,).
    """
    chosen = rng.integers(steps, size=n).astype(np.intp)
    sizes = np.bincount(chosen, minlength=steps).astype(np.int64)
    return np.argsort(chosen, kind="stable"), sizes


class Batched(Protocol):
    """A phase whose steps read consecutive batches, one batch each."""

    @property
    def start(self) -> int:
        """The index of the first record that the method reads."""
        ...

    @property
    def batch(self) -> int:
        """The number of records per step."""
        ...

    @property
    def steps(self) -> int:
        """The number T of steps."""
        ...


@dataclass(frozen=True, kw_only=True)
class PhasesOfBatches(Access):
    """Phases on disjoint records, in each of which every step reads a new batch."""

    phases: tuple[Batched, ...]

    def rows(self, setting: Setting, steps: int) -> int:
        """Return the size of a batch of the last phase."""
        return self.phases[-1].batch

    def gradients(self, setting: Setting, steps: int) -> int:
        """Return the number of gradients of all steps of all phases."""
        return sum(phase.batch * phase.steps for phase in self.phases)

    def passes(self, steps: int) -> float:
        """Return 1: each record is in at most one batch."""
        return 1

    def open(
        self, sample: Sample, ledger: Ledger, steps: int, rng: np.random.Generator
    ) -> StepRecords:
        """Return the function that reads a new batch at every step of every phase."""
        ledgers = ledger.disjoint(len(self.phases))
        batches = [
            (phase.start + t * phase.batch, phase.batch, account)
            for phase, account in zip(self.phases, ledgers, strict=True)
            for t in range(phase.steps)
        ]

        def step_records(w: Vector, t: int) -> tuple[Any, Ledger]:
            """Return the gradients of batch t at w, and the ledger of its phase."""
            low, size, account = batches[t]
            return sample.part(low, low + size).gradients(w), account

        return step_records


def check_sample(sample: Sample, setting: Setting) -> None:
    """Check that `sample` has the setting's n and d, for which the plan's sensitivity holds."""
    check_kind("sample", sample, "gradients", "PointSample or LinearSample")
    require(sample.n == setting.n, "n", f"the number of records, {sample.n}", setting.n)
    require(sample.d == setting.d, "d", f"the dimension of the sample, {sample.d}", setting.d)
