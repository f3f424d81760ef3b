"""A bound says itself whether it is drawn and tabled, and what its letters mean."""

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


def forget() -> None:
    lower_cards.cache_clear()
    shown.cache_clear()


def with_another(monkeypatch: pytest.MonkeyPatch, **fields: object) -> Bound:
    """Add a lower bound on the mean to the catalogue, of a slug that no other resembles."""
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
    forget()
    return added


@pytest.fixture(autouse=True)
def _fresh() -> object:
    yield
    forget()


def test_a_new_lower_bound_is_drawn_tabled_and_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    added = with_another(monkeypatch)
    assert added.card.slug in shown(POINT, VIEWS)
    assert added.card.slug in {card.slug for card in cards("mean")}
    assert added.card.slug in table.paper_table("kamath").slugs  # the table of its paper
    assert added.card.slug in table.paper_table("all").slugs
    letters = {s.latex: s for s in symbols(table.canonical_point(POINT), added)}
    assert letters["k"].value == POINT.n + 1 and "test" in letters["k"].meaning


def test_a_variant_is_in_tables_only_and_any_table_can_list_it_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    added = with_another(monkeypatch, drawn=False, tables=("arora",))
    assert added.card.slug not in shown(POINT, VIEWS)
    assert added.card.slug in {card.slug for card in cards("mean")}
    listed = table.paper_table("arora").slugs
    slugs_of_arora = [slug for slug in listed if "arora" in catalogue.bound(slug).card.tables]
    assert added.card.slug in slugs_of_arora and listed[: len(slugs_of_arora)] == tuple(
        slugs_of_arora
    )
