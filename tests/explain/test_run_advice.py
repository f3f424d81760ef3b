"""The advice below a run: which private method to choose, and what its privacy costs."""

from __future__ import annotations

import math

import pytest

from dpsco_core.explain.anatomy import starting_risk
from dpsco_core.explain.methods.guarantees import APART, differing_guarantees, guarantees
from dpsco_core.explain.promise import advice
from dpsco_core.results.measured import measured
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

LINEAR = Scenario(problem="linear", methods=("sco.sgd", "sco.clipped"))


def advised(scenario: Scenario, *errors: tuple[float, ...]) -> str:
    """Return the advice for a scenario whose methods have the given errors in its trials."""
    outcomes = [
        Outcome(method=method, x=None, trial=trial, error=error, seconds=0.0, spent=None)
        for method, values in zip(scenario.methods, errors, strict=True)
        for trial, error in enumerate(values)
    ]
    return advice(scenario, outcomes, measured(outcomes))


def test_a_reference_that_is_worse_than_the_private_method_is_called_poor() -> None:
    text = advised(LINEAR, (10.0, 11.0, 9.0), (1.0, 1.1, 0.9))
    assert "next to nothing" not in text
    assert "is 10 times worse, a poor reference" in text
    assert "(sco.erm) as the reference" in text


def test_the_better_reference_is_the_best_one_that_ran() -> None:
    point = Scenario(methods=("mean.sample", "mean.median-of-means", "mean.clipped"))
    text = advised(point, (9.0, 8.0), (0.5, 0.6), (1.0, 0.9))
    assert "(mean.median-of-means) as the reference" in text


def test_no_better_reference_is_named_where_the_usual_one_is_the_poor_one() -> None:
    text = advised(Scenario(methods=("mean.sample", "mean.clipped")), (9.0, 8.0), (1.0, 0.9))
    assert text.endswith("a poor reference that does not show what privacy costs.")


@pytest.mark.parametrize("private", [(10.0, 9.0, 11.0), (9.0, 11.0, 9.5)])
def test_a_price_within_the_noise_of_1_is_called_negligible(private: tuple[float, ...]) -> None:
    text = advised(LINEAR, (10.0, 10.0, 10.0), private)
    assert "privacy costs next to nothing beside" in text and "poor" not in text


def test_no_method_is_recommended_that_is_as_bad_as_an_answer_without_data() -> None:
    point = Scenario(methods=("mean.clipped", "mean.adaptive"))
    blind = starting_risk(point)
    assert blind > 0
    worse = advised(point, (3 * blind,) * 3, (0.99 * blind,) * 3)
    assert "take" not in worse and f"whose error is {blind:.4g}" in worse
    assert "take" in advised(point, (3 * blind,) * 3, (0.5 * blind,) * 3)


def test_a_costly_method_is_described_by_its_price() -> None:
    point = Scenario(problem="linear", methods=("sco.erm", "sco.clipped"))
    assert ", 3 times that of " in advised(point, (1.0, 1.0), (3.0, 3.0))


def test_the_advice_names_what_is_proven_where_methods_differ_by_it() -> None:
    point = Scenario(n=2000, d=5, methods=("mean.clipped", "mean.adaptive"))
    proven = guarantees(point, point.methods)
    assert proven["mean.adaptive"] > 10 * proven["mean.clipped"] > 0
    text = advised(point, (0.2, 0.21, 0.2), (0.1, 0.11, 0.1))
    assert text.startswith("take Adaptive clipping: ")
    assert f"at most {proven['mean.clipped']:.3g} for Simple clipping; " in text
    assert f"at most {proven['mean.adaptive']:.3g} for Adaptive clipping." in text
    equal = Scenario(methods=("mean.clipped", "mean.cwme-cdp"))
    values = guarantees(equal, equal.methods).values()
    assert max(values) < APART * min(values)
    assert "proven" not in advised(equal, (0.2, 0.21, 0.2), (0.1, 0.11, 0.1))


def test_a_method_without_a_proven_error_is_said_to_have_none() -> None:
    point = Scenario(n=2000, d=5, methods=("mean.clipped", "mean.iterative"))
    assert math.isinf(guarantees(point, point.methods)["mean.iterative"])
    assert "nothing for Iterative" in differing_guarantees(
        point, ["mean.iterative", "mean.clipped"]
    )
