"""A plan says what a release will do, and is made without its records."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from dpsco_core import ApproxDP, InvalidInput, NotApplicable, SharedLedger, plan_release, release

RNG = np.random.default_rng(0)
ROWS = RNG.standard_t(4, size=(2000, 2)) + np.array([0.5, -0.25])
LABELS = np.where(RNG.random(2000) < 0.5, 1.0, -1.0)
ITEMS = ROWS.reshape(500, 4, 2)
CASES: list[tuple[Any, dict[str, Any]]] = [
    (ROWS, {"method": "mean.clipped", "unit": 1.5}),
    (ROWS, {"method": "mean.clipped", "unit": [1.5, 3.0], "bound": [1.0, 2.0]}),
    (ROWS[:, 0], {"method": "mean.cwme-pure", "delta": 0.0, "unit": 1.5}),
    ((ROWS, LABELS), {"method": "sco.clipped", "problem": "logistic", "intercept": True}),
    ((ROWS, ROWS[:, 0]), {"problem": "huber", "method": "sco.clipped", "target_unit": 2.0}),
    (ITEMS, {"method": "user.mean-clipped", "unit": 1.5}),
]


def make_plan(records: Any, options: dict[str, Any]) -> Any:
    """Return the plan of a release of records, from their shape alone."""
    has_targets = isinstance(records, tuple)
    shape = np.shape(records[0] if has_targets else records)
    return plan_release(shape, targets=has_targets, trials=2, **({"bound": 2.0} | options))


@pytest.mark.parametrize(("records", "options"), CASES)
def test_a_release_does_what_its_plan_says(records: Any, options: dict[str, Any]) -> None:
    plan = make_plan(records, options)
    stated = {"bound": 2.0} | options
    answers = [
        release(records, **stated, rng=np.random.default_rng(5)),
        plan.release(records, rng=np.random.default_rng(5)),
    ]
    assert np.array_equal(answers[0].value, answers[1].value)
    for answer in answers:
        assert answer.ledger.entries == plan.entries and answer.spent == plan.spent
        assert answer.parameters == plan.parameters
        assert np.array_equal(np.asarray(answer.interval), np.asarray(plan.interval))
        assert (answer.noise is None) == (plan.noise is None)
        if plan.noise is not None:
            assert np.array_equal(answer.noise, plan.noise)
    assert plan.predicted_error > 0 and not plan.is_chosen_in_the_run
    for name in plan.parameters:
        assert f"{name}: {plan.parameters[name]:.4g}" in str(plan)


def test_a_plan_has_no_argument_for_records() -> None:
    names = set(inspect.signature(plan_release).parameters)
    assert names.isdisjoint({"records", "users", "rng", "ledger"})
    extra = {"shape", "targets", "trials", "seed"}
    same = set(inspect.signature(release).parameters) - {"records", "users", "items", "rng"}
    assert names - extra == same - {"ledger"}


def test_the_predicted_error_is_below_the_bound_that_holds() -> None:
    plan = plan_release((5000, 3), method="mean.clipped", bound=2.0, unit=1.5)
    bound = plan.smallest_bound
    assert bound is not None and bound.failures == ()
    assert 0.2 * bound.value < plan.predicted_error < bound.value
    assert f"bound on it: {bound.value:.4g}, " in str(plan) and bound.name in str(plan)
    error = f"predicted l2 error of the mean over its unit: {plan.predicted_error:.4g} (median"
    assert error in str(plan)


def test_the_predicted_error_of_a_model_is_its_excess_risk() -> None:
    plan = plan_release((2000, 2), targets=True, bound=2.0, unit=1.0, trials=1)
    error = f"predicted excess risk in stated units: {plan.predicted_error:.4g} (median of 1 runs"
    assert error in str(plan)


def test_the_predicted_error_is_that_of_releases_of_records_of_the_law() -> None:
    """Errors of normal records, whose noise and bias are nearly all of the error."""
    plan = plan_release(
        (400, 3), method="mean.clipped", epsilon=0.5, bound=2.0, unit=1.0, trials=200
    )
    truth = np.array([1.0, 0.0, 0.0])
    errors = [
        np.linalg.norm(
            plan.release(np.random.default_rng(i).standard_normal((400, 3)) + truth).value - truth
        )
        for i in range(100)
    ]
    assert plan.predicted_error == pytest.approx(np.median(errors), rel=0.3)


def test_a_radius_that_the_run_chooses_is_told_apart() -> None:
    plan = plan_release((5000, 2), bound=2.0, unit=1.0, trials=1)
    assert plan.method == "mean.adaptive" and plan.is_chosen_in_the_run
    assert "private releases choose it" in str(plan)


def test_a_planned_release_draws_from_a_shared_ledger() -> None:
    plan, ledger = make_plan(*CASES[0]), SharedLedger(ApproxDP(epsilon=1.5, delta=1e-5))
    assert plan.release(ROWS, ledger=ledger).spent == plan.budget
    with pytest.raises(InvalidInput, match="nothing was drawn"):
        plan.release(ROWS, ledger=ledger)


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((), {}, r"shape must be \(n,\) or \(n, d\)"),
        (5, {}, r"shape must be \(n,\) or \(n, d\).*got shape=5\."),
        ((5, 0), {}, r"with positive integers, got shape=\(5, 0\)"),
        ((5, 2.0), {}, "with positive integers"),
        ((True, 2), {}, "with positive integers"),
        ((5, 2, 2, 2), {}, "with positive integers"),
        ((10**6, 10**4), {}, "numbers, to rehearse"),
        ((50, 2), {"targets": 1}, "targets must be True or False, got targets=int"),
        ((50, 2), {"trials": 0}, "trials must be"),
        ((50, 2), {"seed": -1}, "seed must be"),
        ((50, 2), {"bound": -1.0}, "bound must be a finite number above 0"),
        ((50, 2), {"method": "user.mean-clipped"}, "method must be a private one on records"),
        ((50, 2, 2), {"method": "mean.clipped"}, "method must be a private one on users"),
    ],
)
def test_a_wrong_plan_is_refused_in_one_sentence(
    shape: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        plan_release(shape, **({"bound": 1.0} | options))


def test_a_plan_that_cannot_run_names_the_nearest_that_can() -> None:
    with pytest.raises(NotApplicable, match="Nearest: "):
        plan_release((50, 2), method="mean.clipped", bound=1.0, delta=0.0)


def test_records_of_another_shape_are_refused() -> None:
    plan = make_plan(*CASES[0])
    with pytest.raises(InvalidInput, match=r"planned shape \(2000, 2\), got records=shape \(20"):
        plan.release(ROWS[:, :1])
    with pytest.raises(InvalidInput, match="planned shape"):
        plan.release((ROWS, LABELS))
