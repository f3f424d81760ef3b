"""Recipes as text: in full for `dpsco about`, and one row for each method for `dpsco run`."""

from collections.abc import Sequence

from dpsco_core.cli.tools import format_table, number, print_note, print_text
from dpsco_core.explain.recipe.recipe import Recipe
from dpsco_core.explain.recipe.rows import (
    COLUMNS,
    multiplier_note,
    recipe_rows,
    value_text,
)
from dpsco_core.explain.recipe.setting import setting_in_words, unit_in_words
from dpsco_core.scenario import Scenario

CHOSEN = "the radius is chosen in the run, by private releases: on your records it will be another."


def print_recipe(recipe: Recipe) -> None:
    """Print what to set for a private method, and the noise and the budget of every release."""
    print()
    _print_setting("Recipe at", recipe.point)
    if recipe.refusal:
        print_text(recipe.refusal, indent="  ")
        return
    rows = [["  " + row.name, row.text(number)] for row in recipe_rows(recipe)]
    print(format_table(rows, ["", ""]).lstrip("\n"))
    print()
    releases = [
        [value_text(column.value(release), number) for column in COLUMNS]
        for release in recipe.releases
    ]
    print(format_table(releases, [column.short_title for column in COLUMNS]))
    if note := multiplier_note(recipe):
        print_note(note)
    if recipe.is_radius_private:
        print_note(CHOSEN)


def _print_setting(title: str, point: Scenario) -> None:
    """Print the scenario that the numbers of a recipe are for, and the unit of its lengths."""
    print_text(f"{title} {setting_in_words(point)}")
    print_text(f"units: {unit_in_words(point)}")


def print_recipes(recipes: Sequence[Recipe]) -> None:
    """Print the main numbers of several recipes, a row for each that has a main release."""
    rows = []
    for recipe in recipes:
        release = recipe.main_release
        if recipe.refusal or release is None:
            continue
        values = (
            recipe.clips.get("clip_radius"),
            recipe.steps,
            recipe.batch,
            recipe.epochs,
            recipe.step_size,
            release.on_mean,
            release.on_sum,
            release.noise_multiplier,
            release.add_remove_multiplier,
        )
        name = recipe.card.name + " *" * recipe.is_radius_private
        rows.append(
            [
                name,
                *(value_text(value, number) for value in values),
            ]
        )
    if not rows:
        return
    print()
    _print_setting("Recipes at", recipes[0].point)
    header = ["what to set", "radius", "steps", "batch", "epochs", "step", "on mean", "on sum"]
    print("\n" + format_table(rows, [*header, "replace-one", "add/remove"]))
    print_note(
        "noise on the mean and on the sum of the batch, and noise_multiplier (over the radius, as "
        "Opacus has it) under replace-one and add/remove. `dpsco about METHOD` has all of it, "
        "and with `--library` the code."
    )
    if any(recipe.is_radius_private for recipe in recipes):
        print_note(f"* {CHOSEN}")
