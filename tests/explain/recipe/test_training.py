"""DP-SGD as code has the noise of its batch and epochs, for the neighbours that are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.explain.recipe.noise import epsilon_of, noise_for
from dpsco_core.explain.recipe.recipe import recipe
from dpsco_core.explain.recipe.training import budget_command, training_code
from dpsco_core.privacy.poisson import DIRECTIONS, Neighbours
from dpsco_core.scenario import Scenario
from tests.explain.recipe.test_snippets import LOGISTIC, assigned_numbers, check_names

SIZES: dict[str, Any] = {"batch": 600, "records": 60_000}


@pytest.mark.parametrize("neighbours", DIRECTIONS)
def test_the_code_has_the_noise_for_its_neighbours_and_names_the_other(
    neighbours: Neighbours,
) -> None:
    priced = noise_for(2.0, 1e-6, releases=50, sampling="poisson", **SIZES)
    code = training_code(priced, **SIZES, neighbours=neighbours, max_grad_norm=0.5)
    multipliers = {"replace-one": priced.replace_one, "add-remove": priced.add_remove}
    multiplier = multipliers.pop(neighbours)
    [alternative] = multipliers.values()
    numbers = assigned_numbers(code)
    assert (
        numbers["noise_multiplier"] == multiplier
        and f"noise_multiplier = {alternative!r}\n" in code
    )
    assert numbers["max_grad_norm"] == 0.5
    assert "n, batch_size, steps = 60000, 600, 50\n" in code and "# 0.5 passes" in code
    check_names(code)
    assert max(map(len, code.splitlines())) <= 100


def test_a_given_noise_is_priced_in_the_code() -> None:
    priced = epsilon_of(
        1.1, 1e-6, neighbours="add-remove", releases=50, sampling="poisson", **SIZES
    )
    code = training_code(priced, **SIZES, neighbours="add-remove")
    assert f"({priced.epsilon:.6g}, 1e-06)-DP where a record is added or removed" in code
    assert "For the same budget" not in code
    with pytest.raises(InvalidInput, match="neighbours must be add-remove for this noise"):
        training_code(priced, **SIZES, neighbours="replace-one")
    with pytest.raises(InvalidInput, match="sampling must be poisson for this code"):
        training_code(noise_for(1.0, 1e-6), **SIZES)


def test_the_command_that_about_names_has_the_noise_of_the_recipe(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = recipe(LOGISTIC, "sco.dp-sgd")
    command = budget_command(result)
    assert main(command.split()[1:]) == 0
    code = capsys.readouterr().out
    [release] = result.releases
    multiplier = assigned_numbers(code)["noise_multiplier"]
    assert multiplier == pytest.approx(release.noise_multiplier, rel=1e-4)
    assert f"n, batch_size, steps = 1000, 100, {result.steps}\n" in code
    assert main(["about", "sco.dp-sgd", "--problem", "logistic", "--n", "1000", "--d", "3"]) == 0
    assert f"`{command}`" in " ".join(capsys.readouterr().out.split())
    assert budget_command(recipe(LOGISTIC, "sco.clipped")) == ""
    assert budget_command(recipe(Scenario(n=1000, d=3), "mean.clipped")) == ""


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("", "batch and records must be given with library, got none."),
        ("--batch 5 --records 9 --rho 1", "rho must be left out beside library, got rho=1."),
        ("--batch 5 --records 9 --delta 0", "delta must be above 0 beside library, got delta=0."),
        ("--batch 5 --records 9 --sampling fixed", "sampling must be poisson for this code, got"),
        ("--batch 5 --records 9 --noise-multiplier 2 --epsilon 1", "epsilon must be left out"),
        ("--batch 5 --records 9 --max-grad-norm 0", "max_grad_norm must be at least 1e-150"),
    ],
)
def test_flags_without_code_are_refused(
    capsys: pytest.CaptureFixture[str], flags: str, message: str
) -> None:
    assert main(["budget", "--library", "opacus", *flags.split()]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
