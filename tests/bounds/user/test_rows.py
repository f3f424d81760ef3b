"""Catalogue bounds at user level: values, hypotheses, and the bounds of item level."""

import math
from dataclasses import replace

import pytest

from dpsco_core.base.cards import LEVY_2021, LOWY_2024
from dpsco_core.bounds.base import pooled
from dpsco_core.bounds.euclidean.rows import SCO_BOUNDS
from dpsco_core.bounds.user.conditions import best_share, gaussian_user_level, user_level
from dpsco_core.bounds.user.explicit import TERMS, full_batch_risk, mode_a_risk, one_chain_risk
from dpsco_core.bounds.user.rows import UPPER_USER_BOUNDS, USER_BOUNDS
from dpsco_core.geometry import L1Ball
from dpsco_core.methods.user.printed_schedules import users_condition
from dpsco_core.privacy.budget import ZCDP, ApproxDP, PureDP, gaussian_rho
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import LinearModel
from tests.bounds.euclidean.helpers import make_setting, random_settings, with_constants
from tests.folded import each

ROWS = {b.card.slug: b for b in USER_BOUNDS}
RISKS = [b for b in USER_BOUNDS if b.card.quantity == "excess risk"]
COUNTS = [b for b in USER_BOUNDS if b.card.quantity == "item gradients"]
METHODS = (
    "phased-sgd",
    "accelerated",
    "accelerated-strong",
    "accelerated-nonsmooth",
    "group-privacy",
    "clipped-means",
)
PRIOR = ("bassily-sun-2023", "ghazi-2023", "asi-liu-2024", "bassily-sun-2023-local")
BUDGET = ApproxDP(epsilon=1.0, delta=1e-9)
ids = {"ids": lambda b: b.card.slug}


def user_setting(n=10**6, m=100, d=5, budget=BUDGET, **constants):
    """Return a setting of smooth, strongly convex losses of items that are Lipschitz everywhere."""
    model = LinearModel(slope=1.0, curvature=1.0, feature_norm=1.0)
    fields = {"structure": "linear-model", "linear_model": model, **constants}
    return replace(make_setting(n, d, 4.0, budget, **fields), m=m)


def test_the_fixed_slugs_exist_once_each():
    assert len(ROWS) == len(USER_BOUNDS)
    for method in METHODS:
        row = ROWS[f"upper.user.{method}"].card
        assert (row.method, row.quantity) == (f"user.{method}", "excess risk")
    for method in ("phased-sgd", "accelerated", "group-privacy", "clipped-means"):
        assert ROWS[f"upper.user.{method}-explicit"].card.constant == "explicit"
    for name in (*METHODS[:-1], *(f"prior-{name}" for name in PRIOR)):
        assert ROWS[f"upper.user.{name}-gradients"].card.quantity == "item gradients"
    for name in (*(f"upper.user.prior-{name}" for name in PRIOR), "lower.user.rate"):
        assert ROWS[name].card.method == ""
    # The table of Levy et al. gives no rate for their upper bound.
    assert not any(b.card.paper == LEVY_2021 for b in UPPER_USER_BOUNDS)


@each("bound", USER_BOUNDS, **ids)
def test_a_card_describes_its_bound(bound):
    card = bound.card
    assert card.level == "user"
    assert card.slug.startswith(f"{card.kind}.user.")
    assert card.kind == ("upper" if bound in UPPER_USER_BOUNDS else "lower")
    assert ("gradients" in card.name) == (card.quantity == "item gradients")
    # The least-squares loss of one item is flat in most directions.
    strong = card.loss_class.strongly_convex
    assert card.problems == (("quadratic",) if strong else SCO_PROBLEMS)
    assert strong or "strong" not in card.name.lower()
    assert card.latex.count(r"\Big(") == card.latex.count(r"\Big)")
    assert "\x0b" not in card.latex and "\t" not in card.latex and "%" not in card.latex
    if card.kind == "lower":
        assert "measured line may run below" in card.summary and card.constant == "rate"
    elif card.method:
        assert card.slug.startswith(f"upper.{card.method}")
    else:
        # Only bounds of earlier work are without privacy.
        assert card.privacy == "none" or card.paper != LOWY_2024
    rate = card.kind == "upper" and card.constant == "rate" and card.quantity == "excess risk"
    assert not rate or "set to 1" in card.summary


def test_the_catalogues_bounds_are_their_formulas():
    setting = user_setting(
        10_000, 100, 10, ApproxDP(epsilon=1.0, delta=1e-6), lipschitz=3.0, diameter=0.5
    )
    level = user_level(setting)
    assert (level.lipschitz, level.diameter, level.smoothness) == (3.0, 0.5, 1.0)
    n, m, unit = setting.n, setting.m, level.unit
    noise = math.sqrt(setting.d * math.log(1e6)) / n
    optimal = unit / math.sqrt(n * m), unit * noise / math.sqrt(m)
    group = unit / math.sqrt(n * m), unit * noise
    quoted = unit / math.sqrt(n * m), unit * math.sqrt(setting.d / m) / n
    for slug, pair in (
        ("upper.user.non-private", (unit / math.sqrt(n * m),)),
        ("upper.user.phased-sgd", (unit / math.sqrt(n * m), unit * noise * math.sqrt(n / m))),
        ("upper.user.phased-sgd-proof", (unit * math.sqrt(setting.d / (n * m)),) * 2),
        ("upper.user.accelerated", optimal),
        ("upper.user.accelerated-nonsmooth", optimal),
        ("upper.user.accelerated-strong", (9.0 / (n * m), 9.0 * noise**2 / m)),
        ("upper.user.group-privacy", group),
        ("upper.user.clipped-means", group),
        ("upper.user.prior-asi-liu-2024", quoted),
        (
            "upper.user.prior-bassily-sun-2023-local",
            (unit / math.sqrt(n * m), unit * math.sqrt(setting.d / (n * m))),
        ),
        ("lower.user.rate", quoted),
        ("upper.user.prior-asi-liu-2024-gradients", (level.condition * (n * m) ** 1.5,)),
        ("upper.user.phased-sgd-gradients", (setting.n * setting.m,)),
    ):
        assert tuple(ROWS[slug].terms(setting).values()) == pytest.approx(pair, rel=1e-12), slug
        assert ROWS[slug].value(setting) == pytest.approx(sum(pair), rel=1e-12)


def test_the_bounds_of_the_comparison_have_the_values_of_the_note():
    setting = user_setting(
        10_000, 100, 10, ApproxDP(epsilon=1.0, delta=1e-6), lipschitz=1.0, diameter=1.0
    )
    for slug, value in (
        ("accelerated", 0.0011175),
        ("phased-sgd", 0.012754),
        ("group-privacy", 0.0021754),
        ("accelerated-gradients-paper", 6.6444e6),
        ("accelerated-nonsmooth-gradients-paper", 1.01e8),
        ("prior-asi-liu-2024-gradients", 1e9),
        ("prior-bassily-sun-2023-gradients", 1e8),
    ):
        assert ROWS[f"upper.user.{slug}"].value(setting) == pytest.approx(value, rel=1e-3), slug


@pytest.mark.parametrize(
    ("slug", "risk"),
    [
        ("group-privacy", one_chain_risk),
        ("clipped-means", full_batch_risk),
        ("accelerated", mode_a_risk),
    ],
)
def test_explicit_bounds_start_at_the_centre(slug, risk):
    setting = user_setting(20_000)
    row = ROWS[f"upper.user.{slug}-explicit"]
    assert tuple(row.terms(setting)) == TERMS
    expected = risk(user_level(setting), distance=setting.constants.diameter / 2)
    assert row.value(setting) == pytest.approx(expected.value, rel=1e-12)
    assert row.value(setting) < risk(user_level(setting)).value


def test_gaussian_releases_also_satisfy_a_zcdp_budget():
    for rho in (1e-10, 1e-3, 0.7, 50.0):
        level = gaussian_user_level(user_setting(budget=ZCDP(rho=rho)))
        allowed = gaussian_rho(level.epsilon, level.delta)
        assert rho * (1 - 1e-6) < allowed <= rho
    # An (epsilon, delta) budget of the same rho gives the same bound.
    approx = ApproxDP(epsilon=1.0, delta=1e-6)
    same = ZCDP(rho=gaussian_rho(1.0, 1e-6))
    for name in ("group-privacy", "clipped-means"):
        row = ROWS[f"upper.user.{name}-explicit"]
        assert row.value(user_setting(budget=same)) == pytest.approx(
            row.value(user_setting(budget=approx)), rel=0.1
        )
        assert row.failures(user_setting(budget=same)) == ()
    for name in ("phased-sgd", "accelerated"):  # The tests of these methods add Laplace noise.
        row = ROWS[f"upper.user.{name}-explicit"]
        assert math.isinf(row.value(user_setting(budget=same)))
        assert any("zCDP" in s for s in row.failures(user_setting(budget=same)))


QUIET = user_setting()
SENTENCES = [
    (
        "upper.user.phased-sgd",
        user_setting(budget=ApproxDP(epsilon=11.0, delta=1e-9)),
        "epsilon <= 10",
    ),
    (
        "upper.user.phased-sgd",
        user_setting(10_000),
        "Theorem B.1 needs n^(1-q) (1 - 2^-q) >= 100 ln(n",
    ),
    ("upper.user.phased-sgd", user_setting(10_000), "and at n=10000 it is at most"),
    ("upper.user.phased-sgd", user_setting(sample_smoothness=1e9), "= 5.59e+04, and beta=1e+09"),
    (
        "upper.user.phased-sgd",
        user_setting(sample_smoothness=math.inf),
        "smoothness of the loss of every",
    ),
    (
        "upper.user.accelerated",
        user_setting(budget=ApproxDP(epsilon=1.0, delta=1e-3)),
        "delta < 1/(mn) = ",
    ),
    ("upper.user.accelerated", user_setting(50_000), "Theorem C.1 needs"),
    ("upper.user.accelerated", user_setting(lipschitz=math.inf), "no Lipschitz constant"),
    (
        "upper.user.accelerated-nonsmooth",
        user_setting(structure="mean"),
        "Lipschitz on the set only",
    ),
    (
        "upper.user.accelerated-strong",
        user_setting(sample_strong_convexity=0.0),
        "strong convexity 0",
    ),
    ("upper.user.prior-bassily-sun-2023", user_setting(100, 10**6), "m <= 44.72, and m=1000000"),
    ("upper.user.prior-bassily-sun-2023", user_setting(2), "n >= 2.236, and n=2"),
    (
        "upper.user.prior-bassily-sun-2023",
        user_setting(sample_smoothness=1e9),
        "beta R/L < 4.472e+04",
    ),
    ("upper.user.prior-ghazi-2023", user_setting(1), "n >= 1.609, and n=1"),
    ("upper.user.prior-asi-liu-2024", user_setting(6), "n >= 6.215, and n=6"),
    ("upper.user.prior-bassily-sun-2023-local", user_setting(), "m <= 5, and m=100"),
    ("upper.user.prior-bassily-sun-2023-local", user_setting(3, 1), "n >= 5, and n=3"),
    (
        "upper.user.prior-asi-liu-2024-gradients",
        user_setting(),
        "n = d and epsilon = 1 only, and n=1000000",
    ),
    ("upper.user.prior-ghazi-2023-gradients", user_setting(), "does not run in polynomial time"),
    ("upper.user.accelerated-nonsmooth-gradients-paper", user_setting(2, 10**6), "and m=1000000"),
    ("upper.user.phased-sgd-explicit", user_setting(300), "more users to pass than n=300"),
    ("upper.user.accelerated-explicit", user_setting(300), "more users to pass than n=300"),
    ("upper.user.group-privacy-explicit", user_setting(budget=PureDP(epsilon=1.0)), "1-DP"),
    (
        "lower.user.rate",
        replace(user_setting(), constraint=L1Ball(d=5, radius=1.0)),
        "the set is the l1 ball",
    ),
    ("lower.user.strong-rate", user_setting(), "nothing is proven"),
]


@each(("slug", "setting", "words"), SENTENCES)
def test_a_failing_hypothesis_is_reported_with_its_numbers(slug, setting, words):
    failures = ROWS[slug].failures(setting)
    assert any(words in s for s in failures), failures
    assert all(s.endswith(".") and s[0].isupper() for s in failures)


def test_with_many_users_few_hypotheses_fail():
    loud = {slug for slug, row in ROWS.items() if row.failures(QUIET)}
    assert loud == {
        "upper.user.prior-bassily-sun-2023-local",  # This bound needs m <= d/epsilon^2.
        "upper.user.prior-bassily-sun-2023-local-gradients",
        "upper.user.prior-bassily-sun-2023-gradients",  # This bound needs n = d and epsilon = 1.
        "upper.user.prior-asi-liu-2024-gradients",
        "upper.user.prior-asi-liu-2024-strong-gradients",
        "upper.user.prior-ghazi-2023-gradients",
        "lower.user.strong-rate",
    }


def test_counts_quoted_for_as_many_users_as_dimensions_hold_there():
    setting = user_setting(400, 2, 400, sample_smoothness=0.1, lipschitz=1.0)
    for slug in ("prior-bassily-sun-2023-gradients", "prior-asi-liu-2024-gradients"):
        assert ROWS[f"upper.user.{slug}"].failures(setting) == ()


@pytest.mark.parametrize("n", [2, 7, 10**4, 10**7])
def test_the_chosen_decay_of_the_users_is_the_best(n):
    case = user_level(user_setting(n))
    tried = []
    for k in range(1, 400):
        q = k / 400
        share = 1 - 2**-q
        tried.append(users_condition(case, q)[0] * share)
    assert max(tried) <= best_share(n) * (1 + 1e-9)
    assert best_share(n) <= max(tried) * 1.01


MISSING = {
    "diameter": math.inf,
    "sample_smoothness": math.inf,
    "sample_strong_convexity": 0.0,
    "lipschitz": math.inf,
    "structure": "other",
}


@each("bound", USER_BOUNDS, **ids)
def test_a_missing_constant_that_voids_a_bound_is_named(bound):
    void = 0 if bound.card.kind == "lower" else math.inf
    for name, value in MISSING.items():
        uncertified = with_constants(QUIET, **{name: value})
        if bound.value(uncertified) == void != bound.value(QUIET):
            assert set(bound.failures(uncertified)) - set(bound.failures(QUIET)), name
    assert bound.value(with_constants(QUIET, **MISSING)) == void
    assert bound.failures(with_constants(QUIET, **MISSING))


def test_only_bounds_without_privacy_survive_a_pure_budget():
    setting = user_setting(budget=PureDP(epsilon=1.0))
    for bound in USER_BOUNDS:
        if bound.card.privacy == "none":
            assert bound.value(setting) < math.inf and bound.failures(setting) == ()
        else:
            assert bound.value(setting) == (0 if bound.card.kind == "lower" else math.inf)
            assert any("1-DP" in s for s in bound.failures(setting)), bound.card.slug


@pytest.mark.parametrize("bound", USER_BOUNDS, **ids)
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
    for n, m in ((1, 1), (2, 10**7), (10**9, 1), (10**9, 10**7)):
        for d in (1, 10**4):
            for unit in (1e-6, 1e6):
                setting = user_setting(n, m, d, budget, lipschitz=unit, diameter=unit)
                assert bound.value(setting) >= 0
                assert all(isinstance(s, str) for s in bound.failures(setting))


def items(setting, source):
    """Return the setting with one of four numbers of items per user, chosen by the integer
    `source`.
    """
    return replace(setting, m=[1, 3, 100, 10**5][source % 4])


@pytest.mark.parametrize("count", [4, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("bound", RISKS, **ids)
def test_every_risk_has_the_units_of_the_risk_and_falls_with_users_items_and_epsilon(bound, count):
    for i, setting in enumerate(random_settings(count, 41, ("approx",))):
        setting = items(setting, i)
        value = bound.value(setting)
        c = setting.constants
        wide = with_constants(
            setting,
            diameter=1.7 * c.diameter,
            sample_smoothness=c.sample_smoothness / 1.7,
            sample_strong_convexity=c.sample_strong_convexity / 1.7,
        )
        assert bound.value(wide) == pytest.approx(1.7 * value, rel=1e-6)
        larger_budget = replace(
            setting, budget=replace(setting.budget, epsilon=2 * setting.budget.epsilon)
        )
        for changed in (
            replace(setting, n=4 * setting.n),
            replace(setting, m=4 * setting.m),
            larger_budget,
        ):
            # The schedules of explicit bounds are searched on a grid, which moves with the units.
            slack = 1.05 if bound.card.constant == "explicit" else 1 + 1e-9
            assert bound.value(changed) <= value * slack or math.isinf(value)


@pytest.mark.parametrize("bound", COUNTS, **ids)
def test_a_count_has_no_unit_and_is_at_least_one_pass(bound):
    for i, setting in enumerate(random_settings(8, 42, ("approx",))):
        setting = items(setting, i)
        c = setting.constants
        steep = with_constants(
            setting,
            lipschitz=2.3 * c.lipschitz,
            sample_smoothness=2.3 * c.sample_smoothness,
            sample_strong_convexity=2.3 * c.sample_strong_convexity,
        )
        assert bound.value(steep) == pytest.approx(bound.value(setting), rel=1e-9)
        assert bound.value(replace(setting, m=3 * setting.m)) >= 2.9 * bound.value(setting)
        if bound.card.method:  # Earlier work prints gradient counts of another kind.
            assert bound.value(setting) >= setting.n * setting.m


def test_the_lower_rate_is_capped_by_the_risk_of_every_point():
    tiny = user_setting(1, 1, 400, lipschitz=2.0, diameter=3.0)
    assert ROWS["lower.user.rate"].value(tiny) == pytest.approx(6.0)
    strong = ROWS["lower.user.strong-rate"].value(tiny)
    assert strong == pytest.approx(2.0**2 / 2)
    for i, setting in enumerate(random_settings(40, 43, ("approx",))):
        setting = items(setting, i)
        c = setting.constants
        value = ROWS["lower.user.rate"].value(setting)
        assert value <= c.lipschitz * c.diameter * (1 + 1e-12)
        for slug in ("accelerated", "group-privacy"):
            assert value <= ROWS[f"upper.user.{slug}"].value(setting) * (1 + 1e-12)


ITEM_LOWER = [b for b in SCO_BOUNDS if b.card.kind == "lower"]


@each("bound", ITEM_LOWER, **ids)
def test_a_lower_bound_for_records_counts_every_item_as_a_record(bound):
    setting = replace(make_setting(700, 20, 3.0), m=30)
    pool = make_setting(21_000, 20, 3.0)
    assert pooled(setting) == pool
    assert bound.value(setting) == bound.value(pool)
    assert bound.terms(setting) == bound.terms(pool)
    assert bound.failures(setting) == bound.failures(pool)
    assert bound.value(replace(setting, m=1)) == bound.value(make_setting(700, 20, 3.0))


def test_bounds_at_user_level_do_not_pool():
    setting = user_setting(10**5, 50)
    for bound in USER_BOUNDS:
        assert bound.setting_of_statement(setting) is setting
    private = ROWS["upper.user.group-privacy"].terms(setting)["privacy"]
    assert private == ROWS["upper.user.group-privacy"].terms(replace(setting, m=1))["privacy"]


def test_no_proven_lower_bound_for_records_exceeds_a_proven_bound_for_users():
    """The data are coins of norm root d, within the Lipschitz constant, and belong to
    both classes.
    """
    lower = {b.card.slug: b for b in ITEM_LOWER}["lower.sco.sampling-signs"]
    for n, m in ((100, 1), (1000, 30), (10**4, 1000), (10**6, 100)):
        for epsilon in (0.1, 1.0, 8.0):
            setting = user_setting(
                n, m, 20, ApproxDP(epsilon=epsilon, delta=1e-6), mean_gradient_bound=5.0
            )
            value = lower.value(setting)
            assert value > 0 and not lower.failures(setting)
            for bound in UPPER_USER_BOUNDS:
                if bound.card.constant == "explicit":
                    assert value <= bound.value(setting), (bound.card.slug, n, m)
