"""Where a method is put to the test: what audits run, and what the deliberate faults break."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dpsco_core.problems.base import Setting

# What a function knows of the records that it is to take, or of which it returns some:
# "range"      its last two arguments are where they start and stop;
# "phase"      one argument has fields `start` and `stop`, or `first`;
# "positions"  its second argument has their positions;
# "groups"     its second argument has the group of every record, and it returns a row for each;
# "blocks"     it returns a row for each block;
# "order"      the first value that it returns has the positions of all, in the order of use.
Told = Literal["range", "phase", "positions", "groups", "blocks", "order"]


@dataclass(frozen=True, kw_only=True)
class Split:
    """A function by which a method divides its records.

    `tests/trust` lets it return the first records whatever it is asked for, and must notice.
    """

    function: str  # where it is: "package.module.function", or "package.module.Class.method"
    told: Told


@dataclass(frozen=True, kw_only=True)
class SmallRun:
    """A run that is short, and in which whatever the method does happens more than once."""

    scenario: Mapping[str, Any] = field(default_factory=dict)  # fields in which it is not the stage
    fields: Mapping[str, Any] = field(default_factory=dict)  # fields of the method
    # The plan of a method at a setting, where no field gives it; None: the method's own.
    plan: Callable[[Any, Setting], Any] | None = None


# Fields of a scenario at which it is the secret order of the records that makes a run private.
AMPLIFIED: Mapping[str, Any] = {"n": 1500, "epsilon": 0.3, "delta": 1e-4}
# Parts of the records of any optimiser at item level.
PARTS = tuple(
    Split(function=f"dpsco_core.problems.samples.{kind}.part", told="range")
    for kind in ("points.PointSample", "linear.LinearSample")
)
SHAPED = SmallRun(fields={"noise": "generalized gaussian"})
SOLVED = SmallRun(scenario={"problem": "logistic", "d": 2})  # where a solver has work


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Where a method is audited: the small run whose output tells most about one record.

    And where `tests/trust` breaks it on purpose: `splits`, `small` and `others`.
    """

    # Records, or users. One, where a method looks at one record a step or puts each into a group of
    # its own: all that it lets out is then about that one.
    records: int = 8
    # Slug of an optimiser's problem. The loss whose gradient is the record itself is the sharpest,
    # where the method allows it; otherwise the first problem of its card.
    problem: str = "linear"
    exponent: float = 1.5  # q of the geometry, for methods of the geometry `"lq"`
    # coordinate of the worst record, from the plan and d; None: beyond every clip
    place: Callable[[Any, int], float] | None = None
    # whether the method's only use of randomness is one noisy value, which is its result
    at_once: bool = False
    # whether a run may take any number of steps, set by the field `descent`
    free_steps: bool = False
    # the method's field that moves its clip, and the plan's that says where it is
    clip: tuple[str, str] | None = None
    # a field of the method and its value at which the noise that its paper prints is furthest below
    # what its claim needs; None if no such constant is known
    flawed: tuple[str, float] | None = None
    unseen: str = ""  # why runs cannot show anything, in a sentence; empty if they can
    instead: str = ""  # slug of a method that can be audited in its place
    # How it divides its records among releases; empty if every release looks at all of them.
    splits: tuple[Split, ...] = ()
    # Needed where one block, one step or one phase would leave a fault nothing to break.
    small: SmallRun = field(default_factory=SmallRun)
    # Other ways to be private, by name: another mechanism, or another accounting. What they do not
    # say is as in `small`.
    others: Mapping[str, SmallRun] = field(default_factory=dict)
