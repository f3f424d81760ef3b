"""User level: the values of theory/lowy-liu-asi.md, 6, requirements, and what refuses."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.methods.user.calibrated import (
    GROUPS_HALT,
    UNIT_FILTER,
    USERS_HALT,
    calibrated_sgd,
    full_batch,
    full_batch_users,
    halving_users,
    one_chain,
    phase_tuning,
    plain_sensitivity,
)
from dpsco_core.methods.user.level import (
    UserLevel,
    gaussian_multiplier,
    gradient_spread,
    iterate_spread,
    printed_multiplier,
    uniform_gradient_spread,
)
from dpsco_core.methods.user.printed_schedules import (
    batch_ratio,
    erm_condition,
    erm_steps,
    fills_groups,
    laplace_tail,
    least_users,
    phase_count,
    phase_users,
    printed_batch,
    printed_decay,
    printed_erm,
    printed_groups,
    printed_noise,
    printed_radius,
    printed_regulariser,
    printed_sgd,
    printed_step,
    smoothed_smoothness,
    smoothing_radius,
    users_condition,
)
from dpsco_core.privacy.budget import gaussian_delta
from dpsco_core.privacy.filter.plan import (
    Tuning,
    least_phase_count,
    phase_plan,
    recommended_count,
    single_test_plan,
)
from dpsco_core.privacy.filter.sensitivity import changed_members
from tests.folded import each
from tests.methods.user.requirements_oracle import (
    PRINTED_FILTER,
    erm_noise_room,
    erm_requirements,
    failing,
    filter_pays_from,
    linear_time_pays_from,
    printed_filter_pays_from,
    sgd_delta,
    sgd_noise_room,
    sgd_requirements,
    subsampled_noise_room,
    supports_delta,
    users_needed,
)

GOLDEN = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=1e-9, smoothness=1.0)


def rounds_to(value, digits=6):
    """Return an object that equals every number which rounds to a value at the given number of
    digits.
    """
    return pytest.approx(value, rel=0.6 * 10.0 ** (1 - digits))


def test_algorithm_1_has_the_reference_schedule():
    schedule = printed_sgd(GOLDEN, 0.1)
    assert (len(schedule.phases), printed_decay(GOLDEN)) == (19, rounds_to(1.83333))
    assert schedule.groups == rounds_to(4313.968, 7)
    assert printed_step(GOLDEN) == rounds_to(3.162278e-5, 7)
    first_phase, second_phase, last_phase = (
        schedule.phases[0],
        schedule.phases[1],
        schedule.phases[18],
    )
    assert first_phase.users == rounds_to(62482.4)
    assert first_phase.step_size == rounds_to(8.87384e-6)
    assert (first_phase.group_users, first_phase.steps) == (rounds_to(14.4837), rounds_to(1448.37))
    assert (first_phase.score_radius, first_phase.noise_std) == (
        rounds_to(6.99859),
        rounds_to(193.53, 5),
    )
    assert (second_phase.users, second_phase.score_radius) == (
        rounds_to(58298.2),
        rounds_to(1.89701),
    )
    assert second_phase.noise_std == rounds_to(52.4575)
    assert (last_phase.users, last_phase.group_users) == (rounds_to(17943.4), rounds_to(4.15936))
    assert last_phase.noise_std == rounds_to(1.20734e-8)
    assert schedule.users == rounds_to(683032.99, 8)
    assert laplace_tail(GOLDEN) == rounds_to(3.2343e-13, 5)
    assert users_condition(GOLDEN, 0.1) == (rounds_to(251188.6, 7), rounds_to(51575.8))


def test_algorithm_3_has_the_reference_schedule():
    schedule = printed_erm(GOLDEN, 0.1)
    assert printed_regulariser(GOLDEN) == rounds_to(1.00316e-4)
    assert schedule.tau == rounds_to(2.07233)
    assert erm_condition(GOLDEN, 0.1) == (rounds_to(251188.6, 7), rounds_to(67857.7))
    first_phase, second_phase = schedule.phases[:2]
    assert first_phase.regulariser == rounds_to(7.842e-4, 4)
    assert (first_phase.steps, first_phase.batch) == (761, rounds_to(1.32163e7))
    assert first_phase.noise_std == rounds_to(34.6226)
    assert second_phase.regulariser / first_phase.regulariser == rounds_to(2**2.96667)
    assert (second_phase.regulariser, second_phase.steps) == (rounds_to(6.13031e-3), 286)
    assert (second_phase.batch, second_phase.noise_std) == (
        rounds_to(2.00484e7),
        rounds_to(22.7485),
    )


@pytest.mark.parametrize("q", [0.05, 0.1, 1.0, 2.0])
@pytest.mark.parametrize("n", [2, 1000, 1024, 10**6])
def test_the_users_of_all_phases_add_up_and_the_last_has_enough(n, q):
    phases = phase_count(n)
    counts = [phase_users(n, i, q) for i in range(1, phases + 1)]
    total = math.fsum(counts)
    assert total == pytest.approx(n * 2**-q * (1 - 2 ** (-q * phases)))
    assert total < n
    assert 2 ** (phases * q) <= n**q * (1 + 1e-12)
    assert counts[-1] >= (1 - 2**-q) * n ** (1 - q) * (1 - 1e-12)


def test_the_gradients_are_counted_exactly():
    real = printed_sgd(GOLDEN, 0.1)
    assert real.gradients == pytest.approx(100 * math.fsum(p.users for p in real.phases))
    assert all(p.steps == 100 * p.group_users for p in real.phases)
    for schedule in (calibrated_sgd(GOLDEN), one_chain(GOLDEN)):
        steps = sum(schedule.groups * p.steps for p in schedule.phases)
        assert schedule.gradients == steps <= GOLDEN.total
    erm = full_batch(GOLDEN)
    assert erm.gradients == 100 * sum(p.steps * p.batch for p in erm.phases)


def test_the_step_is_within_the_smoothness_just_where_the_theorem_says():
    case = UserLevel(n=1000, m=7, d=3, epsilon=0.5, delta=1e-6, lipschitz=2.0, diameter=3.0)
    largest = case.lipschitz / case.diameter * math.sqrt(case.d * case.total * case.epsilon)
    assert 1 / printed_step(case) == pytest.approx(largest)
    for factor in (0.99, 1.01):
        needs = sgd_requirements(replace(case, smoothness=factor * largest), 0.1)
        assert next(r for r in needs if r.name == "beta").holds == (factor < 1)


def test_the_first_noise_has_its_closed_form_and_depends_on_logarithms_only():
    case = UserLevel(n=2 * 10**5, m=1, d=10, epsilon=1.0, delta=1e-6, lipschitz=3.0, diameter=0.5)
    noise = printed_sgd(case, 0.08).phases[0].noise_std
    assert math.sqrt(10) * noise / case.diameter == pytest.approx(477, abs=0.5)
    for k in (2, 50):
        wide = printed_sgd(replace(case, d=10 * k), 0.08).phases[0].noise_std
        assert math.sqrt(k) * wide / noise == pytest.approx(1 + math.log(k) / case.log_size)


def test_constants_of_the_printed_tests_add_up():
    assert PRINTED_FILTER.upper == pytest.approx(4 / 5 - 2 / 15)
    # The score of Algorithm 2 is at least 0.7 K, which is above b K.
    assert PRINTED_FILTER.upper < 4 / 5 - 1 / 20 - 1 / 20 == pytest.approx(0.7)
    # The scales 8/epsilon and 16/epsilon are those of Mode A at half of epsilon.
    half = Tuning(test_share=0.5)
    test = phase_plan(10**5, 10, 1.0, 1e-6, keep=UNIT_FILTER, tuning=half).release.test
    assert (test.threshold_scale, test.score_scale) == pytest.approx((8.0, 16.0))
    # The scale 20/epsilon is that of a tenth of epsilon at sensitivity 2.
    tenth = Tuning(test_share=0.1)
    single = single_test_plan(10**5, 1.0, 1e-6, keep=UNIT_FILTER, tuning=tenth).release.test
    assert single.score_scale == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("n", "m", "ratio", "noise"),
    [(10**4, 100, 385, 2.7e4), (10**6, 100, 212, 5e3), (10**8, 10**4, 72, None)],
)
def test_the_printed_batch_is_larger_than_the_phase_and_the_noise_than_the_set(n, m, ratio, noise):
    case = UserLevel(n=n, m=m, d=10, epsilon=1.0, delta=1 / (10 * n * m), smoothness=1.0)
    assert batch_ratio(case, 0.1, 1) == pytest.approx(ratio, abs=0.5)
    first_phase = printed_erm(case, 0.1).phases[0]
    error = (
        math.sqrt(10)
        * first_phase.noise_std
        / (first_phase.regulariser * math.sqrt(first_phase.steps))
    )
    assert noise is None or error == pytest.approx(noise, rel=0.03)
    # The last phase has only a few steps, and no number of users mends that.
    assert batch_ratio(case, 0.1, phase_count(n)) > 500
    needs = {r.name: r for r in erm_requirements(case, 0.1)}
    assert not needs["K"].holds and math.isinf(needs["K"].users)


def test_the_formulas_are_monotone():
    def grows(value, name, factor=2):
        """Return whether a function's value grows when a field of the golden case is multiplied by
        a factor.
        """
        changed = replace(
            GOLDEN, **{name: type(getattr(GOLDEN, name))(getattr(GOLDEN, name) * factor)}
        )
        return value(changed) > value(GOLDEN)

    assert grows(printed_groups, "n") and grows(printed_groups, "delta", 0.5)
    assert not grows(printed_groups, "epsilon")
    noise = partial(printed_noise, tau=1.0, users=1000.0, steps=10.0)
    assert grows(noise, "d") and grows(noise, "delta", 0.5) and not grows(noise, "epsilon")
    assert printed_noise(GOLDEN, 1.0, 1000.0, 40.0) == pytest.approx(2 * noise(replace(GOLDEN)))
    assert not grows(printed_regulariser, "n") and not grows(printed_regulariser, "m")
    assert grows(lambda case: erm_steps(case, 0.01), "smoothness", 4)
    assert erm_steps(GOLDEN, 0.01) > erm_steps(GOLDEN, 0.1)
    short_batch, long_batch = (printed_batch(GOLDEN, 1e5, t) for t in (10, 1000))
    assert long_batch < short_batch < printed_batch(GOLDEN, 2e5, 10)


def test_the_smoothed_schedule_has_its_reference_values():
    case = UserLevel(n=4000, m=100, d=9, epsilon=0.5, delta=1e-7, lipschitz=2.0, diameter=4.0)
    radius = smoothing_radius(case)
    assert radius == pytest.approx(3 / (0.5 * 4000 * 10) * 4)
    smoothness = smoothed_smoothness(case, radius)
    assert smoothness == pytest.approx(2 / 4 * 0.5 * 4000 * 10)


def test_the_exact_gaussian_multiplier_has_its_reference_values():
    golden = {(1, 1e-6): 4.224679, (0.8, 5e-7): 5.375690, (0.5, 1e-6): 8.057618}
    golden |= {(4, 1e-6): 1.193519, (8, 1e-6): 0.652935}
    for (epsilon, delta), value in golden.items():
        multiplier = gaussian_multiplier(epsilon, delta)
        assert multiplier == rounds_to(value, 7)
        assert gaussian_delta(1 / (2 * multiplier**2), epsilon) == pytest.approx(delta, rel=1e-9)
    assert printed_multiplier(1.0, 1e-6) == rounds_to(5.386772, 7)


@pytest.mark.parametrize(
    ("epsilon", "delta", "ratio"), [(9, 1e-3, 1.27), (10, 1e-3, 2.0), (10, 1e-6, 1.15)]
)
def test_the_printed_multiplier_overspends_for_large_epsilon(epsilon, delta, ratio):
    spent = gaussian_delta(1 / (2 * printed_multiplier(epsilon, delta) ** 2), epsilon)
    assert spent / delta == pytest.approx(ratio, rel=0.03)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("epsilon", [0.1, 1, 4, 8])
def test_the_printed_multiplier_is_enough_up_to_eight(epsilon, delta):
    assert gaussian_delta(1 / (2 * printed_multiplier(epsilon, delta) ** 2), epsilon) < delta


def test_the_number_of_changed_coins_has_its_reference_values():
    counts = [changed_members(PRINTED_FILTER, 1000, z) for z in (1e-4, 1e-6, 1e-7, 1e-8, 1e-10)]
    assert counts == [17, 21, 22, 24, 27]
    for count in (50, 300, 10**5):
        limit = changed_members(PRINTED_FILTER, count, 1e-9)
        law = binom(count - 1, 6 / count)
        assert law.sf(limit) <= 1e-9 < law.sf(limit - 1)


@pytest.mark.parametrize(
    ("epsilon", "groups", "noise"), [(1, 302, 149), (2, 154, 78), (4, 81, 40), (8, 44, 21)]
)
def test_the_calibrated_groups_and_noise_have_their_reference_values(epsilon, groups, noise):
    assert recommended_count(epsilon, 1e-6) == groups
    release = single_test_plan(groups, epsilon, 1e-6, keep=UNIT_FILTER).release
    assert release.noise_std * groups == pytest.approx(noise, abs=0.5)
    test = release.test
    slack = test.threshold - test.sensitivity - test.score_floor
    tail = math.exp(-slack / test.score_scale) / 2
    assert tail + release.delta == pytest.approx(1e-6)
    halt = math.exp(-(groups - test.threshold) / test.score_scale) / 2
    assert halt == pytest.approx(GROUPS_HALT)


def test_a_sequence_of_tests_halts_with_at_most_the_stated_probability():
    tuning = phase_tuning(USERS_HALT)
    release = phase_plan(4000, 25, 1.0, 1e-6, keep=UNIT_FILTER, tuning=tuning).release
    test = release.test
    assert 2 / test.threshold_scale + 4 / test.score_scale == pytest.approx(0.3)
    step = test.score_scale * math.log(25 / USERS_HALT)
    margin = test.threshold_scale * math.log(1 / USERS_HALT)
    assert step + margin == pytest.approx(4000 - test.threshold)
    fails = (
        25 * math.exp(-step / test.score_scale) / 2 + math.exp(-margin / test.threshold_scale) / 2
    )
    assert fails == pytest.approx(USERS_HALT)
    large_release = phase_plan(10**6, 1, 1.0, 1e-6, keep=UNIT_FILTER, tuning=tuning).release
    # The sensitivity is 2 (2 + 2) radii.
    assert large_release.l2_sensitivity * 10**6 == pytest.approx(8, rel=2e-3)


def test_the_stated_least_number_of_users_of_a_phase_is_the_least():
    tuning = phase_tuning(USERS_HALT)
    fewest_users = least_phase_count(20, 1.0, 1e-6, keep=UNIT_FILTER, tuning=tuning)
    assert fewest_users is not None
    phase_plan(fewest_users, 20, 1.0, 1e-6, keep=UNIT_FILTER, tuning=tuning)
    with pytest.raises(NotApplicable, match=f"it needs {fewest_users}"):
        phase_plan(fewest_users - 1, 20, 1.0, 1e-6, keep=UNIT_FILTER, tuning=tuning)


def test_coins_cost_more_noise_than_weights():
    coins = phase_plan(10**5, 20, 1.0, 1e-6, keep=PRINTED_FILTER).release
    keep = replace(PRINTED_FILTER, inclusion="weights")
    weights = phase_plan(10**5, 20, 1.0, 1e-6, keep=keep).release
    assert coins.noise_std > 2 * weights.noise_std
    assert coins.delta < weights.delta


def test_the_iterates_of_linear_losses_stay_within_their_spread():
    # The averages of T points of a random walk of steps eta L have the largest possible gradient
    # noise.
    rng = np.random.default_rng(3)
    runs, steps, eta, failure = 4000, 200, 0.1, 1e-3
    moves = rng.choice([-eta, eta], size=(runs, steps))
    averages = np.cumsum(moves, axis=1)[:, :-1].sum(axis=1) / steps
    variance = eta**2 * (steps - 1) * (2 * steps - 1) / (6 * steps)
    # The tolerance is five standard errors, with a false-alarm rate of 6e-7.
    assert averages.var() == pytest.approx(variance, rel=0.12)
    share = np.mean(abs(averages) > iterate_spread(eta, 1.0, steps, failure))
    assert share <= failure


def test_the_gradients_stay_within_the_uniform_spread_at_all_points():
    # The smooth loss is sqrt(1 + (x - z)^2), with L = beta = 1 and z = +-1.
    case = UserLevel(n=200, m=25, d=1, epsilon=1.0, delta=1e-6, smoothness=1.0)
    grid = np.linspace(-0.5, 0.5, 101)
    rng = np.random.default_rng(4)
    shares = rng.binomial(case.m, 0.5, size=(300, case.n)) / case.m
    left, right = ((grid - z) / np.hypot(1, grid - z) for z in (-1, 1))
    deviation = abs((shares[..., None] - 0.5) * (right - left)).max(axis=(1, 2))
    radius = uniform_gradient_spread(case, 0.01)
    assert (deviation <= radius).all()
    assert radius > gradient_spread(case.m, 1.0, 0.01 / case.n)
    assert uniform_gradient_spread(replace(case, d=50), 0.01) > radius
    assert math.isinf(uniform_gradient_spread(replace(case, smoothness=math.inf), 0.01))
    flat = uniform_gradient_spread(replace(case, smoothness=0.0), 0.01)
    assert flat == pytest.approx(gradient_spread(case.m, 1.0, 0.01 / case.n))


@pytest.mark.parametrize(
    ("epsilon", "m", "all_phases", "one_phase"),
    [(1, 1, 1.41e5, 1.08e4), (1, 100, 1.64e5, 1.27e4), (3, 1, 4.3e4, None), (10, 1, 1.33e4, None)],
)
def test_algorithm_1_needs_its_reference_number_of_users(epsilon, m, all_phases, one_phase):
    case = UserLevel(n=2, m=m, d=10, epsilon=epsilon, delta=1e-6)
    fewest_users = least_users(lambda n: fills_groups(case.with_users(n)))
    assert fewest_users == pytest.approx(all_phases, rel=0.005)
    assert fills_groups(case.with_users(fewest_users)) and not fills_groups(
        case.with_users(fewest_users - 1)
    )
    quarter = least_users(lambda n: n / 4 >= printed_groups(case.with_users(n)))
    assert one_phase is None or quarter == pytest.approx(one_phase, rel=0.005)


def test_algorithm_1_reports_the_failing_constant_and_the_number_of_users_it_needs():
    case = UserLevel(n=10**4, m=1, d=10, epsilon=1.0, delta=1e-6, smoothness=1.0)
    assert 2700 < printed_groups(case) < 3200
    needs = sgd_requirements(case, 0.08)
    assert [r.name for r in needs if not r.holds] == ["C", "n"]
    assert len(failing(needs)) == 2 and "groups" in failing(needs)[0]
    fewest_users = users_needed(needs)
    assert not failing(sgd_requirements(case.with_users(fewest_users), 0.08))
    large = sgd_requirements(replace(case, epsilon=11.0), 0.08)
    assert "epsilon" in [r.name for r in large if not r.holds] and math.isinf(users_needed(large))


def test_the_printed_groups_support_delta_just_where_the_note_says():
    for n, m, expected in ((10**4, 100, True), (100, 1, False)):
        case = UserLevel(n=n, m=m, d=1, epsilon=1.0, delta=1e-6)
        tail = 2 * math.exp(-printed_groups(case) * case.epsilon / 150)
        assert supports_delta(case) == expected == (tail <= case.delta / (10 * math.e))
        assert (n * m) ** 2 >= 20 * math.e / 1e-6 or not expected


GRID = [
    UserLevel(n=n, m=m, d=1, epsilon=e, delta=delta)
    for n in (10**2, 10**4, 10**8)
    for m in (1, 1000)
    for e in (0.01, 1.0, 10.0)
    for delta in (1e-3, 1e-6, 1e-12)
]


@each("case", GRID, ids=str)
def test_the_printed_noise_of_algorithm_1_is_at_least_five_times_the_required(case):
    assert sgd_noise_room(case) >= 5
    if supports_delta(case):
        assert sgd_delta(case) < case.delta


@each("case", GRID, ids=str)
def test_the_printed_noise_of_algorithm_2_is_enough_with_full_batches(case):
    rooms = [erm_noise_room(case, steps) for steps in (1, 100, 10**5)]
    assert min(rooms) >= 6


def test_the_printed_noise_of_algorithm_2_falls_short_with_subsampling_at_small_delta():
    ratios = {}
    for delta in (1e-3, 1e-20):
        case = UserLevel(n=10**6, m=100, d=10, epsilon=1.0, delta=delta)
        batch = math.ceil(case.n / math.sqrt(100))
        ratios[delta] = 1 / subsampled_noise_room(case, 100, batch)
    assert 0.2 < ratios[1e-3] < 0.9
    assert 1.0 < ratios[1e-20] < 1.9


@pytest.mark.parametrize(
    ("users", "epsilon", "m"),
    [(10**4, 1, 1800), (3000, 1, 8200), (10**4, 4, 1270), (3000, 4, 1620), (1000, 4, 4050)],
)
def test_the_filter_pays_from_the_note_s_number_of_items(users, epsilon, m):
    assert filter_pays_from(users, epsilon, 1e-6) == pytest.approx(m, rel=0.005)
    rigorous = filter_pays_from(users, epsilon, 1e-6, spread=7.0)
    assert rigorous / m == pytest.approx(49 / 9, rel=0.01)


def test_where_the_filter_never_pays_and_where_the_printed_one_does():
    assert math.isinf(filter_pays_from(1000, 1.0, 1e-6))
    assert math.isinf(filter_pays_from(300, 4.0, 1e-6))
    assert 1e5 < filter_pays_from(10**4, 4.0, 1e-6, keep=PRINTED_FILTER) < 5e5
    case = UserLevel(n=10**4, m=1, d=10, epsilon=1.0, delta=1e-6)
    m = printed_filter_pays_from(case)
    assert 5e9 < m < 5e10
    crowded = replace(case, m=round(m))
    noise = printed_noise(crowded, printed_radius(crowded), case.n, 1.0)
    assert noise == pytest.approx(2 / case.n * gaussian_multiplier(1.0, 1e-6), rel=1e-6)
    assert linear_time_pays_from(500) == 501


def test_the_calibrated_schedules_halve_the_users_of_each_phase_and_use_all_users():
    assert halving_users(1001, 4) == (500, 250, 125, 126)
    assert sum(halving_users(777, 5)) == 777
    with pytest.raises(NotApplicable, match="16 users"):
        halving_users(15, 5)
    case = UserLevel(n=10**4, m=100, d=10, epsilon=1.0, delta=1e-6, smoothness=1.0)
    first_phase, second_phase, third_phase = calibrated_sgd(case).phases
    assert [p.group_users for p in (first_phase, second_phase, third_phase)] == [16, 8, 8]
    assert second_phase.step_size / first_phase.step_size == pytest.approx(2**-1.25)
    assert first_phase.noise_std / first_phase.score_radius == pytest.approx(149 / 302, rel=0.01)
    scale = first_phase.step_size * math.sqrt(first_phase.steps)
    assert first_phase.score_radius / scale == pytest.approx(6.4, rel=0.01)
    assert plain_sensitivity(case, 1e-3, 10) == pytest.approx(0.02)
    assert plain_sensitivity(case, 1.0, 10) == pytest.approx(0.1)


def test_a_refused_schedule_names_users_that_are_enough():
    case = UserLevel(n=700, m=100, d=10, epsilon=1.0, delta=1e-6, smoothness=1.0)
    for schedule in (calibrated_sgd, full_batch):
        with pytest.raises(NotApplicable) as refused:
            schedule(case, phases=3)
        ((field, users),) = refused.value.changes
        assert field == "n"
        schedule(case.with_users(users), phases=3)
    with pytest.raises(NotApplicable, match="smooth"):
        full_batch(replace(case, smoothness=math.inf))
    assert full_batch_users(case, phases=3, steps=20) == 4 * full_batch_users(
        case, phases=1, steps=20
    )


def test_the_noise_of_mode_a_depends_on_the_steps_only_by_logarithms():
    case = UserLevel(n=10**5, m=100, d=10, epsilon=1.0, delta=1e-6, smoothness=1.0)
    short_phase, long_phase = (
        full_batch(case, steps_factor=f, regulariser=0.01).phases[0] for f in (1, 8)
    )
    assert long_phase.steps == pytest.approx(8 * short_phase.steps, rel=0.01)
    step_noise = [p.noise_std / math.sqrt(p.steps) for p in (short_phase, long_phase)]
    assert 1 <= step_noise[1] / step_noise[0] < 1.1
    plain = full_batch(case, radius=None).phases[0]
    step_noise = plain.noise_std / math.sqrt(plain.steps)
    assert step_noise == pytest.approx(2 / 50_000 * gaussian_multiplier(1.0, 1e-6))


@pytest.mark.parametrize(
    "change",
    [
        {"n": 0},
        {"m": 1.5},
        {"epsilon": 0.0},
        {"delta": 1.0},
        {"diameter": math.inf},
        {"smoothness": -1.0},
    ],
)
def test_a_parameter_out_of_range_is_refused_by_name(change):
    (name,) = change
    with pytest.raises(InvalidInput, match=f"{name} must be"):
        replace(GOLDEN, **change)


def test_the_recommended_filter_is_the_deterministic_one():
    assert UNIT_FILTER.inclusion == "weights" and UNIT_FILTER.upper == 1.0
