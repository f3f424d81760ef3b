"""The tail of one's own numbers: Hill's estimate covers the truth, and its scenario matches."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_app.parts.options import OPTIONS
from dpsco_core.base.errors import InvalidInput
from dpsco_core.explain.tails import FEWEST, central_moment, read_numbers, tail

ORDERS = tuple(OPTIONS["p"])


@pytest.mark.parametrize("index", [2.2, 3.0, 5.0])
@pytest.mark.parametrize("n", [200, 5000])
@pytest.mark.parametrize("signs", [[1], [-1, 1]])
def test_the_interval_holds_the_index_of_power_tails_as_often_as_it_says(
    index: float, n: int, signs: list[int]
) -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        sizes = np.where(rng.random(n) < 0.5, rng.random(n), rng.random(n) ** (-1 / index))
        sizes *= rng.choice(signs, n)
        found = tail(sizes)
        covered += found.low <= index <= found.high
    # 95 % for exact tails; what is not quite a power costs some. Below 155 with probability 1e-6 if
    # the coverage is 0.88.
    assert covered >= 155


def test_the_matching_law_and_order_follow_from_the_numbers() -> None:
    rng = np.random.default_rng(1)
    heavy = rng.random(20_000) ** (-1 / 3)
    assert tail(heavy).law == "skewed-pareto" and tail(heavy).order(ORDERS, 0.5) == 2.2
    both = heavy * rng.choice([-1, 1], heavy.size)
    assert tail(both).law == "student-t" and not tail(both).one_sided
    wild = rng.random(20_000) ** (-1 / 1.2)
    assert tail(wild).order(ORDERS, 0.5) == 2 and tail(wild).high < 2  # no variance at all
    bounded = rng.random(20_000)
    assert tail(bounded).law == "gaussian" and tail(bounded).order(ORDERS, 0.5) == 20


def test_shift_and_scale_do_not_change_the_tail() -> None:
    values = np.random.default_rng(2).standard_t(3, 5000)
    one, two = tail(values), tail(-1000 + 0.01 * values)
    assert two.index == pytest.approx(one.index, rel=1e-6)
    assert (two.used, two.one_sided) == (one.used, one.one_sided)
    moment = central_moment(values, 2.5)
    assert central_moment(7 + 1e200 * values, 2.5) == pytest.approx(1e200 * moment, rel=1e-9)
    assert moment == pytest.approx(np.mean(np.abs(values - values.mean()) ** 2.5) ** 0.4)


def test_the_first_column_of_numbers_is_read_and_the_rest_passed_over() -> None:
    rows = ["name,income,age", *(f"p{i},{i}.5,{i % 3}" for i in range(60)), "x,,", "y,nan,inf"]
    assert read_numbers("\n".join(rows)).tolist() == [i + 0.5 for i in range(60)]


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("", "numbers must be at least 50 in one column, got numbers=0."),
        ("1\n2\n", "numbers must be at least 50 in one column, got numbers=2."),
        ("7\n" * 99, "numbers must be at least 50 different ones, got numbers=1."),
    ],
)
def test_too_few_numbers_get_one_sentence(text: str, got: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        read_numbers(text)
    assert str(problem.value) == got
    assert FEWEST == 50 and math.isfinite(tail(np.arange(60.0)).index)
