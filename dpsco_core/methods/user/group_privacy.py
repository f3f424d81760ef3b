"""Group privacy: phased SGD with the noise of a user's whole block, and no filter."""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from dpsco_core.base.cards import LOWY_2024, MethodCard
from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.base import MethodCost
from dpsco_core.methods.euclidean.lipschitz import BOUNDED_CAVEAT, Losses, lipschitz_losses
from dpsco_core.methods.euclidean.phased_sgd import (
    InOrder,
    Phase,
    PhasedAverages,
    PhasedSgd,
    is_resolved,
)
from dpsco_core.methods.phases import PhasedMethod
from dpsco_core.methods.records.base import gaussian_share
from dpsco_core.methods.user.base import bounded_users, check_smooth, check_users
from dpsco_core.methods.user.chains import batch_size, records_of, step_limit
from dpsco_core.methods.user.phased_risk import best_phases
from dpsco_core.privacy.mechanisms import gaussian_noise_std
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.users import UserSample


@dataclass(frozen=True, kw_only=True)
class PhasedUserAverages(PhasedAverages):
    """Phases of SGD over users, one item at a time."""

    def in_order(self, sample: UserSample) -> InOrder:
        """Return the items of all users in one row, with the losses of the plan."""
        check_users(sample, self.setting)
        records = records_of(bounded_users(sample, self.losses), self.batch)
        per_user = self.setting.m // records.each
        return InOrder(sample=records.sample, per_user=per_user, each=records.each)


@dataclass(frozen=True, kw_only=True)
class UserGroupPrivacy(PhasedMethod):
    r"""One pass of SGD over all items in phases; each adds noise that protects a user's items.

    If a step of size :math:`b\eta_i \le 2/\beta` on b items reads k items of a replaced user, it
    moves the average by at most :math:`2L\eta_ik`, as k single steps would. This does not hold for
    losses with kinks. At m = 1 it is phased SGD at item level.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        Under an (epsilon, delta) budget: rho from the exact Gaussian curve, or from Bun and
        Steinke's conversion.
    tuning : {"practical", "theory"}
        ``"theory"``: Feldman, Koren and Talwar (2020), Theorem 4.4, on nm records at
        :math:`\rho/m^2`: :math:`\eta = \frac RL\min\{4/\sqrt{nm}, \sqrt{2\rho}/(2m\sqrt d)\}`,
        :math:`\eta_i = 4^{-i}\eta` and :math:`n_i = \lfloor n2^{-i}\rfloor`; refused where
        :math:`\eta_1 > 2/\beta`. ``"practical"``: the phases, decay and :math:`\eta \le 1/\beta`
        with the least `phased_terms`.
    """

    reads = "whole"
    cost = MethodCost(fixed=3e5, per_row=8, per_element=1, per_piece=1e4)
    source = "baseline"
    card = MethodCard(
        slug="user.group-privacy",
        name="Group privacy",
        paper=LOWY_2024,
        statement="Footnote 3 (baseline)",
        summary="One pass of SGD over all items in phases, with noise that hides a whole user's "
        "pull on each phase's average.",
        privacy="zcdp",
        level="user",
        problems=SCO_PROBLEMS,
        rate="upper.user.group-privacy",
        caveat="Privacy needs smooth losses and small steps. " + BOUNDED_CAVEAT,
    )
    stage = PhasedSgd.stage
    colour = "brown"
    symbol = "triangle-up"

    def plan(self, setting: Setting) -> PhasedUserAverages:
        """Return the plan with the phases of the tuning; smooth losses only."""
        rho = gaussian_share(setting, self.calibration)
        losses = lipschitz_losses(setting, self.tuning, rho)
        check_smooth(losses, "One-pass SGD")
        shape = _theorem_phases if self.tuning == "theory" else _practical_phases
        phases = shape(setting, rho, losses)
        total, step_size = phases[-1].stop * setting.m, phases[0].step_size
        batch = batch_size(setting.n, setting.m, setting.d, total, step_size, losses.smoothness)
        reach = setting.constants.diameter / 2

        def stands_out(phase: Phase) -> bool:
            """Return whether a user's effect is larger than the rounding of the points."""
            steps = math.ceil((phase.stop - phase.start) * setting.m / batch)
            return is_resolved(reach, losses, steps, phase.sensitivity / (2 * losses.lipschitz))

        resolved_phases = (phases[0], *takewhile(stands_out, phases[1:]))
        return PhasedUserAverages(
            setting=setting, losses=losses, rho=rho, batch=batch, phases=resolved_phases
        )


def user_pull(setting: Setting, losses: Losses, step_size: float) -> float:
    r"""Return the sensitivity :math:`\min(R, 2\eta Lm)` of a phase's average to one user.

    R is the diameter of the set, and `step_size` is eta: see `UserGroupPrivacy`.
    """
    return min(setting.constants.diameter, 2 * step_size * losses.lipschitz * setting.m)


def _phases(
    setting: Setting, rho: float, losses: Losses, pairs: list[tuple[int, float]]
) -> tuple[Phase, ...]:
    """Return consecutive phases with the given pairs of a number of users and a step size."""
    phases, start = [], 0
    for users, size in pairs:
        sensitivity = user_pull(setting, losses, size)
        phases.append(
            Phase(
                start=start,
                stop=start + users,
                step_size=size,
                sensitivity=sensitivity,
                noise_std=gaussian_noise_std(sensitivity, rho),
            )
        )
        start += users
    return tuple(phases)


@lru_cache(maxsize=4096)
def _practical_phases(setting: Setting, rho: float, losses: Losses) -> tuple[Phase, ...]:
    """Return the phases of the practical tuning, at which the sum of `phased_terms` is least."""
    phases = best_phases(
        setting.n,
        setting.m,
        1,
        lipschitz=losses.lipschitz,
        diameter=setting.constants.diameter,
        d=setting.d,
        largest_step=step_limit(setting.n, setting.m, setting.d, losses.smoothness),
        noise=lambda size, steps: gaussian_noise_std(user_pull(setting, losses, size), rho),
    )
    return _phases(setting, rho, losses, [(int(p.users), p.step_size) for p in phases])


def _theorem_phases(setting: Setting, rho: float, losses: Losses) -> tuple[Phase, ...]:
    """Return the phases of Theorem 4.4 (Feldman et al. 2020) by group privacy.

    Raises `NotApplicable` if there is only one user, or the first step size is too large.
    """
    n, m, d = setting.n, setting.m, setting.d
    if n < 2:
        raise NotApplicable("The first phase takes n/2 users, and there is only one.", n=2)
    unit = setting.constants.diameter / losses.lipschitz
    step = unit * min(4 / math.sqrt(n * m), math.sqrt(2 * rho / d) / (2 * m))
    limit = 2 * step_limit(n, m, d, losses.smoothness)
    if step / 4 > limit:
        fewest_users = math.ceil((unit / limit) ** 2 / m)
        raise NotApplicable(
            f"The theorem's step size is {step / 4:.3g}, above {limit:.3g}, beyond which steps may "
            "move points apart.",
            n=fewest_users,
            otherwise="tuning=practical",
        )
    count = math.ceil(math.log2(n))
    pairs = [(n >> i, step * 4.0**-i) for i in range(1, count + 1) if n >> i]
    return _phases(setting, rho, losses, pairs)
