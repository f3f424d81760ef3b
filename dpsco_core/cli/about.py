"""The command `dpsco about`: one method in plain words, and what a run of it asks for."""

import argparse
import textwrap
from typing import Any

from dpsco_core.base.plain_latex import plain_formula, plain_text
from dpsco_core.catalogue import BOUNDS, method_card, method_class
from dpsco_core.cli.tools import WIDTH, add_command, print_json
from dpsco_core.explain.methods.stories import example, example_point, story
from dpsco_core.explain.methods.work import work
from dpsco_core.methods.form import form_of


def add_about(commands: Any) -> None:
    words = "tell one method: steps, proof, cost, bounds, flaws"
    parser = add_command(commands, "about", run_about, help=words)
    parser.add_argument("method", metavar="METHOD", help="slug of the method, as sco.clipped")


def run_about(chosen: argparse.Namespace) -> None:
    """Print a method's story, as JSON with the gradients of a run of its example."""
    slug: str = chosen.method
    told, card = story(slug), method_card(slug)
    proof = None if told.privacy is None else told.privacy.steps
    own = [b.card for b in BOUNDS if b.card.method == slug]
    form = form_of(method_class(slug), "tight", "practical")
    if chosen.json:
        done = work(example_point(slug), slug)
        print_json(
            {
                "method": slug,
                "name": card.name,
                "form": None if form is None else form.name,
                "form_text": None if form is None else form.text,
                "what": told.what,
                "steps": told.steps,
                "assumptions": told.assumptions,
                "privacy": None
                if proof is None
                else {title.lower(): text for title, text in proof},
                "smooth": told.smooth,
                "time": told.order,
                "cost": told.cost,
                "when": told.when,
                "pitfalls": told.pitfalls,
                "errata": told.errata,
                "bounds": [c.slug for c in own],
                "loss_class": {c.slug: str(c.loss_class) for c in own},
                "example": example(slug).to_dict(),
                "gradients": done.gradients,
                "at_most": done.at_most,
                "passes": done.passes,
            }
        )
        return
    sections = {
        "Form": [] if form is None else [form.text],
        "Steps": told.steps,
        "Assumptions": told.assumptions,
        "Privacy": ["None: it releases what it computes, without noise."]
        if proof is None
        else [f"{title}: {text}" for title, text in proof],
        "Cost": [f"{told.cost} Time: ${told.order}$. Must be smooth: {told.smooth}."],
        "Bounds": [
            f"{c.slug} ({c.constant}, {c.loss_class}): {plain_formula(c.latex)}" for c in own
        ],
        "When": [told.when],
        "Pitfalls": told.pitfalls,
        "Flaws in the paper": told.errata,
        "An example": [" ".join(f"{k}={v}" for k, v in example(slug).to_query().items())],
    }
    print(f"{card.slug}: {card.name} ({card.paper}, {card.statement})\n")
    print(_filled(told.what))
    for title, texts in sections.items():
        if texts:
            print(f"\n{title}")
        for i, text in enumerate(texts, start=1):
            print(_filled(text, f"  {i}. " if title == "Steps" else "  - "))


def _filled(text: str, mark: str = "") -> str:
    return textwrap.fill(
        plain_text(text),
        WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
