"""A mean at user level by group privacy: every record is clipped, as if it were a person."""

from dataclasses import dataclass, replace

from dpsco_core.base.cards import AGARWAL_2024, MethodCard
from dpsco_core.data.rows import DenseRows
from dpsco_core.data.users import UserRows
from dpsco_core.methods.average import MeanMethod
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.mean.below_two import best_level, norm_costs
from dpsco_core.methods.mean.clipped import ClippedPlan, SimpleClipping
from dpsco_core.methods.records.base import refuse_pure
from dpsco_core.methods.stage import Stage
from dpsco_core.methods.user.means.base import check_user_rows
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class UserMeanGroup(MeanMethod):
    """Clip every record to an l2 ball, average all, add noise that protects m records.

    At m = 1 it is `SimpleClipping`. The radius is that of `SimpleClipping` for n records, n being
    the number of users. For p < 2 it is the radius at which the proven bound of this method is
    least (theory/infinite-variance.md, 2.4).
    """

    # the clip radius of the records; None if it is chosen from the setting
    radius: float | None = None

    reads = "whole"
    cost = MethodCost(fixed=3.9e4, per_row=7, per_element=0.42)
    source = "baseline"
    card = MethodCard(
        slug="user.mean-group",
        name="Clipped records in groups",
        short="Group privacy",
        paper=AGARWAL_2024,
        statement="Baseline: item-level clipping with group privacy",
        summary="Shrinks every record into a ball and averages all of them, with noise as large "
        "as all records of one user could move the average.",
        privacy="zcdp",
        level="user",
        rate="upper.user.mean-group-run",
        infinite_variance="A clipped record has a variance, and the radius is the one at which a "
        "bound that is proven for p < 2 is least.",
    )
    stage = Stage(at_once=True, clip=("radius", "radius"))
    colour = "orange"
    symbol = "square"

    def plan(self, setting: Setting) -> ClippedPlan:
        """Return the plan of `SimpleClipping` on all records, with noise that hides m of them."""
        refuse_pure(setting)
        item = SimpleClipping(radius=self.radius, calibration=self.calibration, tuning=self.tuning)
        # Replacing m of the n m records moves the mean as far as replacing one of n records.
        plan = item.plan(replace(setting, m=1))
        if self.radius is None and setting.moment_order < 2:
            pooled = replace(setting, n=setting.n * setting.m, m=1)
            noise = 2 * setting.d / (plan.noise.rho * setting.n**2)
            item = replace(item, radius=best_level(pooled, norm_costs, noise))
            plan = replace(item.plan(replace(setting, m=1)), answer_radius=plan.answer_radius)
        return replace(plan, setting=setting, read=user_records)


def user_records(sample: UserRows, setting: Setting) -> DenseRows:
    """Return all records of all users; raise an error unless the sizes fit."""
    check_user_rows(sample, setting)
    return sample.records
