"""The search for counter-examples finds what is false and nothing in what is true."""

from __future__ import annotations

import math

import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.referee.inequality import Inequality, Requirement, VariableRange
from dpsco_core.referee.search import describe, search

POSITIVE = (Requirement(text="x > 0", holds=lambda x, **_: x > 0),)
WIDE = VariableRange(low=1, high=1e8)


def one_variable(smaller: object, larger: object, **fields: object) -> Inequality:
    """Return the claim that one side is at most another, in a positive x."""
    return Inequality(
        slug="claim",
        text="a claim",
        smaller=smaller,  # type: ignore[arg-type]
        larger=larger,  # type: ignore[arg-type]
        ranges={"x": WIDE},
        hypotheses=POSITIVE,
        **fields,  # type: ignore[arg-type]
    )


def test_a_false_claim_gets_its_smallest_counter_example() -> None:
    """The claim fails from n = 100,001 on."""
    claim = Inequality(
        slug="n",
        text="fails late",
        smaller=lambda n, d: 1.01 * d / n if n > 1e5 else 0.0,
        larger=lambda n, d: d / n,
        ranges={
            "n": VariableRange(low=1, high=1e8, is_whole=True),
            "d": VariableRange(low=1, high=1000, is_whole=True),
        },
        hypotheses=(Requirement(text="n >= d", holds=lambda n, d: n >= d),),
    )
    result = search(claim)
    assert result.refutes and result.point is not None
    assert result.point["d"] == 1
    assert 100_001 <= result.point["n"] < 102_000
    assert result.ratio == pytest.approx(1.01)
    assert search(claim, seed=5).refutes


def test_a_true_claim_is_not_refuted_even_where_it_is_attained() -> None:
    result = search(one_variable(lambda x: 2 * math.sqrt(x), lambda x: 1 + x))
    assert not result.refutes
    assert result.ratio == pytest.approx(1, abs=1e-3)


def test_a_narrow_counter_example_is_reached_by_steps() -> None:
    """The peak takes about a millionth of the box, which no spread of points would hit."""
    centre = {"x": 4321.0, "y": 87.0, "z": 2e6}

    def peak(**point: float) -> float:
        """Return a value that exceeds 1 only near `centre`."""
        away = sum(abs(math.log(point[name] / place)) for name, place in centre.items())
        return 1.01 - 0.05 * away

    claim = Inequality(
        slug="peak",
        text="a peak",
        smaller=peak,
        larger=lambda **_: 1.0,
        ranges=dict.fromkeys(centre, WIDE),
        hypotheses=POSITIVE,
    )
    assert search(claim).refutes


def test_a_counter_example_outside_the_hypotheses_does_not_count() -> None:
    claim = Inequality(
        slug="outside",
        text="true for large x",
        smaller=lambda x: 10 / x,
        larger=lambda x: 1.0,
        ranges={"x": WIDE},
        hypotheses=(Requirement(text="x >= 10", holds=lambda x: x >= 10),),
    )
    result = search(claim)
    assert not result.refutes and result.allowed < result.tried


def test_a_hidden_constant_is_refuted_by_growth_alone() -> None:
    def rate(smaller: object) -> bool:
        """Return whether the search refutes the claim that a value has the rate sqrt(x)."""
        claim = one_variable(smaller, lambda x: math.sqrt(x), constant="rate")
        return search(claim).refutes

    assert rate(lambda x: x)
    assert not rate(lambda x: 50 * math.sqrt(x))
    assert not rate(lambda x: math.sqrt(x) + 7)


def test_a_search_ignores_points_where_a_side_is_undefined() -> None:
    result = search(one_variable(lambda x: 1 / (x - 1), lambda x: 2 / (x - 1)))
    assert not result.refutes
    with pytest.raises(InvalidInput, match="^hypotheses must be conditions that hold"):
        search(one_variable(lambda x: math.nan, lambda x: 1.0))


def test_a_claim_needs_hypotheses_and_a_range() -> None:
    with pytest.raises(InvalidInput, match="^hypotheses must be at least one condition"):
        Inequality(
            slug="bare",
            text="",
            smaller=lambda x: x,
            larger=lambda x: x,
            ranges={"x": WIDE},
            hypotheses=(),
        )
    with pytest.raises(InvalidInput, match="^range must be finite and not empty"):
        VariableRange(low=3, high=3)


def test_where_the_right_side_is_not_positive_the_sign_decides() -> None:
    claim = one_variable(lambda x: 1.0, lambda x: 0.0)
    assert claim.ratio({"x": 2.0}) == math.inf
    assert one_variable(lambda x: 0.0, lambda x: 0.0).ratio({"x": 2.0}) == 1


def test_a_point_is_written_with_its_digits() -> None:
    assert describe({"n": 1e6, "delta": 1e-7}) == "n = 1,000,000, delta = 1e-07"
