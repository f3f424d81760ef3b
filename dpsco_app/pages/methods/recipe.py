"""What to set for a method at the settings of the page, and the same as code of other libraries."""

from functools import lru_cache

import streamlit as st

from dpsco_core.explain.methods.work import work
from dpsco_core.explain.recipe.recipe import NoisyRelease, Recipe, recipe
from dpsco_core.explain.recipe.snippets import snippets
from dpsco_core.scenario import Scenario

MOST_SECONDS = 5.0  # the longest run that the page makes for a recipe
NAMES = {"opacus": "Opacus", "opendp": "OpenDP", "jax_privacy": "jax_privacy"}
HEADS = (
    "Release",
    "Times",
    "Noise on the mean",
    "Noise on the sum",
    "Noise over sensitivity",
    "Multiplier, replace-one",
    "Multiplier, add/remove",
    "Budget",
)
MULTIPLIER = (
    "A *noise multiplier* is the noise on the sum over the clip radius R, as Opacus counts it. "
    "Replacing a record moves the sum by up to 2R, adding or removing one by up to R: for the same "
    "budget the second multiplier is half of the first."
)


def draw_recipe(point: Scenario, slug: str) -> None:
    """Draw the recipe of a private method at a point."""
    if work(point, slug).seconds > MOST_SECONDS:
        st.markdown(f"A run at these sizes is long: `dpsco about {slug}` prints its recipe.")
        return
    method_recipe = _recipe(point, slug)
    if method_recipe.refusal:
        st.markdown(method_recipe.refusal)
        return
    st.markdown("\n".join(f"- {name}: **{value}**" for name, value in _settings(method_recipe)))
    rows = [HEADS, ["---"] * len(HEADS), *map(_row, method_recipe.releases)]
    st.markdown("\n".join(f"| {' | '.join(row)} |" for row in rows))
    st.caption(MULTIPLIER)
    for library, code in snippets(method_recipe).items():
        st.caption(f"As code of {NAMES[library]}")
        st.code(code, language="python", wrap_lines=True)


@lru_cache(maxsize=100)
def _recipe(point: Scenario, slug: str) -> Recipe:
    return recipe(point, slug)


def _settings(method_recipe: Recipe) -> list[tuple[str, str]]:
    people = "users" if method_recipe.unit == "user" else "records"
    chosen = " (chosen in the run, privately)" if method_recipe.is_radius_private else ""
    lines = [(name, f"{value:.4g}{chosen}") for name, value in method_recipe.clip_words.items()]
    if method_recipe.steps is not None:
        lines.append(("steps", f"{method_recipe.steps:,}"))
    if method_recipe.batch is not None:
        lines.append(("batch", f"{method_recipe.batch:,} {people}"))
    if method_recipe.step_size is not None:
        lines.append(("step size", f"{method_recipe.step_size:.4g}"))
    return [
        *lines,
        ("budget spent", str(method_recipe.spent)),
        ("neighbours", f"one {method_recipe.unit} is replaced"),
        ("sampling", method_recipe.sampling),
        ("accountant", method_recipe.accountant),
    ]


def _row(release: NoisyRelease) -> list[str]:
    values = (
        release.on_mean,
        release.on_sum,
        release.over_sensitivity,
        release.noise_multiplier,
        release.add_remove_multiplier,
    )
    numbers = ["–" if value is None else f"{value:.4g}" for value in values]
    return [release.label, f"{release.count:,}", *numbers, f"{100 * release.share:.3g} %"]
