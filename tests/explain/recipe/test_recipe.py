"""A recipe repeats the numbers of a run and its ledger, and its noise satisfies the budget."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import get_args

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

from dpsco_core.catalogue import METHOD_SLUGS, method_card
from dpsco_core.cli.main import main
from dpsco_core.data import DenseRows
from dpsco_core.explain.methods.stories import example_point
from dpsco_core.explain.recipe.recipe import ACCOUNTANTS, Recipe, recipe, recipes
from dpsco_core.methods.records.base import clipped_sum
from dpsco_core.privacy.entries import MechanismName
from dpsco_core.runs.study import Cell, canonical, run_with_ledger
from dpsco_core.scenario import Scenario

PRIVATE = [slug for slug in METHOD_SLUGS if method_card(slug).privacy != "none"]
SMALL = {"n": 2000, "d": 3}
CLIPPED = Scenario(**SMALL)
LOGISTIC = Scenario(problem="logistic", **SMALL)


def small(slug: str) -> Scenario:
    """Return the point of the method's example with at most 5,000 records and 10 dimensions."""
    point = example_point(slug)
    return replace(point, n=min(point.n, 5000), d=min(point.d, 10))


@pytest.mark.parametrize("slug", PRIVATE)
def test_every_private_method_has_a_recipe_from_its_own_ledger(slug: str) -> None:
    """Counts, noise and sensitivities equal those of the ledger's entries."""
    point = small(slug)
    result = recipe(point, slug)
    cell = Cell(point=canonical(point), method=slug, x=None, trial=0)
    outcome, ledger = run_with_ledger(cell)
    assert result.refusal == (outcome.not_applicable or "")
    assert sum(release.count for release in result.releases) == len(ledger.entries)
    assert result.spent == ledger.spent()
    assert result.refusal or (result.accountant and result.sampling)
    sizes = {(e.mechanism, f"{e.sensitivity:.8g}", f"{e.noise:.8g}") for e in ledger.entries}
    for release in result.releases:
        assert (
            release.mechanism,
            f"{release.sensitivity:.8g}",
            f"{release.noise:.8g}",
        ) in sizes
    assert all(value == outcome.diagnostics[name] for name, value in result.clips.items())
    document = result.to_dict()
    flat = [document, *document.get("releases", ())]
    assert all(value is not None for values in flat for value in values.values())
    json.dumps(document, allow_nan=False)


def test_the_json_has_no_field_that_does_not_apply() -> None:
    laplace = recipe(CLIPPED, "mean.cwme-pure").to_dict()
    assert "clip_radius" not in laplace and "steps" not in laplace and "step_size" not in laplace
    assert not any("multiplier" in name for name in laplace["releases"][0])
    shuffled = recipe(LOGISTIC, "sco.private-sgd").main_release
    assert shuffled is not None and shuffled.noise_multiplier is not None
    # The proof of shuffling is for a replaced record.
    assert shuffled.add_remove_multiplier is None


def test_every_accountant_has_a_description() -> None:
    assert set(get_args(MechanismName)) == set(ACCOUNTANTS)


def epsilon(multiplier: float, steps: int, delta: float) -> float:
    """Return the epsilon of `steps` Gaussian releases with a noise multiplier, by the accountant of
    another library.
    """
    curve = from_gaussian_mechanism(multiplier, value_discretization_interval=1e-4)
    return float(curve.self_compose(steps).get_epsilon_for_delta(delta))


@pytest.mark.parametrize(
    ("point", "slug"),
    [(CLIPPED, "mean.clipped"), (LOGISTIC, "sco.clipped"), (LOGISTIC, "sco.automatic")],
)
def test_another_accountant_finds_the_budget_at_the_multipliers(point: Scenario, slug: str) -> None:
    """Adding or removing a record moves a sum by R, and not by 2R, so the noise over R is half as
    large.
    """
    result = recipe(point, slug)
    [release] = result.releases
    assert release.noise_multiplier is not None and release.add_remove_multiplier is not None
    assert point.delta is not None
    delta, steps = point.delta, release.count
    assert epsilon(release.add_remove_multiplier, steps, delta) == pytest.approx(1.0, rel=2e-3)
    # A replaced record may move the sum by two radii.
    replaced = release.noise_multiplier / 2
    assert epsilon(replaced, steps, delta) == pytest.approx(1.0, rel=2e-3)
    assert release.over_sensitivity == pytest.approx(replaced, rel=1e-12)


def test_a_sum_of_clipped_records_moves_by_the_sensitivity_of_the_multipliers() -> None:
    release = recipe(CLIPPED, "mean.clipped").main_release
    assert release is not None and release.length is not None and release.batch == 2000
    x = np.random.default_rng(0).standard_normal((release.batch, 3))
    outlier = np.array([1e6, 0.0, 0.0])
    x[0] = outlier
    total = clipped_sum(DenseRows(x), release.length)
    x[0] = -outlier
    replaced = clipped_sum(DenseRows(x), release.length)
    removed = clipped_sum(DenseRows(x[1:]), release.length)
    assert np.linalg.norm(total - replaced) == pytest.approx(2 * release.length)
    assert np.linalg.norm(total - removed) == pytest.approx(release.length)
    assert release.on_sum == pytest.approx(release.noise * release.batch)
    assert release.on_mean == release.noise


def test_noise_on_a_sum_is_given_only_where_the_ledger_releases_a_sum() -> None:
    groups = recipe(CLIPPED, "mean.iterative")
    [release] = groups.releases
    assert groups.batch == 2000 and release.batch == 2000 // 8  # Each group has a mean of its own.
    smoothed = recipe(CLIPPED, "mean.smoothed").main_release
    assert smoothed is not None and smoothed.on_sum is None and smoothed.length is None
    adaptive = recipe(CLIPPED, "mean.adaptive")
    assert adaptive.is_radius_private
    assert [release.on_sum is None for release in adaptive.releases] == [True, False]


@pytest.mark.parametrize(
    ("slug", "words"),
    [
        ("sco.clipped", "every release sees all records: no subsampling"),
        ("sco.fresh-batches", "disjoint blocks: each of the records is in one"),
        ("lp.batched-mirror-descent", "disjoint blocks: each of the records is in one"),
        ("sco.private-sgd", "records in a secret random order, each at one step"),
        (
            "sco.private-sgd-allocated",
            "one step (or group) for each of the records, drawn by itself and kept secret",
        ),
        (
            "sco.dp-sgd",
            "a secret Poisson sample at every step: each of the records by itself",
        ),
    ],
)
def test_the_sampling_of_a_recipe_is_that_of_the_run(slug: str, words: str) -> None:
    result = recipe(LOGISTIC, slug)
    assert result.sampling == words
    assert result.batch is not None and (result.batch < LOGISTIC.n) == ("all records" not in words)


def test_groups_that_are_redrawn_at_every_step_are_described_so() -> None:
    result = recipe(LOGISTIC, "sco.iterative-allocated")
    words = "at every step a group for each of the records, drawn by itself and kept secret"
    assert result.sampling == words
    [release] = result.releases
    assert result.batch == LOGISTIC.n and release.batch == LOGISTIC.n // 8
    assert release.noise_multiplier == pytest.approx(release.on_sum / release.length)


@pytest.mark.parametrize(("grid", "n"), [((500, 2000), 2000), ((500, 4000), 4000)])
def test_a_recipe_is_for_a_point_of_the_axis(grid: tuple[float, ...], n: int) -> None:
    swept = Scenario(n=2000, d=3, axis="n", grid=grid, methods=("mean.clipped",))
    (result,) = recipes(swept)
    assert (result.point.n, result.point.axis) == (n, None)


def test_recipes_are_those_of_the_private_methods_without_the_axis() -> None:
    swept = Scenario(**SMALL, methods=("mean.sample", "mean.clipped"), axis="n", grid=(100, 2000))
    [result] = recipes(swept)
    assert result.to_dict() == recipe(CLIPPED, "mean.clipped").to_dict()


def test_a_method_that_cannot_run_gives_its_reason() -> None:
    refused: Recipe = recipe(Scenario(**SMALL, delta=0.0), "mean.clipped")
    assert "Gaussian noise cannot give pure DP" in refused.refusal
    assert refused.to_dict()["not_applicable"] == refused.refusal
    assert refused.main_release is None and "releases" not in refused.to_dict()


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must succeed; return what it prints."""
    assert main(words) == 0
    return str(capsys.readouterr().out)


def test_about_prints_the_recipe_at_the_setting_that_is_given(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ("--n", "2000", "--d", "3", "--problem", "logistic")
    text = printed(capsys, "about", "sco.clipped", *flags)
    document = json.loads(printed(capsys, "about", "sco.clipped", *flags, "--json"))["recipe"]
    [release] = document["releases"]
    for name, value in (
        ("clip radius (max_grad_norm)", f"{document['clip_radius']:.4g}"),
        ("steps", str(document["steps"])),
        ("batch", "2,000 records"),
        ("step size", f"{document['step_size']:.4g}"),
        ("neighbours", "one record is replaced"),
    ):
        assert re.search(rf"^ *{re.escape(name)} +{re.escape(value)}$", text, re.M), name
    row = next(line for line in text.splitlines() if line.startswith("mean of clipped records"))
    numbers = [float(cell) for cell in row.split()[4:-2]]
    names = ("noise_on_mean", "noise_on_sum", "noise_over_sensitivity")
    names = (*names, "noise_multiplier_replace_one", "noise_multiplier_add_remove")
    assert numbers == [release["count"], *(pytest.approx(release[k], rel=1e-3) for k in names)]
    assert math.isclose(numbers[-2], 2 * numbers[-1], rel_tol=1e-3)
    assert [line for line in text.splitlines() if len(line) > 100] == []


def test_a_run_prints_and_exports_the_values_to_set(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("run", "--n", "2000", "--d", "3", "--trials", "2")
    text = printed(capsys, *words)
    document = json.loads(printed(capsys, *words, "--json", "--recipe"))
    table = text.partition("\nwhat to set")[2].partition("\nnote: ")[0]
    assert len(document["recipes"]) == 3
    for result in document["recipes"]:
        line = next(row for row in table.splitlines() if row.startswith(result["name"]))
        release = result["releases"][-1]
        assert f"{release['noise_multiplier_replace_one']:.4g}" in line.split()
        assert f"{release['noise_multiplier_add_remove']:.4g}" in line.split()
    assert "recipes" not in json.loads(printed(capsys, *words, "--json"))


def test_dp_accounting_confirms_the_factor_between_neighbouring_relations() -> None:
    """The library's two neighbouring relations differ by a factor of two in the sensitivity."""
    relations = dp_accounting.NeighboringRelation
    release = recipe(CLIPPED, "mean.clipped").main_release
    assert release is not None and release.noise_multiplier is not None
    accountant = dp_accounting.rdp.RdpAccountant(neighboring_relation=relations.ADD_OR_REMOVE_ONE)
    accountant.compose(dp_accounting.GaussianDpEvent(release.add_remove_multiplier))
    # This accountant has a looser conversion.
    assert accountant.get_epsilon(1e-6) == pytest.approx(1.0, rel=0.15)
