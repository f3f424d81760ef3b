"""A bound's card decides whether figures and tables show it, and explains its letters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsco_app.parts.shown_bounds import cards, shown
from dpsco_core import catalogue
from dpsco_core.bounds import Bound, Letter
from dpsco_core.explain.promise import lower_cards
from dpsco_core.explain.tables import table
from dpsco_core.explain.tables.letters import symbols
from dpsco_core.scenario import Scenario

POINT = Scenario(methods=("mean.clipped",))
VIEWS = ("lower bounds", "rates", "upper bounds")


def clear_caches() -> None:
    """Forget which bounds have been shown and evaluated."""
    lower_cards.cache_clear()
    shown.cache_clear()


def add_lower_bound(monkeypatch: pytest.MonkeyPatch, **fields: object) -> Bound:
    """Add to the catalogue a lower bound on the mean with a new slug."""
    pattern = catalogue.bound("lower.mean.fano-cdp")
    added = replace(
        pattern,
        card=replace(pattern.card, slug="own.idea", latex=r"\frac{g\,k}{n}", **fields),
        letters=(Letter("k", "what the test has added", lambda s: s.n + 1.0),),
    )
    bounds = (*catalogue.BOUNDS, added)
    monkeypatch.setattr(catalogue, "BOUNDS", bounds)
    monkeypatch.setattr(catalogue, "BOUND_SLUGS", tuple(b.card.slug for b in bounds))
    monkeypatch.setattr(table, "BOUNDS", bounds)
    monkeypatch.setattr(catalogue, "_bounds_for", catalogue._bounds_for.__wrapped__)
    clear_caches()
    return added


@pytest.fixture(autouse=True)
def _fresh() -> object:
    """Clear the caches after each test."""
    yield
    clear_caches()


def test_a_new_lower_bound_is_drawn_tabled_and_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    added = add_lower_bound(monkeypatch)
    assert added.card.slug in shown(POINT, VIEWS)
    assert added.card.slug in {card.slug for card in cards("mean")}
    # The bound appears in the table of its paper.
    assert added.card.slug in table.paper_table("kamath").slugs
    assert added.card.slug in table.paper_table("all").slugs
    letters = {s.latex: s for s in symbols(table.canonical_point(POINT), added)}
    assert letters["k"].value == POINT.n + 1 and "test" in letters["k"].meaning


def test_a_variant_bound_appears_in_tables_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    added = add_lower_bound(monkeypatch, drawn=False, tables=("arora",))
    assert added.card.slug not in shown(POINT, VIEWS)
    assert added.card.slug in {card.slug for card in cards("mean")}
    listed = table.paper_table("arora").slugs
    slugs_of_arora = [slug for slug in listed if "arora" in catalogue.bound(slug).card.tables]
    assert added.card.slug in slugs_of_arora and listed[: len(slugs_of_arora)] == tuple(
        slugs_of_arora
    )
