"""Random allocation of records to steps: reference values, second evaluations, and validity."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.fft
from numpy.typing import NDArray
from scipy.special import ndtr

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.privacy import (
    ZCDP,
    AllocatedGaussianSteps,
    ApproxDP,
    BudgetExceeded,
    Ledger,
    PureDP,
    allocate_steps,
    allocation_delta,
    gaussian_delta,
    gaussian_rho,
    shuffle_steps,
)

# The values are those of theory/random-allocation.md, 4: the noise at epsilon 1 and delta 1e-6,
# then delta at (T, s, epsilon).
NOISE = [(100, 1.00175), (1000, 0.697471), (10_000, 0.553168)]
DELTAS = [(10, 0.5, 0.3, 0.0337790), (10, 1.0, 1.0, 0.0297205), (100, 0.8, 0.5, 7.56264e-5)]


@pytest.mark.parametrize(("steps", "noise"), NOISE)
def test_the_noise_is_that_of_the_reference_table(steps: int, noise: float) -> None:
    assert allocate_steps(steps, 1.0, 1e-6).noise_multiplier == pytest.approx(noise, rel=1e-5)


@pytest.mark.parametrize(("steps", "s", "epsilon", "delta"), DELTAS)
def test_delta_has_its_reference_values(steps: int, s: float, epsilon: float, delta: float) -> None:
    assert allocation_delta(steps, 1 / s, epsilon) == pytest.approx(delta, rel=2e-5)


@pytest.mark.parametrize("s", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
def test_two_steps_are_a_gaussian_pair_of_half_the_sensitivity(s: float, epsilon: float) -> None:
    """The likelihood ratio is that of z_1 + z_2, and doubling the shift inside the pair
    fails here.
    """
    exact = gaussian_delta(s * s, epsilon)
    reached = allocation_delta(2, 1 / s, epsilon)
    assert exact <= reached <= exact * 1.0003 + 1e-10
    assert allocation_delta(1, 1 / s, epsilon) == gaussian_delta(2 * s * s, epsilon)


def sampled_delta(
    steps: int, s: float, epsilon: float, runs: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return delta from samples, E_P(1 - e^eps R/P)_+ of the pair, and its standard error."""
    z = rng.standard_normal((runs, steps))
    z[:, 0] += s
    upper = np.exp(s * z - s * s / 2).sum(axis=1)
    lower = np.exp(-s * z - s * s / 2).sum(axis=1)
    gains = np.maximum(1 - math.exp(epsilon) * lower / upper, 0)
    return float(gains.mean()), float(gains.std() / math.sqrt(runs))


@pytest.mark.parametrize(
    ("steps", "s", "epsilon"), [(3, 1.5, 0.5), (10, 0.5, 0.3), (10, 1.0, 1.0), (40, 1.5, 1.0)]
)
def test_delta_agrees_with_samples_of_the_pair(steps: int, s: float, epsilon: float) -> None:
    mean, error = sampled_delta(steps, s, epsilon, 200_000, np.random.default_rng(steps))
    assert abs(allocation_delta(steps, 1 / s, epsilon) - mean) < 4.5 * error


def law_of_two_steps(
    added_in_step_1: tuple[float, float],
    added_in_step_2: tuple[float, float],
    grid: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the densities of two outputs for a record and for its replacement.

    `added_in_step_1` is what the two records add in step 1; `added_in_step_2` in step 2.
    """

    def normal(x: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
        """Return the standard normal density, shifted."""
        return np.exp(-((x - shift) ** 2) / 2) / math.sqrt(2 * math.pi)

    x, y = grid[:, None], grid[None, :]
    laws = [
        (normal(x, a) * normal(y, 0) + normal(x, 0) * normal(y, b)) / 2
        for a, b in zip(added_in_step_1, added_in_step_2, strict=True)
    ]
    return laws[0], laws[1]


def test_no_other_pair_of_records_is_easier_to_distinguish() -> None:
    """Contributions of any sign and length up to C are tried by brute force at T = 2."""
    rng = np.random.default_rng(7)
    grid = np.linspace(-9, 9, 721)
    cell = (grid[1] - grid[0]) ** 2
    reached = []
    for trial in range(60):
        s, epsilon = rng.uniform(0.3, 2.5), rng.uniform(0, 2)
        corners = rng.choice([-1.0, 1.0], 4) if trial % 2 else rng.uniform(-1, 1, 4)
        a, b, c, e = s * corners
        p, r = law_of_two_steps((a, b), (c, e), grid)
        delta = float(np.maximum(p - math.exp(epsilon) * r, 0).sum() * cell)
        bound = allocation_delta(2, 1 / s, epsilon, 14)
        assert delta <= bound * (1 + 3e-5)  # The sum over a grid has an error of this size.
        reached.append(delta / bound)
    assert max(reached) > 0.99  # The worst pair is among them, so no smaller bound holds.


@pytest.mark.parametrize(
    ("steps", "s", "epsilon"), [(2, 1.0, 1.0), (30, 1.2, 0.5), (500, 1.4, 1.0)]
)
def test_every_grid_is_valid_and_a_finer_one_is_sharper(
    steps: int, s: float, epsilon: float
) -> None:
    deltas = [allocation_delta(steps, 1 / s, epsilon, points) for points in (10, 12, 14, 16, 18)]
    assert all(coarse >= fine * (1 - 1e-9) - 1e-12 for coarse, fine in pairwise(deltas))
    assert deltas[-2] / deltas[-1] < 1.003


@pytest.mark.parametrize(("steps", "s"), [(100, 1.0), (10_000, 1.8)])
def test_transforms_in_double_precision_lose_less_than_is_added(
    steps: int, s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = allocation_delta(steps, 1 / s, 1.0, 16)
    forward, backward = scipy.fft.rfft, scipy.fft.irfft
    monkeypatch.setattr(scipy.fft, "rfft", lambda x, n: forward(x.astype(np.longdouble), n))
    monkeypatch.setattr(scipy.fft, "irfft", lambda x, n: backward(x, n))
    extended = allocation_delta(steps, 1 / s, 1.0, 16)
    assert extended != double  # The transforms were computed in extended precision.
    assert abs(extended / double - 1) < steps * 1e-12


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 0.01])
@pytest.mark.parametrize("steps", [1, 2, 7, 300])
def test_the_certificate_meets_its_target_and_is_not_wasteful(
    steps: int, epsilon: float, delta: float
) -> None:
    certificate = allocate_steps(steps, epsilon, delta)
    noise = certificate.noise_multiplier
    assert allocation_delta(steps, noise, epsilon) <= delta * (1 + 1e-9)
    assert allocation_delta(steps, noise / 1.02, epsilon) > delta or noise == 0.2
    # The mixture over steps has components with the rho of this pair.
    simple = 2 if steps == 1 else 1
    assert noise <= math.sqrt(simple / gaussian_rho(epsilon, delta))


@pytest.mark.parametrize(("steps", "s", "epsilon"), [(2, 4.0, 0.0), (3, 3.0, 10.0), (3, 2.6, 20.0)])
def test_where_the_grid_is_coarse_a_gaussian_pair_bounds_it(
    steps: int, s: float, epsilon: float
) -> None:
    """The records' steps can be paired, so that the outputs move by C in two steps."""
    assert allocation_delta(steps, 1 / s, epsilon, 8) <= gaussian_delta(s * s, epsilon)
    assert allocation_delta(np.uint8(steps), 1 / s, epsilon, 8) > 0


def test_replacing_a_record_is_not_removing_one() -> None:
    """The curve for removing a record, at one shift, would claim .0030 where .0338 is true."""
    s, epsilon = 0.5, 0.3
    rng = np.random.default_rng(0)
    z = rng.standard_normal((200_000, 10))
    removal = np.maximum(np.exp(s * z - s * s / 2).mean(axis=1) - math.exp(epsilon), 0).mean()
    assert removal == pytest.approx(0.0030, abs=2e-4)
    assert allocation_delta(10, 1 / s, epsilon) > 10 * removal


def test_allocation_needs_an_eighth_of_the_noise_of_shuffling_at_a_hundred_steps() -> None:
    shuffled = (
        2 * shuffle_steps(100, 1.0, 1e-6).noise_multiplier
    )  # The multiplier is relative to the norm, not to twice the norm.
    assert shuffled / allocate_steps(100, 1.0, 1e-6).noise_multiplier == pytest.approx(
        8.43, abs=0.01
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 1.0, 1.0), "steps must be a whole number"),
        ((1.5, 1.0, 1.0), "steps must be a whole number"),
        ((2_000_000, 1.0, 1.0), "steps must be a whole number"),
        ((2, 0.0, 1.0), "noise_multiplier must be"),
        ((2, math.nan, 1.0), "noise_multiplier must be"),
        ((2, 1.0, -1.0), "epsilon must be a number of at least 0"),
        ((2, 1.0, math.inf), "epsilon must be a number of at least 0"),
    ],
)
def test_invalid_numbers_are_refused_by_name(arguments: tuple[float, ...], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        allocation_delta(*arguments)  # type: ignore[arg-type]


def allocated_steps() -> AllocatedGaussianSteps:
    """Return 100 allocated Gaussian steps with a certificate."""
    certificate = allocate_steps(100, 1.0, 1e-6)
    return AllocatedGaussianSteps(certificate=certificate, size=2, largest_norm=3.0)


def test_a_ledger_books_the_whole_sequence_at_twice_the_norm() -> None:
    ledger = Ledger(ApproxDP(epsilon=1.0, delta=1e-6))
    steps = ledger.open(allocated_steps())
    (entry,) = ledger.entries
    assert (entry.mechanism, entry.sensitivity) == ("allocated gaussian", 6.0)
    assert entry.noise == steps.noise_std == pytest.approx(3 * 1.00175, rel=1e-5)
    assert ledger.spent() == ApproxDP(epsilon=1.0, delta=1e-6)
    assert ledger.bound_by() == ("approx",)
    noise = steps.noise(100, 2, np.random.default_rng(0))
    assert noise.std() == pytest.approx(steps.noise_std, rel=0.2)
    with pytest.raises(BudgetExceeded):
        steps.noise(1, 2, np.random.default_rng(0))
    with pytest.raises(BudgetExceeded):
        ledger.open(allocated_steps())


@pytest.mark.parametrize("budget", [ZCDP(rho=100.0), PureDP(epsilon=100.0)], ids=str)
def test_a_ledger_of_another_notion_refuses_the_sequence(budget: ZCDP | PureDP) -> None:
    ledger = Ledger(budget)
    with pytest.raises(BudgetExceeded):
        ledger.open(allocated_steps())
    assert ledger.entries == ()


@pytest.mark.parametrize("norm", [0.0, -1.0, math.nan, math.inf])
def test_an_infinite_bound_on_the_norm_is_refused(norm: float) -> None:
    with pytest.raises(InvalidInput, match="largest_norm must be"):
        AllocatedGaussianSteps(certificate=allocate_steps(2, 1.0, 1e-6), size=1, largest_norm=norm)


def test_the_command_prints_the_noise_of_an_allocation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budget", "--steps", "100", "--json"]) == 0
    allocation = json.loads(capsys.readouterr().out)["allocation"]
    noise = allocate_steps(100, 1.0, 1e-6).noise_multiplier
    assert allocation == {"steps": 100, "noise_multiplier": noise / 2, "noise_over_norm": noise}
    assert main(["budget", "--steps", "100"]) == 0
    assert "Allocation: steps 100" in capsys.readouterr().out


@pytest.mark.parametrize("kind", [("--delta", "0"), ("--rho", "0.5")])
def test_the_command_refuses_an_allocation_without_a_delta(
    kind: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["budget", "--steps", "100", *kind]) == 2
    assert "an (epsilon, delta) one for random allocation" in capsys.readouterr().err


def test_a_hand_made_grid_gives_the_same_expectation() -> None:
    """The second evaluation at T = 3 is a quadrature over two coordinates; the third is in closed
    form.
    """
    s, epsilon = 0.9, 0.6
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    term = np.exp(s * nodes - s * s / 2) - np.exp(epsilon - s * nodes - s * s / 2)
    rest = term[:, None] + term[None, :]  # The sum of the other two terms.
    # The mean E(D + r)_+ for one term D is taken above the point z with D = -r.
    z = (epsilon / 2 + np.arcsinh(-rest / 2 * math.exp(s * s / 2 - epsilon / 2))) / s
    mean = ndtr(s - z) - math.exp(epsilon) * ndtr(-z - s) + rest * ndtr(-z)
    direct = float(weights @ mean @ weights) / 3
    assert allocation_delta(3, 1 / s, epsilon) == pytest.approx(direct, rel=1e-5)


def test_the_rounding_error_of_the_transform_is_added() -> None:
    """True values come from extended precision and simulation; 1.26e-8 was once returned."""
    for points in (16, 18, 20):
        assert allocation_delta(200, 0.3479079108217088, 11.9, points) >= 3.2027e-6
        assert allocation_delta(200, 0.3479079108217088, 15.0, points) >= 1.3673e-8


@pytest.mark.parametrize(
    ("steps", "epsilon", "delta", "true_noise"),
    # Settings where, in extended precision, less noise exceeds delta.
    [(2000, 13.0, 1e-10, 0.3687), (2000, 12.0, 1e-12, 0.413), (1000, 12.0, 1e-12, 0.4268)],
)
def test_a_certificate_at_a_large_epsilon_has_noise_enough(
    steps: int, epsilon: float, delta: float, true_noise: float
) -> None:
    assert true_noise <= allocate_steps(steps, epsilon, delta, 15).noise_multiplier <= 0.5


def test_a_larger_epsilon_never_takes_more_noise() -> None:
    noise = [
        allocate_steps(2000, epsilon, 1e-6, 15).noise_multiplier
        for epsilon in (1.0, 5.0, 8.0, 12.0, 12.1, 16.0, 20.0, 20.1, 25.0, 40.0)
    ]
    assert noise == sorted(noise, reverse=True)


@pytest.mark.parametrize(("steps", "epsilon", "delta"), [(100, 1e-4, 1e-9), (8, 1e-3, 1e-6)])
def test_a_small_epsilon_is_not_priced_by_a_coarse_grid(
    steps: int, epsilon: float, delta: float
) -> None:
    quick, fine = (allocate_steps(steps, epsilon, delta, p).noise_multiplier for p in (15, 20))
    assert fine <= quick <= 1.05 * fine
