"""Passes of random allocation: second evaluations, validity of the certificates, and the ledger."""

from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.privacy import (
    AllocatedGaussianSteps,
    ApproxDP,
    BudgetExceeded,
    Ledger,
    allocate_steps,
    allocation_delta,
    gaussian_delta,
    gaussian_rho,
)
from dpsco_core.privacy.allocated_passes import (
    POINTS,
    allocate_passes,
    law_of_a_pass,
    passes_delta,
)
from dpsco_core.privacy.losses import repeated_delta

# The rows of the table in theory/random-allocation.md, 6, are steps T, passes P, and the noise at
# epsilon 1 and delta 1e-6.
NOISE = [(8, 10, 9.478), (8, 40, 18.957), (100, 10, 2.685)]


@pytest.mark.parametrize(("steps", "passes", "noise"), NOISE)
def test_the_noise_is_that_of_the_printed_table(steps: int, passes: int, noise: float) -> None:
    certificate = allocate_passes(steps, passes, 1.0, 1e-6, 16)
    assert certificate.noise_multiplier == pytest.approx(noise, rel=5e-4)


def test_one_pass_is_random_allocation_and_passes_of_one_step_are_gaussian() -> None:
    assert passes_delta(10, 1, 2.0, 0.3) == allocation_delta(10, 2.0, 0.3, POINTS)
    assert allocate_passes(10, 1, 1.0, 1e-6) == allocate_steps(10, 1.0, 1e-6, POINTS)
    assert passes_delta(1, 7, 5.0, 0.3) == gaussian_delta(2 * 7 / 25, 0.3)


@pytest.mark.parametrize(("passes", "s"), [(2, 0.7), (5, 0.3), (40, 0.05)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_passes_of_two_steps_are_gaussian_and_the_lattice_errs_upwards(
    passes: int, s: float, epsilon: float
) -> None:
    """With two steps the loss of a pass is normal with rho = s^2, so the loss of all passes has rho
    = P s^2.
    """
    exact = gaussian_delta(passes * s * s, epsilon)
    law = law_of_a_pass(2, 1 / s, POINTS, 1e-14)
    assert exact * (1 - 1e-9) <= repeated_delta(law, passes, epsilon) <= exact * 1.1 + 1e-11
    assert passes_delta(2, passes, 1 / s, epsilon) <= exact


def sampled_delta(
    steps: int, passes: int, s: float, epsilon: float, runs: int
) -> tuple[float, float]:
    """Return a sampled delta of independent pairs, one per pass, and its standard error."""
    rng = np.random.default_rng(steps)
    z = rng.standard_normal((runs, passes, steps))
    z[:, :, 0] += s
    ratio = np.exp(-s * z).sum(axis=2) / np.exp(s * z).sum(axis=2)
    gains = np.maximum(1 - math.exp(epsilon) * ratio.prod(axis=1), 0)
    return float(gains.mean()), float(gains.std() / math.sqrt(runs))


@pytest.mark.parametrize(
    ("steps", "passes", "s", "epsilon"),
    [(3, 2, 1.0, 0.5), (8, 5, 0.6, 0.5), (8, 3, 1.5, 1.0), (40, 4, 1.2, 0.7)],
)
def test_delta_agrees_with_samples_of_the_pairs(
    steps: int, passes: int, s: float, epsilon: float
) -> None:
    mean, error = sampled_delta(steps, passes, s, epsilon, 200_000)
    value = passes_delta(steps, passes, 1 / s, epsilon)
    assert mean - 4.5 * error < value < mean * 1.02 + 4.5 * error


def test_equal_and_opposite_contributions_are_the_easiest_to_distinguish_in_two_passes() -> None:
    """All contributions are tried at T = P = 2; the second pass may depend on the first one's
    outcome.
    """
    rng = np.random.default_rng(5)
    grid = np.linspace(-5.2, 5.2, 40)
    cell = float(grid[1] - grid[0])

    def law_of_a_step(shift: np.ndarray, axis: int) -> np.ndarray:
        """Return the density of a step's output, along one axis of the grid."""
        shape = [1, 1, 1, 1]
        shape[axis] = len(grid)
        outputs = grid.reshape(shape)
        return np.asarray(np.exp(-((outputs - shift) ** 2) / 2) / math.sqrt(2 * math.pi))

    def law(record: np.ndarray) -> np.ndarray:
        """Return the density of all outputs; `record` has its contribution in pass 1, then by sign
        in pass 2.
        """
        is_high = (grid > 0)[:, None, None, None]
        adds = [np.full((1, 1, 1, 1), record[0]), np.full((1, 1, 1, 1), record[1])]
        adds += [np.where(is_high, record[i], record[i + 2]) for i in (2, 3)]
        with_record = [law_of_a_step(adds[i], i) for i in range(4)]
        plain = [law_of_a_step(np.zeros((1, 1, 1, 1)), i) for i in range(4)]
        passes = [
            (with_record[i] * plain[i + 1] + plain[i] * with_record[i + 1]) / 2 for i in (0, 2)
        ]
        return np.asarray(passes[0] * passes[1])

    reached = []
    for trial in range(12):
        s, epsilon = rng.uniform(0.5, 1.2), rng.uniform(0.2, 1.0)
        record = s * np.ones(6) if trial == 0 else s * rng.choice([-1.0, 1.0], 6)
        other_record = -s * np.ones(6) if trial == 0 else s * rng.uniform(-1, 1, 6)
        likely, rare = law(record), law(other_record)
        delta = float(np.maximum(likely - math.exp(epsilon) * rare, 0).sum() * cell**4)
        reached.append(delta / gaussian_delta(2 * s * s, epsilon))
    assert max(reached) < 1 + 2e-3  # The sum over a grid has an error of this size.
    assert reached[0] > 1 - 2e-3, "constant opposite contributions attain it"


@pytest.mark.parametrize(
    ("steps", "passes", "epsilon", "delta"),
    [(2, 30, 1.0, 1e-6), (8, 10, 1.0, 1e-6), (8, 150, 1.0, 1e-9), (20, 3, 4.0, 1e-3)],
)
def test_the_certificate_meets_its_target_and_is_not_wasteful(
    steps: int, passes: int, epsilon: float, delta: float
) -> None:
    certificate = allocate_passes(steps, passes, epsilon, delta)
    noise = certificate.noise_multiplier
    assert (certificate.steps, certificate.passes) == (steps, passes)
    assert passes_delta(steps, passes, noise, epsilon, negligible=1e-3 * delta) <= delta
    assert passes_delta(steps, passes, noise / 1.01, epsilon, 16) > delta
    assert noise <= math.sqrt(passes / gaussian_rho(epsilon, delta))


@pytest.mark.parametrize(("steps", "passes"), [(8, 10), (8, 150), (100, 20)])
def test_many_passes_cost_what_a_normal_loss_of_their_variance_does(
    steps: int, passes: int
) -> None:
    """The rho of many passes is (2P/T) sinh(s^2), so drawing groups loses almost nothing."""
    noise = allocate_passes(steps, passes, 1.0, 1e-6).noise_multiplier
    rho = 2 * passes / steps * math.sinh(noise**-2)
    assert rho == pytest.approx(gaussian_rho(1.0, 1e-6), rel=0.015)
    assert rho < gaussian_rho(1.0, 1e-6)


def test_a_certificate_holds_beyond_the_largest_loss_of_the_grid() -> None:
    noise = [allocate_passes(8, 5, e, 1e-6).noise_multiplier for e in (11.0, 12.0, 50.0, 1000.0)]
    assert noise[0] >= noise[1] >= noise[2] > noise[3] > 0


def test_the_ledger_books_all_passes_as_one_and_grants_no_further_step() -> None:
    certificate = allocate_passes(4, 3, 1.0, 1e-6)
    ledger, rng = Ledger(ApproxDP(epsilon=1.0, delta=1e-6)), np.random.default_rng(0)
    steps = ledger.open(AllocatedGaussianSteps(certificate=certificate, size=2, largest_norm=0.5))
    (entry,) = ledger.entries
    assert ledger.spent() == ApproxDP(epsilon=1.0, delta=1e-6)
    assert (entry.disjoint_blocks, entry.releases, entry.sensitivity) == (4, 3, 1.0)
    assert entry.noise == certificate.noise_multiplier / 2
    assert steps.noise(12, 2, rng).shape == (12, 2)
    with pytest.raises(BudgetExceeded):
        steps.noise(1, 2, rng)


def test_parameters_out_of_range_are_refused() -> None:
    for passes, noise, epsilon in product((0, 2_000_000), (1.0,), (1.0,)):
        with pytest.raises(InvalidInput, match="passes must be"):
            passes_delta(4, passes, noise, epsilon)
    for steps in (0, -3, 2.0):
        with pytest.raises(InvalidInput, match="steps must be"):
            passes_delta(steps, 2, 1.0, 1.0)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="steps must be"):
            allocate_passes(steps, 2, 1.0, 1e-6)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="noise_multiplier must be"):
        passes_delta(4, 2, 0.0, 1.0)
    with pytest.raises(InvalidInput, match="epsilon must be"):
        passes_delta(4, 2, 1.0, -1.0)


def test_the_command_prints_the_noise_of_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budget", "--steps", "8", "--passes", "10", "--json"]) == 0
    allocation = json.loads(capsys.readouterr().out)["allocation"]
    assert (allocation["steps"], allocation["passes"]) == (8, 10)
    assert allocation["noise_over_norm"] == pytest.approx(9.478, rel=5e-4)
    assert allocation["noise_multiplier"] == allocation["noise_over_norm"] / 2
    assert main(["budget", "--steps", "8", "--passes", "10"]) == 0
    assert "passes 10" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--passes", "3"], "steps must be given with passes, got steps=none."),
        (["--steps", "8", "--passes", "0"], "passes must be"),
        (["--steps", "8", "--passes", "1.5"], "passes must be"),
    ],
)
def test_the_command_refuses_passes_of_nothing(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["budget", *words]) == 2
    assert sentence in capsys.readouterr().err
