"""The tail estimate of the user's numbers: invariant under shifts, with only valid claims."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpsco_app.parts.options import OPTIONS
from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.explain.columns.table import read_column
from dpsco_core.explain.tails import (
    FEWEST,
    LIGHT,
    central_moment,
    interval_in_words,
    kind_in_words,
    require_usable,
    tail,
)

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Array]
ORDERS = tuple(OPTIONS["p"])


def pareto(index: float) -> Draw:
    """Return a function that draws from the Pareto law with this index."""
    return lambda rng, n: rng.random(n) ** (-1 / index)


def student(freedom: float) -> Draw:
    """Return a function that draws from Student's law with this many degrees of freedom."""
    return lambda rng, n: rng.standard_t(freedom, n)


def gaussian(rng: np.random.Generator, n: int) -> Array:
    """Draw n numbers from the normal law."""
    return rng.standard_normal(n)


# A reviewer asked for these laws, each with its shape (one over the tail index).
LAWS: dict[str, tuple[Draw, float]] = {
    "Pareto(3)": (pareto(3), 1 / 3),
    "t(2.5)": (student(2.5), 1 / 2.5),
    "t(4)": (student(4), 1 / 4),
    "Lomax(4)": (lambda rng, n: pareto(4)(rng, n) - 1, 1 / 4),
    "t(8)": (student(8), 1 / 8),
    "Gaussian": (gaussian, 0.0),
}


@pytest.mark.parametrize("law", LAWS)
def test_the_estimate_is_near_the_truth_at_2000_numbers_of_every_reviewed_law(
    law: str,
) -> None:
    """Hill's estimate gave 6.7 for Gaussian numbers, and twice the index of t(8) and Lomax(4)."""
    draw, shape = LAWS[law]
    rng = np.random.default_rng(0)
    estimates = [tail(draw(rng, 2000)).shape for _ in range(200)]
    # One estimate varies by 0.10 to 0.15, the mean of 200 by at most 0.011. The margin is a bias of
    # 0.1 (that of Gaussian numbers is -0.09) plus 5 such deviations.
    assert np.mean(estimates) == pytest.approx(shape, abs=0.1 + 5 * 0.011)
    assert np.std(estimates) < 0.2
    excess = np.abs(np.array(estimates) - shape) > 0.3
    assert excess.mean() <= 0.15  # A bias within 2.5 standard errors is allowed.


@pytest.mark.parametrize("law", ["t(2.5)", "Pareto(3)"])
def test_the_interval_holds_the_index_of_a_power_law_in_about_95_of_100_samples(law: str) -> None:
    draw, shape = LAWS[law]
    assert _coverage(draw, 1 / shape, n=2000, samples=300) >= binom.ppf(1e-6, 300, 0.93) / 300


def test_the_interval_is_the_shapes_within_196_standard_errors() -> None:
    """At each end of the interval the estimate is 1.96 standard errors of that end's shape away."""
    fit = tail(student(3)(np.random.default_rng(10), 5000))
    for index, side in zip(fit.interval, (-1, 1), strict=True):
        shape = 1 / index
        error = (1 + shape) / math.sqrt(fit.tail_count)
        assert (fit.shape - shape) / error == pytest.approx(side * 1.96)
    assert interval_in_words(*fit.interval) == f"{fit.interval[0]:.2g} to {fit.interval[1]:.2g}"


def test_a_heavy_tail_with_an_open_interval_is_reported_as_possibly_light() -> None:
    rng = np.random.default_rng(11)
    fits = [tail(student(3)(rng, n)) for n in [200] * 50 + [100_000] * 5]
    heavy = [fit for fit in fits if fit.kind == "heavy"]
    for fit in heavy:
        assert fit.can_be_either == (fit.interval[1] >= LIGHT)
        words = kind_in_words(fit.kind, can_be_either=fit.can_be_either)
        assert ("allows both" in words) == fit.can_be_either
    assert sum(fit.can_be_either for fit in heavy) > 10
    assert not any(fit.can_be_either for fit in fits[-5:])
    light = tail(gaussian(rng, 20_000))
    assert not light.can_be_either and light.interval[1] == math.inf
    assert interval_in_words(*light.interval).endswith(" or more")


def test_the_command_prints_the_interval_also_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed, n in enumerate((200, 300, 20_000)):
        values = student(3)(np.random.default_rng(seed), n)
        path = tmp_path / "x.csv"
        path.write_text("\n".join(map(repr, values.tolist())))
        fit = tail(values)
        assert main(["tail", str(path), "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert [float(end) for end in answer["tail_interval"]] == list(fit.interval)
        assert answer["can_be_either"] == fit.can_be_either
        assert main(["tail", str(path)]) == 0
        text = capsys.readouterr().out
        assert f"95 % interval {interval_in_words(*fit.interval)} (" in text
        assert ("the interval allows both" in text) == fit.can_be_either
        assert max(map(len, text.splitlines())) <= 100


# The docstring of `Tail.interval` states these measurements: the law, its tail index, and the
# coverage by n.
MEASURED: tuple[tuple[str, Draw, float, tuple[float, float, float]], ...] = (
    ("t(3)", student(3), 3.0, (0.95, 0.94, 0.95)),
    ("Pareto(1.5)", pareto(1.5), 1.5, (0.96, 0.95, 0.95)),
    ("Gaussian", gaussian, math.inf, (0.99, 1.00, 1.00)),
    ("log-normal", lambda rng, n: rng.lognormal(size=n), math.inf, (0.68, 0.33, 0.02)),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "index", "shares"), [row[1:] for row in MEASURED], ids=[row[0] for row in MEASURED]
)
def test_the_coverage_of_the_interval_agrees_with_its_docstring(
    draw: Draw, index: float, shares: tuple[float, float, float]
) -> None:
    for n, share in zip((200, 2000, 20_000), shares, strict=True):
        # The tolerance is 5 standard deviations of the difference of two shares, and half of the
        # last printed digit.
        spread = 5 * math.sqrt(max(share * (1 - share), 0.004) * (1 / 500 + 1 / 2000))
        assert _coverage(draw, index, n=n, samples=500) == pytest.approx(share, abs=spread + 0.005)


def _coverage(draw: Draw, index: float, *, n: int, samples: int) -> float:
    """Return how often the interval of the tail index contains the true one."""
    rng = np.random.default_rng(12)
    ends = [tail(draw(rng, n)).interval for _ in range(samples)]
    return float(np.mean([low <= index <= high for low, high in ends]))


def test_log_normal_numbers_show_why_the_interval_does_not_cover_a_bias() -> None:
    """The tail index of log-normal numbers is infinite, but 20,000 of them look like an index of
    about 4.
    """
    rng = np.random.default_rng(1)
    estimates = [tail(rng.lognormal(size=20_000)).shape for _ in range(20)]
    assert 0.15 < min(estimates) < max(estimates) < 0.4


def test_adding_a_thousand_does_not_make_a_heavy_tail_light() -> None:
    """1001 + Pareto(2.2) was once called a light tail, since Hill's estimate was taken from 0."""
    rng = np.random.default_rng(2)
    called = [tail(1001 + pareto(2.2)(rng, 2000)) for _ in range(200)]
    # The tail is called not heavy with probability 0.003, and light with 0.001; the limits for 200
    # samples have level 1e-6.
    assert sum(t.kind != "heavy" for t in called) <= binom.ppf(1 - 1e-6, 200, 0.003)
    assert sum(t.law == "gaussian" for t in called) <= binom.ppf(1 - 1e-6, 200, 0.001)
    assert np.median([t.index for t in called]) == pytest.approx(2.2, abs=0.3)


@pytest.mark.parametrize("n", [100, 200, 500])
def test_few_numbers_of_a_heavy_tail_are_unclear_rather_than_light(n: int) -> None:
    rng = np.random.default_rng(3)
    kinds = [tail(pareto(2.2)(rng, n)).kind for _ in range(200)]
    assert kinds.count("light") <= 25  # At most 6 % are expected; more have probability 1e-4.
    assert tail(gaussian(rng, FEWEST)).order(ORDERS, 0.5) <= 20


def test_gaussian_numbers_are_light_and_never_fit_a_student_law_of_six() -> None:
    rng = np.random.default_rng(4)
    estimates = [tail(gaussian(rng, 2000)) for _ in range(200)]
    light = [t for t in estimates if t.kind == "light"]
    assert len(light) >= 130  # About 86 % are light.
    assert all(t.law == "gaussian" and t.order(ORDERS, 0.5) == 20 for t in light)
    fits = [tail(gaussian(rng, 100_000)) for _ in range(10)]
    assert all(t.kind == "light" for t in fits)


@pytest.mark.parametrize("law", LAWS)
def test_shift_scale_and_sign_do_not_change_the_tail(law: str) -> None:
    values = LAWS[law][0](np.random.default_rng(5), 3000)
    fit = tail(values)
    for transformed in (tail(-1000 + 0.01 * values), tail(1e90 * values), tail(-values)):
        assert transformed.shapes == pytest.approx(fit.shapes, rel=1e-6, abs=1e-9)
        assert (transformed.tail_count, transformed.one_sided) == (fit.tail_count, fit.one_sided)


def test_the_matching_law_and_order_follow_from_the_numbers() -> None:
    rng = np.random.default_rng(6)
    heavy = pareto(3)(rng, 100_000)
    assert tail(heavy).law == "skewed-pareto" and tail(heavy).order(ORDERS, 0.5) == 2.5
    symmetric = heavy * rng.choice([-1, 1], heavy.size)
    assert tail(symmetric).law == "student-t" and not tail(symmetric).one_sided
    wild = pareto(1.2)(rng, 100_000)
    # These numbers hardly have a mean.
    assert tail(wild).order(ORDERS, 0.5) == 1.1 and tail(wild).index < 1.6
    bounded = rng.random(20_000)
    assert tail(bounded).law == "gaussian" and tail(bounded).order(ORDERS, 0.5) == 20
    assert tail(bounded).index == math.inf > LIGHT


def test_the_plot_contains_the_estimate_within_its_range() -> None:
    estimate = tail(student(3)(np.random.default_rng(7), 5000))
    assert estimate.indices[estimate.farthest.index(estimate.tail_count)] == estimate.index
    assert list(estimate.farthest) == sorted(set(estimate.farthest))
    assert (estimate.farthest[0], estimate.farthest[-1]) == (10, 1250)
    low, high = estimate.range
    assert low <= estimate.index <= high and low < high


def test_the_estimate_of_many_numbers_uses_a_few_thousand_of_them() -> None:
    rng = np.random.default_rng(8)
    estimate = tail(student(3)(rng, 400_000))
    assert estimate.tail_count == estimate.farthest[-1] == 2000


def test_numbers_with_equal_extremes_are_refused_in_one_sentence() -> None:
    values = np.concatenate([np.linspace(-1, 1, 700), np.full(300, 7.0)])
    with pytest.raises(InvalidInput, match="ones whose farthest differ from one another"):
        tail(values)
    rounded = np.round(student(3)(np.random.default_rng(9), 5000), 1)
    assert tail(rounded).shape == pytest.approx(1 / 3, abs=0.3)  # Ties alone do no harm.


def test_a_moment_is_that_of_the_numbers_in_any_unit() -> None:
    values = np.random.default_rng(2).standard_t(3, 5000)
    moment = central_moment(values, 2.5)
    assert central_moment(7 + 1e90 * values, 2.5) == pytest.approx(1e90 * moment, rel=1e-9)
    assert moment == pytest.approx(np.mean(np.abs(values - values.mean()) ** 2.5) ** 0.4)


@pytest.mark.parametrize(
    ("text", "found_text"),
    [
        ("1\n2\n", "numbers must be at least 100 in one column, got numbers=2."),
        ("1e200\n" * 199, "numbers must be at most 1e+100 in size, got numbers=1e+200."),
        ("7\n" * 199, "numbers must be at least 100 different ones, got numbers=1."),
    ],
)
def test_too_few_numbers_are_refused_in_one_sentence(text: str, found_text: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        require_usable(read_column(text.encode()).values)
    assert str(problem.value) == found_text
    assert FEWEST == 100 and tail(np.arange(120.0)).index == math.inf
