"""Lower bounds on excess risk at the hard instances of the catalogue, and their wording.

A lower bound holds for the prior at one spike probability and one size of the spikes, and both must
be those of the instance. Algorithms that know the prior come within a few per cent of some bounds
and attain others, so an error of that size in the unit, the radius or the probability is detected.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student

from dpsco_core.base.cards import KAMATH_2022
from dpsco_core.bounds.euclidean.rows import LOWER_SCO_BOUNDS, SCO_BOUNDS
from dpsco_core.bounds.instances.hardest import FORMS, best_spike_probability
from dpsco_core.catalogue import make_instance
from dpsco_core.data import EllipticalT, Gaussian, Hypercube, SkewedPareto, StudentT
from dpsco_core.privacy import ZCDP, PureDP
from dpsco_core.privacy.budget import ApproxDP, Budget
from dpsco_core.problems import GeometricMedian, Linear, Quadratic, Setting
from tests.bounds.euclidean.helpers import BY_SLUG, make_setting
from tests.folded import each
from tests.golden_sentences import GOLDEN

FALSE_ALARM = 1e-6
INSTANCE_BOUNDS = [b for b in LOWER_SCO_BOUNDS if b.card.instance]
SPIKES = [b for b in INSTANCE_BOUNDS if b.card.paper == KAMATH_2022]
RADIUS = 3.0


def setting_of_instance(
    problem: str, law: str, n: int, d: int, p: float, budget: Budget, radius: float = RADIUS
) -> Setting:
    """Return the setting of the catalogue's hard instance, with its spike probability."""
    instance = make_instance(
        problem=problem,
        distribution=law,
        n=n,
        d=d,
        budget=budget,
        moment_order=p,
        margin=0.5,
        offset=0.0,
        radius=radius,
    )
    return instance.problem.setting(n, budget, spike_probability=instance.spike_probability)


@each("bound", SPIKES, ids=lambda b: b.card.slug)
@each(("n", "d"), [(1, 16), (2, 40), (40, 16), (3000, 64)])
def test_a_bound_has_the_unit_of_the_instance_that_is_drawn(bound, n, d):
    card = bound.card
    strong = card.instance_problem == "quadratic"
    budget = PureDP(epsilon=0.7) if card.privacy == "pure" else ZCDP(rho=0.05)
    level = 0.7 if card.privacy == "pure" else 0.05
    setting = setting_of_instance(card.instance_problem, card.instance, n, d, 3.0, budget)
    assert bound.failures(setting) == ()
    family = "fano" if card.instance == "spike" else "hypercube"
    notion = "pure" if card.privacy == "pure" else "cdp"
    form = f"{family}-{notion}-{'squared' if strong else 'convex'}"
    # The bound is in units of spikes of size q^(-1/p).
    raw = FORMS[form][0](setting.spike_probability, n, d, 3.0, level)
    unit = 0.5 if strong else RADIUS
    assert bound.value(setting) == pytest.approx(unit * raw, rel=1e-12)
    if n == 1 and card.instance == "hypercube":
        # At q = 1 the central moment is 0, and the mean is unknown.
        assert bound.value(setting) > 0


@pytest.mark.parametrize("law", ["spike", "hypercube", "tracing"])
@pytest.mark.parametrize("d", [3, 5, 11, 20, 40])
def test_a_mean_on_the_sphere_is_inside_the_ball(law, d):
    # A small ball caps the spike probability: the mean's norm is the radius, up to rounding.
    for radius in (0.07, 0.083775, 0.16565265, 0.3, 0.7):
        setting = setting_of_instance("quadratic", law, 20, d, 3.0, ZCDP(rho=1e-3), radius)
        cap, _ = best_spike_probability("hypercube-cdp-squared", 20, d, 3.0, 1e-3, radius)
        assert law != "hypercube" or setting.spike_probability == cap
        assert setting.constants.minimum_interior
        for bound in INSTANCE_BOUNDS:
            card = bound.card
            if (card.instance, card.instance_problem) == (law, "quadratic"):
                words = [s for s in bound.failures(setting) if "prior" in s]
                assert words == [], card.slug


@pytest.mark.parametrize("family", [Gaussian, StudentT, EllipticalT, SkewedPareto])
def test_an_ordinary_mean_on_the_sphere_is_inside_the_ball(family):
    for turn in range(3):
        for d in range(1 + turn, 40, 3):  # Each dimension is tried at one of the radii.
            radius = (0.7, 1.5, 3.0)[(turn + d // 3) % 3]
            law = family(d=d, moment_order=2.0, offset=radius)
            assert Quadratic(distribution=law, radius=radius).constants.minimum_interior
            # The constructor must not refuse a mean on the sphere.
            median = GeometricMedian(distribution=law, radius=radius)
            assert median.constants.minimum_interior or family is SkewedPareto
            outside_mean = family(d=d, moment_order=2.0, offset=radius * 1.001)
            assert not Quadratic(
                distribution=outside_mean, radius=radius
            ).constants.minimum_interior


def test_hard_instances_are_certified_in_their_class():
    for q in (0.01, 0.5, 1.0):
        law = Hypercube(d=4, moment_order=3.0, spike_probability=q)
        for problem in (Quadratic, Linear):
            moment = problem(distribution=law, radius=1.0).constants.coordinate_moment
            assert moment == 1.0 >= law.moment(3.0)


def gaussian_risks(setting: Setting, rho: float, strong: bool, trials: int) -> np.ndarray:
    """Return the excess risks of the posterior mean given a noisy sum of sign patterns (rho-zCDP).

    A record's pattern has norm sqrt(d), so the sum moves by at most 2 sqrt(d).
    """
    n, d, q, p = setting.n, setting.d, float(setting.spike_probability or 0.0), setting.moment_order
    rng = np.random.default_rng(8)
    signs = 2.0 * rng.integers(0, 2, size=(trials, d)) - 1
    counts = rng.binomial(n, q, size=trials)
    std = 2 * math.sqrt(d) / math.sqrt(2 * rho)
    statistics = counts[:, None] * signs + std * rng.standard_normal((trials, d))
    possible = np.arange(n + 1)
    tilt = possible[:, None, None] * statistics / std**2
    log_weight = np.logaddexp(tilt, -tilt).sum(axis=2) - d * (possible**2)[:, None] / (2 * std**2)
    log_weight += binom.logpmf(possible, n, q)[:, None]
    weight = np.exp(log_weight - log_weight.max(axis=0))
    weight /= weight.sum(axis=0)
    mean = np.einsum("bt,btj->tj", weight, np.tanh(tilt))
    size = q ** (1 - 1 / p)
    if strong:
        return 0.5 * size**2 * np.square(mean - signs).sum(axis=1)
    unit = mean / np.linalg.norm(mean, axis=1)[:, None]
    return RADIUS * size * (math.sqrt(d) - (unit * signs).sum(axis=1))


@pytest.mark.parametrize("problem", ["linear", "quadratic"])
@pytest.mark.parametrize(("n", "d", "rho"), [(1, 1, 8.0), (10, 1, 10.0), (2, 5, 0.1), (8, 12, 0.5)])
def test_the_optimal_use_of_gaussian_noise_is_not_below_the_bound(problem, n, d, rho):
    setting = setting_of_instance(problem, "hypercube", n, d, 2.0, ZCDP(rho=rho), 100.0)
    strong = problem == "quadratic"
    area = f"lower.sco{'-strong' if strong else ''}"
    bounds = [
        BY_SLUG[f"{area}.{argument}-cdp"].value(setting)
        for argument in ("two-sided", "hypercube", "fano-distance")
    ]
    risks = gaussian_risks(setting, rho, strong, 4000)
    if not strong:
        risks = risks * 100.0 / RADIUS
    error = float(risks.std(ddof=1)) / math.sqrt(len(risks))
    allowance = float(student.isf(FALSE_ALARM, len(risks) - 1)) * error
    assert risks.mean() + allowance >= max(bounds)
    # The instance has the spike probability at which the first bound is largest. Measured ratios to
    # the bounds: 1.00, 0.99, 1.13, 1.18 for linear losses; 1.30, 1.22, 1.04, 1.45 for quadratic
    # ones. A bound 1.6 times as large would fail in every case, one a quarter larger in the first
    # two.
    assert risks.mean() + allowance <= (1.2 if d == 1 and not strong else 1.55) * bounds[0]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_randomised_response_attains_the_pure_bound_for_one_record(epsilon, d):
    # With one record, releasing a sign pattern near it with odds e^epsilon is epsilon-DP, and its
    # expected fraction of wrong signs is g_d(epsilon) at the best radius.
    setting = setting_of_instance("linear", "hypercube", 1, d, 2.0, PureDP(epsilon=epsilon))
    q = float(setting.spike_probability or 0.0)
    best_risk = 0.5
    for radius in range(d):
        ball_size = sum(math.comb(d, i) for i in range(radius + 1))
        wrong = sum(i * math.comb(d, i) for i in range(radius + 1))
        odds = math.exp(epsilon)
        total = odds * ball_size + 2**d - ball_size
        best_risk = min(best_risk, (odds * wrong + d * 2 ** (d - 1) - wrong) / (d * total))
    fraction = (1 - q) * 0.5 + q * best_risk
    risk = RADIUS * math.sqrt(q) * math.sqrt(d) * 2 * fraction
    bound = BY_SLUG["lower.sco.hypercube-pure"].value(setting)
    assert bound <= risk * (1 + 1e-12)
    if d == 1:  # 1 - sqrt(1 - 2g) is smaller than 2g; the l2 form is attained.
        l2 = RADIUS * FORMS["hypercube-pure"][0](q, 1, 1, 2.0, epsilon)
        assert l2 == pytest.approx(risk, rel=1e-9)


def test_a_strict_condition_on_epsilon_is_worded_as_strict():
    setting = make_setting(budget=ApproxDP(epsilon=1.0, delta=1e-6))
    sentences = BY_SLUG["upper.sco.objective-perturbation"].failures(setting)
    assert GOLDEN["a statement outside its range"] in sentences
    texts = {h.text for bound in SCO_BOUNDS for h in bound.hypotheses}
    assert not any("inf" in text.split() for text in texts)


def test_a_summary_names_the_class_to_which_its_bound_applies():
    for bound in LOWER_SCO_BOUNDS:
        card = bound.card
        moments = any("moment" in h.text for h in bound.hypotheses)
        assert ("p-th moments" in card.summary) == moments, card.slug
        if "unproven" in card.name:
            assert "proven with" not in card.summary


@each("bound", SCO_BOUNDS, ids=lambda b: b.card.slug)
def test_a_formula_defines_its_number_of_steps(bound):
    latex = bound.card.latex
    # T_b is an expectile, and no number of steps.
    if "T" in latex.replace("TV", "").replace("T_", ""):
        meanings = [x.meaning for x in bound.letters if x.token == "T"]
        of_run = bound.parameters == "run" and meanings == ["number of steps, the run's"]
        assert of_run or r"T=" in latex or r"\min_{T" in latex
    for symbol in (r"\alpha", r"\lambda'"):
        if symbol in latex:
            assert symbol + "=" in latex
