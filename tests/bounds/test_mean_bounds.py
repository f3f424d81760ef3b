"""The catalogue's bounds on mean estimation: claims that hold for every bound at every setting."""

import math
import random
from dataclasses import replace

import pytest

from dpsco_core.bounds.instances.hardest import best_spike_probability
from dpsco_core.bounds.mean.below_two import BELOW_TWO_BOUNDS
from dpsco_core.bounds.mean.rows import LOWER_MEAN_BOUNDS, MEAN_BOUNDS, UPPER_MEAN_BOUNDS
from dpsco_core.data import StudentT
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP, pure_epsilon
from tests.bounds.helpers import check_fixed_probability, instances_of, make_setting
from tests.folded import each, one_in

BY_SLUG = {bound.card.slug: bound for bound in MEAN_BOUNDS}
# These bounds use at least tau = 10 where their hypotheses fail, and keep the bias of that tau.
FLOORED = [BY_SLUG[f"upper.mean.cwme-{noise}-paper"] for noise in ("cdp", "pure")]


def test_the_fixed_slugs_exist_once_each():
    assert len(BY_SLUG) == len(MEAN_BOUNDS)
    for method in ("cwme-cdp", "cwme-pure", "smoothed", "clipped", "iterative", "sample"):
        assert f"upper.mean.{method}" in BY_SLUG
    assert "upper.mean.median-of-means" in BY_SLUG


@each("bound", MEAN_BOUNDS, ids=lambda b: b.card.slug)
def test_a_card_describes_its_bound(bound):
    card = bound.card
    assert card.kind == ("upper" if bound in UPPER_MEAN_BOUNDS else "lower")
    assert card.slug.startswith(f"{card.kind}.mean.")
    assert card.summary.endswith(".") and card.statement and card.name
    assert card.latex.count("{") == card.latex.count("}")
    assert card.latex.count(r"\Big[") == card.latex.count(r"\Big]")
    assert "\x0b" not in card.latex and "\t" not in card.latex
    if card.kind == "upper":
        assert card.slug.startswith(f"upper.{card.method}") and not card.instance
    else:
        assert not card.method
        assert card.instance in instances_of(card)
    assert (card.quantity == "squared l2 error") == card.slug.endswith("-squared")


def random_settings(count, seed, budgets=("zcdp", "approx", "pure")):
    """Yield random settings under budgets of these kinds."""
    source = random.Random(seed)
    for _ in range(count):
        kind = source.choice(budgets)
        strength = 10 ** source.uniform(-3, 1)
        budget = {
            "zcdp": ZCDP(rho=strength),
            "approx": ApproxDP(epsilon=strength, delta=1e-6),
            "pure": PureDP(epsilon=strength),
        }[kind]
        bound = 10 ** source.uniform(-1.5, 1.5)
        yield make_setting(
            n=int(10 ** source.uniform(0.3, 7)),
            d=source.choice([1, 2, 5, 16, 40, 200, 1000]),
            order=source.choice([2, 2.5, 3, 4, 10, 100]),
            budget=budget,
            coordinate_moment=source.choice([1.0, 1.0, 0.3, 5.0]),
            mean_bound=bound,
            directional_moment=bound + 1,
        )


# For each class of algorithms of a lower bound, these are the methods that satisfy its budget.
EXPECTED = {
    "gaussian": (
        "upper.mean.cwme-cdp-expected",
        "upper.mean.smoothed-expected",
        "upper.mean.clipped-expected-coordinate",
    ),
    "laplace": ("upper.mean.cwme-pure-expected",),
}


# A lower bound 1.5 times as large would exceed an upper one at 11 of the 80 quick settings.
@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(setting, marks=[pytest.mark.slow] * (i % 2))
        for i, setting in enumerate(random_settings(160, 11))
    ],
)
def test_no_explicit_lower_bound_exceeds_an_explicit_upper_bound_of_its_class(setting):
    pure = isinstance(setting.budget, PureDP)
    uppers = EXPECTED["laplace" if pure else "gaussian"]
    smallest = min(BY_SLUG[slug].value(setting) for slug in uppers)
    classes = ("none", "zcdp", "pure") if pure else ("none", "zcdp")
    for bound in LOWER_MEAN_BOUNDS:
        card = bound.card
        if card.constant != "explicit" or card.privacy not in classes or bound.failures(setting):
            continue
        limit = smallest**2 if card.quantity == "squared l2 error" else smallest
        assert bound.value(setting) <= limit * (1 + 1e-9), card.slug


@pytest.mark.parametrize("part", one_in(3, range(3)))
def test_no_explicit_lower_bound_exceeds_the_public_bound_on_the_mean(part):
    for setting in list(random_settings(60, 12))[part::3]:
        assert_no_lower_exceeds_the_public_bound(setting)


def assert_no_lower_exceeds_the_public_bound(setting):
    """Assert that no lower bound exceeds the error of the answer 0."""
    limit = setting.constants.mean_gradient_bound
    for bound in LOWER_MEAN_BOUNDS:
        if bound.card.constant != "explicit" or bound.failures(setting):
            # The bound has no value here that could be compared with the error R of the answer 0.
            continue
        power = 2 if bound.card.quantity == "squared l2 error" else 1
        assert bound.value(setting) <= limit**power * (1 + 1e-9), bound.card.slug


@each("setting", list(random_settings(60, 13)))
@each("notion", ["cdp", "pure"])
def test_upper_rates_are_never_below_the_lower_rates(setting, notion):
    lower = BY_SLUG[f"lower.mean.rate-{notion}"]
    upper = BY_SLUG[f"upper.mean.cwme-{notion}"]
    if isinstance(setting.budget, PureDP) and notion == "cdp":
        assert upper.value(setting) == math.inf
        return
    assert upper.value(setting) >= lower.value(setting) * (1 - 1e-12)
    if upper.terms(setting)["privacy"] <= math.sqrt(
        setting.d
    ) * setting.constants.coordinate_moment ** (1 / setting.moment_order):
        assert upper.value(setting) == pytest.approx(lower.value(setting))


def scaled_setting(setting, factor):
    """Return the setting of the same data in other units: each record times a factor."""
    c = setting.constants
    return make_setting(
        n=setting.n,
        d=setting.d,
        order=setting.moment_order,
        budget=setting.budget,
        coordinate_moment=c.coordinate_moment * factor**setting.moment_order,
        directional_moment=c.directional_moment * factor,
        mean_bound=c.mean_gradient_bound * factor,
    )


@each("setting", list(random_settings(12, 14, ("zcdp", "approx"))))
@each("bound", MEAN_BOUNDS, ids=lambda b: b.card.slug)
def test_every_term_scales_with_the_data(bound, setting):
    factor = 1.7
    power = 2 if bound.card.quantity == "squared l2 error" else 1
    terms, scaled_terms = bound.terms(setting), bound.terms(scaled_setting(setting, factor))
    for name, value in terms.items():
        assert scaled_terms[name] == pytest.approx(factor**power * value, rel=1e-4), name
    assert bound.value(scaled_setting(setting, factor)) == pytest.approx(
        factor**power * bound.value(setting), rel=1e-6
    )


@each("bound", MEAN_BOUNDS, ids=lambda b: b.card.slug)
def test_no_bound_rises_with_more_records_or_budget(bound):
    for setting in random_settings(12, 15, ("zcdp",)):
        value = bound.value(setting)
        larger = make_setting(
            n=4 * setting.n,
            d=setting.d,
            order=setting.moment_order,
            budget=ZCDP(rho=3 * setting.budget.rho),
            coordinate_moment=setting.constants.coordinate_moment,
            directional_moment=setting.constants.directional_moment,
            mean_bound=setting.constants.mean_gradient_bound,
        )
        if bound in FLOORED and bound.failures(setting):
            continue
        if bound.parameters == "run" and bound.failures(larger):
            continue  # The proof does not cover a run with more records or a larger budget.
        assert bound.value(larger) <= value * (1 + 1e-6) or math.isinf(value)


@each("bound", MEAN_BOUNDS, ids=lambda b: b.card.slug)
@each("budget", [ZCDP(rho=1e-8), ZCDP(rho=1e4), PureDP(epsilon=0.1)])
def test_the_corners_of_the_range_give_numbers_without_warnings(bound, budget):
    for n in (1, 10**9):
        for d in (1, 10**5):
            for order in (2.0, 100.0):
                for limit in (0.0, 1.0, math.inf):
                    setting = make_setting(
                        n, d, order, budget, mean_bound=limit, directional_moment=limit + 1
                    )
                    assert bound.value(setting) >= 0
                    assert all(isinstance(s, str) for s in bound.failures(setting))


@each("bound", MEAN_BOUNDS, ids=lambda b: b.card.slug)
def test_a_missing_constant_fails_a_hypothesis_and_never_gives_a_false_bound(bound):
    setting = make_setting(
        coordinate_moment=math.inf, directional_moment=math.inf, mean_bound=math.inf
    )
    value = bound.value(setting)
    assert bound.failures(setting)
    assert value == (0 if bound.card.kind == "lower" else math.inf)


def test_a_pure_budget_voids_the_gaussian_methods_with_a_reason():
    setting = make_setting(budget=PureDP(epsilon=1.0))
    for bound in UPPER_MEAN_BOUNDS:
        if bound.card.privacy in ("zcdp", "approx"):
            assert bound.value(setting) == math.inf
            assert any(
                "(epsilon, delta) budget" in s and "1-DP" in s for s in bound.failures(setting)
            )
        else:
            assert bound.value(setting) < math.inf


def test_a_bound_is_evaluated_at_a_fixed_spike_probability():
    p = 1e-4
    for bound in LOWER_MEAN_BOUNDS:
        budget = (
            ApproxDP(epsilon=1.0, delta=1e-6) if bound.card.privacy == "approx" else ZCDP(rho=0.5)
        )
        setting = make_setting(d=40, mean_bound=math.inf, budget=budget)
        check_fixed_probability(bound, setting, p)
    value = BY_SLUG["lower.mean.hypercube-cdp"].value(make_setting(d=40, spike_probability=p))
    from dpsco_core.bounds.instances.hypercube import hypercube_cdp

    assert value == hypercube_cdp(p, 10_000, 40, 4.0, 0.5)


@pytest.mark.parametrize("kind", ["fano-cdp", "fano-pure", "hypercube-cdp", "hypercube-pure"])
def test_fixed_and_free_bounds_agree_at_the_best_spike_probability(kind):
    budget = ZCDP(rho=0.5)
    level = 0.5 if kind.endswith("cdp") else pure_epsilon(budget)
    p, value = best_spike_probability(kind, 10_000, 40, 4.0, level, 0.05)
    bound = BY_SLUG[f"lower.mean.{kind}"]
    free = make_setting(d=40, budget=budget, mean_bound=0.05)
    fixed = make_setting(d=40, budget=budget, mean_bound=0.05, spike_probability=p)
    assert bound.value(fixed) == bound.value(free) == pytest.approx(value)
    assert bound.failures(fixed) == ()


SENTENCES = [
    ("lower.mean.fano-cdp", {"d": 8}, "needs d >= 9"),
    ("lower.mean.fano-pure", {"d": 7}, "needs d >= 8"),
    ("lower.mean.fano-cdp-gilbert", {"d": 2}, "needs d >= 3"),
    ("lower.mean.hypercube-cdp", {"spike_probability": 0.9}, "exceed R=1"),
    ("lower.mean.tracing-cdp", {"spike_probability": 0.9}, "leaves the bound R"),
    ("lower.mean.tracing-cdp", {"d": 1}, "0 at d=1: it needs d >= 2"),
    ("lower.mean.approx-assouad", {"spike_probability": 0.9}, "leaves the bound R"),
    ("lower.mean.approx-tracing", {}, "the budget is 0.5-zCDP, for which there are larger ones"),
    ("lower.mean.gaussian", {}, "mean has norm at most R=1"),
    ("lower.mean.rate-cdp", {"mean_bound": 0.01}, "exceeds R=0.01"),
    ("upper.mean.cwme-cdp", {"n": 1000}, "n >= 10^4 sqrt(d/rho), and tau=3.55 at n=1000"),
    ("upper.mean.cwme-pure", {"mean_bound": 11.0}, "at most 10 moment units, and R=11"),
    ("upper.mean.cwme-cdp-paper", {"n": 20}, "= 24 records, and n=20"),
    ("upper.mean.cwme-cdp-probability", {"n": 20}, "= 28 records, and n=20"),
    ("upper.mean.smoothed", {"n": 100}, "n >= 100 sqrt(d/rho), and tau=3.98 at n=100"),
    ("upper.mean.median-of-means", {"n": 20}, "m = 4 ln(2d/0.05) = 27 records, and n=20"),
    ("upper.mean.smoothed-expected", {"mean_bound": math.inf}, "finite public bound R"),
    (
        "upper.mean.clipped",
        {"directional_moment": math.inf},
        "no directional moment M of order p=4",
    ),
    ("upper.mean.iterative-paper", {"n": 2000}, "= 2397 records, and n=2000"),
    ("upper.mean.iterative-paper", {}, "4 r_0 = "),
    ("upper.mean.iterative-probability", {"n": 5}, "n >= k = 8"),
    ("upper.mean.iterative-amplified", {}, "not 0.5-zCDP"),
    (
        "upper.mean.iterative-amplified",
        {"budget": ApproxDP(epsilon=6.0, delta=1e-6)},
        "epsilon <= 8e^2 sqrt(ln(4/delta)/k) = 4.71 at k=2397, and epsilon=6",
    ),
]


@each(("slug", "changes", "words"), SENTENCES)
def test_a_failing_hypothesis_is_reported_with_its_numbers(slug, changes, words):
    failures = BY_SLUG[slug].failures(make_setting(**changes))
    assert any(words in sentence for sentence in failures), failures
    assert all(s.endswith(".") and s[0].isupper() for s in failures)


def test_where_all_hypotheses_hold_none_is_reported():
    setting = make_setting(n=10**9, d=20, order=2.0, mean_bound=1.0, directional_moment=2.0)
    setting = replace(setting, law=StudentT(d=20, moment_order=2.0))
    quiet = {b.card.slug for b in MEAN_BOUNDS if not b.failures(setting)}
    concentrated = {b.card.slug for b in LOWER_MEAN_BOUNDS if b.card.privacy != "approx"}
    below_two = {"lower.mean.unseen", "lower.mean.unseen-squared"}
    assert concentrated - quiet == {"lower.mean.gaussian"} | below_two
    above_two = {b.card.slug for b in UPPER_MEAN_BOUNDS} - {b.card.slug for b in BELOW_TWO_BOUNDS}
    assert above_two - quiet == {
        "upper.mean.iterative",
        "upper.mean.iterative-amplified",
        "upper.mean.iterative-paper",
        "upper.mean.iterative-probability",
        "upper.mean.adaptive",  # These bounds are for the guarded mode.
        "upper.mean.adaptive-expected",
    }
    # The budget is 0.5-zCDP, so only bounds for such algorithms apply.
    assert not quiet & ({b.card.slug for b in LOWER_MEAN_BOUNDS} - concentrated)
