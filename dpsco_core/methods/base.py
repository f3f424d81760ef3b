"""What every method is: its card, how it reads its records, what it costs, a plan, a release."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dpsco_core.base.arrays import Vector, close_arrays
from dpsco_core.base.cards import MethodCard
from dpsco_core.base.coefficients import Coefficients
from dpsco_core.base.errors import CodeFailed, NotApplicable
from dpsco_core.geometry.mirror import PowerMirror
from dpsco_core.methods.departure import Departure, Source
from dpsco_core.methods.stage import Stage
from dpsco_core.methods.story import Story
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms.steps import BudgetExceeded
from dpsco_core.problems.base import Setting
from dpsco_core.problems.second_moment import second_moment_missing

Calibration = Literal["tight", "paper"]
Tuning = Literal["practical", "theory"]

# How a method reads its records, which decides where they may be drawn and summed. "summed": it
# asks only for sums over the records, and parts of a sum may be computed elsewhere. "grouped": it
# reads the records in order at every pass and holds 4 bytes for each, its secret group. "ordered":
# it reads the records in order at every pass. "whole": it holds all records in memory.
Reads = Literal["summed", "grouped", "ordered", "whole"]
Clipped = Literal["", "records", "gradients"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The parameters of one run, none of which depends on the data; methods add their own."""

    # The setting for which the parameters are chosen. A release takes only records of its sizes.
    setting: Setting

    @property
    def passes(self) -> float:
        """How often a run repeats the unit of its method's `cost`: 1 for a run, or its steps."""
        return 1

    @property
    def moves(self) -> float:
        """How often a run moves a point and projects it on the constraint set; 0 for an estimator.

        If data or chance decide, it is the expected number, approximately.
        """
        return 0

    @property
    def pieces(self) -> float:
        """The number of pieces of the records that a run processes one after the other in Python.

        A step usually reads one piece, and in some methods several.
        """
        return self.moves

    @property
    def halts(self) -> bool:
        """Whether a run may end before it has computed all its `gradients`."""
        return False

    @property
    def has_closed_form(self) -> bool:
        """Whether a run has a closed form, where its method otherwise calls a solver."""
        return False

    @property
    def mirror(self) -> PowerMirror | None:
        """The mirror map of the steps; None for Euclidean steps with projection."""
        return None

    @property
    def gradients(self) -> int | None:
        """The number of item gradients of a run (for means: records); None: it depends on data."""
        return self.setting.n * self.setting.m


@dataclass(frozen=True, kw_only=True)
class MethodCost(Coefficients):
    """The cost of a run of a method, without the costs that its problem and its set add.

    A run takes `Plan.passes` times the seconds that the coefficients give, for records of a
    generalised linear model, and the seconds of a piece for each of `Plan.pieces`.
    """

    # Whether the coefficients describe a whole run, or one step over all records or users.
    unit: Literal["run", "step"] = "run"
    # The coefficients of a run in closed form; None if it costs as much as any other run.
    closed_form: Coefficients | None = None
    per_piece: float = 0.0  # nanoseconds per piece, without the costs of the problem and of the set
    fixed_if_narrow: tuple[float, ...] = ()  # replaces `fixed` at d = 1, 2 and so on
    # A rough number of steps for plans that take about 0.1 s: epsilon n / sqrt(d) over the first
    # entry, clipped to between 1 and the second entry. At 40 settings it was 0.8 to 16 times the
    # planned number, and mostly at most 2 times.
    rough_steps: tuple[float, float] | None = None

    def seconds(self, n: int, d: int) -> float:
        """Return the seconds of one unit, with `fixed_if_narrow` in small dimensions."""
        seconds = super().seconds(n, d)
        if d <= len(self.fixed_if_narrow):
            seconds += 1e-9 * (self.fixed_if_narrow[d - 1] - self.fixed)
        return seconds


@dataclass(frozen=True, kw_only=True)
class Release:
    """The result of one run of a method."""

    value: Vector  # shape (d,): the estimate of a mean, or of a minimiser
    ledger: Ledger  # the privacy budget spent, release by release
    # Parameters that were used and quantities worth showing, such as ``clip_radius``.
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # sentences that a reader of the result must see
    # Shape (k, d): points on the path of an optimiser, from start to end; at most a few hundred.
    iterates: Vector | None = None
    # Shape (k,): the step after which each of the iterates was reached.
    iterate_steps: NDArray[np.int64] | None = None


def _with_second_moment(plan: Callable[..., Plan]) -> Callable[..., Plan]:
    """Return a version of `plan` that refuses tail indices below 2 unless the card allows them."""

    @wraps(plan)
    def checked(method: "Method", setting: Setting, /) -> Plan:
        """Return the plan; raise `NotApplicable` where the card does not allow p < 2."""
        if refusal := second_moment_missing("method", method.card, setting.moment_order):
            raise NotApplicable(refusal, p=2.0)
        return plan(method, setting)

    return checked


class Method(Protocol):
    """A method: a frozen object with its parameters that plans a run and releases a result.

    A method without privacy takes no parameters; every private one takes `calibration` and
    `tuning`. What a class says about itself has a default, save its card.
    """

    card: ClassVar[MethodCard]
    reads: ClassVar[Reads] = "whole"
    # The default is a guess, for methods that declare no cost.
    cost: ClassVar[MethodCost] = MethodCost(fixed=2e5, per_row=30, per_element=3)
    # Whether a method at user level needs only the mean of each user's gradients.
    needs_only_means: ClassVar[bool] = False
    stage: ClassVar[Stage] = Stage()
    # The vectors that the method clips to a ball and averages before it adds noise; empty for a
    # method that works in another way. The noise added last to an average of records has the
    # standard deviation ``noise_std`` (a diagnostic) in each coordinate.
    clipped_values: ClassVar[Clipped] = ""
    # How the code differs from what the paper prints, apart from calibration and tuning; see
    # `dpsco_core.methods.form`.
    source: ClassVar[Source] = "printed"
    departs: ClassVar[tuple[Departure, ...]] = ()
    # The text of the method's page. If None it is read from the method's file in
    # `dpsco_core/words/methods`, and without such a file the page shows the text of the card.
    story: ClassVar[Story | None] = None
    # The dashboard's name for the hue of the method's family; if empty, a free hue is chosen.
    colour: ClassVar[str] = ""
    # The dashboard's name for the method's marker; if empty, a free marker is chosen.
    symbol: ClassVar[str] = ""
    dashed: ClassVar[bool] = False  # whether another method in the same figure has the same hue

    def __init_subclass__(cls) -> None:
        """Make `plan` refuse tail indices below 2 unless the card says why the method runs."""
        super().__init_subclass__()
        if "plan" in vars(cls):
            cls.plan = _with_second_moment(cls.plan)  # type: ignore[method-assign]

    def plan(self, setting: Setting, /) -> Plan:
        """Return the parameters of a run at `setting`, chosen without the data.

        Raises `NotApplicable` where the method cannot run at the setting.
        """
        ...

    def release(
        self,
        # A sample of records for a mean, or the problem's sample for an optimiser. At user level
        # both are grouped by user, and ``setting.n`` counts the users.
        records: Any,
        plan: Any,  # the method's own plan, as its method `plan` returns it
        ledger: Ledger,
        rng: np.random.Generator,
        /,
    ) -> Release:
        """Return the estimate; all noise goes through `ledger`, all randomness comes from `rng`."""
        ...


@dataclass(frozen=True, kw_only=True)
class PrivateMethod(Method):
    """A private method, with the choice of calibration and tuning that all private methods have."""

    # whether the noise is the smallest that the budget allows, or as printed
    calibration: Calibration = "tight"
    # whether all other parameters are chosen from the setting by a predicted error, or as in the
    # theorem
    tuning: Tuning = "practical"


def released(
    method: Method, records: Any, plan: Plan, ledger: Ledger, rng: np.random.Generator
) -> Release:
    """Return what a method releases; raise an error if `ledger` does not account for all of it.

    Raises `CodeFailed` if the method asks for more than the budget, goes on after the ledger has
    refused, or releases past it.
    """
    slug = method.card.slug
    close_arrays(plan)
    try:
        release = method.release(records, plan, ledger, rng)
    except BudgetExceeded as problem:
        must = "one that stays within its budget"
        raise CodeFailed(f"method must be {must}, got method={slug} ({problem}).") from problem
    if ledger.refusal:
        must = "one that ends when the ledger refuses"
        raise CodeFailed(f"method must be {must}, got method={slug} ({ledger.refusal}).")
    if release.ledger is ledger and (method.card.privacy == "none" or ledger.entries != ()):
        return release
    must = "one that releases through the ledger that it is given"
    raise CodeFailed(f"method must be {must}, got method={slug}.")
