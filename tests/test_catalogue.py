"""The catalogue: complete, explicit, and every row says what it is."""

from __future__ import annotations

import doctest
import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.cards import Card
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import (
    BOUND_SLUGS,
    BOUNDS,
    DISTRIBUTION_SLUGS,
    DISTRIBUTIONS,
    HARD_INSTANCES,
    METHOD_SLUGS,
    METHODS,
    PROBLEM_SLUGS,
    PROBLEMS,
    Instance,
    bound,
    bounds_for,
    default_methods,
    distribution_card,
    distributions_for,
    make_instance,
    make_method,
    method_card,
    methods_for,
    problem_card,
)
from dpsco_core.data.base import ScaledLaw
from dpsco_core.geometry.geometries import GEOMETRIES, Geometry
from dpsco_core.privacy import ZCDP, PureDP
from dpsco_core.problems import MeanEstimation
from dpsco_core.scenario import Scenario
from tests.folded import each

ROWS = (*METHODS, *PROBLEMS, *DISTRIBUTIONS, *BOUNDS)
CARDS: tuple[Card, ...] = tuple(row.card for row in ROWS)

# The file has a line for each slug that was ever published, such as "method mean.clipped".
PUBLISHED = Path(__file__).with_name("slugs.txt")
SLUGS = {
    "method": METHOD_SLUGS,
    "problem": PROBLEM_SLUGS,
    "distribution": DISTRIBUTION_SLUGS,
    "bound": BOUND_SLUGS,
}


def balanced(latex: str) -> bool:
    """Whether all braces of a formula are closed in order, and every left delimiter has its right
    one.
    """
    depth = 0
    plain = latex.replace(r"\{", "").replace(r"\}", "")
    for character in plain:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    lefts = [plain.count(word) for word in (r"\left", r"\right")]
    arrows = [plain.count(word) for word in (r"\leftarrow", r"\rightarrow")]
    return depth == 0 and lefts[0] - arrows[0] == lefts[1] - arrows[1]


@pytest.mark.parametrize("latex", ["{", "}{", r"\frac{1}{2", r"\left(x)", r"\{{"])
def test_braces_that_do_not_balance_are_found(latex: str) -> None:
    assert not balanced(latex)
    assert balanced(r"\frac{1}{2}\left\{x\right\}")


def lost_slugs(published: str, slugs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for each published slug that is gone, with what breaks by that."""
    pairs = [line.split() for line in published.splitlines()]
    return [
        f"{kind} {slug} is gone: links, stored results and papers that name it break. "
        f"Keep the slug, or take its line out of {PUBLISHED.name} and say so in the CHANGELOG."
        for kind, slug in pairs
        if slug not in slugs[kind]
    ]


def test_every_published_slug_is_still_there() -> None:
    published = PUBLISHED.read_text(encoding="utf-8")
    kinds = {line.split()[0] for line in published.splitlines()}
    assert kinds == set(SLUGS)
    assert not lost_slugs(published, SLUGS)


def test_a_missing_slug_is_reported_with_what_breaks() -> None:
    (sentence,) = lost_slugs("method mean.clipped\nmethod mean.gone", SLUGS)
    assert sentence.startswith("method mean.gone is gone: links")


def test_every_slug_is_there_once() -> None:
    slugs = [card.slug for card in CARDS]
    assert len(set(slugs)) == len(slugs)


@each("card", CARDS, ids=lambda card: card.slug)
def test_every_card_has_a_name_a_summary_and_a_source(card: Card) -> None:
    for text in (card.slug, card.name, card.statement, card.summary, card.paper.key):
        assert text.strip() == text
        assert text
    assert card.summary.endswith(".")
    assert card.slug.isascii()
    assert " " not in card.slug


@each("row", BOUNDS, ids=lambda b: b.card.slug)
def test_every_bound_has_a_formula_and_says_what_it_bounds(row: Bound) -> None:
    card = row.card
    assert card.latex
    assert balanced(card.latex)
    strong = card.loss_class.strongly_convex
    areas: tuple[str, ...] = ("sco", "lp", *["sco-strong"] * strong)
    if card.level == "user":
        areas = ("user",)
    elif card.problems == ("mean",):
        areas = ("mean",)
    elif card.kind == "lower":
        areas = ("sco-strong",) if strong else ("sco",)
    assert any(card.slug.startswith(f"{card.kind}.{area}.") for area in areas)
    assert card.problems
    assert set(card.problems) <= set(PROBLEM_SLUGS)
    assert card.instance_problem in PROBLEM_SLUGS
    assert card.instance in ("", *HARD_INSTANCES)
    assert card.method in ("", *METHOD_SLUGS)
    assert not card.method or card.level == method_card(card.method).level
    assert bool(card.method) <= (card.kind == "upper")
    assert all(h.text for h in row.hypotheses)


@pytest.mark.parametrize("slug", METHOD_SLUGS)
def test_the_rate_of_every_method_is_an_upper_bound_on_the_error(slug: str) -> None:
    card = method_card(slug)
    # The catalogue has no rate for these methods: an exact minimiser, radii that are chosen during
    # the descent or not at all, scales that are estimated, a pass with a rate above those of
    # others, two estimators for comparison, and optimisers under pure DP.
    if not card.rate:
        assert not [b.card.slug for b in BOUNDS if b.card.method == slug], "one of them is its rate"
        return
    rate = bound(card.rate).card
    quantity = "l2 error" if card.problems == ("mean",) else "excess risk"
    assert (rate.kind, rate.quantity) == ("upper", quantity)
    assert rate.method in ("", slug)
    assert set(rate.problems) <= set(card.problems)


@pytest.mark.parametrize("slug", METHOD_SLUGS)
def test_every_method_can_be_made_in_every_calibration_and_tuning(slug: str) -> None:
    for calibration in ("tight", "paper"):
        for tuning in ("practical", "theory"):
            method: Any = make_method(slug, calibration, tuning)  # type: ignore[arg-type]
            assert method.card.slug == slug
            assert type(method) in METHODS
            if method.card.privacy != "none":
                assert (method.calibration, method.tuning) == (calibration, tuning)
    assert set(method.card.problems) <= set(PROBLEM_SLUGS)


# The pairs have every calibration and every tuning of a method; the two other pairs are slow.
WAYS = [(t, c) for t in ("practical", "theory") for c in ("tight", "paper")]


@pytest.mark.parametrize(
    ("slug", "tuning", "calibration"),
    [
        # The quick suite runs each method with its default parameters, and every third one with
        # those of the papers.
        pytest.param(slug, *way, marks=[pytest.mark.slow] * (k not in (0, 0 if i % 3 else 3)))
        for i, slug in enumerate(METHOD_SLUGS)
        for k, way in enumerate(WAYS)
    ],
)
def test_every_method_plans_on_each_of_its_problems_or_its_refusals_lead_to_a_plan(
    slug: str, calibration: Any, tuning: Any
) -> None:
    chosen = {"methods": (slug,), "calibration": calibration, "tuning": tuning, "n": 5000, "d": 4}
    laws = ("student-t", "gaussian", "hypercube")
    for i, problem in enumerate(method_card(slug).problems):
        # Every problem meets each law and each budget, and each pair of them meets on some problem.
        budgets = ({}, {"delta": 0.0}, {"rho": 0.5, "epsilon": None, "delta": None})
        for law, budget in zip(laws, (*budgets[i % 3 :], *budgets[: i % 3]), strict=True):
            scenario = Scenario(problem=problem, distribution=law, **chosen, **budget)
            # Refusals may ask for five changes: of the budget, the calibration, the tuning, and
            # twice of the problem.
            assert len(refusals(scenario)) <= 5


def refusals(scenario: Scenario) -> list[str]:
    """Return the refusals of the scenario's only method until it plans, each followed by its
    changes.
    """
    reasons: list[str] = []
    while (refusal := refused(scenario)) and len(reasons) < 9:
        reasons.append(refusal.reason)
        assert refusal.reason.endswith(".")
        assert refusal.nearest
        assert refusal.changes
        fields = dict(refusal.changes)
        other_method = fields.pop("method", None)  # This method replaces the one that refuses.
        changed = Scenario.from_dict(fields, scenario)
        assert changed.methods == scenario.methods
        if other_method is not None:
            assert other_method in methods_for(scenario.problem)
            changed = replace(changed, methods=(other_method,))
        assert changed != scenario
        scenario = changed
    return reasons


def refused(scenario: Scenario) -> NotApplicable | None:
    """Return the refusal of the scenario's first method, or None if it makes a plan."""
    method = make_method(scenario.methods[0], scenario.calibration, scenario.tuning)
    try:
        method.plan(scenario.setting)
    except NotApplicable as refusal:
        return refusal
    return None


def test_a_refusal_that_leads_nowhere_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_plan(*_: object) -> None:
        """Refuse any setting, with advice that does not help."""
        raise NotApplicable("No.", nearest="set n=3", changes=(("n", 3),))

    monkeypatch.setattr(METHODS[METHOD_SLUGS.index("sco.clipped")], "plan", no_plan)
    scenario = Scenario(problem="huber", methods=("sco.clipped",))
    with pytest.raises(AssertionError):
        refusals(scenario)


def test_every_row_has_a_price() -> None:
    assert all(0 < m.cost.seconds(100, 5) < 1 for m in METHODS)
    assert all(0 < d.sampling.seconds(100, 5) < 1 for d in DISTRIBUTIONS)


@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_every_problem_has_methods_and_bounds_of_its_own(problem: str) -> None:
    fitting = methods_for(problem)
    assert [m.card.slug for m in METHODS if problem in m.card.problems] == list(fitting)
    privacy = {method_card(slug).privacy for slug in fitting}
    assert "none" in privacy
    assert len(privacy) > 1
    assert default_methods(problem)
    assert set(default_methods(problem)) <= set(fitting)
    kinds = {b.card.kind for b in bounds_for(problem)}
    assert kinds == {"upper", "lower"}
    fits = [b for b in BOUNDS if problem in b.card.problems]
    assert {b for b in fits if b.card.level == "item"} == set(bounds_for(problem))
    assert problem_card(problem).slug == problem


@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_at_user_level_no_private_method_for_records_has_a_bound(problem: str) -> None:
    cards = [b.card for b in bounds_for(problem, "user")]
    users = {c.slug for c in cards if c.level == "user"}
    promised = [c for c in (b.card for b in BOUNDS) if problem in c.problems]
    assert users == {c.slug for c in promised if c.level == "user"}
    assert users
    carried = [c for c in cards if c.level == "item"]
    assert all(c.kind == "lower" or c.privacy == "none" or c.ignores_data for c in carried)
    # An algorithm that is private for users is private for their items, so every lower bound for
    # records holds for users.
    lower = {b.card.slug for b in bounds_for(problem) if b.card.kind == "lower"}
    assert lower <= {c.slug for c in carried}
    quantities = {c.quantity for c in cards}
    assert ("item gradients" in quantities) == (problem != "mean")
    assert "item gradients" not in {b.card.quantity for b in bounds_for(problem)}


def test_methods_for_the_mean_are_not_methods_for_risks() -> None:
    risks = [set(methods_for(problem)) for problem in PROBLEM_SLUGS if problem != "mean"]
    assert not set(methods_for("mean")) & set.union(*risks)
    assert set(methods_for("mean")) | set.union(*risks) == set(METHOD_SLUGS)


def test_the_hard_instances_are_the_laws_that_are_not_ordinary() -> None:
    hard = {law.card.slug for law in DISTRIBUTIONS if not issubclass(law, ScaledLaw)}
    assert hard == set(HARD_INSTANCES)


@pytest.mark.parametrize("slug", distributions_for("mean"))
@pytest.mark.parametrize("budget", [ZCDP(rho=0.1), PureDP(epsilon=0.5)])
def test_every_law_of_a_mean_can_be_drawn_and_sampled(slug: str, budget: ZCDP | PureDP) -> None:
    instance = make_instance(
        distribution=slug,
        n=50,
        d=9,
        budget=budget,
        moment_order=2.5,
        margin=0.5,
        offset=1.0,
        radius=2.0,
    )
    rng = np.random.default_rng(0)
    problem = instance.problem.draw(rng)
    assert (instance.spike_probability is None) == (slug not in HARD_INSTANCES)
    assert problem.sample(50, rng).x.shape == (50, 9)
    assert problem.error(problem.distribution.mean) == 0
    assert problem.distribution.moment(2.5) <= 1 + 1e-9
    assert np.linalg.norm(problem.distribution.mean) <= 2 * (1 + 1e-9)


def on_set(problem: str, kind: str, offset: float) -> Instance:
    """Return a problem on a set of diameter 0.5 in 200 dimensions."""
    return make_instance(
        problem=problem,
        distribution="student-t",
        n=300,
        d=200,
        budget=ZCDP(rho=0.5),
        moment_order=4.0,
        margin=0.5,
        offset=offset,
        radius=0.25,
        geometry=Geometry(kind=kind, q=1.5 if kind == "lq" else None),
    )


@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
@pytest.mark.parametrize("kind", GEOMETRIES)
def test_an_offset_outside_the_set_is_refused_by_its_own_value(problem: str, kind: str) -> None:
    """On the simplex the offset was once refused as -0.053, which an offset of 1 leaves the
    coordinates.
    """
    for offset in (1.0, -0.1, 0.2501, math.nan):
        with pytest.raises(InvalidInput) as refused:
            on_set(problem, kind, offset)
        allowed = "offset must be at least 0 and at most diameter/2"
        assert str(refused.value) == f"{allowed}, got offset={offset}."
    for offset in (0.0, 0.1, 0.25):
        assert on_set(problem, kind, offset).problem.geometry.kind == kind


@pytest.mark.parametrize("budget", [ZCDP(rho=0.1), PureDP(epsilon=0.5)])
@pytest.mark.parametrize(
    ("problem", "law"),
    [(p, law) for p in PROBLEM_SLUGS if p != "mean" for law in distributions_for(p)],
)
def test_every_problem_can_be_drawn_and_sampled_on_every_law_that_it_may_have(
    problem: str, law: str, budget: ZCDP | PureDP
) -> None:
    instance = make_instance(
        problem=problem,
        distribution=law,
        n=50,
        d=9,
        budget=budget,
        moment_order=2.5,
        margin=0.5,
        offset=1.0,
        radius=2.0,
    )
    assert (instance.spike_probability is None) == (law not in HARD_INSTANCES)
    rng = np.random.default_rng(0)
    problem_drawn = instance.problem.draw(rng)
    sample = problem_drawn.sample(50, rng)
    assert (sample.n, sample.d) == (50, 9)
    assert sample.constraint == problem_drawn.constraint
    assert np.linalg.norm(problem_drawn.minimiser) <= 2 * (1 + 1e-9)
    assert abs(problem_drawn.excess_risk(problem_drawn.minimiser).value) <= 1e-9
    assert np.isfinite(sample.mean_gradient(np.zeros(9))).all()
    # The law's moments are such that the gradients have the order that was asked for.
    assert problem_drawn.setting(50, budget).moment_order == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("distribution", "budget", "slug"),
    [
        ("spike", {}, "lower.mean.fano-cdp"),
        ("spike", {"delta": 0.0}, "lower.mean.fano-pure"),
        ("hypercube", {}, "lower.mean.approx-packing"),
        ("hypercube", {"delta": 0.0}, "lower.mean.approx-packing"),
        (
            "hypercube",
            {"epsilon": None, "delta": None, "rho": 0.2},
            "lower.mean.two-sided-cdp",
        ),
    ],
)
def test_a_hard_instance_is_drawn_where_its_own_bound_is_largest(
    distribution: str, budget: dict[str, Any], slug: str
) -> None:
    hard = Scenario(distribution=distribution, d=64, **budget)
    anywhere = Scenario(distribution="gaussian", d=64, **budget)
    value = bound(slug).value(hard.setting)
    assert value > 0
    assert value == pytest.approx(bound(slug).value(anywhere.setting), rel=1e-6)
    assert bound(slug).failures(hard.setting) == ()


TINY_SET = {"diameter": 0.02, "offset": 0.0}


@pytest.mark.parametrize(
    ("problem", "distribution", "changes", "slug"),
    [
        ("linear", "spike", {}, "lower.sco.fano-cdp"),
        ("linear", "spike", {"delta": 0.0}, "lower.sco.fano-pure"),
        ("linear", "hypercube", {}, "lower.sco.approx-packing"),
        ("linear", "hypercube", {"delta": 0.0}, "lower.sco.approx-packing"),
        ("quadratic", "spike", {}, "lower.sco-strong.fano-cdp"),
        ("quadratic", "spike", {"delta": 0.0}, "lower.sco-strong.fano-pure"),
        ("quadratic", "hypercube", {}, "lower.sco-strong.approx-packing"),
        ("quadratic", "hypercube", {"delta": 0.0}, "lower.sco-strong.approx-packing"),
        # The set is so small that the means must be close to 0.
        ("quadratic", "spike", TINY_SET, "lower.sco-strong.fano-cdp"),
        ("quadratic", "hypercube", TINY_SET, "lower.sco-strong.approx-packing"),
    ],
)
def test_a_hard_problem_is_drawn_where_its_own_bound_is_largest(
    problem: str, distribution: str, changes: dict[str, Any], slug: str
) -> None:
    hard = Scenario(problem=problem, distribution=distribution, d=64, methods=(), **changes)
    best = hard.setting.spike_probability
    assert best is not None
    value = bound(slug).value(hard.setting)
    assert value > 0
    assert bound(slug).failures(hard.setting) == ()
    # Gradients of the linear loss have the mean of the instance, so the bounds are compared at
    # equal R.
    loose = replace(hard.setting.constants, mean_gradient_bound=100.0)
    for factor in (0.25, 0.5, 0.8, 0.95, 1.05, 1.25, 2.0, 4.0):
        changed = replace(hard.setting, constants=loose, spike_probability=min(1.0, best * factor))
        if bound(slug).failures(changed) == ():
            assert bound(slug).value(changed) <= value * (1 + 1e-6)


def test_a_problem_needs_a_public_bound_on_the_mean() -> None:
    law = Scenario().instance.problem.distribution
    with pytest.raises(InvalidInput, match="^mean_bound must be a positive number, got mean_b"):
        MeanEstimation(distribution=law, mean_bound=0.0)


def test_the_constants_of_the_class_cover_the_law() -> None:
    problem = Scenario(p=2.5, d=6, diameter=3.0).instance.problem
    constants = problem.constants
    assert problem.distribution.moment(2.5) <= constants.coordinate_moment * (1 + 1e-12)
    assert problem.distribution.variance_trace <= constants.variance_trace
    centred = problem.distribution.directional_moment
    assert constants.directional_moment == pytest.approx(1.5 + centred)
    assert constants.mean_gradient_bound == 1.5


@pytest.mark.parametrize(
    ("look_up", "name"),
    [
        (method_card, "method"),
        (distribution_card, "distribution"),
        (bound, "bound"),
        (problem_card, "problem"),
        (lambda slug: make_method(slug, "tight", "practical"), "method"),
    ],
)
def test_an_unknown_slug_is_refused_with_the_known_ones(
    look_up: Callable[[str], object], name: str
) -> None:
    with pytest.raises(InvalidInput, match=rf"^{name} must be one of .*, got {name}=none\.$"):
        look_up("none")


@pytest.mark.parametrize(
    "module",
    [
        "scenario",
        "base.parsing",
        "catalogue",
        "runs.study",
        "results.tables",
        "results.report",
        "runs.cost",
        "base.errors",
        "cli.main",
        "problems.mean",
    ],
)
def test_the_examples_in_docstrings_are_right(module: str) -> None:
    tested = importlib.import_module(f"dpsco_core.{module}")
    failed, _ = doctest.testmod(tested)
    assert failed == 0


def test_the_upper_layers_have_examples_in_their_docstrings() -> None:
    modules = [
        importlib.import_module(f"dpsco_core.{m}")
        for m in ("scenario", "base.parsing", "results.slopes")
    ]
    assert all(doctest.testmod(m).attempted > 0 for m in modules)


def test_every_proven_lower_bound_says_by_what_argument_and_nothing_else_does() -> None:
    for card in (row.card for row in BOUNDS):
        is_proven_limit = (card.kind, card.constant) == ("lower", "explicit")
        assert bool(card.proof) == is_proven_limit, card.slug
        assert not card.is_fano or card.proof.startswith("fano"), card.slug
        assert not card.ignores_data or (card.kind, card.method) == ("upper", ""), card.slug
