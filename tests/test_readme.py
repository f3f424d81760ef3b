"""README.md is about the catalogue as it is."""

from __future__ import annotations

import re
from pathlib import Path

from dpsco_core.catalogue import METHOD_SLUGS, method_card

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
NOTIONS = {"none": "none", "zcdp": "zCDP", "approx": "(ε, δ)", "pure": "pure"}


def test_what_the_readme_says_of_a_method_is_what_its_card_says() -> None:
    rows = re.findall(r"^\| (.+?) \| `(\S+)` \| (.+?) \|", README, re.MULTILINE)
    assert len(rows) > 40
    for name, slug, privacy in rows:
        assert slug in METHOD_SLUGS, f"README.md: take out the row of {slug}"
        card = method_card(slug)
        known = name in (card.name, card.short) or card.name.endswith(name.removeprefix("…"))
        assert known, f"README.md: {slug} must be called {card.name}, got {name}"
        notion = NOTIONS[card.privacy] + ", or pure" * card.pure_form
        # Amplification by shuffling is no notion of a card.
        told = privacy.partition(", or (")[0]
        assert told == notion, f"README.md: the privacy of {slug} must be {notion}, got {privacy}"


def test_the_readme_counts_nothing_that_a_recipe_adds_to() -> None:
    """A number is untrue as soon as somebody follows the recipe."""
    kinds = "estimators|optimisers|methods|bounds|problems|losses|distributions|laws|instances"
    number = r"\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+ty(?:-\w+)?"
    counts = re.findall(rf"(?i)\b(?:{number}) (?:[\w-]+ )?(?:{kinds})\b", README)
    assert counts == [], f"README.md: leave out the number in {counts}"
