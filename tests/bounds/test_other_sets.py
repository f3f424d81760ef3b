"""Lower bounds on a mean in constraint sets other than the l2 ball, and tiny sets."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.conditions import PRIOR_IN_SET
from dpsco_core.bounds.cubes import KNOWN_CUBES
from dpsco_core.bounds.instances.cubes import hardest_cube
from dpsco_core.bounds.instances.hardest import largest_spike_probability
from dpsco_core.bounds.instances.leakage import CONCENTRATED
from dpsco_core.bounds.instances.spikes import mean_scale
from dpsco_core.bounds.instances.tracing import largest_tracing_probability
from dpsco_core.bounds.mean.rows import LOWER_MEAN_BOUNDS
from dpsco_core.catalogue import PROBLEM_SLUGS, bound, default_methods
from dpsco_core.data import Hypercube
from dpsco_core.explain.window import window, worst_start
from dpsco_core.geometry.geometries import GEOMETRIES, Geometry
from dpsco_core.privacy.budget import ZCDP, PureDP
from dpsco_core.problems.laws import mean_inside
from dpsco_core.results.report import evaluate, evaluate_all, evaluation_json
from dpsco_core.scenario import Scenario

SPARSE: tuple[tuple[str, float | None], ...] = (
    ("l1", None),
    ("simplex", None),
    ("solid-simplex", None),
    ("sparse", None),
    ("group-l1", None),
    ("lq", 1.1),
    ("lq", 1.9),
)
CUBES: tuple[tuple[str, float | None], ...] = (("linf", None), ("lq", 2.0), ("lq", 3.0))
REVIEWED: tuple[dict[str, Any], ...] = (
    {"n": 20_000, "d": 1000, "p": 50.0, "rho": 0.5},
    {"n": 2000, "d": 1000, "p": 4.0, "rho": 0.05},
)


def mean_in(kind: str, q: float | None, **fields: Any) -> Scenario:
    """Return the scenario of a Gaussian mean in a set of a kind."""
    fields = {"rho": 0.5, "epsilon": None, "delta": None} | fields
    return Scenario(problem="mean", distribution="gaussian", geometry=kind, q=q, **fields)


SIGNS = tuple(b for b in LOWER_MEAN_BOUNDS if b.card.instance == "hypercube")
TRACED = tuple(b for b in LOWER_MEAN_BOUNDS if b.card.instance == "tracing")
REST = tuple(b for b in LOWER_MEAN_BOUNDS if b not in (*SIGNS, *TRACED))


@pytest.mark.parametrize("fields", REVIEWED, ids=str)
@pytest.mark.parametrize(("kind", "q"), SPARSE)
def test_a_lower_bound_on_a_mean_is_claimed_only_where_the_set_contains_its_prior(
    kind: str, q: float | None, fields: dict[str, Any]
) -> None:
    """Bounds over signs and biases use a cube inside the set; the other bounds have no value on the
    set.
    """
    point = mean_in(kind, q, **fields)
    for row in REST:
        failures = evaluate(point, row).failures
        assert any("does not hold all the means" in sentence for sentence in failures), row.card
    data = replace(point, distribution="tracing")
    assert all("does not hold all the means" in evaluate(data, row).refusal for row in TRACED)
    gap = window(point, "zcdp")
    assert gap.lower in (*SIGNS, *TRACED) and gap.floor < min(gap.ceiling, worst_start(point))


@pytest.mark.parametrize("diameter", [0.05, 0.5, 2.0, 40.0])
@pytest.mark.parametrize(("kind", "q"), SPARSE)
def test_all_means_of_the_cube_are_in_the_set_and_touch_its_boundary_where_they_may(
    kind: str, q: float | None, diameter: float
) -> None:
    for form, budget in itertools.product(("l2", "squared"), (ZCDP(rho=0.5), PureDP(epsilon=1.0))):
        body = Geometry(kind=kind, q=q).constraint(15, diameter / 2)
        cube, largest = hardest_cube(form, 500, 2.0, budget, body)
        law = Hypercube(
            d=15,
            moment_order=2.0,
            spike_probability=largest,
            support=cube.support,
            centre=cube.centre,
            paired=cube.paired,
        )
        rng = np.random.default_rng(2)
        assert all(body.contains(law.draw(rng).mean, 1e-9) for _ in range(40))
        assert mean_inside(law, body)
        assert law.draw(rng).mean_norm <= body.l2_radius * (1 + 1e-9)
        if largest < 1:
            larger = replace(law, spike_probability=min(1.0, 1.1 * largest))
            assert not mean_inside(larger, body)


def test_the_counterexample_of_a_review_has_lower_bounds_in_cubes_only() -> None:
    point = mean_in("l1", None, n=20_000, d=100_000, p=50.0)
    lower = [e for e in evaluate_all(point) if e.bound.card.kind == "lower"]
    assert [e.bound for e in lower] == list(LOWER_MEAN_BOUNDS)
    assert {e.bound for e in lower if not e.refusal} == {*SIGNS, *TRACED}
    for row in LOWER_MEAN_BOUNDS:
        assert (KNOWN_CUBES in row.hypotheses) == (row in SIGNS)
        assert (PRIOR_IN_SET in row.hypotheses) == (row in REST)
        assert (KNOWN_CUBES.text in [h.text for h in row.hypotheses]) == (row not in REST)
    assert PRIOR_IN_SET.check(point.setting).startswith("The bound is proven for means in the l2")
    # Without its set, the setting has the whole cube of l2 norm R, as if the gauge did not matter.
    setting = replace(point.setting, constraint=None)
    zcdp = bound("lower.mean.two-sided-cdp")
    assert zcdp.value(point.setting) < 0.8 * zcdp.value(setting)


@pytest.mark.parametrize(("kind", "q"), SPARSE)
@pytest.mark.parametrize("problem", ["mean", "linear", "quadratic"])
def test_a_lower_bound_has_no_value_on_a_set_that_lacks_its_hard_instances(
    problem: str, kind: str, q: float | None
) -> None:
    point = replace(mean_in(kind, q), problem=problem, methods=default_methods(problem))
    refused = [e for e in evaluate_all(point) if e.refusal]
    assert refused and {e.bound.card.kind for e in refused} == {"lower"}
    for e in refused:
        assert math.isnan(e.value) and all(map(math.isnan, e.terms.values()))
        document = evaluation_json(e)
        assert (document["value"], document["holds"]) == (None, False)
        assert document["failures"] == list(e.failures)
    if problem == "mean":
        assert [e.bound for e in refused] == list(REST)


@pytest.mark.parametrize(("kind", "q"), CUBES)
def test_a_lower_bound_keeps_its_value_where_its_hard_instances_are(
    kind: str, q: float | None
) -> None:
    evaluations = [e for e in evaluate_all(mean_in(kind, q)) if e.bound.card.kind == "lower"]
    assert evaluations and not any(e.refusal or math.isnan(e.value) for e in evaluations)


@pytest.mark.parametrize("kind", [kind for kind in GEOMETRIES if kind != "l2"])
def test_a_sentence_names_a_set_by_its_words_and_not_by_its_class(kind: str) -> None:
    point = mean_in(kind, 1.5 if kind == "lq" else None)
    body = point.setting.body
    sentences = " ".join(f for e in evaluate_all(point) for f in e.failures)
    assert not re.search(r"[A-Z][a-z0-9]+[A-Z]", sentences)
    assert (body.name in sentences) is (kind != "linf")
    assert body.name.split(" ")[0] in ("a", "an", "the") and type(body).__name__ not in body.name


@pytest.mark.parametrize(("kind", "q"), CUBES)
def test_the_lower_bounds_hold_in_a_set_that_holds_the_cube_of_the_priors(
    kind: str, q: float | None
) -> None:
    """The set contains the means of every prior at the largest probability that R allows."""
    for diameter in (0.2, 4.0):
        point = mean_in(kind, q, n=1000, d=20, p=4.0, diameter=diameter, offset=0.0)
        assert PRIOR_IN_SET.check(point.setting) == ""
        setting, d, p = point.setting, 20, 4.0
        body, radius = point.instance.problem.constraint, setting.constants.mean_gradient_bound
        rng = np.random.default_rng(3)
        signs = rng.choice([-1.0, 1.0], size=(50, d))
        hypercube = largest_spike_probability("hypercube", d, p, radius)
        assert all(body.contains(mean_scale(hypercube, p) * x, 1e-9) for x in signs)
        tracing = largest_tracing_probability(d, p, radius, CONCENTRATED)
        assert all(body.contains(mean_scale(tracing, p) * CONCENTRATED * x, 1e-9) for x in signs)
        words = mean_scale(largest_spike_probability("spike", d, p, radius), p) * (signs > 0)
        centred = words - mean_scale(largest_spike_probability("spike", d, p, radius), p) / 2
        assert all(body.contains(x, 1e-9) for x in centred)


def test_a_simplex_of_one_dimension_is_refused_before_anything_runs() -> None:
    for problem in PROBLEM_SLUGS:
        methods = default_methods(problem)
        point = Scenario(problem=problem, geometry="simplex", d=1, methods=methods)
        with pytest.raises(InvalidInput, match=r"d must be at least 2 for the geometry simplex"):
            point.validate()


BUDGETS: tuple[dict[str, Any], ...] = (
    {"epsilon": None, "delta": None, "rho": 0.5},
    {"epsilon": 1.0, "delta": 1e-6},
    {"epsilon": 1.0, "delta": 0.0},
)


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
@pytest.mark.parametrize("kind", GEOMETRIES)
def test_every_bound_has_a_value_in_the_smallest_dimension(problem: str, kind: str) -> None:
    tried = 0
    for m in (1, 5):
        for budget in BUDGETS:
            q = 1.5 if kind == "lq" else None
            point = Scenario(
                problem=problem,
                methods=default_methods(problem, "user" if m > 1 else "item"),
                geometry=kind,
                q=q,
                d=1,
                n=300,
                m=m,
                **budget,
            )
            try:
                point.validate(sampling=False)
            except InvalidInput:
                continue
            tried += 1
            for evaluation in evaluate_all(point):
                assert math.isnan(evaluation.value) is bool(evaluation.refusal), (
                    evaluation.bound.card.slug
                )
    assert tried == (0 if kind in ("simplex", "group-l1") else 6)


@pytest.mark.parametrize("noise", ["cdp", "pure"])
def test_the_printed_constants_are_shown_at_the_level_of_the_theorem(noise: str) -> None:
    """Theorem 4.1 needs tau >= 10, so the displayed formula and the value both use at least 10."""
    formula = bound(f"upper.mean.cwme-{noise}-paper").card.latex
    assert r"\tau=\max\Big\{10," in formula
    n, d, p, size = 10_000, 20, 4.0, math.log(2 * 20 / 0.1)
    for rho, epsilon in ((0.5, None), (None, 1.0), (None, 1e6)):
        budget = {"rho": rho, "epsilon": epsilon, "delta": None if epsilon is None else 0.0}
        point = Scenario(problem="mean", n=n, d=d, p=p, **budget)
        setting = point.setting
        if noise == "cdp":
            level = setting.gaussian_rho
            signal = math.sqrt(level / d) * n
        else:
            level = setting.laplace_epsilon
            signal = level * n / d
        if level == 0:
            continue
        tau = max(10.0, signal ** (1 / p))
        if noise == "cdp":
            std = math.sqrt(1152 / level) * tau * math.sqrt(d) * size / n
            private = 2 * std * (math.sqrt(d) + math.sqrt(math.log(10)))
        else:
            private = 48 * tau * d**1.5 / (level * n) * size**2
        sampling = 10 * math.sqrt(4 * size / n)
        expected = math.sqrt(d) * (sampling + 3 * (14 / tau) ** (p - 1)) + private
        scale = setting.constants.coordinate_moment ** (1 / p)
        value = bound(f"upper.mean.cwme-{noise}-paper").value(setting)
        assert value == pytest.approx(scale * expected, rel=1e-9)
