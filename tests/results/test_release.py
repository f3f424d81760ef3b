"""A release of the user's arrays: planned from public numbers alone, charged, and in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import huber

import dpsco_core
from dpsco_core import ZCDP, ApproxDP, InvalidInput, NotApplicable, Scenario, release
from dpsco_core.catalogue import METHOD_SLUGS, method_card
from dpsco_core.explain.methods.guide import refusal

RNG = np.random.default_rng(0)
ROWS = RNG.standard_t(4, size=(4000, 3)) + np.array([0.5, -0.25, 0.0])
FEATURES = RNG.standard_normal((4000, 3))
W = np.array([0.8, -0.4, 0.2])
LABELS = np.where(RNG.random(4000) < 1 / (1 + np.exp(-3 * FEATURES @ W)), 1.0, -1.0)
ON_RECORDS = [
    card.slug
    for card in map(method_card, METHOD_SLUGS)
    if card.level == "item" and card.privacy != "none"
]


def records_of(slug: str) -> Any:
    """Return records that a method can be released on."""
    problems = method_card(slug).problems
    return ROWS if "mean" in problems else (FEATURES, LABELS)


@pytest.mark.parametrize("slug", ON_RECORDS)
def test_every_method_on_records_takes_arrays_and_spends_no_more_than_its_budget(
    slug: str,
) -> None:
    delta = 0.0 if method_card(slug).privacy == "pure" else 1e-6
    problem = "logistic" if "logistic" in method_card(slug).problems else None
    options: dict[str, Any] = {"method": slug, "epsilon": 1.0, "delta": delta, "bound": 1.0}
    options |= {"unit": 1.5, "problem": problem, "rng": np.random.default_rng(1)}
    chosen = problem or method_card(slug).problems[0]
    if refusal(Scenario(problem=chosen, n=4000, d=3, delta=delta, methods=()), slug):
        with pytest.raises(NotApplicable, match="Nearest: "):
            release(records_of(slug), **options)
        return
    answer = release(records_of(slug), **options)
    assert answer.value.shape == (3,) and np.isfinite(answer.value).all()
    spent = answer.spent
    assert spent is not None and answer.ledger.entries and "SECURITY.md" in answer.warning
    assert getattr(spent, "epsilon", 0.0) <= 1.0 and getattr(spent, "delta", 0.0) <= 1e-6


def test_nothing_but_the_shape_is_read_before_the_ledger() -> None:
    """Other records of the same shape, even broken ones, leave plan and noise unchanged."""
    broken = ROWS.copy()
    broken[7] = np.nan
    broken[8] = np.inf
    for changed in (1e9 * ROWS, np.zeros_like(ROWS), broken):
        pair = [
            release(x, method="mean.clipped", bound=2.0, unit=1.0, rng=np.random.default_rng(2))
            for x in (ROWS, changed)
        ]
        assert pair[0].parameters == pair[1].parameters
        assert pair[0].ledger.entries == pair[1].ledger.entries
        assert pair[0].interval == pair[1].interval
        assert np.isfinite(pair[1].value).all()


def test_a_false_statement_is_not_corrected_from_the_records() -> None:
    """Records a hundred away from the centre are clipped there, and the answer tells nothing else
    about them.
    """
    answer = release(ROWS + 100.0, method="mean.clipped", bound=2.0, rng=np.random.default_rng(2))
    assert np.linalg.norm(answer.value) <= 2.0 * (1 + 1e-9)


def test_neighbours_move_a_release_by_no_more_than_its_ledger_says() -> None:
    """With the same noise, the answers differ by as much as the clipped records do."""
    neighbour = ROWS.copy()
    neighbour[0] = 1e12
    outlier = ROWS.copy()
    outlier[0] = -1e12
    answers = [
        release(x, method="mean.clipped", bound=50.0, unit=1.5, rng=np.random.default_rng(3))
        for x in (neighbour, outlier)
    ]
    shifted = float(np.linalg.norm(answers[0].value - answers[1].value))
    [entry] = answers[0].ledger.entries
    assert shifted == pytest.approx(1.5 * entry.sensitivity, rel=1e-9)


def test_the_interval_covers_the_mean_and_is_omitted_where_none_is_proven() -> None:
    x = np.random.default_rng(5).standard_t(4, size=(20, 4000, 1))  # Records with variance 2.
    covering = 0
    for trial, rows in enumerate(x):
        answer = release(
            rows,
            method="mean.clipped",
            bound=1.0,
            unit=np.sqrt(2.0),
            rng=np.random.default_rng(trial),
        )
        assert answer.interval is not None
        covering += abs(float(answer.value[0])) <= answer.interval
    assert covering == 20
    assert release(ROWS, method="mean.adaptive", bound=1.0).interval is None
    assert release((FEATURES, LABELS), method="sco.clipped", bound=1.0).interval is None


def test_unit_and_centre_amount_to_a_change_of_coordinates() -> None:
    options: dict[str, Any] = {"method": "mean.clipped", "bound": 2.0, "unit": 1.0}
    plain = release(ROWS, **options, rng=np.random.default_rng(6))
    centre = np.array([10.0, -5.0, 2.0])
    shifted = release(
        3.0 * ROWS + centre,
        method="mean.clipped",
        bound=6.0,
        unit=3.0,
        centre=centre,
        rng=np.random.default_rng(6),
    )
    assert np.allclose(shifted.value, 3.0 * plain.value + centre, rtol=1e-9)
    assert shifted.interval == pytest.approx(3.0 * (plain.interval or np.nan))


def test_columns_with_units_of_their_own_are_one_release_in_these_units() -> None:
    units, options = np.array([1000.0, 0.01, 3.0]), {"method": "mean.clipped", "epsilon": 2.0}
    ball = 2.0 * np.sqrt(3)
    plain = release(ROWS, **options, bound=ball, unit=1.0, rng=np.random.default_rng(6))
    scaled = release(
        units * ROWS, **options, bound=2.0 * units, unit=units, rng=np.random.default_rng(6)
    )
    assert np.allclose(scaled.value, units * plain.value, rtol=1e-9)
    assert plain.noise is not None and scaled.noise is not None and plain.interval is not None
    assert np.allclose(scaled.noise, units * plain.noise, rtol=1e-9)
    assert np.allclose(scaled.interval, plain.interval * units, rtol=1e-9)
    # A bound given as one number is a distance in the records' own units. It must cover all
    # columns, so it is divided by the smallest unit: 0.02 / 0.01 = 2.
    wide = release(units * ROWS, **options, bound=0.02, unit=units, rng=np.random.default_rng(6))
    same = release(ROWS, **options, bound=2.0, rng=np.random.default_rng(6))
    assert np.allclose(wide.value, units * same.value, rtol=1e-9)


@pytest.mark.parametrize(
    "slug", ["mean.clipped", "mean.cwme-pure", "mean.smoothed", "mean.adaptive"]
)
def test_the_noise_that_is_told_is_the_spread_of_answers(slug: str) -> None:
    """The standard deviation of 180 normal values is off by a quarter with probability 2e-6."""
    answers = [
        release(5 * ROWS, method=slug, bound=10.0, unit=7.0, rng=np.random.default_rng(seed))
        for seed in range(60)
    ]
    spread = np.sqrt(np.mean(np.var([answer.value for answer in answers], axis=0)))
    noises = [answer.noise for answer in answers]
    assert spread == pytest.approx(np.mean(noises), rel=0.25)


def test_a_release_has_no_single_noise_scale_if_it_has_several_releases_or_a_loss() -> None:
    for slug in ("mean.iterative", "mean.plan"):
        assert release(ROWS, method=slug, bound=2.0, unit=1.5).noise is None
    assert release((FEATURES, LABELS), method="sco.clipped", bound=1.0).noise is None


@pytest.mark.parametrize("problem", ["least-squares", "huber", "absolute"])
def test_targets_have_a_unit(problem: str) -> None:
    """Without a unit the Huber and the absolute loss once left large targets unexplained."""
    plain, scaled = (
        release(
            (CORRELATED, scale * RESPONSES),
            problem=problem,
            epsilon=8.0,
            bound=4.0 * scale,
            target_unit=scale,
            rng=np.random.default_rng(3),
        ).value
        for scale in (1.0, 1000.0)
    )
    assert np.allclose(scaled, 1000.0 * plain, rtol=1e-9)
    assert np.linalg.norm(plain - COEFFICIENTS) < 0.4


@pytest.mark.parametrize("problem", ["huber", "absolute"])
def test_the_unit_of_targets_is_stated_where_steps_do_not_grow_with_them(problem: str) -> None:
    """Without the unit, targets of 10,000 once gave coefficients near 0 without a word."""
    with pytest.raises(InvalidInput, match=r"target_unit must be given for .*target_unit=None"):
        release((CORRELATED, 1e4 * RESPONSES), problem=problem, bound=4.0)
    for wrong in ("a", 0.0, np.nan):
        with pytest.raises(InvalidInput, match="target_unit must be a finite number above 0"):
            release((CORRELATED, RESPONSES), problem=problem, bound=4.0, target_unit=wrong)


def test_a_mean_has_an_interval_only_with_a_stated_unit_and_says_why_it_has_none() -> None:
    """At a unit of 1 that nobody had stated, intervals of records of size 60 once missed their
    mean.
    """
    options: dict[str, Any] = {"bound": 2.0, "method": "mean.clipped"}
    stated, unstated = release(ROWS, **options, unit=1.0), release(ROWS, **options)
    assert stated.interval is not None and unstated.interval is None
    assert any("unit, which is not stated" in note for note in unstated.notes)
    assert not any("No interval" in note for note in stated.notes)
    chosen_radius = release(ROWS, method="mean.adaptive", bound=2.0, unit=1.0)
    assert any(
        "have one: mean.cwme-cdp, mean.cwme-pure, mean.clipped." in note
        for note in chosen_radius.notes
    )
    # Below p = 2 this method has no proven interval, and is not recommended for one.
    heavy = release(ROWS, **options, unit=1.0, p=1.5)
    assert any("No interval is proven for this run" in note for note in heavy.notes)
    assert not any("mean.clipped" in note for note in heavy.notes)


def test_a_default_loss_is_named_in_the_notes() -> None:
    pair = CORRELATED, RESPONSES
    for problem, is_told in ((None, True), ("logistic", False), ("least-squares", False)):
        notes = release(pair, problem=problem, bound=4.0).notes
        assert any("logistic regression" in note for note in notes) == is_told


def test_a_model_says_that_it_has_no_intercept_and_what_a_label_is() -> None:
    for problem, has_labels in (("logistic", True), ("hinge", True), ("least-squares", False)):
        notes = release((CORRELATED, RESPONSES), problem=problem, bound=4.0).notes
        assert any("no intercept" in note for note in notes)
        assert any("above 0 is one label" in note for note in notes) == has_labels
    assert not any("intercept" in note for note in release(CORRELATED, bound=1.0).notes)


def test_features_are_moved_to_their_centre_first() -> None:
    centre = np.array([5.0, -3.0, 0.0, 1.0, 0.0, 40.0])
    options: dict[str, Any] = {"problem": "huber", "bound": 4.0, "epsilon": 8.0}
    options["target_unit"] = 1.0
    moved_answer, centred_answer = (
        release((features, RESPONSES), **options, centre=c, rng=np.random.default_rng(3)).value
        for features, c in ((CORRELATED + centre, centre), (CORRELATED, 0.0))
    )
    assert np.allclose(moved_answer, centred_answer, rtol=1e-6)


def test_features_have_units_of_their_own_and_coefficients_come_back_in_them() -> None:
    """One unit for all features once clipped the large ones, and drowned the small ones
    in noise.
    """
    units = np.array([1000.0, 0.01, 3.0, 1.0, 1.0, 20.0])
    options: dict[str, Any] = {"problem": "huber", "epsilon": 8.0, "target_unit": 2.0}
    plain, scaled = (
        release(
            (scales * CORRELATED, 2.0 * RESPONSES),
            **options,
            bound=2.0 / scales,
            unit=scales,
            rng=np.random.default_rng(3),
        )
        for scales in (np.ones(6), units)
    )
    assert np.allclose(scaled.value, plain.value / units, rtol=1e-9)
    assert np.linalg.norm(plain.value / 2.0 - COEFFICIENTS) < 0.4
    # A number bounds the coefficients together, so it counts by the largest unit.
    wide, same = (
        release(pair, **options, bound=bound, unit=unit, rng=np.random.default_rng(3))
        for pair, bound, unit in (
            ((units * CORRELATED, RESPONSES), 0.004, units),
            ((CORRELATED, RESPONSES), 4.0, 1.0),
        )
    )
    assert np.allclose(wide.value, same.value / units, rtol=1e-9)


@pytest.mark.parametrize("slug", ["sco.clipped", "sco.objective-perturbation", "sco.dp-sgd"])
def test_an_intercept_is_the_coefficient_of_a_feature_of_ones_in_the_account(slug: str) -> None:
    """Gradients are clipped together with the intercept's part, so the ledger is that of d + 1
    features.
    """
    options: dict[str, Any] = {"method": slug, "problem": "logistic", "bound": 2.0}
    features, labels = CORRELATED[:, :3], np.sign(RESPONSES + 1.0)
    with_ones = np.column_stack([features, np.ones(len(features))])
    answer, expected = (
        release((x, labels), **options, intercept=has_one, rng=np.random.default_rng(4))
        for x, has_one in ((features, True), (with_ones, False))
    )
    assert answer.intercept is not None and expected.intercept is None
    assert np.array_equal([*answer.value, answer.intercept], expected.value)
    assert answer.ledger.entries == expected.ledger.entries and answer.spent == expected.spent
    assert any("one more feature" in note for note in answer.notes)
    assert not any("no intercept" in note for note in answer.notes)


@pytest.mark.parametrize("slug", ["sco.clipped", "sco.cwme", "sco.iterative"])
def test_an_intercept_is_in_the_unit_of_the_targets_at_features_of_zero(slug: str) -> None:
    """The predictions are those of the model, whatever the centre of the features is."""
    centre, units = np.array([50.0, -3.0]), np.array([10.0, 0.1])
    features = centre + units * CORRELATED[:, :2]
    targets = 7.0 * (CORRELATED[:, :2] @ np.array([0.9, -0.6]) + 1.5) + RNG.standard_normal(4000)
    answer = release(
        (features, targets),
        method=slug,
        problem="least-squares",
        epsilon=1000.0,
        bound=[2.0, 200.0, 20.0],
        unit=units,
        target_unit=7.0,
        centre=centre,
        intercept=True,
        rng=np.random.default_rng(4),
    )
    assert answer.intercept is not None
    residuals = targets - features @ answer.value - answer.intercept
    assert np.mean(residuals**2) < 0.1 * np.var(targets)
    assert answer.intercept + centre @ answer.value == pytest.approx(7.0 * 1.5, rel=0.1)


def test_a_broken_record_does_not_end_a_release_with_an_intercept() -> None:
    broken = FEATURES.copy()
    broken[7], broken[8] = np.nan, np.inf
    for slug in ("sco.clipped", "sco.objective-perturbation", "sco.dp-sgd"):
        answer = release(
            (broken, LABELS), method=slug, problem="logistic", bound=2.0, intercept=True
        )
        assert answer.intercept is not None
        assert np.isfinite([*answer.value, answer.intercept]).all()


def test_a_printed_ledger_lists_its_releases() -> None:
    ledger = release(CORRELATED, method="mean.clipped", bound=1.0).ledger
    heading, *lines = str(ledger).splitlines()
    assert "(1, 1e-06)-DP is spent" in heading and len(lines) == len(ledger.entries) == 1
    assert f"noise {ledger.entries[0].noise:.4g}" in lines[0]


def test_a_logistic_regression_finds_the_direction_and_features_have_a_unit() -> None:
    answers = [
        release(
            (scale * FEATURES, LABELS),
            method="sco.clipped",
            epsilon=8.0,
            bound=3.0 / scale,
            unit=scale,
            rng=np.random.default_rng(7),
        ).value
        for scale in (1.0, 10.0)
    ]
    assert np.allclose(answers[0], 10.0 * answers[1], rtol=1e-9)
    cosine = answers[0] @ W / np.linalg.norm(answers[0]) / np.linalg.norm(W)
    assert cosine > 0.95 and np.linalg.norm(answers[0]) <= 3.0 * (1 + 1e-9)


CORRELATED = 0.7 * RNG.standard_normal((4000, 6)) + 0.7 * RNG.standard_normal((4000, 1))
COEFFICIENTS = np.array([0.9, -0.6, 0.3, 0.0, 0.5, -0.2])
RESPONSES = CORRELATED @ COEFFICIENTS + RNG.standard_normal(4000)


@pytest.mark.parametrize("slug", ["sco.clipped", "sco.cwme", "sco.iterative", "sco.dp-sgd"])
@pytest.mark.parametrize("problem", ["logistic", "hinge", "least-squares", "huber", "absolute"])
def test_with_almost_no_noise_a_regression_is_the_one_without_privacy(
    problem: str, slug: str
) -> None:
    """The features are correlated, and their second-moment matrix has largest eigenvalue 3.4."""
    losses = {
        "logistic": lambda margins: np.logaddexp(0, -np.sign(RESPONSES) * margins),
        "hinge": lambda margins: np.maximum(1 - np.sign(RESPONSES) * margins, 0),
        "least-squares": lambda margins: (RESPONSES - margins) ** 2 / 2,
        "huber": lambda margins: huber(1, RESPONSES - margins),
        "absolute": lambda margins: np.abs(RESPONSES - margins),
    }

    def risk(w: Any) -> float:
        """Return the empirical risk at w."""
        return float(losses[problem](CORRELATED @ w).mean())

    has_labels = problem in ("logistic", "hinge")
    targets = [RESPONSES]
    if has_labels:  # Labels may come in either of two codes.
        targets = [np.sign(RESPONSES), (RESPONSES > 0).astype(float)]
    answers = [
        release(
            (CORRELATED, target),
            problem=problem,
            method=slug,
            epsilon=1000.0,
            bound=4.0,
            target_unit=1.0,
            rng=np.random.default_rng(3),
        ).value
        for target in targets
    ]
    assert all(np.array_equal(answer, answers[0]) for answer in answers)
    best = minimize(risk, np.zeros(6), method="Powell", bounds=[(-4, 4)] * 6).fun
    without_data = risk(np.zeros(6))
    assert risk(answers[0]) - best < 0.3 * (without_data - best)


@pytest.mark.parametrize("bound", [0.1, 4.0])
def test_an_answer_on_the_boundary_warns_that_the_statements_may_be_wrong(bound: float) -> None:
    """The mean is .56 from 0, and the coefficients are longer than 1, so both bounds
    are too small.
    """
    rng = np.random.default_rng(5)
    mean = release(ROWS, method="mean.clipped", epsilon=100.0, bound=bound, unit=1.5, rng=rng)
    model = release((CORRELATED, np.sign(RESPONSES)), epsilon=100.0, bound=bound, rng=rng)
    for answer in (mean, model):
        is_said = any("lies on the bound" in note for note in answer.notes)
        assert is_said == (np.linalg.norm(answer.value) > 0.999 * bound) == (bound == 0.1)


def test_a_release_also_takes_losses_of_points() -> None:
    options: dict[str, Any] = {"method": "sco.clipped", "epsilon": 8.0, "bound": 3.0, "unit": 1.5}
    for problem in ("quadratic", "geometric-median"):
        answer = release(ROWS, problem=problem, **options, rng=np.random.default_rng(8))
        assert np.linalg.norm(answer.value - np.array([0.5, -0.25, 0.0])) < 0.3
    direction = release(ROWS, problem="linear", **options, rng=np.random.default_rng(8)).value
    assert np.linalg.norm(direction) <= 3.0 * (1 + 1e-9)


def test_the_budget_of_a_release_is_that_of_its_ledger() -> None:
    answer = release(ROWS, method="mean.clipped", bound=1.0, epsilon=None, delta=None, rho=0.1)
    assert answer.spent == ZCDP(rho=0.1)
    answer = release(ROWS[:, 0], method="mean.clipped", bound=1.0, epsilon=2.0, delta=1e-7)
    assert answer.spent == ApproxDP(epsilon=2.0, delta=1e-7) and answer.value.shape == (1,)


# This is the sentence for a bound that is too small or too large, up to the unit.
BALL = "bound must be at least 5e-07 and at most 500000 times"
# This is the sentence for a target beside a problem that takes none.
TAKES_TARGET = (
    r"problem must be one that takes a target \(least-squares, logistic, huber, hinge, absolute\), "
    "or be given without a target, got problem=(mean|linear) with a target"
)


def test_two_calls_have_different_noise() -> None:
    pair = [release(ROWS, method="mean.clipped", bound=1.0).value for _ in range(2)]
    assert not np.array_equal(*pair)


@pytest.mark.parametrize(
    ("records", "options", "message"),
    [
        (np.zeros((2, 2, 2)), {}, r"method must be a private one on users for records of shape"),
        (np.zeros((0, 2)), {}, "records must be of at least one row and one column"),
        (
            [[1.0], [1.0, 2.0]],
            {},
            "records must be an array of numbers.* lists of different lengths",
        ),
        ([[1.0], ["unknown"]], {}, "records must be an array of numbers.*, got text in a list"),
        ([1.0, None], {}, "records must be an array of numbers.*, got no numbers in a list"),
        (ROWS, {"unit": "one"}, "unit must be an array of numbers.*, got text in a str"),
        (([[1.0], [2.0]], ["yes", "no"]), {"method": "sco.clipped"}, "targets must be an array"),
        (
            ROWS,
            {"bound": 300_000, "unit": 0.4},
            BALL + " unit, got 750000 times: bound=300000.0, u",
        ),
        (ROWS, {"bound": 1e-9}, BALL + " unit, got 1e-09 times: bound=1e-09, unit=1.0."),
        (
            (CORRELATED, RESPONSES),
            {"method": "sco.clipped", "problem": "huber", "bound": 1e6, "target_unit": 0.5},
            BALL
            + " target_unit / unit, got 2e.06 times: bound=1000000.0, unit=1.0, target_unit=0.5",
        ),
        (np.array(["a"]), {}, "records must be a numpy array of real numbers"),
        (
            np.ma.masked_array([1.0, 2.0], mask=[0, 1]),
            {},
            "records must be an array without a mask",
        ),
        (
            ROWS,
            {"bound": np.nan},
            "bound must be a finite number above 0, or 3 of them, got bound=nan",
        ),
        (ROWS, {"unit": 0.0}, "unit must be a finite number above 0"),
        (ROWS, {"unit": [1.0, 2.0]}, "unit must be a finite number above 0, or 3 of them"),
        (ROWS, {"bound": [1.0, 2.0, -1.0]}, "bound must be a finite number above 0, or 3 of them"),
        ((FEATURES, LABELS), {"method": "sco.clipped", "unit": [1.0, 2.0]}, "unit must be a fin"),
        (
            (FEATURES, LABELS),
            {"method": "sco.clipped", "bound": [1.0, 1.0, 1.0], "intercept": True},
            "bound must be a finite number above 0, or 4 of them",
        ),
        (
            ROWS,
            {"method": "sco.clipped", "problem": "geometric-median", "unit": [1.0, 1.0, 1.0]},
            "unit must be a finite number above 0, got unit=",
        ),
        (ROWS, {"intercept": True}, "intercept must be False without features, got intercept=True"),
        ((FEATURES, LABELS), {"method": "sco.clipped", "intercept": 2}, "must be True or False"),
        ((FEATURES, LABELS), {"method": "sco.clipped", "target_unit": 2.0}, "be 1 for labels"),
        (ROWS, {"target_unit": 2.0}, "target_unit must be 1 without targets"),
        (ROWS, {"target_unit": 0.0}, "target_unit must be a finite number above 0"),
        (ROWS, {"centre": np.zeros(2)}, "centre must be a finite number, or 3 of them"),
        (ROWS, {"centre": np.nan}, "centre must be a finite number"),
        (ROWS, {"epsilon": -1.0}, "epsilon must be at least"),
        (ROWS, {"p": 1.0}, "p must be at least 1.1"),
        (
            ROWS,
            {"method": "sco.clipped", "problem": "geometric-median", "centre": 1.0},
            "centre must be 0 for a loss of points, got centre=",
        ),
        (ROWS, {"method": "mean.sample"}, "method must be a private one on records"),
        (ROWS, {"method": "user.mean-clipped"}, "method must be a private one on records"),
        ((FEATURES, LABELS[:-1]), {"method": "sco.clipped"}, r"targets must be of shape \(4000,\)"),
        ((FEATURES, LABELS, W), {"method": "sco.clipped"}, "records must be features and targets"),
        (
            ROWS,
            {"method": "sco.clipped", "problem": "logistic"},
            "records must be a pair of feat.*no target",
        ),
        ((FEATURES, LABELS), {"method": "mean.clipped", "problem": "mean"}, TAKES_TARGET),
        ((FEATURES, LABELS), {"problem": "linear"}, TAKES_TARGET),
    ],
)
def test_a_wrong_statement_is_refused_in_one_sentence(
    records: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as refusal:
        release(records, **({"bound": 1.0, "method": "mean.clipped"} | options))
    assert str(refusal.value).endswith(".") and "\n" not in str(refusal.value)


def test_lists_are_read_as_arrays() -> None:
    def answers(records: Any, method: str) -> list[float]:
        """Return the answer of a release with a fixed state of the noise."""
        rng = np.random.default_rng(7)
        values: list[float] = release(records, method=method, bound=2.0, rng=rng).value.tolist()
        return values

    rows, features = ROWS.tolist(), FEATURES.tolist()
    assert answers(rows, "mean.clipped") == answers(ROWS, "mean.clipped")
    assert answers(rows[0], "mean.clipped") == answers(ROWS[0], "mean.clipped")
    pair = answers((FEATURES, LABELS), "sco.clipped")
    assert answers((features, LABELS.astype(int).tolist()), "sco.clipped") == pair


def test_a_linear_loss_takes_a_bound_below_1() -> None:
    """The refusal once was about an offset, which nobody had stated."""
    answer = release(ROWS, problem="linear", method="sco.clipped", bound=0.5)
    assert np.linalg.norm(answer.value) <= 0.5 * (1 + 1e-9)


def test_release_is_a_public_name() -> None:
    assert "release" in dpsco_core.__all__ and dpsco_core.release is release


@pytest.mark.parametrize("unit", [1.0, [1.0] * 40, None])
def test_a_printed_answer_is_short_and_has_value_budget_interval_and_notes(unit: Any) -> None:
    records = np.random.default_rng(3).standard_normal((3000, 40))
    answer = release(records, method="mean.clipped", bound=2.0, unit=unit, delta=1e-3)
    lines = str(answer).splitlines()
    assert lines[0].startswith(f"mean.clipped: [{answer.value[0]:.4g}, ")
    assert lines[0].endswith(", ...] (d = 40)") and len(lines) <= 10
    assert lines[1] == f"  spent: {answer.spent}"
    if answer.interval is None:
        assert lines[2] == "  95 % interval: none"
    else:
        assert f"{np.ravel(answer.interval)[0]:.4g}" in lines[2]
    assert answer.notes and lines[3:] == [f"  note: {note}" for note in answer.notes]
    assert repr(answer).startswith("ArrayRelease(")


def test_a_printed_model_has_its_intercept_and_many_notes_are_counted() -> None:
    answer = release((FEATURES, LABELS), bound=2.0, intercept=True)
    assert f"  intercept: {answer.intercept:.4g}" in str(answer).splitlines()
    noted = replace(answer, notes=tuple("abcdefgh"))
    assert str(noted).endswith("  note: e\n  and 3 more in `notes`")
    assert len(str(noted).splitlines()) <= 10
