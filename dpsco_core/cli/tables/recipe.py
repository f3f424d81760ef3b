"""Recipes as text: for `dpsco about` in full, for `dpsco run` a row a method."""

from collections.abc import Sequence

from dpsco_core.cli.tools import number, print_note, print_text, table
from dpsco_core.explain.recipe.recipe import NoisyRelease, Recipe

MULTIPLIER = (
    "noise_multiplier is the noise on the sum over the clip radius R, as Opacus has it. A record "
    "that is replaced moves the sum by up to 2R, one that is added or removed by up to R: for the "
    "same budget the multiplier under add/remove is half of that under replace-one. On Poisson "
    "samples each of the two has its own accountant, and neither is half of the other."
)
CHOSEN = "the radius is chosen in the run, by private releases: on your records it will be another."


def print_recipe(recipe: Recipe) -> None:
    """Print what to set, the noise of every release, and how the budget is counted."""
    point = recipe.point
    print()
    print_text(f"Recipe at {' '.join(f'{k}={v}' for k, v in point.to_query().items())}")
    if recipe.refusal:
        print_text(recipe.refusal, indent="  ")
        return
    people = "users" if recipe.unit == "user" else "records"
    lines = [
        *([name, number(value)] for name, value in recipe.clip_words.items()),
        ["steps", "" if recipe.steps is None else f"{recipe.steps:,}"],
        ["batch", "" if recipe.batch is None else f"{recipe.batch:,} {people}"],
        ["step size", "" if recipe.step_size is None else number(recipe.step_size)],
        ["averaged points", "" if recipe.averaged is None else f"{recipe.averaged:,}"],
        ["budget spent", f"{recipe.spent} of {recipe.budget}"],
        ["neighbours", f"one {recipe.unit} is replaced"],
        ["sampling", recipe.sampling],
        ["accountant", recipe.accountant],
    ]
    rows = [row for row in lines if row[1]]
    print(table([["  " + name, value] for name, value in rows], ["", ""]).lstrip("\n"))
    print()
    print(table([_row(release) for release in recipe.releases], HEADER))
    if any(release.noise_multiplier for release in recipe.releases):
        print_note(MULTIPLIER)
    if recipe.is_radius_private:
        print_note(CHOSEN)


HEADER = [
    "release",
    "times",
    "noise",
    "on mean",
    "on sum",
    "over sensitivity",
    "replace-one",
    "add/remove",
    "budget",
]


def _row(release: NoisyRelease) -> list[str]:
    in_sums = (release.on_mean, release.on_sum)
    return [
        release.label,
        str(release.count),
        number(release.noise) if release.batch is None else "",
        *("" if value is None else number(value) for value in in_sums),
        number(release.over_sensitivity),
        *_multipliers(release),
        f"{100 * release.share:.3g} %",
    ]


def _multipliers(release: NoisyRelease) -> list[str]:
    values = (release.noise_multiplier, release.add_remove_multiplier)
    return ["" if value is None else number(value) for value in values]


def print_recipes(recipes: Sequence[Recipe]) -> None:
    """Print the main numbers of several recipes, a row each."""
    rows = []
    for recipe in recipes:
        release = recipe.main_release
        if recipe.refusal or release is None:
            continue
        radius = recipe.clips.get("clip_radius")
        name = recipe.card.name + " *" * recipe.is_radius_private
        rows.append(
            [
                name,
                "" if radius is None else number(radius),
                "" if recipe.steps is None else f"{recipe.steps:,}",
                "" if recipe.batch is None else f"{recipe.batch:,}",
                "" if recipe.step_size is None else number(recipe.step_size),
                "" if release.on_mean is None else number(release.on_mean),
                "" if release.on_sum is None else number(release.on_sum),
                *_multipliers(release),
            ]
        )
    if not rows:
        return
    header = ["what to set", "radius", "steps", "batch", "step", "on mean", "on sum"]
    print("\n" + table(rows, [*header, "replace-one", "add/remove"]))
    print_note(
        "noise on the mean and on the sum of the batch, and noise_multiplier (over the radius, as "
        "Opacus has it) under replace-one and add/remove. `dpsco about METHOD` has all of it."
    )
    if any(recipe.is_radius_private for recipe in recipes):
        print_note(f"* {CHOSEN}")
