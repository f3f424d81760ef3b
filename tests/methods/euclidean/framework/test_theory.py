"""Parameters of the theorems: reference values, identities, and refusals that suggest a change.

Sources: theory/zhao-et-al.md, 2.3, 3.2 and 7, and theory/kamath-liu-zhang.md, 2.4, 3.3 to 3.5 and
7.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.data import Gaussian
from dpsco_core.methods.euclidean import (
    ClippedDescent,
    CoordinatewiseDescent,
    IterativeDescent,
    SmoothedDescent,
    StrongCoordinatewiseDescent,
    clipped,
    cwme,
    cwme_strong,
    smoothed,
)
from dpsco_core.methods.euclidean.tuning import practical_descent
from dpsco_core.methods.records.smooth_clip import smoothed_supremum
from dpsco_core.methods.tune import MOST_STEPS, whole_steps
from dpsco_core.privacy import ZCDP, ApproxDP, Budget
from dpsco_core.problems.base import Constants, Setting
from tests.folded import each
from tests.methods.euclidean.framework.helpers import (
    APPROXIMATE,
    CONCENTRATED,
    FAMILIES,
    PURE,
    linear_problem,
    logistic_problem,
    quadratic_problem,
    step_noise,
)

# This is the rho of equation (15) of Zhao et al. at epsilon = 1 and delta = 1e-6.
RHO_15 = 0.0140588188106


def make_setting(
    n: int = 10_000,
    d: int = 10,
    order: float = 3.0,
    budget: Budget = CONCENTRATED,
    **constants: Any,
) -> Setting:
    """Return a setting with unit constants, unless overridden."""
    unit = {
        "coordinate_moment": 1.0,
        "directional_moment": 1.0,
        "variance_trace": float(d),
        "mean_gradient_bound": 1.0,
        "diameter": 1.0,
        "smoothness": 1.0,
        "minimum_interior": True,
    }
    certified = Constants(**(unit | constants))  # type: ignore[arg-type]
    return Setting(n=n, d=d, moment_order=order, budget=budget, constants=certified)


def test_both_branches_of_the_radius_and_the_steps_have_the_reference_values() -> None:
    setting = make_setting(budget=APPROXIMATE)
    plan = ClippedDescent(calibration="paper", tuning="theory").plan(setting)
    assert plan.rho == pytest.approx(RHO_15, rel=1e-9)
    assert plan.statistic.radius == pytest.approx(22.802972962, rel=1e-9)
    assert clipped.theorem_radius(setting, 1.0, "paper") == pytest.approx(31.6227766017, rel=1e-11)
    energy = plan.rho * setting.n**2 / (setting.d * plan.statistic.radius**2)
    assert energy == pytest.approx(270.3745995, rel=1e-9)
    assert plan.descent.steps == 270
    assert plan.descent.step_size == pytest.approx(1 / math.sqrt(2 * 270), rel=1e-14)
    assert plan.descent.queried


@pytest.mark.parametrize("order", [2.0, 3.0, 7.5])
@pytest.mark.parametrize("d", [1, 10, 40])
def test_the_branches_meet_at_rho_one_over_d_and_the_steps_identity_holds(
    order: float, d: int
) -> None:
    setting = make_setting(d=d, order=order)
    common_radius = clipped.theorem_radius(setting, 1 / d, "paper")
    assert common_radius == pytest.approx(math.sqrt(d) * (setting.n / d) ** (1 / order), rel=1e-13)
    assert clipped.theorem_radius(setting, 100 / d, "paper") == pytest.approx(
        common_radius, rel=1e-13
    )
    rho = 0.3 / d
    radius = clipped.theorem_radius(setting, rho, "paper")
    assert radius < common_radius
    steps = rho * setting.n**2 / (d * radius**2)
    signal = setting.n * math.sqrt(rho / d)
    assert steps == pytest.approx(signal ** (2 - 2 / order) / d, rel=1e-12)
    # This is the balance of noise and bias in equation (7.9).
    error = math.sqrt(d) * signal ** -(1 - 1 / order)
    assert radius * math.sqrt(d / rho) / setting.n == pytest.approx(error, rel=1e-12)
    assert d ** (order / 2) * radius ** (1 - order) == pytest.approx(error, rel=1e-12)


def test_a_printed_step_has_noise_energy_2_and_a_consistent_one_twice_g_squared() -> None:
    for setting in (make_setting(budget=APPROXIMATE), make_setting(n=3000, d=4, order=2.0)):
        for calibration in ("paper", "tight"):
            method = ClippedDescent(calibration=calibration, tuning="theory")
            plan = method.plan(setting)
            real = plan.rho * setting.n**2 / (setting.d * plan.statistic.radius**2)
            energy = setting.d * step_noise(method, setting) ** 2
            assert energy == pytest.approx(2 * plan.descent.steps / real, rel=1e-12)
            assert 1 < energy <= 2


@pytest.mark.parametrize("moment", [0.5, 2.0, 30.0])
@pytest.mark.parametrize("diameter", [0.1, 4.0])
@pytest.mark.parametrize("smoothness", [0.2, 3.0])
def test_in_consistent_units_optimisation_and_noise_errors_are_equal(
    moment: float, diameter: float, smoothness: float
) -> None:
    setting = make_setting(
        n=50_000,
        directional_moment=moment,
        diameter=diameter,
        smoothness=smoothness,
    )
    method = ClippedDescent(tuning="theory")
    plan = method.plan(setting)
    steps, size = plan.descent.steps, plan.descent.step_size
    gradient = min(moment, smoothness * diameter)
    if steps < 50:  # Rounding the number of steps down would be visible here.
        return
    optimisation = diameter**2 / (2 * size * steps) + size * gradient**2
    noise = size * setting.d * step_noise(method, setting) ** 2
    assert optimisation == pytest.approx(math.sqrt(2 / steps) * gradient * diameter, rel=1e-12)
    assert noise == pytest.approx(optimisation, rel=1.1 / steps)


def test_the_radius_scales_with_the_moment_and_the_steps_do_not_depend_on_units() -> None:
    plan, scaled_plan = (
        ClippedDescent(tuning="theory").plan(
            make_setting(directional_moment=a, mean_gradient_bound=a, smoothness=a, diameter=2.0)
        )
        for a in (1.0, 50.0)
    )
    assert scaled_plan.statistic.radius == pytest.approx(50 * plan.statistic.radius, rel=1e-14)
    assert scaled_plan.descent.steps == plan.descent.steps
    assert scaled_plan.descent.step_size == pytest.approx(plan.descent.step_size / 50, rel=1e-12)


def test_printed_iterative_parameters_have_the_reference_values() -> None:
    setting = make_setting(budget=APPROXIMATE)
    plan = IterativeDescent(calibration="paper", tuning="theory", groups=5).plan(setting)
    assert plan.statistic.radius == pytest.approx(46.41588834, rel=1e-9)
    assert plan.descent.steps == math.floor(4641.588834)
    assert plan.descent.step_size == pytest.approx(1 / math.sqrt(2 * 4641), rel=1e-14)
    assert plan.rho == pytest.approx(RHO_15, rel=1e-9), "what is spent is private all the same"


def test_tight_iterative_parameters_have_consistent_units() -> None:
    plans = [
        IterativeDescent(tuning="theory", groups=5).plan(
            make_setting(directional_moment=a, smoothness=2 * a, diameter=b)
        )
        for a, b in ((1.0, 1.0), (20.0, 1.0), (1.0, 3.0))
    ]
    assert plans[1].statistic.radius == pytest.approx(20 * plans[0].statistic.radius, rel=1e-14)
    assert [p.descent.steps for p in plans] == [plans[0].descent.steps] * 3
    sizes = [p.descent.step_size for p in plans]
    assert sizes[1:] == pytest.approx([sizes[0] / 20, 3 * sizes[0]], rel=1e-12)


def test_the_union_bound_over_the_parameters_needs_more_groups_than_records() -> None:
    """The number of groups is the 1.2 * 10^5 of theory/zhao-et-al.md, 2.5."""
    setting = make_setting(n=100_000, diameter=2.0)
    with pytest.raises(NotApplicable, match="^121,615 groups need") as refusal:
        IterativeDescent(tuning="theory").plan(setting)
    assert refusal.value.changes == (("tuning", "practical"),)
    expected = 800 * (10 * math.log(1 + 4e5) + 2 * math.log(1e5))
    assert f"{math.ceil(expected):,}" in refusal.value.reason
    assert expected == pytest.approx(1.2e5, rel=0.02)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("diameter", [0.5, 4.0])
def test_the_number_of_blocks_is_given_by_the_covering_argument(d: int, diameter: float) -> None:
    setting = make_setting(n=50_000, d=d, diameter=diameter)
    covering = 8 * d * math.log(3 * diameter / 50_000**-3)
    assert cwme.covering_blocks(setting, "paper") == math.ceil(covering)
    tight = cwme.covering_blocks(setting, "tight")
    assert tight % 2 == 0, "an even number halves the sensitivity"
    assert 0 <= tight - (4 * math.log(2 * d) + covering) < 2


def test_the_literal_number_of_steps_is_the_one_in_the_note_and_too_large_to_run() -> None:
    setting = make_setting(n=10**6, d=5, order=4.0, budget=ZCDP(rho=1.0))
    tau = cwme.theorem_threshold(setting, 1.0, "paper")
    assert tau == pytest.approx((10**6 / 5**1.5) ** 0.25, rel=1e-12)
    literal = 1e12 / (tau**2 * 5**4)
    assert literal == pytest.approx(5.35e6, rel=2e-3)
    blocks = cwme.covering_blocks(setting, "paper")
    energy = 72 * tau**2 * blocks**2 * 25 * literal / 1e12
    assert energy == pytest.approx(8.4e6, rel=0.01), "far above the R^2 = 1 that the rule means"
    with pytest.raises(NotApplicable, match="number of steps is 5,349,9") as refusal:
        CoordinatewiseDescent(calibration="paper", tuning="theory").plan(setting)
    assert refusal.value.changes == (("tuning", "practical"),)


def test_literal_steps_and_threshold_have_reference_values_where_they_can_run() -> None:
    setting = make_setting(n=20_000, d=3, order=2.0, diameter=0.25, mean_gradient_bound=0.5)
    method = CoordinatewiseDescent(calibration="paper", tuning="theory", blocks=6)
    plan = method.plan(setting)
    tau = math.sqrt(math.sqrt(0.5) * 20_000 / (0.25 * 3**1.5))
    assert plan.statistic.threshold == pytest.approx(tau, rel=1e-13)
    steps = math.floor(0.25 * 0.5 * 20_000**2 / (tau**2 * 3**4))
    assert plan.descent.steps == steps
    assert plan.descent.step_size == pytest.approx(0.25 / (0.5 * math.sqrt(steps)), rel=1e-13)


@pytest.mark.parametrize(
    ("family", "n", "bounds"),
    [(CoordinatewiseDescent, 400_000, (1.0, 20.0)), (SmoothedDescent, 100_000, (0.1, 1.0))],
)
def test_the_repaired_number_of_steps_equates_noise_and_gradient_energy(
    family: Any, n: int, bounds: tuple[float, ...]
) -> None:
    for bound in bounds:
        setting = make_setting(n=n, d=2, mean_gradient_bound=bound)
        method = family(tuning="theory")
        plan = method.plan(setting)
        energy = setting.d * step_noise(method, setting) ** 2
        assert energy * (1 + 1 / plan.descent.steps) > bound**2 * (1 - 1e-12)
        assert energy <= bound**2 * (1 + 1e-12)
        size = setting.constants.diameter / (bound * math.sqrt(plan.descent.steps))
        assert plan.descent.step_size == pytest.approx(size, rel=1e-13)
        assert plan.descent.queried


@pytest.mark.parametrize("rho", [1e-3, 0.5, 20.0])
@pytest.mark.parametrize("d", [1, 7, 100])
def test_tau_minimises_the_theorems_own_terms(d: int, rho: float) -> None:
    setting = make_setting(d=d, order=2.0)

    def terms(log_tau: float) -> float:
        """Return the sum of the theorem's terms at tau = exp(log_tau)."""
        tau, n = math.exp(log_tau), setting.n
        return d**1.5 * tau / n + math.sqrt(d) / tau + tau * d / (math.sqrt(rho) * n)

    minimum = minimize_scalar(terms, bounds=(-5, 15), method="bounded", options={"xatol": 1e-9})
    tau = smoothed.theorem_tau(setting, rho, "tight")
    assert tau == pytest.approx(math.exp(minimum.x), rel=1e-4)
    value = 2 * math.sqrt(d**2 / setting.n + d**1.5 / (math.sqrt(rho) * setting.n))
    assert terms(math.log(tau)) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("rho", [1e-9, 1e-3, 0.5, 20.0, 1e9])
def test_the_printed_tau_belongs_to_the_q_that_minimises_the_stated_bound(rho: float) -> None:
    d, n = 30, 10_000
    stated = [
        (d ** ((3 - q) / 2) + d ** ((1 + q) / 2) * rho**-0.25, q) for q in np.linspace(0.5, 2, 3001)
    ]
    best = min(stated)[1]
    tau = smoothed.theorem_tau(make_setting(n=n, d=d, diameter=2.0), rho, "paper")
    assert tau == pytest.approx(math.sqrt(math.sqrt(rho) * n / (2.0 * d**best)), rel=2e-3)


def test_printed_steps_are_literal_and_the_exact_noise_allows_more() -> None:
    setting = make_setting(n=150_000, d=3, mean_gradient_bound=0.3)
    tau = 50.0
    printed = SmoothedDescent(tau=tau, calibration="paper", tuning="theory")
    literal = 0.3**2 * 0.5 * 150_000**2 / (tau**2 * 9)
    assert printed.plan(setting).descent.steps == math.floor(literal * (1 + 1e-12))
    exact = replace(printed, calibration="tight").plan(setting).descent.steps
    assert exact == math.floor(literal / (2 * smoothed_supremum(1.0) ** 2))
    assert literal / exact == pytest.approx(0.82856, rel=1e-4)


def strongly_convex_setting(n: int = 10**6, d: int = 4, **constants: Any) -> Setting:
    """Return the setting of a strongly convex problem with condition number 1."""
    return make_setting(n=n, d=d, **({"strong_convexity": 1.0, "smoothness": 1.0} | constants))


@pytest.mark.parametrize(("lower", "upper"), [(1.0, 1.0), (0.5, 2.0), (0.2, 3.0)])
@pytest.mark.parametrize("calibration", ["tight", "paper"])
def test_strong_parameters_are_those_of_the_theorem(
    lower: float, upper: float, calibration: Any
) -> None:
    diameter, n, d, rho, order = 4.0, 10**6, 4, 0.5, 3.0
    setting = strongly_convex_setting(strong_convexity=lower, smoothness=upper, diameter=diameter)
    plan = StrongCoordinatewiseDescent(calibration=calibration, tuning="theory").plan(setting)
    steps, curvature_sum = plan.descent.steps, lower + upper
    q = (lower**2 + upper**2 + lower * upper) / curvature_sum**2
    assert 0.75 - 1e-15 <= q < 1
    a = 1 - 1 / order
    error = math.sqrt(d / n) + math.sqrt(d) * (math.sqrt(d) / (math.sqrt(rho) * n)) ** a
    goal = curvature_sum * error / (lower * upper)
    if calibration == "tight":
        goal /= diameter  # The length q^T times the diameter must equal this goal.
    assert q**steps <= goal < q ** (steps - 1)
    assert plan.descent.step_size == pytest.approx(1 / curvature_sum, rel=1e-15)
    assert (plan.descent.averaged, plan.descent.queried) == (1, False)
    power = 1.5 if calibration == "paper" else 1.0
    tau = (math.sqrt(rho) * n / (math.sqrt(d) * steps**power)) ** (1 / order)
    assert plan.statistic.threshold == pytest.approx(max(10.0, tau), rel=1e-13)
    beta = steps * d / n + d * (math.sqrt(d) * steps**1.5 / (math.sqrt(rho) * n)) ** (2 * a)
    beta /= (1 + 3 * plan.statistic.threshold * math.sqrt(d)) ** 2
    blocks = 4 * math.log(2 * d / beta)
    assert plan.statistic.blocks % 2 == 0
    assert 0 <= plan.statistic.blocks - blocks < 2
    assert plan.rho_step == (rho if calibration == "tight" else rho / steps)


def test_a_vacuous_theorem_plans_one_step() -> None:
    setting = strongly_convex_setting(n=500, d=40)
    assert cwme_strong.theorem_steps(setting, 1e-4, "tight") == 1


@pytest.mark.parametrize("rho", [1e-3, 0.5])
def test_practical_strong_steps_fit_the_records_and_grow_with_them(rho: float) -> None:
    steps = [
        cwme_strong.practical_blocks(
            strongly_convex_setting(n=n, budget=ZCDP(rho=rho), diameter=4.0), rho
        ).steps
        for n in (1, 5, 1000, 10**5, 10**7)
    ]
    assert steps[0] == 1
    assert steps[1] <= 5
    assert steps == sorted(steps)
    assert steps[-1] > 1


def refusal_of(method: Any, setting: Setting) -> NotApplicable | None:
    """Return the method's refusal of a setting, or None if it makes a plan."""
    try:
        method.plan(setting)
    except NotApplicable as refusal:
        return refusal
    return None


def check_suggested_changes(
    method: Any, problem: Any, n: int, budget: Budget, refusals: int
) -> None:
    """Assert that the changes which refusals suggest lead to a plan after at most `refusals` of
    them.
    """
    refusal = refusal_of(method, problem.setting(n, budget))
    if refusal is None:
        return
    assert refusals > 0, f"still refused: {refusal}"
    assert refusal.changes, "a refusal offers what would help"
    assert refusal.reason.endswith(".")
    assert refusal.reason[0].isupper() or refusal.reason[0].isdigit()
    assert refusal.nearest
    for name, value in refusal.changes:
        match name:
            case "tuning":
                method = replace(method, tuning=value)
            case "delta":
                budget = ApproxDP(epsilon=1.0, delta=value)
            case "problem":
                assert value == "quadratic"
                problem = quadratic_problem(problem.constraint.d)
            case "distribution":
                assert value == "gaussian"
                law = Gaussian(d=problem.constraint.d, moment_order=3.0, offset=0.5)
                problem = replace(problem, distribution=law)
            case "offset":
                law = replace(problem.distribution, offset=value)
                problem = replace(problem, distribution=law)
            case _:
                raise AssertionError(f"no field {name}")
    check_suggested_changes(method, problem, n, budget, refusals - 1)


CENTRED = replace(linear_problem(), distribution=replace(linear_problem().distribution, offset=0.0))
REFUSED = [
    *(
        (family(calibration=c, tuning=t), quadratic_problem(), 300, PURE)
        for family in FAMILIES
        for c, t in (("tight", "practical"), ("paper", "theory"))
    ),
    (StrongCoordinatewiseDescent(), logistic_problem(), 300, CONCENTRATED),
    (StrongCoordinatewiseDescent(tuning="theory"), linear_problem(), 300, CONCENTRATED),
    (CoordinatewiseDescent(tuning="theory"), quadratic_problem(), 300, CONCENTRATED),
    (StrongCoordinatewiseDescent(tuning="theory"), quadratic_problem(), 20, CONCENTRATED),
    (IterativeDescent(tuning="theory"), quadratic_problem(), 10_000, CONCENTRATED),
    (ClippedDescent(tuning="theory", calibration="paper"), linear_problem(), 300, CONCENTRATED),
    (ClippedDescent(tuning="theory"), quadratic_problem(), 10**9, ZCDP(rho=1e5)),
    (CoordinatewiseDescent(), CENTRED, 300, CONCENTRATED),
    (ClippedDescent(), CENTRED, 300, CONCENTRATED),
]


@pytest.mark.parametrize(
    ("method", "problem", "n", "budget"),
    REFUSED,
    ids=lambda value: str(value) if isinstance(value, int | Budget) else type(value).__name__,
)
def test_a_refusal_names_a_change_that_works(
    method: Any, problem: Any, n: int, budget: Budget
) -> None:
    with pytest.raises(NotApplicable):
        method.plan(problem.setting(n, budget))
    check_suggested_changes(method, problem, n, budget, refusals=2)


@each("family", FAMILIES)
@each(
    "missing",
    [
        {"coordinate_moment": math.inf},
        {"directional_moment": math.inf},
        {"mean_gradient_bound": math.inf},
        {"diameter": math.inf},
        {"smoothness": math.inf},
        {"variance_trace": math.inf},
        {"strong_convexity": 0.0},
        {"mean_gradient_bound": 0.0, "smoothness": 0.0, "strong_convexity": 0.0},
    ],
    ids=str,
)
@each("tuning", ["practical", "theory"])
@each("calibration", ["tight", "paper"])
def test_a_constant_that_is_not_certified_is_refused_in_a_sentence_or_not_needed(
    family: Any, missing: dict[str, float], tuning: Any, calibration: Any
) -> None:
    """Planning never overflows, divides by 0, or returns a parameter that is not a number."""
    groups = {"groups": 5} if family is IterativeDescent else {}
    method = family(tuning=tuning, calibration=calibration, **groups)
    setting = strongly_convex_setting(n=5000, d=2, **missing)
    refusal = refusal_of(method, setting)
    if refusal is not None:
        assert refusal.changes
        return
    plan = method.plan(setting)
    for value in (*plan.diagnostics.values(), plan.rho_step, plan.descent.step_size):
        assert 0 < value < math.inf


def test_a_linear_loss_whose_gradient_vanishes_has_theory_parameters() -> None:
    """Smoothness times diameter is 0 there, and was once a divisor."""
    plan = ClippedDescent(tuning="theory").plan(CENTRED.setting(300, CONCENTRATED))
    assert 0 < plan.descent.step_size < math.inf


@pytest.mark.parametrize("steps", [0.3, 1.0, 17.9, float(MOST_STEPS)])
def test_a_real_number_of_steps_is_rounded_down_to_at_least_one(steps: float) -> None:
    assert whole_steps(steps) == max(1, int(steps))


@pytest.mark.parametrize("steps", [MOST_STEPS + 1.0, 1e300, math.inf, math.nan])
def test_steps_that_cannot_run_are_refused(steps: float) -> None:
    with pytest.raises(NotApplicable, match="at most 100,000 can run"):
        whole_steps(steps)


def test_a_clip_level_beyond_doubles_is_refused_before_any_record_is_seen() -> None:
    setting = make_setting()
    for level in (0.0, -1.0, 1e-151, 1e151, math.nan):
        for method in (
            ClippedDescent(radius=level),
            CoordinatewiseDescent(threshold=level),
            SmoothedDescent(tau=level),
            IterativeDescent(radius=level),
            StrongCoordinatewiseDescent(threshold=level),
        ):
            with pytest.raises(InvalidInput, match="must be between 1e-150 and 1e\\+150"):
                method.plan(
                    strongly_convex_setting()
                    if isinstance(method, StrongCoordinatewiseDescent)
                    else setting
                )


def test_the_methods_use_the_practical_descent() -> None:
    setting = make_setting(d=4)
    plan = ClippedDescent(radius=2.0).plan(setting)
    energy = 4 * (4.0 / setting.n) ** 2 / (2 * 0.5)
    assert plan.descent in (
        practical_descent(setting, energy),
        practical_descent(setting, energy, 2.0),
    )
