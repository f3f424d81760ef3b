"""Poisson-sampled steps: the reference values, Google's accountant, and quadrature of a step."""

import json
import math
from typing import Any

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from scipy.integrate import quad
from scipy.stats import norm

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.privacy import gaussian_epsilon
from dpsco_core.privacy.losses import LossLaw, repeated_delta
from dpsco_core.privacy.poisson import (
    Neighbours,
    _step_law,
    poisson_epsilon,
    poisson_noise_multiplier,
)

TABLE = (
    (1.1, 0.01, 1000, 1e-5, 1.51540, 2.47782),
    (0.8, 0.004, 5000, 1e-6, 2.90739, 4.11944),
    (4.0, 0.1, 200, 1e-6, 1.62426, 3.30095),
)


@pytest.mark.parametrize(("noise", "rate", "steps", "delta", "in_or_out", "replaced"), TABLE)
def test_epsilon_has_the_reference_values(
    noise: float, rate: float, steps: int, delta: float, in_or_out: float, replaced: float
) -> None:
    """Both computations err upwards, so epsilon is never below the reference, and equals it to four
    digits.
    """
    run = (noise, rate, steps, delta)
    assert poisson_epsilon(*run) == pytest.approx(replaced, rel=3e-4)
    assert poisson_epsilon(*run, "add-remove") == pytest.approx(in_or_out, rel=3e-4)


@pytest.mark.parametrize(
    ("neighbours", "relation"),
    [
        ("replace-one", dp_accounting.NeighboringRelation.REPLACE_ONE),
        ("add-remove", dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE),
    ],
)
def test_the_accountant_of_google_agrees_at_the_same_noise_multiplier(
    neighbours: Neighbours, relation: Any
) -> None:
    for noise, rate, steps, delta in ((2.0, 0.05, 100, 1e-5), (1.0, 0.02, 50, 1e-6)):
        accountant = PLDAccountant(relation, value_discretization_interval=1e-3)
        step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
        accountant.compose(dp_accounting.SelfComposedDpEvent(step, steps))
        expected = accountant.get_epsilon(delta)
        assert poisson_epsilon(noise, rate, steps, delta, neighbours) == pytest.approx(
            expected, rel=2e-3
        )


def test_the_curve_of_a_step_is_that_of_two_gaussian_mixtures() -> None:
    rate, s = 0.2, 0.8

    def mixture(x: float, shift: float) -> float:
        """Return the density of a step's output at x with a record that is sampled at the given
        rate.
        """
        return float((1 - rate) * norm.pdf(x) + rate * norm.pdf(x - shift))

    pairs = {"replace": (s, -s), "remove": (s, 0.0), "add": (0.0, s)}
    for direction, (likely, rare) in pairs.items():
        law = _step_law(s, rate, direction)  # type: ignore[arg-type]
        for epsilon in (0.0, 0.05, 0.15):
            exact, _ = quad(
                lambda x, a=likely, b=rare, e=epsilon: max(
                    mixture(x, a) - math.exp(e) * mixture(x, b), 0.0
                ),
                -9,
                9,
                limit=400,
                points=[-1, 0, 1],
            )
            proven = float(law.deltas(np.array([epsilon]))[0])
            assert proven >= exact - 1e-9
            assert proven == pytest.approx(exact, abs=2e-4)


def test_replacing_costs_more_than_adding_or_removing_and_less_than_no_sampling() -> None:
    run = (1.5, 0.02, 300, 1e-6)
    replaced = poisson_epsilon(*run)
    assert poisson_epsilon(*run, "add-remove") < replaced
    assert replaced < gaussian_epsilon(2 * 300 / 1.5**2, 1e-6)
    # Counting the sensitivity of the sum twice would give this value.
    halved = poisson_epsilon(1.5 / 2, *run[1:])
    assert replaced < halved


def test_sampling_nearly_all_records_tends_to_gaussian_noise() -> None:
    """Almost every record is in every step, and sums move by twice the norm."""
    for noise, steps in ((4.0, 10), (10.0, 100)):
        rho = steps * 2 / noise**2
        assert poisson_epsilon(noise, 1 - 1e-9, steps, 1e-6) == pytest.approx(
            gaussian_epsilon(rho, 1e-6), rel=5e-4
        )


def test_repeated_gaussian_laws_have_the_curve_of_their_sum() -> None:
    law = LossLaw.of_gaussian(1e-3, 2e-3)
    for count, delta in ((1, 1e-6), (100, 1e-6), (1000, 1e-10)):
        epsilon = gaussian_epsilon(1e-3 * count, delta)
        assert delta * (1 - 1e-6) <= repeated_delta(law, count, epsilon) <= 1.02 * delta


def test_delta_is_not_too_small_where_epsilon_is_below_the_mean_loss() -> None:
    """For such an epsilon the search may end at a tilt above 0, whose factor must not
    be cut at 1.
    """
    spacing = math.sqrt(2e-3) / 25
    exact = norm.cdf(math.sqrt(2) / 2) - norm.cdf(-math.sqrt(2) / 2)
    delta = repeated_delta(LossLaw.of_gaussian(1e-3, spacing), 1000, 0.0)
    assert exact <= delta <= 1.001 * exact


def test_a_run_with_hardly_any_noise_has_an_infinite_epsilon() -> None:
    assert poisson_epsilon(0.25, 0.999, 10**6, 1e-6) == math.inf


def test_the_noise_multiplier_is_the_inverse_and_rounded_up() -> None:
    for neighbours in ("replace-one", "add-remove"):
        noise = poisson_noise_multiplier(0.02, 100, 1.0, 1e-6, neighbours)
        assert poisson_epsilon(noise, 0.02, 100, 1e-6, neighbours) <= 1.0
        assert poisson_epsilon(noise * 0.999, 0.02, 100, 1e-6, neighbours) > 1.0


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ((1.0, 0.0, 10, 1e-6), "rate must be above 0 and below 1"),
        ((1.0, 1.0, 10, 1e-6), "rate must be above 0 and below 1"),
        ((1.0, 0.1, 0, 1e-6), "steps must be a positive integer"),
        ((1.0, 0.1, 10, 0.0), "delta must be above 0 and below 1"),
        ((0.1, 0.1, 10, 1e-6), "noise_multiplier must be from 0.2"),
        ((1.0, 0.1, 10, 1e-6, "substitute"), "neighbours must be"),
    ],
)
def test_a_parameter_out_of_range_is_refused(run: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        poisson_epsilon(*run)


def test_the_command_prints_both_kinds_of_neighbours(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["budget", "--epsilon", "1", "--delta", "1e-6", "--releases", "50"]
    sampled = ["--sampling", "poisson", "--batch", "100", "--records", "2000"]
    assert main([*words, *sampled, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    noise = document["noise"]
    replaced = poisson_noise_multiplier(0.05, 50, 1.0, 1e-6)
    assert noise["noise_multiplier_replace_one"] == replaced
    assert noise["noise_multiplier_add_remove"] < replaced
    # The document has no entries of other samplers.
    assert {"shuffling", "subsampling", "batches"}.isdisjoint(document)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rho", "0.1", "--noise-multiplier", "2"), "noise-multiplier must be left out"),
        (("--rho", "0.1", "--sampling", "poisson"), "sampling must be left out"),
        (("--rho", "0.1", "--neighbours", "add-remove"), "neighbours must be left out"),
    ],
)
def test_a_flag_that_changes_nothing_is_refused(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["budget", *words]) == 2
    assert message in capsys.readouterr().err
