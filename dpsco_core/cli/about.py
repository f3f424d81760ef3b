"""The command `dpsco about`: one method in plain words, and the cost of a run."""

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
    parser = add_command(commands, "about", run_about)
    parser.add_argument("method", metavar="METHOD", help="slug of the method, as sco.clipped")


def run_about(chosen: argparse.Namespace) -> None:
    """Print a method's story; as JSON also the number of gradients in a run of its example."""
    slug: str = chosen.method
    method_story, card = story(slug), method_card(slug)
    proof = None if method_story.privacy is None else method_story.privacy.steps
    cards = [b.card for b in BOUNDS if b.card.method == slug]
    form = form_of(method_class(slug), "tight", "practical")
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
    print(f"{card.slug}: {card.name} ({card.paper}, {card.statement})\n")
    print(_wrap(method_story.what))
    for title, texts in sections.items():
        if texts:
            print(f"\n{title}")
        for i, text in enumerate(texts, start=1):
            print(_wrap(text, f"  {i}. " if title == "Steps" else "  - "))


def _wrap(text: str, mark: str = "") -> str:
    return textwrap.fill(
        plain_text(text),
        WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
