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

# How a method reads its records, which decides where they may be drawn and summed:
# "summed"   it asks for sums over them alone, whose pieces may be summed elsewhere;
# "grouped"  as they come, at every pass, with 4 bytes held for each: its secret group;
# "ordered"  as they come, at every pass;
# "whole"    all of them are held.
Reads = Literal["summed", "grouped", "ordered", "whole"]
Clipped = Literal["", "records", "gradients"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The parameters of one run, none of which depends on the data: a method adds its own."""

    halts: ClassVar[bool] = False  # whether a run may end before it has taken all `gradients`

    setting: Setting  # What they are chosen from. A release takes records of its sizes only.

    @property
    def passes(self) -> float:
        """How often a run does what its method's `cost` counts: 1 for a run, or its steps."""
        return 1

    @property
    def moves(self) -> float:
        """How often a run moves a point, and brings it back into the constraint set.

        About so often where data or chance decide; 0 for an estimator.
        """
        return 0

    @property
    def pieces(self) -> float:
        """How many pieces of the records a run takes up one after the other, in Python.

        A piece is what a step looks at, unless a step goes through several.
        """
        return self.moves

    @property
    def has_closed_form(self) -> bool:
        """Whether a run needs no solver, where its method otherwise has one."""
        return False

    @property
    def mirror(self) -> PowerMirror | None:
        """The map by which a point is moved; None: it is moved freely, and projected."""
        return None

    @property
    def gradients(self) -> int | None:
        """Gradients of items (of the mean: records) that a run takes; None where data decide."""
        return self.setting.n * self.setting.m


@dataclass(frozen=True, kw_only=True)
class MethodCost(Coefficients):
    """What a run of a method costs, but for what its problem and its set add.

    `Plan.passes` times the seconds of the coefficients, on records of a generalised linear model;
    and the seconds of a piece for each of `Plan.pieces`.
    """

    # what the coefficients are of: a whole run, or a step over all records or users
    unit: Literal["run", "step"] = "run"
    # The coefficients of a run that has a closed form; None: it costs what others do.
    closed_form: Coefficients | None = None
    per_piece: float = 0.0  # nanoseconds, without those of the problem and of the set
    fixed_if_narrow: tuple[float, ...] = ()  # in place of `fixed`, at d = 1, 2 and so on
    # Where a plan takes some 0.1 s: the steps are about epsilon n / sqrt(d) over the first number,
    # from 1 to the second. At 40 settings that was 0.8 to 16 times the planned ones, most often up
    # to 2.
    rough_steps: tuple[float, float] | None = None

    def seconds(self, n: int, d: int) -> float:
        seconds = super().seconds(n, d)
        if d <= len(self.fixed_if_narrow):
            seconds += 1e-9 * (self.fixed_if_narrow[d - 1] - self.fixed)
        return seconds


@dataclass(frozen=True, kw_only=True)
class Release:
    """The result of one run of a method."""

    value: Vector  # shape (d,): the estimate: of a mean, or of a minimiser
    ledger: Ledger  # what it spent, release by release
    # parameters that were used and quantities worth showing, such as ``clip_radius``
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # sentences that a reader of the result must see
    # shape (k, d): points on the path of an optimiser, from its start to its end; at most a few
    # hundred
    iterates: Vector | None = None
    # shape (k,): the step after which each of them was reached
    iterate_steps: NDArray[np.int64] | None = None


def _with_second_moment(plan: Callable[..., Plan]) -> Callable[..., Plan]:
    """Return a `plan` that refuses a tail index below 2 unless its card has a reason for it."""

    @wraps(plan)
    def checked(method: "Method", setting: Setting, /) -> Plan:
        if refusal := second_moment_missing("method", method.card, setting.moment_order):
            raise NotApplicable(refusal, p=2.0)
        return plan(method, setting)

    return checked


class Method(Protocol):
    """A method: a frozen object with its parameters, which plans and releases.

    A method without privacy takes no parameters; every private one takes `calibration` and
    `tuning`. What a class says about itself has a default, save its card.
    """

    card: ClassVar[MethodCard]
    reads: ClassVar[Reads] = "whole"
    # Of a method that says nothing, a guess.
    cost: ClassVar[MethodCost] = MethodCost(fixed=2e5, per_row=30, per_element=3)
    # Whether a method of users needs no more of a user than the mean of its gradients.
    needs_only_means: ClassVar[bool] = False
    stage: ClassVar[Stage] = Stage()
    # What the method clips to a ball and averages before it adds noise; empty of one that works in
    # another way. The noise that is added last to an average of records has in each coordinate the
    # standard deviation of the diagnostic ``noise_std``.
    clipped_values: ClassVar[Clipped] = ""
    # how what runs differs from what the paper prints, beside calibration and tuning; see
    # `dpsco_core.methods.form`
    source: ClassVar[Source] = "printed"
    departs: ClassVar[tuple[Departure, ...]] = ()
    # What its page tells. Without one here, that of its file in `dpsco_core/words/methods`; without
    # both, what its card says.
    story: ClassVar[Story | None] = None
    colour: ClassVar[str] = ""  # the dashboard's name of its family's hue, and of its marker;
    symbol: ClassVar[str] = ""  # it chooses free ones where there is none
    dashed: ClassVar[bool] = False  # whether another method beside it has the same hue

    def __init_subclass__(cls) -> None:
        """Let `plan` refuse tail indices below 2 unless the card says why the method runs there."""
        super().__init_subclass__()
        if "plan" in vars(cls):
            cls.plan = _with_second_moment(cls.plan)  # type: ignore[method-assign]

    def plan(self, setting: Setting, /) -> Plan:
        """Return the parameters of a run at `setting`, chosen without any data.

        Raises `NotApplicable` where the method cannot run at the setting.
        """
        ...

    def release(
        self,
        # for the mean, for an optimiser, at user level (where ``setting.n`` counts the users)
        records: Any,
        plan: Any,  # the method's own
        ledger: Ledger,
        rng: np.random.Generator,
        /,
    ) -> Release:
        """Return the estimate, all noise through `ledger`, all randomness from `rng`."""
        ...


@dataclass(frozen=True, kw_only=True)
class PrivateMethod(Method):
    """A private method: one that is run as its paper prints it, or better."""

    calibration: Calibration = "tight"  # the noise: as large as the budget asks for, or as printed
    tuning: Tuning = "practical"  # all other parameters: chosen from the setting, or the theorem's


def released(
    method: Method, records: Any, plan: Plan, ledger: Ledger, rng: np.random.Generator
) -> Release:
    """Return what a method releases, if `ledger` accounts for all of it.

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
