"""The command `dpsco about`: one method in plain words, and what a run of it asks for."""

import argparse
import textwrap
from collections.abc import Sequence
from typing import Any

from dpsco_core.base.cards import BoundCard
from dpsco_core.catalogue import BOUNDS, method_card
from dpsco_core.cli.tools import add_command, print_json
from dpsco_core.explain.methods.stories import example, example_point, story
from dpsco_core.explain.methods.work import work

WIDTH = 96


def add_about(commands: Any) -> None:
    words = "tell one method: steps, proof, cost, bounds, flaws"
    parser = add_command(commands, "about", run_about, help=words)
    parser.add_argument("method", metavar="METHOD", help="slug of the method, as sco.clipped")


def run_about(chosen: argparse.Namespace) -> None:
    """Print the story of a method; raises `InvalidInput` for an unknown slug."""
    slug: str = chosen.method
    found, card = story(slug), method_card(slug)
    if chosen.json:
        print_json(about_json(slug))
        return
    print(f"{card.slug}: {card.name} ({card.paper}, {card.statement})\n")
    print(_filled(found.what))
    _section("Steps", found.steps, numbers=True)
    _section("Assumptions", found.assumptions)
    if found.privacy is None:
        _section("Privacy", ["None: it releases what it computes, without noise."])
    else:
        _section("Privacy", [f"{title}: {text}" for title, text in found.privacy.steps])
    _section("Cost", [f"{found.cost} Time: {found.order}. Must be smooth: {found.smooth}."])
    _section("Bounds", [_bound_line(b.card) for b in _own(slug)])
    _section("When", [found.when])
    _section("Pitfalls", found.pitfalls)
    _section("Flaws in the paper", found.errata)
    query = " ".join(f"{name}={text}" for name, text in example(slug).to_query().items())
    _section("An example", [query])


def about_json(slug: str) -> dict[str, Any]:
    """Return a method's story as a plain object, with the gradients of a run of its example."""
    found, done = story(slug), work(example_point(slug), slug)
    proof = found.privacy
    return {
        "method": slug,
        "name": method_card(slug).name,
        "what": found.what,
        "steps": list(found.steps),
        "assumptions": list(found.assumptions),
        "privacy": None if proof is None else {title.lower(): text for title, text in proof.steps},
        "smooth": found.smooth,
        "time": found.order,
        "cost": found.cost,
        "when": found.when,
        "pitfalls": list(found.pitfalls),
        "errata": list(found.errata),
        "bounds": [b.card.slug for b in _own(slug)],
        "loss_class": {b.card.slug: str(b.card.loss_class) for b in _own(slug)},
        "example": example(slug).to_dict(),
        "gradients": done.gradients,
        "at_most": done.at_most,
        "passes": done.passes,
    }


def _own(slug: str) -> list[Any]:
    return [b for b in BOUNDS if b.card.method == slug]


def _bound_line(card: BoundCard) -> str:
    return f"{card.slug} ({card.constant}, {card.loss_class}): {card.latex}"


def _section(title: str, texts: Sequence[str], *, numbers: bool = False) -> None:
    if not texts:
        return
    print(f"\n{title}")
    for i, text in enumerate(texts, start=1):
        print(_filled(text, f"  {i}. " if numbers else "  - "))


def _filled(text: str, mark: str = "") -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
