"""The command `dpsco about`: one method in plain words, and the cost of a run."""

import argparse
import math
import textwrap
from dataclasses import replace
from typing import Any

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import one_of
from dpsco_core.base.plain_latex import plain_formula, plain_text
from dpsco_core.catalogue import BOUNDS, method_card, method_class
from dpsco_core.cli.tables.recipe import print_recipe
from dpsco_core.cli.tools import (
    WIDTH,
    add_command,
    add_fields,
    add_lengths,
    given_fields,
    print_json,
    print_note,
    print_text,
)
from dpsco_core.explain.methods.guarantees import guarantees
from dpsco_core.explain.methods.guide import nearest, refusal
from dpsco_core.explain.methods.stories import example, example_point, story
from dpsco_core.explain.methods.work import work
from dpsco_core.explain.recipe.recipe import Recipe, recipe
from dpsco_core.explain.recipe.snippets import LIBRARIES, snippets
from dpsco_core.explain.recipe.training import budget_command
from dpsco_core.methods.form import form_of
from dpsco_core.scenario import Scenario

# The recipe of a method whose run at the defaults takes longer than this is that of its example.
MOST_SECONDS = 5.0


def add_about(commands: Any) -> None:
    """Add the command `about` to the parser."""
    parser = add_command(commands, "about", run_about)
    parser.description = (
        "The recipe, what to set and how much noise to add, is at the defaults of `dpsco run`, or "
        "where the flags say; where the method cannot run there, at the nearest setting at which "
        "it can."
    )
    parser.add_argument("slug", metavar="METHOD", help="slug of the method, as sco.clipped")
    libraries = ", ".join(LIBRARIES)
    parser.add_argument(
        "--library", metavar="NAME", help=f"print the recipe as code, alone: {libraries}"
    )
    add_fields(parser, defaults=False, methods=False)
    add_lengths(parser)


def run_about(chosen: argparse.Namespace) -> None:
    """Print a method's story; as JSON also the number of gradients in a run of its example."""
    slug: str = chosen.slug
    method_story, card = story(slug), method_card(slug)
    proof = None if method_story.privacy is None else method_story.privacy.steps
    cards = [b.card for b in BOUNDS if b.card.method == slug]
    form = form_of(method_class(slug), "tight", "practical")
    method_recipe = None if proof is None else recipe(_recipe_point(chosen), slug)
    if chosen.library is not None:
        _print_code(slug, method_recipe, chosen.library)
        return
    if chosen.json:
        run_work = work(example_point(slug), slug)
        print_json(
            {
                "method": slug,
                "name": card.name,
                "form": None if form is None else form.name,
                "form_text": None if form is None else form.text,
                "what": method_story.what,
                "steps": method_story.steps,
                "assumptions": method_story.assumptions,
                "privacy": None
                if proof is None
                else {title.lower(): text for title, text in proof},
                "smooth": method_story.smooth,
                "time": method_story.order,
                "cost": method_story.cost,
                "when": method_story.when,
                "pitfalls": method_story.pitfalls,
                "errata": method_story.errata,
                "bounds": [c.slug for c in cards],
                "loss_class": {c.slug: str(c.loss_class) for c in cards},
                "example": example(slug).to_dict(),
                "gradients": run_work.gradients,
                "at_most": run_work.at_most,
                "passes": run_work.passes,
                "recipe": None if method_recipe is None else _recipe_json(method_recipe),
            }
        )
        return
    sections = {
        "Form": [] if form is None else [form.text],
        "Steps": method_story.steps,
        "Assumptions": method_story.assumptions,
        "Privacy": ["None: it releases what it computes, without noise."]
        if proof is None
        else [f"{title}: {text}" for title, text in proof],
        "Cost": [
            f"{method_story.cost} Time: ${method_story.order}$. "
            f"Must be smooth: {method_story.smooth}."
        ],
        "Bounds": [
            f"{c.slug} ({c.constant}, {c.loss_class}): {plain_formula(c.latex)}" for c in cards
        ],
        "When": [method_story.when],
        "Pitfalls": method_story.pitfalls,
        "Flaws in the paper": method_story.errata,
        "An example": [" ".join(f"{k}={v}" for k, v in example(slug).to_query().items())],
    }
    print_text(f"{card.slug}: {card.name} ({card.paper}, {card.statement})")
    print()
    print(_wrap_text(method_story.what))
    # The parameters to set come before the reasons.
    if method_recipe is not None:
        print_recipe(method_recipe)
        if libraries := ", ".join(snippets(method_recipe)):
            print_note(f"as code: `--library` {libraries}.")
        value = guarantees(method_recipe.point, [slug])[slug]
        if value < math.inf:
            print_note(f"proven at this setting: a mean error of at most {value:.3g}.")
        else:
            print_note("no mean error with explicit constants is proven at this setting.")
        if command := budget_command(method_recipe):
            print_note(f"for a batch, epochs and a model of your own: `{command}`.")
    for title, texts in sections.items():
        if texts:
            print(f"\n{title}")
        for i, text in enumerate(texts, start=1):
            print(_wrap_text(text, f"  {i}. " if title == "Steps" else "  - "))


def _recipe_point(chosen: argparse.Namespace) -> Scenario:
    """Return the scenario point at which a recipe is given.

    It is that of the flags and defaults or, if the method cannot run there, the nearest one.
    """
    chosen.method = [chosen.slug]
    fields = given_fields(chosen)
    try:
        point = Scenario.from_dict(fields).validate()
        if refusal(point, chosen.slug) is None:
            return point
    except InvalidInput:
        pass  # The flags may leave out what the method needs, such as its problem: see below.
    base = replace(nearest(Scenario(), chosen.slug), axis=None, grid=())
    if work(replace(base, methods=(chosen.slug,), trials=1), chosen.slug).seconds > MOST_SECONDS:
        base = example_point(chosen.slug)
    if "rho" in fields:
        fields = {"epsilon": None, "delta": None} | fields
    return Scenario.from_dict(base.to_dict() | fields).validate()


def _recipe_json(method_recipe: Recipe) -> dict[str, Any]:
    """Return a method's recipe, with code that follows it, as JSON values."""
    scenario = {"scenario": method_recipe.point.to_dict()}
    return scenario | method_recipe.to_dict() | {"code": snippets(method_recipe)}


def _print_code(slug: str, method_recipe: Recipe | None, library: str) -> None:
    """Print code for a library; raise `InvalidInput` if the library lacks the mechanism."""
    codes = {} if method_recipe is None else snippets(method_recipe)
    if library in codes:
        print(codes[library])
        return
    one_of("library", library, LIBRARIES)
    names = " or ".join(codes)
    condition = f"{names} for {slug}" if names else f"left out for {slug}: none has its mechanism"
    raise InvalidInput(f"library must be {condition}, got library={library}.")


def _wrap_text(text: str, mark: str = "") -> str:
    """Return a text wrapped to `WIDTH`, with `mark` before its first line."""
    return textwrap.fill(
        plain_text(text),
        WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
