"""The catalogue's bounds in l_q: where they apply, why not elsewhere, and their sums of terms."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dpsco_core.bounds.euclidean.objective import objective, rate_strong
from dpsco_core.bounds.euclidean.rows import LOWER_SCO_BOUNDS, UPPER_SCO_BOUNDS
from dpsco_core.bounds.lq.mirror import best_b4, better_descent
from dpsco_core.bounds.lq.noisy import step_energy
from dpsco_core.bounds.lq.regularized import best_b3, regularized
from dpsco_core.catalogue import method_class
from dpsco_core.geometry import Ball, Box, GroupBall, L1Ball, Simplex, SolidSimplex, SparseHull
from dpsco_core.methods.lq.inputs import own_constants, record_rho, space_of
from dpsco_core.privacy.budget import ZCDP, ApproxDP
from dpsco_core.problems.base import LinearModel
from tests.bounds.euclidean.helpers import BY_SLUG, make_setting
from tests.folded import each

LQ = [b for b in UPPER_SCO_BOUNDS if b.card.geometry == "lq"]
EXPLICIT = [b for b in LQ if b.card.constant == "explicit"]
TIGHT = [b for b in EXPLICIT if b.card.privacy == "zcdp"]
SETS = {
    "Ball": Ball(d=20, radius=1.0),
    "L1Ball": L1Ball(d=20, radius=1.0),
    "Box": Box(half_widths=(0.2,) * 20),
    "Simplex": Simplex(d=20, radius=1.0),
    "SolidSimplex": SolidSimplex(d=20, radius=1.0),
    "GroupBall": GroupBall(d=20, group_size=5, radius=1.0),
    "SparseHull": SparseHull(d=20, sparsity=5, radius=1.0),
}
SYMMETRIC = ("Ball", "L1Ball", "Box", "GroupBall", "SparseHull")


def setting_on(name, q=2.0, **changes):
    """Return a logistic-like setting on a named set."""
    body = SETS[name]
    defaults = {"structure": "linear-model", "lipschitz": 1.0, "sample_smoothness": 0.25}
    model = LinearModel(slope=1.0, curvature=0.25, feature_norm=1.0)
    setting = make_setting(
        diameter=2 * body.l2_radius, linear_model=model, **{**defaults, **changes}
    )
    return replace(setting, constraint=body, exponent=q)


def lq_setting(q, n=10**5, **changes):
    """Return a setting on the l1 ball or the box, of diameter 2 and without its set."""
    setting = setting_on("L1Ball" if q < 2 else "Box", q, n=n, **changes)
    return replace(setting, constraint=None, constants=replace(setting.constants, diameter=2.0))


def applies(bound, q):
    """Return whether the exponent q is on the side of 2 that the bound's method covers."""
    method = bound.card.method
    is_on_both_sides = q == 2 or method == "lp.noisy-mirror-descent"
    return is_on_both_sides or (q < 2) == (method_class(method).stage.exponent < 2)


@pytest.mark.parametrize("q", [1.0, 1.25, 1.9, 2.0, 3.0, math.inf])
def test_a_proven_bound_holds_on_its_side_of_two_and_both_hold_at_two(q):
    setting = lq_setting(q)
    for bound in EXPLICIT:
        if applies(bound, q):
            assert 0 < bound.value(setting) < math.inf, bound.card.slug
            assert bound.failures(setting) == ()
        else:
            assert any(f"and q={q:g}" in s for s in bound.failures(setting)), bound.card.slug


def test_a_rate_is_for_its_side_of_two():
    names = {b.card.slug: b for b in LQ if b.card.constant == "rate"}
    for q, holds, fails in (
        (1.5, "shuffled-mirror-descent", "euclidean-reduction"),
        (3.0, "phased-sgd", "batched-mirror-descent"),
    ):
        setting = lq_setting(q, budget=ApproxDP(epsilon=0.003, delta=1e-6), n=10**6)
        assert names[f"upper.lp.{holds}"].failures(setting) == ()
        assert math.isfinite(names[f"upper.lp.{holds}"].value(setting))
        assert math.isinf(names[f"upper.lp.{fails}"].value(setting))
        assert any("and q=" in s for s in names[f"upper.lp.{fails}"].failures(setting))


def failures(slug, setting):
    """Return the hypotheses of a bound that fail at a setting, as one string."""
    return " ".join(BY_SLUG[f"upper.lp.{slug}"].failures(setting))


SENTENCES = [
    ("regularized-mirror-descent", lq_setting(2.5), "needs 1 < q < 2, and q=2.5"),
    ("regularized-mirror-descent", lq_setting(1.0), "needs 1 < q < 2, and q=1"),
    ("regularized-mirror-descent-explicit", lq_setting(3.0), "needs q <= 2, and q=3"),
    ("phased-sgd-explicit", lq_setting(1.5), "needs q >= 2, and q=1.5"),
    ("regularized-mirror-descent", lq_setting(1.5, structure="mean"), "Lipschitz on the set only"),
    ("regularized-mirror-descent", lq_setting(1.5, minimum_interior=False), "gradient of 0"),
    ("regularized-mirror-descent", lq_setting(1.5, lipschitz=math.inf), "no Lipschitz constant"),
    ("regularized-mirror-descent", lq_setting(1.5, n=1), "needs n > T = 1, and n=1"),
    ("regularized-mirror-descent", lq_setting(1.5, n=1000), "needs T >= 2 log2(n/T)"),
    ("shuffled-mirror-descent", lq_setting(1.5), "epsilon <= sqrt(ln(n/delta)/n) = 0.0159"),
    (
        "shuffled-mirror-descent",
        setting_on("Simplex", 1.0),
        "the set is the simplex, which does not contain it",
    ),
    (
        "shuffled-mirror-descent",
        lq_setting(1.5, n=100, smoothness=9.0),
        "lambda = 2.453 of at least beta M = 29.66",
    ),
    (
        "batched-mirror-descent",
        lq_setting(1.5, variance_trace=math.inf, coordinate_moment=math.inf, lipschitz=math.inf),
        "no finite variance of the gradient in the dual norm",
    ),
    (
        "batched-mirror-descent-explicit",
        lq_setting(1.5, smoothness=math.inf),
        "smoothness of its pop",
    ),
    (
        "euclidean-reduction",
        lq_setting(3.0, budget=ApproxDP(epsilon=1.0, delta=1e-6)),
        "epsilon < 1",
    ),
    ("noisy-mirror-descent", lq_setting(1.5, d=1), "needs d >= 2, and d=1"),
    ("noisy-mirror-descent", lq_setting(1.5), "epsilon <= 4 sqrt(ln(3/delta)/n) = 0.0488"),
    (
        "noisy-mirror-descent",
        lq_setting(1.5, n=100),
        "Remark 1 needs 6 exp(-n/16) = 0.0116 <= delta",
    ),
    ("prior-bassily-2021", lq_setting(1.0), "needs q > 1, and q=1"),
    (
        "euclidean-reduction",
        lq_setting(3.0, sample_smoothness=math.inf),
        "the loss of every record",
    ),
    (
        "batched-mirror-descent",
        lq_setting(1.5, n=100, smoothness=9.0),
        "The rate needs lambda = 1.819 of at least beta M = 29.66",
    ),
    (
        "shuffled-mirror-descent",
        lq_setting(1.5, n=50, smoothness=0.01),
        "Theorem 10 needs lambda = 1.734 of at least sigma = 2",
    ),
    (
        "regularized-mirror-descent",
        lq_setting(1.5, d=2, n=100, budget=ApproxDP(epsilon=0.9, delta=0.99)),
        "needs T >= epsilon^2/(d ln(1/delta)) = 40.3",
    ),
    (
        "phased-sgd-free",
        lq_setting(3.0, n=100, lipschitz=0.01, sample_smoothness=10.0),
        "eta/4 of at most 2/beta = 0.2",
    ),
]


@each(("slug", "setting", "words"), SENTENCES)
def test_a_failing_hypothesis_is_reported_with_its_numbers(slug, setting, words):
    assert words in failures(slug, setting), failures(slug, setting)


@each(
    ("bound", "q"),
    [(b, q) for b in TIGHT for q in (1.0, 1.3, 2.0, 4.0) if applies(b, q)],
    ids=lambda x: getattr(getattr(x, "card", None), "slug", None),
)
def test_a_proven_bound_falls_with_the_records_and_the_budget(bound, q):
    values = [bound.value(lq_setting(q, n=n)) for n in (500, 2000, 10**4, 10**5)]
    assert all(b < a for a, b in pairwise(values))
    weak, strong = (bound.value(lq_setting(q, budget=ZCDP(rho=rho))) for rho in (0.01, 1.0))
    assert strong < weak


def test_gaussian_noise_is_never_worse():
    for q in (1.0, 1.2, 1.6, 2.0):
        for method in ("regularized", "shuffled", "batched"):
            base = f"upper.lp.{method}-mirror-descent"
            setting = lq_setting(q)
            gaussian = BY_SLUG[f"{base}-explicit"].value(setting)
            assert gaussian <= BY_SLUG[f"{base}-generalized"].value(setting) * (1 + 1e-6)
            assert gaussian < BY_SLUG[f"{base}-paper"].value(setting)


def test_allowing_batches_never_makes_shuffling_worse():
    for epsilon in (0.01, 0.5):
        for q in (1.2, 2.0):
            setting = lq_setting(q, n=10**4, budget=ApproxDP(epsilon=epsilon, delta=1e-6))
            shuffled = BY_SLUG["upper.lp.shuffled-mirror-descent-explicit"].value(setting)
            assert shuffled <= BY_SLUG["upper.lp.batched-mirror-descent-explicit"].value(setting)


def test_the_bounds_are_the_formulas_that_the_methods_minimise():
    setting = lq_setting(1.4)
    row = BY_SLUG["upper.lp.regularized-mirror-descent-explicit"]
    assert row.value(setting) == pytest.approx(
        best_b3(regularized(setting, "gaussian", "tight")).value
    )
    row = BY_SLUG["upper.lp.shuffled-mirror-descent-generalized"]
    descent = better_descent(setting, ("shuffled", "public"), "generalized gaussian", "tight")
    assert row.value(setting) == pytest.approx(best_b4(descent).value)
    descent = own_constants(setting)
    rho = record_rho(setting.n, setting.budget, "gaussian", "tight")
    energy = step_energy(space_of(setting), descent.lipschitz, rho)
    divergence = space_of(setting).kappa * descent.radius**2 / 2
    value = math.sqrt(2 * divergence * sum(energy) / (setting.n // 2 + 1))
    assert BY_SLUG["upper.lp.noisy-mirror-descent-explicit"].value(setting) == pytest.approx(value)


def test_at_q_2_noisy_mirror_descent_is_private_sgd():
    for budget in (ZCDP(rho=0.2), ApproxDP(epsilon=0.3, delta=1e-6)):
        for n in (100, 5000):
            setting = make_setting(n=n, budget=budget)
            mirror = BY_SLUG["upper.lp.noisy-mirror-descent-explicit"].value(setting)
            flat = BY_SLUG["upper.sco.private-sgd-pruned"].value(setting)
            assert mirror == pytest.approx(flat, rel=1e-9)


def test_above_two_the_methods_work_in_l2():
    for slug in ("noisy-mirror-descent-explicit", "euclidean-reduction-explicit"):
        bound = BY_SLUG[f"upper.lp.{slug}"]
        for q in (2.0, 3.0, math.inf):
            setting = setting_on("Box", q)
            flat = replace(setting, exponent=2.0)
            assert bound.value(setting) == pytest.approx(bound.value(flat))


@pytest.mark.parametrize("name", SETS)
def test_a_lower_bound_names_the_set_on_which_it_is_not_proven(name):
    setting = setting_on(name, n=20)
    body = SETS[name]
    of_ball = f"The bound is proven on the l2 ball, and here the set is {body.name}."
    for bound in LOWER_SCO_BOUNDS:
        reason = bound.refusal(setting)
        assert reason == "" or (body.name in reason and reason in bound.failures(setting))
        sentences = [s for s in bound.failures(setting) if "proven on the l2 ball" in s]
        assert sentences == [of_ball] * (reason == of_ball)
        # Arguments by codes, and by tracing for linear losses, are for l2 balls.
        is_traced = bound.card.instance == "tracing" and not bound.card.loss_class.strongly_convex
        if bound.card.instance == "spike" or is_traced:
            assert reason == ("" if name == "Ball" else of_ball)
        if name == "Ball" and not reason:
            assert bound.failures(replace(setting, constraint=None)) == bound.failures(setting)


@pytest.mark.parametrize("name", SETS)
def test_every_set_has_explicit_lower_bounds_for_linear_and_quadratic_losses(name):
    setting = setting_on(name, budget=ZCDP(rho=0.5))
    for strong in (False, True):
        rows = [b for b in LOWER_SCO_BOUNDS if b.card.loss_class.strongly_convex == strong]
        explicit_rows = [
            b for b in rows if not b.failures(setting) and b.card.constant == "explicit"
        ]
        assert any(b.value(setting) > 0 and b.card.privacy == "zcdp" for b in explicit_rows)


@pytest.mark.parametrize("name", SETS)
def test_the_norm_of_a_set_needs_symmetry(name):
    setting = setting_on(name)
    for slug in (
        "upper.sco.objective-perturbation-strong",
        "upper.sco.objective-perturbation-strong-paper",
        "upper.sco.objective-perturbation-strong-explicit",
        "upper.sco.prior-talwar-strong",
        "lower.sco-strong.width",
    ):
        bound = BY_SLUG[slug]
        sentences = [s for s in bound.failures(setting) if "symmetric about 0" in s]
        assert len(sentences) == (name not in SYMMETRIC), slug
        if name not in SYMMETRIC and bound.card.kind == "upper":
            assert math.isinf(bound.value(setting))
            assert f"and here it is {SETS[name].name}." in sentences[0]
        elif bound.card.kind == "upper":
            assert math.isfinite(bound.value(setting))


def test_on_the_ball_the_bounds_keep_their_values():
    plain = make_setting()
    ball = replace(plain, constraint=Ball(d=20, radius=1.0))
    for bound in (*UPPER_SCO_BOUNDS, *LOWER_SCO_BOUNDS):
        assert bound.value(ball) == bound.value(plain), bound.card.slug
        assert bound.failures(ball) == bound.failures(plain)


@pytest.mark.parametrize("name", SETS)
def test_objective_perturbation_takes_the_width_of_its_set(name):
    setting, body = setting_on(name), SETS[name]
    c, inputs = setting.constants, objective(setting)
    assert inputs is not None
    width = body.gaussian_width().upper
    assert inputs.width == width
    logs = math.sqrt(math.log(1e6))
    sampling, private = BY_SLUG["upper.sco.objective-perturbation"].terms(setting).values()
    assert private == pytest.approx(c.lipschitz * width * logs / (0.5 * setting.n))
    assert sampling == pytest.approx(c.lipschitz * c.diameter / math.sqrt(setting.n))
    talwar = BY_SLUG["upper.sco.prior-talwar"].value(setting)
    assert talwar == pytest.approx(
        c.lipschitz * width / math.sqrt(setting.gaussian_rho) / setting.n
    )
    # A lower rate takes the lower bound on the width, where two bounds are proven.
    lowest = body.gaussian_width().lower
    privacy_term = BY_SLUG["lower.sco-strong.width"].terms(setting)["privacy"]
    share = (lowest * logs / (0.5 * setting.n)) ** 2 / math.log(2 * setting.d) ** 4
    assert privacy_term == pytest.approx(c.lipschitz / c.diameter * share)
    if name in SYMMETRIC:
        delta = c.sample_strong_convexity * body.inradius**2
        strong = rate_strong(inputs, delta)
        row = BY_SLUG["upper.sco.objective-perturbation-strong"]
        assert tuple(row.terms(setting).values()) == pytest.approx(strong)
        # The note theory/su-zhao-wang.md, 3.2, says that with an l2 modulus the width never helps.
        floor = (setting.d - 0.5) * c.lipschitz**2 * logs**2 / (0.5 * setting.n) ** 2
        assert strong[1] >= floor / c.sample_strong_convexity * (1 - 1e-9)


def test_the_l1_ball_is_narrower_than_the_l2_ball_around_it():
    slug = "upper.sco.objective-perturbation-explicit"
    assert BY_SLUG[slug].value(setting_on("L1Ball")) < BY_SLUG[slug].value(setting_on("Ball"))


@pytest.mark.parametrize("name", SETS)
def test_half_the_constant_diameter_reaches_from_the_start_to_every_point(name):
    """Every upper bound for a start at the centre assumes this."""
    body = SETS[name]
    rng = np.random.default_rng(2)
    for g in rng.standard_normal((50, 20)):
        corner = body.support_point(g)
        assert np.linalg.norm(corner - body.centre) <= body.l2_radius * (1 + 1e-12)
        assert np.linalg.norm(corner) <= body.l2_radius * (1 + 1e-12)
