"""A recipe as rows of words and values, which the command line and the dashboard write out."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpsco_core.explain.recipe.recipe import NoisyRelease, Recipe

# A value is a real number, a count or words; None where there is none.
Value = float | int | str | None
MULTIPLIER = (
    "The noise multiplier is the noise on the sum over the clip radius R, as Opacus has it. A "
    "record that is replaced moves the sum by up to 2R, one that is added or removed by up to R"
)
IS_HALF = "for the same budget the multiplier under add/remove is half of that under replace-one."
IS_NOT_HALF = (
    "on Poisson samples each of the two has its own accountant, and the multiplier under "
    "add/remove is not half of that under replace-one."
)


@dataclass(frozen=True)
class RecipeRow:
    """One setting of a recipe, or one fact about how the budget is counted."""

    name: str
    value: Value
    unit: str = ""  # the unit that a count counts
    is_chosen: bool = False  # whether the run chooses the value, by private releases

    def text(self, number: Callable[[float], str]) -> str:
        """Return the value with its unit; `number` writes a real number."""
        return f"{value_text(self.value, number)} {self.unit}".rstrip()


@dataclass(frozen=True)
class ReleaseColumn:
    """One fact about the releases of a recipe."""

    title: str
    short_title: str  # the title for a line that holds all columns
    value: Callable[[NoisyRelease], Value]


COLUMNS = (
    ReleaseColumn("Release", "release", lambda r: r.label),
    ReleaseColumn("Times", "times", lambda r: r.count),
    ReleaseColumn("Noise", "noise", lambda r: r.noise if r.batch is None else None),
    ReleaseColumn("Noise on the mean", "on mean", lambda r: r.on_mean),
    ReleaseColumn("Noise on the sum", "on sum", lambda r: r.on_sum),
    ReleaseColumn("Noise over sensitivity", "over sensitivity", lambda r: r.over_sensitivity),
    ReleaseColumn("Multiplier, replace-one", "replace-one", lambda r: r.noise_multiplier),
    ReleaseColumn("Multiplier, add/remove", "add/remove", lambda r: r.add_remove_multiplier),
    ReleaseColumn("Budget", "budget", lambda r: f"{100 * r.share:.3g} %"),
)


def recipe_rows(recipe: Recipe) -> tuple[RecipeRow, ...]:
    """Return the rows of a recipe: the parameters to set, and how the budget is counted.

    Examples
    --------
    >>> from dpsco_core.explain.recipe.recipe import recipe
    >>> from dpsco_core.scenario import Scenario
    >>> for row in recipe_rows(recipe(Scenario(n=2000, d=3), "mean.clipped"))[:3]:
    ...     print(row.name, "=", row.text("{:.4g}".format))
    clip radius (max_grad_norm) = 6.965
    batch = 2,000 records
    budget spent = (1, 1e-06)-DP of (1, 1e-06)-DP
    """
    lengths = recipe.clip_words.items()
    rows = (
        *(RecipeRow(name, value, is_chosen=recipe.is_radius_private) for name, value in lengths),
        RecipeRow("steps", recipe.steps),
        RecipeRow("batch", recipe.batch, f"{recipe.unit}s"),
        RecipeRow("epochs", recipe.epochs, f"passes over the {recipe.unit}s"),
        RecipeRow("step size", recipe.step_size),
        RecipeRow("averaged points", recipe.averaged),
        RecipeRow("budget spent", f"{recipe.spent} of {recipe.budget}"),
        RecipeRow("neighbours", f"one {recipe.unit} is replaced"),
        RecipeRow("sampling", recipe.sampling or None),
        RecipeRow("accountant", recipe.accountant or None),
    )
    return tuple(row for row in rows if row.value is not None)


def multiplier_note(recipe: Recipe) -> str:
    """Return what the noise multipliers of a recipe mean, and how the two of a release compare.

    It is empty for a recipe without a noise multiplier.
    """
    pairs = [
        (release.noise_multiplier, release.add_remove_multiplier)
        for release in recipe.releases
        if release.noise_multiplier is not None
    ]
    if not pairs:
        return ""
    are_half = all(half is None or math.isclose(2 * half, whole) for whole, half in pairs)
    return f"{MULTIPLIER}: {IS_HALF if are_half else IS_NOT_HALF}"


def value_text(value: Value, number: Callable[[float], str]) -> str:
    """Return a value in words, empty where there is none; `number` writes a real number."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else number(value)
