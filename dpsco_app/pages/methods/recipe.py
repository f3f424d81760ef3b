"""What to set for a method at the settings of the page, and the same as code of other libraries."""

from functools import lru_cache

import streamlit as st

from dpsco_app.parts.options import escaped_markdown, in_print
from dpsco_core.explain.methods.work import work
from dpsco_core.explain.recipe.recipe import Recipe, recipe
from dpsco_core.explain.recipe.rows import (
    COLUMNS,
    RecipeRow,
    multiplier_note,
    recipe_rows,
    value_text,
)
from dpsco_core.explain.recipe.setting import setting_in_words, unit_in_words
from dpsco_core.explain.recipe.snippets import snippets
from dpsco_core.explain.recipe.training import budget_command
from dpsco_core.scenario import Scenario

MOST_SECONDS = 5.0  # The longest run, in seconds, that the page makes for a recipe.
NAMES = {
    "opacus": "Opacus",
    "opendp": "OpenDP",
    "jax_privacy": "jax_privacy",
    "dpsco_core": "dpsco_core",
}
CHOSEN = " (chosen in the run, privately)"


def draw_recipe(point: Scenario, slug: str) -> None:
    """Draw what to set for a private method at a point, its releases, and code for libraries.

    For a long run it draws the command that prints the recipe.
    """
    if work(point, slug).seconds > MOST_SECONDS:
        st.markdown(f"A run at these sizes is long: `dpsco about {slug}` prints its recipe.")
        return
    method_recipe = _recipe(point, slug)
    if method_recipe.refusal:
        st.markdown(method_recipe.refusal)
        return
    st.markdown(escaped_markdown(in_print(f"At {setting_in_words(point)}. {unit_in_words(point)}")))
    st.markdown("\n".join(map(_row_markdown, recipe_rows(method_recipe))))
    st.markdown(_release_table(method_recipe))
    if note := multiplier_note(method_recipe):
        st.caption(note)
    if command := budget_command(method_recipe):
        st.caption("DP-SGD with a batch, epochs and a model of your own, as code:")
        st.code(command, language=None, wrap_lines=True)
    for library, code in snippets(method_recipe).items():
        st.caption(f"As code of {NAMES[library]}")
        st.code(code, language="python", wrap_lines=True)


@lru_cache(maxsize=100)
def _recipe(point: Scenario, slug: str) -> Recipe:
    """Return the recipe of a method at a point, which is computed once."""
    return recipe(point, slug)


def _row_markdown(row: RecipeRow) -> str:
    """Return a row of the recipe as a line of Markdown."""
    return f"- {row.name}: **{row.text(_number)}{CHOSEN * row.is_chosen}**"


def _release_table(method_recipe: Recipe) -> str:
    """Return the table of the releases as Markdown, without columns that are empty everywhere."""
    values = {
        column.title: [value_text(column.value(r), _number) for r in method_recipe.releases]
        for column in COLUMNS
    }
    titles = [title for title, texts in values.items() if any(texts)]
    rows = zip(*(values[title] for title in titles), strict=True)
    lines = [titles, ["---"] * len(titles), *([text or "–" for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number(value: float) -> str:
    """Return a number as text with four digits."""
    return f"{value:.4g}"
