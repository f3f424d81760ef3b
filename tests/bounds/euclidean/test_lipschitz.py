"""Private SGD and objective perturbation: reference values and slow second evaluations.

The reference values are those of theory/arora-marinov-ullah.md, 3 and 7, and of
theory/su-zhao-wang.md, 8, item 26.
"""

import math

import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpsco_core.bounds.euclidean import lower_other, objective
from dpsco_core.bounds.euclidean import private_sgd as sco_private_sgd
from dpsco_core.bounds.euclidean.objective import Objective
from dpsco_core.bounds.euclidean.objective import width as width_of
from dpsco_core.bounds.instances.gaussian import normal_norm
from dpsco_core.privacy import ZCDP, ApproxDP, PureDP, shuffle_steps, shuffled_steps_delta
from tests.bound_marks import second_implementation_of
from tests.bounds.euclidean.helpers import BY_SLUG, make_setting


def lipschitz_setting(n, d, diameter=1.0, lipschitz=1.0, budget=None):
    """Return a setting of third moments with a Lipschitz constant and a diameter."""
    return make_setting(n, d, 3.0, budget, lipschitz=lipschitz, diameter=diameter)


def test_private_sgd_has_the_values_of_its_note():
    n, d, epsilon, delta = 10_000, 10, 0.005, 1e-6
    setting, budget = lipschitz_setting(n, d), ApproxDP(epsilon=epsilon, delta=delta)
    sigma = sco_private_sgd.printed_noise(setting, budget)
    assert sigma == pytest.approx(59.47075502)
    assert sco_private_sgd.printed_step(setting, sigma, 1.0) == pytest.approx(5.28924109e-5)
    utility = sum(sco_private_sgd.utility(setting, sigma))
    theorem = sum(sco_private_sgd.main_theorem(setting, epsilon, delta))
    assert utility == pytest.approx(4.726576001)
    assert theorem == pytest.approx(4.751576001)
    assert theorem - utility == pytest.approx(2.5 / math.sqrt(n))
    log_size = math.sqrt(math.log(3e6))
    theorem_budget = ApproxDP(epsilon=0.05 / (8 * log_size), delta=1e-6 / 3)
    assert sco_private_sgd.printed_noise(setting, theorem_budget) == pytest.approx(190.900772)


def test_the_sharp_form_of_private_sgd_has_the_values_of_its_note():
    n, d, sigma = 1000, 5, 2.0
    setting = lipschitz_setting(n, d, 2.0)  # Every point is within distance 1 of the centre.
    step = sco_private_sgd.printed_step(setting, sigma, 1.0)
    risk = sum(sco_private_sgd.sharp(setting, sigma, step=step))
    assert risk == pytest.approx(0.2557135, abs=5e-8)
    assert sum(sco_private_sgd.sharp(setting, sigma)) == pytest.approx(0.2394706, abs=5e-8)
    assert sum(sco_private_sgd.utility(lipschitz_setting(n, d), sigma)) == pytest.approx(0.4326103)
    pruned = math.hypot(*sco_private_sgd.pruned(setting, sigma))
    assert pruned == pytest.approx(0.2047344, abs=5e-8)


@pytest.mark.parametrize(
    ("n", "steps"), [(16, 12.605950), (100, 70.817218), (1000, 694.647431), (10_000, 6932.971831)]
)
def test_the_expected_number_of_steps_has_its_printed_value(n, steps):
    assert sco_private_sgd.expected_steps(n) == pytest.approx(steps, abs=1e-6)
    m = n // 2 + 1
    assert sco_private_sgd.expected_steps(n) == pytest.approx(
        math.fsum(n / (n - k) for k in range(m))
    )


def test_the_sharp_form_is_below_the_printed_statements():
    for n in (1, 2, 3, 16, 1000, 10**6):
        for sigma in (0.0, 0.3, 20.0):
            setting, wide_setting = lipschitz_setting(n, 7), lipschitz_setting(n, 7, 2.0)
            step = sco_private_sgd.printed_step(setting, sigma, 1.0)
            sharp = sum(sco_private_sgd.sharp(wide_setting, sigma, step=step))
            unit = (1 + sigma * math.sqrt(7)) / math.sqrt(n)
            assert sum(sco_private_sgd.sharp(wide_setting, sigma)) <= sharp * (1 + 1e-12)
            assert sharp <= (1 + math.log(2)) * unit * (1 + 1e-9)
            assert sharp <= sum(sco_private_sgd.utility(setting, sigma))
            assert sharp <= sum(sco_private_sgd.regret(setting, sigma))


def test_remark_1_is_theorem_6_after_substitution():
    n, d, epsilon, delta = 10**5, 9, 0.02, 1e-5
    theorem_epsilon = epsilon / (8 * math.sqrt(math.log(3 / delta)))
    setting, budget = lipschitz_setting(n, d, 3.0, 2.0), ApproxDP(epsilon=epsilon, delta=delta)
    theorem = sco_private_sgd.main_theorem(setting, theorem_epsilon, delta / 3)
    assert sco_private_sgd.remark(setting, budget) == pytest.approx(theorem)


def test_the_main_theorem_meets_its_budget():
    n, epsilon, delta = 10_000, 0.05, 1e-6
    budget = ApproxDP(epsilon=epsilon, delta=delta)
    theorem_epsilon, own_delta = sco_private_sgd.theorem_parameters(n, budget)
    reached = 4 * theorem_epsilon * (math.sqrt(math.log(1 / own_delta)) + 2)
    assert reached == pytest.approx(epsilon)
    assert 2 * own_delta + 2 * math.exp(-n / 16) == pytest.approx(delta)
    assert math.isnan(sco_private_sgd.theorem_parameters(16, budget)[0])


def test_the_noise_in_use_is_private_and_below_the_papers():
    n, budget = 10_000, ApproxDP(epsilon=0.05, delta=1e-6)
    sigma = sco_private_sgd.sound_noise(lipschitz_setting(n, 1, 1.0, 1.5, budget))
    assert sigma < 190.9 * 1.5
    rho_step = (2 * 1.5 / sigma) ** 2 / 2
    local = shuffle_steps(n, 0.05, 1e-6).delta_step
    assert shuffled_steps_delta(rho_step * (1 - 1e-9), n, 0.05, local) <= 1e-6
    for other_budget, std in ((ZCDP(rho=0.5), 3.0), (PureDP(epsilon=1.0), math.inf)):
        noise = sco_private_sgd.sound_noise(lipschitz_setting(n, 1, 1.0, 1.5, other_budget))
        assert noise == pytest.approx(std)


GOLDEN = Objective(
    n=10**5,
    epsilon=0.5,
    delta=1e-6,
    lipschitz=1.0,
    diameter=2.0,
    width=math.sqrt(2 * math.log(200)),
)


def test_objective_perturbation_has_its_reference_values():
    assert GOLDEN.objective_std**2 == pytest.approx(7542.6823, rel=1e-7)
    modulus = 1 / (math.sqrt(1e5) * 2)
    assert modulus == pytest.approx(1.5811388e-3)
    assert objective.regulariser(GOLDEN, 0.25, 1) == pytest.approx(modulus)
    need = 0.25 / (2 * 1e5 * (math.exp(0.5 / 4) - 1))
    assert need == pytest.approx(9.388017e-6, rel=1e-6)
    tiny = Objective(n=10, epsilon=0.5, delta=1e-6, lipschitz=1e-9, diameter=2.0, width=1.0)
    assert objective.regulariser(tiny, 0.25, 1) == pytest.approx(need * 1e4)
    for printed, alpha, variance in (
        (True, 4.320113e-10, 1.0304357e-3),
        (False, 4.320113e-15, 1.0304357e-8),
    ):
        accuracy = objective.accuracy(GOLDEN, printed=printed)
        assert accuracy == pytest.approx(alpha, rel=1e-6)
        assert GOLDEN.output_std(accuracy, modulus) ** 2 == pytest.approx(variance, rel=1e-6)
    assert objective.rate(GOLDEN) == pytest.approx((6.324555e-3, 2.419900e-4), rel=1e-6)
    corrected = objective.rate_strong(GOLDEN, 0.1)
    assert corrected == pytest.approx((4e-4, 5.855917e-7), rel=1e-6)
    assert objective.rate_strong(GOLDEN, 0.1, printed=True)[0] == pytest.approx(8e-4)
    assert objective.accuracy_strong(GOLDEN, 0.1) == pytest.approx(1.092912e-18, rel=1e-6)
    unit = Objective(
        n=10**5, epsilon=0.5, delta=1e-6, lipschitz=1.0, diameter=1.0, width=GOLDEN.width
    )
    private, sampling = lower_other.width_lower(unit, 100)
    assert (private, sampling) == pytest.approx((7.430927e-11, 1e-5), rel=1e-6)


def test_the_explicit_bound_b1_has_the_value_of_the_measured_example():
    # Logistic loss on an l1 ball of radius 2 with d = 50, L = 1, beta = 1/4 and rank 1. In
    # theory/su-zhao-wang.md, 3.1, the regulariser's term uses the norm of the example's minimiser,
    # about 1.72, in the place of the radius 2.
    width = 2 * quad(lambda t: -math.expm1(50 * math.log(2 * norm.cdf(t) - 1 + 1e-300)), 0, 12)[0]
    assert (width / 2) ** 2 == pytest.approx(6.29808, abs=1e-5)
    for n, expected in ((1000, 0.889), (10_000, 0.233), (50_000, 0.099)):
        inputs = Objective(n=n, epsilon=0.9, delta=1e-5, lipschitz=1.0, diameter=4.0, width=width)
        terms = objective.explicit(inputs, 0.25, 1)
        explicit_value = math.fsum(terms) + terms[1] * (1.72**2 / 4 - 1)
        assert explicit_value == pytest.approx(expected, abs=6e-4)


def ball_width(d, diameter):
    """Return the Gaussian width of a ball in d dimensions with this diameter."""
    return diameter / 2 * normal_norm(d)


@pytest.mark.parametrize(("d", "width"), [(10, 3.08433), (100, 9.97503), (1000, 31.61487)])
def test_the_width_of_the_ball_is_its_closed_form(d, width):
    assert ball_width(d, 2.0) == pytest.approx(width, abs=5e-6)
    assert ball_width(d, 5.0) == pytest.approx(2.5 * width, abs=2e-5)
    assert width_of(make_setting(d=d)) == pytest.approx(ball_width(d, 2.0), rel=1e-11)


@second_implementation_of(
    "upper.sco.objective-perturbation-explicit",
    "upper.sco.objective-perturbation-paper",
    "upper.sco.objective-perturbation-strong-explicit",
)
def test_the_explicit_forms_of_objective_perturbation_agree_term_by_term():
    inputs = Objective(
        n=500, epsilon=0.7, delta=1e-5, lipschitz=3.0, diameter=1.6, width=2.2, inradius=0.5
    )
    beta, mu = 2.0, 0.4
    s1 = math.sqrt(128 * 9 * math.log(2.5e5)) / 0.7
    lam = max(3 / (math.sqrt(500) * 1.6), beta / (2 * 500 * (math.exp(0.7 / 4) - 1)))
    alpha = min(3 * 1.6 / 500**1.5, 0.49 * 3 * 1.6**3 / (2.2**2 * math.log(1e5) * 500**2.5))
    s2 = math.sqrt(64 * alpha * math.log(2.5e5) / (lam * 0.49))
    expected = (
        s1 * 2.2 / 500,
        lam * 0.64,
        9 / (lam * 500),
        3 * math.sqrt(alpha / lam),
        3 * math.sqrt(2 * s2 * 2.2),
    )
    assert objective.explicit(inputs, beta, 1) == pytest.approx(expected)
    # The modulus of strong convexity is taken in the norm of the set, by its inradius.
    big = mu * 0.25
    alpha = min(
        9 * 1.6**2 / (big * 500**2), 81 * 1.6**6 * 0.49 / (big**3 * 500**4 * 2.2**2 * math.log(1e5))
    )
    s2 = math.sqrt(64 * alpha * math.log(2.5e5) * 1.6**2 / (big * 0.49))
    lam = max(0.0, 0.5 * ((beta - mu) / (500 * (math.exp(0.7 / 12) - 1)) - mu))
    expected = (
        s1**2 * (2.2**2 + 0.64) / (2 * big * 500**2),
        lam * 0.64,
        2 * 9 * 0.64 / (big * 500),
        3 * 0.8 * math.sqrt(2 * alpha / big),
        3 * math.sqrt(2 * s2 * 2.2),
    )
    assert objective.explicit_strong(inputs, beta, mu, 3) == pytest.approx(expected)
    assert objective.explicit_strong(inputs, beta, mu, 0)[1] == 0


def test_the_width_lower_bound_is_below_b2_on_its_instance():
    for n in (10, 1000, 10**6):
        for d in (1, 5, 300):
            width = ball_width(d, 1.0)
            inputs = Objective(
                n=n,
                epsilon=0.9,
                delta=1e-6,
                lipschitz=1.0,
                diameter=1.0,
                width=width,
                inradius=0.5,
            )
            upper = sum(objective.explicit_strong(inputs, 1.0, 1.0, 0))
            assert max(lower_other.width_lower(inputs, d)) <= upper


@second_implementation_of(
    "upper.sco.private-sgd-paper",
    "upper.sco.private-sgd-theorem",
    "upper.sco.private-sgd-utility",
    "upper.sco.private-sgd-regret",
    "upper.sco.private-sgd-explicit",
    "upper.sco.private-sgd-pruned",
)
def test_the_catalogues_bounds_are_the_formulas_at_the_proven_noise_and_distance():
    n, d, lipschitz, diameter = 2000, 7, 1.5, 3.0
    for budget in (ApproxDP(epsilon=0.3, delta=1e-5), ZCDP(rho=0.2)):
        setting = make_setting(n, d, 3.0, budget, lipschitz=lipschitz, diameter=diameter)
        noise = sco_private_sgd.sound_noise(setting)
        m = n // 2 + 1
        steps = math.fsum(n / (n - k) for k in range(m))
        energy = lipschitz**2 * m + noise**2 * d * steps
        spread = lipschitz + noise * math.sqrt(d)
        expected = {
            "explicit": diameter / 2 * math.sqrt(energy) / m,
            "pruned": diameter / 2 * math.sqrt((lipschitz**2 + noise**2 * d) / m),
            "utility": 2.5 * diameter * spread / math.sqrt(n),
            "regret": 2 * math.sqrt(n) / m * diameter * spread,
        }
        for name, value in expected.items():
            row_value = BY_SLUG[f"upper.sco.private-sgd-{name}"].value(setting)
            assert row_value == pytest.approx(value, rel=1e-9), name
    approx = make_setting(
        n, d, 3.0, budget := ApproxDP(epsilon=0.02, delta=1e-5), diameter=diameter
    )
    parameters = sco_private_sgd.theorem_parameters(n, budget)
    theorem = sum(sco_private_sgd.main_theorem(approx, *parameters))
    assert BY_SLUG["upper.sco.private-sgd-theorem"].value(approx) == pytest.approx(theorem)
    remark = 5 * 15 / math.sqrt(n) + 160 * 15 * math.sqrt(d) * math.log(3e5) / (0.02 * n)
    assert BY_SLUG["upper.sco.private-sgd-paper"].value(approx) == pytest.approx(remark)


def test_the_bounds_on_objective_perturbation_take_the_rank_of_their_losses():
    budget = ApproxDP(epsilon=0.5, delta=1e-6)
    for structure, rank in (("mean", 0), ("linear", 0), ("linear-model", 1), ("other", 9)):
        setting = make_setting(500, 9, 3.0, budget, structure=structure, sample_smoothness=8.0)
        inputs = Objective(
            n=500,
            epsilon=0.5,
            delta=1e-6,
            lipschitz=5.0,
            diameter=2.0,
            width=ball_width(9, 2.0),
            inradius=1.0,
        )
        for name, printed in (("explicit", False), ("paper", True)):
            value = sum(objective.explicit(inputs, 8.0, rank, printed=printed))
            row = BY_SLUG[f"upper.sco.objective-perturbation-{name}"]
            assert row.value(setting) == pytest.approx(value), (structure, name)
        strong = objective.explicit_strong(inputs, 8.0, 1.0, 0 if structure == "mean" else 9)
        row = BY_SLUG["upper.sco.objective-perturbation-strong-explicit"]
        assert row.value(setting) == pytest.approx(sum(strong)), structure
