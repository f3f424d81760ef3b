"""The bounds of theory/sharper-approx-bounds.md, 3 to 5: tables, exact optima, proof steps.

Linear programs give the least loss of any private algorithm on a small instance. With answers on a
grid it is slightly above the true minimum, which a proven bound never exceeds.
"""

from __future__ import annotations

import math
import random
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from dpsco_core.bounds.instances import assouad, expectiles, groups, packing
from dpsco_core.bounds.instances.binomial import expectation
from dpsco_core.bounds.instances.hardest import largest_spike_probability
from dpsco_core.bounds.instances.leakage import approximate_leakage, expectile
from dpsco_core.bounds.instances.tracing import TracingBounds
from dpsco_core.catalogue import bound
from dpsco_core.privacy.budget import ApproxDP, PureDP
from dpsco_core.scenario import Scenario
from tests.bounds.helpers import make_setting
from tests.folded import crossed, each

# Each row has the arguments n, d, p, epsilon, delta and q, and the values of P1, P2, P3, A1, A2 and
# A3.
TABLE = (
    (
        (10_000, 20, 2, 1, 1e-6, 0.0007),
        (".093826", ".0093709", ".053062", ".0071027", ".00127206", ".0058623"),
    ),
    (
        (10_000, 1, 2, 1, 1e-6, 0.0001),
        (".0061601", "7.466e-5", ".0061598", ".0064787", "7.7571e-5", ".0063467"),
    ),
    (
        (10_000, 100, 2, 1, 1e-6, 0.0009),
        (".25839", ".073931", ".19157", ".0081959", ".0037579", ".0065907"),
    ),
    (
        (1000, 20, 2, 1, 1e-6, 0.007),
        (".29678", ".093721", ".16777", ".022384", ".0126796", ".0184683"),
    ),
    (
        (100_000, 20, 2, 1, 1e-6, 7e-5),
        (".029670", ".00093708", ".016780", ".0022469", ".000127247", ".0018545"),
    ),
    (
        (10_000, 20, 2, 0.1, 1e-6, 0.007),
        (".29954", ".092956", ".15941", ".012293", ".0072216", ".0098026"),
    ),
    (
        (10_000, 20, 2, 4, 1e-6, 0.00019),
        (".044793", ".0023975", ".029003", ".010162", ".00066497", ".010015"),
    ),
    (
        (10_000, 20, 2, 1, 1e-10, 0.0008),
        (".095744", ".0098170", ".050246", ".0051226", ".00098659", ".0041674"),
    ),
    (
        (10_000, 20, 4, 1, 1e-6, 0.0008),
        (".015667", ".00027137", ".0082870", ".00086150", "2.7904e-5", ".00070085"),
    ),
    (
        (10_000, 20, 2, 1, 0.0, 0.0008),
        (".095744", ".0098171", ".050246", ".0051226", ".00098659", ".0041674"),
    ),
    (
        (5000, 1000, 3, 0.5, 1e-9, 0.004),
        (".77831", ".62719", ".71191", ".0093874", ".0116869", ".0074279"),
    ),
)
FORMS = ("l2", "squared", "linear")


@pytest.mark.parametrize(("point", "printed"), TABLE, ids=str)
def test_the_table_is_reproduced_to_its_digits(point, printed):
    n, d, k, epsilon, delta, q = point
    values = [packing.packing(form, q, n, d, k, epsilon, delta) for form in FORMS]
    values += [assouad.assouad(form, q, n, d, k, epsilon, delta) for form in FORMS]
    for value, text in zip(values, printed, strict=True):
        digits = len(text.split("e")[0].replace(".", "").lstrip("0"))
        assert value == pytest.approx(float(text), rel=1.01 * 10 ** (1 - digits)), text


@pytest.mark.parametrize(
    ("form", "delta", "printed"),
    [
        (
            "l2",
            0.0,
            "4.4721 4.4362 4.3670 4.2686 4.1396 3.9952 3.8314 3.6431 3.4492 3.2454 3.0148 2.7898 "
            "2.5299 2.2511 1.9322 1.5111 .6362 .2501 .0850",
        ),
        (
            "l2",
            1e-6,
            "4.4721 4.4361 4.3669 4.2685 4.1395 3.9948 3.8304 3.6404 3.4423 3.2267 2.9709 2.6630 "
            "2.2619 1.6079 .4426",
        ),
        (
            "squared",
            1e-6,
            "20 19.771 19.187 18.358 17.336 16.190 14.914 13.593 12.270 10.889 9.442 7.964 6.181 "
            "3.998 .889",
        ),
        (
            "linear",
            1e-6,
            "4.4721 3.9938 3.5707 3.1910 2.8402 2.5208 2.2178 1.9419 1.6938 1.4563 1.2275 1.0103 "
            ".7645 .4845 .1057",
        ),
    ],
    ids=str,
)
def test_the_losses_at_each_number_of_spikes_are_reproduced(form, delta, printed):
    loss = packing.losses(form, 20, 1.0, delta)
    expected = [float(text) for text in printed.split()]
    assert loss.last_count == len(expected) - 1
    np.testing.assert_allclose(loss.values, expected, atol=5.1e-4 if form == "squared" else 5.1e-5)


@pytest.mark.parametrize(
    ("point", "printed"),
    [
        ((10_000, 200, 4, 1, 1e-6, 0.01, 6), (0.521479, 0.0800275, 0.00640707)),
        ((10_000, 20, 2, 1, 1e-6, 0.001, 2), (0.521134, 0.0470741, 0.00252488)),
        ((50_000, 10, 3, 0.5, 1e-8, 0.0007, 4), (0.252613, 0.00483959, 2.95609e-5)),
        ((2000, 30, 2.2, 2, 1e-5, 0.003, 2.4), (1.024905, 0.0791277, 0.00674651)),
        ((1000, 500, 3, 4, 1e-5, 0.025, 4), (1.825556, 0.495593, 0.245612)),
    ],
    ids=str,
)
def test_tracing_with_the_sharper_constant_has_its_printed_values(point, printed):
    n, d, k, epsilon, delta, q, u = point
    leakage = approximate_leakage(epsilon, delta, d)
    bounds = TracingBounds(n=n, d=d, moment_order=k, leakage=leakage)
    numbers = (leakage.kappa(d), bounds.value_at("l2", q, u), bounds.value_at("squared", q, u))
    np.testing.assert_allclose(numbers, printed, rtol=2e-6)


def test_at_the_default_scenario_privacy_raises_the_bound_under_every_budget():
    def largest(**fields):
        """Return the largest lower bound of the default scenario with some fields changed."""
        scenario = Scenario(p=2.0, methods=(), **fields).setting
        area = {"linear": "sco", "quadratic": "sco-strong"}.get(fields.get("problem"), "mean")
        names = ("tracing", "assouad", "packing")
        suffix = fields.pop("suffix", "")
        return max(bound(f"lower.{area}.approx-{name}{suffix}").value(scenario) for name in names)

    assert largest() == pytest.approx(0.0939, abs=5e-5)
    assert largest(delta=0.0) == pytest.approx(0.0957, abs=5.1e-5)
    assert largest(problem="linear") == pytest.approx(0.1160, abs=5e-5)
    assert largest(problem="quadratic") == pytest.approx(0.00480, abs=5e-6)
    squared = bound("lower.mean.approx-packing-squared").value(Scenario(p=2.0).setting)
    assert squared == pytest.approx(0.00960, abs=5e-6)


def sign_vectors(d: int) -> np.ndarray:
    """Return all vectors of d signs, one a row."""
    return np.array(list(product((-1.0, 1.0), repeat=d)))


def least_loss(loss: np.ndarray, ratio: float, delta: float) -> float:
    """Return the least mean loss over all kernels whose rows are pairwise (ln ratio, delta)-close.

    `loss` has shape (answers, hypotheses).
    """
    answers, hypotheses = loss.shape
    pairs = [(i, j) for i in range(hypotheses) for j in range(hypotheses) if i != j]
    size = answers * hypotheses
    # The variables from here on are, for each pair and answer, the excess of p_i over ratio p_j.
    excess = size
    cost = np.concatenate([loss.T.ravel() / hypotheses, np.zeros(len(pairs) * answers)])
    from scipy.sparse import lil_matrix

    constraints = lil_matrix((len(pairs) * (answers + 1), len(cost)))
    limit = np.zeros(constraints.shape[0])
    row = 0
    for number, (i, j) in enumerate(pairs):
        for a in range(answers):
            constraints[row, i * answers + a] = 1
            constraints[row, j * answers + a] = -ratio
            constraints[row, excess + number * answers + a] = -1
            row += 1
        constraints[row, excess + number * answers : excess + (number + 1) * answers] = 1
        limit[row] = delta
        row += 1
    whole = lil_matrix((hypotheses, len(cost)))
    for i in range(hypotheses):
        whole[i, i * answers : (i + 1) * answers] = 1
    solution = linprog(
        cost, A_ub=constraints.tocsr(), b_ub=limit, A_eq=whole.tocsr(), b_eq=np.ones(hypotheses)
    )
    assert solution.status == 0
    return float(solution.fun)


@pytest.mark.parametrize(("ratio", "delta"), crossed(2, [0.7, 2.0], [0.0, 1e-3, 0.05]))
def test_no_private_answer_in_two_dimensions_is_below_the_packing_bound(ratio, delta):
    points = np.linspace(-1, 1, 17)
    y = np.array(list(product(points, repeat=2)))
    gaps = y[:, None, :] - sign_vectors(2)
    distance = np.linalg.norm(gaps, axis=2)
    answers = y[np.linalg.norm(y, axis=1) <= 1 + 1e-12]
    losses = {
        "l2": distance,
        "squared": distance**2,
        "linear": math.sqrt(2) - answers @ sign_vectors(2).T,
    }
    for form, loss in losses.items():
        exact = least_loss(loss, math.exp(ratio), delta)
        proven = float(packing.losses(form, 2, ratio, delta).values[1])
        assert proven <= exact + 1e-9, form
        # The bound is not trivial: it loses little, with and without delta.
        assert proven >= (0.8 if form == "l2" else 0.6) * exact, form


@pytest.mark.parametrize("d", [2, 3, 5, pytest.param(8, marks=pytest.mark.slow)])
def test_the_distance_is_the_least_expectile_over_all_answers(d):
    """Without delta the bound is the least expectile, found here from many starting points."""
    source = np.random.default_rng(d)
    nu = sign_vectors(d)
    for ratio in (0.5, 1.5, 3.0):

        def expectile_of(y, ratio=ratio):
            """Return the expectile of the distance from an answer y."""
            loss = np.sort(np.linalg.norm(nu - y, axis=1))
            # The expectile is the t with (A - 1) E(t - loss)_+ = E loss - t, found on each linear
            # piece.
            heads = np.cumsum(loss)
            k = np.arange(1, len(loss) + 1)
            growth = math.expm1(ratio)
            t = (loss.sum() + growth * heads) / (len(loss) + growth * k)
            next_loss = np.append(loss[1:], np.inf)
            return float(t[np.argmax((loss <= t + 1e-12) & (t <= next_loss + 1e-12))])

        starts = [0.3 * source.standard_normal(d) for _ in range(6)]
        starts += [np.full(d, x) for x in (0.2, 0.5, 0.9)]
        smallest = min(
            minimize(expectile_of, start, method="Nelder-Mead", options={"maxiter": 2000}).fun
            for start in starts
        )
        proven = float(packing.losses("l2", d, ratio, 0.0).values[1])
        assert 0.87 * smallest <= proven <= smallest + 1e-9


def test_the_diagonal_is_the_worst_direction_for_convex_second_derivatives():
    source = np.random.default_rng(1)
    for _ in range(300):
        d = int(source.integers(2, 10))
        u = source.standard_normal(d) * source.random(d) ** 3
        u /= np.linalg.norm(u)
        products, equal = sign_vectors(d) @ u, sign_vectors(d) @ np.full(d, d**-0.5)
        tau, rho = source.uniform(-1, 2), source.uniform(0.05, 1) * math.sqrt(d)
        for g in (
            lambda x, tau=tau: np.maximum(x - tau, 0) ** 3,
            lambda x, d=d, rho=rho: -np.sqrt(np.maximum(d + rho**2 - 2 * rho * x, 0)),
        ):
            assert np.mean(g(products)) <= np.mean(g(equal)) + 1e-12
        # For the exponent 2 the claim is false: the mean depends on the direction both ways.
    u = np.array([1.0, 0.0, 0.0])
    square = [
        np.mean(np.maximum(sign_vectors(3) @ v - 0.9, 0) ** 2) for v in (u, np.full(3, 3**-0.5))
    ]
    cube = [
        np.mean(np.maximum(sign_vectors(3) @ v - 0.9, 0) ** 3) for v in (u, np.full(3, 3**-0.5))
    ]
    assert cube[0] < cube[1]
    assert square[0] / square[1] > cube[0] / cube[1]


@pytest.mark.parametrize("d", [1, 2, 7, 40, 400])
def test_the_mean_cube_above_a_threshold_agrees_with_plain_sums(d):
    i = np.arange(d + 1)
    mass = np.array([math.comb(d, int(k)) for k in i], dtype=float) if d < 100 else None
    w = (2 * i - d) / math.sqrt(d)
    thresholds = np.concatenate([np.linspace(-math.sqrt(d) - 1, math.sqrt(d) + 0.1, 61), w])
    for tau in thresholds:
        if mass is None:
            log = [math.lgamma(d + 1) - math.lgamma(k + 1) - math.lgamma(d - k + 1) for k in i]
            weight = np.exp(np.array(log) - d * math.log(2))
        else:
            weight = mass / 2.0**d
        plain = float(np.sum(weight * np.maximum(w - tau, 0) ** 3))
        mean_cube = float(np.exp(expectiles.log_cube(np.array(tau), d)))
        assert mean_cube == pytest.approx(plain, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("tau", [-3.0, 0.0, 1.5, 8.0, 19.9, 20.1, 35.0])
def test_the_gaussian_form_bounds_that_of_any_dimension(tau):
    gaussian = float(expectiles.log_cube(np.array(tau), 10**6))
    assert float(expectiles.log_cube(np.array(tau), 400)) <= gaussian + 1e-9


def test_the_majorants_of_the_expected_shortfall_are_above_it():
    """Bounds (S1), (S2) and (S4) are compared at random answers in few dimensions, and (S3) at
    random directions.
    """
    source = np.random.default_rng(5)
    for d in (2, 4, 9):
        table = expectiles._distance_table(d)
        e, log_excess = packing._log_excess_bounds(d)
        for _ in range(60):
            rho = int(source.integers(1, len(table.rho)))
            y = source.standard_normal(d)
            y *= table.rho[rho] / np.linalg.norm(y)
            loss = np.linalg.norm(sign_vectors(d) - y, axis=1)
            assert loss.mean() >= table.mean[rho] - 1e-12
            level = int(source.integers(0, len(table.levels)))
            missing = np.mean(np.maximum(table.levels[level] - loss, 0))
            assert missing <= math.exp(table.log_missing(level)[rho]) + 1e-12
            g = source.uniform(0, 3)
            v = math.sqrt(d + table.rho[rho] ** 2 + 2 * table.rho[rho] * g)
            excess = np.mean(np.maximum(loss - v, 0))
            assert excess <= table.rho[rho] / v * float(expectiles.omega(g)) + 1e-12
            place = int(source.integers(0, len(e)))
            mean_excess = np.mean(np.maximum(sign_vectors(d) @ (y / table.rho[rho]) - e[place], 0))
            assert mean_excess <= math.exp(log_excess[place]) + 1e-12


def test_no_test_of_a_record_has_a_larger_expectile_than_the_constant():
    """Lemma A' is compared with exact expectiles of sums of independent signs, in small
    dimensions.
    """
    source = np.random.default_rng(3)
    largest = 0.0
    for _ in range(1500):
        d = int(source.integers(1, 8))
        f = source.standard_normal(d) * source.random(d) ** 2
        f /= np.linalg.norm(f)
        bias = source.uniform(-1, 1, d) * source.random()
        weight = np.prod((1 + sign_vectors(d) * bias) / 2, axis=1)
        z = (sign_vectors(d) - bias) @ f
        epsilon = 10 ** source.uniform(-1.5, 0.7)
        c = expectile(epsilon)
        largest = max(largest, math.expm1(epsilon) * float(weight @ np.maximum(z - c, 0)) / c)
    assert largest <= 1 + 1e-9
    assert largest >= 0.99  # The largest value is attained.


def random_settings(count: int, seed: int):
    """Yield random settings under approximate and pure budgets."""
    source = random.Random(seed)
    for _ in range(count):
        epsilon, delta = 10 ** source.uniform(-1.5, 1), 10 ** source.uniform(-12, -2)
        budget = source.choice((ApproxDP(epsilon=epsilon, delta=delta), PureDP(epsilon=epsilon)))
        yield make_setting(
            n=int(10 ** source.uniform(0.3, 6)),
            d=source.choice([1, 2, 3, 7, 20, 100, 1000]),
            order=source.uniform(2, 10),
            mean_bound=10 ** source.uniform(-0.5, 1.5),
            budget=budget,
        )


def former_assouad(form, q, setting, delta):
    """Return the older form of Assouad's bound, without the group curve
    (theory/approx-lower-bounds.md, 4), at spike probability q.
    """
    a = 1 - 1 / setting.moment_order

    def share(count):
        """Return the share of signs that stay unknown with this many spikes."""
        x = np.minimum(setting.budget.epsilon * count, 700.0)
        mass = np.maximum(0.0, 1 - groups.group_delta(setting.budget.epsilon, delta, count))
        if form == "l2":
            return 2 * mass / (1 + np.exp(x))
        return mass / np.cosh(x / 2) ** 2

    mean = float(expectation(share, setting.n, np.array([q]), fine=True)[0])
    return (setting.d * q ** (2 * a) if form == "squared" else math.sqrt(setting.d) * q**a) * mean


def test_the_bounds_are_never_below_the_forms_that_they_replaced():
    for setting in random_settings(24, 4):
        delta = setting.budget.delta if isinstance(setting.budget, ApproxDP) else 0.0
        leakage = approximate_leakage(setting.budget.epsilon, delta, setting.d)
        assert leakage.kappa(setting.d) <= min(
            c + e * math.sqrt(setting.d) for c, e in leakage.pairs[:2]
        )
        cap = largest_spike_probability(
            "hypercube", setting.d, setting.moment_order, setting.constants.mean_gradient_bound
        )
        for form, suffix in (("l2", ""), ("squared", "-squared")):
            value = bound(f"lower.mean.approx-assouad{suffix}").value(setting)
            old_value = max(
                former_assouad(form, float(q), setting, delta)
                for q in np.minimum(
                    cap, np.geomspace(0.05, 4, 25) / setting.budget.epsilon / setting.n
                )
            )
            assert value >= old_value * (1 - 1e-3)


@each("n", [1, 1000, 10**9])
@each("d", [1, 2, 401, 10**6])
@each("k", [2, 50])
@each("level", [1e-3, 1.0, 700.0])
@each("delta", [0.0, 1e-6, 0.999])
def test_the_edges_of_the_range_give_finite_values_without_warnings(n, d, k, level, delta):
    if d == 10**6 and level < 1:
        d = 10**4
    for form, largest in (("l2", math.sqrt(d)), ("squared", d), ("linear", math.sqrt(d))):
        q = packing.best(form, n, d, k, level, delta, 1.0)
        assert 0 < q <= 1
        assert 0 <= packing.packing(form, q, n, d, k, level, delta) <= largest * (1 + 1e-9)


def test_the_best_probability_beats_a_fine_grid_within_the_cap():
    for setting in random_settings(25, 8):
        delta = setting.budget.delta if isinstance(setting.budget, ApproxDP) else 0.0
        cap = largest_spike_probability(
            "hypercube", setting.d, setting.moment_order, setting.constants.mean_gradient_bound
        )
        point = (setting.n, setting.d, setting.moment_order, setting.budget.epsilon, delta)
        for form in FORMS:
            best = packing.best(form, *point, cap)
            assert best <= cap
            value = packing.packing(form, best, *point)
            grid = [
                packing.packing(form, float(q), *point) for q in np.geomspace(cap / 1e5, cap, 80)
            ]
            assert value >= max(grid) * (1 - 1e-4), (form, point)


def test_a_very_large_budget_is_not_treated_as_a_smaller_one():
    """With one record and q = 1, the weights e^(eps 1[wrong signs <= s]) on answers are exactly
    eps-DP.

    The exact squared error of these answers is at best 381.43 for epsilon = 1000.
    """
    d, epsilon = 2000, 1000.0
    wrong = np.arange(d + 1)
    mass = np.array(
        [math.lgamma(d + 1) - math.lgamma(k + 1) - math.lgamma(d - k + 1) for k in wrong]
    )
    errors = []
    for s in range(0, d, 20):
        log = mass + np.where(wrong <= s, epsilon, 0.0)
        weight = np.exp(log - log.max())
        errors.append(4 * float(weight @ wrong) / float(weight.sum()))
        weight = weight / weight.sum()
        # Answers are shrunk by this factor, the mean sign.
        shrunk = 1 - 2 * float(weight @ wrong) / d
        errors.append(d * (1 - shrunk**2))
    bound_there = packing.packing("squared", 1.0, 1, d, 2.0, epsilon, 0.0)
    assert 0 <= bound_there <= min(errors)
    assert packing.packing("squared", 1.0, 1, d, 2.0, 600.0, 0.0) > min(errors)
