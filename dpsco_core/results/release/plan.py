"""What a release will do, before the budget is spent: from the shape of the records alone."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.base.limits import LIBRARY
from dpsco_core.base.parsing import whole
from dpsco_core.base.search import smallest_or
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.entries import Entry
from dpsco_core.privacy.sharing import SharedLedger
from dpsco_core.results.release.answer import (
    ArrayRelease,
    answer_noise,
    checked_generator,
    release_planned,
)
from dpsco_core.results.release.arrays import RecordShape
from dpsco_core.results.release.planned import PlannedRelease, ProvenBound, plan_for
from dpsco_core.results.release.statements import Statements
from dpsco_core.results.release.users import grouped_records
from dpsco_core.runs.study import stream

MOST_NUMBERS = 50_000_000  # the largest rehearsal, as the number of its values
TRIALS = 25
MOST_TRIALS = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleasePlan:
    """What a release will do, from its statements and the shape of the records.

    Parameters, ledger and noise are those of a rehearsal on drawn records. They will be the same in
    the release, unless `is_chosen_in_the_run`.
    """

    prepared: PlannedRelease
    method: str  # slug
    budget: Budget  # what the release may spend
    # Radii, steps, noise and others, by name. Lengths are multiples of `unit`.
    parameters: Mapping[str, float]
    entries: tuple[Entry, ...]  # the ledger of the rehearsal; lengths are multiples of `unit`
    spent: Budget | None  # what the rehearsal has spent
    # Whether private releases choose a radius: parameters and noise are then those of the drawn
    # records, and on others they may differ.
    is_chosen_in_the_run: bool
    # The standard deviation of the noise on each coordinate of a mean, in the unit of the records,
    # shape (d,); None for a loss, and where it is not that of one release.
    noise: Vector | None
    # The interval that the release will have; see `ArrayRelease.interval`.
    interval: float | Vector | None
    rows_interval: Vector | None  # the same for the rows themselves; see `ArrayRelease`
    bounds: tuple[ProvenBound, ...]  # the proven bounds on the error of this run
    # The median error of the rehearsals, over `unit`: the l2 error of a mean, or the excess risk
    # of features and targets over their units. It is no bound: drawn records have a law.
    predicted_error: float
    trials: int  # the number of rehearsals
    law: str  # the law of the drawn records, in words

    @property
    def shape(self) -> RecordShape:
        """The sizes of the records for which it is planned."""
        return self.prepared.shape

    @property
    def smallest_bound(self) -> ProvenBound | None:
        """The smallest proven bound that holds; None if there is none."""
        holding = [b for b in self.bounds if not b.failures and 0 < b.value < math.inf]
        return smallest_or(holding, lambda b: b.value, None)

    def release(
        self,
        records: Any,
        *,
        users: Any = None,
        items: int | None = None,
        ledger: SharedLedger | None = None,
        rng: np.random.Generator | None = None,
    ) -> ArrayRelease:
        """Release records of the planned shape with this plan; see `release`.

        Raises `InvalidInput` for records of another shape.
        """
        rng = checked_generator(rng)
        arrays = grouped_records(records, users, items, rng)
        fits = arrays.shape == self.shape
        require(fits, "records", f"of the planned shape {self.shape}", f"shape {arrays.shape}")
        return release_planned(self.prepared, arrays, ledger, rng)

    def __str__(self) -> str:
        """Return the plan in lines of text."""
        unit = "record" if self.shape.items is None else "user"
        is_mean = self.prepared.task.is_mean
        error = "l2 error of the mean over its unit" if is_mean else "excess risk in stated units"
        chosen = " (on drawn records; private releases choose it)" * self.is_chosen_in_the_run
        lines = [f"{self.method} on {self.shape}, at {self.budget}; neighbours replace one {unit}."]
        lines += [f"  {name}: {value:.4g}{chosen}" for name, value in self.parameters.items()]
        lines += [
            f"  ledger: {e.label}, {e.mechanism}, sensitivity {e.sensitivity:.4g}, noise "
            f"{e.noise:.4g}"
            for e in self.entries[:3]
        ]
        lines += [f"  and {len(self.entries) - 3:,} entries more"] * (len(self.entries) > 3)
        if self.noise is not None:
            lines.append(f"  noise on the mean, in your unit: {_join(self.noise)}{chosen}")
        lines.append(
            f"  predicted {error}: {self.predicted_error:.4g} (median of {self.trials} runs on "
            f"{self.law})"
        )
        for b in self.bounds:
            verdict = f"fails here: {b.failures[0]}" if b.failures else "holds"
            lines.append(f"  bound on it: {b.value:.4g}, {b.guarantee}, {verdict} ({b.name})")
        interval = self.interval
        text = "none is proven" if interval is None else _join(np.atleast_1d(interval))
        lines.append(f"  95 % interval, in your unit: {text}")
        if self.rows_interval is not None:
            lines.append(f"  95 % interval for these rows alone: {_join(self.rows_interval)}")
        return "\n".join(lines)


def plan_release(
    shape: Sequence[int],
    *,
    targets: bool = False,
    method: str | None = None,
    bound: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    epsilon: float | None = 1.0,
    delta: float | None = 1e-6,
    rho: float | None = None,
    p: float = 2.0,
    unit: ArrayLike | None = None,
    target_unit: float | None = None,
    centre: ArrayLike = 0.0,
    intercept: bool = False,
    problem: str | None = None,
    alike: float | None = None,
    trials: int = TRIALS,
    seed: int = 0,
) -> ReleasePlan:
    """Return what `release` would do with records of a shape, before any of them is read.

    It is given no records, so that it costs no privacy and may be repeated with other statements.
    The method runs on records that are drawn: of the law that `dpsco run` draws, whose p-th central
    moments are those that `unit` states, with a mean one unit from `centre` (or on `bound`, where
    that is less). A plan takes as long as `trials` releases.

    Parameters
    ----------
    shape : sequence of int
        The shape of the records, or of the features: (n,) or (n, d), and (n, m, d) of n users with
        m records each.
    targets : bool
        Whether there are targets beside them.
    method, bound, lower, upper, epsilon, delta, rho, p, unit, target_unit, centre, intercept, \
problem, alike
        As in `release`.
    trials : int
        The number of rehearsals, from 1 to 1000.
    seed : int
        The seed of the drawn records and of the noise of the rehearsals, which hides nothing.

    Returns
    -------
    ReleasePlan
        Its method `release` releases records of this shape, with these statements.

    Raises
    ------
    InvalidInput
        If the shape is none, or a statement is out of range.
    NotApplicable
        If the method cannot run at these sizes, with the nearest setting at which it could.

    Examples
    --------
    >>> plan = plan_release((5000, 2), method="mean.clipped", bound=2.0, unit=1.8)
    >>> print(f"{plan.parameters['clip_radius']:.2f} {plan.noise[0]:.4f} {plan.interval:.2f}")
    14.08 0.0428 0.31
    >>> x = np.random.default_rng(1).standard_t(3, size=(5000, 2))
    >>> plan.release(x).interval == plan.interval
    True
    """
    whole("trials", trials, 1, MOST_TRIALS)
    whole("seed", seed, 0, 2**63)
    statements = Statements(
        method=method,
        bound=bound,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        p=p,
        unit=unit,
        target_unit=target_unit,
        centre=centre,
        intercept=intercept,
        problem=problem,
        alike=alike,
        lower=lower,
        upper=upper,
    )
    prepared = plan_for(_checked_shape(shape, targets), statements)
    rehearsals = [
        prepared.rehearse(stream(seed, "plan of a release", trial)) for trial in range(trials)
    ]
    rehearsal = rehearsals[0][0]
    noise = answer_noise(rehearsal.ledger, prepared.plan) if prepared.task.is_mean else None
    has_looked = any(entry.mechanism == "exponential" for entry in rehearsal.ledger.entries)
    units = np.broadcast_to(prepared.lengths.unit, (prepared.shape.d,))
    return ReleasePlan(
        prepared=prepared,
        method=prepared.task.card.slug,
        budget=prepared.point.budget,
        parameters=dict(rehearsal.diagnostics),
        entries=rehearsal.ledger.entries,
        spent=rehearsal.ledger.spent(),
        is_chosen_in_the_run=prepared.task.card.private_radius and has_looked,
        noise=None if noise is None else noise * units,
        interval=prepared.interval,
        rows_interval=prepared.rows_interval,
        bounds=prepared.bounds(),
        predicted_error=float(np.median([error for _, error in rehearsals])),
        trials=trials,
        law=prepared.law,
    )


def _checked_shape(shape: object, targets: object) -> RecordShape:
    """Return the sizes of a shape; raise `InvalidInput` if it is none, or too large to rehearse."""
    condition = "(n,) or (n, d), or (n, m, d) for users, with positive integers"
    sizes = tuple(shape) if isinstance(shape, tuple | list) else ()
    is_whole = all(
        isinstance(k, int | np.integer) and not isinstance(k, bool) and k > 0 for k in sizes
    )
    require(1 <= len(sizes) <= 3 and is_whole, "shape", condition, shape)
    require(isinstance(targets, bool), "targets", "True or False", type(targets).__name__)
    numbers = math.prod(map(int, sizes))
    largest = min(MOST_NUMBERS, LIBRARY.most_elements)
    require(numbers <= largest, "shape", f"of at most {largest:,} numbers, to rehearse", shape)
    n, *middle, d = (*map(int, sizes), 1) if len(sizes) == 1 else map(int, sizes)
    items = middle[0] if middle else None
    return RecordShape(n=n, d=d, items=items, has_targets=bool(targets))


def _join(values: Vector) -> str:
    """Return numbers as text."""
    return ", ".join(f"{value:.4g}" for value in values)
