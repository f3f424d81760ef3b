"""A method's page says of its recipe what the command line says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsco_app.pages.methods.recipe import CHOSEN
from dpsco_core.cli.tables.recipe import print_recipe
from dpsco_core.explain.methods.guide import nearest
from dpsco_core.explain.recipe.recipe import Recipe, recipe
from dpsco_core.explain.recipe.rows import COLUMNS, IS_HALF, IS_NOT_HALF, MULTIPLIER, recipe_rows
from dpsco_core.explain.recipe.snippets import snippets
from dpsco_core.explain.recipe.training import budget_command
from dpsco_core.scenario import Scenario
from tests.app.pages import written_text
from tests.app.places.test_one_run import open_at


def shown_recipe(slug: str, **query: str) -> tuple[str, Recipe]:
    """Return the texts of the method's page, and the recipe there."""
    point = replace(nearest(Scenario.from_query(query), slug), methods=(slug,), axis=None, grid=())
    return written_text(open_at("methods", method=slug, **query)), recipe(
        replace(point, trials=1), slug
    )


def test_the_page_and_the_command_line_have_the_same_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown, expected = shown_recipe("sco.dp-sgd", problem="quadratic", n="1000", d="4", p="4")
    print_recipe(expected)
    printed = " ".join(capsys.readouterr().out.split())
    rows = recipe_rows(expected)
    assert "averaged points" in {row.name for row in rows}
    for row in rows:
        value = row.text("{:.4g}".format)
        assert f"- {row.name}: **{value}**" in shown and f"{row.name} {value}" in printed
    note = f"{MULTIPLIER}: {IS_NOT_HALF}"
    assert note in shown and note in printed
    titles = " | ".join(column.title for column in COLUMNS if column.title != "Noise")
    assert f"| {titles} |" in shown


def test_the_page_shows_the_code_and_the_command_for_an_own_batch() -> None:
    query = {"problem": "quadratic", "n": "1000", "d": "4", "p": "4"}
    page = open_at("methods", method="sco.dp-sgd", **query)
    expected = shown_recipe("sco.dp-sgd", **query)[1]
    blocks = [block.value for block in page.code]
    assert budget_command(expected) in blocks
    for library, code in snippets(expected).items():
        assert code in blocks and library in ("opacus", "dpsco_core")
    full_steps = open_at("methods", method="sco.clipped", **query)
    assert not any("dpsco budget" in block.value for block in full_steps.code)


def test_noise_that_is_not_added_to_a_sum_has_no_multiplier() -> None:
    query = {"problem": "logistic", "n": "500", "d": "2", "p": "4"}
    shown, expected = shown_recipe("sco.objective-perturbation", **query)
    assert "| Release | Times | Noise | Noise over sensitivity | Budget |" in shown
    for release in expected.releases:
        row = " | ".join(f"{value:.4g}" for value in (release.noise, release.over_sensitivity))
        assert f"| {release.label} | 1 | {row} | {100 * release.share:.3g} % |" in shown
    assert MULTIPLIER not in shown


def test_a_radius_that_the_run_chooses_is_marked() -> None:
    shown, expected = shown_recipe("mean.adaptive", n="1000", p="4")
    assert f"{MULTIPLIER}: {IS_HALF}" in shown
    assert f"{expected.clips['clip_radius']:.4g}{CHOSEN}" in shown
