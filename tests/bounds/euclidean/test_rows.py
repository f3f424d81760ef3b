"""The catalogue's bounds on excess risk: claims that hold for every bound at every setting."""

import math
from dataclasses import replace

import pytest

from dpsco_core.bounds.euclidean.one_step import ONE_STEP_RISKS
from dpsco_core.bounds.euclidean.projected import PROJECTED_RISKS
from dpsco_core.bounds.euclidean.rows import LOWER_SCO_BOUNDS, SCO_BOUNDS, UPPER_SCO_BOUNDS
from dpsco_core.bounds.instances.hardest import best_spike_probability
from dpsco_core.bounds.losses.corner_labels import CORNER_RISKS
from dpsco_core.bounds.losses.median_words import MEDIAN_WORD_RISKS
from dpsco_core.bounds.lq.lower import WORD_RISKS
from dpsco_core.data import AnyLabels
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP
from dpsco_core.problems import SCO_PROBLEMS, STRONG_PROBLEMS, Absolute
from tests.bounds.euclidean.helpers import BY_SLUG, make_setting, random_settings, with_constants
from tests.bounds.helpers import check_fixed_probability, instances_of
from tests.folded import each, one_in
from tests.trust.theory import RISES

METHODS = (
    "cwme",
    "smoothed",
    "cwme-strong",
    "clipped",
    "iterative",
    "private-sgd",
    "objective-perturbation",
    "objective-perturbation-strong",
    "noisy-gd",
    "phased-sgd",
    "sgd",
)
LQ_METHODS = (
    "regularized-mirror-descent",
    "phased-sgd",
    "shuffled-mirror-descent",
    "batched-mirror-descent",
    "euclidean-reduction",
    "noisy-mirror-descent",
)
# Bounds printed with a diameter that is no factor, or with a smoothness in other units.
INHOMOGENEOUS = {
    "upper.sco.cwme-paper",
    "upper.sco.cwme-probability",
    "upper.sco.smoothed-paper",
    "upper.sco.cwme-strong",
    "upper.sco.prior-chaudhuri",
    "upper.lp.phased-sgd",
    "upper.lp.phased-sgd-paper",
    "upper.lp.phased-sgd-free",
}
ids = {"ids": lambda b: b.card.slug}


def test_the_fixed_slugs_exist_once_each():
    assert len(BY_SLUG) == len(SCO_BOUNDS)
    for method in METHODS:
        assert BY_SLUG[f"upper.sco.{method}"].card.method == f"sco.{method}"
    for method in LQ_METHODS:
        for form in ("", "-explicit"):
            assert BY_SLUG[f"upper.lp.{method}{form}"].card.method == f"lp.{method}"
    for area in ("sco", "sco-strong"):
        for name in ("fano", "hypercube", "rate"):
            for budget in ("cdp", "pure"):
                assert f"lower.{area}.{name}-{budget}" in BY_SLUG
        assert f"lower.{area}.sampling-signs" in BY_SLUG
    # The catalogue omits a paper whose text is garbled in its source.
    assert not any("Amid" in bound.card.paper.authors for bound in SCO_BOUNDS)


@each("bound", SCO_BOUNDS, **ids)
def test_a_card_describes_its_bound(bound):
    card = bound.card
    assert card.kind == ("upper" if bound in UPPER_SCO_BOUNDS else "lower")
    assert card.quantity == "excess risk"
    assert card.summary.endswith(".") and card.statement and card.name
    assert card.latex.count("{") == card.latex.count("}")
    assert card.latex.count(r"\Big[") == card.latex.count(r"\Big]")
    assert card.latex.count(r"\Big(") == card.latex.count(r"\Big)")
    assert "\x0b" not in card.latex and "\t" not in card.latex and "%" not in card.latex
    strong = card.loss_class.strongly_convex
    assert strong or "strong" not in card.name.lower()
    wide = STRONG_PROBLEMS if strong else SCO_PROBLEMS
    of_means = bound in (*PROJECTED_RISKS, *ONE_STEP_RISKS)
    problems = (card.instance_problem,) if card.kind == "lower" else card.problems[:1]
    if of_means:
        problems = ("quadratic",) if strong else ("linear",)
    assert card.problems == (problems if of_means or card.of_law or card.losses else wide)
    if card.kind == "upper":
        assert not card.instance
        assert not card.method or card.slug.startswith(f"upper.{card.method}")
        prior = card.slug.split(".")[2].startswith("prior-")
        assert bool(card.method) != (of_means or prior or card.ignores_data)
        assert card.constant == "explicit" or "set to 1" in card.summary
    else:
        assert not card.method
        # A bound about one loss or one law is proven with that loss or law.
        narrow = card.of_law or bool(card.losses)
        assert ("measured line may run below" in card.summary) != narrow
        assert card.instance in instances_of(card)
        if (card.instance or card.of_law) and not card.losses:
            assert card.instance_problem == ("quadratic" if strong else "linear")


def test_lipschitz_moments_bind_on_the_instances_of_their_arguments():
    for notion, law in (("cdp", "hypercube"), ("approx", "tracing")):
        assert BY_SLUG[f"lower.sco.lipschitz-moments-{notion}"].card.instance == law


def test_a_claim_without_a_proof_is_labelled_as_such():
    for slug in ("upper.sco.iterative", "upper.sco.iterative-logs", "lower.sco.rate-quoted"):
        bound = BY_SLUG[slug]
        assert bound.card.constant == "rate"
        assert "unproven" in bound.card.name
        generous_setting = make_setting(
            10**9, 2, 2.0, ApproxDP(epsilon=0.5, delta=1e-6), directional_moment=5.0
        )
        assert len(bound.failures(generous_setting)) == 1


@pytest.mark.parametrize("bound", SCO_BOUNDS, **ids)
@pytest.mark.parametrize(
    "budget",
    [
        ZCDP(rho=1e-8),
        pytest.param(ZCDP(rho=1e4), marks=pytest.mark.slow),
        PureDP(epsilon=0.1),
        ApproxDP(epsilon=1e-3, delta=1e-10),
        pytest.param(ApproxDP(epsilon=50.0, delta=0.3), marks=pytest.mark.slow),
    ],
)
def test_the_corners_of_the_range_give_numbers_without_warnings(bound, budget):
    for n in (1, 10**9):
        for d in (1, 10**4):
            for order in (2.0, 100.0):
                for unit in (1e-6, 1e6):
                    setting = make_setting(
                        n,
                        d,
                        order,
                        budget,
                        mean_gradient_bound=unit,
                        diameter=unit,
                        lipschitz=unit,
                        directional_moment=unit,
                    )
                    assert bound.value(setting) >= 0
                    assert all(isinstance(s, str) for s in bound.failures(setting))


MISSING = {
    "coordinate_moment": math.inf,
    "directional_moment": math.inf,
    "variance_trace": math.inf,
    "mean_gradient_bound": math.inf,
    "diameter": math.inf,
    "smoothness": math.inf,
    "sample_smoothness": math.inf,
    "strong_convexity": 0.0,
    "sample_strong_convexity": 0.0,
    "lipschitz": math.inf,
    "minimum_interior": False,
    "nonnegative": False,
    "twice_differentiable": False,
    "structure": "other",
}


@each("bound", SCO_BOUNDS, **ids)
def test_without_constants_no_bound_has_a_value(bound):
    for budget in (ApproxDP(epsilon=0.5, delta=1e-6), ZCDP(rho=0.5), PureDP(epsilon=0.5)):
        setting = make_setting(budget=budget, **MISSING)
        assert bound.failures(setting)
        assert bound.value(setting) == (0 if bound.card.kind == "lower" else math.inf)


@each("bound", SCO_BOUNDS, **ids)
def test_a_missing_constant_that_changes_the_value_is_named(bound):
    setting = make_setting(10**6, 5, 2.0, directional_moment=5.0, mean_gradient_bound=2.0)
    value_before, failures = bound.value(setting), bound.failures(setting)
    for name, value in MISSING.items():
        weaker_setting = with_constants(setting, **{name: value})
        value_after = bound.value(weaker_setting)
        assert not math.isnan(value_after) and value_after >= 0, name
        void = value_after == (0 if bound.card.kind == "lower" else math.inf)
        if void and value_before != value_after:
            assert len(bound.failures(weaker_setting)) > len(failures), name


NEEDS = {
    "upper.sco.cwme": ("coordinate_moment", "diameter", "sample_smoothness", "nonnegative"),
    "upper.sco.cwme-strong": ("strong_convexity", "minimum_interior", "nonnegative"),
    "upper.sco.cwme-strong-explicit": ("strong_convexity", "smoothness", "minimum_interior"),
    "upper.sco.clipped": ("directional_moment", "smoothness", "sample_smoothness", "diameter"),
    "upper.sco.clipped-explicit": ("directional_moment", "sample_smoothness", "diameter"),
    "upper.sco.smoothed-explicit": ("mean_gradient_bound", "sample_smoothness"),
    "upper.sco.private-sgd": ("lipschitz", "diameter"),
    "upper.sco.private-sgd-explicit": ("lipschitz", "diameter"),
    "upper.sco.objective-perturbation": (
        "lipschitz",
        "sample_smoothness",
        "twice_differentiable",
        "structure",
    ),
    "upper.sco.objective-perturbation-strong": ("sample_strong_convexity", "lipschitz"),
    "upper.sco.phased-sgd": ("lipschitz", "sample_smoothness"),
    "lower.sco.hypercube-cdp": ("coordinate_moment", "diameter"),
    "lower.sco-strong.hypercube-cdp": ("strong_convexity", "diameter", "minimum_interior"),
    "lower.sco-strong.width": ("lipschitz", "diameter"),
}


@pytest.mark.parametrize(("slug", "names"), NEEDS.items(), ids=str)
def test_every_assumption_of_a_statement_is_checked(slug, names):
    setting = make_setting(10**6, 5, 2.0, directional_moment=5.0)
    failures = set(BY_SLUG[slug].failures(setting))
    for name in names:
        missing = with_constants(setting, **{name: MISSING[name]})
        assert set(BY_SLUG[slug].failures(missing)) - failures, name


APPROX = ApproxDP(epsilon=0.5, delta=1e-6)
SENTENCES = [
    ("upper.sco.cwme", {"n": 1000}, "tau >= 10, that is sqrt(rho) n >= 10^p d^(3/2), and tau=0.9"),
    ("upper.sco.cwme", {"mean_gradient_bound": 11.0}, "at most 10 moment units, and R=11"),
    ("upper.sco.cwme", {"sample_smoothness": 12.0}, "at most 10 moment units, and L=12"),
    ("upper.sco.cwme", {"nonnegative": False}, "loss of at least 0"),
    ("upper.sco.cwme", {"minimum_interior": False}, "gradient of 0 at the minimiser"),
    ("upper.sco.cwme-explicit", {"n": 1000}, "= 3508 records, and n=1000"),
    ("upper.sco.cwme-paper", {"diameter": 1e6}, "10^p M d^(3/2)"),
    ("upper.sco.smoothed", {"n": 100}, "n >= 100 (d + sqrt(d/rho)), and tau=1.19"),
    ("upper.sco.cwme-strong", {"n": 30}, "G < lambda L/(lambda + L) = 0.5"),
    ("upper.sco.cwme-strong", {"n": 400, "d": 1, "budget": ZCDP(rho=1.0)}, "sqrt(d) T^(3/2)"),
    ("upper.sco.clipped", {"n": 2}, "rho n^2 >= d R^2, R of (19), and sqrt(T)="),
    ("upper.sco.iterative", {}, "Lemma 9"),
    ("upper.sco.iterative", {}, "n >= k = 800 (d ln(1 + 2n) + 2 ln n) = 173194 records"),
    ("upper.sco.iterative-logs", {"budget": ApproxDP(epsilon=2.0, delta=1e-6)}, "epsilon <= 1"),
    ("upper.sco.private-sgd", {}, "epsilon <= 4 sqrt(ln(3/delta)/n) = 0.154, and epsilon=0.5"),
    ("upper.sco.private-sgd", {"n": 100}, "6 exp(-n/16) = 0.0116 <= delta"),
    ("upper.sco.private-sgd", {"n": 9}, "n >= 16 = 16 records, and n=9"),
    ("upper.sco.private-sgd", {"budget": ZCDP(rho=0.5)}, "and the budget is 0.5-zCDP"),
    ("upper.sco.private-sgd-theorem", {}, "epsilon at most 1/(2 sqrt(n)) = 0.005"),
    ("upper.sco.private-sgd-theorem", {"n": 20}, "delta above 2 exp(-n/16) = 0.573"),
    ("upper.sco.private-sgd-explicit", {"budget": PureDP(epsilon=1.0)}, "1-DP"),
    (
        "upper.sco.objective-perturbation",
        {"budget": ApproxDP(epsilon=1.5, delta=1e-6)},
        "epsilon=1.5",
    ),
    ("upper.sco.objective-perturbation", {"n": 20}, "sqrt(d ln(1/delta))/epsilon = 33.25"),
    (
        "upper.sco.objective-perturbation",
        {"n": 20, "sample_smoothness": 9.0},
        "(r beta D / (epsilon L))^2 = 2.074e+04",
    ),
    ("upper.sco.objective-perturbation", {"structure": "other"}, "generalised linear, linear"),
    ("upper.sco.objective-perturbation-strong", {"n": 20}, "(L D / Delta)^2 = 100"),
    ("upper.sco.phased-sgd", {"n": 4, "sample_smoothness": 1e9}, "and beta=1e+09"),
    ("upper.sco.prior-talwar", {}, "empirical risk"),
    ("upper.sco.prior-kasiviswanathan", {}, "generalised linear losses"),
    ("upper.sco.sgd", {"lipschitz": math.inf, "variance_trace": math.inf}, "finite variance"),
    ("lower.sco.fano-cdp", {"d": 8}, "needs d >= 9"),
    ("lower.sco.fano-pure", {"d": 7}, "needs d >= 8"),
    ("lower.sco.hypercube-cdp", {"spike_probability": 0.9}, "leave the bound R on the gradient"),
    ("lower.sco-strong.hypercube-cdp", {"spike_probability": 0.9}, "leave the constraint set"),
    ("lower.sco.rate-cdp", {"n": 10, "mean_gradient_bound": 0.01}, "exceeds 0.01"),
    ("lower.sco-strong.sampling-gaussian", {}, "the set has diameter M=2"),
    ("lower.sco-strong.width", {}, "n <= sqrt(d ln(1/delta))/epsilon = 33.25"),
    ("lower.sco-strong.width", {"strong_convexity": 3.0}, "strong convexity L/M=2.5"),
    ("lower.sco-strong.width", {"n": 10, "budget": ApproxDP(epsilon=0.5, delta=0.2)}, "delta=0.2"),
]


@each(("slug", "changes", "words"), SENTENCES)
def test_a_failing_hypothesis_is_reported_with_its_numbers(slug, changes, words):
    failures = BY_SLUG[slug].failures(make_setting(**changes))
    assert any(words in sentence for sentence in failures), failures
    assert all(s.endswith(".") and s[0].isupper() for s in failures)


def test_where_all_hypotheses_should_hold_few_fail():
    setting = make_setting(
        10**12, 5, 2.0, ApproxDP(epsilon=1e-5, delta=1e-6), directional_moment=5.0
    )
    loud = {b.card.slug for b in SCO_BOUNDS if b.failures(setting)}
    # Bounds by words or by corners need a set that has these.
    needs_shape = (*WORD_RISKS, *MEDIAN_WORD_RISKS, *CORNER_RISKS)
    loud -= {row.card.slug for row in needs_shape if row.refusal(setting)}
    loud -= {b.card.slug for b in SCO_BOUNDS if b.has_scope}
    assert loud == {
        "upper.sco.iterative",  # This bound is a claim without proof.
        "upper.sco.iterative-logs",
        "lower.sco.rate-quoted",
        "upper.sco.prior-talwar",  # This bound is on the empirical risk.
        "upper.sco.prior-talwar-strong",
        "upper.sco.prior-kasiviswanathan",
        "upper.sco.prior-bassily-2014-empirical",
        "upper.sco.prior-bassily-2014-strong-empirical",
        "upper.sco.fresh-batches-pure",  # These bounds are for pure budgets only.
        "upper.sco.fresh-batches-pure-coordinate",
        "upper.sco.fresh-batches-pure-run",
        "lower.sco.fano-cdp",  # The dimension is too small for a code.
        "lower.sco.fano-pure",
        "lower.sco-strong.fano-cdp",
        "lower.sco-strong.fano-pure",
        "lower.sco-strong.sampling-gaussian",  # This bound is for an unrestricted mean.
        "lower.sco-strong.width",  # These bounds need few records.
        "upper.lp.regularized-mirror-descent",  # The loss is Lipschitz on the set only, and q = 2.
        "upper.lp.regularized-mirror-descent-explicit",
        "upper.lp.regularized-mirror-descent-generalized",
        "upper.lp.regularized-mirror-descent-paper",
        "upper.lp.phased-sgd",
        "upper.lp.phased-sgd-paper",
        "upper.lp.phased-sgd-free",
        "upper.lp.phased-sgd-explicit",
        "upper.lp.shuffled-mirror-descent",  # These bounds need 1 < q < 2.
        "upper.lp.batched-mirror-descent",
        "upper.sco.sgd-run",  # The steps of this bound are those for strongly convex risks.
        "upper.sco.sgd-run-smooth",
        # These bounds are for linear losses only.
        *(b.card.slug for b in ONE_STEP_RISKS if not b.has_scope),
        # These bounds need a law, and the setting has none.
        *(slug for slug, b in BY_SLUG.items() if b.card.of_law),
    }


def test_a_pure_budget_voids_the_gaussian_methods_with_a_reason():
    setting = make_setting(budget=PureDP(epsilon=1.0))
    for bound in UPPER_SCO_BOUNDS:
        if bound.card.privacy in ("zcdp", "approx"):
            assert bound.value(setting) == math.inf, bound.card.slug
            assert any("1-DP" in s for s in bound.failures(setting)), bound.card.slug
        elif bound.parameters != "run":
            assert bound.value(setting) < math.inf
        else:
            assert bound.failures(setting) or bound.value(setting) < math.inf


def scaled_setting(setting, unit=1.0, length=1.0):
    """Return the same problem with the risk multiplied by `unit` and lengths by `length`."""
    c = setting.constants
    gradient = unit / length
    return replace(
        setting,
        constants=replace(
            c,
            coordinate_moment=c.coordinate_moment * gradient**setting.moment_order,
            directional_moment=c.directional_moment * gradient,
            variance_trace=c.variance_trace * gradient**2,
            mean_gradient_bound=c.mean_gradient_bound * gradient,
            lipschitz=c.lipschitz * gradient,
            lipschitz_second=c.lipschitz_second * gradient,
            lipschitz_moment=c.lipschitz_moment * gradient,
            diameter=c.diameter * length,
            smoothness=c.smoothness * gradient / length,
            sample_smoothness=c.sample_smoothness * gradient / length,
            strong_convexity=c.strong_convexity * gradient / length,
            sample_strong_convexity=c.sample_strong_convexity * gradient / length,
        ),
    )


def has_own_unit(card):
    """Whether the loss of a bound contains a fixed length, such as the place of a kink, which
    scaling would have to change.
    """
    linear = (AnyLabels.card.slug, Absolute.card.slug)
    return bool(card.losses) and card.instance not in linear and card.instance_problem not in linear


@pytest.mark.parametrize("count", [3, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("bound", SCO_BOUNDS, **ids)
def test_every_bound_has_the_units_of_the_risk(bound, count):
    for setting in random_settings(count, 24, ("zcdp", "approx")):
        value = bound.value(setting)
        if has_own_unit(bound.card):
            continue
        if bound.card.slug not in INHOMOGENEOUS:
            assert bound.value(scaled_setting(setting, length=1.7)) == pytest.approx(
                value, rel=1e-4
            )
            assert bound.value(scaled_setting(setting, unit=2.3)) == pytest.approx(
                2.3 * value, rel=1e-4
            )
            # The setting has the same gradients on a larger set.
            wide = scaled_setting(setting, unit=1.7, length=1.7)
            assert bound.value(wide) == pytest.approx(1.7 * value, rel=1e-4)
        elif bound.card.slug != "upper.sco.prior-chaudhuri":
            assert bound.value(scaled_setting(setting, unit=2.3)) == pytest.approx(
                2.3 * value, rel=1e-9
            )


@pytest.mark.parametrize("count", one_in(2, [5, 14]))
@each("bound", SCO_BOUNDS, **ids)
def test_no_bound_rises_with_more_records_or_budget(bound, count):
    for setting in random_settings(count, 25, ("zcdp",)):
        value = bound.value(setting)
        larger_setting = replace(setting, n=4 * setting.n, budget=ZCDP(rho=3 * setting.budget.rho))
        # Printed powers of M and logarithms of n are not monotone for very few records.
        if (
            bound.card.slug in ("upper.sco.clipped-logs", "upper.sco.cwme-probability")
            and setting.n < 20
        ):
            continue
        allowed = RISES.get(bound.card.slug, 1 + 1e-6)
        assert bound.value(larger_setting) <= value * allowed or math.isinf(value)


@pytest.mark.parametrize("kind", ["hypercube-cdp", "hypercube-pure", "fano-cdp", "fano-pure"])
@pytest.mark.parametrize("strong", [True, False])
def test_fixed_and_free_bounds_agree_at_the_best_spike_probability(kind, strong):
    pure = kind.endswith("pure")
    level = 1.0 if pure else 0.5
    budget = PureDP(epsilon=1.0) if pure else ZCDP(rho=0.5)
    form = kind + ("-squared" if strong else "-convex")
    cap = 0.02 if strong else math.inf
    p, value = best_spike_probability(form, 10_000, 40, 4.0, level, cap)
    # The public bound is exactly the norm of the instance's gradient, as a problem certifies it.
    weight = 40 if kind.startswith("hypercube") else 20
    size = p**0.75 * math.sqrt(weight)
    diameter = 0.04 if strong else 2.0
    bound = size + diameter / 2 if strong else size
    setting = make_setting(d=40, budget=budget, diameter=diameter, mean_gradient_bound=bound)
    row = BY_SLUG[f"lower.sco{'-strong' if strong else ''}.{kind}"]
    fixed = replace(setting, spike_probability=p)
    unit = 0.5 if strong else 1.0
    assert row.value(fixed) == pytest.approx(unit * value, rel=1e-9)
    assert row.value(setting) == pytest.approx(unit * value, rel=1e-6)
    assert row.failures(fixed) == ()


def test_a_bound_is_evaluated_at_a_fixed_spike_probability():
    for bound in LOWER_SCO_BOUNDS:
        check_fixed_probability(
            bound, make_setting(d=40, diameter=20.0, mean_gradient_bound=20.0), 1e-5
        )
