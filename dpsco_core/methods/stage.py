"""Where a method is put to the test: what audits run, and what the deliberate faults break."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dpsco_core.problems.base import Setting

# How the tests learn which records a function takes or returns. "range": its last two arguments are
# the start and the stop. "phase": one argument has fields `start` and `stop`, or `first`.
# "positions": its second argument holds the positions. "groups": its second argument holds the
# group of every record, and it returns a row for each group. "blocks": it returns a row for each
# block. "order": its first value holds the positions of all records in the order of use.
Told = Literal["range", "phase", "positions", "groups", "blocks", "order"]


@dataclass(frozen=True, kw_only=True)
class Split:
    """A function by which a method divides its records.

    `tests/trust` lets it return the first records whatever it is asked for, and must notice.
    """

    function: str  # its full name: "package.module.function", or "package.module.Class.method"
    told: Told


@dataclass(frozen=True, kw_only=True)
class SmallRun:
    """A short run in which every kind of operation of the method happens more than once."""

    # the scenario's fields that differ from the stage
    scenario: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)  # the method's fields
    # A function that returns the plan of a method at a setting, if no field of the method can give
    # such a plan; None for the method's own plan.
    plan: Callable[[Any, Setting], Any] | None = None


# A scenario in which a run is private only because the order of the records is secret.
AMPLIFIED: Mapping[str, Any] = {"n": 1500, "epsilon": 0.3, "delta": 1e-4}
# The functions through which any optimiser at item level takes a part of the records.
PARTS = tuple(
    Split(function=f"dpsco_core.problems.samples.{kind}.part", told="range")
    for kind in ("points.PointSample", "linear.LinearSample")
)
# A run with the noise of the paper, whose shape depends on the norm.
SHAPED = SmallRun(fields={"noise": "generalized gaussian"})
# a scenario in which the solver has work to do
SOLVED = SmallRun(scenario={"problem": "logistic", "d": 2})


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The audit setting of a method: the small run whose output reveals most about one record.

    `splits`, `small` and `others` say where `tests/trust` breaks the method on purpose.
    """

    # The number of records, or users. It is 1 if a method takes one record per step or puts each
    # record into its own group, because all releases are then about that one record.
    records: int = 8
    # The slug of an optimiser's problem. The loss whose gradient is the record itself reveals a
    # leak best. A method that does not allow it uses the first problem of its card.
    problem: str = "linear"
    exponent: float = 1.5  # q of the geometry, for methods of the geometry `"lq"`
    # A function of the plan and d that returns the coordinate of the worst record; None for a
    # record beyond every clip level.
    place: Callable[[Any, int], float] | None = None
    # Whether the method draws only one noisy value, which is its result.
    at_once: bool = False
    # Whether a run may take any number of steps, set by the field `descent`.
    free_steps: bool = False
    # The method's field that sets its clip, and the plan's field that holds it.
    clip: tuple[str, str] | None = None
    # A field of the method and its value at which the noise printed in the paper is furthest below
    # what the paper's claim needs; None if no such constant is known.
    flawed: tuple[str, float] | None = None
    unseen: str = ""  # one sentence on why runs cannot show a leak; empty if they can
    instead: str = ""  # the slug of a method that can be audited in its place
    # How the method divides its records among releases; empty if every release reads all records.
    splits: tuple[Split, ...] = ()
    # A small run, needed if the method would otherwise have a single block, step or phase and a
    # test could not detect a fault.
    small: SmallRun = field(default_factory=SmallRun)
    # Further private variants by name, with another mechanism or another accounting. Their unset
    # fields are those of `small`.
    others: Mapping[str, SmallRun] = field(default_factory=dict)
