"""No lower bound on excess risk exceeds an upper bound of the same class of problems."""

import math

import numpy as np
import pytest

from dpsco_core.bounds.euclidean.lower_spikes import mean_cap
from dpsco_core.bounds.euclidean.rows import LOWER_SCO_BOUNDS, UPPER_SCO_BOUNDS
from dpsco_core.bounds.instances.hardest import best_spike_probability
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP
from tests.bound_marks import second_implementation_of
from tests.bounds.euclidean.helpers import BY_SLUG, make_setting, random_settings, with_constants
from tests.folded import each, one_in


def is_explicit_and_private(card):
    """Return whether a card is of an explicit bound on private methods on the l2 ball."""
    return (card.constant, card.geometry) == ("explicit", "l2") and card.privacy != "none"


# These explicit upper bounds hold under the assumptions of the lower bounds: bounded moments, and
# no Lipschitz constant of the loss.
MOMENT_UPPER = [
    b
    for b in UPPER_SCO_BOUNDS
    if is_explicit_and_private(b.card) and not b.card.loss_class.lipschitz
]
LIPSCHITZ_UPPER = [
    b for b in UPPER_SCO_BOUNDS if is_explicit_and_private(b.card) and b.card.loss_class.lipschitz
]


@pytest.mark.parametrize("part", one_in(3, range(3)))
def test_no_explicit_lower_bound_exceeds_an_explicit_upper_bound_of_its_class(part):
    for setting in list(random_settings(50, 31))[part::3]:
        assert_no_lower_exceeds_an_upper(setting)


def assert_no_lower_exceeds_an_upper(setting):
    """Assert that each lower bound is below each upper bound of its class."""
    private = not isinstance(setting.budget, PureDP)
    for lower in LOWER_SCO_BOUNDS:
        card = lower.card
        if card.constant != "explicit" or card.privacy == "pure" or lower.failures(setting):
            continue
        strong = card.loss_class.curvature == "strongly convex"
        # A quadratic is smooth with strong-convexity modulus lambda and an interior minimum; the
        # class contains it.
        value = lower.value(setting)
        if card.privacy == "none" or private:
            for upper in MOMENT_UPPER if private else []:
                if upper.card.loss_class.curvature == "strongly convex" and not strong:
                    continue  # This upper bound is for strongly convex losses only.
                if upper.card.losses:
                    # This bound is proven for one loss, for which no hard instance is tried here.
                    continue
                if upper.card.ignores_data and "lipschitz_second" in card.law_class.constants:
                    continue  # This class bounds the mean gradient by its moments, and not by R.
                if not upper.failures(setting):
                    assert value <= upper.value(setting) * (1 + 1e-9), (card.slug, upper.card.slug)
        if card.privacy == "none":
            sgd = BY_SLUG["upper.sco.sgd"]
            assert value <= sgd.value(setting) * (1 + 1e-9), card.slug


@pytest.mark.parametrize("part", one_in(4, range(4)))
def test_no_explicit_lower_bound_exceeds_what_the_centre_achieves(part):
    for setting in list(random_settings(80, 32))[part::4]:
        assert_no_lower_exceeds_the_centre(setting)


def assert_no_lower_exceeds_the_centre(setting):
    """Assert that no lower bound exceeds the risk of the ball's centre, the steepest slope times
    the radius.
    """
    c = setting.constants
    for lower in LOWER_SCO_BOUNDS:
        if lower.card.constant != "explicit" or lower.failures(setting):
            continue
        # A class of Lipschitz moments bounds the mean gradient by those moments alone.
        is_lipschitz = "lipschitz_second" in lower.card.law_class.constants
        steepest = c.lipschitz_second if is_lipschitz else c.mean_gradient_bound
        assert lower.value(setting) <= steepest * c.diameter / 2 * (1 + 1e-9)
        if lower.card.loss_class.curvature == "strongly convex":
            centre_risk = c.strong_convexity * c.diameter**2 / 8
            assert lower.value(setting) <= centre_risk * (1 + 1e-9)


# This seed, of 27 tried, gives the closest pair: a factor of 6.8, at two records.
@each("setting", list(random_settings(40, 50, ("zcdp", "approx"))))
def test_lipschitz_upper_bounds_hold_on_the_hard_instances(setting):
    # The linear loss on the hypercube has gradients of norm p^(-1/k) sqrt(d) g, which is certified
    # here.
    order, d = setting.moment_order, setting.d
    scale = setting.constants.coordinate_moment ** (1 / order)
    cap = mean_cap(setting, False)
    p, _ = best_spike_probability("hypercube-cdp-convex", setting.n, d, order, setting.rho, cap)
    lipschitz = p ** (-1 / order) * math.sqrt(d) * scale
    steep = with_constants(
        setting,
        lipschitz=lipschitz,
        smoothness=0.0,
        sample_smoothness=0.0,
        strong_convexity=0.0,
        sample_strong_convexity=0.0,
        minimum_interior=False,
        structure="linear",
    )
    lower = BY_SLUG["lower.sco.hypercube-cdp"].value(steep)
    signs = BY_SLUG["lower.sco.sampling-signs"].value(steep)
    assert lower > 0
    for upper in LIPSCHITZ_UPPER:
        if not upper.failures(steep):
            assert lower <= upper.value(steep) * (1 + 1e-9), upper.card.slug
            if lipschitz >= 2 * math.sqrt(d) * scale:
                assert signs <= upper.value(steep) * (1 + 1e-9), upper.card.slug


@each("setting", list(random_settings(80, 34, ("zcdp", "approx"))))
def test_upper_rates_are_never_below_the_lower_rates(setting):
    lower = BY_SLUG["lower.sco.rate-cdp"].value(setting)
    for slug in ("cwme", "clipped", "iterative"):
        assert BY_SLUG[f"upper.sco.{slug}"].value(setting) >= lower * (1 - 1e-12), slug
    if setting.moment_order == 2:
        assert BY_SLUG["upper.sco.smoothed"].value(setting) >= lower * (1 - 1e-12)
    ratio = BY_SLUG["upper.sco.prior-bassily-2019"].value(setting)
    assert ratio >= BY_SLUG["lower.sco.rate-lipschitz"].value(setting) * (1 - 1e-12)
    strong = BY_SLUG["lower.sco-strong.rate-cdp"].value(setting)
    assert BY_SLUG["upper.sco.cwme-strong"].value(setting) >= strong * (1 - 1e-12)


def test_the_explicit_lower_bound_is_a_constant_below_the_rate():
    # 0.1767 sqrt(d) min(1, (sqrt(d)/(sqrt(rho) n))^a): theory/kamath-liu-zhang.md, 4.5.
    for setting in random_settings(40, 35, ("zcdp",)):
        free = with_constants(setting, mean_gradient_bound=math.inf)
        rate = BY_SLUG["lower.sco.rate-cdp"].terms(free)["privacy"]
        assert BY_SLUG["lower.sco.hypercube-cdp"].value(free) >= 0.1767 * rate


@each("setting", list(random_settings(40, 36, ("zcdp", "approx"))))
def test_the_bounds_of_one_method_are_in_order(setting):
    def value(name):
        """Return the value of an upper bound at the setting."""
        return BY_SLUG[f"upper.sco.{name}"].value(setting)

    assert value("clipped-explicit") <= value("clipped-explicit-paper") * (1 + 1e-6)
    assert value("cwme-strong-explicit") <= value("cwme-strong-explicit-divided") * (1 + 1e-6)
    assert value("cwme-strong-explicit-divided") <= value("cwme-strong-framework") * (1 + 1e-6)
    assert value("private-sgd-pruned") <= value("private-sgd-explicit") * (1 + 1e-9)
    assert value("private-sgd-explicit") <= value("private-sgd-utility") * (1 + 1e-9)
    if isinstance(setting.budget, ApproxDP):
        names = ("objective-perturbation-explicit", "objective-perturbation-paper")
        assert value(names[0]) <= value(names[1]) * (1 + 1e-9)
        # Where Remark 1's condition on delta holds, a third of delta is less than what Theorem 6
        # leaves.
        paper = BY_SLUG["upper.sco.private-sgd-paper"]
        if not any("Remark 1" in sentence for sentence in paper.failures(setting)):
            assert value("private-sgd-theorem") <= value("private-sgd-paper") * (1 + 1e-9)


@second_implementation_of("upper.sco.sgd")
def test_sgd_respects_its_bound_on_the_linear_loss():
    # The mean excess risk of one pass over X = theta nu + signs, in 400 runs. The bound is 1.6
    # times this risk; a bound half as large would fail by more than 20 standard errors.
    rng = np.random.default_rng(7)
    n, d, runs = 200, 5, 400
    mean = np.full(d, 0.15)
    energy = d
    step = 1.0 / math.sqrt(energy * n)
    risks = []
    for _ in range(runs):
        x = np.where(rng.random((n, d)) < (1 + mean) / 2, 1.0, -1.0)
        w, total = np.zeros(d), np.zeros(d)
        for row in x:
            total += w
            w = w + step * row
            w /= max(1.0, float(np.linalg.norm(w)))
        risks.append(float(np.linalg.norm(mean) - total @ mean / n))
    setting = make_setting(
        n,
        d,
        2.0,
        ZCDP(rho=1.0),
        diameter=2.0,
        lipschitz=math.sqrt(d),
        mean_gradient_bound=float(np.linalg.norm(mean)),
        variance_trace=float(d - d * 0.15**2),
    )
    bound = BY_SLUG["upper.sco.sgd"].value(setting)
    assert bound == pytest.approx(math.sqrt(d / n))
    error = float(np.std(risks) / math.sqrt(runs))
    assert np.mean(risks) + 5 * error < bound
    assert np.mean(risks) - 5 * error > bound / 2
