r"""Adaptive clipping: a radius, and where the public bound is large a centre, chosen privately.

The steps of the algorithm (theory/adaptive-methods.md, 1.1). Each private step has a share of rho
that is fixed before a record is read, and the whole is rho-zCDP, with the rho that an (epsilon,
delta) budget allows; under pure DP the epsilons of step 4 and of step 7 add up to the budget.

1. A row that is not finite counts as the zero vector.
2. Where the bound B on the norm of the mean is wide, rounds of clipped averages find a centre c,
   and :math:`y_i = x_i - c`; otherwise c = 0.
3. The candidate radii are public numbers that fall from the largest one in constant ratio
   (`candidate_radii`). N(R) is the number of rows with :math:`\|y_i\| > R`; replacing a row changes
   it by at most 1.
4. The exponential mechanism on N chooses the *narrow* radius, beyond which about k rows lie; k is
   the *target*. In *single* mode this is the radius. In *guarded* mode a second choice, the *wide*
   radius, allows for a few rows far out that carry the mean: it has a smaller target. If `inner`
   holds, a third choice is the *inner* radius, beyond which a quarter of the rows lie. In *blind*
   mode, for too few records, no row is looked at and the radius is the largest candidate.
5. Where the wide radius is larger than the narrow one, the distance of the clipped means of both is
   released with Gaussian noise: its sensitivity is 2/n times the difference of the radii. If it is
   more than the noise of the wide radius would cost, the wide radius is used.
6. Where the inner radius is smaller than the narrow one, the distance of its clipped mean from that
   of the radius so far is released in the same way. If it is no more than noise explains, the
   inner radius is used.
7. The mean of the rows :math:`y_i`, clipped to the radius R that is left, is released with Gaussian
   (under pure DP spherical Laplace) noise for the sensitivity 2R/n, and c is added. If a test of
   step 5 or 6 is not needed, which follows from the radii already released, its budget is spent
   here.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.cards import OWN, MethodCard
from dpsco_core.data.rows import Rows
from dpsco_core.methods.average import MeanMethod, MeanPlan
from dpsco_core.methods.base import Calibration, MethodCost, Tuning
from dpsco_core.methods.mean.clipped import practical_radius
from dpsco_core.methods.mean.inner import inner_choice, tells_bias, try_inner_radius
from dpsco_core.methods.mean.ladder import (
    ENOUGH_SHARE,
    candidate_radii,
    expected_miss,
    radius_choice,
    try_wider_radius,
    wide_choice,
)
from dpsco_core.methods.mean.reading import Reading
from dpsco_core.methods.mean.rounds import (
    CENTRE_SHARES,
    CentreRounds,
    centre_allowed,
    centre_share,
    centred_setting,
    descend,
    plan_centre,
    worthwhile_candidate,
)
from dpsco_core.methods.mean.shares import (
    GUARDED_FROM,
    GUARDED_SHARE,
    INNER_SHARE,
    INNER_TEST_SHARE,
    Mode,
    look_share,
    look_shares,
    total_rho,
    usual_mode,
)
from dpsco_core.methods.records.base import check_level, into_ball, scaled_bound
from dpsco_core.methods.stage import SmallRun, Stage
from dpsco_core.methods.statistics import Statistic
from dpsco_core.privacy.budget import PureDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise, Mechanism, SphericalLaplaceNoise
from dpsco_core.privacy.selection import choice_epsilon
from dpsco_core.problems.base import Setting


@dataclass(frozen=True, kw_only=True)
class AdaptiveMean(Statistic):
    """The mean of rows clipped to a privately chosen radius, about a private centre."""

    records: int  # n, the number of records
    # How the radius is chosen; "blind" means from the setting alone, if there are too few records.
    mode: Mode
    top_radius: float  # the largest candidate radius
    mean_bound: float  # the radius of the ball on which the centre is projected
    epsilon: float  # the epsilon of each choice of a radius
    target: float  # k: the number of records that should be longer than the radius, approximately
    wide_target: float  # the target of the second choice in guarded mode, which is smaller
    capped: bool  # whether k was cut to n/2 because there are too few records
    release_rho: float = 0.0  # the budget of the release; 0 under pure DP
    test_rho: float = 0.0  # the budget of the test of two radii; 0 under pure DP
    release_epsilon: float = 0.0  # the epsilon of the release under pure DP; otherwise 0
    centre: CentreRounds | None = None  # the rounds that find a centre; None for the centre 0
    inner_epsilon: float = 0.0  # the epsilon of the choice of a smaller radius; 0 if there is none
    inner_rho: float = 0.0  # the rho of the test of the smaller radius; 0 if there is none

    label: ClassVar[str] = "mean of clipped records"

    @property
    def radii(self) -> Vector:
        """The candidate radii, in decreasing order."""
        return candidate_radii(self.top_radius, self.records)

    def estimate(
        self,
        rows: Rows,
        noise: Mechanism[Vector] | None,
        ledger: Ledger,
        rng: np.random.Generator,
    ) -> tuple[Vector, Mapping[str, float]]:
        """Run steps 2 to 7 of the algorithm; return the mean, shape (d,), and its diagnostics."""
        n, centre, reading = rows.n, None, Reading(rows)
        if self.centre is not None:  # This is step 2 of the algorithm.
            rounds = self.centre
            centre = descend(reading, rounds.radii, rounds.rhos, ledger, rng, label="centre")
            centre = into_ball(centre, self.mean_bound)
        radii = self.radii  # This is step 3 of the algorithm.
        small = narrow = wide = self.top_radius
        if self.mode != "blind":  # This is step 4 of the algorithm, up to the sums.
            counts = reading.counts(radii, centre)
            choice = radius_choice(radii, counts, self.target, self.epsilon)
            small = narrow = wide = float(radii[ledger.release(*choice, rng, label="radius")])
        if self.mode == "guarded":
            choice = wide_choice(radii, counts, self.wide_target, self.epsilon)
            place = ledger.release(*choice, rng, label="radius for few far records")
            wide = max(narrow, float(radii[place]))
        if self.inner_rho:
            choice = inner_choice(counts, n, self.inner_epsilon)
            place = ledger.release(*choice, rng, label="smaller radius")
            small = min(narrow, float(radii[place]))
        levels = tuple(sorted({small, narrow, wide}))
        averages = dict(zip(levels, reading.sums(levels, centre) / n, strict=True))
        radius, release_rho, expected = narrow, self.release_rho, self.target
        difference, fired, distance = 0.0, False, 0.0
        if wide > narrow:  # This is step 5 of the algorithm.
            difference, fired = try_wider_radius(
                np.stack([averages[narrow], averages[wide]]),
                (narrow, wide),
                n=n,
                rhos=(self.test_rho, self.release_rho),
                crowd=self.wide_target + (self.target - self.wide_target) / 3,
                ledger=ledger,
                rng=rng,
            )
            # The expected number of rows beyond the radius is chosen with the radius.
            radius, expected = (wide, self.wide_target) if fired else (narrow, self.target)
        else:
            # There are no two radii to test, so the release gets the budget of the test.
            release_rho += self.test_rho
        if small < narrow:  # This is step 6 of the algorithm.
            distance, is_enough = try_inner_radius(
                np.stack([averages[small], averages[radius]]),
                (small, radius),
                n=n,
                rhos=(self.inner_rho, self.release_rho),
                crowd=expected,
                ledger=ledger,
                rng=rng,
            )
            radius = small if is_enough else radius
        else:
            release_rho += self.inner_rho
        average = averages[radius]
        sensitivity = 2 * radius / n
        # This is step 7 of the algorithm.
        mechanism: GaussianNoise | SphericalLaplaceNoise
        if self.release_epsilon:
            mechanism = SphericalLaplaceNoise(
                l2_sensitivity=sensitivity, epsilon=self.release_epsilon
            )
            size = mechanism.noise_scale * math.sqrt(rows.d + 1)
        else:
            mechanism = GaussianNoise(l2_sensitivity=sensitivity, rho=release_rho)
            size = mechanism.noise_std
        value = ledger.release(mechanism, average, rng, label=self.label)
        return value if centre is None else centre + value, {
            # Diagnostics are released values and public numbers only: a count of norms is neither.
            "clip_radius": radius,
            "noise_std": size,
            "top_radius": self.top_radius,
            "narrow_radius": narrow,
            "wide_radius": wide,
            "guard_difference": difference,
            "guard_fired": float(fired),
            "inner_radius": small,
            "inner_difference": distance,
            "target_count": self.target,
            "target_capped": float(self.capped),
            "centre_norm": 0.0 if centre is None else float(np.linalg.norm(centre)),
        }


@dataclass(frozen=True, kw_only=True)
class AdaptiveClipping(MeanMethod):
    """Choose the clip radius by the exponential mechanism, then clip, average and add noise.

    See theory/adaptive-methods.md, 1.1 and 1.2.
    """

    # The largest candidate radius, in [1e-150, 1e150]; it must not depend on the data. If None it
    # is the radius of simple clipping (`dpsco_core.methods.mean.clipped`).
    radius: float | None = None
    # How the radius is chosen. If None it is "guarded" from 16 dimensions on, and "blind", which is
    # clipping at the largest radius, if there are too few records for a useful look at their norms.
    # Under a pure budget "guarded" means "single".
    mode: Mode | None = None
    # Whether the method looks for a smaller radius. If None it does so in guarded mode or with a
    # centre, where the noise of the test is so small that a bias shows; never under a pure budget.
    inner: bool | None = None
    # The accounting under an (epsilon, delta) budget: "tight" uses the rules for exponential
    # mechanisms with Gaussian noise; "paper" uses the conversion of Bun and Steinke (2016).
    calibration: Calibration = "tight"
    # ``"theory"``: single mode without a centre, with the radius whose error bound has the rate of
    # the class.
    tuning: Tuning = "practical"

    reads = "summed"
    cost = MethodCost(fixed=4e5, per_row=15, per_element=0.95)
    card = MethodCard(
        slug="mean.adaptive",
        name="Adaptive clipping",
        paper=OWN,
        statement="Choosing the clip radius privately, 1",
        summary="Looks at the lengths of the records, privately, to choose the radius that it "
        "clips them to, then averages and adds noise.",
        privacy="zcdp",
        pure_form=True,
        private_radius=True,
        rate="upper.mean.adaptive",
        infinite_variance="It counts norms, and reads no moment of them; no centre and no smaller "
        "radius are looked for there.",
        caveat="With too few records for a look it is simple clipping, about a centre where the "
        "bound on the mean is wide. From 16 dimensions on it "
        "runs in guarded mode, whose error no bound is proven for. Below, it errs up to 20 times "
        "as much as simple clipping where a few records, all far out in one direction, carry the "
        "mean.",
    )
    stage = Stage(
        records=128,  # This many records are enough for a look.
        small=SmallRun(fields={"mode": "single"}),
        others={
            "guarded": SmallRun(fields={"mode": "guarded"}),
            "inner": SmallRun(fields={"mode": "guarded", "inner": True}),
            "centre": SmallRun(scenario={"n": 128, "diameter": 1000.0}),
            "pure": SmallRun(scenario={"delta": 0.0}),
        },
    )
    clipped_values = "records"
    colour = "violet"
    symbol = "circle"

    def plan(self, setting: Setting) -> MeanPlan[AdaptiveMean, None]:
        """Return the plan of the statistic for a pure or for a Gaussian budget."""
        if isinstance(setting.budget, PureDP):
            statistic = self._pure_statistic(setting, setting.budget.epsilon)
        else:
            statistic = self._gaussian_statistic(setting)
        check_level("radius", statistic.top_radius)
        check_level("least radius", float(statistic.radii[-1]))
        for radius in () if statistic.centre is None else statistic.centre.radii:
            check_level("radius of a round", radius)
        bound = statistic.mean_bound
        return MeanPlan(setting=setting, statistic=statistic, noise=None, answer_radius=bound)

    def _gaussian_statistic(self, setting: Setting) -> AdaptiveMean:
        """Return the statistic with a centre and with looks, if there are enough records."""
        theory = self.tuning == "theory"
        mode = self.mode or ("single" if theory else usual_mode(setting))
        is_near = mode == "guarded"
        share = 0.0 if theory or mode == "blind" else centre_share(setting, is_near=is_near)
        statistic = self._looking_statistic(setting, mode, share)
        if self.mode is None and not theory and not finds_radius(statistic):
            return self._blind_statistic(setting)
        return statistic

    def _blind_statistic(self, setting: Setting) -> AdaptiveMean:
        """Return simple clipping, about a centre if that lowers the noise."""
        is_near = usual_mode(setting) == "guarded"
        shares = CENTRE_SHARES if centre_allowed(setting, is_near=is_near) else (0.0,)
        candidates = [self._looking_statistic(setting, "blind", share) for share in shares]
        return worthwhile_candidate(
            candidates, lambda mean: mean.top_radius / math.sqrt(mean.release_rho)
        )

    def _looking_statistic(self, setting: Setting, mode: Mode, centre: float) -> AdaptiveMean:
        """Return the statistic of a mode whose centre spends the share `centre` of rho."""
        n, d, guarded = setting.n, setting.d, mode == "guarded"
        # The target grows at this rate with the noise and with d.
        slope = 2.0 if guarded else 1.5
        inner = mode != "blind" and self.inner is not False
        if self.inner is None:
            allowed = self.tuning != "theory" and (guarded or centre > 0)
            inner = inner and allowed and tells_bias(setting, slope)
        choice_share, shares = look_share(mode, d), look_shares(mode, d, inner)
        rho = total_rho(setting, shares, centre > 0, self.calibration)
        middle = self._centre(setting, centre * rho)
        epsilon = choice_epsilon(choice_share * rho)
        noise = math.sqrt(2 / rho)
        # The best number of clipped rows grows like d where their bias is spread over all
        # directions, and like sqrt(d) where a few rows carry the mean in one
        # (theory/adaptive-methods.md, 1.1).
        target = slope * d * noise + 4 / epsilon
        wide_target = math.sqrt(d) * noise + 4 / epsilon if guarded else target
        # The test gets the share 1/d of rho, from GUARDED_SHARE to 1/16.
        test = min(1 / GUARDED_FROM, max(GUARDED_SHARE, 1 / d)) * rho if guarded else 0.0
        inner_test = INNER_TEST_SHARE * rho if inner else 0.0
        looks = sum(share for share, _ in shares) * rho
        return AdaptiveMean(
            records=n,
            mode=mode,
            top_radius=self._largest_radius(centred_setting(setting, middle), rho),
            mean_bound=setting.constants.mean_gradient_bound,
            epsilon=epsilon,
            target=min(target, n / 2),
            wide_target=min(wide_target, n / 2),
            capped=target > n / 2,
            release_rho=rho - (looks + test + inner_test + centre * rho),
            test_rho=test,
            centre=middle,
            inner_epsilon=choice_epsilon(INNER_SHARE * rho) if inner else 0.0,
            inner_rho=inner_test,
        )

    def _centre(self, setting: Setting, rho: float) -> CentreRounds | None:
        """Return the rounds that find a centre with this rho; None if it is 0."""
        if rho == 0:
            return None
        reach = setting.constants.mean_gradient_bound
        return plan_centre(setting.n, setting.d, reach, scaled_bound(setting)[0], rho)

    def _pure_statistic(self, setting: Setting, epsilon: float) -> AdaptiveMean:
        """Return the statistic under a pure budget: single mode, without a centre."""
        n, d = setting.n, setting.d
        look = min(0.15, max(0.05, 0.6 / d)) * epsilon
        aim = 3 * d * math.sqrt(d + 1) / epsilon + 4 / look
        statistic = AdaptiveMean(
            records=n,
            mode="single",
            # Gaussian noise of this rho is as large as the noise of the pure release.
            top_radius=self._largest_radius(setting, epsilon**2 / (2 * (d + 1))),
            mean_bound=setting.constants.mean_gradient_bound,
            epsilon=look,
            target=min(aim, n / 2),
            wide_target=min(aim, n / 2),
            capped=aim > n / 2,
            release_epsilon=epsilon - look,
        )
        if self.mode == "blind" or (self.mode is None and not finds_radius(statistic)):
            return replace(statistic, mode="blind", release_epsilon=epsilon)
        return statistic

    def _largest_radius(self, setting: Setting, rho: float) -> float:
        r"""Return the largest candidate radius.

        In the tuning ``"theory"`` it is :math:`m_p(n/\sqrt{2d/\rho})^{1/p}` with
        :math:`m_p = d^{1/\min(2,p)} + B`, in units of the scale of a coordinate, at which the error
        bound of single mode has the rate of the class (theory/adaptive-methods.md, 1.3).
        """
        if self.radius is not None:
            return float(self.radius)
        if self.tuning != "theory":
            return practical_radius(setting, rho)
        scale, bound = scaled_bound(setting)
        ratio = setting.n / math.sqrt(2 * setting.d / rho)
        reach = scale * (math.pow(setting.d, 1 / min(2.0, setting.moment_order)) + bound)
        return reach * math.pow(ratio, 1 / setting.moment_order)


def finds_radius(mean: AdaptiveMean) -> bool:
    """Return whether there are enough records to choose a radius from a private look at the norms.

    It is so if the error bound of the choice expects at most the share `ENOUGH_SHARE` of the
    records beyond the chosen radius. In guarded mode the bound of the second choice counts
    (theory/adaptive-methods.md, 1.3).
    """
    missed = 2 * mean.target + expected_miss(mean.records, mean.epsilon)
    if mean.mode == "guarded":
        missed = 4 / 3 * mean.wide_target + 2 / mean.epsilon * (math.log(len(mean.radii)) + 3)
    return missed <= ENOUGH_SHARE * mean.records
