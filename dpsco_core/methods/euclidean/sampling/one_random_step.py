"""Private SGD in which every record takes one step at random, as a method of its own."""

from dataclasses import dataclass

from dpsco_core.base.cards import FELDMAN_SHENFELD_2025, MethodCard
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.departure import Departure
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT
from dpsco_core.methods.euclidean.private_sgd import PrivateSgd, PrivateSgdPlan, RecordByRecord
from dpsco_core.methods.euclidean.sampling.allocated import best_count
from dpsco_core.methods.records.base import sampled_budget
from dpsco_core.methods.stage import SmallRun, Split, Stage
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class PrivateSgdAllocated(RecordByRecord):
    r"""`PrivateSgd` with ``sampling="allocated"``, and a number of steps chosen from the setting.

    Parameters
    ----------
    steps : int, optional
        T, from 1 to n. If None it is the one of 1, 2, 5, ... 2000 with the least modelled risk.
    calibration : {"tight", "paper"}
        ``"paper"`` is refused: its noise is for another sampler.
    tuning : {"practical", "theory"}
        ``"theory"`` asks for a loss that the problem certifies as Lipschitz; the step size is the
        same, :math:`\eta=D/\sqrt{T(L^2(1+T/n)+d\sigma^2T^2/n^2)}`, D the radius of the ball.
    """

    steps: int | None = None

    reads = "whole"
    cost = MethodCost(fixed=1e5, per_row=400, per_element=3, per_piece=100)
    source = "reconstructed"
    departs = (
        Departure(
            tag="random step",
            text="Each record takes one step at random, where private SGD visits half of the "
            "records in a secret order.",
        ),
    )
    card = MethodCard(
        slug="sco.private-sgd-allocated",
        name="Private SGD, one random step per record",
        short="One random step",
        paper=FELDMAN_SHENFELD_2025,
        statement="Random allocation; the steps of Arora et al., Algorithm 1",
        summary="One pass: each record takes one of T noisy steps, at random and in secret; kinks "
        "are allowed.",
        privacy="approx",
        problems=SCO_PROBLEMS,
        caveat="Its noise is proven for replacing a record, by a proof of this library. "
        + BOUNDED_CAVEAT,
    )
    stage = Stage(
        splits=(
            Split(function="dpsco_core.methods.euclidean.private_sgd.fresh_order", told="order"),
        ),
        small=SmallRun(fields={"steps": 4}),
    )
    colour = "teal"
    symbol = "hexagon"

    def plan(self, setting: Setting) -> PrivateSgdPlan:
        """Return the plan of `PrivateSgd` with allocated records and the best number of steps."""
        sampled_budget(setting, self.calibration)
        steps = best_count(setting) if self.steps is None else self.steps
        sgd = PrivateSgd(tuning=self.tuning, sampling="allocated", allocated_steps=steps)
        return sgd.plan(setting)
