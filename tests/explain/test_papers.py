"""The reproduced papers: every statement appears once, with its paper's and the library's
numbers.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import BOUNDS, bound
from dpsco_core.explain.tables.papers.papers import PAPERS, reproduced_paper
from dpsco_core.explain.tables.papers.statements import (
    Statement,
    paper_json,
    placed_rows,
    section_tables,
)
from dpsco_core.privacy.budget import gaussian_rho
from dpsco_core.results.report import evaluate
from dpsco_core.runs.study import study

THEORY = Path(__file__).resolve().parents[2] / "docs" / "theory"
NOTES = {
    "kamath-2022": "kamath-liu-zhang.md",
    "zhao-2024": "zhao-et-al.md",
    "su-2023": "su-zhao-wang.md",
    "arora-2020": "arora-marinov-ullah.md",
    "lowy-2024": "lowy-liu-asi.md",
}
NUMBERED = re.compile(r"(Theorem|Corollary|Lemma|Remark|Algorithm)s? ([A-D]?\.?\d+(?:\.\d+)?)")
SHORT = {"Theorem": "Thms?", "Corollary": "Cor", "Algorithm": "Algs?"}


def statements(key: str, number: int, **fields: object) -> dict[str, Statement]:
    """Return the statements of a numbered section of a paper, by the slug of their bound."""
    (table,) = section_tables(reproduced_paper(key), fields, number)
    return {statement.card.slug: statement for statement in table.statements}


def test_every_statement_of_the_five_papers_stands_in_one_section() -> None:
    for entry in PAPERS:
        placed = placed_rows(entry, [section.point({}) for section in entry.sections])
        slugs = [row.bound.card.slug for part in placed for row in part]
        assert len(slugs) == len({*slugs})
        expected = {
            b.card.slug
            for b in BOUNDS
            if b.card.paper == entry.paper and (b.card.constant == "rate" or b.card.is_printed)
        }
        assert expected <= {*slugs}, (entry.key, expected - {*slugs})


def test_most_printed_statements_of_a_paper_hold_at_its_settings() -> None:
    for entry in PAPERS:
        placed = placed_rows(entry, [section.point({}) for section in entry.sections])
        printed = [r for part in placed for r in part if r.bound.card.paper == entry.paper]
        assert sum(row.holds for row in printed) >= 0.6 * len(printed), entry.key


def test_every_number_of_a_statement_occurs_in_the_note_on_its_paper() -> None:
    for entry in PAPERS:
        text = " ".join((THEORY / NOTES[entry.key]).read_text(encoding="utf-8").split())
        cards = [b.card for b in BOUNDS if b.card.paper == entry.paper]
        numbers = {pair for card in cards for pair in NUMBERED.findall(card.statement)}
        assert len(numbers) > 3
        # These statements are not compared, since one paper quotes them from another.
        for kind, place in numbers - {("Theorem", "6.4")}:
            words = f"(?:{kind}s?|{SHORT.get(kind, kind)})"
            assert re.search(rf"{words}\.? ?{re.escape(place)}(?!\d)", text), (entry.key, place)


def test_a_printed_number_is_that_of_the_printed_formula() -> None:
    listed = statements("kamath-2022", 1, trials=1)
    n, d, p = 100_000, 5, 2.0
    rho = gaussian_rho(0.5, 1e-6)
    corollary = math.sqrt(d / n) + math.sqrt(d) * (math.sqrt(d / rho) / n) ** (1 - 1 / p)
    assert listed["upper.mean.cwme-cdp"].row.value == pytest.approx(corollary, rel=1e-9)
    assert listed["lower.mean.rate-cdp"].row.value == pytest.approx(corollary, rel=1e-2)
    pure = math.sqrt(d / n) + math.sqrt(d) * (d / (0.5 * n)) ** (1 - 1 / p)
    assert listed["upper.mean.cwme-pure"].row.value == pytest.approx(pure, rel=1e-9)


def test_a_proven_bound_is_the_sharpest_explicit_one_on_the_same_error() -> None:
    (table,) = section_tables(reproduced_paper("kamath-2022"), {"trials": 1}, 2)
    by_kind = {"upper": min, "lower": max}
    for statement in table.statements:
        card, proven = statement.card, statement.proven
        rivals = [
            evaluate(table.point, b)
            for b in BOUNDS
            if (b.card.kind, b.card.constant) == (card.kind, "explicit")
            and (b.card.quantity, b.card.guarantee) == (card.quantity, "expectation")
            and table.point.problem in b.card.problems
            and (
                b.card.method == card.method != ""
                if card.kind == "upper"
                else b.card.privacy == card.privacy
                and b.card.laws == card.laws
                and b.card.instance_class.is_within(card.loss_class)
            )
        ]
        values = [e.value for e in rivals if not e.failures and math.isfinite(e.value)]
        if proven is None:
            assert not values
        else:
            assert proven.value == by_kind[card.kind](values)


def test_measured_values_are_those_of_a_study_of_the_method() -> None:
    (table,) = section_tables(reproduced_paper("zhao-2024"), {"trials": 3, "n": 5000}, 1)
    (clipped,) = (s for s in table.statements if s.card.slug == "upper.mean.clipped")
    outcomes = [*study(replace(table.point, methods=("mean.clipped",)))]
    assert clipped.measured is not None and clipped.measured.trials == len(outcomes) == 3
    mean = sum(outcome.error for outcome in outcomes) / 3
    assert clipped.measured.mean == pytest.approx(mean, rel=1e-12)


def test_the_gradients_of_a_run_are_shown_beside_the_gradient_counts() -> None:
    listed = statements("lowy-2024", 3, n=20_000, m=5)
    runs = listed["upper.user.group-privacy-gradients"].measured
    assert runs is not None and runs.trials == 1 and runs.mean == 20_000 * 5


def test_a_statement_is_labelled_printed_or_reworked_with_its_constants() -> None:
    entry = reproduced_paper("kamath-2022")
    tables = section_tables(entry, {"trials": 1}, 1)
    document = paper_json(entry, tables)
    assert document["experiments"] is None and "no experiments" in document["experiments_note"]
    (section,) = document["sections"]
    for row in section["statements"]:
        assert (row["printed"] is None) != (row["reworked"] is None)
        assert row["constants"] == (
            "1" if bound(row["slug"]).card.constant == "rate" else "printed"
        )
        assert row["holds"] == (not row["failures"])


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"axis": "n"}, "axis must be left out of a paper"),
        ({"n": "-5"}, "n must be"),
        ({"methods": ("mean.clipped",)}, "methods must be left out of a paper"),
    ],
    ids=str,
)
def test_a_setting_that_a_paper_does_not_cover_is_refused(
    fields: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        section_tables(PAPERS[0], fields)


def test_a_section_and_a_paper_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InvalidInput, match="section must be an integer from 1 to 2"):
        section_tables(PAPERS[0], {}, 3)
    with pytest.raises(InvalidInput, match="paper must be one of kamath-2022"):
        reproduced_paper("kamath")
