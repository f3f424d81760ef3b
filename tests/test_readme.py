"""README.md is short, and with the pages of docs/ it describes the catalogue as it is."""

from __future__ import annotations

import re
from pathlib import Path

from dpsco_core.catalogue import METHOD_SLUGS, method_card

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CATALOGUE = (ROOT / "docs" / "catalogue.md").read_text(encoding="utf-8")
MOST_LINES = 120
NOTIONS = {"none": "none", "zcdp": "zCDP", "approx": "(ε, δ)", "pure": "pure"}


def test_the_readme_is_short_enough_for_a_newcomer() -> None:
    assert len(README.splitlines()) <= MOST_LINES


def test_every_document_that_the_readme_links_to_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_catalogue_page_describes_a_method_as_its_card_does() -> None:
    rows = re.findall(r"^\| (.+?) \| `(\S+)` \| (.+?) \|", CATALOGUE, re.MULTILINE)
    assert len(rows) > 40
    for name, slug, privacy in rows:
        assert slug in METHOD_SLUGS, f"docs/catalogue.md: take out the row of {slug}"
        card = method_card(slug)
        is_its_name = name in (card.name, card.short) or card.name.endswith(name.removeprefix("…"))
        assert is_its_name, f"docs/catalogue.md: {slug} must be called {card.name}, got {name}"
        notion = NOTIONS[card.privacy] + ", or pure" * card.pure_form
        # Amplification by shuffling is no notion of privacy on a card.
        stated = privacy.partition(", or (")[0]
        condition = f"the privacy of {slug} must be {notion}, got {privacy}"
        assert stated == notion, f"docs/catalogue.md: {condition}"


def test_the_readme_counts_nothing_that_a_recipe_adds_to() -> None:
    """A number of methods or bounds is false as soon as somebody follows the recipe."""
    kinds = "estimators|optimisers|methods|bounds|problems|losses|distributions|laws|instances"
    number = r"\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+ty(?:-\w+)?"
    for text in (README, CATALOGUE):
        counts = re.findall(rf"(?i)\b(?:{number}) (?:[\w-]+ )?(?:{kinds})\b", text)
        assert counts == [], f"README.md and docs/catalogue.md: leave out the number in {counts}"
