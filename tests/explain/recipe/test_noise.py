"""Noise and budget are inverse to each other, and agree with the accountants of another library."""

from __future__ import annotations

import json

import dp_accounting
import pytest
from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.explain.recipe.noise import epsilon_of, noise_for

BATCHES = {"batch": 600, "records": 60_000}


def test_without_sampling_the_multiplier_for_removal_is_twice_that_for_replacement() -> None:
    priced = noise_for(2.0, 1e-6, releases=50)
    assert priced.replace_one is not None and priced.add_remove is not None
    assert priced.replace_one == 2 * priced.add_remove
    curve = from_gaussian_mechanism(priced.add_remove, value_discretization_interval=1e-3)
    cost = curve.self_compose(50).get_epsilon_for_delta(1e-6)
    assert cost == pytest.approx(2.0, rel=2e-3)
    returned = epsilon_of(priced.replace_one, 1e-6, releases=50)
    counterpart = epsilon_of(priced.add_remove, 1e-6, releases=50, neighbours="add-remove")
    assert returned.epsilon == pytest.approx(2.0) and counterpart.epsilon == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("sampling", "neighbours"),
    [("fixed", "replace-one"), ("poisson", "replace-one"), ("poisson", "add-remove")],
)
def test_noise_and_budget_are_inverse_on_batches(sampling: str, neighbours: str) -> None:
    priced = noise_for(2.0, 1e-5, releases=100, sampling=sampling, **BATCHES)
    # No proof covers these neighbours with fixed batches.
    assert (priced.add_remove is None) == (sampling == "fixed")
    noise = priced.replace_one if neighbours == "replace-one" else priced.add_remove
    assert noise is not None
    returned = epsilon_of(
        noise, 1e-5, releases=100, sampling=sampling, neighbours=neighbours, **BATCHES
    )
    assert returned.epsilon == pytest.approx(2.0, rel=1e-2)
    assert noise < (noise_for(2.0, 1e-5, releases=100).replace_one or 0.0)


def test_poisson_batches_cost_what_another_library_computes() -> None:
    kinds = dp_accounting.NeighboringRelation
    sizes = {"releases": 500, "batch": 600, "records": 60_000}
    for neighbours, relation in (
        ("replace-one", kinds.REPLACE_ONE),
        ("add-remove", kinds.ADD_OR_REMOVE_ONE),
    ):
        priced = epsilon_of(1.1, 1e-5, sampling="poisson", neighbours=neighbours, **sizes)
        accountant = dp_accounting.pld.PLDAccountant(relation)
        event = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.1))
        accountant.compose(event, 500)
        assert priced.epsilon == pytest.approx(accountant.get_epsilon(1e-5), rel=2e-2)


def test_impossible_requests_are_refused_in_one_sentence() -> None:
    with pytest.raises(InvalidInput, match="batch and records must be given with sampling=fixed"):
        noise_for(1.0, 1e-6, sampling="fixed")
    with pytest.raises(InvalidInput, match="batch must be at most the 10 records"):
        noise_for(1.0, 1e-6, sampling="fixed", batch=11, records=10)
    with pytest.raises(InvalidInput, match="neighbours must be replace-one for fixed batches"):
        epsilon_of(1.0, 1e-6, sampling="fixed", neighbours="add-remove", **BATCHES)
    with pytest.raises(InvalidInput, match="batch must be below the 10 records"):
        noise_for(1.0, 1e-6, sampling="poisson", batch=10, records=10)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must succeed; return what it prints."""
    assert main(words) == 0
    return str(capsys.readouterr().out)


def test_the_command_solves_in_both_directions_and_names_the_neighbours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("budget", "--target-epsilon", "2", "--releases", "50", "--json")
    noise = json.loads(printed(capsys, *words))["noise"]
    assert noise["neighbours"] == "replace one, or add or remove one"
    assert noise["accountant"] == "the exact curve of Gaussian noise"
    multiplier = str(noise["noise_multiplier_replace_one"])
    words = ("budget", "--noise-multiplier", multiplier, "--releases", "50", "--json")
    assert json.loads(printed(capsys, *words))["noise"]["epsilon"] == pytest.approx(2.0)
    text = printed(capsys, "budget", "--releases", "50", "--records", "1000", "--batch", "10")
    flat = " ".join(text.split())
    for title in ("Conversions", "Composition", "Shuffling"):
        assert f"{title}: neighbours replace one record; " in flat
    assert [line for line in text.splitlines() if len(line) > 100] == []


def test_need_says_the_noise_the_neighbours_and_the_sampling(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("need", "--error", "0.2", "--n", "500", "--d", "3", "--method", "mean.clipped")
    flat = " ".join(printed(capsys, *words).split())
    assert "neighbours replace one record" in flat and "at (1, 1e-06)-DP" in flat
    assert "noise_multiplier 8.449 under replace-one and 4.225 under add/remove" in flat
    assert "every release sees all records" in flat
