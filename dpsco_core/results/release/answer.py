"""A private release of the caller's own arrays, in one call.

A plan rests on public numbers only: the number of records and what the caller states of them. The
records themselves are read by the method alone, and what it releases of them goes through the
ledger.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.methods.average import MeanPlan
from dpsco_core.methods.base import Plan, Release
from dpsco_core.privacy.budget import Budget
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.sharing import SharedLedger, Unit
from dpsco_core.results.release.arrays import OwnRecords
from dpsco_core.results.release.notes import (
    delta_note,
)
from dpsco_core.results.release.planned import PlannedRelease, plan_for
from dpsco_core.results.release.statements import Statements
from dpsco_core.results.release.users import grouped_records

WARNING = (
    "A research release: noise in double precision from numpy's generators, not hardened against "
    "floating-point, timing or seed attacks (SECURITY.md). Do not publish statistics of real "
    "people with it."
)
DEFAULT_LOSS = (
    "The loss is that of a logistic regression. To predict a number choose another problem, such "
    "as least-squares or huber."
)
LABELS = "A target above 0 is one label, and every other target is the other."
NO_INTERCEPT = (
    "The model has no intercept: a prediction is 0 where every feature is at its centre. State "
    "public guesses of the features' means with centre, or ask for an intercept: intercept=True, "
    "or --intercept."
)
INTERCEPT = (
    "The intercept is the coefficient of one more feature, which is 1 for every record: gradients "
    "are clipped with its part, and it gets noise as the other coefficients do."
)

# the largest numbers of coordinates and of notes in a printed answer
MOST_VALUES = 6
MOST_NOTES = 5


@dataclass(frozen=True, kw_only=True)
class ArrayRelease:
    """The release of a method on the caller's own arrays."""

    # Shape (d,): the mean in the unit of the records, or the parameter. A coefficient of a model
    # has the unit of the targets over that of its feature.
    value: Vector
    ledger: Ledger  # the privacy budget spent, release by release
    # The radius of an l2 ball about the value, in the unit of the records, that contains the mean
    # with probability 0.95 over independent records; None if none is proven, or `unit` is not
    # given. If `unit` has an entry for every coordinate, these are the half-lengths of intervals
    # that hold together, shape (d,).
    interval: float | Vector | None
    # With a public range: the half-lengths of 95 % intervals about the value for the mean of these
    # rows, clamped to their range, from the noise alone; shape (d,). They hold together. None
    # without a range, since then nothing says what the clip has moved.
    rows_interval: Vector | None = None
    method: str  # slug
    # Radii, steps, noise and others. Lengths are multiples of `unit`, like those of the ledger.
    parameters: Mapping[str, float] = field(default_factory=dict)
    # The standard deviation of the noise on every coordinate of a mean, in the unit of the records,
    # shape (d,); None for a loss, and for a mean whose noise is not that of one release.
    noise: Vector | None = None
    # What a model with an intercept predicts where all features are 0, whatever `centre` is: its
    # predictions are `features @ value + intercept`. None without one.
    intercept: float | None = None
    notes: tuple[str, ...] = ()  # sentences that a reader of the result must see
    warning: str = WARNING

    def __str__(self) -> str:
        """Return the value, shortened, what was spent, the interval and the notes as lines."""
        lines = [f"{self.method}: {_shortened(self.value)}"]
        if self.intercept is not None:
            lines.append(f"  intercept: {self.intercept:.4g}")
        lines.append(f"  spent: {self.spent}")
        if self.interval is None:
            lines.append("  95 % interval: none")
        elif np.ndim(self.interval):
            lengths = _shortened(np.asarray(self.interval))
            lines.append(f"  95 % interval of each coordinate: its value plus or minus {lengths}")
        else:
            lines.append(f"  95 % interval: within {self.interval:.4g} of the value, in l2 norm")
        lines += [f"  note: {note}" for note in self.notes[:MOST_NOTES]]
        left_out = len(self.notes) - MOST_NOTES
        return "\n".join(lines + [f"  and {left_out} more in `notes`"] * (left_out > 0))

    @property
    def spent(self) -> Budget | None:
        """The guarantee of the release: neighbours replace one record, or all of one user."""
        return self.ledger.spent()


def release(
    records: Any,
    *,
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
    users: Any = None,
    items: int | None = None,
    alike: float | None = None,
    ledger: SharedLedger | None = None,
    rng: np.random.Generator | None = None,
) -> ArrayRelease:
    r"""Release a mean, or the parameter of a loss, from the caller's own records.

    Nothing but the shape and the type of the arrays is read without privacy: state `bound`, `unit`,
    `centre` and `p` from public knowledge. A statement that is false costs accuracy, never privacy;
    an interval then says nothing. A record that is not finite counts as 0: an error would tell that
    it is there. The records are read at once and not changed.

    `notes` say, from what is public or released, where a statement does not fit: a delta above
    1/n, an answer on the bound, noise larger than the bound, a chosen radius that is tiny or the
    largest one. It is not checked whether a radius that was fixed without the records cuts nearly
    all of them, or none.

    Parameters
    ----------
    records : array_like or pair of array_like
        Of a mean, or of a loss of points: shape (n,) or (n, d). Of a generalised linear model: a
        pair of features, shape (n, d), and targets, shape (n,). A label is positive if it is above
        0: -1 and 1 will do, and 0 and 1. A pair is a tuple, and a list is the rows. Lists of
        numbers are read as numpy reads them; one with a text or None among them is refused as a
        whole, which tells that such an entry is there. Of users with m records each: shape
        (n, m, d), and targets of shape (n, m); neighbours then replace all records of one user.
    method : str, optional
        Slug of a method on records; see ``dpsco catalogue``. By default ``"mean.adaptive"``, and
        ``"sco.clipped"`` for a pair. Of users, one at user level: by default
        ``"user.mean-adaptive"``, and ``"user.clipped-means"`` for a pair.
    bound : float or array_like
        Of a mean: its distance from `centre` is at most this, in the l2 norm; or an entry for every
        coordinate, shape (d,). Of a loss: the parameter lies in the ball of this radius around 0;
        or, of a generalised linear model, an entry for every coefficient, shape (d,), with
        `intercept` shape (d + 1,), the last one for the prediction at the centre. Where it is one
        number, that prediction is at most `bound` times the largest `unit`. The search is in the
        smallest ball, in units, that contains all of these.
    lower, upper : float or array_like, optional
        Instead of `bound`, `unit` and `centre`, of a mean: a public range of every number, or of
        every coordinate, shape (d,). Numbers beyond it are clamped to it, and infinite ones, too;
        the noise is that for its width over n, and there is no clipping bias where it holds. The
        method is ``"mean.clipped"``, with a clip that does nothing else.
    epsilon, delta, rho : float or None
        The budget: epsilon with delta, or rho of zCDP beside ``epsilon=None, delta=None``.
        Neighbours differ by replacing one record, or all records of one user.
    p : float
        The order of the moment: at least 1.1, and at least 2 for a generalised linear model.
    unit : float or array_like, optional
        The p-th root of a bound on the p-th central moment of every coordinate of the records, or
        of the features. By default 1, and then a mean has no interval, since it would rest on a
        statement that nobody made. Too small a number makes steps too long. Of a mean and of a
        generalised linear model it may have an entry for every coordinate, shape (d,): columns of
        different size then get clipping and noise of their size.
    target_unit : float, optional
        Of a regression on numbers: the same for what is left of the targets when the model has
        explained its part. It has to be given for the Huber and the absolute loss, whose gradients
        do not grow with the targets; otherwise it is 1 by default.
    centre : array_like
        A public guess of the mean of the records, or of the features of a model, a number or of
        shape (d,). It is subtracted before anything else: a model without an intercept predicts 0
        at the centre. It is 0 for a loss of points.
    intercept : bool
        Of a generalised linear model: whether it has an intercept. That is the coefficient of a
        feature which is 1, in units, for every record: the method runs in d + 1 dimensions, and
        whatever it clips or shrinks has that feature in it.
    problem : str, optional
        Slug of the problem, by default the first that the method solves; a logistic loss for a
        pair.
    users : array_like, optional
        The user of each record, shape (n,): whole numbers or texts. How many users there are counts
        as public, and how many records each has does not: every user gets `items` rows. Of those
        who have more records they are a random choice, and those of users with fewer are repeated;
        nothing tells of whom that is so.
    items : int, optional
        Beside `users`: the number of records of each user, from public knowledge.
    alike : float, optional
        Of the mean of users: the share of the variance that the records of one user have in common,
        from 0, if they are independent, to 1. By default 1, which holds for records that hang
        together in any way. With a value below 1, an interval rests on it, and on users who have
        `items` records each.
    ledger : SharedLedger, optional
        One budget that several releases draw from; see `SharedLedger.share` for how they add up.
        What this release may spend is set aside there before anything is drawn; where that exceeds
        what is left (`SharedLedger.left`), the call is refused. Pass one generator on from
        call to call, if any.
    rng : numpy.random.Generator, optional
        Where the noise comes from. By default a generator with a state of the operating system,
        which nobody can repeat.

    Returns
    -------
    ArrayRelease
        Value, ledger, and an interval of a mean if one is proven.

    Raises
    ------
    InvalidInput
        If an array has the wrong shape or type, a statement is out of range, or the release exceeds
        what is left of `ledger`.
    NotApplicable
        If the method cannot run at these sizes, with the nearest setting at which it could.

    Examples
    --------
    >>> x = np.random.default_rng(1).standard_t(3, size=(5000, 2))
    >>> answer = release(x, method="mean.clipped", epsilon=1.0, delta=1e-6, bound=2.0, unit=1.8)
    >>> answer.value.shape, answer.spent, answer.interval > 0
    ((2,), ApproxDP(epsilon=1.0, delta=1e-06), True)

    With a public range of the records:

    >>> ages = np.random.default_rng(1).uniform(18, 80, size=5000)
    >>> answer = release(ages, lower=0, upper=100)
    >>> f"{answer.noise[0]:.3f} {answer.rows_interval[0]:.3f} {answer.interval[0]:.2f}"
    '0.084 0.166 2.20'

    Two releases on one budget:

    >>> from dpsco_core.privacy import ZCDP, SharedLedger
    >>> shared = SharedLedger(ZCDP(rho=0.1))
    >>> budget = {"epsilon": None, "delta": None, "rho": 0.04}
    >>> first = release(x[:, 0], bound=2.0, ledger=shared, **budget)
    >>> second = release(x[:, 1], bound=2.0, ledger=shared, **budget)
    >>> f"{shared.left().rho:.2f}"
    '0.02'
    """
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
    rng = checked_generator(rng)
    arrays = grouped_records(records, users, items, rng)
    return release_planned(plan_for(arrays.shape, statements), arrays, ledger, rng)


def checked_generator(rng: np.random.Generator | None) -> np.random.Generator:
    """Return the generator, by default one with a state of the operating system."""
    is_generator = rng is None or isinstance(rng, np.random.Generator)
    require(is_generator, "rng", "a numpy.random.Generator", type(rng).__name__)
    return np.random.default_rng() if rng is None else rng


def release_planned(
    prepared: PlannedRelease,
    arrays: OwnRecords,
    shared: SharedLedger | None,
    rng: np.random.Generator,
) -> ArrayRelease:
    """Release records of the planned shape, and return the answer in the caller's units.

    A ledger that is shared sets the budget aside before anything is drawn.
    """
    budget = prepared.point.budget
    is_shared = shared is None or isinstance(shared, SharedLedger)
    require(is_shared, "ledger", "a dpsco_core.SharedLedger", type(shared).__name__)
    unit: Unit = "record" if arrays.items is None else "user"
    ledger = Ledger(budget) if shared is None else shared.share(budget, unit=unit, rng=rng)
    result = prepared.run(arrays, ledger, rng)
    lengths, task, d = prepared.lengths, prepared.task, prepared.shape.d
    units, centre = lengths.unit, lengths.centre
    value = lengths.answer * result.value + (0.0 if task.is_model else centre)
    noise = answer_noise(ledger, prepared.plan) if task.is_mean else None
    has_intercept = prepared.statements.intercept
    return ArrayRelease(
        value=value[:d],
        ledger=ledger,
        interval=prepared.interval,
        rows_interval=prepared.rows_interval,
        method=task.card.slug,
        parameters=dict(result.diagnostics),
        noise=None if noise is None else noise * np.broadcast_to(units, (d,)),
        intercept=float(value[d] - value[:d] @ centre) if has_intercept else None,
        notes=(*result.notes, *_notes(prepared, result)),
    )


def _notes(prepared: PlannedRelease, result: Release) -> Iterator[str]:
    """Yield what a reader of the release must see, from what is public or released."""
    statements, task = prepared.statements, prepared.task
    delta = statements.delta if statements.rho is None else None
    yield from delta_note(delta, prepared.shape.n)
    if task.is_model:
        yield from [DEFAULT_LOSS] * (statements.problem is None)
        yield from [LABELS] * task.has_labels
        yield INTERCEPT if statements.intercept else NO_INTERCEPT
    yield from prepared.notes_on_lengths(result)


def answer_noise(ledger: Ledger, plan: Plan) -> float | None:
    """Return the standard deviation of a released mean's noise per coordinate, in units.

    It is None if the answer is not one release with Gaussian or Laplace noise.
    """
    if not (isinstance(plan, MeanPlan) and plan.statistic.is_last_release):
        return None
    entry = ledger.entries[-1]
    factor = {"gaussian": 1.0, "laplace": math.sqrt(2)}.get(entry.mechanism)
    return None if factor is None else factor * entry.noise


def _shortened(values: Vector) -> str:
    """Return the first coordinates of a vector as text, and how many there are if some are left."""
    text = ", ".join(f"{value:.4g}" for value in values[:MOST_VALUES])
    return f"[{text}]" if len(values) <= MOST_VALUES else f"[{text}, ...] (d = {len(values):,})"
